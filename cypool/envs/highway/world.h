// How drivers decide, and one step of all that moves.
#pragma once

#include "cypool/envs/highway/collisions.h"
#include "cypool/envs/highway/traffic.h"

namespace cypool::highway {

class World : public Traffic {
public:
    // ---- decisions

    double desired_gap(const Body& ego, const Body& front) const {
        const double dv = dot(ego.vx() - front.vx(), ego.vy() - front.vy(), ego.cos_h, ego.sin_h);
        return driver.distance + ego.speed * driver.time + ego.speed * dv / driver.twice_root;
    }
    double linear(const Body& self, const Body* ego, const Body* front) const {
        alignas(64) double features[3] = {}, speeds[3];
        std::copy_n(self.speeds, 3, speeds);
        if (ego) {
            features[0] = (ego->is_controlled() ? ego->target_speed : ego->speed) - ego->speed;
            const double safe = driver.distance + std::max(ego->speed, 0.0) * driver.time;
            if (front) {
                features[1] = least(front->speed - ego->speed, 0);
                features[2] = least(lane_distance(*ego, *front) - safe, 0);
            }
        }
        return numpy.dot(speeds, features, 3);
    }
    // how fast IDM's ego is of the speed that it wants
    double speed_ratio(const Body& ego) const {
        double target = ego.is_controlled() ? ego.target_speed : 0;
        const Lane& lane = net->lanes[ego.lane];
        if (lane.has_limit) target = clip(target, 0, lane.limit);
        return most(ego.speed, 0) / std::fabs(not_zero(target));
    }
    // by how much less IDM's ego accelerates because of who is in front
    double braking(const Body& ego, const Body& front) const {
        const double ratio = desired_gap(ego, front) / not_zero(lane_distance(ego, front));
        return driver.comfort_max * (ratio * ratio);
    }
    // of a vehicle itself
    double acceleration(const Body& self, const Body* front) const {
        if (driver.linear) return linear(self, &self, front);
        const double free = free_acceleration[&self - vehicles.data()];
        return front ? free - braking(self, *front) : free;
    }
    // whether, as a driver reckons, who would be behind it brakes too hard
    bool hinders(const Body& self, const Body* rear) const {
        if (driver.linear) return linear(self, rear, &self) < -2.0;
        if (!rear || !rear->is_vehicle()) return false;
        const double ratio = speed_ratio(*rear), brakes = braking(*rear, self);
        // of a power of a number up to 1, it is enough to know that it is between 0 and 1
        constexpr double MARGIN = 1e-9;
        if (ratio <= 1 && brakes < 2 - MARGIN) return false;
        if (driver.comfort_max - brakes < -2 - MARGIN) return true;
        return driver.comfort_max * (1 - power(ratio, self.delta)) - brakes < -2.0;
    }
    bool mobil(const Body& self, int lane) const {
        const Body *new_front, *new_rear, *old_front, *old_rear;
        neighbours(self, lane, new_front, new_rear);
        if (hinders(self, new_rear)) return false;
        neighbours(self, self.lane, old_front, old_rear);
        const double predicted = acceleration(self, new_front);
        if (self.has_route && !self.route.empty() && self.route[0].id >= 0) {
            const int own = net->lanes[self.target_lane].id, a = net->lanes[lane].id - own, b = self.route[0].id - own;
            if ((a > 0) - (a < 0) != (b > 0) - (b < 0)) return false;
            return !(predicted < -2.0);
        }
        // politeness is 0: gains and losses of followers do not count
        return !(predicted - acceleration(self, old_front) < driver.gain);
    }
    void change_lane(Body& b) const {
        if (b.lane != b.target_lane) {
            if (net->lanes[b.lane].road != net->lanes[b.target_lane].road) return;
            for (const Body& v : vehicles) {
                if (&v == &b || v.lane == b.target_lane || !v.is_controlled() || v.target_lane != b.target_lane)
                    continue;
                const double d = lane_distance(b, v);
                if (0 < d && d < desired_gap(b, v)) {
                    b.target_lane = b.lane;
                    break;
                }
            }
            return;
        }
        if (!(1.0 < b.timer)) return;
        b.timer = 0;
        const RoadSegment& road = net->road_of(b.lane);
        for (int side : {-1, 1}) {
            const int id = net->lanes[b.lane].id + side;
            if (id < 0 || id >= road.count) continue;
            const int lane = road.first + id;
            const Coordinates c = on_lane_of(b, lane);
            if (!net->lanes[lane].reachable(c.s, c.lateral) || std::fabs(b.speed) < 1) continue;
            if (mobil(b, lane)) b.target_lane = lane;
        }
    }
    // steers vehicles to the lanes that they want
    void steer(Body* const* bodies, size_t n) {
        constexpr double MOST = PI / 3, PURSUIT = 0.5 * 0.2;
        double *in = in_.data(), *out = out_.data();
        ahead_.resize(n);
        const auto is_linear = [&](const Body& b) { return b.kind == IDM && driver.linear; };
        for (size_t k = 0; k < n; ++k) {
            const Body& b = *bodies[k];
            const Lane& lane = net->lanes[b.target_lane];
            const Coordinates c = on_lane_of(b, b.target_lane);
            ahead_[k] = lane.heading_at(c.s + b.speed * PURSUIT);
            const double sideways = is_linear(b) ? 0 : -(1 / 0.6) * c.lateral;
            in[k] = clip(sideways / not_zero(b.speed), -1, 1);
        }
        arcsin_of(in, out, n);
        for (size_t k = 0; k < n; ++k) {
            const Body& b = *bodies[k];
            const double wanted = ahead_[k] + clip(out[k], -PI / 4, PI / 4);
            const double rate = (1 / 0.2) * wrap(wanted - b.heading);
            in[k] = clip(b.length / 2 / not_zero(b.speed) * rate, -1, 1);
        }
        arcsin_of(in, out, n);
        tan_of(out, in, n);
        for (size_t k = 0; k < n; ++k) in[k] = 2 * in[k];
        arctan_of(in, out, n);
        for (size_t k = 0; k < n; ++k) {
            Body& b = *bodies[k];
            double steering = out[k];
            if (is_linear(b)) {
                const double v = not_zero(b.speed), lateral = on_lane_of(b, b.target_lane).lateral;
                steering = dot(b.steers[0], b.steers[1], wrap(ahead_[k] - b.heading) * b.length / v,
                               -lateral * b.length / square(v));
            }
            b.steering = clip(steering, -MOST, MOST);
        }
    }
    void follow_road(Body& b) const {
        if (net->lanes[b.target_lane].after_end(on_lane_of(b, b.target_lane).s))
            b.target_lane = net->next_lane(b.target_lane, b.has_route ? &b.route : nullptr, b.x, b.y);
    }
    enum Command { LANE_LEFT, IDLE, LANE_RIGHT, FASTER, SLOWER, NONE };
    void choose(Body& b, int command) const {
        if (command == FASTER || command == SLOWER) {
            const int index = speed_to_index(b.speed) + (command == FASTER ? 1 : -1);
            b.speed_index = std::clamp(index, 0, int(target_speeds.size()) - 1);
            b.target_speed = target_speeds[b.speed_index];
        }
        follow_road(b);
        if (command == LANE_LEFT || command == LANE_RIGHT) {
            const RoadSegment& road = net->road_of(b.target_lane);
            const int id =
                std::clamp(net->lanes[b.target_lane].id + (command == LANE_RIGHT ? 1 : -1), 0, road.count - 1);
            const Coordinates c = on_lane_of(b, road.first + id);
            if (net->lanes[road.first + id].reachable(c.s, c.lateral)) b.target_lane = road.first + id;
        }
    }
    void act_mdp(Body& b, int command) {
        choose(b, command);
        make_room(1);
        Body* one = &b;
        steer(&one, 1);
        b.acceleration = (1 / 0.6) * (b.target_speed - b.speed);
    }
    void accelerate_freely() {
        const size_t n = vehicles.size();
        free_acceleration.resize(n);
        deltas_.resize(n);
        size_t drivers = 0;
        for (const Body& b : vehicles) {
            if (b.kind != IDM) continue;
            deltas_[drivers] = b.delta;
            in_[drivers++] = speed_ratio(b);
        }
        if (!drivers) return;
        power_of(in_.data(), deltas_.data(), out_.data(), drivers);
        const double* power = out_.data();
        for (size_t k = 0; k < n; ++k)
            if (vehicles[k].kind == IDM) free_acceleration[k] = driver.comfort_max * (1 - *power++);
    }
    // all in their order: a lane that one chooses is known to those after it; then all steer
    void act() {
        make_room(vehicles.size());
        if (!driver.linear) accelerate_freely();
        steering_.clear();
        for (Body& b : vehicles) {
            if (b.kind == MDP) {
                choose(b, NONE);
                b.acceleration = (1 / 0.6) * (b.target_speed - b.speed);
            } else if (b.kind == IDM && !b.crashed) {
                follow_road(b);
                if (b.enable_lane_change) change_lane(b);
                const Body *front, *rear;
                neighbours(b, b.lane, front, rear);
                double a = acceleration(b, front);
                if (b.lane != b.target_lane) {
                    neighbours(b, b.target_lane, front, rear);
                    a = least(a, acceleration(b, front));
                }
                b.acceleration = clip(a, -6.0, 6.0);
            } else {
                continue;
            }
            steering_.push_back(&b);
        }
        if (!steering_.empty()) steer(steering_.data(), steering_.size());
    }

