// Which vehicles and objects are where on the lanes, and how they are made.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "cypool/rng.h"
#include "cypool/envs/highway/body.h"

namespace cypool::highway {

// parameters of the other vehicles; intersections have other numbers
struct Driver {
    double distance = 10, time = 1.5, comfort_max = 3, gain = 0.2;
    double twice_root = 2 * std::sqrt(15.0);  // of the product of comfortable acceleration and braking
    bool linear = false;                      // LinearVehicle and its kin
    std::array<double, 3> speeds = SPEEDS;    // their parameters
    // those of LinearVehicle, and how far from the second ones others are drawn
    static constexpr std::array<double, 3> SPEEDS{0.3, 0.3, 2.0};
    static constexpr double STEERS[2] = {1 / 0.2, 1 / 0.2 * (1 / 0.6)}, SPREAD[2] = {0.07, 1.5};
};

struct Found {
    double s;
    const Body* body;
};

class Traffic {
public:
    const Network* net = nullptr;
    Driver driver;
    std::vector<Body> vehicles, objects;
    const Rng* rng = nullptr;
    double dt = 1.0 / 15;
    bool connected_lanes = false, regulated = false;
    int road_steps = 0;
    std::vector<double> target_speeds;

    double uniform(double low = 0, double high = 1) { return cypool::uniform(rng, low, high); }
    double normal(double mean = 0) { return numpy.normal(rng, mean, 1.0); }
    int integers(int n) { return int(cypool::integers(rng, 0, n)); }

    // ---- coordinates, computed once for each position

    struct Coordinates {
        double s, lateral;
    };

    void clear() {
        vehicles.clear();
        objects.clear();
        free_slots.clear();
        slots = 0;
        road_steps = 0;
        ++now;
    }
    int take_slot() {
        if (!free_slots.empty()) {
            const int slot = free_slots.back();
            free_slots.pop_back();
            return slot;
        }
        const size_t lanes = net->lanes.size();
        if (known.size() < (slots + 1) * lanes) {
            known.resize((slots + 1) * lanes);
            known_at.resize((slots + 1) * lanes, 0);
            moved_at.resize(slots + 1, 0);
        }
        return slots++;
    }
    void moved(const Body& b) { moved_at[b.slot] = ++now; }
    void touch() { ++now; }
    // values of another network's lanes, or of another environment's bodies
    void forget() {
        const size_t lanes = net->lanes.size();
        known.resize(slots * lanes), known_at.assign(slots * lanes, 0);
        lists.resize(lanes), listed_at.assign(lanes, 0);
        ++now;
    }
    [[gnu::always_inline]] Coordinates on_lane_of(const Body& b, int lane) const {
        const Lane& l = net->lanes[lane];
        if (l.kind == STRAIGHT) {  // costs less than to look it up
            const double ex = b.x - l.x, ey = b.y - l.y;
            return {dot(ex, ey, l.dx, l.dy), dot(ex, ey, l.lx, l.ly)};
        }
        return look_up(b, lane);
    }

    int closest_lane(const Body& b, int guess = -1) const {
        const auto away = [&](int k) {
            const Lane& lane = net->lanes[k];
            const Coordinates c = on_lane_of(b, k);
            const double angle = std::fabs(wrap(b.heading - lane.heading_at(c.s)));
            return std::fabs(c.lateral) + most(c.s - lane.length, 0) + most(0 - c.s, 0) + 1.0 * angle;
        };
        int best = guess < 0 ? 0 : guess;
        double nearest = guess < 0 ? std::numeric_limits<double>::infinity() : away(guess);
        const int n = int(net->lanes.size());
        for (int k = 0; k < n; ++k) {
            if (k == guess || net->lanes[k].farther_than(b.x, b.y, nearest)) continue;
            const double d = away(k);
            if (d < nearest || (d == nearest && k < best)) nearest = d, best = k;
        }
        return best;
    }

    // ---- making

