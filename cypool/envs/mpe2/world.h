// Worlds of circles that push each other apart, as mpe2 1.1.1 steps them, bit for bit: the common part of all
// scenarios. Formulas keep the order of the reference's operations, as each of them rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "cypool/envs/shared/rules/rules.h"

namespace cypool::mpe2 {

// x and y; Vec() is zero
class Vec {
public:
    Vec() = default;
    Vec(double x, double y) : both_{x, y} {}
    double x() const { return both_[0]; }
    double y() const { return both_[1]; }
    friend Vec operator+(Vec a, Vec b) { return Vec(a.both_ + b.both_); }
    friend Vec operator-(Vec a, Vec b) { return Vec(a.both_ - b.both_); }
    friend Vec operator*(double s, Vec v) { return Vec(s * v.both_); }
    friend Vec operator*(Vec v, double s) { return Vec(v.both_ * s); }
    friend Vec operator/(Vec v, double s) { return Vec(v.both_ / s); }
    // the square of its length
    double squared() const {
        const Both squares = both_ * both_;
        return squares[0] + squares[1];
    }
    double length() const { return std::sqrt(squared()); }
    // the greater of |x| and |y|
    double extent() const { return std::max(std::fabs(x()), std::fabs(y())); }
    float* write(float* out) const {
        out[0] = static_cast<float>(both_[0]);
        out[1] = static_cast<float>(both_[1]);
        return out + 2;
    }

private:
    using Both = double __attribute__((vector_size(16)));
    explicit Vec(Both both) : both_(both) {}
    Both both_;
};

inline double distance(Vec a, Vec b) { return (a - b).length(); }

// NumPy's functions, which the C library's differ from in the last bit; set when the module is imported.
struct NumPy {
    double (*exp)(double);
    double (*sin)(double);
    double (*cos)(double);
    double (*arctan2)(double, double);
    double (*norm)(const double*, ptrdiff_t);  // np.linalg.norm
};
inline NumPy numpy;

inline double norm(Vec v) {
    const double numbers[2] = {v.x(), v.y()};
    return numpy.norm(numbers, 2);
}

// np.logaddexp(0, x): NumPy has it from the C library's functions.
inline double softplus(double x) {
    if (x == 0) return 0.693147180559945309417232121458176568;
    return x < 0 ? std::log1p(std::exp(x)) : x + std::log1p(std::exp(-x));
}

constexpr int MAX_AGENTS = 101, MAX_LANDMARKS = 150, MAX_DEPOSITS = 6, MAX_CYCLES = 1 << 30;
constexpr int NUM_MOVES = 5;  // none, left, right, down, up
constexpr double ANY_SPEED = std::numeric_limits<double>::infinity();

struct Setup : Options {
    explicit Setup(const Options& given) : Options(given) {}

    // how many; 0 where a scenario has none
    int agents = at("N", 0), good = at("num_good", 0);
    int adversaries = at("num_adversaries", 0), obstacles = at("num_obstacles", 0);
    int food = at("num_food", 0), forests = at("num_forests", 0);
    int collectors = at("num_collectors", 0), deposits = at("num_deposits", 0);
    int treasures = at("num_treasures", 0);
    // how many are observed; -1: all
    int agent_neighbors = at("num_agent_neighbors", -1);
    int landmark_neighbors = at("num_landmark_neighbors", -1);
    int curriculum_stage = at("curriculum_stage", -1);  // -1: none
    int max_cycles = at("max_cycles");
    double local_ratio = at("local_ratio", 0.0);
    bool continuous_actions = at("continuous_actions");
    bool terminate_on_success = at("terminate_on_success", false);
};

struct Agent {
    double size = 0.05, sensitivity = 5, max_speed = ANY_SPEED, mass = 1;
    bool collides = false, moves = true, speaks = false, is_adversary = false, is_leader = false;
    int group = 0;        // agents of a group are neighbours
    int num_obs = 0;      // numbers of its observation
    int num_choices = 1;  // of its discrete action
    int num_inputs = 0;   // numbers of its continuous action
};

struct Landmark {
    double size;
    bool collides = false;
};

// An agent that pushes another one, or a landmark, and is pushed.
struct Pair {
    int first, second;  // indices of their places in World::vectors
    int pushed;         // index of the force on the second; behind those of all agents for entities that never move
    uint64_t agents;    // a bit for each of them that is an agent; from the 65th on they share bits
    double sizes;       // the sum
    double near, weak;  // squares of distances: beyond the first there is no push, beyond the second hardly one
};

class World;

// The shared part of worlds with the same options.
struct Scenario {
    explicit Scenario(const Options& given) : options(given) {}

