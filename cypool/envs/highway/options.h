// The options of an environment, checked and in numbers.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cypool/envs/shared/rules/options.h"
#include "cypool/envs/highway/traffic.h"

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

using Pair = std::array<double, 2>;

// The options of a task and of its action, of which tasks and actions have some, and what specs.py adds.
struct Options : cypool::Options {
    explicit Options(const cypool::Options& given) : cypool::Options(given) {}

    int task = at("task"), frames = at("frames"), multi_agent = at("multi_agent");
    int agents = at("controlled_vehicles", 1), fast = !at("others_collide", true);
    int simulation_frequency = at("simulation_frequency");
    int vehicles_count = at("initial_vehicle_count", at("vehicles_count", 0));
    int initial_lane = at("initial_lane_id", -1), lanes_count = at("lanes_count", at("no_lanes", 2));
    int connected_lanes = at("neighbour_vehicles_connected_lanes"), normalize_reward = at("unit_reward", 0);
    int offroad_terminal = at("offroad_terminal", 0), other_vehicles = at("other_vehicles", 0);
    int destination = at("destination", -1), incoming = at("incoming_vehicle_destination", -1);
    int add_walls = at("add_walls", 0), terminate_off_road = at("terminate_off_road", 0);
    double policy_frequency = at("policy_frequency"), duration = at("duration", 1e18);
    double ego_spacing = at("ego_spacing", 0.0), density = at("vehicles_density", 0.0);
    double spawn_probability = at("spawn_probability", 0.0), end_position = at("end_position", 370.0);
    double max_position = at("max_position", 0.0), ramp_length = at("ramp_length", 80.0);
    double state_noise = at("state_noise", 0.0), derivative_noise = at("derivative_noise", 0.0);
    // nodes that tasks use; np.linspace(0, 80, vehicles); np.exp(-5 / 40 * lanes); places of walls in pairs
    std::vector<int> nodes = at("nodes");
    std::vector<double> starts = at("starts"), spread = at("spread"), wall_places = at("wall_places");
    // weights of the reward; whether two are Python's ints, for sum() and for the sign of zero
    double collision = at("collision_reward", 0.0), right_lane = at("right_lane_reward", 0.0);
    double high_speed = at("high_speed_reward", 0.0), lane_change = at("lane_change_reward", 0.0);
    double merging_speed = at("merging_speed_reward", 0.0), left_lane = at("left_lane_reward", 0.0);
    double goal = at("goal_reward", 0.0), arrived = at("arrived_reward", 0.0);
    double centering_cost = at("lane_centering_cost", 0.0), centering = at("lane_centering_reward", 0.0);
    double action_cost = at("action_reward", 0.0), on_road = at("on_road_reward", 0.0);
    double success = at("success_goal_reward", 0.0);
    Pair rewarded_speeds = at("reward_speed_range", Pair{0, 1});
    std::array<double, 6> weights = at("reward_weights", std::array<double, 6>{});
    int has_int_collision = at("has_int_collision"), has_int_arrived = at("has_int_arrived");
    // actions; the values of an axis
    int action = at("action"), longitudinal = at("longitudinal"), lateral = at("lateral"), clip = at("clip", 1);
    int dynamical = at("dynamical", 0), actions_per_axis = at("actions_per_axis", 0);
    Pair acceleration = at("acceleration_range", Pair{-5, 5}), steering = at("steering_range", Pair{-PI / 4, PI / 4});
    std::vector<double> targets = at("target_speeds", std::vector<double>{20, 25, 30}), axis = at("axis");
    std::vector<double> speed_range = at("speed_range", std::vector<double>());  // or empty
    int num_targets() const { return static_cast<int>(targets.size()); }
    // the class of the other vehicles
    int linear = at("linear");
    double gain = at("gain", 0.2);
    std::array<double, 3> speeds = at("speeds", Driver::SPEEDS);
};

// The options of a part of an observation, of which its kind has some, and what specs.py adds.
struct View : cypool::Options {
    using Numbers = std::array<double, 16>;
    explicit View(const cypool::Options& given) : cypool::Options(given) {}

    size_t size = at("size");  // bytes of one agent's
    int kind = at("kind"), cells = at("cells", 0), width = at("width", 0), height = at("height", 0);
    int rows = at("vehicles_count", 0), absolute = at("absolute", 0), shuffled = at("shuffled", 0);
    int sorted = at("sorted", 0), normalize = at("normalize", 0), clip = at("clip", 0);
    int see_behind = at("see_behind", 0), intentions = at("observe_intentions", 0);
    int objects = at("include_obstacles", 0), has_road_range = at("has_road_range", 0), horizon = at("horizon", 0);
    int align = at("align_to_vehicle_axes", 0), as_image = at("as_image", 0);
    double lidar_range = at("maximum_range", 0.0);
    std::vector<int> features = at("features", std::vector<int>());
    int num_features = static_cast<int>(features.size());
    // what is mapped to -1 and 1, of each feature; twice the same: it is not mapped
    Numbers low = at("low", Numbers()), high = at("high", Numbers()), scales = at("scales", Numbers());
    Pair start = at("start", Pair()), cell = at("grid_step", Pair{5, 5});

    bool needs(Feature first, Feature last) const {
        return std::ranges::any_of(features, [&](int f) { return first <= f && f <= last; });
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
    size_t room(const View& view) const { return views.size() > 1 ? (view.size + 7) / 8 * 8 : view.size; }
};

}  // namespace cypool::highway
