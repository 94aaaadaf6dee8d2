// 2048: tiles on a board of 4 x 4, where equal ones merge. Actions: up (0), right (1), down (2), left (3).
#pragma once

#include <array>

#include "cypool/envs/board/bits.h"
#include "cypool/envs/board/match.h"

namespace cypool::board {

struct MergingTiles {
    static constexpr int PLAYERS = 1, SIDE = 4, CELLS = SIDE * SIDE;
    // A board is a word: of each cell, row by row, four bits with the logarithm of its tile; 0: empty. So a row is 16.
    uint64_t board = 0, merged = 0;  // and 1 in the lowest bit of cells where tiles merged in the last move
    int32_t current = 0, num_moves = 0;
    int largest;  // the logarithm of the tile that ends the game

    explicit MergingTiles(const Options& options)
        : largest(std::countr_zero(static_cast<unsigned>(options.at("max_tile")))) {}
    size_t num_actions() const { return 4; }
    size_t tensor_size() const { return CELLS; }
    uint64_t outcome() const { return board; }

    // What becomes of a row that moves to the left; and 1 in the lowest bit of each cell where two tiles merged.
    struct Moved {
        uint16_t row, merged;
    };
    static std::vector<Moved> make_table() {
        std::vector<Moved> table(1 << 16);
        for (uint32_t row = 0; row < table.size(); ++row) {
            int count = 0, last = 0;  // the last tile, unless it has merged
            for (int c = 0; c < SIDE; ++c) {
                const int tile = static_cast<int>(row >> 4 * c & 15);
                if (tile == 0) continue;
                // there is none above 2^15
                if (tile == last && tile < 15) {
                    table[row].row = static_cast<uint16_t>(table[row].row + (1 << 4 * (count - 1)));
                    table[row].merged |= static_cast<uint16_t>(1 << 4 * (count - 1));
                    last = 0;
                } else {
                    table[row].row |= static_cast<uint16_t>(tile << 4 * count++);
                    last = tile;
                }
            }
        }
        return table;
    }
    static const Moved* table() {
        static const std::vector<Moved> made = make_table();
        return made.data();
    }
    static uint64_t mirrored(uint64_t b) {
        b = (b >> 4 & 0x0f0f0f0f0f0f0f0f) | (b & 0x0f0f0f0f0f0f0f0f) << 4;
        return (b >> 8 & 0x00ff00ff00ff00ff) | (b & 0x00ff00ff00ff00ff) << 8;
    }
    static uint64_t transposed(uint64_t b) {
        // exchanges cells of 2 x 2 blocks, then the blocks
        const uint64_t a = (b & 0xf0f00f0ff0f00f0f) | (b & 0x0000f0f00000f0f0) << 12 | (b & 0x0f0f00000f0f0000) >> 12;
        return (a & 0xff00ff0000ff00ff) | (a & 0x00000000ff00ff00) << 24 | (a & 0x00ff00ff00000000) >> 24;
    }
    // The board as it is when a move goes to the left; the same once more turns it back.
    static uint64_t turned(uint64_t b, int64_t action, bool is_back) {
        const bool mirrors = action == 1 || action == 2, transposes = action % 2 == 0;
        if (transposes && !is_back) b = transposed(b);
        if (mirrors) b = mirrored(b);
        if (transposes && is_back) b = transposed(b);
        return b;
    }
    void move(int64_t action) {
        const uint64_t before = turned(board, action, false);
        board = merged = 0;
        for (int r = 0; r < SIDE; ++r) {
            const Moved& row = table()[before >> 16 * r & 0xffff];
            board |= uint64_t{row.row} << 16 * r;
            merged |= uint64_t{row.merged} << 16 * r;
        }
        board = turned(board, action, true);
        merged = turned(merged, action, true);
    }

