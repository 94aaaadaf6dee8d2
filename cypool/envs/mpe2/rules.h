// The rules of each of the twelve scenarios: who takes part, where things begin, rewards, ends and observations.
#pragma once

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>

#include "cypool/envs/shared/numerics/numpy_sum.h"
#include "cypool/envs/mpe2/matching.h"
#include "cypool/envs/mpe2/world.h"

namespace cypool::mpe2 {

// ---- shared by several of them

// The common part of a reward, and the agent's own part.
inline double mixed(const World& w, double common, double own) {
    const double ratio = w.s->options.local_ratio;
    return common * (1 - ratio) + own * ratio;
}

inline bool touches(Vec a, double a_size, Vec b, double b_size) {
    const double squared = (a - b).squared(), reach = a_size + b_size;
    // most are far apart, which shows without a root
    return squared < reach * reach * 1.001 && std::sqrt(squared) < reach;
}

inline bool agents_touch(const World& w, int a, int b) {
    return touches(w.positions()[a], w.s->agents[a].size, w.positions()[b], w.s->agents[b].size);
}

// Of the points [begin, end).
inline double least_distance(const Vec* points, int begin, int end, Vec from) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = begin; k < end; ++k) least = std::min(least, (points[k] - from).squared());
    // roots keep the order of their squares
    return std::sqrt(least);
}

inline float* write_message(const World& w, int agent, float* out) {
    return std::transform(w.message(agent), w.message(agent) + w.s->words, out,
                          [](double x) { return static_cast<float>(x); });
}

// n numbers: `high` in one place, `low` in the others
inline float* write_one_hot(float* out, int n, int place, double low = 0, double high = 1) {
    const auto other = static_cast<float>(low), there = static_cast<float>(high);
    for (int k = 0; k < n; ++k) *out++ = k == place ? there : other;
    return out;
}

// Where others are, seen from an agent.
inline float* write_others(const World& w, int i, float* out) {
    const Vec at = w.positions()[i];
    for (int a = 0; a < w.s->num_agents(); ++a) {
        if (a != i) out = (w.positions()[a] - at).write(out);
    }
    return out;
}

inline float* write_landmarks(const World& w, int i, float* out) {
    const Vec at = w.positions()[i];
    for (int k = 0; k < w.s->num_landmarks(); ++k) out = (w.landmarks()[k] - at).write(out);
    return out;
}

// Writes one row of each group's array: `write` takes an agent and where its numbers begin, and returns their end.
template <class F> void write_groups(const World& w, float* const* groups, F&& write) {
    float* out = nullptr;
    for (int i = 0, group = -1; i < w.s->num_agents(); ++i) {
        if (w.s->agents[i].group != group) out = groups[group = w.s->agents[i].group];
        out = write(i, out);
    }
}

// Indices of points in the order of their distance; those at the same one as they come.
class Nearest {
public:
    void add(double far, int index) {
        found_[size_++] = {far, index};
        comparable_ &= far == far;
    }
    // once all are added
    void sort() {
        if (size_ <= FEW && comparable_) {
            sort_few();
        } else {
            insert_each();
        }
    }
    int size() const { return size_; }
    int operator[](int k) const { return sorted_[k]; }

private:
    struct Found {
        double far;
        int index;
    };
    static constexpr int FEW = 16;

    // without branches, which nothing could foresee: counts how many come before each
    void sort_few() {
        int places[FEW];
        for (int a = 0; a < size_; ++a) {
            int place = 0;
            for (int b = 0; b < a; ++b) {
                const bool before = found_[a].far < found_[b].far;
                places[b] += before;
                place += !before;
            }
            places[a] = place;
        }
        for (int k = 0; k < size_; ++k) sorted_[places[k]] = found_[k].index;
    }
    void insert_each() {
        for (int end = 0; end < size_; ++end) {
            const Found found = found_[end];
            int k = end;
            for (; k > 0 && found.far < found_[k - 1].far; --k) found_[k] = found_[k - 1];
            found_[k] = found;
        }
        for (int k = 0; k < size_; ++k) sorted_[k] = found_[k].index;
    }
    static_assert(MAX_AGENTS <= MAX_LANDMARKS);
    Found found_[MAX_LANDMARKS];
    int sorted_[MAX_LANDMARKS];
    int size_ = 0;
    bool comparable_ = true;
};

