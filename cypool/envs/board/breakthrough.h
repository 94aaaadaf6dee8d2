// Breakthrough. Cell r * columns + c is that bit. Player 0 starts at row 0 and moves towards higher rows.
//
// An action is ((r * columns + c) * 6 + direction) * 2 + captures, with the cell that a piece leaves. Directions 0 to 2
// are those of player 0: to the left, ahead and to the right; 3 to 5 those of player 1.
#pragma once

#include "cypool/envs/board/bits.h"
#include "cypool/envs/board/match.h"

namespace cypool::board {

struct Breakthrough {
    static constexpr int PLAYERS = 2, DIRECTIONS = 6;
    int rows, columns;
    uint64_t pieces[2] = {};
    int32_t current = 0;

    explicit Breakthrough(const Options& options) : rows(options.at("rows")), columns(options.at("columns")) {}
    int cells() const { return rows * columns; }
    uint64_t full() const { return cells() == 64 ? ~uint64_t{0} : bit(cells()) - 1; }
    uint64_t row(int r) const { return (columns == 64 ? ~uint64_t{0} : bit(columns) - 1) << r * columns; }
    size_t num_actions() const { return static_cast<size_t>(cells()) * DIRECTIONS * 2; }
    size_t tensor_size() const { return static_cast<size_t>(cells()) * 3; }
    void reset(const Rng*) {
        pieces[0] = row(0);
        pieces[1] = row(rows - 1);
        if (rows >= 6) {
            pieces[0] |= row(1);
            pieces[1] |= row(rows - 2);
        }
        current = 0;
    }
    // Where a direction leads, and from which cells it does.
    int distance(int side) const { return (current == 0 ? columns : -columns) + side - 1; }
    uint64_t column(int c) const {
        uint64_t found = 0;
        for (int r = 0; r < rows; ++r) found |= bit(r * columns + c);
        return found;
    }
    uint64_t movers(int side) const {
        const uint64_t edge = side == 0 ? column(0) : side == 2 ? column(columns - 1) : 0;
        return pieces[current] & ~edge & ~row(current == 0 ? rows - 1 : 0);
    }
    // Cells from which the mover can move in a direction, without a capture or with one.
    uint64_t from(int side, uint64_t targets) const {
        const int by = distance(side);
        return movers(side) & (by > 0 ? targets >> by : targets << -by);
    }
    uint64_t moves(int side) const { return from(side, full() & ~(pieces[0] | pieces[1])); }
    uint64_t captures(int side) const { return side == 1 ? 0 : from(side, pieces[1 - current]); }
    bool is_legal(int64_t action) const {
        const int64_t cell = action / (2 * DIRECTIONS), direction = action / 2 % DIRECTIONS;
        if (direction / 3 != current) return false;
        const int side = static_cast<int>(direction % 3);
        return (action % 2 ? captures(side) : moves(side)) >> cell & 1;
    }
    void legal(uint8_t* mask) const {
        std::memset(mask, 0, num_actions());
        for (int side = 0; side < 3; ++side) {
            const int first = (current * 3 + side) * 2;
            each_bit(moves(side), [&](int cell) { mask[cell * 2 * DIRECTIONS + first] = 1; });
            each_bit(captures(side), [&](int cell) { mask[cell * 2 * DIRECTIONS + first + 1] = 1; });
        }
    }
    void play(int64_t action, const Rng*, double* reward) {
        const int mover = current, cell = static_cast<int>(action / (2 * DIRECTIONS));
        const int target = cell + distance(static_cast<int>(action / 2 % 3));
        pieces[mover] ^= bit(cell) | bit(target);
        pieces[1 - mover] &= ~bit(target);
        current = next_after(mover, has_won(mover), reward);
    }
    bool has_won(int player) const { return pieces[player] & row(player == 0 ? rows - 1 : 0) || !pieces[1 - player]; }
    // pieces of player 0, of player 1, and empty cells
    void observe(int, float* tensor) const {
        write_bits(pieces[0], cells(), tensor);
        write_bits(pieces[1], cells(), tensor + cells());
        write_bits(~(pieces[0] | pieces[1]), cells(), tensor + 2 * cells());
    }
    template <class Archive> void exchange(Archive& archive) { exchange_bytes(archive, "pieces", pieces); }
    bool validate() const {
        if (pieces[0] & pieces[1]) refuse_state("pieces", "at most one piece in a cell", "two");
        for (const uint64_t own : pieces) {
            if (own & ~full()) refuse_state("pieces", "pieces on the board", text_of(own));
        }
        if (has_won(0) || has_won(1) || current == OVER) return false;
        return moves(0) | moves(1) | moves(2) | captures(0) | captures(2);
    }
};

}  // namespace cypool::board
