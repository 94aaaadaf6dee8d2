// How a scene begins: vehicles, objects and their places.
#pragma once

#include <memory>

#include "cypool/envs/highway/options.h"
#include "cypool/envs/highway/world.h"

namespace cypool::highway {

class Scene {
public:
    World world;
    std::vector<int> controlled;  // indices of vehicles, by agent
    double time = 0;
    std::shared_ptr<const Setup> setup;
    const Options* o = nullptr;  // of `setup`

    Scene() = default;
    explicit Scene(std::shared_ptr<const Setup> shared) { use(std::move(shared)); }
    // takes options: those of the next reset, or of a state that follows
    void use(std::shared_ptr<const Setup> shared) {
        setup = std::move(shared);
        o = &setup->options;
        world.net = &setup->network;
        world.connected_lanes = o->connected_lanes;
        world.dt = 1.0 / o->simulation_frequency;
        world.target_speeds = o->targets;
        world.regulated = o->task == INTERSECTION;
        Driver& d = world.driver = {};
        if (o->task == INTERSECTION) {
            d.distance = 7, d.comfort_max = 6;
            d.twice_root = 2 * std::sqrt(18.0);
        }
        d.linear = o->linear, d.gain = o->gain, d.speeds = o->speeds;
        if (d.linear) d.time = 2.5;
        ego_kind = o->action == META ? MDP : o->dynamical ? BICYCLE : VEHICLE;
        world.forget();
    }
    Body& ego(int agent = 0) { return world.vehicles[controlled[agent]]; }
    const Body& ego(int agent = 0) const { return world.vehicles[controlled[agent]]; }
    const Lane& lane(const Body& b) const { return world.net->lanes[b.lane]; }
    // a lane between two of the task's nodes
    int find(int from, int to, int id = 0) const {
        return world.net->roads[world.net->road_between(o->nodes[from], o->nodes[to])].first + id;
    }
    bool is_near_others(const Body& b, double distance) const {
        return std::ranges::any_of(world.vehicles,
                                   [&](const Body& v) { return norm(v.x - b.x, v.y - b.y) < distance; });
    }
    bool on_road(const Body& b) const {
        const auto c = world.on_lane_of(b, b.lane);
        return lane(b).on(c.s, c.lateral);
    }

    // ---- reset

