// How any of the twelve scenarios of mpe2 is made and played.
#pragma once

#include "cypool/envs/mpe2/rules.h"

namespace cypool::mpe2 {

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

template <class R> void observe(const World& w, float* const* groups) {
    if constexpr (requires { R::observe_all(w, groups); }) {
        R::observe_all(w, groups);
    } else {
        write_groups(w, groups, [&](int i, float* out) { return R::observe(w, i, out); });
    }
}

// Finds who pushes whom, in the order of the reference.
inline void pair(Scenario& s) {
    // beyond the first gap, the exponential function is 0, and so is the force; beyond the second it is below 1e-44
    constexpr double NEAR = 0.746, WEAK = 0.1;
    const auto bit = [](int agent) { return uint64_t{1} << agent % 64; };
    const int n = s.num_agents();
    const auto add = [&](int first, int second, int pushed, uint64_t agents, double size) {
        const double sizes = s.agents[first].size + size, near = NEAR + sizes, weak = WEAK + sizes;
        s.pairs.push_back({first, second, pushed, agents, sizes, near * near, weak * weak});
    };
    for (int a = 0; a < n; ++a) {
        if (!s.agents[a].collides) continue;
        for (int b = a + 1; b < n; ++b) {
            if (s.agents[b].collides) add(a, b, b, bit(a) | bit(b), s.agents[b].size);
        }
        for (int k = 0; k < s.num_landmarks(); ++k) {
            if (s.landmarks[k].collides) add(a, 2 * n + k, n, bit(a), s.landmarks[k].size);
        }
    }
}

template <class R> Scenario make(const Options& options) {
    Scenario s(options);
    s.reset = &reset<R>;
    s.step = &step<R>;
    s.observe = &observe<R>;
    R::populate(s);
    pair(s);
    return s;
}

// in the order of specs.py
constexpr Scenario (*SCENARIOS[])(const Options&) = {
    make<Simple>,          make<Spread>, make<Tag>,       make<Adversary>, make<Push>, make<Reference>,
    make<SpeakerListener>, make<Crypto>, make<WorldComm>, make<Formation>, make<Line>, make<CollectTreasure>};

inline World::World(const Options& options)
    : World(std::make_shared<const Scenario>(SCENARIOS[static_cast<int>(options.at("scenario"))](options))) {}

}  // namespace cypool::mpe2
