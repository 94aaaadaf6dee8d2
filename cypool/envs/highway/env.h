// An environment: its steps and its state.
#pragma once

#include "cypool/envs/shared/rules/state_archive.h"
#include "cypool/envs/highway/observations.h"

namespace cypool::highway {

class Env : public Observer {
public:
    Env() = default;
    explicit Env(std::shared_ptr<const Setup> shared) : Observer(std::move(shared)) {
        observed.resize((num_rows() * row_bytes() + 3) / 4);
    }

    void reset(const Rng* rng) {
        world.rng = rng;
        Task::reset();
        has_range = 0;
        observe_all();
    }
    void step(const void* action, const Rng* rng) {
        world.rng = rng;
        Task::step(action);
        observe_all();
    }
    // of the last step: later drawing or moves do not show there
    char* observation() { return reinterpret_cast<char*>(observed.data()); }

    bool ready() const { return !world.vehicles.empty(); }
    std::unique_ptr<Env> fresh() const { return std::make_unique<Env>(setup); }
    template <class Archive> void exchange(Archive& archive) {
        constexpr int MAX_BODIES = 2048;
        archive("time", time, 0, FAR);
        archive("road_steps", world.road_steps, 0, std::numeric_limits<int>::max() - 1);
        archive.list("vehicle", world.vehicles, 1, MAX_BODIES, [&](Body& b) { exchange(archive, b, VEHICLE, IDM); });
        archive.list("object", world.objects, 0, MAX_BODIES,
                     [&](Body& b) { exchange(archive, b, OBSTACLE, LANDMARK); });
        archive("lane_now", lane_now, 0, static_cast<int>(world.net->lanes.size()) - 1);
        archive("is_first_lane", is_first_lane);
        archive.all("range_y", range_y, 0, FAR);
        archive("has_range", has_range, 0, 255);
        archive("success", success);
        archive.all("reward", rewards, -FAR, FAR);
        archive.all("agent_reward", agent_reward, -FAR, FAR);
        archive.all("agent_ended", agent_ended, 0, 1);
        archive.all("observation", observed, 0, std::numeric_limits<uint32_t>::max());
        if constexpr (Archive::LOADS) restore();
    }
    void validate() const {
        for (size_t i = 0; i < world.vehicles.size(); ++i) {
            const Body& b = world.vehicles[i];
            const std::string path = name_of_item("vehicle", i);
            if (b.agent >= 0 ? b.kind != ego_kind : b.kind != VEHICLE && b.kind != IDM) {
                refuse_state(path + ".kind", "a kind that fits this vehicle", std::to_string(b.kind));
            }
            const int last = static_cast<int>(world.objects.size()) - 1;
            if (b.agent >= 0 && (b.goal > last || (o->task == PARKING && b.goal < 0))) {
                refuse_state(path + ".goal", "an object", std::to_string(b.goal));
            }
        }
        for (int agent = 0; agent < o->agents; ++agent) {
            const auto count = std::count_if(world.vehicles.begin(), world.vehicles.end(),
                                             [&](const Body& b) { return b.agent == agent; });
            if (count != 1) {
                refuse_state("vehicle", "one vehicle for agent " + std::to_string(agent), std::to_string(count));
            }
        }
    }

private:
    static constexpr double FAR = 1e15;

    size_t num_rows() const { return o->multi_agent ? o->agents : 1; }
    size_t row_bytes() const {
        size_t sum = 0;
        for (const View& view : setup->views) sum += setup->room(view);
        return sum;
    }
    void observe_all() {
        for (size_t agent = 0; agent < num_rows(); ++agent)
            observe(static_cast<int>(agent), observation() + agent * row_bytes());
    }
    template <class Archive> void exchange(Archive& archive, Body& b, Kind first, Kind last) {
        const int num_lanes = static_cast<int>(world.net->lanes.size());
        archive("kind", b.kind, first, last);
        archive("x", b.x, -FAR, FAR);
        archive("y", b.y, -FAR, FAR);
        archive("heading", b.heading, -FAR, FAR);
        archive("speed", b.speed, -FAR, FAR);
        archive("length", b.length, 0.1, 1000);
        archive("width", b.width, 0.1, 1000);
        archive("steering", b.steering, -FAR, FAR);
        archive("acceleration", b.acceleration, -FAR, FAR);
        archive("min_speed", b.min_speed, -FAR, FAR);
        archive("max_speed", b.max_speed, -FAR, FAR);
        archive("lane", b.lane, 0, num_lanes - 1);
        archive("crashed", b.crashed);
        archive("hit", b.hit);
        archive("has_impact", b.has_impact);
        archive("impact_x", b.impact_x, -FAR, FAR);
        archive("impact_y", b.impact_y, -FAR, FAR);
        if (first == OBSTACLE) return;
        archive("target_lane", b.target_lane, 0, num_lanes - 1);
        archive("target_speed", b.target_speed, -FAR, FAR);
        archive("has_route", b.has_route);
        archive.list("route", b.route, 0, 64, [&](Step& step) {
            archive("road", step.road, 0, static_cast<int>(world.net->roads.size()) - 1);
            archive("id", step.id, -1, world.net->roads[step.road].count - 1);
        });
        archive("speed_index", b.speed_index, 0, std::max(o->num_targets() - 1, 0));
        archive("timer", b.timer, -FAR, FAR);
        archive("delta", b.delta, -FAR, FAR);
        archive("enable_lane_change", b.enable_lane_change);
        archive("is_yielding", b.is_yielding);
        archive.all("speed_parameter", b.speeds, -FAR, FAR);
        archive.all("steering_parameter", b.steers, -FAR, FAR);
        archive("lateral_speed", b.lateral_speed, -FAR, FAR);
        archive("yaw_rate", b.yaw_rate, -FAR, FAR);
        archive("agent", b.agent, -1, o->agents - 1);
        archive("goal", b.goal, -1, std::numeric_limits<int>::max());
    }
    // the parts that follow from the rest
    void restore() {
        controlled.assign(o->agents, 0);
        for (auto* bodies : {&world.vehicles, &world.objects}) {
            for (Body& b : *bodies) {
                b.face();
                b.measure();
                b.check_collisions = !o->fast || b.agent >= 0 || !b.is_vehicle();
                b.slot = world.take_slot();
                world.moved(b);
            }
        }
        for (size_t i = 0; i < world.vehicles.size(); ++i) {
            if (world.vehicles[i].agent >= 0) controlled[world.vehicles[i].agent] = static_cast<int>(i);
        }
    }

    // memory of any of the types that observations have
    std::vector<uint32_t> observed;
};

}  // namespace cypool::highway
