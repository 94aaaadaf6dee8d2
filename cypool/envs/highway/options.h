// The options of an environment, checked and in numbers.
#pragma once

#include "cypool/envs/highway/roads.h"

namespace cypool::highway {

enum TaskKind {
    HIGHWAY,
    EXIT,
    MERGE,
    MERGE_GENERIC,
    TWO_WAY,
    U_TURN,
    ROUNDABOUT,
    ROUNDABOUT_GENERIC,
    INTERSECTION,
    PARKING,
    RACETRACK,
    LANE_KEEPING
};
enum ActionKind { META, CONTINUOUS, DISCRETE };
enum ObsKind { KINEMATICS, EXIT_OBS, TTC, GRID, GOAL, ATTRIBUTES, LIDAR };
enum Feature {
    PRESENCE,
    X,
    Y,
    VX,
    VY,
    HEADING,
    COS_H,
    SIN_H,
    COS_D,
    SIN_D,
    LONG_OFF,
    LAT_OFF,
    ANG_OFF,
    FEATURES,
    ON_ROAD = FEATURES
};

// of specs.py, field by field
struct Options {
    int task, fast, frames, simulation_frequency, agents, multi_agent;
    int vehicles_count, initial_lane, lanes_count, connected_lanes, normalize_reward, offroad_terminal, other_vehicles;
    int destination, incoming, add_walls, walls, terminate_off_road;
    double policy_frequency, duration, ego_spacing, density, spawn_probability;
    double collision, right_lane, high_speed, lane_change, merging_speed, left_lane, goal, arrived, speed_low,
        speed_high;
    double centering_cost, centering, action_cost, on_road, success, weights[6], end_position, max_position,
        ramp_length, state_noise, derivative_noise;
    int ints;  // which of these are Python ints matters for sum(): bit 0 collision
    // actions
    int action, longitudinal, lateral, dynamical, clip, actions_per_axis, has_speed_range, num_targets;
    double acceleration0, acceleration1, steering0, steering1, speed_range0, speed_range1, targets[16];
    // observations
    int obs, num_features, features[16], rows, absolute, shuffled, sorted, normalize, clip_obs, see_behind, intentions,
        objects;
    int has_ranges, ranged[16], horizon, align, as_image, cells;
    double range0[16], range1[16], grid_x0, grid_y0, grid_dx, grid_dy, scales[16], lidar_range;
    int grid_w, grid_h;
    // np.linspace(0, 80, vehicles), np.exp(-5 / 40 * lanes), places of walls in pairs, the values of an axis
    double starts[128], spread[64], wall_places[64], axis[64];
    int nodes[24];  // named nodes that tasks use
    int linear;     // the other vehicles' class
    double gain, headway, speeds[3], steers[2], speeds_low[3], speeds_range[3], steers_low[2], steers_range[2];
};

// What environments with the same options share.
struct Setup {
    Options options;
    Network network;
};
}  // namespace cypool::highway