    Setup options;
    std::vector<Agent> agents;
    std::vector<Landmark> landmarks;
    std::vector<int> group_sizes;
    int words = 0;            // numbers of a message
    int first_food = 0;       // landmarks from here on are food, and forests behind it
    std::vector<Pair> pairs;  // that push each other apart
    bool has_treasures = false, has_direction = false;
    int num_goals = 0;  // landmarks that are chosen
    // of the rules: see scenarios.h
    void (*reset)(World&, const Rng*) = nullptr;
    void (*step)(World&, const void* action, Step& step) = nullptr;
    void (*observe)(const World&, float* const* groups) = nullptr;

    int num_agents() const { return static_cast<int>(agents.size()); }
    int num_landmarks() const { return static_cast<int>(landmarks.size()); }
    int first_forest() const { return first_food + options.food; }

    // a group of agents; each has `num_obs` numbers to observe
    void add(int count, int num_obs, Agent agent) {
        if (count == 0) return;
        agent.group = static_cast<int>(group_sizes.size());
        agent.num_obs = num_obs;
        agent.num_choices = (agent.moves ? NUM_MOVES : 1) * (agent.speaks ? words : 1);
        agent.num_inputs = (agent.moves ? NUM_MOVES : 0) + (agent.speaks ? words : 0);
        group_sizes.push_back(count);
        agents.insert(agents.end(), count, agent);
    }
    void mark(int count, double size, bool collides = false) {
        landmarks.insert(landmarks.end(), count, Landmark{size, collides});
    }
    // numbers for positions of others and of landmarks that are observed
    int seen_agents(int count) const { return 2 * (options.agent_neighbors < 0 ? count - 1 : options.agent_neighbors); }
    int seen_marks(int count) const {
        return 2 * (options.landmark_neighbors < 0 ? count : options.landmark_neighbors);
    }
};

// A treasure, which is a landmark.
struct Treasure {
    int32_t kind = 0;  // the deposit where it belongs
    bool is_there = true;
};

class World {
public:
    explicit World(const Options& options);
    explicit World(std::shared_ptr<const Scenario> scenario)
        : s(scenario),
          vectors(2 * scenario->num_agents() + scenario->num_landmarks()),
          messages(scenario->num_agents() * scenario->words),
          treasures(scenario->has_treasures ? scenario->num_landmarks() : 0),
          held(scenario->has_treasures ? scenario->num_agents() : 0, NOTHING) {}

    static constexpr int32_t NOTHING = -1;

    std::shared_ptr<const Scenario> s;

    void reset(const Step& step) { s->reset(*this, step.rng); }
    void step(const void* action, Step& step) noexcept { s->step(*this, action, step); }
    void observe(const Slot& out) const noexcept { s->observe(*this, reinterpret_cast<float* const*>(out.obs)); }

    const Vec* positions() const { return vectors.data(); }
    Vec* positions() { return vectors.data(); }
    const Vec* velocities() const { return positions() + s->num_agents(); }
    Vec* velocities() { return positions() + s->num_agents(); }
    const Vec* landmarks() const { return velocities() + s->num_agents(); }
    Vec* landmarks() { return velocities() + s->num_agents(); }
    const double* message(int agent) const { return messages.data() + agent * s->words; }
    double* message(int agent) { return messages.data() + agent * s->words; }

    // ---- saved, all but the numbers that the rules compute again
    bool is_ready = false;
    int32_t num_steps = 0;
    int32_t goal = 0, key = 0;     // landmarks
    double camera_range = 0;       // the greatest coordinate as the episode began
    std::vector<Vec> vectors;      // positions and velocities of agents, positions of landmarks
    std::vector<double> messages;  // of all agents
    Vec direction;                 // of the line
    std::vector<Treasure> treasures;
    std::vector<int32_t> held;  // by each agent: a kind of treasure, or NOTHING

