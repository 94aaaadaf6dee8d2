// The robotic warehouse, equal to rware 2.0.0: the same stream and actions give the same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "cypool/access.h"
#include "cypool/envs/shared/rules/rules.h"
#include "python_set.h"

namespace cypool::rware {

enum Action { NOOP, FORWARD, TURN_LEFT, TURN_RIGHT, TOGGLE };
enum Direction { UP, DOWN, LEFT, RIGHT };
constexpr int DX[] = {0, 0, -1, 1}, DY[] = {-1, 1, 0, 0};
enum Reward { GLOBAL, INDIVIDUAL, TWO_STAGE };
enum Kind { FLATTENED, IMAGE, IMAGE_DICT };
enum Layer { SHELVES, REQUESTS, AGENTS, AGENT_DIRECTION, AGENT_LOAD, GOALS, ACCESSIBLE };

inline Cell cell_at(int x, int y) { return {static_cast<int16_t>(x), static_cast<int16_t>(y)}; }

struct Setup : Options {
    explicit Setup(const Options& given) : Options(given) {}

    int rows = at("rows"), cols = at("cols"), agents = at("n_agents"), message_bits = at("msg_bits");
    int sensor_range = at("sensor_range"), requests = at("request_queue_size");
    // 0: any number
    int max_inactivity_steps = at("max_inactivity_steps", 0), max_steps = at("max_steps", 0);
    Reward reward = at("reward_type");
    Kind kind = at("observation_type");
    bool directional = at("image_observation_directional"), normalised = at("normalised_coordinates");
    bool truncate = at("truncate");
    std::vector<Layer> layers = at("image_observation_layers");
    std::vector<int> goals = at("goals");            // x and y of each
    std::vector<uint8_t> highways = at("highways");  // (rows, cols)
};

// The shared part of environments with the same options.
struct Spec {
    Setup o;
    std::vector<Cell> goals, shelves;
    int side, words, obs_size;
    std::vector<float> scale_x, scale_y;   // the observed value of a coordinate
    std::vector<float> empty;              // an observation with nothing in sight
    std::vector<int> offsets[4];           // of the cells of a picture, by direction, as np.rot90 turns them
    std::vector<uint8_t> inside, is_goal;  // with a border

    explicit Spec(const Options& given) : o(given), side(2 * o.sensor_range + 1) {
        for (size_t k = 0; k < o.goals.size(); k += 2) goals.push_back(cell_at(o.goals[k], o.goals[k + 1]));
        for (int y = 0; y < o.rows; ++y) {
            for (int x = 0; x < o.cols; ++x) {
                if (!is_highway(cell_at(x, y))) shelves.push_back(cell_at(x, y));
            }
        }
        words = 7 + o.message_bits;
        obs_size = o.kind == FLATTENED ? 8 + side * side * words : static_cast<int>(o.layers.size()) * side * side;
        const auto scaled = [&](int at, int size) { return static_cast<float>(o.normalised ? at / (size - 1.0) : at); };
        for (int x = 0; x < o.cols; ++x) scale_x.push_back(scaled(x, o.cols));
        for (int y = 0; y < o.rows; ++y) scale_y.push_back(scaled(y, o.rows));
        // no agent looks up
        empty.assign(8 + side * side * words, 0.0f);
        for (int c = 0; c < side * side; ++c) empty[8 + c * words + 1] = 1;
        const int stride = o.cols + side - 1, last = side - 1;
        for (int r = 0; r < side; ++r) {
            for (int c = 0; c < side; ++c) {
                offsets[UP].push_back(r * stride + c);
                offsets[RIGHT].push_back(c * stride + last - r);
                offsets[DOWN].push_back((last - r) * stride + last - c);
                offsets[LEFT].push_back((last - c) * stride + r);
            }
        }
        inside.assign((o.rows + side - 1) * stride, 0);
        is_goal = inside;
        const int border = o.sensor_range;
        for (int y = 0; y < o.rows; ++y) std::fill_n(&inside[(y + border) * stride + border], o.cols, uint8_t{1});
        for (const Cell goal : goals) is_goal[(goal.y + border) * stride + goal.x + border] = 1;
    }

