// Go: captures, simple ko, Tromp-Taylor scores. A position that comes back ends the game in a draw (superko). A point
// is r * size + c, which is also the action that puts a stone there; size * size is to pass.
#pragma once

#include <array>

#include "cypool/envs/board/bits.h"
#include "cypool/envs/board/match.h"

namespace cypool::board {

// Neighbours of the points of a board, and random numbers for hashes of positions (Zobrist).
struct GoGrid {
    static constexpr int LARGEST = 19, POINTS = LARGEST * LARGEST;
    struct Neighbours {
        uint16_t points[4];
        uint8_t count;
        const uint16_t* begin() const { return points; }
        const uint16_t* end() const { return points + count; }
    };
    Neighbours neighbours[POINTS];
    uint64_t keys[2][POINTS];

    explicit GoGrid(int size) {
        uint64_t seed = 0x5eed;
        for (auto& of_color : keys) {
            for (uint64_t& key : of_color) {
                // splitmix64
                uint64_t z = seed += 0x9e3779b97f4a7c15;
                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
                z = (z ^ z >> 27) * 0x94d049bb133111eb;
                key = z ^ z >> 31;
            }
        }
        for (int p = 0; p < size * size; ++p) {
            Neighbours& own = neighbours[p];
            own.count = 0;
            const auto add = [&](bool is_there, int other) {
                if (is_there) own.points[own.count++] = static_cast<uint16_t>(other);
            };
            add(p >= size, p - size);
            add(p % size > 0, p - 1);
            add(p % size < size - 1, p + 1);
            add(p < size * (size - 1), p + size);
        }
    }
    static const GoGrid* of(int size) {
        static const auto made = [] {
            std::array<std::unique_ptr<const GoGrid>, LARGEST + 1> grids;
            for (int n = 2; n <= LARGEST; ++n) grids[n] = std::make_unique<const GoGrid>(n);
            return grids;
        }();
        return made[size].get();
    }
};

struct Go {
    static constexpr int PLAYERS = 2, EMPTY = 2, NOWHERE = -1;
    // Stones that are connected. Liberties are counted once for each stone next to them. If the sum of their numbers
    // and that of the squares belong to one number, there is one liberty.
    struct Chain {
        uint32_t count, sum, squares;
        uint32_t stones;
        void add(uint32_t p) { ++count, sum += p, squares += p * p; }
        void remove(uint32_t p) { --count, sum -= p, squares -= p * p; }
        bool has_one_liberty() const { return uint64_t{count} * squares == uint64_t{sum} * sum; }
    };
    int size, max_moves;
    float komi;
    const GoGrid* grid;
    int32_t current = 0;
    int32_t turn = 0;      // whose turn it is, also when the game is over
    int32_t ko = NOWHERE;  // where the mover must not play, as that would take back the stone that was captured
    int32_t num_moves = 0;
    bool passed = false;  // the last move
    uint64_t hash = 0;
    std::vector<uint64_t> positions;  // hashes of all of them
    // read in words of eight
    static constexpr int BYTES = (GoGrid::POINTS + 7) / 8 * 8;
    uint8_t colors[BYTES];
    uint8_t num_empty[BYTES] = {};  // neighbours of each point
    // the mask of legal actions, once it was asked for
    mutable uint8_t moves[BYTES];
    mutable bool knows_moves = false;
    uint16_t heads[GoGrid::POINTS], nexts[GoGrid::POINTS];  // of the chain of each stone: its number, a ring of stones
    Chain chains[GoGrid::POINTS];

    Go(int size, float komi) : size(size), max_moves(2 * size * size), komi(komi), grid(GoGrid::of(size)) {
        reset(nullptr);
    }
    explicit Go(const Options& options) : Go(options.at("board_size"), options.at("komi")) {}
    int count() const { return size * size; }
    size_t num_actions() const { return static_cast<size_t>(count()) + 1; }
    size_t tensor_size() const { return static_cast<size_t>(count()) * 4; }
    void reset(const Rng*) {
        // what lies behind the last point is no empty one
        std::memset(colors, 0, sizeof colors);
        std::memset(colors, EMPTY, static_cast<size_t>(count()));
        current = turn = num_moves = 0;
        knows_moves = false;
        ko = NOWHERE;
        passed = false;
        hash = 0;
        positions.assign(1, 0);
        for (int p = 0; p < count(); ++p) num_empty[p] = grid->neighbours[p].count;
    }

