// Games in which a line of stones wins: tic-tac-toe and connect four.
#pragma once

#include "cypool/envs/board/bits.h"
#include "cypool/envs/board/match.h"

namespace cypool::board {

// Who moves if both players put one stone in turn.
template <class Bits> int turn_of(const Bits (&stones)[2]) {
    return std::popcount(stones[0]) - std::popcount(stones[1]);
}

// Refuses cells with two stones, and stones that were not put in turn.
template <class Bits> void check_stones(const Bits (&stones)[2]) {
    if (stones[0] & stones[1]) refuse_state("stones[1]", "cells without a stone of player 0", text_of(stones[1]));
    if (turn_of(stones) != 0 && turn_of(stones) != 1) {
        refuse_state("stones", "as many stones for each player, or one more for player 0",
                     text_of(turn_of(stones)) + " more");
    }
}

// Cells row by row; an action is a cell.
struct TicTacToe {
    static constexpr int PLAYERS = 2, CELLS = 9;
    static constexpr uint32_t FULL = 0x1ff;
    uint32_t stones[2] = {};
    int32_t current = 0;

    explicit TicTacToe(const Options&) {}
    size_t num_actions() const { return CELLS; }
    size_t tensor_size() const { return 3 * CELLS; }
    void reset(const Rng*) {
        stones[0] = stones[1] = 0;
        current = 0;
    }
    uint32_t empty() const { return FULL & ~(stones[0] | stones[1]); }
    bool is_legal(int64_t action) const { return empty() >> action & 1; }
    void legal(uint8_t* mask) const { write_bits(empty(), CELLS, mask); }
    static bool has_line(uint32_t own) {
        for (const uint32_t line : {0007u, 0070u, 0700u, 0111u, 0222u, 0444u, 0421u, 0124u}) {
            if ((own & line) == line) return true;
        }
        return false;
    }
    void play(int64_t action, const Rng*, double* reward) {
        const int mover = current;
        stones[mover] |= 1u << action;
        current = next_after(mover, has_line(stones[mover]), reward);
        if (!empty()) current = OVER;
    }
    // empty cells, noughts, crosses
    void observe(int, float* tensor) const {
        write_bits(empty(), CELLS, tensor);
        write_bits(stones[1], CELLS, tensor + CELLS);
        write_bits(stones[0], CELLS, tensor + 2 * CELLS);
    }
    template <class Archive> void exchange(Archive& archive) { archive.all("stones", stones, 0, int64_t{FULL}); }
    bool validate() const {
        check_stones(stones);
        return !has_line(stones[0]) && !has_line(stones[1]) && empty() && current == turn_of(stones);
    }
};

// A column has seven bits: six cells, the lowest first, and one that stays empty, so that no line wraps around. An
// action is a column.
struct ConnectFour {
    static constexpr int PLAYERS = 2, COLUMNS = 7, ROWS = 6, STRIDE = ROWS + 1, CELLS = COLUMNS * ROWS;
    static constexpr uint64_t LOWEST = 1 | bit(7) | bit(14) | bit(21) | bit(28) | bit(35) | bit(42);
    static constexpr uint64_t FULL = LOWEST * (bit(ROWS) - 1);
    uint64_t stones[2] = {};
    int32_t current = 0;

    explicit ConnectFour(const Options&) {}
    size_t num_actions() const { return COLUMNS; }
    size_t tensor_size() const { return 3 * CELLS; }
    void reset(const Rng*) {
        stones[0] = stones[1] = 0;
        current = 0;
    }
    uint64_t all() const { return stones[0] | stones[1]; }
    bool is_legal(int64_t action) const { return !(all() >> (action * STRIDE + ROWS - 1) & 1); }
    void legal(uint8_t* mask) const {
        const uint64_t taken = all();
        for (int c = 0; c < COLUMNS; ++c) mask[c] = !(taken >> (c * STRIDE + ROWS - 1) & 1);
    }
    static bool has_four(uint64_t own) {
        for (const int by : {1, STRIDE - 1, STRIDE, STRIDE + 1}) {
            const uint64_t pairs = own & own >> by;
            if (pairs & pairs >> 2 * by) return true;
        }
        return false;
    }
    void play(int64_t action, const Rng*, double* reward) {
        const int mover = current;
        // one more than the stones of a column is its first empty cell
        const uint64_t column = (bit(ROWS) - 1) << action * STRIDE;
        stones[mover] |= (all() + bit(action * STRIDE)) & column;
        current = next_after(mover, has_four(stones[mover]), reward);
        if (all() == FULL) current = OVER;
    }
    // stones of player 0, of player 1, and empty cells; the lowest row first
    void observe(int, float* tensor) const {
        const uint64_t first = by_rows(stones[0]), second = by_rows(stones[1]);
        write_bits(first, CELLS, tensor);
        write_bits(second, CELLS, tensor + CELLS);
        write_bits(~(first | second), CELLS, tensor + 2 * CELLS);
    }
    // Cell r * COLUMNS + c as that bit.
    static uint64_t by_rows(uint64_t own) {
        // brings the bits of a row, which are STRIDE apart, next to each other: no two products are in one place
        constexpr uint64_t GATHER = 1 | bit(6) | bit(12) | bit(18) | bit(24) | bit(30) | bit(36);
        uint64_t found = 0;
        for (int r = 0; r < ROWS; ++r) {
            found |= ((own >> r & LOWEST) * GATHER >> 36 & (bit(COLUMNS) - 1)) << r * COLUMNS;
        }
        return found;
    }
    template <class Archive> void exchange(Archive& archive) {
        archive.all("stones", stones, 0, static_cast<int64_t>(FULL));
    }
    bool validate() const {
        check_stones(stones);
        for (const uint64_t own : stones) {
            if (own & ~FULL) refuse_state("stones", "stones on the board", text_of(own));
        }
        // below each stone is a stone, or the edge
        if (all() & ~LOWEST & ~(all() << 1)) refuse_state("stones", "no gaps below stones", "a floating stone");
        return !has_four(stones[0]) && !has_four(stones[1]) && all() != FULL && current == turn_of(stones);
    }
};

}  // namespace cypool::board