    bool is_highway(Cell at) const { return o.highways[at.y * o.cols + at.x]; }
};

struct Agent {
    Cell at{0, 0};
    uint8_t direction = UP, action = NOOP;
    bool has_delivered = false;
    int16_t carries = 0;  // a shelf's number, from 1
};

class World {
public:
    std::shared_ptr<const Spec> s;
    std::vector<Agent> agents;
    std::vector<uint8_t> messages;
    std::vector<Cell> shelves;
    std::vector<int16_t> agent_at, shelf_at;  // numbers from 1, with a border as wide as the sensors reach
    std::vector<int16_t> queue;
    std::vector<uint8_t> requested;  // by shelf
    int64_t steps = 0, inactive = 0;

    explicit World(const Options& given) : World(std::make_shared<const Spec>(given)) {}
    explicit World(std::shared_ptr<const Spec> spec) : s(std::move(spec)), border_(s->o.sensor_range) {
        stride_ = s->o.cols + 2 * border_;
        agent_at.resize((s->o.rows + 2 * border_) * stride_);
        shelf_at.resize(agent_at.size());
        agents.resize(s->o.agents);
        messages.resize(s->o.agents * s->o.message_bits);
        queue.resize(s->o.requests);
        requested.resize(s->shelves.size() + 1);
        drawn_.resize(std::max(s->o.agents, s->o.requests));
        next_.resize(s->o.agents), height_.resize(s->o.agents), state_.resize(s->o.agents),
            targets_.resize(s->o.agents);
        claims_.resize(agent_at.size());
    }

    void reset(Step& step) {
        const Setup& o = s->o;
        const Rng* rng = step.rng;
        steps = inactive = 0;
        for (const Cell each : shelves) shelf_at[index(each)] = 0;
        for (const Agent& each : agents) agent_at[index(each.at)] = 0;
        shelves = s->shelves;
        for (size_t k = 0; k < shelves.size(); ++k) shelf_at[index(shelves[k])] = static_cast<int16_t>(k + 1);
        choose(rng, o.rows * o.cols, o.agents);
        for (int k = 0; k < o.agents; ++k) {
            agents[k] = Agent();
            agents[k].at = cell_at(drawn_[k] % o.cols, drawn_[k] / o.cols);
            agent_at[index(agents[k].at)] = static_cast<int16_t>(k + 1);
        }
        for (Agent& each : agents) each.direction = static_cast<uint8_t>(integers(rng, 0, 4));
        std::fill(messages.begin(), messages.end(), 0);
        std::fill(requested.begin(), requested.end(), 0);
        choose(rng, static_cast<int>(shelves.size()), o.requests);
        for (int k = 0; k < o.requests; ++k) queue[k] = static_cast<int16_t>(drawn_[k] + 1), requested[queue[k]] = 1;
        ready_ = true;
    }

