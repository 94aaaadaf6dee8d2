// Vehicles and objects on a road, and one step of their movement.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "cypool/rng.h"
#include "cypool/envs/highway/roads.h"

namespace cypool::highway {

enum Kind { VEHICLE, BICYCLE, MDP, IDM, OBSTACLE, LANDMARK };

struct Body {
    Kind kind = VEHICLE;
    double x = 0, y = 0, heading = 0, speed = 0;
    double cos_h = 1, sin_h = 0;  // of the heading
    double length = 5, width = 2, diagonal = 0;
    double steering = 0, acceleration = 0;  // the stored action
    double min_speed = -40, max_speed = 40;
    int lane = 0, slot = 0;
    bool crashed = false, hit = false, has_impact = false, check_collisions = true;
    double impact_x = 0, impact_y = 0;
    // controlled vehicles
    int target_lane = 0;
    double target_speed = 0;
    bool has_route = false;
    std::vector<Step> route;
    int speed_index = 0;          // MDP
    double timer = 0, delta = 4;  // IDM
    bool enable_lane_change = true;
    bool is_yielding = false;
    double speeds[3] = {}, steers[2] = {};   // linear drivers
    double lateral_speed = 0, yaw_rate = 0;  // bicycle
    int agent = -1;                          // of which it is the vehicle
    int goal = -1;                           // index of an object

    bool is_vehicle() const { return kind < OBSTACLE; }
    bool is_controlled() const { return kind == MDP || kind == IDM; }
    bool solid() const { return kind != LANDMARK; }
    double vx() const { return speed * cos_h; }
    double vy() const { return speed * sin_h; }
    void turn_to(double h) {
        heading = h;
        cos_h = cos(h);
        sin_h = sin(h);
    }
};

// what the other vehicles want; intersections have other numbers
struct Driver {
    double distance = 10, time = 1.5, comfort_max = 3, comfort_min = -5, gain = 0.2;
    bool linear = false;                    // LinearVehicle and its kin
    double speeds[3] = {}, steers[2] = {};  // their parameters, and between which they are drawn
    double speeds_low[3] = {}, speeds_range[3] = {}, steers_low[2] = {}, steers_range[2] = {};
};

struct Found {
    double s;
    const Body* body;
};

class World {
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
    Coordinates on_lane_of(const Body& b, int lane) const {
        const Lane& l = net->lanes[lane];
        if (l.kind == STRAIGHT) {  // costs less than to look it up
            const double ex = b.x - l.x, ey = b.y - l.y;
            return {dot(ex, ey, l.dx, l.dy), dot(ex, ey, l.lx, l.ly)};
        }
        const size_t at = b.slot * net->lanes.size() + lane;
        if (known_at[at] < moved_at[b.slot]) {
            l.local(b.x, b.y, known[at].s, known[at].lateral);
            known_at[at] = now;
        }
        return known[at];
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
        b.diagonal = std::sqrt(b.length * b.length + b.width * b.width);
        b.target_lane = b.lane;
        b.target_speed = speed;
        if (kind == IDM) {
            b.timer = remainder((x + y) * PI, 1.0);
            std::copy_n(driver.speeds, 3, b.speeds);
            std::copy_n(driver.steers, 2, b.steers);
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
            for (int k = 0; k < 3; ++k) b.speeds[k] = driver.speeds_low[k] + uniform() * driver.speeds_range[k];
            for (int k = 0; k < 2; ++k) b.steers[k] = driver.steers_low[k] + uniform() * driver.steers_range[k];
        }
        b.delta = uniform(3.5, 4.5);
    }

    // ---- what vehicles see

    double lane_distance(const Body& from, const Body& to) const {
        return on_lane_of(to, from.lane).s - on_lane_of(from, from.lane).s;
    }

