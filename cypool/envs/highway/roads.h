// Lanes and the network that they form. Nodes are numbered in the order of their names, lanes in the order in which
// the reference walks its graph: by start node, then by end node, each as first added, then by lane.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "cypool/envs/highway/numbers.h"

namespace cypool::highway {

enum LaneKind { STRAIGHT, SINE, CIRCLE };

// The last vector and its polar coordinates.
struct Polar {
    double x = 0, y = 0, angle = 0, distance = 0;

    void point_to(double to_x, double to_y) {
        const auto bits = [](double v) { return std::bit_cast<uint64_t>(v); };  // of zeros, the sign counts
        if (bits(x) == bits(to_x) && bits(y) == bits(to_y)) return;
        x = to_x, y = to_y;
        angle = arctan2(y, x);
        distance = norm(x, y);
    }
};

struct Lane {
    int kind, from, to, id, road, priority;
    bool forbidden, has_limit;
    double length, width, limit;
    double x, y, dx, dy, lx, ly, heading;  // straight: start, direction, lateral direction
    double amplitude, pulsation, phase;    // sine, in addition to these
    double spread;                         // how far it is from its axis, and a little
    double radius, start_phase, turn;      // circle with its centre in x, y; turn is 1 clockwise, else -1

    void local(double px, double py, double& s, double& lateral) const {
        Polar polar;
        local(px, py, s, lateral, polar);
    }
    // with the angle and distance that another lane has computed: arcs of a ring have one centre
    void local(double px, double py, double& s, double& lateral, Polar& polar) const {
        const double ex = px - x, ey = py - y;
        if (kind == CIRCLE) {
            polar.point_to(ex, ey);
            const double phi = start_phase + wrap(polar.angle - start_phase);
            s = turn * (phi - start_phase) * radius;
            lateral = turn * (radius - polar.distance);
            return;
        }
        s = dot(ex, ey, dx, dy);
        lateral = dot(ex, ey, lx, ly);
        if (kind == SINE) lateral = lateral - amplitude * sin(pulsation * s + phase);
    }
    // whether |lateral| is surely larger; costs no atan2, sine or root
    bool farther_than(double px, double py, double distance) const {
        const double ex = px - x, ey = py - y;
        if (kind == CIRCLE) {
            const double square = ex * ex + ey * ey, outer = radius + distance + 1e-6, inner = radius - distance - 1e-6;
            return square > outer * outer || (inner > 0 && square < inner * inner);
        }
        return std::fabs(ex * lx + ey * ly) > distance + spread;
    }
    void position(double s, double lateral, double& px, double& py) const {
        if (kind == CIRCLE) {
            const double phi = turn * s / radius + start_phase, r = radius - lateral * turn;
            px = x + r * cos(phi);
            py = y + r * sin(phi);
            return;
        }
        if (kind == SINE) lateral = lateral + amplitude * sin(pulsation * s + phase);
        px = x + s * dx + lateral * lx;
        py = y + s * dy + lateral * ly;
    }
    double heading_at(double s) const {
        if (kind == CIRCLE) return turn * s / radius + start_phase + PI / 2 * turn;
        if (kind == SINE) return heading + arctan(amplitude * pulsation * cos(pulsation * s + phase));
        return heading;
    }
    bool on(double s, double lateral, double margin = 0) const {
        return std::fabs(lateral) <= width / 2 + margin && -5.0 <= s && s < length + 5.0;
    }
    bool reachable(double s, double lateral) const {
        return !forbidden && std::fabs(lateral) <= 2 * width && 0 <= s && s < length + 5.0;
    }
    bool after_end(double s) const { return s > length - 5.0 / 2; }
};

struct RoadSegment {
    int from, to, first, count;
};

struct Step {
    int road, id;
};  // of a route; id -1: any lane

struct Network {
    std::vector<Lane> lanes;
    std::vector<RoadSegment> roads;
    std::vector<std::vector<int>> leaving;  // of each node, its roads, as first added
    std::vector<int> starts;                // nodes with roads that leave, as first added

