// A search tree: statistics of actions by the positions that they were taken in. It knows no environment.
//
// Legal actions of a node take six bytes each (a prior and a number), statistics 24 for each action that was taken.
// Actions are taken in the order of their priors, so those that were taken are the first ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cypool::search {

struct Options {
    int32_t num_actions = 0, num_players = 1;
    bool gumbel = false;     // sequential halving at the root, and the improved policy below it; else PUCT
    bool normalize = false;  // values between the least and the greatest of the tree, as 0 and 1
    double discount = 1;
    double c_init = 1.25, c_base = 19652;
    double unvisited = 0;        // value of an action that was not taken; NaN: the mean of its node
    double virtual_loss = 1;     // a simulation that waits for its value counts as this loss
    double noise_weight = 0.25;  // of the root's noise, with PUCT
    int32_t considered = 16;     // actions that sequential halving begins with
    double c_visit = 50, c_scale = 1;
    int32_t max_nodes = std::numeric_limits<int32_t>::max();
};

constexpr int32_t NONE = -1;
// stands for -inf: one of the legal actions at least has a probability
constexpr double LEAST_LOGIT = -1e30;

struct Edge {          // an action that was taken in a node
    double total = 0;  // of returns, for the player who took it
    int32_t visits = 0, pending = 0;
    int32_t child = NONE;  // the first of the nodes that it led to
};

struct Node {
    double total = 0;             // of returns from here, for the player who moves here
    uint64_t outcome = 0;         // of chance, between its parent's action and this node
    int64_t first_action = NONE;  // in `priors` and `actions`; NONE: not expanded
    int32_t num_actions = 0;      // legal ones
    int64_t first_edge = NONE;
    int32_t num_edges = 0;
    int32_t next = NONE;  // the parent's action led here with another outcome
    int32_t visits = 0, pending = 0;
    float value = 0;  // the evaluator's, for the player who moves here
    int8_t player = 0;
    int8_t capacity = 0;  // 1 << capacity edges have room
};

struct Taken {           // a step of a simulation
    int32_t node, edge;  // the edge's number among those of the node
};

// A walk from the root to a leaf, which waits for its value.
struct Path {
    std::vector<Taken> steps;
    std::vector<double> rewards;  // by step and player
    int32_t leaf = NONE;          // its node; NONE: the tree is full, or the episode was truncated there
    int32_t player = 0;           // who moves at the leaf
    bool waits = false;
};

class Tree {
public:
    std::vector<Node> nodes;
    std::vector<Edge> edges;
    std::vector<float> priors;
    std::vector<uint16_t> actions;
    double least = std::numeric_limits<double>::infinity(), greatest = -least;

    void clear() {
        nodes.clear();
        edges.clear();
        priors.clear();
        actions.clear();
        for (auto& free : free_) free.clear();
        contenders_.clear();
        least = std::numeric_limits<double>::infinity();
        greatest = -least;
    }
    bool is_full(const Options& options) const { return nodes.size() >= static_cast<size_t>(options.max_nodes); }
    bool is_expanded(int32_t node) const { return nodes[node].first_action != NONE; }
    // Simulations that went through the root, those that wait included; its own evaluation does not count.
    int32_t simulations() const {
        return nodes.empty() || !is_expanded(0) ? 0 : nodes[0].visits - 1 + nodes[0].pending;
    }
    Edge& edge(const Taken& step) { return edges[nodes[step.node].first_edge + step.edge]; }
    int32_t action_of(const Taken& step) const { return actions[nodes[step.node].first_action + step.edge]; }

    // Begins a search: of a tree that was advanced, or of a new one.
    //
    // noise: for each action, of a gamma distribution with PUCT, or of a Gumbel distribution; or null.
    void begin(const Options& options, int32_t player, int32_t target, const float* noise) {
        if (nodes.empty()) {
            nodes.emplace_back();
            nodes[0].player = static_cast<int8_t>(player);
        }
        target_ = target;
        noise_.clear();
        if (noise != nullptr) noise_.assign(noise, noise + options.num_actions);
        if (is_expanded(0)) begin_root(options);
    }