// The n nearest of `count` points, and zeros where there are fewer, seen from an agent.
class Seen {
public:
    // all but `left_out`
    Seen(const Vec* points, int count, Vec at, int n, int left_out) : points_(points), at_(at), n_(n) {
        for (int k = 0; k < count; ++k) {
            if (k != left_out) nearest_.add(norm(points[k] - at), k);
        }
        nearest_.sort();
    }
    float* write_positions(float* out) const {
        return write(out, [this](int k) { return points_[k] - at_; });
    }
    template <class F> float* write(float* out, F&& vec_of) const {
        for (int k = 0; k < n_; ++k) out = (k < nearest_.size() ? vec_of(nearest_[k]) : Vec()).write(out);
        return out;
    }

private:
    const Vec* points_;
    Vec at_;
    int n_;
    Nearest nearest_;
};

inline Seen seen_agents(const World& w, int i) {
    return Seen(w.positions(), w.s->num_agents(), w.positions()[i], w.s->options.agent_neighbors, i);
}

inline float* write_seen_agents(const World& w, int i, float* out) {
    if (w.s->options.agent_neighbors < 0) return write_others(w, i, out);
    return seen_agents(w, i).write_positions(out);
}

inline float* write_seen_landmarks(const World& w, int i, float* out) {
    const int n = w.s->options.landmark_neighbors;
    if (n < 0) return write_landmarks(w, i, out);
    return Seen(w.landmarks(), w.s->num_landmarks(), w.positions()[i], n, -1).write_positions(out);
}

// The defaults of rules.
struct Rules {
    static void place(World& w, const Rng* rng) { w.draw_landmarks(rng, 1); }
};

// ---- the scenarios

struct Simple : Rules {
    static void populate(Scenario& s) {
        s.add(1, 4, {});
        s.mark(1, 0.05);
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        rewards[0] = -(w.positions()[0] - w.landmarks()[0]).squared();
        return false;
    }
    static float* observe(const World& w, int i, float* out) {
        return write_landmarks(w, i, w.velocities()[i].write(out));
    }
};

struct Spread : Rules {
    static void populate(Scenario& s) {
        const Setup& o = s.options;
        s.words = 2;
        s.add(o.agents, 4 + s.seen_marks(o.agents) + 2 * s.seen_agents(o.agents), {.size = 0.15, .collides = true});
        s.mark(o.agents, 0.05);
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        const int n = w.s->num_agents();
        double common = 0;
        bool success = w.s->options.terminate_on_success;
        for (int k = 0; k < w.s->num_landmarks(); ++k) {
            const double least = least_distance(w.positions(), 0, n, w.landmarks()[k]);
            common -= least;
            success &= least < 0.1;
        }
        std::fill_n(rewards, n, 0.0);
        // without penalties in the first stage
        for (int a = 0; a < n && w.s->options.curriculum_stage != 0; ++a) {
            for (int b = a + 1; b < n; ++b) {
                const double penalty = agents_touch(w, a, b);
                rewards[a] -= penalty;
                rewards[b] -= penalty;
            }
        }
        for (int a = 0; a < n; ++a) rewards[a] = mixed(w, common, rewards[a]);
        return success;
    }
    static float* observe(const World& w, int i, float* out) {
        out = w.positions()[i].write(w.velocities()[i].write(out));
        out = write_seen_agents(w, i, write_seen_landmarks(w, i, out));
        // messages, of which there are none
        const int most = w.s->options.agent_neighbors;
        return std::fill_n(out, 2 * (most < 0 ? w.s->num_agents() - 1 : most), 0.0f);
    }
};

// 0 inside, and the more the farther out: of one coordinate.
inline double cost_of_leaving(double x) {
    x = std::fabs(x);
    if (x < 0.9) return 0;
    if (x < 1.0) return (x - 0.9) * 10;
    const double e = numpy.exp(2 * x - 2);
    return 10 < e ? 10 : e;
}