    // all bodies on a lane, or on those that it is connected with, in their order
    const std::vector<Found>& bodies_on(int lane) const {
        if (lists.size() < net->lanes.size()) lists.resize(net->lanes.size()), listed_at.resize(net->lanes.size(), 0);
        std::vector<Found>& list = lists[lane];
        if (listed_at[lane] >= now) return list;
        listed_at[lane] = now;
        if (places_at < now) {
            places_at = now;
            places.clear();
            for (const Body& b : vehicles) places.push_back({b.x, b.y, &b});
            for (const Body& b : objects)
                if (b.kind != LANDMARK) places.push_back({b.x, b.y, &b});
        }
        const Lane& only = net->lanes[lane];
        if (!connected_lanes && only.kind == STRAIGHT) {
            list.resize(places.size());
            const double half = only.width / 2 + 1, end = only.length + 5.0;
            size_t n = 0;
            for (const Place& p : places) {  // no branch that depends on chance
                const double ex = p.x - only.x, ey = p.y - only.y;
                const double at = dot(ex, ey, only.dx, only.dy), lateral = dot(ex, ey, only.lx, only.ly);
                list[n] = {at, p.body};
                n += (std::fabs(lateral) <= half) & (-5.0 <= at) & (at < end);
            }
            list.resize(n);
            sort(list);
            return list;
        }
        list.clear();
        search.clear();
        search.push_back({lane, 0.0});
        if (connected_lanes) {
            const Lane& own = net->lanes[lane];
            for (int road : net->leaving[own.to]) {
                const RoadSegment& r = net->roads[road];
                search.push_back({r.first + (own.id < r.count ? own.id : 0), own.length});
            }
            for (int node : net->starts) {
                const int road = net->road_between(node, own.from);
                if (road < 0) continue;
                const RoadSegment& r = net->roads[road];
                const int k = r.first + (own.id < r.count ? own.id : 0);
                search.push_back({k, -net->lanes[k].length});
            }
        }
        const auto look = [&](const Body& b) {
            for (const auto& [k, offset] : search) {
                const Lane& l = net->lanes[k];
                if (l.farther_than(b.x, b.y, l.width / 2 + 1)) continue;
                const Coordinates c = on_lane_of(b, k);
                if (!l.on(c.s, c.lateral, 1)) continue;
                list.push_back({c.s + offset, &b});
                return;
            }
        };
        for (const Place& p : places) look(*p.body);
        sort(list);
        return list;
    }
    // by place, and those at one place in their order; they are nearly sorted
    static void sort(std::vector<Found>& list) {
        for (size_t i = 1; i < list.size(); ++i) {
            const Found f = list[i];
            size_t j = i;
            for (; j > 0 && f.s < list[j - 1].s; --j) list[j] = list[j - 1];
            list[j] = f;
        }
    }
    void neighbours(const Body& b, int lane, const Body*& front, const Body*& rear) const {
        const double s = on_lane_of(b, lane).s;
        front = rear = nullptr;
        double s_front = 0, s_rear = 0;
        const std::vector<Found>& list = bodies_on(lane);
        const size_t n = list.size();
        size_t first = 0;
        for (size_t width = n; width > 0;) {  // the first that is not behind
            const size_t half = width / 2;
            const bool behind = list[first + half].s < s;
            first = behind ? first + half + 1 : first;
            width = behind ? width - half - 1 : half;
        }
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

    // ---- decisions

    double desired_gap(const Body& ego, const Body& front) const {
        const double dv = dot(ego.vx() - front.vx(), ego.vy() - front.vy(), ego.cos_h, ego.sin_h);
        const double ab = -driver.comfort_max * driver.comfort_min;
        return driver.distance + ego.speed * driver.time + ego.speed * dv / (2 * std::sqrt(ab));
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
    double idm(const Body& self, const Body* ego, const Body* front) const {
        if (driver.linear) return linear(self, ego, front);
        if (!ego || !ego->is_vehicle()) return 0;
        double target = ego->is_controlled() ? ego->target_speed : 0;
        const Lane& lane = net->lanes[ego->lane];
        if (lane.has_limit) target = clip(target, 0, lane.limit);
        double a = driver.comfort_max * (1 - power(most(ego->speed, 0) / std::fabs(not_zero(target)), self.delta));
        if (front) {
            const double ratio = desired_gap(*ego, *front) / not_zero(lane_distance(*ego, *front));
            a -= driver.comfort_max * (ratio * ratio);
        }
        return a;
    }
    bool mobil(const Body& self, int lane) const {
        const Body *new_front, *new_rear, *old_front, *old_rear;
        neighbours(self, lane, new_front, new_rear);
        if (idm(self, new_rear, &self) < -2.0) return false;
        neighbours(self, self.lane, old_front, old_rear);
        const double predicted = idm(self, &self, new_front);
        if (self.has_route && !self.route.empty() && self.route[0].id >= 0) {
            const int own = net->lanes[self.target_lane].id, a = net->lanes[lane].id - own, b = self.route[0].id - own;
            if ((a > 0) - (a < 0) != (b > 0) - (b < 0)) return false;
            return !(predicted < -2.0);
        }
        // politeness is 0: what followers gain or lose is multiplied by nothing
        return !(predicted - idm(self, &self, old_front) < driver.gain);
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
    double steering_to(const Body& b, int target) const {
        constexpr double MOST = PI / 3, PURSUIT = 0.5 * 0.2;
        const Lane& lane = net->lanes[target];
        const Coordinates c = on_lane_of(b, target);
        const double ahead = lane.heading_at(c.s + b.speed * PURSUIT);
        if (b.kind == IDM && driver.linear) {
            const double v = not_zero(b.speed);
            return clip(dot(b.steers[0], b.steers[1], wrap(ahead - b.heading) * b.length / v,
                            -c.lateral * b.length / square(v)),
                        -MOST, MOST);
        }
        const double sideways = -(1 / 0.6) * c.lateral;
        const double command = arcsin(clip(sideways / not_zero(b.speed), -1, 1));
        const double wanted = ahead + clip(command, -PI / 4, PI / 4);
        const double rate = (1 / 0.2) * wrap(wanted - b.heading);
        const double slip = arcsin(clip(b.length / 2 / not_zero(b.speed) * rate, -1, 1));
        return clip(arctan(2 * tan(slip)), -MOST, MOST);
    }
    void follow_road(Body& b) const {
        if (net->lanes[b.target_lane].after_end(on_lane_of(b, b.target_lane).s))
            b.target_lane = net->next_lane(b.target_lane, b.has_route ? &b.route : nullptr, b.x, b.y);
    }
    enum Command { LANE_LEFT, IDLE, LANE_RIGHT, FASTER, SLOWER, NONE };
    void act_mdp(Body& b, int command) const {
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
        b.steering = steering_to(b, b.target_lane);
        b.acceleration = (1 / 0.6) * (b.target_speed - b.speed);
    }
    void act_idm(Body& b) const {
        if (b.crashed) return;
        follow_road(b);
        if (b.enable_lane_change) change_lane(b);
        b.steering = steering_to(b, b.target_lane);
        const Body *front, *rear;
        neighbours(b, b.lane, front, rear);
        double a = idm(b, &b, front);
        if (b.lane != b.target_lane) {
            neighbours(b, b.target_lane, front, rear);
            a = least(a, idm(b, &b, front));
        }
        b.acceleration = clip(a, -6.0, 6.0);
    }
    void act() {
        for (Body& b : vehicles) {
            if (b.kind == IDM)
                act_idm(b);
            else if (b.kind == MDP)
                act_mdp(b, NONE);
        }
    }

    // ---- movement

    static void clip_actions(Body& b) {
        if (b.crashed) {
            b.steering = 0;
            b.acceleration = -1.0 * b.speed;
        }
        if (b.speed > b.max_speed)
            b.acceleration = least(b.acceleration, 1.0 * (b.max_speed - b.speed));
        else if (b.speed < b.min_speed)
            b.acceleration = most(b.acceleration, 1.0 * (b.min_speed - b.speed));
        if (b.kind == BICYCLE) {
            b.steering = clip(b.steering, -PI / 2, PI / 2);
            b.yaw_rate = clip(b.yaw_rate, -2 * PI, 2 * PI);
        }
    }
    static void slopes(const Body& b, const double* state, double* out) {
        constexpr double INERTIA = 1.0 / 12 * 1 * 29.0, FRICTION = 2 * 15.0, HALF = 2.5;
        const double heading = state[2], speed = state[3], sideways = state[4], yaw = state[5];
        double front = FRICTION * (b.steering - arctan2(sideways + HALF * yaw, speed));
        double rear = FRICTION * (0 - arctan2(sideways - HALF * yaw, speed));
        if (std::fabs(speed) < 1) {
            front = -1 * sideways - INERTIA / HALF * yaw;
            rear = -1 * sideways + INERTIA / HALF * yaw;
        }
        const double c = cos(heading), s = sin(heading);
        out[0] = row_times_vector(c, -s, speed, sideways);
        out[1] = row_times_vector(s, c, speed, sideways);
        out[2] = yaw;
        out[3] = b.acceleration;
        out[4] = 1 * (front + rear) - yaw * speed;
        out[5] = 1 / INERTIA * (HALF * front - HALF * rear);
    }
    static void glide(Body& b, double dt) {  // Runge-Kutta of the bicycle with tyres that slip
        double state[6] = {b.x, b.y, b.heading, b.speed, b.lateral_speed, b.yaw_rate}, f1[6], f2[6], f3[6], f4[6],
               at[6];
        slopes(b, state, f1);
        for (int k = 0; k < 6; ++k) at[k] = state[k] + f1[k] * (dt / 2);
        slopes(b, at, f2);
        for (int k = 0; k < 6; ++k) at[k] = state[k] + f2[k] * (dt / 2);
        slopes(b, at, f3);
        for (int k = 0; k < 6; ++k) at[k] = state[k] + f3[k] * dt;
        slopes(b, at, f4);
        for (int k = 0; k < 6; ++k) state[k] = state[k] + dt / 6 * (f1[k] + 2 * f2[k] + 2 * f3[k] + f4[k]);
        b.x = state[0], b.y = state[1], b.speed = state[3], b.lateral_speed = state[4], b.yaw_rate = state[5];
        b.turn_to(state[2]);
    }
    static void move_one(Body& b, double dt) {
        if (b.kind == IDM) b.timer += dt;
        clip_actions(b);
        if (b.kind == BICYCLE) return glide(b, dt);
        const double beta = arctan(1.0 / 2 * tan(b.steering));
        b.x += b.speed * cos(b.heading + beta) * dt;
        b.y += b.speed * sin(b.heading + beta) * dt;
        if (b.has_impact) {
            b.x += b.impact_x;
            b.y += b.impact_y;
            b.crashed = true;
            b.has_impact = false;
        }
        const double h = b.heading + b.speed * sin(beta) / (b.length / 2) * dt;
        b.speed += b.acceleration * dt;
        b.turn_to(h);
    }

    struct Polygon {
        double x[5], y[5];
    };
    static Polygon polygon(const Body& b) {
        const double l = b.length / 2, w = b.width / 2;
        const double px[4] = {-l, -l, l, l}, py[4] = {-w, w, w, -w};
        Polygon p;
        for (int k = 0; k < 4; ++k) {
            p.x[k] = row_times_matrix(b.cos_h, -b.sin_h, px[k], py[k]) + b.x;
            p.y[k] = row_times_matrix(b.sin_h, b.cos_h, px[k], py[k]) + b.y;
        }
        p.x[4] = p.x[0], p.y[4] = p.y[0];
        return p;
    }
    static void project(const Polygon& p, double nx, double ny, double& low, double& high) {
        for (int k = 0; k < 5; ++k) {
            const double d = dot(p.x[k], p.y[k], nx, ny);
            if (k == 0 || d < low) low = d;
            if (k == 0 || d > high) high = d;
        }
    }
    static double gap(double a0, double a1, double b0, double b1) { return a0 < b0 ? b0 - a1 : a0 - b1; }

    static void collide(Body& a, Body& b, double dt) {
        if (!(a.check_collisions || b.check_collisions)) return;
        if (norm(b.x - a.x, b.y - a.y) > (a.diagonal + b.diagonal) / 2 + a.speed * dt) return;
        const Polygon pa = polygon(a), pb = polygon(b);
        const double ax = a.vx() * dt, ay = a.vy() * dt, bx = b.vx() * dt, by = b.vy() * dt;
        bool now = true, soon = true;
        double shortest = std::numeric_limits<double>::infinity(), tx = 0, ty = 0;
        for (const Polygon* p : {&pa, &pb}) {
            for (int k = 0; k < 4; ++k) {
                double nx = -p->y[k + 1] + p->y[k], ny = p->x[k + 1] - p->x[k];
                const double n = norm(nx, ny);
                nx /= n, ny /= n;
                double a0 = 0, a1 = 0, b0 = 0, b1 = 0;
                project(pa, nx, ny, a0, a1);
                project(pb, nx, ny, b0, b1);
                if (gap(a0, a1, b0, b1) > 0) now = false;
                const double closing = dot(nx, ny, ax - bx, ay - by);
                if (closing < 0)
                    a0 += closing;
                else
                    a1 += closing;
                const double d = gap(a0, a1, b0, b1);
                if (d > 0) soon = false;
                if (!now && !soon) break;
                if (std::fabs(d) < shortest) {
                    shortest = std::fabs(d);
                    const double dx = (((pa.x[0] + pa.x[1]) + pa.x[2]) + pa.x[3]) / 4
                                      - (((pb.x[0] + pb.x[1]) + pb.x[2]) + pb.x[3]) / 4;
                    const double dy = (((pa.y[0] + pa.y[1]) + pa.y[2]) + pa.y[3]) / 4
                                      - (((pb.y[0] + pb.y[1]) + pb.y[2]) + pb.y[3]) / 4;
                    const bool along = dot(dx, dy, nx, ny) > 0;
                    tx = along ? nx : -nx;
                    ty = along ? ny : -ny;
                }
            }
        }
        if (soon && a.solid() && b.solid()) {
            const double x = shortest * tx, y = shortest * ty;
            if (b.kind == OBSTACLE) {
                push(a, x, y);
            } else if (a.kind == OBSTACLE) {
                push(b, x, y);
            } else {
                push(a, x / 2, y / 2);
                push(b, -x / 2, -y / 2);
            }
        }
        if (now) {
            if (a.solid() && b.solid()) a.crashed = b.crashed = true;
            if (!a.solid()) a.hit = true;
            if (!b.solid()) b.hit = true;
        }
    }
    static void push(Body& b, double x, double y) { b.has_impact = true, b.impact_x = x, b.impact_y = y; }

    void step() {
        if (regulated) {
            ++road_steps;
            if (road_steps % int(1 / dt / 2) == 0) enforce_rules();
        }
        for (Body& b : vehicles) {
            move_one(b, dt);
            moved(b);
            b.lane = closest_lane(b, b.lane);
        }
        const size_t n = vehicles.size();
        xs.resize(n), ys.resize(n);
        double widest = 0;
        for (size_t k = 0; k < n; ++k) {
            xs[k] = vehicles[k].x, ys[k] = vehicles[k].y;
            widest = std::max(widest, vehicles[k].diagonal);
        }
        for (size_t i = 0; i < n; ++i) {
            Body& a = vehicles[i];
            // nothing farther away than this is touched
            const double reach = (a.diagonal + widest) / 2 + std::fabs(a.speed) * dt + 1e-6;
            if (any_within(i, reach * reach))
                for (size_t j = i + 1; j < n; ++j) collide(a, vehicles[j], dt);
            for (Body& o : objects) collide(a, o, dt);
        }
    }
    bool any_within(size_t i, double square) const {
        const size_t n = xs.size();
        const double x = xs[i], y = ys[i], *px = xs.data(), *py = ys.data();
        double least = square + 1;
        size_t j = i + 1;
        double strands[4] = {least, least, least, least};
        for (; j + 4 <= n; j += 4)
            for (size_t k = 0; k < 4; ++k) {
                const double dx = px[j + k] - x, dy = py[j + k] - y, d = dx * dx + dy * dy;
                strands[k] = d < strands[k] ? d : strands[k];
            }
        for (; j < n; ++j) {
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
            move_one(copy, t - before);
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
    int slots = 0;
    std::vector<int> free_slots;
    uint64_t now = 1;
    mutable std::vector<Coordinates> known;
    mutable std::vector<uint64_t> known_at, moved_at;
    mutable std::vector<std::vector<Found>> lists;
    mutable std::vector<uint64_t> listed_at;
    mutable std::vector<std::pair<int, double>> search;
    std::vector<Pose> poses;
    struct Place {
        double x, y;
        const Body* body;
    };
    mutable std::vector<Place> places;
    mutable uint64_t places_at = 0;
    std::vector<double> xs, ys;
};

}  // namespace cypool::highway