    // Adds legal actions to a node. mask: 1 for each legal one. logits: by action; null: all equal.
    void expand(const Options& options, int32_t at, const uint8_t* mask, const float* logits) {
        Node& node = nodes[at];
        node.first_action = static_cast<int64_t>(actions.size());
        for (int32_t a = 0; a < options.num_actions; ++a) {
            if (mask[a]) actions.push_back(static_cast<uint16_t>(a));
        }
        node.num_actions = static_cast<int32_t>(static_cast<int64_t>(actions.size()) - node.first_action);
        priors.resize(actions.size());
        float* prior = priors.data() + node.first_action;
        const uint16_t* action = actions.data() + node.first_action;
        if (logits == nullptr) {
            std::fill_n(prior, node.num_actions, static_cast<float>(1.0 / std::max(node.num_actions, 1)));
        } else {
            const auto logit = [&](int32_t k) { return std::max(double{logits[action[k]]}, LEAST_LOGIT); };
            double most = LEAST_LOGIT, sum = 0;
            for (int32_t k = 0; k < node.num_actions; ++k) most = std::max(most, logit(k));
            for (int32_t k = 0; k < node.num_actions; ++k) sum += std::exp(logit(k) - most);
            for (int32_t k = 0; k < node.num_actions; ++k) {
                prior[k] = static_cast<float>(std::exp(logit(k) - most) / sum);
            }
            bring_best(node, 0);
        }
        if (at == 0) begin_root(options);
    }

    // Chooses an action in an expanded node, and marks it as one that waits.
    Taken choose(const Options& options, int32_t at) {
        int32_t k = NONE;
        if (options.gumbel) {
            k = at == 0 ? choose_contender(options) : choose_improved(options, at);
        } else {
            k = choose_puct(options, at);
        }
        if (k == nodes[at].num_edges) add_edge(at);
        ++nodes[at].pending;
        ++edges[nodes[at].first_edge + k].pending;
        return {at, k};
    }

    // Returns the node that a step led to; NONE if the tree is full.
    int32_t follow(const Options& options, const Taken& step, uint64_t outcome, int32_t player) {
        int32_t child = edge(step).child;
        while (child != NONE && nodes[child].outcome != outcome) child = nodes[child].next;
        if (child == NONE && !is_full(options)) {
            child = static_cast<int32_t>(nodes.size());
            Node& made = nodes.emplace_back();
            made.outcome = outcome;
            made.next = edge(step).child;
            made.player = static_cast<int8_t>(player);
            edge(step).child = child;
        }
        return child;
    }

    // Takes back a walk that has met a leaf that waits.
    void undo(const Path& path) {
        for (const Taken& step : path.steps) {
            --nodes[step.node].pending;
            --edge(step).pending;
        }
    }

    // Adds the end of a walk. values: for each player, from the leaf on; they are overwritten.
    void back_up(const Options& options, const Path& path, double* values) {
        const int32_t players = options.num_players;
        if (path.leaf != NONE) {
            Node& leaf = nodes[path.leaf];
            leaf.total += values[leaf.player];
            ++leaf.visits;
            if (path.waits) --leaf.pending;
        }
        for (size_t k = path.steps.size(); k-- > 0;) {
            const Taken& step = path.steps[k];
            for (int32_t p = 0; p < players; ++p) {
                values[p] = path.rewards[k * players + p] + options.discount * values[p];
            }
            Node& node = nodes[step.node];
            Edge& taken = edge(step);
            taken.total += values[node.player];
            ++taken.visits;
            --taken.pending;
            node.total += values[node.player];
            ++node.visits;
            --node.pending;
            const double mean = taken.total / taken.visits;
            least = std::min(least, mean);
            greatest = std::max(greatest, mean);
        }
    }

    // Makes the node behind an action and an outcome the root, and drops all that is not below it.
    void advance(int64_t action, uint64_t outcome) {
        int32_t found = NONE;
        if (!nodes.empty() && is_expanded(0)) {
            for (int32_t k = 0; k < nodes[0].num_edges; ++k) {
                if (actions[nodes[0].first_action + k] == action) found = edges[nodes[0].first_edge + k].child;
            }
            while (found != NONE && nodes[found].outcome != outcome) found = nodes[found].next;
        }
        Tree kept;
        if (found != NONE) kept.take(*this, found);
        // the range of values stays that of what was seen
        kept.least = least;
        kept.greatest = greatest;
        if (found == NONE) kept.clear();
        std::swap(*this, kept);
    }

    // ---- the result

    // By action: visits, and mean returns; nothing is written for actions that were not taken.
    void root_statistics(int32_t* visits, double* q) const {
        if (nodes.empty() || !is_expanded(0)) return;
        const Node& root = nodes[0];
        for (int32_t k = 0; k < root.num_edges; ++k) {
            const Edge& taken = edges[root.first_edge + k];
            const int32_t action = actions[root.first_action + k];
            visits[action] = taken.visits;
            if (taken.visits > 0) q[action] = taken.total / taken.visits;
        }
    }
    double root_value() const { return nodes.empty() || nodes[0].visits == 0 ? 0 : nodes[0].total / nodes[0].visits; }