    // action: of each agent one, and its bits
    void step(const void* action, Step& step) noexcept {
        const auto* actions = action_data<int64_t>(action);
        double* rewards = step.agents->reward;
        const Setup& o = s->o;
        const int n = o.agents;
        bool moves = false;
        for (int k = 0; k < n; ++k) {
            agents[k].action = static_cast<uint8_t>(*actions++);
            moves |= agents[k].action == FORWARD;
            for (int b = 0; b < o.message_bits; ++b)
                messages[k * o.message_bits + b] = static_cast<uint8_t>(*actions++);
            rewards[k] = 0;
        }
        // before the first reset, agents have no cells
        if (!ready_) return;
        if (moves) resolve();
        for (int k = 0; k < n; ++k) {
            Agent& a = agents[k];
            if (a.action == TURN_LEFT || a.action == TURN_RIGHT) {
                static constexpr uint8_t turned[2][4] = {{LEFT, RIGHT, DOWN, UP}, {RIGHT, LEFT, UP, DOWN}};
                a.direction = turned[a.action == TURN_RIGHT][a.direction];
            } else if (a.action == TOGGLE && !a.carries) {
                a.carries = shelf_at[index(a.at)];
            } else if (a.action == TOGGLE && !s->is_highway(a.at)) {
                a.carries = 0;
                if (a.has_delivered && o.reward == TWO_STAGE) rewards[k] += 0.5;
                a.has_delivered = false;
            }
        }
        if (moves) {
            // moving agents leave their places first: others may come there
            for (const Agent& a : agents) {
                if (a.action != FORWARD) continue;
                agent_at[index(a.at)] = 0;
                if (a.carries) shelf_at[index(a.at)] = 0;
            }
            for (int k = 0; k < n; ++k) {
                Agent& a = agents[k];
                if (a.action != FORWARD) continue;
                a.at = targets_[k];
                agent_at[index(a.at)] = static_cast<int16_t>(k + 1);
                if (a.carries) shelf_at[index(a.at)] = a.carries, shelves[a.carries - 1] = a.at;
            }
        }
        bool delivered = false;
        for (const Cell goal : s->goals) {
            const int shelf = shelf_at[index(goal)];
            if (!shelf || !requested[shelf]) continue;
            delivered = true;
            const int agent = agent_at[index(goal)] - 1;
            // one of the others, in the order of their numbers
            int64_t skip = integers(step.rng, 0, static_cast<int64_t>(shelves.size()) - o.requests);
            int other = 1;
            for (;; ++other)
                if (!requested[other] && skip-- == 0) break;
            *std::find(queue.begin(), queue.end(), shelf) = static_cast<int16_t>(other);
            requested[shelf] = 0, requested[other] = 1;
            if (o.reward == GLOBAL) {
                for (int k = 0; k < n; ++k) rewards[k] += 1;
            } else if (o.reward == INDIVIDUAL) {
                rewards[agent] += 1;
            } else {
                agents[agent].has_delivered = true;
                rewards[agent] += 0.5;
            }
        }
        inactive = delivered ? 0 : inactive + 1;
        ++steps;
        (o.truncate ? step.truncated : step.terminated) = is_over();
    }

    // Of pictures with features, these are the first part.
    void observe(const Slot& out) const noexcept {
        auto* row = obs_row<float>(&out, s->o.kind == IMAGE_DICT);
        for (int k = 0; k < s->o.agents; ++k, row += s->obs_size) {
            if (s->o.kind == FLATTENED) {
                observe_flat(k, row);
            } else {
                observe_image(k, row);
            }
            if (s->o.kind == IMAGE_DICT) observe_features(agents[k], obs_row<float>(&out, 0) + 6 * k);
        }
    }