    Chain& chain(int p) { return chains[heads[p]]; }
    const Chain& chain(int p) const { return chains[heads[p]]; }

    bool is_legal(int64_t action) const {
        if (action == count()) return true;
        const int p = static_cast<int>(action);
        if (colors[p] != EMPTY || p == ko) return false;
        return num_empty[p] > 0 || breathes(p);
    }
    // Whether a stone between others would have a liberty, with those that it connects or captures.
    bool breathes(int p) const {
        // no branch that depends on the position
        bool found = false;
        for (const uint16_t other : grid->neighbours[p]) {
            found |= (colors[other] == turn) != chain(other).has_one_liberty();
        }
        return found;
    }
    void legal(uint8_t* mask) const {
        if (!knows_moves) {
            find_moves(moves);
            knows_moves = true;
        }
        std::memcpy(mask, moves, num_actions());
    }
    static constexpr uint64_t ONES = 0x0101010101010101;  // a byte for each of eight points
    static uint64_t word_at(const uint8_t* bytes, int first) {
        uint64_t word;
        std::memcpy(&word, bytes + first, 8);
        return word;
    }
    void find_moves(uint8_t* mask) const {
        // eight points at a time: of most of them none is empty and between stones
        for (int first = 0; first < count(); first += 8) {
            const uint64_t empty = word_at(colors, first) >> 1 & ONES, room = word_at(num_empty, first);
            const uint64_t has_room = (room | room >> 1 | room >> 2) & ONES, found = empty & has_room;
            std::memcpy(mask + first, &found, 8);
            for (uint64_t left = empty & ~has_room; left; left &= left - 1) {
                const int p = first + std::countr_zero(left) / 8;
                mask[p] = breathes(p);
            }
        }
        if (ko != NOWHERE) mask[ko] = 0;
        mask[count()] = 1;
    }

