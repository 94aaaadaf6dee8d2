// A step, its reward, and when an episode ends.
#pragma once

#include "cypool/envs/highway/scenes.h"

namespace cypool::highway {

class Task : public Scene {
public:
    double reward = 0;
    bool terminated = false, truncated = false, success = false;
    double rewards[8] = {};  // as the info has them
    // of each agent of an intersection
    double agent_reward[8] = {};
    bool agent_ended[8] = {};

    Task() = default;
    using Scene::Scene;

    void reset() {
        if (o->task == LANE_KEEPING) draw_noise();  // the space of the scene before is asked for
        begin();
        if (o->task == LANE_KEEPING) {
            draw_noise();
            observe_attributes();
        }
        value(true);
    }
    // ---- step

    void step(const void* action) {
        meta = 1;
        if (o->action != CONTINUOUS) {
            meta = static_cast<const int64_t*>(action)[0];
        } else if (static_cast<const float*>(action)[0] == 0) {
            meta = 0;
        }
        if (o->task != LANE_KEEPING) {
            time += 1 / o->policy_frequency;
        } else {
            const auto c = world.on_lane_of(ego(), lane_now);
            if (is_first_lane && !world.net->lanes[lane_now].on(c.s, c.lateral)) {
                lane_now = find(0, 1);
                is_first_lane = false;
            }
            act(0, action);
            observe_attributes();
        }
        for (int frame = 0; frame < o->frames; ++frame) {
            if (frame == 0 && o->task != LANE_KEEPING)
                for (int a = 0; a < acting(); ++a) act(a, action);
            world.act();
            world.step();
        }
        value(false);
    }
    // after the observation
    void after_step() {
        if (o->task != INTERSECTION) return;
        remove(
            [&](const Body& v) { return v.agent < 0 && (leaving(v, lane(v).length - 4 * v.length) || !v.has_route); });
        spawn(0, 1.0, 1.0, o->spawn_probability, false);
    }
    // without an action for several agents, the first one alone obeys
    int acting() const { return o->multi_agent ? o->agents : 1; }
    void act(int agent, const void* action) {
        Body& b = ego(agent);
        if (o->action == META) {
            static constexpr int LONGITUDINAL[3] = {World::SLOWER, World::IDLE, World::FASTER};
            int command = int(static_cast<const int64_t*>(action)[agent]);
            if (!o->lateral) command = LONGITUDINAL[command];
            return world.act_mdp(b, command);
        }
        const int size = o->longitudinal && o->lateral ? 2 : 1;
        const float* a = static_cast<const float*>(action) + agent * size;
        float chosen[2];
        if (o->action == DISCRETE) {
            int64_t k = static_cast<const int64_t*>(action)[agent];
            for (int i = size - 1; i >= 0; --i, k /= o->actions_per_axis)
                chosen[i] = static_cast<float>(o->axis[k % o->actions_per_axis]);
            a = chosen;
        }
        last_action = size == 2 ? std::sqrt(numpy.dotf(a, a, 2)) : std::sqrt(a[0] * a[0]);
        float c[2];
        for (int i = 0; i < size; ++i) c[i] = o->clip ? std::min(std::max(a[i], -1.0f), 1.0f) : a[i];
        if (!o->speed_range.empty()) b.min_speed = o->speed_range[0], b.max_speed = o->speed_range[1];
        b.acceleration = o->longitudinal ? mappedf(c[0], o->acceleration[0], o->acceleration[1]) : 0;
        b.steering = o->lateral ? mappedf(c[size - 1], o->steering[0], o->steering[1]) : 0;
        if (o->action == DISCRETE) last_action = static_cast<float>(static_cast<const int64_t*>(action)[agent]);
    }

    // ---- rewards, ends