    bool ready() const { return ready_; }
    std::unique_ptr<World> fresh() const { return std::make_unique<World>(s); }
    template <class Archive> void exchange(Archive& archive) {
        constexpr int64_t MANY = int64_t{1} << 30;
        const Setup& o = s->o;
        const auto count = static_cast<int>(s->shelves.size());
        const auto cell = [&](Cell& at) {
            archive("x", at.x, 0, o.cols - 1);
            archive("y", at.y, 0, o.rows - 1);
        };
        archive("step", steps, 0, o.max_steps ? o.max_steps : MANY);
        archive("inactive", inactive, 0, o.max_inactivity_steps ? o.max_inactivity_steps : MANY);
        archive.each("agent", agents, [&](Agent& agent) {
            cell(agent.at);
            archive("direction", agent.direction, 0, 3);
            archive("carries", agent.carries, 0, count);
            archive("has_delivered", agent.has_delivered);
        });
        archive.all("message", messages, 0, 1);
        if constexpr (Archive::LOADS) shelves.resize(count);
        archive.each("shelf", shelves, cell);
        archive.all("request", queue, 1, count);
        if constexpr (Archive::LOADS) {
            for (size_t k = 0; k < shelves.size(); ++k) shelf_at[index(shelves[k])] = static_cast<int16_t>(k + 1);
            for (size_t k = 0; k < agents.size(); ++k) agent_at[index(agents[k].at)] = static_cast<int16_t>(k + 1);
            for (const int shelf : queue) requested[shelf] = 1;
            ready_ = true;
        }
    }
    void validate() const {
        // the last of those in a cell is found there
        for (size_t k = 0; k < agents.size(); ++k) {
            if (agent_at[index(agents[k].at)] != static_cast<int>(k + 1)) {
                refuse_state(name_of_item("agent", k), "a cell without another agent", "one with another");
            }
        }
        std::vector<uint8_t> is_carried(shelves.size() + 1);
        for (size_t k = 0; k < agents.size(); ++k) {
            const int shelf = agents[k].carries;
            if (!shelf) continue;
            if (is_carried[shelf] || !(shelves[shelf - 1] == agents[k].at)) {
                refuse_state(name_of_item("agent", k) + ".carries", "a shelf that is where the agent is, or 0",
                             text_of(shelf));
            }
            is_carried[shelf] = 1;
        }
        for (size_t k = 0; k < shelves.size(); ++k) {
            if (shelf_at[index(shelves[k])] != static_cast<int>(k + 1)) {
                refuse_state(name_of_item("shelf", k), "a cell without another shelf", "one with another");
            }
            if (!is_carried[k + 1] && s->is_highway(shelves[k])) {
                refuse_state(name_of_item("shelf", k), "a cell off the highways, because no agent carries it",
                             "one on them");
            }
        }
        if (std::count(requested.begin(), requested.end(), 1) != s->o.requests) {
            refuse_state("request", "different shelves", "the same shelf twice");
        }
    }

private:
    int border_ = 0, stride_ = 0;
    bool ready_ = false;
    std::vector<int32_t> drawn_;
    std::vector<int16_t> next_, height_;
    std::vector<uint8_t> state_, claims_;
    std::vector<Cell> targets_;
    enum State : uint8_t { STAYS, OPEN, SEEN, FREE, GOES, FAILS };

    bool is_over() const {
        const Setup& o = s->o;
        return (o.max_inactivity_steps && inactive >= o.max_inactivity_steps) || (o.max_steps && steps >= o.max_steps);
    }

    int index(Cell c) const { return (c.y + border_) * stride_ + c.x + border_; }

    // Generator.choice(most, count, replace=False): Floyd's algorithm, then shuffled
    void choose(const Rng* rng, int most, int count) {
        for (int j = most - count, k = 0; j < most; ++j, ++k) {
            const auto drawn = static_cast<int32_t>(integers(rng, 0, j + 1));
            drawn_[k] = std::find(drawn_.begin(), drawn_.begin() + k, drawn) == drawn_.begin() + k ? drawn : j;
        }
        for (int k = count - 1; k > 0; --k) std::swap(drawn_[k], drawn_[integers(rng, 0, k + 1)]);
    }

    // Who goes and who waits. Everyone wants to be in one cell, so those who wait for each other are chains. A chain
    // that ends at someone who stays, stays; a cycle of three or more turns; where several come to a free cell, the
    // longest chain goes.
    void resolve() {
        const Setup& o = s->o;
        const int n = o.agents;
        for (int k = 0; k < n; ++k) {
            Agent& a = agents[k];
            state_[k] = STAYS, targets_[k] = a.at;
            if (a.action != FORWARD) continue;
            const Cell to = cell_at(std::clamp(a.at.x + DX[a.direction], 0, o.cols - 1),
                                    std::clamp(a.at.y + DY[a.direction], 0, o.rows - 1));
            // who faces the edge stays
            if (to == a.at) continue;
            const int there = agent_at[index(to)];
            if (a.carries && shelf_at[index(to)] && !(there && agents[there - 1].carries)) {
                // shelves do not pass shelves that stand
                a.action = NOOP;
                continue;
            }
            targets_[k] = to, next_[k] = static_cast<int16_t>(there - 1), state_[k] = OPEN;
        }
        bool contested = false;
        for (int k = 0; k < n; ++k) {
            if (state_[k] == OPEN) follow(k);
        }
        for (int k = 0; k < n; ++k) {
            if (state_[k] == FREE) contested |= ++claims_[index(targets_[k])] > 1;
        }
        for (int k = 0; k < n; ++k) {
            if (state_[k] == FREE) claims_[index(targets_[k])] = 0;
        }
        if (contested) choose_longest();
        for (int k = 0; k < n; ++k) {
            if (state_[k] == FAILS || (contested && state_[k] == FREE)) agents[k].action = NOOP;
        }
    }