    void step() {
        if (regulated) {
            ++road_steps;
            if (road_steps % int(1 / dt / 2) == 0) enforce_rules();
        }
        const size_t n = vehicles.size();
        make_room(n);
        move(vehicles.data(), n, dt, in_.data(), out_.data());
        double widest = 0;
        size_t checked = 0;  // vehicles up to the last one that checks collisions
        for (size_t k = 0; k < n; ++k) {
            Body& b = vehicles[k];
            moved(b);
            b.lane = closest_lane(b, b.lane);
            widest = std::max(widest, b.diagonal);
            if (b.check_collisions) checked = k + 1;
        }
        for (size_t i = 0; i < n; ++i) {
            Body& a = vehicles[i];
            // nothing farther away than this is touched
            const double reach = (a.diagonal + widest) / 2 + std::fabs(a.speed) * dt + 1e-6;
            const size_t end = a.check_collisions ? n : checked;
            if (i + 1 < end && any_within(i, end, reach * reach))
                for (size_t j = i + 1; j < end; ++j) collide(a, vehicles[j], dt);
            for (Body& o : objects) collide(a, o, dt);
        }
    }
    bool any_within(size_t i, size_t end, double square) const {
        const double *px = places().x.data(), *py = places().y.data(), x = px[i], y = py[i];
        double least = square + 1;
        size_t j = i + 1;
        double strands[4] = {least, least, least, least};
        for (; j + 4 <= end; j += 4)
            for (size_t k = 0; k < 4; ++k) {
                const double dx = px[j + k] - x, dy = py[j + k] - y, d = dx * dx + dy * dy;
                strands[k] = d < strands[k] ? d : strands[k];
            }
        for (; j < end; ++j) {
            const double dx = px[j] - x, dy = py[j] - y, d = dx * dx + dy * dy;
            least = d < least ? d : least;
        }
        for (double s : strands) least = s < least ? s : least;
        return least <= square;
    }