    double scaled_speed(double v) const { return mapped(v, o->rewarded_speeds[0], o->rewarded_speeds[1], 0, 1); }
    bool arrived(const Body& b) const { return leaving(b, 25); }
    bool at_exit(const Body& b) const {
        const int at = b.is_controlled() ? b.target_lane : b.lane;
        const Lane& l = world.net->lanes[at];
        return (l.from == o->nodes[1] && l.to == o->nodes[2] && l.id == o->lanes_count)
               || (l.from == o->nodes[2] && l.to == o->nodes[4]);
    }
    double goal_reward(const Body& b) const {
        const auto mine = goal_features(b), goal = goal_features(world.objects[b.goal]);
        // as arrays of NumPy are: old kernels of BLAS add in another order otherwise
        alignas(64) double away[6], weights[6];
        std::ranges::copy(o->weights, weights);
        for (int k = 0; k < 6; ++k) away[k] = std::fabs(mine[k] - goal[k]);
        return -square_root(numpy.dot(away, weights, 6));
    }
    static std::array<double, 6> goal_features(const Body& b) {
        const bool moves = b.is_vehicle();
        return {b.x / 100, b.y / 100, moves ? b.vx() / 5 : 0.0, moves ? b.vy() / 5 : 0.0, b.cos_h, b.sin_h};
    }
    static double weighted(const double* parts, std::initializer_list<double> weights) {
        double total = 0;
        for (double weight : weights) total += weight * *parts++;
        return total;
    }
    double agent_value(const Body& b, double* r) const {
        r[0] = b.crashed;
        r[1] = clip(scaled_speed(b.speed), 0, 1);
        r[2] = arrived(b);
        r[3] = on_road(b);
        double total = r[2] ? o->arrived : weighted(r, {o->collision, o->high_speed, o->arrived, o->on_road});
        total *= r[3];
        if (r[2] && o->has_int_arrived) total += 0.0;  // no int is -0
        return o->normalize_reward ? mapped(total, o->collision, o->arrived, 0, 1) : total;
    }
    void value(bool at_reset) {
        const Body& b = ego();
        const Network& net = *world.net;
        const int lanes = net.road_of(b.lane).count, action = at_reset ? 1 : meta;
        const int wanted = net.lanes[b.is_controlled() ? b.target_lane : b.lane].id;
        const double most_lane = std::max(lanes - 1, 1);
        double* r = rewards;
        std::fill_n(r, 8, 0.0);
        r[0] = b.crashed;
        terminated = b.crashed;
        truncated = time >= o->duration;
        switch (o->task) {
            case HIGHWAY: {
                r[1] = wanted / most_lane;
                r[2] = clip(scaled_speed(b.speed * b.cos_h), 0, 1);
                r[3] = on_road(b);
                reward = weighted(r, {o->collision, o->right_lane, o->high_speed, o->on_road});
                if (o->normalize_reward) reward = mapped(reward, o->collision, o->high_speed + o->right_lane, 0, 1);
                reward *= r[3];
                terminated |= o->offroad_terminal && !on_road(b);
                break;
            }
            case EXIT: {
                r[1] = success = at_exit(b);
                r[2] = clip(scaled_speed(b.speed), 0, 1);
                r[3] = wanted;
                reward = weighted(r, {o->collision, o->goal, o->high_speed, o->right_lane});
                if (o->normalize_reward) reward = clip(mapped(reward, o->collision, o->goal, 0, 1), 0, 1);
                break;
            }
            case MERGE:
            case MERGE_GENERIC: {
                Sum merging;
                for (const Body& v : world.vehicles) {
                    const Lane& l = lane(v);
                    if (l.from != o->nodes[1] || l.to != o->nodes[2] || l.id != 2 || !v.is_controlled()) continue;
                    merging.add((v.target_speed - v.speed) / v.target_speed, v.kind == MDP ? Sum::NUMPY : Sum::FLOAT);
                }
                r[1] = lane(b).id / 1.0;
                r[2] = scaled_speed(b.speed);
                r[3] = action == 0 || action == 2;
                r[4] = merging.value();
                Sum total;
                total.add(o->collision * r[0], o->has_int_collision ? Sum::INT : Sum::FLOAT);
                total.add(o->right_lane * r[1], Sum::FLOAT);
                total.add(o->high_speed * r[2], Sum::FLOAT);
                total.add(o->lane_change * r[3], Sum::FLOAT);
                total.add(o->merging_speed * r[4], merging.is_numpy() ? Sum::NUMPY : Sum::FLOAT);
                reward = mapped(total.value(), o->collision + o->merging_speed, o->high_speed + o->right_lane, 0, 1);
                terminated |= b.x > o->end_position;
                break;
            }
            case TWO_WAY:
                r[0] = b.speed_index / double(o->num_targets() - 1);
                r[1] = (lanes - 1 - net.lanes[b.target_lane].id) / double(lanes - 1);
                reward = weighted(r, {o->high_speed, o->left_lane});
                break;
            case U_TURN: {
                r[1] = lane(b).id / most_lane;
                r[2] = clip(scaled_speed(b.speed), 0, 1);
                r[3] = on_road(b);
                reward = weighted(r, {o->collision, o->left_lane, o->high_speed, o->on_road});
                if (o->normalize_reward) reward = mapped(reward, o->collision, o->high_speed + o->left_lane, 0, 1);
                reward *= r[3];
                break;
            }
            case ROUNDABOUT:
            case ROUNDABOUT_GENERIC: {
                // of other vehicles than MDP: the closest of the default speeds 20, 25, 30
                const int index =
                    b.kind == MDP ? b.speed_index : int(clip(std::rint((b.speed - 20.0) / (30.0 - 20.0) * 2), 0, 2));
                r[1] = index / 2.0;
                r[2] = action == 0 || action == 2;
                r[3] = on_road(b);
                reward = weighted(r, {o->collision, o->high_speed, o->lane_change, o->on_road});
                if (o->normalize_reward) reward = mapped(reward, o->collision, o->high_speed, 0, 1);
                reward *= r[3];
                break;
            }
            case INTERSECTION: {
                reward = r[0] = 0;
                bool crashed = false, all = true;
                for (int a = 0; a < o->agents; ++a) {
                    double own[4];
                    const Body& v = ego(a);
                    agent_reward[a] = agent_value(v, own);
                    agent_ended[a] = v.crashed || arrived(v);
                    reward += agent_reward[a];
                    for (int k = 0; k < 4; ++k) r[k] += own[k];
                    crashed |= v.crashed;
                    all = all && arrived(v);
                }
                reward /= o->agents;
                for (int k = 0; k < 4; ++k) r[k] /= o->agents;
                terminated = crashed || all || (o->offroad_terminal && !on_road(b));
                break;
            }
            case PARKING: {
                // reference: only the first agent's goal counts
                const double away = goal_reward(b);
                int crashes = 0;
                for (int a = 0; a < o->agents; ++a) crashes += ego(a).crashed;
                reward = (0 + away) + o->collision * crashes;
                success = away > -o->success;
                terminated = crashes || success;
                break;
            }
            case RACETRACK: {
                const auto c = world.on_lane_of(b, b.lane);
                const float cost = at_reset ? 0 : last_action;
                r[0] = 1 / (1 + o->centering_cost * square(c.lateral));
                r[1] = cost;
                r[2] = b.crashed;
                r[3] = on_road(b);
                double total;
                if (lane(b).kind == STRAIGHT && o->action == CONTINUOUS) {
                    // Python's float and NumPy's float32 make a float32; the last term, a NumPy integer, widens it
                    float narrow =
                        static_cast<float>(0 + o->centering * r[0]) + static_cast<float>(o->action_cost) * cost;
                    narrow += static_cast<float>(o->collision * r[2]);
                    total = narrow;
                } else {
                    total = 0 + o->centering * r[0];
                    total += o->action == CONTINUOUS ? double(static_cast<float>(o->action_cost) * cost)
                                                     : o->action_cost * r[1];
                    total += o->collision * r[2];
                }
                total += o->on_road * r[3];
                reward = mapped(total, o->collision, 1, 0, 1) * r[3];
                terminated |= o->terminate_off_road && !on_road(b);
                break;
            }
            case LANE_KEEPING:
                reward = 1 - square(world.on_lane_of(b, lane_now).lateral / net.lanes[lane_now].width);
                terminated = false;
                break;
        }
        if (at_reset) reward = 0, terminated = truncated = false;
    }

    void draw_noise() {
        for (int k = 0; k < 8; ++k) world.rng->next_double(world.rng->state);
    }
    void observe_attributes() {
        const Body& b = ego();
        const double state[6] = {b.x, b.y, b.heading, b.speed, b.lateral_speed, b.yaw_rate};
        double slope[6];
        Bicycle::slopes(b, state, b.sin_h, b.cos_h, slope);
        static constexpr int PARTS[4] = {1, 2, 4, 5};
        for (int k = 0; k < 4; ++k) attributes[k] = state[PARTS[k]] + world.uniform(-o->state_noise, o->state_noise);
        for (int k = 0; k < 4; ++k)
            attributes[4 + k] = slope[PARTS[k]] + world.uniform(-o->derivative_noise, o->derivative_noise);
        const auto c = world.on_lane_of(b, lane_now);
        attributes[8] = b.y - c.lateral;
        attributes[9] = world.net->lanes[lane_now].heading_at(c.s);
        attributes[10] = attributes[11] = 0;
    }

protected:
    int64_t meta = 1;            // the action as the rewards see it
    float last_action = 0;       // its norm, in racetrack
    double attributes[12] = {};  // state, derivative, reference
};

}  // namespace cypool::highway
