// The options of an environment, checked and in numbers.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cypool/envs/highway/roads.h"

namespace cypool::highway {

enum ActionKind { META, CONTINUOUS, DISCRETE };
// as observations.py has them; pictures are drawn in Python
enum ViewKind { KINEMATICS, EXIT_OBS, TTC, GRID, GOAL, ATTRIBUTES, LIDAR, PICTURE };
// clang-format off
enum TaskKind {
    HIGHWAY, EXIT, MERGE, MERGE_GENERIC, TWO_WAY, U_TURN, ROUNDABOUT, ROUNDABOUT_GENERIC, INTERSECTION, PARKING,
    RACETRACK, LANE_KEEPING
};
enum Feature {
    PRESENCE, X, Y, VX, VY, HEADING, COS_H, SIN_H, COS_D, SIN_D, LONG_OFF, LAT_OFF, ANG_OFF, FEATURES,
    ON_ROAD = FEATURES
};

// Numbers that specs.py sets, by name: of one number, and of several
#define CYPOOL_TASK(INT, DOUBLE, DOUBLES)                                                                             \
    INT(task) INT(fast) INT(frames) INT(simulation_frequency) INT(agents) INT(multi_agent) INT(vehicles_count)        \
    INT(initial_lane) INT(lanes_count) INT(connected_lanes) INT(normalize_reward) INT(offroad_terminal)               \
    INT(other_vehicles) INT(destination) INT(incoming) INT(add_walls) INT(walls) INT(terminate_off_road)              \
    DOUBLE(policy_frequency) DOUBLE(duration) DOUBLE(ego_spacing) DOUBLE(density) DOUBLE(spawn_probability)           \
    DOUBLE(end_position) DOUBLE(max_position) DOUBLE(ramp_length) DOUBLE(state_noise) DOUBLE(derivative_noise)        \
    /* named nodes that tasks use; np.linspace(0, 80, vehicles); np.exp(-5 / 40 * lanes); places of walls in pairs */ \
    DOUBLES(nodes, 24) DOUBLES(starts, 128) DOUBLES(spread, 64) DOUBLES(wall_places, 64)                              \
    /* weights of the reward; whether two are Python's ints, for sum() and for the sign of zero */                    \
    DOUBLE(collision) DOUBLE(right_lane) DOUBLE(high_speed) DOUBLE(lane_change) DOUBLE(merging_speed)                 \
    DOUBLE(left_lane) DOUBLE(goal) DOUBLE(arrived) DOUBLE(speed_low) DOUBLE(speed_high) DOUBLE(centering_cost)        \
    DOUBLE(centering) DOUBLE(action_cost) DOUBLE(on_road) DOUBLE(success) DOUBLES(weights, 6) INT(has_int_collision)  \
    INT(has_int_arrived)                                                                                              \
    /* actions; the values of an axis */                                                                              \
    INT(action) INT(longitudinal) INT(lateral) INT(dynamical) INT(clip) INT(actions_per_axis) INT(has_speed_range)    \
    INT(num_targets) DOUBLES(acceleration, 2) DOUBLES(steering, 2) DOUBLES(speed_range, 2) DOUBLES(targets, 16)       \
    DOUBLES(axis, 64)                                                                                                 \
    /* the other vehicles' class */                                                                                   \
    INT(linear) DOUBLE(gain) DOUBLE(headway) DOUBLES(speeds, 3) DOUBLES(steers, 2) DOUBLES(speeds_low, 3)             \
    DOUBLES(speeds_range, 3) DOUBLES(steers_low, 2) DOUBLES(steers_range, 2)

#define CYPOOL_VIEW(INT, DOUBLE, DOUBLES)                                                                             \
    INT(kind) INT(num_features) INT(rows) INT(absolute) INT(shuffled) INT(sorted) INT(normalize) INT(clip)            \
    INT(see_behind) INT(intentions) INT(objects) INT(has_ranges) INT(horizon) INT(align) INT(as_image) INT(cells)     \
    INT(width) INT(height) DOUBLE(lidar_range) DOUBLES(features, 16) DOUBLES(ranged, 16) DOUBLES(low, 16)             \
    DOUBLES(high, 16) DOUBLES(scales, 16) DOUBLES(start, 2) DOUBLES(cell, 2)
// clang-format on

#define CYPOOL_INT(name) int name = 0;
#define CYPOOL_DOUBLE(name) double name = 0;
#define CYPOOL_DOUBLES(name, count) double name[count] = {};
#define CYPOOL_ONE(name) assign(#name, &name, 1) ||
#define CYPOOL_SEVERAL(name, count) assign(#name, name, count) ||
#define CYPOOL_FIELDS(LIST)                                                       \
    LIST(CYPOOL_INT, CYPOOL_DOUBLE, CYPOOL_DOUBLES)                               \
    /* false: there is none of this name, or it has fewer numbers */              \
    bool set(std::string_view field, const std::vector<double>& values) {         \
        const auto assign = [&](std::string_view known, auto* to, size_t count) { \
            if (field != known || values.size() > count) return false;            \
            std::copy(values.begin(), values.end(), to);                          \
            return true;                                                          \
        };                                                                        \
        return LIST(CYPOOL_ONE, CYPOOL_ONE, CYPOOL_SEVERAL) false;                \
    }

struct Options {
    CYPOOL_FIELDS(CYPOOL_TASK)
    int node(int k) const { return static_cast<int>(nodes[k]); }
};
// A part of an observation.
struct View {
    CYPOOL_FIELDS(CYPOOL_VIEW)
    int feature(int k) const { return static_cast<int>(features[k]); }
    bool needs(Feature first, Feature last) const {
        return std::any_of(features, features + num_features,
                           [&](double f) { return int(first) <= f && f <= int(last); });
    }
    // bytes of one agent's
    size_t size() const {
        switch (kind) {
            case KINEMATICS:
            case EXIT_OBS: return sizeof(float) * rows * num_features;
            case TTC: return sizeof(float) * 9 * horizon;
            case GRID: return (as_image ? 1 : sizeof(float)) * num_features * width * height;
            case LIDAR: return sizeof(float) * cells * 2;
            case GOAL: return sizeof(double) * 3 * num_features;
            case ATTRIBUTES: return sizeof(double) * 12;
            default: return size_t(cells) * width * height;  // frames
        }
    }
};
#undef CYPOOL_INT
#undef CYPOOL_DOUBLE
#undef CYPOOL_DOUBLES
#undef CYPOOL_ONE
#undef CYPOOL_SEVERAL
#undef CYPOOL_FIELDS

// The shared part of environments with the same options.
struct Setup {
    Options options;
    std::vector<View> views;
    Network network;
    std::string config;  // the options as JSON, for Python

    // bytes from one part to the next: numbers of eight bytes may follow those of one
    size_t room(const View& view) const { return views.size() > 1 ? (view.size() + 7) / 8 * 8 : view.size(); }
};

}  // namespace cypool::highway