    Body make(Kind kind, double x, double y, double heading = 0, double speed = 0) {
        Body b;
        b.kind = kind;
        b.x = x, b.y = y, b.speed = speed;
        if (kind >= OBSTACLE) b.length = b.width = 2;
        b.turn_to(heading);
        b.slot = take_slot();
        moved(b);
        b.lane = closest_lane(b);
        b.measure();
        b.target_lane = b.lane;
        b.target_speed = speed;
        if (kind == IDM) {
            b.timer = remainder((x + y) * PI, 1.0);
            std::ranges::copy(driver.speeds, b.speeds);
            std::ranges::copy(Driver::STEERS, b.steers);
        }
        if (kind == MDP) choose_speed(b, speed);
        return b;
    }
    void drop(const Body& b) { free_slots.push_back(b.slot); }
    Body make_on(Kind kind, int lane, double s, double speed) {
        double x, y;
        net->lanes[lane].position(s, 0, x, y);
        return make(kind, x, y, net->lanes[lane].heading_at(s), speed);
    }
    int speed_to_index(double speed) const {
        const int n = int(target_speeds.size());
        const double x = (speed - target_speeds[0]) / (target_speeds[n - 1] - target_speeds[0]);
        return int(clip(std::rint(x * (n - 1)), 0, n - 1));
    }
    void choose_speed(Body& b, double speed) {
        b.speed_index = speed_to_index(speed);
        b.target_speed = target_speeds[b.speed_index];
    }
    void plan(Body& b, int goal) {
        b.has_route = true;
        b.route.assign(1, {net->lanes[b.lane].road, net->lanes[b.lane].id});
        net->shortest_path(net->lanes[b.lane].to, goal, b.route);
    }
    void randomize(Body& b) {
        if (driver.linear) {
            for (int k = 0; k < 3; ++k) b.speeds[k] = uniform(0.5 * Driver::SPEEDS[k], 1.5 * Driver::SPEEDS[k]);
            for (int k = 0; k < 2; ++k)
                b.steers[k] = uniform(Driver::STEERS[k] - Driver::SPREAD[k], Driver::STEERS[k] + Driver::SPREAD[k]);
        }
        b.delta = uniform(3.5, 4.5);
    }

    // ---- views of vehicles

    double lane_distance(const Body& from, const Body& to) const {
        return on_lane_of(to, from.lane).s - on_lane_of(from, from.lane).s;
    }

    // places of all vehicles, then of all objects but landmarks, in their order
    struct Places {
        std::vector<double> x, y;
        std::vector<const Body*> bodies;
    };
    const Places& places() const {
        if (places_at >= now) return places_;
        places_at = now;
        places_.x.clear(), places_.y.clear(), places_.bodies.clear();
        for (const auto* bodies : {&vehicles, &objects}) {
            for (const Body& b : *bodies) {
                if (!b.solid()) continue;
                places_.x.push_back(b.x), places_.y.push_back(b.y), places_.bodies.push_back(&b);
            }
        }
        return places_;
    }
    // all bodies on a lane, or on those that it is connected with, by place; those at one place in their order
    const std::vector<Found>& bodies_on(int lane) const {
        std::vector<Found>& list = lists[lane];
        if (listed_at[lane] >= now) return list;
        listed_at[lane] = now;
        if (!connected_lanes && net->lanes[lane].kind == STRAIGHT) {
            list_straight(net->lanes[lane], list);
        } else {
            list_connected(lane, list);
        }
        // they are nearly sorted
        for (size_t i = 1; i < list.size(); ++i) {
            const Found f = list[i];
            size_t j = i;
            for (; j > 0 && f.s < list[j - 1].s; --j) list[j] = list[j - 1];
            list[j] = f;
        }
        for (size_t k = 0; k < list.size(); ++k)
            if (list[k].body->lane == lane) list[k].body->place = k;
        return list;
    }
    void neighbours(const Body& b, int lane, const Body*& front, const Body*& rear) const {
        front = rear = nullptr;
        double s_front = 0, s_rear = 0;
        const std::vector<Found>& list = bodies_on(lane);
        const size_t n = list.size();
        const double s = on_lane_of(b, lane).s;
        size_t first = b.place;  // the first that is not behind
        if (first >= n || list[first].body != &b || list[first].s != s || (first > 0 && list[first - 1].s == s))
            first =
                std::partition_point(list.begin(), list.end(), [&](const Found& f) { return f.s < s; }) - list.begin();
        // of several at one place, the last is in front, and the first behind
        for (size_t k = first; k < n; ++k) {
            if (list[k].body == &b) continue;
            if (front && list[k].s != s_front) break;
            s_front = list[k].s, front = list[k].body;
        }
        for (size_t k = first; k-- > 0;) {
            if (list[k].body == &b) continue;
            if (rear && list[k].s != s_rear) break;
            s_rear = list[k].s, rear = list[k].body;
        }
    }