struct Tag : Rules {
    static void populate(Scenario& s) {
        const Setup& o = s.options;
        s.words = 2;
        constexpr double FACTORS[] = {0.5, 0.75, 1};
        const double factor = o.curriculum_stage < 0 ? 1 : FACTORS[o.curriculum_stage];
        const int seen = 4 + s.seen_marks(o.obstacles) + s.seen_agents(o.adversaries + o.good);
        const auto velocities = [&](int count) { return 2 * (o.agent_neighbors < 0 ? count : o.agent_neighbors); };
        s.add(o.adversaries, seen + velocities(o.good),
              {.size = 0.075, .sensitivity = 3, .max_speed = 1, .collides = true, .is_adversary = true});
        s.add(o.good, seen + velocities(o.good - 1),
              {.sensitivity = 4 * factor, .max_speed = 1.3 * factor, .collides = true});
        s.mark(o.obstacles, 0.2, true);
    }
    static void place(World& w, const Rng* rng) { w.draw_landmarks(rng, 0.9); }
    static bool reward(World& w, const Rng*, double* rewards) {
        constexpr double PRIZE = 10;
        const int n = w.s->num_agents(), hunters = w.s->options.adversaries;
        double prizes = 0;
        bool success = w.s->options.terminate_on_success;
        for (int a = hunters; a < n; ++a) {
            double lost = 0;
            for (int b = 0; b < hunters; ++b) lost += PRIZE * agents_touch(w, a, b);
            const Vec at = w.positions()[a];
            rewards[a] = 0.0 - lost - cost_of_leaving(at.x()) - cost_of_leaving(at.y());
            prizes += lost;
            success &= lost > 0;
        }
        std::fill_n(rewards, hunters, prizes);
        return success;
    }
    static float* observe(const World& w, int i, float* out) {
        out = w.positions()[i].write(w.velocities()[i].write(out));
        out = write_seen_landmarks(w, i, out);
        if (w.s->options.agent_neighbors < 0) {
            out = write_others(w, i, out);
            for (int a = w.s->options.adversaries; a < w.s->num_agents(); ++a) {
                if (a != i) out = w.velocities()[a].write(out);
            }
            return out;
        }
        const Seen seen = seen_agents(w, i);
        return seen.write(seen.write_positions(out),
                          [&](int a) { return w.s->agents[a].is_adversary ? Vec() : w.velocities()[a]; });
    }
};

struct Adversary : Rules {
    static void populate(Scenario& s) {
        const Setup& o = s.options;
        s.words = 2;
        s.num_goals = 1;
        const int seen = s.seen_marks(o.agents) + s.seen_agents(1 + o.agents);
        s.add(1, seen, {.size = 0.15, .is_adversary = true});
        s.add(o.agents, 2 + seen, {.size = 0.15});
        s.mark(o.agents, 0.08);
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        const Vec goal = w.landmarks()[w.goal];
        const int n = w.s->num_agents();
        const double far = distance(w.positions()[0], goal);
        rewards[0] = -far;
        std::fill_n(rewards + 1, n - 1, -least_distance(w.positions(), 1, n, goal) + far);
        return false;
    }
    static float* observe(const World& w, int i, float* out) {
        if (i > 0) out = (w.landmarks()[w.goal] - w.positions()[i]).write(out);
        return write_seen_agents(w, i, write_seen_landmarks(w, i, out));
    }
};

struct Push : Rules {
    static void populate(Scenario& s) {
        s.words = 2;
        s.num_goals = 1;
        s.add(1, 8, {.collides = true, .is_adversary = true});
        s.add(1, 19, {.collides = true});
        s.mark(2, 0.05);
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        const Vec goal = w.landmarks()[w.goal];
        const double far = distance(w.positions()[1], goal);
        rewards[0] = far - distance(w.positions()[0], goal);
        rewards[1] = -far;
        return false;
    }
    static float* observe(const World& w, int i, float* out) {
        out = w.velocities()[i].write(out);
        if (i == 1) {
            out = (w.landmarks()[w.goal] - w.positions()[i]).write(out);
            // colours, of the agent and of landmarks
            out = write_one_hot(out, 3, w.goal + 1, 0.25, 0.25 + 0.5);
        }
        out = write_landmarks(w, i, out);
        for (int k = 0; k < 2 && i == 1; ++k) out = write_one_hot(out, 3, k + 1, 0.1, 0.1 + 0.8);
        return write_others(w, i, out);
    }
};