    // The improved policy of the root, by action; nothing is written for actions that are not legal.
    void root_policy(const Options& options, float* policy) const {
        if (nodes.empty() || !is_expanded(0)) return;
        const Node& root = nodes[0];
        const Improved improved(*this, options, 0);
        for (int32_t k = 0; k < root.num_actions; ++k) {
            policy[actions[root.first_action + k]] = static_cast<float>(improved.policy(k));
        }
    }

    // The action that the search recommends; NONE if there is none.
    int32_t best(const Options& options) const {
        if (nodes.empty() || !is_expanded(0) || nodes[0].num_actions == 0) return NONE;
        const Node& root = nodes[0];
        int32_t found = NONE;
        // a tree that was advanced has no contenders until a search begins
        if (options.gumbel && !contenders_.empty()) {
            const Improved improved(*this, options, 0);
            int32_t most = 0;
            for (const int32_t k : contenders_) most = std::max(most, edges[root.first_edge + k].visits);
            double best_score = 0;
            for (const int32_t k : contenders_) {
                if (edges[root.first_edge + k].visits < most) continue;
                const double score = root_score(k) + improved.scaled(k);
                if (found == NONE || is_better(score, root, k, best_score, found)) found = k, best_score = score;
            }
        } else {
            for (int32_t k = 0; k < root.num_edges; ++k) {
                const double visits = edges[root.first_edge + k].visits;
                if (found == NONE || is_better(visits, root, k, edges[root.first_edge + found].visits, found))
                    found = k;
            }
            // without a simulation the one with the greatest prior
            if (found == NONE) found = 0;
        }
        return actions[root.first_action + found];
    }

private:
    std::vector<int64_t> free_[32];  // blocks of edges that are not used any more, by capacity
    std::vector<float> noise_;
    std::vector<int32_t> contenders_;  // numbers of the root's edges that sequential halving considers
    int32_t target_ = 0;
    int32_t phase_end_ = 0, phases_left_ = 0;  // of sequential halving

    // ties go to the smallest action
    bool is_better(double score, const Node& node, int32_t k, double best_score, int32_t best) const {
        return score > best_score
               || (score == best_score && actions[node.first_action + k] < actions[node.first_action + best]);
    }

    // Has the best of the actions from `k` on at `k`.
    void bring_best(const Node& node, int32_t k) {
        if (k >= node.num_actions) return;
        float* prior = priors.data() + node.first_action;
        uint16_t* action = actions.data() + node.first_action;
        int32_t best = k;
        for (int32_t other = k + 1; other < node.num_actions; ++other) {
            if (prior[other] > prior[best] || (prior[other] == prior[best] && action[other] < action[best])) {
                best = other;
            }
        }
        std::swap(prior[k], prior[best]);
        std::swap(action[k], action[best]);
    }

    void add_edge(int32_t at) {
        Node& node = nodes[at];
        if (node.first_edge == NONE || node.num_edges == 1 << node.capacity) {
            move_edges(node, node.first_edge == NONE ? 0 : node.capacity + 1);
        }
        edges[node.first_edge + node.num_edges++] = Edge();
        bring_best(node, node.num_edges);
    }
    void move_edges(Node& node, int capacity) {
        int64_t to = 0;
        if (free_[capacity].empty()) {
            to = static_cast<int64_t>(edges.size());
            edges.resize(edges.size() + (size_t{1} << capacity));
        } else {
            to = free_[capacity].back();
            free_[capacity].pop_back();
        }
        if (node.first_edge != NONE) {
            std::copy_n(edges.begin() + node.first_edge, node.num_edges, edges.begin() + to);
            free_[node.capacity].push_back(node.first_edge);
        }
        node.first_edge = to;
        node.capacity = static_cast<int8_t>(capacity);
    }

    double normalized(const Options& options, double value) const {
        if (!options.normalize) return value;
        return greatest > least ? (value - least) / (greatest - least) : value;
    }