    // the reference's close_objects_to
    void close_to(const Body& ego, int count, bool see_behind, bool sorted, bool with_objects,
                  std::vector<const Body*>& out) const {
        out.clear();
        const auto near = [&](const Body& b) { return norm(b.x - ego.x, b.y - ego.y) < 200.0; };
        for (const Body& b : vehicles)
            if (&b != &ego && near(b) && (see_behind || -2 * ego.length < lane_distance(ego, b))) out.push_back(&b);
        if (with_objects)
            for (const Body& b : objects)
                if (near(b) && -2 * ego.length < lane_distance(ego, b)) out.push_back(&b);
        if (sorted)
            std::stable_sort(out.begin(), out.end(), [&](const Body* a, const Body* b) {
                return std::fabs(lane_distance(ego, *a)) < std::fabs(lane_distance(ego, *b));
            });
        if (int(out.size()) > count) out.resize(count);
    }

private:
    [[gnu::noinline]] Coordinates look_up(const Body& b, int lane) const {
        const size_t at = b.slot * net->lanes.size() + lane;
        if (known_at[at] < moved_at[b.slot]) {
            net->lanes[lane].local(b.x, b.y, known[at].s, known[at].lateral, polar);
            known_at[at] = now;
        }
        return known[at];
    }
    void list_straight(const Lane& lane, std::vector<Found>& list) const {
        const Places& all = places();
        list.resize(all.bodies.size());
        const double half = lane.width / 2 + 1, end = lane.length + 5.0;
        size_t n = 0;
        for (size_t k = 0; k < all.bodies.size(); ++k) {  // no branch that depends on chance
            const double ex = all.x[k] - lane.x, ey = all.y[k] - lane.y;
            const double s = dot(ex, ey, lane.dx, lane.dy), lateral = dot(ex, ey, lane.lx, lane.ly);
            list[n] = {s, all.bodies[k]};
            n += (std::fabs(lateral) <= half) & (-5.0 <= s) & (s < end);
        }
        list.resize(n);
    }
    void list_connected(int lane, std::vector<Found>& list) const {
        const Lane& own = net->lanes[lane];
        list.clear();
        search.assign(1, {lane, 0.0});
        const auto parallel = [&](int road) {
            const RoadSegment& r = net->roads[road];
            return r.first + (own.id < r.count ? own.id : 0);
        };
        if (connected_lanes) {
            for (int road : net->leaving[own.to]) search.push_back({parallel(road), own.length});
            for (int node : net->starts) {
                const int road = net->road_between(node, own.from);
                if (road >= 0) search.push_back({parallel(road), -net->lanes[parallel(road)].length});
            }
        }
        for (const Body* b : places().bodies) {
            for (const auto& [k, offset] : search) {
                const Lane& l = net->lanes[k];
                if (l.farther_than(b->x, b->y, l.width / 2 + 1)) continue;
                const Coordinates c = on_lane_of(*b, k);
                if (!l.on(c.s, c.lateral, 1)) continue;
                list.push_back({c.s + offset, b});
                break;
            }
        }
    }

    int slots = 0;
    std::vector<int> free_slots;
    uint64_t now = 1;
    mutable std::vector<Coordinates> known;
    mutable Polar polar;
    mutable std::vector<uint64_t> known_at, moved_at;
    mutable std::vector<std::vector<Found>> lists;
    mutable std::vector<uint64_t> listed_at;
    mutable std::vector<std::pair<int, double>> search;
    mutable Places places_;
    mutable uint64_t places_at = 0;
};

}  // namespace cypool::highway