struct Reference : Rules {
    static void populate(Scenario& s) {
        s.words = 10;
        s.num_goals = 2;
        s.add(2, 21, {.speaks = true});
        s.mark(3, 0.05);
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        // each knows where the other has to go
        const double own[2] = {-distance(w.positions()[1], w.landmarks()[w.goal]),
                               -distance(w.positions()[0], w.landmarks()[w.key])};
        for (int i = 0; i < 2; ++i) rewards[i] = mixed(w, (own[0] + own[1]) / 2, own[i]);
        return false;
    }
    static float* observe(const World& w, int i, float* out) {
        out = write_landmarks(w, i, w.velocities()[i].write(out));
        out = write_one_hot(out, 3, i == 0 ? w.goal : w.key, 0.25, 0.75);
        return write_message(w, 1 - i, out);
    }
};

struct SpeakerListener : Rules {
    static void populate(Scenario& s) {
        s.words = 3;
        s.num_goals = 1;
        s.add(1, 3, {.size = 0.075, .moves = false, .speaks = true});
        s.add(1, 11, {.size = 0.075});
        s.mark(3, 0.04);
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        rewards[0] = rewards[1] = -(w.positions()[1] - w.landmarks()[w.goal]).squared();
        return false;
    }
    static float* observe(const World& w, int i, float* out) {
        if (i == 0) return write_one_hot(out, 3, w.goal, 0.15, 0.65);
        return write_message(w, 0, write_landmarks(w, i, w.velocities()[i].write(out)));
    }
};

struct Crypto : Rules {
    static void populate(Scenario& s) {
        s.words = 4;
        s.num_goals = 2;
        s.add(1, 4, {.moves = false, .speaks = true, .is_adversary = true});
        s.add(1, 8, {.moves = false, .speaks = true});
        s.add(1, 8, {.moves = false, .speaks = true});
        s.mark(2, 0.05);
    }
    // eve, bob and alice
    static bool reward(World& w, const Rng*, double* rewards) {
        double off[2] = {};
        for (int a = 0; a < 2; ++a) {
            const double* said = w.message(a);
            bool speaks = false;
            for (int k = 0; k < w.s->words; ++k) {
                speaks |= said[k] != 0;
                off[a] += (said[k] - (k == w.goal)) * (said[k] - (k == w.goal));
            }
            // silence costs nothing
            if (!speaks) off[a] = 0;
        }
        rewards[0] = 0 - off[0];
        rewards[1] = rewards[2] = off[0] + (0 - off[1]);
        return false;
    }
    static float* observe(const World& w, int i, float* out) {
        if (i == 2) return write_one_hot(write_one_hot(out, w.s->words, w.goal), w.s->words, w.key);
        if (i == 1) out = write_one_hot(out, w.s->words, w.key);
        return write_message(w, 2, out);
    }
};

struct WorldComm : Rules {
    static void populate(Scenario& s) {
        const Setup& o = s.options;
        s.words = 4;
        const int seen = 4 + 2 * (o.obstacles + o.food + o.forests) + 2 * (o.adversaries + o.good - 1) + o.forests;
        Agent hunter{.size = 0.075, .sensitivity = 3, .max_speed = 1, .collides = true, .is_adversary = true};
        Agent leader = hunter;
        leader.speaks = leader.is_leader = true;
        s.add(1, seen + 2 * o.good + s.words, leader);
        s.add(o.adversaries - 1, seen + 2 * o.good + s.words, hunter);
        s.add(o.good, seen + 2 * (o.good - 1), {.size = 0.045, .sensitivity = 4, .max_speed = 1.3, .collides = true});
        s.mark(o.obstacles, 0.2, true);
        s.first_food = s.num_landmarks();
        s.mark(o.food, 0.03);
        s.mark(o.forests, 0.3);
    }
    static void place(World& w, const Rng* rng) {
        w.draw_landmarks(rng, 0.9);
        // food and forests are among the landmarks, and are placed once more
        w.draw_landmarks(rng, 0.9, w.s->first_food);
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        constexpr double PRIZE = 5;
        const int n = w.s->num_agents(), hunters = w.s->options.adversaries;
        int touched = 0;
        for (int a = hunters; a < n; ++a) {
            const Vec at = w.positions()[a];
            int lost = 0;
            for (int b = 0; b < hunters; ++b) lost += agents_touch(w, a, b);
            touched += lost;
            double result = 0.0 - PRIZE * lost;
            result -= 2 * cost_of_leaving(at.x());
            result -= 2 * cost_of_leaving(at.y());
            double least = std::numeric_limits<double>::infinity();
            for (int k = w.s->first_food; k < w.s->first_forest(); ++k) {
                const double far = distance(w.landmarks()[k], at);
                if (far < w.s->agents[a].size + w.s->landmarks[k].size) result += 2;
                least = std::min(least, far);
            }
            rewards[a] = result - 0.05 * least;
        }
        for (int a = 0; a < hunters; ++a) {
            rewards[a] = 0 - 0.1 * least_distance(w.positions(), hunters, n, w.positions()[a]);
            // one after the other, as each sum rounds
            for (int k = 0; k < touched; ++k) rewards[a] += PRIZE;
        }
        return false;
    }
    using Forests = std::bitset<MAX_LANDMARKS>;