    void begin() {
        world.clear();
        controlled.clear();
        time = 0;
        // in the order of TaskKind
        static constexpr void (Scene::* BEGIN[])() = {&Scene::begin_highway,      &Scene::begin_exit,
                                                      &Scene::begin_merge,        &Scene::begin_merge_generic,
                                                      &Scene::begin_two_way,      &Scene::begin_u_turn,
                                                      &Scene::begin_roundabout,   &Scene::begin_roundabout_generic,
                                                      &Scene::begin_intersection, &Scene::begin_parking,
                                                      &Scene::begin_racetrack,    &Scene::begin_lane_keeping};
        (this->*BEGIN[o->task])();
    }
    int append(Body b, int agent = -1) {
        if (agent >= 0) {
            b.agent = agent;
            controlled.push_back(int(world.vehicles.size()));
        }
        world.vehicles.push_back(std::move(b));
        return int(world.vehicles.size()) - 1;
    }
    Body make_random(Kind kind, int lane, double speed, double spacing) {
        const Lane& l = world.net->lanes[lane];
        if (std::isnan(speed))
            speed = l.has_limit ? world.uniform(0.7 * l.limit, 0.8 * l.limit) : world.uniform(23, 25);
        const double offset = spacing * (12 + 1.0 * speed) * o->spread[world.net->road_of(lane).count];
        double x0 = 3 * offset;
        if (!world.vehicles.empty()) {
            x0 = -std::numeric_limits<double>::infinity();
            for (const Body& v : world.vehicles) x0 = std::max(x0, world.on_lane_of(v, lane).s);
        }
        x0 += offset * world.uniform(0.9, 1.1);
        return world.make_on(kind, lane, x0, speed);
    }
    Body as_ego(const Body& plain) {
        world.drop(plain);
        return world.make(ego_kind, plain.x, plain.y, plain.heading, plain.speed);
    }
    void begin_highway() {
        const double random = std::nan("");
        for (int a = 0; a < o->agents; ++a) {
            const int others = o->vehicles_count / o->agents + (a < o->vehicles_count % o->agents);
            const int id = o->initial_lane >= 0 ? o->initial_lane : world.integers(o->lanes_count);
            append(as_ego(make_random(VEHICLE, id, 25.0, o->ego_spacing)), a);
            for (int k = 0; k < others; ++k) {
                Body b = make_random(IDM, world.integers(o->lanes_count), random, 1 / o->density);
                world.randomize(b);
                append(std::move(b));
            }
        }
        if (o->fast)
            for (Body& b : world.vehicles) b.check_collisions = b.agent >= 0;
    }
    void begin_exit() {
        const int first = find(0, 1);
        for (int a = 0; a < o->agents; ++a) append(as_ego(make_random(VEHICLE, first, 25.0, o->ego_spacing)), a);
        double sums[64], total = 0;
        for (int k = 0; k < o->lanes_count; ++k) total += k;
        double sum = 0;
        for (int k = 0; k < o->lanes_count; ++k) sums[k] = sum += k / total;
        for (int k = 0; k < o->lanes_count; ++k) sums[k] /= sum;
        for (int n = 0; n < o->vehicles_count; ++n) {
            const double drawn = world.uniform();
            const int id = int(std::upper_bound(sums, sums + o->lanes_count, drawn) - sums);
            Body b = make_random(IDM, first + id, world.net->lanes[first + id].limit, 1 / o->density);
            world.plan(b, o->nodes[3]);
            b.enable_lane_change = false;
            append(std::move(b));
        }
    }
    void place_obstacle(double x, double y, double heading = 0, double length = 2, double width = 2) {
        Body b = world.make(OBSTACLE, x, y, heading);
        b.length = length, b.width = width;
        b.measure();
        world.objects.push_back(std::move(b));
    }
    void begin_merge_road(int ego_lane) {
        double x, y;
        world.net->lanes[find(1, 2, o->lanes_count)].position(o->ramp_length, 0, x, y);
        place_obstacle(x, y);
        append(world.make_on(ego_kind, find(0, 1, ego_lane), 30.0, 30.0), 0);
    }
    void append_merging(double s) {
        Body b = world.make_on(IDM, find(4, 5), s, 20.0);
        b.target_speed = 30.0;
        append(std::move(b));
    }
    void begin_merge() {
        begin_merge_road(1);
        for (const auto& [at, speed] : {std::pair{90.0, 29.0}, {70.0, 31.0}, {5.0, 31.5}}) {
            const int lane = find(0, 1, world.integers(2));
            const double s = at + world.uniform(-5.0, 5.0), v = speed + world.uniform(-1.0, 1.0);
            append(world.make_on(IDM, lane, s, v));
        }
        append_merging(110.0);
    }
    void begin_merge_generic() {
        begin_merge_road(o->lanes_count - 1);
        std::vector<std::vector<double>> taken(o->lanes_count);
        taken[o->lanes_count - 1].push_back(30.0);
        for (int n = 0; n < o->vehicles_count; ++n) {
            for (int k = 0; k < 10; ++k) {
                const int id = world.integers(o->lanes_count);
                const double s = world.uniform(0, o->max_position);
                if (std::ranges::any_of(taken[id], [&](double p) { return std::fabs(s - p) <= 15.0; })) continue;
                append(world.make_on(IDM, find(0, 1, id), s, 30.0 + world.uniform(-2.0, 2.0)));
                taken[id].push_back(s);
                break;
            }
        }
        append_merging(60.0);
    }
    void begin_two_way() {
        const int there = find(0, 1, 1), back = find(1, 0);
        append(world.make_on(ego_kind, there, 30.0, 30.0), 0);
        for (int k = 0; k < 5; ++k) {
            const bool oncoming = k >= 3;
            const int lane = oncoming ? back : there;
            Body b = make_near(lane, oncoming ? 200.0 + 100.0 * (k - 3) : 70.0 + 40.0 * k, 10.0, oncoming ? 20.0 : 24.0,
                               oncoming ? 5.0 : 2.0);
            b.enable_lane_change = false;
            if (oncoming) b.target_lane = back;
            append(std::move(b));
        }
    }
    Body make_near(int lane, double s, double deviation, double speed, double speed_deviation) {
        const double at = s + world.normal() * deviation, v = speed + world.normal() * speed_deviation;
        return world.make_on(IDM, lane, at, v);
    }
    void begin_u_turn() {
        Body b = world.make_on(ego_kind, find(0, 1), 0, 16.0);
        if (ego_kind == MDP) world.plan(b, o->nodes[3]);
        append(std::move(b), 0);
        const struct {
            int road, id;
            double s, speed;
        } OTHERS[6] = {{0, 0, 25.0, 13.5}, {0, 1, 56.0, 14.5}, {1, 1, 0.5, 4.5},
                       {1, 0, 17.5, 5.5},  {2, 0, 1.0, 3.5},   {2, 1, 30.0, 5.5}};
        for (int k = 0; k < 6; ++k) {
            const auto& [road, id, s, speed] = OTHERS[k];
            Body v = make_near(find(road, road + 1, id), s, 2.0, speed, 2.0);
            world.plan(v, o->nodes[3]);
            if (k == 0) world.randomize(v);
            append(std::move(v));
        }
    }
    // nodes of roundabouts: ser ses we sx eer ees nxs, exr sxr nxr wxr, then se ee nx ne ner nes wer wes
    void begin_roundabout() {
        Body b = world.make_on(ego_kind, find(0, 1), 125.0, 8.0);
        if (ego_kind == MDP) world.plan(b, o->nodes[6]);
        append(std::move(b), 0);
        const int ring = find(2, 3), entry = find(4, 5);
        const struct {
            int lane;
            double s;
        } OTHERS[4] = {{ring + 1, 5.0}, {ring, 20.0}, {ring, -20.0}, {entry, 50.0}};
        for (int k = 0; k < 4; ++k) {
            Body v = make_near(OTHERS[k].lane, OTHERS[k].s, 2.0, 16.0, 2.0);
            const int goal = k == 0 && o->incoming >= 0 ? o->incoming : world.integers(3);
            world.plan(v, o->nodes[7 + goal]);
            world.randomize(v);
            append(std::move(v));
        }
    }
    void begin_roundabout_generic() {
        const int own = find(0, 1);
        Body b = world.make_on(ego_kind, own, world.net->lanes[own].length - 2.5, 8.0);
        std::vector<std::pair<double, double>> taken{{b.x, b.y}};
        if (ego_kind == MDP) world.plan(b, o->nodes[6]);
        append(std::move(b), 0);
        static constexpr int ROADS[7][2] = {{2, 3}, {3, 11}, {12, 13}, {13, 14}, {4, 5}, {15, 16}, {17, 18}};
        for (int k = 0; k < o->vehicles_count; ++k) {
            for (int attempt = 0; attempt < 10; ++attempt) {
                const int r = world.integers(7), first = find(ROADS[r][0], ROADS[r][1]);
                const int lane = first + world.integers(world.net->road_of(first).count);
                const Lane& l = world.net->lanes[lane];
                const double s = world.uniform(5.0, most(5.0, l.length - 5.0));
                double x, y;
                l.position(s, 0, x, y);
                if (std::ranges::any_of(taken, [&](const auto& at) { return norm(x - at.first, y - at.second) < 7.0; }))
                    continue;
                Body v = world.make_on(IDM, lane, s, 14.0 + world.normal() * 2.0);
                const int goal = o->incoming >= 0 ? std::min(o->incoming, 3) : world.integers(4);
                world.plan(v, o->nodes[7 + goal]);
                world.randomize(v);
                append(std::move(v));
                taken.push_back({x, y});
                break;
            }
        }
    }
    // nodes of intersections: o0 to o3, ir0 to ir3, il0 to il3
    void spawn(double s, double deviation, double speed_deviation, double probability, bool straight) {
        if (world.uniform() > probability) return;
        // two of four, without replacement, by Floyd's method, then shuffled
        int from = world.integers(3), to = world.integers(4);
        if (to == from) to = 3;
        if (world.integers(2) == 0) std::swap(from, to);
        if (straight) to = (from + 2) % 4;
        const double at = s + 5.0 + world.normal() * deviation, v = 8.0 + world.normal() * speed_deviation;
        Body b = world.make_on(IDM, find(from, 4 + from), at, v);
        if (is_near_others(b, 15)) return world.drop(b);
        world.plan(b, o->nodes[to]);
        world.randomize(b);
        append(std::move(b));
    }
    void begin_intersection() {
        const int n = o->vehicles_count;
        for (int k = 0; k < n - 1; ++k) spawn(o->starts[k], 1.0, 1.0, 0.6, false);
        for (int k = 0; k < 3 * o->simulation_frequency; ++k) {
            world.act();
            world.step();
        }
        spawn(60, 0.1, 0.0, 1.0, true);
        for (int a = 0; a < o->agents; ++a) {
            const int l = find(a % 4, 4 + a % 4);
            const int goal = o->destination >= 0 ? o->destination : o->nodes[1 + world.integers(3)];
            Body b = world.make_on(ego_kind, l, 60.0 + 5.0 * world.normal(1.0), 10.0);
            if (ego_kind == MDP) {
                world.plan(b, goal);
                world.choose_speed(b, 10.0);
            }
            append(std::move(b), a);
            const Body me = ego(a);
            remove([&](const Body& v) { return v.agent < 0 && norm(v.x - me.x, v.y - me.y) < 20; });
        }
    }
    template <class F> void remove(F&& gone) {
        std::erase_if(world.vehicles, [&](const Body& b) {
            const bool is_gone = gone(b);
            if (is_gone) world.drop(b);
            return is_gone;
        });
        for (size_t k = 0; k < world.vehicles.size(); ++k) {
            if (world.vehicles[k].agent >= 0) controlled[world.vehicles[k].agent] = int(k);
        }
        world.touch();
    }
    bool leaving(const Body& b, double at_least) const {
        const Lane& l = lane(b);
        return is_node(l.from, 8) && is_node(l.to, 0) && world.on_lane_of(b, b.lane).s >= at_least;
    }
    bool is_node(int node, int first) const {
        const auto at = o->nodes.begin() + first;
        return std::find(at, at + 4, node) != at + 4;
    }

