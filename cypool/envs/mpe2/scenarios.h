// The twelve scenarios of mpe2: who takes part in each, and the rules that it has.
#pragma once

#include "cypool/envs/mpe2/rules.h"

namespace cypool::mpe2 {

enum ScenarioName : int {
    SIMPLE,
    SPREAD,
    TAG,
    ADVERSARY,
    PUSH,
    REFERENCE,
    SPEAKER_LISTENER,
    CRYPTO,
    WORLD_COMM,
    FORMATION,
    LINE,
    COLLECT_TREASURE
};

template <class R> void reset(World& w, const Rng* rng) {
    w.begin(rng);
    R::place(w, rng);
    w.set_camera();
}

// The second stream: a copy of the first one as it was before the reset, from which treasures that come back are drawn.
template <class R> void step(World& w, const void* action, Step& step) {
    double* rewards = step.agents->reward;
    w.move(action);
    const bool success = R::reward(w, step.second_rng, rewards);
    // the reference adds them to an int 0, which takes a minus off zeros
    for (int i = 0; i < w.s->num_agents(); ++i) rewards[i] += 0.0;
    // never both
    step.truncated = ++w.num_steps >= w.s->options.max_cycles;
    step.terminated = success && !step.truncated;
}

// Writes one row of each group's array.
template <class R> void observe(const World& w, float* const* groups) {
    if constexpr (requires { R::observe_all(w, groups); }) {
        R::observe_all(w, groups);
    } else {
        float* out = nullptr;
        for (int i = 0, group = -1; i < w.s->num_agents(); ++i) {
            if (w.s->agents[i].group != group) out = groups[group = w.s->agents[i].group];
            out = R::observe(w, i, out);
        }
    }
}

class ScenarioMaker {
public:
    static Scenario make(const Options& options) {
        ScenarioMaker maker(options);
        maker.populate();
        maker.count();
        maker.pair();
        return maker.s_;
    }

private:
    explicit ScenarioMaker(const Options& options) : s_(options) {}