    // in which forests an agent is
    static Forests forests_of(const World& w, int i) {
        Forests forests;
        for (int k = w.s->first_forest(); k < w.s->num_landmarks(); ++k) {
            forests[k - w.s->first_forest()] =
                touches(w.positions()[i], w.s->agents[i].size, w.landmarks()[k], w.s->landmarks[k].size);
        }
        return forests;
    }
    static void observe_all(const World& w, float* const* groups) {
        const int n = w.s->num_agents();
        Forests forests[MAX_AGENTS];
        for (int i = 0; i < n; ++i) forests[i] = forests_of(w, i);
        write_groups(w, groups, [&](int i, float* out) { return observe_with(w, i, forests, out); });
    }
    static float* observe_with(const World& w, int i, const Forests* forests, float* out) {
        const Agent& self = w.s->agents[i];
        const int n = w.s->num_agents();
        const Vec at = w.positions()[i];
        const auto sees = [&](int a) {
            return self.is_leader || (forests[i] & forests[a]).any() || (forests[i].none() && forests[a].none());
        };
        const auto write_forests = [&](float* to) {
            for (int k = 0; k < w.s->options.forests; ++k) *to++ = forests[i][k] ? 1.0f : -1.0f;
            return to;
        };
        out = write_landmarks(w, i, at.write(w.velocities()[i].write(out)));
        for (int a = 0; a < n; ++a) {
            if (a != i) out = (sees(a) ? w.positions()[a] - at : Vec()).write(out);
        }
        if (!self.is_adversary) out = write_forests(out);
        for (int a = w.s->options.adversaries; a < n; ++a) {
            if (a != i) out = (sees(a) ? w.velocities()[a] : Vec()).write(out);
        }
        return self.is_adversary ? write_message(w, 0, write_forests(out)) : out;
    }
};

// Agents that should be at places, one at each: the distances of those that are matched with it. Returns whether all
// are there.
inline bool reward_places(const World& w, const Vec* places, double* rewards) {
    const int n = w.s->num_agents();
    double off[MAX_AGENTS];
    match<MAX_AGENTS>(n, [&](int i, int k) { return norm(w.positions()[i] - places[k]); }, off);
    bool success = w.s->options.terminate_on_success;
    for (int i = 0; i < n; ++i) {
        success &= off[i] < 0.05;
        off[i] = std::min(std::max(off[i], 0.0), 2.0);
    }
    std::fill_n(rewards, n, -(cypool::sum(off, n) / n));
    return success;
}

struct Formation : Rules {
    static void populate(Scenario& s) {
        s.add(s.options.agents, 6, {.collides = true});
        s.mark(1, 0.03);
    }
    static void place(World& w, const Rng* rng) { w.landmarks()[0] = World::draw(rng, 0.5); }
    static bool reward(World& w, const Rng*, double* rewards) {
        constexpr double RADIUS = 0.5;
        const int n = w.s->num_agents();
        const Vec centre = w.landmarks()[0];
        // the places turn with the agent of the least angle
        double first = std::numeric_limits<double>::infinity();
        for (int i = 0; i < n; ++i) {
            const Vec away = w.positions()[i] - centre;
            const double angle = numpy.arctan2(away.y(), away.x());
            first = std::min(first, angle < 0 ? angle + 2 * M_PI : angle);
        }
        const double apart = 2 * M_PI / n;
        Vec places[MAX_AGENTS];
        for (int i = 0; i < n; ++i) {
            const double angle = first + i * apart;
            places[i] = centre + RADIUS * Vec(numpy.cos(angle), numpy.sin(angle));
        }
        return reward_places(w, places, rewards);
    }
    static float* observe(const World& w, int i, float* out) {
        return write_landmarks(w, i, w.positions()[i].write(w.velocities()[i].write(out)));
    }
};