    int32_t choose_puct(const Options& options, int32_t at) const {
        const Node& node = nodes[at];
        const double visits = node.visits + node.pending;
        const double c =
            (std::log((1 + visits + options.c_base) / options.c_base) + options.c_init) * std::sqrt(visits);
        const double mean = node.visits > 0 ? node.total / node.visits : 0;
        const double unvisited = std::isnan(options.unvisited) ? normalized(options, mean) : options.unvisited;
        const float* prior = priors.data() + node.first_action;
        int32_t best = NONE;
        double best_score = 0;
        for (int32_t k = 0; k < node.num_edges; ++k) {
            const Edge& taken = edges[node.first_edge + k];
            const int32_t count = taken.visits + taken.pending;
            double q = taken.visits > 0 ? normalized(options, taken.total / taken.visits) : unvisited;
            if (taken.pending > 0 && options.virtual_loss != 0) {
                // a mean over what has come back and over losses
                q = (q * taken.visits - options.virtual_loss * taken.pending) / count;
            }
            const double score = q + c * prior[k] / (1 + count);
            if (best == NONE || is_better(score, node, k, best_score, best)) best = k, best_score = score;
        }
        if (node.num_edges < node.num_actions) {
            const double score = unvisited + c * prior[node.num_edges];
            if (best == NONE || is_better(score, node, node.num_edges, best_score, best)) best = node.num_edges;
        }
        return best;
    }

    // ---- Gumbel: Danihelka and others, Policy improvement by planning with Gumbel, 2022

    // Values of all actions, made up for those that were not taken, and the policy that follows from them.
    struct Improved {
        const Tree& tree;
        const Options& options;
        const Node& node;
        double mixed = 0, factor = 1, greatest = 0, sum = 0;

        Improved(const Tree& tree, const Options& options, int32_t at)
            : tree(tree),
              options(options),
              node(tree.nodes[at]) {
            double sum_visits = 0, sum_prior = 0, sum_q = 0, left = 1;
            int32_t most = 0;
            for (int32_t k = 0; k < node.num_edges; ++k) {
                const Edge& taken = tree.edges[node.first_edge + k];
                const double prior = tree.priors[node.first_action + k];
                left -= prior;
                most = std::max(most, taken.visits);
                if (taken.visits == 0) continue;
                sum_visits += taken.visits;
                sum_prior += prior;
                sum_q += prior * (taken.total / taken.visits);
            }
            mixed = node.value;
            if (sum_visits > 0 && sum_prior > 0) {
                mixed = (node.value + sum_visits * (sum_q / sum_prior)) / (1 + sum_visits);
            }
            factor = (options.c_visit + most) * options.c_scale;
            greatest = scale(mixed);
            for (int32_t k = 0; k < node.num_edges; ++k) greatest = std::max(greatest, scaled(k));
            // of the actions that were not taken, all at once
            sum = node.num_edges < node.num_actions ? std::max(left, 0.0) * std::exp(scale(mixed) - greatest) : 0;
            for (int32_t k = 0; k < node.num_edges; ++k) sum += weight(k);
        }
        double scale(double value) const {
            return factor * (options.normalize ? tree.normalized(options, value) : (value + 1) / 2);
        }
        double scaled(int32_t k) const {
            if (k >= node.num_edges) return scale(mixed);
            const Edge& taken = tree.edges[node.first_edge + k];
            return scale(taken.visits > 0 ? taken.total / taken.visits : mixed);
        }
        double weight(int32_t k) const { return tree.priors[node.first_action + k] * std::exp(scaled(k) - greatest); }
        double policy(int32_t k) const { return sum > 0 ? weight(k) / sum : 0; }
    };

    int32_t choose_improved(const Options& options, int32_t at) const {
        const Improved improved(*this, options, at);
        const Node& node = nodes[at];
        const double all = node.visits + node.pending;  // one more than its edges have
        int32_t best = NONE;
        double best_score = 0;
        for (int32_t k = 0; k < node.num_edges; ++k) {
            const Edge& taken = edges[node.first_edge + k];
            const double score = improved.policy(k) - (taken.visits + taken.pending) / all;
            if (best == NONE || is_better(score, node, k, best_score, best)) best = k, best_score = score;
        }
        if (node.num_edges < node.num_actions) {
            const double score = improved.policy(node.num_edges);
            if (best == NONE || is_better(score, node, node.num_edges, best_score, best)) best = node.num_edges;
        }
        return best;
    }

    // ---- the root

    // the part of the score of the root's k-th action that stays
    double root_score(int32_t k) const {
        const int64_t at = nodes[0].first_action + k;
        return std::log(std::max(double{priors[at]}, 1e-300)) + (noise_.empty() ? 0 : double{noise_[actions[at]]});
    }