    // Decides about a chain: leads it to a free cell, does it fail, or has it a cycle?
    void follow(int first) {
        int k = first, length = 0;
        for (; k >= 0 && state_[k] == OPEN; k = next_[k]) state_[k] = SEEN, ++length;
        if (k < 0 || state_[k] != SEEN) {
            const State end = k < 0 || state_[k] == FREE ? FREE : FAILS;
            for (k = first; k >= 0 && state_[k] == SEEN; k = next_[k]) state_[k] = end;
            return;
        }
        const int entry = k;
        int cycle = 0;
        do k = next_[k], ++cycle;
        while (k != entry);
        // two cannot change places
        const State end = cycle == 2 ? FAILS : GOES;
        for (k = first; k != entry; k = next_[k]) state_[k] = FAILS;
        do state_[k] = end, k = next_[k];
        while (k != entry);
    }

    // Lets one chain go to each free cell that an agent wants.
    void choose_longest() {
        const int n = s->o.agents;
        std::fill(height_.begin(), height_.end(), int16_t{1});
        for (int k = 0; k < n; ++k) {
            if (state_[k] != FREE) continue;
            int16_t height = 1;
            for (int j = next_[k]; j >= 0; j = next_[j]) height_[j] = std::max(height_[j], ++height);
        }
        for (int k = 0; k < n; ++k) {
            if (state_[k] != FREE || next_[k] >= 0) continue;
            const Cell root = targets_[k];
            for (Cell cell = root;;) {
                int best = -1, ties = 0;
                for (int j = 0; j < n; ++j) {
                    if (state_[j] != FREE || targets_[j] != cell) continue;
                    if (best < 0 || height_[j] > height_[best])
                        best = j, ties = 0;
                    else
                        ties += height_[j] == height_[best];
                }
                if (best < 0) break;
                if (ties) best = first_of(cell, root, height_[best]);
                for (int j = 0; j < n; ++j)
                    if (state_[j] == FREE && targets_[j] == cell) state_[j] = j == best ? GOES : FAILS;
                cell = agents[best].at;
            }
        }
    }

    // Of those who could come to a cell with chains of one length, the one that networkx finds first. rware makes a
    // graph of all cells that an agent is in or wants to be in, and copies the part around the root. The copy has the
    // order of the graph, or, where it has less than half of its cells, that of a set of tuples.
    int first_of(Cell cell, Cell root, int height) {
        const int n = s->o.agents;
        std::vector<Cell> all;
        auto add = [](std::vector<Cell>& to, Cell each) {
            if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
        };
        for (int k = 0; k < n; ++k) add(all, agents[k].at), add(all, targets_[k]);
        // breadth first through the part around the root, from the cell of it that comes first
        auto leads_targets_root = [&](Cell each) {
            for (int steps = 0; steps <= n; ++steps) {
                if (each == root) return true;
                const int k = agent_at[index(each)] - 1;
                if (k < 0 || targets_[k] == each) return false;
                each = targets_[k];
            }
            return false;
        };
        std::vector<Cell> level{*std::find_if(all.begin(), all.end(), leads_targets_root)}, part = level;
        CellSet seen;
        seen.add(level[0]);
        while (!level.empty()) {
            std::vector<Cell> next;
            auto visit = [&](Cell each) {
                if (std::find(part.begin(), part.end(), each) == part.end())
                    part.push_back(each), seen.add(each), next.push_back(each);
            };
            for (const Cell each : level) {
                const int k = agent_at[index(each)] - 1;
                if (k >= 0) visit(targets_[k]);
                for (int j = 0; j < n; ++j)
                    if (targets_[j] == each) visit(agents[j].at);
            }
            level.swap(next);
        }
        std::vector<Cell> order = all;
        if (2 * part.size() < all.size()) {
            // the set is made from another one
            CellSet again;
            for (const Cell each : seen.in_order()) again.add(each);
            order = again.in_order();
        }
        for (const Cell each : order) {
            const int k = agent_at[index(each)] - 1;
            if (k >= 0 && state_[k] == FREE && targets_[k] == cell && height_[k] == height) return k;
        }
        return -1;
    }

