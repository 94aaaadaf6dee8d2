// The options of an environment, checked and in numbers.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cypool/envs/shared/rules/options.h"
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

// clang-format on

// What specs.py makes of the options of a task.
struct Options : cypool::Options {
    explicit Options(const cypool::Options& given) : cypool::Options(given) {}
    int node(int k) const { return static_cast<int>(nodes[k]); }

    int task = at("task"), fast = at("fast"), frames = at("frames"), agents = at("agents"), walls = at("walls");
    int simulation_frequency = at("simulation_frequency"), multi_agent = at("multi_agent");
    int vehicles_count = at("vehicles_count"), initial_lane = at("initial_lane"), lanes_count = at("lanes_count");
    int connected_lanes = at("connected_lanes"), normalize_reward = at("normalize_reward");
    int offroad_terminal = at("offroad_terminal"), other_vehicles = at("other_vehicles");
    int destination = at("destination"), incoming = at("incoming"), add_walls = at("add_walls");
    int terminate_off_road = at("terminate_off_road");
    double policy_frequency = at("policy_frequency"), duration = at("duration"), ego_spacing = at("ego_spacing");
    double density = at("density"), spawn_probability = at("spawn_probability"), end_position = at("end_position");
    double max_position = at("max_position"), ramp_length = at("ramp_length"), state_noise = at("state_noise");
    double derivative_noise = at("derivative_noise");
    // nodes that tasks use; np.linspace(0, 80, vehicles); np.exp(-5 / 40 * lanes); places of walls in pairs
    std::array<double, 24> nodes = at("nodes");
    std::array<double, 128> starts = at("starts");
    std::array<double, 64> spread = at("spread"), wall_places = at("wall_places");
    // weights of the reward; whether two are Python's ints, for sum() and for the sign of zero
    double collision = at("collision"), right_lane = at("right_lane"), high_speed = at("high_speed");
    double lane_change = at("lane_change"), merging_speed = at("merging_speed"), left_lane = at("left_lane");
    double goal = at("goal"), arrived = at("arrived"), speed_low = at("speed_low"), speed_high = at("speed_high");
    double centering_cost = at("centering_cost"), centering = at("centering"), action_cost = at("action_cost");
    double on_road = at("on_road"), success = at("success");
    std::array<double, 6> weights = at("weights");
    int has_int_collision = at("has_int_collision"), has_int_arrived = at("has_int_arrived");
    // actions; the values of an axis
    int action = at("action"), longitudinal = at("longitudinal"), lateral = at("lateral"), clip = at("clip");
    int dynamical = at("dynamical"), actions_per_axis = at("actions_per_axis"), num_targets = at("num_targets");
    int has_speed_range = at("has_speed_range");
    std::array<double, 2> acceleration = at("acceleration"), steering = at("steering"), speed_range = at("speed_range");
    std::array<double, 16> targets = at("targets");
    std::array<double, 64> axis = at("axis");
    // the class of the other vehicles
    int linear = at("linear");
    double gain = at("gain"), headway = at("headway");
    std::array<double, 3> speeds = at("speeds"), speeds_low = at("speeds_low"), speeds_range = at("speeds_range");
    std::array<double, 2> steers = at("steers"), steers_low = at("steers_low"), steers_range = at("steers_range");
};

// A part of an observation: 0 where its kind has none.
struct View : cypool::Options {
    using Numbers = std::array<double, 16>;
    using Pair = std::array<double, 2>;
    explicit View(const cypool::Options& given) : cypool::Options(given) {}

    int kind = at("kind"), cells = at("cells"), width = at("width", 0), height = at("height", 0);
    int num_features = at("num_features", 0), rows = at("rows", 0), absolute = at("absolute", 0);
    int shuffled = at("shuffled", 0), sorted = at("sorted", 0), normalize = at("normalize", 0), clip = at("clip", 0);
    int see_behind = at("see_behind", 0), intentions = at("intentions", 0), objects = at("objects", 0);
    int has_ranges = at("has_ranges", 0), horizon = at("horizon", 0), align = at("align", 0);
    int as_image = at("as_image", 0);
    double lidar_range = at("lidar_range", 0.0);
    Numbers features = at("features", Numbers()), ranged = at("ranged", Numbers()), scales = at("scales", Numbers());
    Numbers low = at("low", Numbers()), high = at("high", Numbers());
    Pair start = at("start", Pair()), cell = at("cell", Pair());

    int feature(int k) const { return static_cast<int>(features[k]); }
    bool needs(Feature first, Feature last) const {
        return std::any_of(features.begin(), features.begin() + num_features,
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

// The shared part of environments with the same options.
struct Setup {
    explicit Setup(const cypool::Options& given) : options(given) {}

    Options options;
    std::vector<View> views;
    Network network;
    std::string config;  // the options as JSON, for Python

    // bytes from one part to the next: numbers of eight bytes may follow those of one
    size_t room(const View& view) const { return views.size() > 1 ? (view.size() + 7) / 8 * 8 : view.size(); }
};

}  // namespace cypool::highway