    bool ready() const { return is_ready; }
    template <class Archive> void exchange(Archive& archive);
    void validate() const {}
    std::unique_ptr<World> fresh() const { return std::make_unique<World>(s); }

    // ---- parts of the rules
    static Vec draw(const Rng* rng, double most) {
        const double x = uniform(rng, -most, most);
        return {x, uniform(rng, -most, most)};
    }
    void draw_landmarks(const Rng* rng, double most, int first = 0) {
        for (int k = first; k < s->num_landmarks(); ++k) landmarks()[k] = draw(rng, most);
    }
    void begin(const Rng* rng) {
        is_ready = true;
        num_steps = 0;
        if (s->num_goals > 0) goal = static_cast<int32_t>(integers(rng, 0, s->num_landmarks()));
        if (s->num_goals > 1) key = static_cast<int32_t>(integers(rng, 0, s->num_landmarks()));
        const int n = s->num_agents();
        for (int i = 0; i < n; ++i) positions()[i] = draw(rng, 1);
        std::fill_n(velocities(), n, Vec());
        std::fill(messages.begin(), messages.end(), 0.0);
    }
    void set_camera() {
        camera_range = 0;
        for (int i = 0; i < s->num_agents(); ++i) camera_range = std::max(camera_range, positions()[i].extent());
        for (int k = 0; k < s->num_landmarks(); ++k) camera_range = std::max(camera_range, landmarks()[k].extent());
    }
    // takes actions, and moves all by a tenth of a second
    void move(const void* action);

private:
    void take_choices(const int64_t* choices, Vec* forces);
    void take_inputs(const float* inputs, Vec* forces);
    void push_apart(Vec* forces) const;
};

inline void World::take_choices(const int64_t* choices, Vec* forces) {
    static constexpr double MOVES[NUM_MOVES][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    for (int i = 0; i < s->num_agents(); ++i) {
        const Agent& agent = s->agents[i];
        auto choice = static_cast<uint64_t>(choices[i]);
        forces[i] = Vec();
        if (agent.moves) {
            const double* move = MOVES[choice % NUM_MOVES];
            forces[i] = agent.sensitivity * Vec(move[0], move[1]);
            choice /= NUM_MOVES;
        }
        if (agent.speaks) {
            for (int k = 0; k < s->words; ++k) message(i)[k] = static_cast<uint64_t>(k) == choice;
        }
    }
}

inline void World::take_inputs(const float* inputs, Vec* forces) {
    for (int i = 0; i < s->num_agents(); ++i) {
        const Agent& agent = s->agents[i];
        forces[i] = Vec();
        if (agent.moves) {
            // differences of float32; a zero that is added takes a minus off zeros
            forces[i] = agent.sensitivity * Vec(0.0 + (inputs[2] - inputs[1]), 0.0 + (inputs[4] - inputs[3]));
            inputs += NUM_MOVES;
        }
        if (agent.speaks) {
            for (int k = 0; k < s->words; ++k) message(i)[k] = *inputs++ + 0.0f;
        }
    }
}

// Whether pushes below 1e-42 in sum change no bit of the next velocity. Each is less than half of the last bit of the
// other forces, or all forces are so of the rest of the velocity. Masses are at least 1.
inline bool outweighs_weak_pushes(Vec force, Vec velocity) {
    const auto outweighs = [](double f, double v) { return (std::fabs(f) >= 1e-25) | (std::fabs(v) >= 1e-9); };
    return outweighs(force.x(), velocity.x()) & outweighs(force.y(), velocity.y());
}

inline void World::push_apart(Vec* forces) const {
    constexpr double FORCE = 1e2, MARGIN = 1e-3;
    struct Gap {
        Vec delta;
        double squared;
    };
    constexpr size_t AT_ONCE = 256;
    Gap gaps[AT_ONCE];
    const Pair* pushing[AT_ONCE];
    // agents whose bits depend on weak pushes
    uint64_t counting = s->pairs.size() > AT_ONCE ? ~uint64_t{0} : 0;
    for (int i = 0; i < s->num_agents(); ++i) {
        counting |= uint64_t{!outweighs_weak_pushes(forces[i], velocities()[i])} << i % 64;
    }
    for (size_t first = 0; first < s->pairs.size(); first += AT_ONCE) {
        const Pair* pairs = s->pairs.data() + first;
        const size_t n = std::min(s->pairs.size() - first, AT_ONCE);
        for (size_t k = 0; k < n; ++k) {
            const Vec delta = vectors[pairs[k].first] - vectors[pairs[k].second];
            gaps[k] = {delta, delta.squared()};
            // also for NaN
            counting |= gaps[k].squared > pairs[k].weak ? 0 : pairs[k].agents;
        }
        // without branches, which nothing could foresee
        size_t count = 0;
        for (size_t k = 0; k < n; ++k) {
            pushing[count] = pairs + k;
            count += !(gaps[k].squared > pairs[k].near) & ((pairs[k].agents & counting) != 0);
        }
        for (size_t k = 0; k < count; ++k) {
            const Pair& pair = *pushing[k];
            const Gap& gap = gaps[pushing[k] - pairs];
            const double length = std::sqrt(gap.squared);
            const Vec force = FORCE * gap.delta / length * (softplus(-(length - pair.sizes) / MARGIN) * MARGIN);
            forces[pair.first] = forces[pair.first] + force;
            forces[pair.pushed] = forces[pair.pushed] - force;
        }
    }
}

inline void World::move(const void* action) {
    constexpr double SECONDS = 0.1, KEPT = 1 - 0.25;
    Vec forces[MAX_AGENTS + 1];
    if (s->options.continuous_actions) {
        take_inputs(static_cast<const float*>(action), forces);
    } else {
        take_choices(static_cast<const int64_t*>(action), forces);
    }
    if (!s->pairs.empty()) push_apart(forces);
    for (int i = 0; i < s->num_agents(); ++i) {
        const Agent& agent = s->agents[i];
        if (!agent.moves) continue;
        Vec& velocity = velocities()[i];
        positions()[i] = positions()[i] + velocity * SECONDS;
        velocity = KEPT * velocity + forces[i] / agent.mass * SECONDS;
        if (agent.max_speed == ANY_SPEED) continue;
        const double speed = velocity.length();
        if (speed > agent.max_speed) velocity = velocity / speed * agent.max_speed;
    }
}

template <class Archive> void World::exchange(Archive& archive) {
    constexpr double FAR = 1e9;  // no entity gets so far in MAX_CYCLES steps
    const int n = s->num_agents(), m = s->num_landmarks();
    const auto vec = [&](Vec& v, double most) {
        double x = v.x(), y = v.y();
        archive("x", x, -most, most);
        archive("y", y, -most, most);
        if constexpr (Archive::LOADS) v = Vec(x, y);
    };
    archive("step", num_steps, 0, s->options.max_cycles);
    // where nothing is chosen they stay 0; the painter would draw them
    archive("goal", goal, 0, s->num_goals > 0 ? m - 1 : 0);
    archive("key", key, 0, s->num_goals > 1 ? m - 1 : 0);
    archive("camera_range", camera_range, 0, FAR);
    for (int i = 0; i < n; ++i) archive.in("position", i, [&] { vec(positions()[i], FAR); });
    for (int i = 0; i < n; ++i) archive.in("velocity", i, [&] { vec(velocities()[i], FAR); });
    for (int k = 0; k < m; ++k) archive.in("landmark", k, [&] { vec(landmarks()[k], FAR); });
    archive.all("message", messages, 0, 1);
    if (s->has_direction) archive.in("direction", [&] { vec(direction, 1); });
    archive.each("treasure", treasures, [&](Treasure& treasure) {
        archive("kind", treasure.kind, 0, s->options.deposits - 1);
        archive("is_there", treasure.is_there);
    });
    for (int i = 0; i < static_cast<int>(held.size()); ++i) {
        archive.item("held", i, held[i], NOTHING, i < s->options.collectors ? s->options.deposits - 1 : NOTHING);
    }
    if constexpr (Archive::LOADS) is_ready = true;
}

}  // namespace cypool::mpe2