    static float* put_direction(float* out, int direction) {
        out[0] = out[1] = out[2] = out[3] = 0;
        out[direction] = 1;
        return out + 4;
    }

    void observe_flat(int k, float* out) const {
        const Setup& o = s->o;
        const Agent& me = agents[k];
        // most cells are empty: their look is copied
        std::copy(s->empty.begin(), s->empty.end(), out);
        out[0] = s->scale_x[me.at.x], out[1] = s->scale_y[me.at.y], out[2] = static_cast<float>(me.carries != 0),
        out[3 + me.direction] = 1;
        out[7] = static_cast<float>(s->is_highway(me.at));
        out += 8;
        const int corner = index(cell_at(me.at.x - border_, me.at.y - border_));
        for (int r = 0; r < s->side; ++r) {
            for (int at = corner + r * stride_; at < corner + r * stride_ + s->side; ++at, out += s->words) {
                const int other = agent_at[at], shelf = shelf_at[at];
                if (other) {
                    out[0] = 1;
                    put_direction(out + 1, agents[other - 1].direction);
                    for (int b = 0; b < o.message_bits; ++b)
                        out[5 + b] = static_cast<float>(messages[(other - 1) * o.message_bits + b]);
                }
                out[s->words - 2] = static_cast<float>(shelf != 0),
                               out[s->words - 1] = static_cast<float>(requested[shelf]);
            }
        }
    }

    void observe_image(int k, float* out) const {
        const Setup& o = s->o;
        const Agent& me = agents[k];
        const int cells = s->side * s->side, corner = index(cell_at(me.at.x - border_, me.at.y - border_));
        const int* offset = s->offsets[o.directional ? me.direction : static_cast<int>(UP)].data();
        const int16_t *agent = &agent_at[corner], *shelf = &shelf_at[corner];
        const uint8_t *inside = &s->inside[corner], *goal = &s->is_goal[corner];
        const auto write = [&](auto&& number_at) {
            for (int c = 0; c < cells; ++c) out[c] = static_cast<float>(number_at(offset[c]));
        };
        for (const int layer : s->o.layers) {
            switch (layer) {
                case SHELVES: write([&](int at) { return shelf[at] != 0; }); break;
                case REQUESTS: write([&](int at) { return requested[shelf[at]]; }); break;
                case AGENTS: write([&](int at) { return agent[at] != 0; }); break;
                case GOALS: write([&](int at) { return goal[at]; }); break;
                case ACCESSIBLE: write([&](int at) { return inside[at] & (agent[at] == 0); }); break;
                default:
                    write([&](int at) {
                        return exchanged(layer, me.at.y - border_ + at / stride_, me.at.x - border_ + at % stride_);
                    });
            }
            out += cells;
        }
    }

    void observe_features(const Agent& me, float* out) const {
        out = put_direction(out, me.direction);
        out[0] = static_cast<float>(s->is_highway(me.at));
        out[1] = static_cast<float>(me.carries != 0);
    }

    // Of two layers rware exchanges rows and columns, which fails where the grid is no square.
    float exchanged(int layer, int y, int x) const {
        if (y < 0 || y >= s->o.rows || x < 0 || x >= s->o.cols) return 0;
        const int agent = agent_at[index(cell_at(y, x))];
        if (!agent) return 0;
        return layer == AGENT_DIRECTION ? static_cast<float>(agents[agent - 1].direction + 1)
                                        : static_cast<float>(agents[agent - 1].carries != 0);
    }
};

}  // namespace cypool::rware
