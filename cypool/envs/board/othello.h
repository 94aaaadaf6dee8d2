// Othello. Cell r * 8 + c is bit r * 8 + c; an action is a cell, or 64: to pass.
#pragma once

#include "cypool/envs/board/bits.h"
#include "cypool/envs/board/match.h"

namespace cypool::board {

struct Othello {
    static constexpr int PLAYERS = 2, CELLS = 64, PASS = CELLS;
    // stones on the left and right edges carry no line on, so that none wraps around
    static constexpr uint64_t INNER = 0x7e7e7e7e7e7e7e7e;
    uint64_t stones[2] = {};
    uint64_t moves = 0;  // cells where the mover may put a stone
    int32_t current = 0;

    explicit Othello(const Options&) {}
    size_t num_actions() const { return CELLS + 1; }
    size_t tensor_size() const { return 3 * CELLS; }
    void reset(const Rng*) {
        stones[0] = bit(28) | bit(35);
        stones[1] = bit(27) | bit(36);
        current = 0;
        moves = moves_of(0);
    }
    bool is_legal(int64_t action) const { return action == PASS ? moves == 0 : moves >> action & 1; }
    void legal(uint8_t* mask) const {
        write_bits(moves, CELLS, mask);
        mask[PASS] = moves == 0;
    }

    // Calls f with the distance of neighbours in each direction, and the stones that carry a line on.
    template <class F> static void each_direction(uint64_t theirs, F&& f) {
        f(1, theirs & INNER);
        f(7, theirs & INNER);
        f(8, theirs);
        f(9, theirs & INNER);
    }
    // The stones of `carrying` that lie in lines next to `from`, upwards and downwards.
    static void lines_from(uint64_t from, int by, uint64_t carrying, uint64_t& up, uint64_t& down) {
        up = from << by & carrying;
        down = from >> by & carrying;
        for (int k = 0; k < 5; ++k) {
            up |= up << by & carrying;
            down |= down >> by & carrying;
        }
    }
    uint64_t moves_of(int player) const {
        uint64_t found = 0, up, down;
        each_direction(stones[1 - player], [&](int by, uint64_t carrying) {
            lines_from(stones[player], by, carrying, up, down);
            found |= up << by | down >> by;
        });
        return found & ~(stones[0] | stones[1]);
    }
    uint64_t turned_by(int player, uint64_t stone) const {
        uint64_t turned = 0, up, down;
        each_direction(stones[1 - player], [&](int by, uint64_t carrying) {
            lines_from(stone, by, carrying, up, down);
            if (up << by & stones[player]) turned |= up;
            if (down >> by & stones[player]) turned |= down;
        });
        return turned;
    }
    // Finds the moves of the player who is next. Returns whether one of both can move.
    bool find_moves(int player) {
        moves = moves_of(player);
        return moves || moves_of(1 - player);
    }
    void play(int64_t action, const Rng*, double* reward) {
        const int mover = current;
        if (action != PASS) {
            const uint64_t turned = turned_by(mover, bit(action));
            stones[mover] |= bit(action) | turned;
            stones[1 - mover] &= ~turned;
        }
        current = find_moves(1 - mover) ? 1 - mover : OVER;
        if (current == OVER) {
            const int more = std::popcount(stones[0]) - std::popcount(stones[1]);
            reward[0] = (more > 0) - (more < 0);
            reward[1] = (more < 0) - (more > 0);
        }
    }
    // empty cells, own stones, and the other player's
    void observe(int player, float* tensor) const {
        write_bits(~(stones[0] | stones[1]), CELLS, tensor);
        write_bits(stones[player], CELLS, tensor + CELLS);
        write_bits(stones[1 - player], CELLS, tensor + 2 * CELLS);
    }
    template <class Archive> void exchange(Archive& archive) { exchange_bytes(archive, "stones", stones); }
    bool validate() {
        if (stones[0] & stones[1]) refuse_state("stones", "at most one stone in a cell", "two");
        return current != OVER && find_moves(current);
    }
};

}  // namespace cypool::board