    void finish(int nodes) {
        leaving.resize(nodes);
        for (int k = 0; k < int(lanes.size()); ++k) {
            Lane& lane = lanes[k];
            if (roads.empty() || roads.back().from != lane.from || roads.back().to != lane.to) {
                if (leaving[lane.from].empty()) starts.push_back(lane.from);
                leaving[lane.from].push_back(int(roads.size()));
                roads.push_back({lane.from, lane.to, k, 0});
            }
            lane.spread = std::fabs(lane.amplitude) + 1e-6;
            lane.road = int(roads.size()) - 1;
            lane.id = roads.back().count++;
        }
    }
    const RoadSegment& road_of(int lane) const { return roads[lanes[lane].road]; }
    int road_between(int from, int to) const {
        for (int r : leaving[from])
            if (roads[r].to == to) return r;
        return -1;
    }
    double distance(int lane, double px, double py) const {
        double s, r;
        lanes[lane].local(px, py, s, r);
        return std::fabs(r) + most(s - lanes[lane].length, 0) + most(0 - s, 0);
    }
    // first path found breadth first, neighbours in the order of their names; appends the roads
    void shortest_path(int start, int goal, std::vector<Step>& route) const {
        if (leaving[start].empty()) return;
        std::vector<std::vector<int>> queue{{start}};
        for (size_t at = 0; at < queue.size(); ++at) {
            const std::vector<int> path = queue[at];
            const int node = path.back();
            for (int next = 0; next < int(leaving.size()); ++next) {
                if (road_between(node, next) < 0) continue;
                if (std::ranges::find(path, next) != path.end()) continue;
                std::vector<int> longer = path;
                longer.push_back(next);
                if (next == goal) {
                    for (size_t k = 0; k + 1 < longer.size(); ++k)
                        route.push_back({road_between(longer[k], longer[k + 1]), -1});
                    return;
                }
                if (!leaving[next].empty()) queue.push_back(longer);
            }
        }
    }
    int choose_lane(int lane, int road, int id, double px, double py) const {
        const RoadSegment& there = roads[road];
        if (road_of(lane).count == there.count) return there.first + (id < 0 ? lanes[lane].id : id);
        int found = there.first;
        double nearest = distance(found, px, py);
        for (int k = found + 1; k < there.first + there.count; ++k) {
            const double d = distance(k, px, py);
            if (d < nearest) found = k, nearest = d;
        }
        return found;
    }
    // which lane follows; drops the route's first step if it is this road
    int next_lane(int lane, std::vector<Step>* route, double px, double py) const {
        int next = -1, id = -1;
        if (route && !route->empty()) {
            if ((*route)[0].road == lanes[lane].road) route->erase(route->begin());
            if (!route->empty() && roads[(*route)[0].road].from == lanes[lane].to)
                next = (*route)[0].road, id = (*route)[0].id;
        }
        double s, r, x, y;
        lanes[lane].local(px, py, s, r);
        lanes[lane].position(s, 0, x, y);
        if (next >= 0) return choose_lane(lane, next, id, x, y);
        int found = -1;
        double nearest = 0;
        for (int road : leaving[lanes[lane].to]) {
            const int candidate = choose_lane(lane, road, -1, x, y);
            const double away = distance(candidate, x, y);
            if (found < 0 || away < nearest) found = candidate, nearest = away;
        }
        return found < 0 ? lane : found;
    }
    bool connected(int a_road, int b_road, const Step* route, int steps, int depth) const {
        if (a_road == b_road || roads[b_road].to == roads[a_road].from) return true;
        if (depth <= 0) return false;
        if (steps && route[0].road == a_road) return connected(a_road, b_road, route + 1, steps - 1, depth);
        if (steps && roads[route[0].road].from == roads[a_road].to)
            return connected(route[0].road, b_road, route + 1, steps - 1, depth - 1);
        for (int next : leaving[roads[a_road].to])
            if (connected(next, b_road, route, steps, depth - 1)) return true;
        return false;
    }
};

}  // namespace cypool::highway