    // What moves in a direction: 1 in the lowest bit of cells that a tile moves to, and of those where two tiles merge.
    // `by`: the bits between neighbours; `there`: the cells that have a neighbour behind them.
    struct Moves {
        uint64_t forward, backward, merges;
    };
    Moves moves(int by, uint64_t there) const {
        const uint64_t free = empty(), taken = ~free, unequal = board ^ board >> by;
        const uint64_t any = unequal | unequal >> 2;
        return {free & taken >> by & there, free >> by & taken & there, ~(any | any >> 1) & taken & there};
    }
    static constexpr uint64_t IN_ROWS = 0x0111011101110111, IN_COLUMNS = 0x0000111111111111;
    // As in OpenSpiel, no tile merges with one that came of a merge in the last move, if there is another way.
    unsigned legal_moves() const {
        const Moves rows = moves(4, IN_ROWS), columns = moves(16, IN_COLUMNS);
        const auto found = [&](uint64_t kept) {
            return unsigned{(columns.forward | (columns.merges & ~kept)) != 0}
                   | unsigned{(rows.backward | (rows.merges & ~(kept >> 4))) != 0} << 1
                   | unsigned{(columns.backward | (columns.merges & ~(kept >> 16))) != 0} << 2
                   | unsigned{(rows.forward | (rows.merges & ~kept)) != 0} << 3;
        };
        const unsigned without = found(merged);
        return without ? without : found(0);
    }
    bool is_legal(int64_t action) const { return legal_moves() >> action & 1; }
    void legal(uint8_t* mask) const { write_bits(legal_moves(), 4, mask); }

    // 1 in the lowest bit of each empty cell.
    uint64_t empty() const {
        const uint64_t taken = board | board >> 2;
        return ~(taken | taken >> 1) & 0x1111111111111111;
    }
    bool has(int tile) const {
        for (int k = 0; k < CELLS; ++k) {
            if (static_cast<int>(board >> 4 * k & 15) == tile) return true;
        }
        return false;
    }
    // The sums of the probabilities of chance, of which there are two for each of `count` empty cells: a 2 or a 4.
    static const double* sums_of(int count) {
        static const auto made = [] {
            std::array<std::array<double, 2 * CELLS>, CELLS + 1> sums{};
            for (int n = 1; n <= CELLS; ++n) {
                double sum = 0;
                for (int k = 0; k < 2 * n; ++k) sums[n][k] = sum += (k % 2 ? .1 : .9) / n;
                for (int k = 0; k < 2 * n; ++k) sums[n][k] /= sum;
            }
            return sums;
        }();
        return made[count].data();
    }
    // A new tile in an empty cell, as NumPy's `Generator.choice` draws one with these probabilities.
    void add_tile(const Rng* rng) {
        uint64_t free = empty();
        const int count = std::popcount(free);
        const double drawn = rng->next_double(rng->state);
        const double* sums = sums_of(count);
        const auto chosen = std::upper_bound(sums, sums + 2 * count, drawn) - sums;
        for (auto k = chosen / 2; k > 0; --k) free &= free - 1;
        board |= uint64_t{chosen % 2 ? 2u : 1u} << std::countr_zero(free);
    }
    // With the moves of chance, a game has at most four times as many as the last tile's number.
    bool is_over() const { return 2 + 2 * num_moves >= 4 << largest || has(largest) || !legal_moves(); }

    void reset(const Rng* rng) {
        board = merged = 0;
        num_moves = 0;
        add_tile(rng);
        add_tile(rng);
        current = is_over() ? OVER : 0;
    }
    void play(int64_t action, const Rng* rng, double* reward) {
        move(action);
        each_bit(merged, [&](int at) { reward[0] += 1 << (board >> at & 15); });
        ++num_moves;
        if (!has(largest)) add_tile(rng);
        if (is_over()) current = OVER;
    }
    void observe(int, float* tensor) const {
        for (int k = 0; k < CELLS; ++k) {
            const auto tile = static_cast<int>(board >> 4 * k & 15);
            tensor[k] = static_cast<float>(tile == 0 ? 0 : 1 << tile);
        }
    }
    template <class Archive> void exchange(Archive& archive) {
        for (int k = 0; k < CELLS; ++k) {
            auto tile = static_cast<uint8_t>(board >> 4 * k & 15);
            archive.item("tiles", k, tile, 0, largest);
            board = (board & ~(uint64_t{15} << 4 * k)) | uint64_t{tile} << 4 * k;
        }
        for (int k = 0; k < CELLS; ++k) {
            auto has_merged = static_cast<uint8_t>(merged >> 4 * k & 1);
            archive.item("merged", k, has_merged, 0, 1);
            merged = (merged & ~(uint64_t{15} << 4 * k)) | uint64_t{has_merged} << 4 * k;
        }
        archive("num_moves", num_moves, 0, 4 << largest);
    }
    bool validate() const { return !is_over(); }
};

}  // namespace cypool::board