    void put(int p, int color) {
        colors[p] = static_cast<uint8_t>(color);
        hash ^= grid->keys[color][p];
        heads[p] = nexts[p] = static_cast<uint16_t>(p);
        Chain own{0, 0, 0, 1};
        for (const uint16_t other : grid->neighbours[p]) {
            --num_empty[other];
            if (colors[other] == EMPTY) {
                own.add(other);
            } else {
                chain(other).remove(static_cast<uint32_t>(p));
            }
        }
        chains[p] = own;
        for (const uint16_t other : grid->neighbours[p]) {
            if (colors[other] == color && heads[other] != heads[p]) connect(heads[other], heads[p]);
        }
    }
    void connect(uint16_t a, uint16_t b) {
        if (chains[a].stones < chains[b].stones) std::swap(a, b);
        Chain& larger = chains[a];
        const Chain& smaller = chains[b];
        larger.count += smaller.count, larger.sum += smaller.sum, larger.squares += smaller.squares;
        larger.stones += smaller.stones;
        uint16_t stone = b;
        do {
            heads[stone] = a;
            stone = nexts[stone];
        } while (stone != b);
        std::swap(nexts[a], nexts[b]);
    }
    void remove_chain(int p) {
        const int color = colors[p];
        int stone = p;
        do {
            colors[stone] = EMPTY;
            hash ^= grid->keys[color][stone];
            for (const uint16_t other : grid->neighbours[stone]) {
                ++num_empty[other];
                if (colors[other] != EMPTY) chain(other).add(static_cast<uint32_t>(stone));
            }
            stone = nexts[stone];
        } while (stone != p);
    }
    void move(int p) {
        bool in_eye = num_empty[p] == 0;
        for (const uint16_t other : grid->neighbours[p]) in_eye &= colors[other] != turn;
        put(p, turn);
        uint32_t num_captured = 0;
        int captured = NOWHERE;
        for (const uint16_t other : grid->neighbours[p]) {
            if (colors[other] == 1 - turn && chain(other).count == 0) {
                num_captured += chain(other).stones;
                captured = other;
                remove_chain(other);
            }
        }
        ko = in_eye && num_captured == 1 ? captured : NOWHERE;
    }
    void play(int64_t action, const Rng*, double* reward) {
        const bool passes = action == count();
        knows_moves = false;
        bool repeats = false;
        if (passes) {
            ko = NOWHERE;
        } else {
            move(static_cast<int>(action));
            for (const uint64_t each : positions) repeats |= each == hash;
            if (!repeats) positions.push_back(hash);
        }
        turn = 1 - turn;
        current = turn;
        if (repeats) {
            current = OVER;
        } else if (++num_moves >= max_moves || (passes && passed)) {
            current = OVER;
            const float score = black_score();
            reward[0] = (score > 0) - (score < 0);
            reward[1] = (score < 0) - (score > 0);
        }
        passed = passes;
    }
    // By the rules of Tromp and Taylor: black stones, and empty points that reach no white one, less those of white.
    float black_score() const {
        bool seen[GoGrid::POINTS] = {};
        int more = 0;
        for (int p = 0; p < count(); ++p) {
            if (colors[p] != EMPTY) {
                more += colors[p] == 0 ? 1 : -1;
            } else if (!seen[p]) {
                more += territory(p, seen);
            }
        }
        return static_cast<float>(more) - komi;
    }
    int territory(int first, bool* seen) const {
        uint16_t stack[GoGrid::POINTS];
        int height = 0, points = 0;
        bool reaches[3] = {};
        seen[first] = true;
        stack[height++] = static_cast<uint16_t>(first);
        while (height > 0) {
            ++points;
            for (const uint16_t other : grid->neighbours[stack[--height]]) {
                reaches[colors[other]] = true;
                if (colors[other] == EMPTY && !seen[other]) {
                    seen[other] = true;
                    stack[height++] = other;
                }
            }
        }
        return reaches[0] == reaches[1] ? 0 : reaches[0] ? points : -points;
    }
    // black stones, white stones, empty points, and whether white is next
    void observe(int, float* tensor) const {
        const int n = count();
        for (int first = 0; first < n; first += 8) {
            const uint64_t word = word_at(colors, first), white = word & ONES, empty = word >> 1 & ONES;
            const auto points = static_cast<size_t>(std::min(8, n - first));
            const uint64_t planes[] = {ONES & ~(white | empty), white, empty};
            for (int color = 0; color < 3; ++color) {
                // brings the lowest bits of all bytes together
                write_bits(planes[color] * 0x0102040810204080 >> 56, points, tensor + color * n + first);
            }
        }
        std::fill_n(tensor + 3 * n, n, turn == 1 ? 1.0f : 0.0f);
    }
    template <class Archive> void exchange(Archive& archive) {
        archive("turn", turn, 0, 1);
        archive("ko", ko, NOWHERE, count() - 1);
        archive("num_moves", num_moves, 0, max_moves);
        archive("passed", passed);
        archive.size("positions", positions, 1, static_cast<size_t>(max_moves) + 1);
        for (size_t k = 0; k < positions.size(); ++k) {
            uint64_t position[1] = {positions[k]};
            archive.in("positions", k, [&] { exchange_bytes(archive, "hash", position); });
            positions[k] = position[0];
        }
        for (int p = 0; p < count(); ++p) archive.item("colors", p, colors[p], 0, EMPTY);
    }
    // Puts all stones again, as only they are saved.
    bool validate() {
        std::array<uint8_t, BYTES> given;
        std::copy_n(colors, BYTES, given.begin());
        Go fresh(size, komi);
        for (int p = 0; p < count(); ++p) {
            if (given[p] != EMPTY) fresh.put(p, given[p]);
        }
        for (int p = 0; p < count(); ++p) {
            if (given[p] != EMPTY && fresh.chain(p).count == 0) {
                refuse_state(name_of_item("colors", p), "a stone with a liberty", text_of(int{given[p]}));
            }
        }
        if (ko != NOWHERE && colors[ko] != EMPTY) refuse_state("ko", "an empty point", text_of(ko));
        if (positions.size() > static_cast<size_t>(num_moves) + 1) {
            refuse_state("num_moves", "at least " + text_of(positions.size() - 1), text_of(num_moves));
        }
        hash = fresh.hash;
        knows_moves = false;
        std::copy_n(fresh.num_empty, BYTES, num_empty);
        std::copy_n(fresh.heads, GoGrid::POINTS, heads);
        std::copy_n(fresh.nexts, GoGrid::POINTS, nexts);
        std::copy_n(fresh.chains, GoGrid::POINTS, chains);
        return current == turn && num_moves < max_moves;
    }
};

}  // namespace cypool::board
