// Hex. Cell r * size + c; an action is a cell. Player 0 connects the first row with the last one, player 1 the first
// column with the last one.
#pragma once

#include "cypool/envs/board/match.h"

namespace cypool::board {

struct Hex {
    static constexpr int PLAYERS = 2, LARGEST = 19, STATES = 9, EMPTY = 4;
    // What a cell holds: the number of its plane in the tensor. Stones of player 1 are below EMPTY, those of player 0
    // above. The connected ones touch the first or last edge of their player, or both, which wins.
    enum Cell : uint8_t { WINS_1, FIRST_1, LAST_1, ALONE_1, ALONE_0 = 5, LAST_0, FIRST_0, WINS_0 };
    int size;
    uint8_t cells[LARGEST * LARGEST];
    int32_t current = 0;

    explicit Hex(int size) : size(size) { std::memset(cells, EMPTY, sizeof cells); }
    explicit Hex(const Options& options) : Hex(static_cast<int>(options.at("board_size"))) {}
    int count() const { return size * size; }
    size_t num_actions() const { return static_cast<size_t>(count()); }
    size_t tensor_size() const { return static_cast<size_t>(count()) * STATES; }
    void reset(const Rng*) {
        std::memset(cells, EMPTY, sizeof cells);
        current = 0;
    }
    bool is_legal(int64_t action) const { return cells[action] == EMPTY; }
    void legal(uint8_t* mask) const {
        for (int k = 0; k < count(); ++k) mask[k] = cells[k] == EMPTY;
    }
    template <class F> void each_neighbour(int cell, F&& f) const {
        const int r = cell / size, c = cell % size;
        if (r > 0) f(cell - size);
        if (r > 0 && c < size - 1) f(cell - size + 1);
        if (c < size - 1) f(cell + 1);
        if (r < size - 1) f(cell + size);
        if (r < size - 1 && c > 0) f(cell + size - 1);
        if (c > 0) f(cell - 1);
    }
    // What a new stone is.
    Cell stone_at(int player, int cell) const {
        const int line = player == 0 ? cell / size : cell % size;
        const Cell of_first = player == 0 ? FIRST_0 : FIRST_1, of_last = player == 0 ? LAST_0 : LAST_1;
        bool first = line == 0, last = line == size - 1 && !first;
        each_neighbour(cell, [&](int other) {
            first |= cells[other] == of_first;
            last |= cells[other] == of_last;
        });
        if (first && last) return player == 0 ? WINS_0 : WINS_1;
        return first ? of_first : last ? of_last : player == 0 ? ALONE_0 : ALONE_1;
    }
    void put(int player, int cell) {
        const Cell stone = stone_at(player, cell), alone = player == 0 ? ALONE_0 : ALONE_1;
        cells[cell] = stone;
        if (stone != alone && !has_won(cell)) spread(cell, alone);
    }
    bool has_won(int cell) const { return cells[cell] == WINS_0 || cells[cell] == WINS_1; }
    void play(int64_t action, const Rng*, double* reward) {
        const int mover = current, cell = static_cast<int>(action);
        put(mover, cell);
        current = next_after(mover, has_won(cell), reward);
    }
    // Connects the lone stones next to a connected one.
    void spread(int cell, uint8_t alone) {
        int stack[LARGEST * LARGEST], height = 0;
        const uint8_t stone = cells[cell];
        stack[height++] = cell;
        while (height > 0) {
            each_neighbour(stack[--height], [&](int other) {
                if (cells[other] == alone) {
                    cells[other] = stone;
                    stack[height++] = other;
                }
            });
        }
    }
    // a plane for each kind of cell
    void observe(int, float* tensor) const {
        std::memset(tensor, 0, tensor_size() * sizeof(float));
        for (int k = 0; k < count(); ++k) tensor[cells[k] * count() + k] = 1;
    }
    template <class Archive> void exchange(Archive& archive) {
        for (int k = 0; k < count(); ++k) archive.item("cells", k, cells[k], 0, STATES - 1);
    }
    bool validate() const {
        for (int k = 0; k < count(); ++k) {
            if (has_won(k)) return false;
        }
        // all stones put again: which ones are connected with an edge does not depend on the order
        Hex fresh(size);
        for (int k = 0; k < count(); ++k) {
            if (cells[k] == EMPTY) continue;
            fresh.put(cells[k] > EMPTY ? 0 : 1, k);
            if (fresh.has_won(k)) return false;
        }
        for (int k = 0; k < count(); ++k) {
            if (cells[k] != fresh.cells[k]) {
                refuse_state(name_of_item("cells", static_cast<size_t>(k)), text_of(int{fresh.cells[k]}),
                             text_of(int{cells[k]}));
            }
        }
        // a full board has a connection
        return true;
    }
};

}  // namespace cypool::board