    template <class R> void play() {
        s_.reset = &mpe2::reset<R>;
        s_.step = &mpe2::step<R>;
        s_.observe = &mpe2::observe<R>;
    }
    // a group of agents; each has `num_obs` numbers to observe
    void add(int count, int num_obs, Agent agent) {
        if (count == 0) return;
        agent.group = static_cast<int>(s_.group_sizes.size());
        agent.num_obs = num_obs;
        s_.group_sizes.push_back(count);
        s_.agents.insert(s_.agents.end(), count, agent);
    }
    void mark(int count, double size, bool collides = false) {
        s_.landmarks.insert(s_.landmarks.end(), count, Landmark{size, collides});
    }
    void populate();
    void count() {
        for (Agent& agent : s_.agents) {
            agent.num_choices = (agent.moves ? NUM_MOVES : 1) * (agent.speaks ? s_.words : 1);
            agent.num_inputs = (agent.moves ? NUM_MOVES : 0) + (agent.speaks ? s_.words : 0);
        }
    }
    // finds who pushes whom, in the order of the reference
    void pair() {
        // beyond the first gap, the exponential function is 0, and so is the force; beyond the second it is below 1e-44
        constexpr double NEAR = 0.746, WEAK = 0.1;
        const auto bit = [](int agent) { return uint64_t{1} << agent % 64; };
        const int n = s_.num_agents();
        const auto add = [&](int first, int second, int pushed, uint64_t agents, double size) {
            const double sizes = s_.agents[first].size + size, near = NEAR + sizes, weak = WEAK + sizes;
            s_.pairs.push_back({first, second, pushed, agents, sizes, near * near, weak * weak});
        };
        for (int a = 0; a < n; ++a) {
            if (!s_.agents[a].collides) continue;
            for (int b = a + 1; b < n; ++b) {
                if (s_.agents[b].collides) add(a, b, b, bit(a) | bit(b), s_.agents[b].size);
            }
            for (int k = 0; k < s_.num_landmarks(); ++k) {
                if (s_.landmarks[k].collides) add(a, 2 * n + k, n, bit(a), s_.landmarks[k].size);
            }
        }
    }
    Scenario s_;
};

inline void ScenarioMaker::populate() {
    const Setup& o = s_.options;
    // numbers for positions of others and of landmarks that are observed
    const auto seen_agents = [&](int count) { return 2 * (o.agent_neighbors < 0 ? count - 1 : o.agent_neighbors); };
    const auto seen_marks = [&](int count) { return 2 * (o.landmark_neighbors < 0 ? count : o.landmark_neighbors); };
    switch (o.scenario) {
        case SIMPLE:
            play<Simple>();
            add(1, 4, {});
            mark(1, 0.05);
            break;
        case SPREAD:
            play<Spread>();
            s_.words = 2;
            add(o.agents, 4 + seen_marks(o.agents) + 2 * seen_agents(o.agents), {.size = 0.15, .collides = true});
            mark(o.agents, 0.05);
            break;
        case TAG: {
            play<Tag>();
            s_.words = 2;
            constexpr double FACTORS[] = {0.5, 0.75, 1};
            const double factor = o.curriculum_stage < 0 ? 1 : FACTORS[o.curriculum_stage];
            const int seen = 4 + seen_marks(o.obstacles) + seen_agents(o.adversaries + o.good);
            const auto velocities = [&](int count) { return 2 * (o.agent_neighbors < 0 ? count : o.agent_neighbors); };
            add(o.adversaries, seen + velocities(o.good),
                {.size = 0.075, .sensitivity = 3, .max_speed = 1, .collides = true, .is_adversary = true});
            add(o.good, seen + velocities(o.good - 1),
                {.sensitivity = 4 * factor, .max_speed = 1.3 * factor, .collides = true});
            mark(o.obstacles, 0.2, true);
            break;
        }
        case ADVERSARY: {
            play<Adversary>();
            s_.words = 2;
            s_.num_goals = 1;
            const int seen = seen_marks(o.agents) + seen_agents(1 + o.agents);
            add(1, seen, {.size = 0.15, .is_adversary = true});
            add(o.agents, 2 + seen, {.size = 0.15});
            mark(o.agents, 0.08);
            break;
        }
        case PUSH:
            play<Push>();
            s_.words = 2;
            s_.num_goals = 1;
            add(1, 8, {.collides = true, .is_adversary = true});
            add(1, 19, {.collides = true});
            mark(2, 0.05);
            break;
        case REFERENCE:
            play<Reference>();
            s_.words = 10;
            s_.num_goals = 2;
            add(2, 21, {.speaks = true});
            mark(3, 0.05);
            break;
        case SPEAKER_LISTENER:
            play<SpeakerListener>();
            s_.words = 3;
            s_.num_goals = 1;
            add(1, 3, {.size = 0.075, .moves = false, .speaks = true});
            add(1, 11, {.size = 0.075});
            mark(3, 0.04);
            break;
        case CRYPTO:
            play<Crypto>();
            s_.words = 4;
            s_.num_goals = 2;
            add(1, 4, {.moves = false, .speaks = true, .is_adversary = true});
            add(1, 8, {.moves = false, .speaks = true});
            add(1, 8, {.moves = false, .speaks = true});
            mark(2, 0.05);
            break;
        case WORLD_COMM: {
            play<WorldComm>();
            s_.words = 4;
            const int seen = 4 + 2 * (o.obstacles + o.food + o.forests) + 2 * (o.adversaries + o.good - 1) + o.forests;
            Agent hunter{.size = 0.075, .sensitivity = 3, .max_speed = 1, .collides = true, .is_adversary = true};
            Agent leader = hunter;
            leader.speaks = leader.is_leader = true;
            add(1, seen + 2 * o.good + s_.words, leader);
            add(o.adversaries - 1, seen + 2 * o.good + s_.words, hunter);
            add(o.good, seen + 2 * (o.good - 1), {.size = 0.045, .sensitivity = 4, .max_speed = 1.3, .collides = true});
            mark(o.obstacles, 0.2, true);
            s_.first_food = s_.num_landmarks();
            mark(o.food, 0.03);
            mark(o.forests, 0.3);
            break;
        }
        case FORMATION:
            play<Formation>();
            add(o.agents, 6, {.collides = true});
            mark(1, 0.03);
            break;
        case LINE:
            play<Line>();
            s_.has_direction = true;
            add(o.agents, 8, {.size = 0.03, .collides = true});
            mark(2, 0.02);
            break;
        case COLLECT_TREASURE: {
            play<CollectTreasure>();
            s_.words = 2;
            s_.has_treasures = true;
            const int seen =
                4 + (o.collectors + o.deposits - 1) * (4 + 2 * o.deposits) + o.treasures * (2 + o.deposits);
            add(o.collectors, seen + o.deposits, {.sensitivity = 1.5, .max_speed = 1});
            add(o.deposits, seen, {.size = 0.075, .sensitivity = 1.5, .max_speed = 1, .mass = 2.25});
            mark(o.treasures, 0.025);
            break;
        }
    }
}

inline World::World(const Options& options) : World(std::make_shared<const Scenario>(ScenarioMaker::make(options))) {}

}  // namespace cypool::mpe2