struct Line : Formation {
    static void populate(Scenario& s) {
        s.has_direction = true;
        s.add(s.options.agents, 8, {.size = 0.03, .collides = true});
        s.mark(2, 0.02);
    }
    static constexpr double LENGTH = 1.25;

    static void place(World& w, const Rng* rng) {
        w.landmarks()[0] = World::draw(rng, 0.25);
        // from within a quarter of the centre there is a direction that fits
        for (double angle = uniform(rng, 0, 2 * M_PI);; angle += 5 * (M_PI / 180)) {
            w.direction = Vec(numpy.cos(angle), numpy.sin(angle));
            w.landmarks()[1] = w.landmarks()[0] + LENGTH * w.direction;
            if (w.landmarks()[1].extent() < 1) return;
        }
    }
    static bool reward(World& w, const Rng*, double* rewards) {
        const int n = w.s->num_agents();
        const double apart = n > 1 ? LENGTH / (n - 1) : 0;
        Vec places[MAX_AGENTS];
        for (int i = 0; i < n; ++i) places[i] = w.landmarks()[0] + (i * apart) * w.direction;
        return reward_places(w, places, rewards);
    }
};

struct CollectTreasure : Rules {
    static void populate(Scenario& s) {
        const Setup& o = s.options;
        s.words = 2;
        s.has_treasures = true;
        const int seen = 4 + (o.collectors + o.deposits - 1) * (4 + 2 * o.deposits) + o.treasures * (2 + o.deposits);
        s.add(o.collectors, seen + o.deposits, {.sensitivity = 1.5, .max_speed = 1});
        s.add(o.deposits, seen, {.size = 0.075, .sensitivity = 1.5, .max_speed = 1, .mass = 2.25});
        s.mark(o.treasures, 0.025);
    }
    static constexpr double BOUND = 0.95;