    // ---- right of way

    void along_route(const Body& b, double s, double& x, double& y, double& heading) const {
        const Step own{net->lanes[b.lane].road, net->lanes[b.lane].id};
        const Step* route = b.has_route && !b.route.empty() ? b.route.data() : &own;
        int steps = b.has_route && !b.route.empty() ? int(b.route.size()) : 1;
        const auto lane_of = [&](const Step& step) {
            return net->roads[step.road].first + (step.id < 0 ? own.id : step.id);
        };
        int lane = lane_of(*route);
        while (steps > 1 && s > net->lanes[lane].length) {
            s -= net->lanes[lane].length;
            ++route, --steps;
            lane = lane_of(*route);
        }
        net->lanes[lane].position(s, 0, x, y);
        heading = net->lanes[lane].heading_at(s);
    }
    struct Pose {
        double x, y, heading;
    };
    void predict(const Body& b, Pose* poses, int n) const {
        if (b.is_controlled()) {
            const double s = on_lane_of(b, b.lane).s;
            for (int k = 0; k < n; ++k)
                along_route(b, s + b.speed * (0.25 + k * 0.25), poses[k].x, poses[k].y, poses[k].heading);
            return;
        }
        Body copy = b;
        copy.acceleration = 0;
        double before = 0;
        for (int k = 0; k < n; ++k) {
            const double t = 0.25 + k * 0.25;
            double in, out[2];  // with a gap
            move(&copy, 1, t - before, &in, out + 1);
            before = t;
            poses[k] = {copy.x, copy.y, copy.heading};
        }
    }
    static bool corner_inside(const Pose& p, double l1, double w1, const Pose& q, double l2, double w2) {
        const double c = cos(p.heading), s = sin(p.heading), qc = cos(q.heading), qs = sin(q.heading);
        const double l = l1 / 2, w = w1 / 2;
        const double px[9] = {-l, -l, l, l, 0, -l, l, -0.0, 0}, py[9] = {-w, w, w, -w, 0, -0.0, 0, -w, w};
        for (int k = 0; k < 9; ++k) {
            const double x = row_times_matrix(c, -s, px[k], py[k]) + p.x - q.x,
                         y = row_times_matrix(s, c, px[k], py[k]) + p.y - q.y;
            const double u = row_times_vector(qc, -qs, x, y), v = row_times_vector(qs, qc, x, y);
            if (-l2 / 2 <= u && u <= l2 / 2 && -w2 / 2 <= v && v <= w2 / 2) return true;
        }
        return false;
    }
    bool conflict(const Body& a, const Body& b, const Pose* pa, const Pose* pb, int n) const {
        for (int k = 0; k < n; ++k) {
            const double dx = pb[k].x - pa[k].x, dy = pb[k].y - pa[k].y;
            if (dx * dx + dy * dy > (a.length + 1e-6) * (a.length + 1e-6) || norm(dx, dy) > a.length) continue;
            const double la = 1.5 * a.length, wa = 0.9 * a.width, lb = 1.5 * b.length, wb = 0.9 * b.width;
            if (corner_inside(pa[k], la, wa, pb[k], lb, wb) || corner_inside(pb[k], lb, wb, pa[k], la, wa)) return true;
        }
        return false;
    }
    static double ahead(const Body& a, const Body& b) { return dot(a.cos_h, a.sin_h, b.x - a.x, b.y - a.y); }
    void enforce_rules() {
        for (Body& v : vehicles) {
            if (!v.is_yielding) continue;
            v.target_speed = net->lanes[v.lane].limit;
            v.is_yielding = false;
        }
        constexpr int N = 11;
        const size_t n = vehicles.size();
        poses.resize(n * N);
        for (size_t i = 0; i < n; ++i) predict(vehicles[i], &poses[i * N], N);
        for (size_t i = 0; i + 1 < n; ++i) {
            for (size_t j = i + 1; j < n; ++j) {
                Body &a = vehicles[i], &b = vehicles[j];
                if (!conflict(a, b, &poses[i * N], &poses[j * N], N)) continue;
                const int pa = net->lanes[a.lane].priority, pb = net->lanes[b.lane].priority;
                Body& yields = pa > pb ? b : pa < pb ? a : ahead(a, b) > ahead(b, a) ? a : b;
                if (yields.kind != IDM) continue;
                yields.target_speed = 0;
                yields.is_yielding = true;
            }
        }
    }

private:
    void make_room(size_t n) {
        if (in_.size() < n) in_.resize(n), out_.resize(n);
    }

    std::vector<Pose> poses;
    std::vector<double> free_acceleration;  // of each vehicle, were it alone
    std::vector<Body*> steering_;
    std::vector<double> in_, out_, ahead_, deltas_;  // of functions of arrays
};

}  // namespace cypool::highway