    void begin_root(const Options& options) {
        const Node& root = nodes[0];
        if (root.num_actions == 0 || (noise_.empty() && !options.gumbel)) return;
        // noise changes the order of priors
        while (nodes[0].num_edges < nodes[0].num_actions) add_edge(0);
        if (!options.gumbel) {
            double sum = 0;
            for (int32_t a = 0; a < options.num_actions; ++a) {
                // in the order of actions, whatever that of priors is
                if (is_legal(a)) sum += noise_[a];
            }
            if (!(sum > 0)) return;
            for (int64_t at = root.first_action; at < root.first_action + root.num_actions; ++at) {
                priors[at] = static_cast<float>((1 - options.noise_weight) * priors[at]
                                                + options.noise_weight * (noise_[actions[at]] / sum));
            }
            return;
        }
        contenders_.resize(root.num_actions);
        for (int32_t k = 0; k < root.num_actions; ++k) contenders_[k] = k;
        sort_contenders([&](int32_t k) { return root_score(k); });
        if (contenders_.size() > static_cast<size_t>(options.considered)) contenders_.resize(options.considered);
        phases_left_ = 0;
        while ((size_t{1} << phases_left_) < contenders_.size()) ++phases_left_;
        begin_phase();
    }
    bool is_legal(int32_t action) const {
        const auto first = actions.begin() + nodes[0].first_action;
        return std::find(first, first + nodes[0].num_actions, action) != first + nodes[0].num_actions;
    }
    template <class Score> void sort_contenders(Score score) {
        std::sort(contenders_.begin(), contenders_.end(), [&](int32_t a, int32_t b) {
            const double of_a = score(a), of_b = score(b);
            return a != b && is_better(of_a, nodes[0], a, of_b, b);
        });
    }

    // How many simulations each contender gets before half of them are dropped.
    void begin_phase() {
        const int32_t done = nodes[0].visits - 1, left = std::max(0, target_ - done);
        const int32_t phases = std::max(1, phases_left_), count = static_cast<int32_t>(contenders_.size());
        phase_end_ = phases == 1 ? target_ : done + std::max(1, left / (phases * count)) * count;
    }

    int32_t choose_contender(const Options& options) {
        if (simulations() >= phase_end_ && contenders_.size() > 1 && nodes[0].pending == 0) {
            const Improved improved(*this, options, 0);
            sort_contenders([&](int32_t k) { return root_score(k) + improved.scaled(k); });
            contenders_.resize((contenders_.size() + 1) / 2);
            --phases_left_;
            begin_phase();
        }
        const Edge* first = edges.data() + nodes[0].first_edge;
        int32_t best = contenders_[0];
        for (const int32_t k : contenders_) {
            if (first[k].visits + first[k].pending < first[best].visits + first[best].pending) best = k;
        }
        return best;
    }

    // Takes a node of another tree and all that is below it.
    void take(const Tree& other, int32_t root) {
        nodes.push_back(other.nodes[root]);
        nodes[0].next = NONE;
        // leaves that wait there get no value any more
        nodes[0].pending = 0;
        // breadth first: actions and edges behind `at` are still numbered as in the other tree
        for (size_t at = 0; at < nodes.size(); ++at) {
            if (nodes[at].first_action == NONE) continue;
            const int64_t from = nodes[at].first_action, first = static_cast<int64_t>(actions.size());
            actions.insert(actions.end(), other.actions.begin() + from,
                           other.actions.begin() + from + nodes[at].num_actions);
            priors.insert(priors.end(), other.priors.begin() + from,
                          other.priors.begin() + from + nodes[at].num_actions);
            nodes[at].first_action = first;
            if (nodes[at].first_edge == NONE) continue;
            const int64_t old_edge = nodes[at].first_edge, new_edge = static_cast<int64_t>(edges.size());
            edges.insert(edges.end(), other.edges.begin() + old_edge,
                         other.edges.begin() + old_edge + (1 << nodes[at].capacity));
            nodes[at].first_edge = new_edge;
            for (int32_t k = 0; k < nodes[at].num_edges; ++k) {
                int32_t old = edges[new_edge + k].child, before = NONE;
                edges[new_edge + k].child = NONE;
                edges[new_edge + k].pending = 0;
                for (; old != NONE; old = other.nodes[old].next) {
                    const int32_t now = static_cast<int32_t>(nodes.size());
                    nodes.push_back(other.nodes[old]);
                    nodes[now].next = NONE;
                    nodes[now].pending = 0;
                    if (before == NONE) {
                        edges[new_edge + k].child = now;
                    } else {
                        nodes[before].next = now;
                    }
                    before = now;
                }
            }
        }
    }
};

}  // namespace cypool::search