    static void place(World& w, const Rng* rng) {
        std::fill(w.held.begin(), w.held.end(), World::NOTHING);
        for (int k = 0; k < w.s->num_landmarks(); ++k) {
            w.treasures[k] = {static_cast<int32_t>(integers(rng, 0, w.s->options.deposits)), true};
            w.landmarks()[k] = World::draw(rng, BOUND);
        }
    }
    // picks treasures up, has those that were picked up before come back, and delivers; returns the prizes
    static double exchange_treasures(World& w, const Rng* respawns) {
        constexpr double PRIZE = 5;
        const int collectors = w.s->options.collectors;
        double picked = 0, delivered = 0;
        for (int k = 0; k < w.s->num_landmarks(); ++k) {
            Treasure& treasure = w.treasures[k];
            if (!treasure.is_there) {
                // with a probability of 1, which takes a number, too
                uniform(respawns, 0, 1);
                w.landmarks()[k] = World::draw(respawns, BOUND);
                treasure = {static_cast<int32_t>(integers(respawns, 0, w.s->options.deposits)), true};
                continue;
            }
            for (int a = 0; a < collectors; ++a) {
                if (w.held[a] != World::NOTHING
                    || !touches(w.landmarks()[k], w.s->landmarks[k].size, w.positions()[a], w.s->agents[a].size)) {
                    continue;
                }
                picked += PRIZE;
                w.held[a] = treasure.kind;
                treasure.is_there = false;
                w.landmarks()[k] = Vec(-999, -999);
                break;
            }
        }
        for (int a = 0; a < collectors; ++a) {
            if (w.held[a] == World::NOTHING || !agents_touch(w, a, collectors + w.held[a])) continue;
            delivered += PRIZE;
            w.held[a] = World::NOTHING;
        }
        return picked + delivered;
    }
    static bool reward(World& w, const Rng* respawns, double* rewards) {
        const double prizes = exchange_treasures(w, respawns);
        const int n = w.s->num_agents(), collectors = w.s->options.collectors;
        int touched[MAX_AGENTS] = {};
        for (int a = 0; a < collectors; ++a) {
            for (int b = a + 1; b < collectors; ++b) {
                const bool touch = agents_touch(w, a, b);
                touched[a] += touch;
                touched[b] += touch;
            }
        }
        for (int a = 0; a < n; ++a) {
            double result = 0 - 5.0 * touched[a];
            const double far = a < collectors ? way_of_collector(w, a) : way_of_deposit(w, a);
            if (far < std::numeric_limits<double>::infinity()) result -= 0.1 * far;
            rewards[a] = result + prizes;
        }
        return false;
    }
    // to the nearest treasure, or to where the one that it has belongs
    static double way_of_collector(const World& w, int i) {
        const Vec at = w.positions()[i];
        if (w.held[i] != World::NOTHING) return distance(w.positions()[w.s->options.collectors + w.held[i]], at);
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < w.s->num_landmarks(); ++k) {
            if (w.treasures[k].is_there) least = std::min(least, distance(w.landmarks()[k], at));
        }
        return least;
    }
    // to the nearest collector that has something for it, or to the middle of all
    static double way_of_deposit(const World& w, int i) {
        const int collectors = w.s->options.collectors;
        const Vec at = w.positions()[i];
        double least = std::numeric_limits<double>::infinity();
        for (int a = 0; a < collectors; ++a) {
            if (w.held[a] == i - collectors) least = std::min(least, distance(w.positions()[a], at));
        }
        if (least < std::numeric_limits<double>::infinity()) return least;
        Vec sum = w.positions()[0];
        for (int a = 1; a < collectors; ++a) sum = sum + w.positions()[a];
        return norm(sum / collectors - at);
    }
    // the numbers of an agent or a treasure in all observations of it
    struct Looks {
        float of_agents[MAX_AGENTS][2 + 2 * MAX_DEPOSITS];  // velocity, which deposit it is, and its treasure
        float of_treasures[MAX_LANDMARKS][MAX_DEPOSITS];    // its kind
    };
    static void observe_all(const World& w, float* const* groups) {
        const int kinds = w.s->options.deposits, collectors = w.s->options.collectors;
        Looks looks;
        for (int a = 0; a < w.s->num_agents(); ++a) {
            float* out = w.velocities()[a].write(looks.of_agents[a]);
            write_one_hot(write_one_hot(out, kinds, a - collectors), kinds, w.held[a]);
        }
        for (int k = 0; k < w.s->num_landmarks(); ++k) {
            const Treasure& treasure = w.treasures[k];
            write_one_hot(looks.of_treasures[k], kinds, treasure.is_there ? treasure.kind : World::NOTHING);
        }
        write_groups(w, groups, [&](int i, float* out) { return observe_with(w, i, looks, out); });
    }
    static float* observe_with(const World& w, int i, const Looks& looks, float* out) {
        const int kinds = w.s->options.deposits;
        const Vec at = w.positions()[i];
        const auto write = [&out](const float* numbers, int n) {
            for (int k = 0; k < n; ++k) *out++ = numbers[k];
        };
        out = w.velocities()[i].write(at.write(out));
        if (i < w.s->options.collectors) out = write_one_hot(out, kinds, w.held[i]);
        Nearest others, treasures;
        for (int a = 0; a < w.s->num_agents(); ++a) {
            if (a != i) others.add(distance(w.positions()[a], at), a);
        }
        others.sort();
        for (int k = 0; k < others.size(); ++k) {
            out = (w.positions()[others[k]] - at).write(out);
            write(looks.of_agents[others[k]], 2 + 2 * kinds);
        }
        // those that are not there come last, and are zeros
        for (int k = 0; k < w.s->num_landmarks(); ++k) {
            treasures.add(w.treasures[k].is_there ? distance(w.landmarks()[k], at) : 1e6, k);
        }
        treasures.sort();
        for (int k = 0; k < treasures.size(); ++k) {
            out = (w.treasures[treasures[k]].is_there ? w.landmarks()[treasures[k]] - at : Vec()).write(out);
            write(looks.of_treasures[treasures[k]], kinds);
        }
        return out;
    }
};

}  // namespace cypool::mpe2