    void begin_parking() {
        std::vector<int> spots(world.net->lanes.size());
        for (size_t k = 0; k < spots.size(); ++k) spots[k] = int(k);
        for (int a = 0; a < o->agents; ++a) {
            const Body b = world.make(ego_kind, double(a - o->agents / 2) * 10.0, 0.0, 2.0 * PI * world.uniform(), 0.0);
            spots.erase(std::find(spots.begin(), spots.end(), b.lane));
            append(b, a);
        }
        double x, y;
        for (int a = 0; a < o->agents; ++a) {
            const int at = world.integers(int(spots.size()));
            const Lane& l = world.net->lanes[spots[at]];
            l.position(l.length / 2, 0, x, y);
            ego(a).goal = int(world.objects.size());
            world.objects.push_back(world.make(LANDMARK, x, y, l.heading));
            spots.erase(spots.begin() + at);
        }
        for (int k = 0; k < o->vehicles_count && !spots.empty(); ++k) {
            const int at = world.integers(int(spots.size()));
            append(world.make_on(VEHICLE, spots[at], 4.0, 0.0));
            spots.erase(spots.begin() + at);
        }
        if (!o->add_walls) return;
        for (double wall : {-21.0, 21.0}) place_obstacle(0, wall, 0, 70, 1);
        for (double wall : {-35.0, 35.0}) place_obstacle(wall, 0, PI / 2, 42, 1);
    }
    int random_lane() {
        const Network& n = *world.net;
        const int from = n.starts[world.integers(int(n.starts.size()))];
        const RoadSegment& r = n.roads[n.leaving[from][world.integers(int(n.leaving[from].size()))]];
        return r.first + world.integers(r.count);
    }
    void begin_racetrack() {
        const int first = find(0, 1), second = find(1, 2);
        const std::vector<double>& walls = o->wall_places;
        for (size_t k = 0; k < walls.size(); k += 2) place_obstacle(walls[k], walls[k + 1]);
        int l = first;
        for (int a = 0; a < o->agents; ++a) {
            l = a == 0 ? first + world.integers(o->lanes_count) : random_lane();
            const double s = world.uniform(20, 50);
            append(world.make_on(ego_kind, l, s, world.net->lanes[l].limit), a);
        }
        if (o->other_vehicles <= 0) return;
        const double s = world.uniform(0.0, world.net->lanes[second].length);
        append(world.make_on(IDM, second + world.net->lanes[l].id, s, 6.0 + world.uniform(0, 3.0)));
        const int n = world.integers(o->other_vehicles);
        for (int k = 0; k < n; ++k) {
            const int r = random_lane();
            const double at = world.uniform(0.0, world.net->lanes[r].length);
            Body b = world.make_on(IDM, r, at, 6.0 + world.uniform(0, 3.0));
            if (is_near_others(b, 20))
                world.drop(b);
            else
                append(std::move(b));
        }
    }
    void begin_lane_keeping() {
        const int l = find(2, 3);
        double x, y;
        world.net->lanes[l].position(50, -4, x, y);
        append(world.make(ego_kind, x, y, world.net->lanes[l].heading_at(0), 8.3), 0);
        lane_now = l;
        is_first_lane = true;
    }

protected:
    Kind ego_kind = VEHICLE;
    // lane-keeping's
    int lane_now = 0;
    bool is_first_lane = false;
};

}  // namespace cypool::highway
