// The order of a set of cells as CPython 3.8 to 3.14 iterates over it: tuples (x, y) in an open hash table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cypool::rware {

struct Cell {
    int16_t x, y;
    bool operator==(const Cell&) const = default;
};

// hash((x, y)): xxHash of the two numbers, which are their own hashes, as they are never negative
inline uint64_t tuple_hash(Cell cell) {
    constexpr uint64_t P1 = 11400714785074694791u, P2 = 14029467366897019727u, P5 = 2870177450012600261u;
    uint64_t sum = P5;
    for (const uint64_t lane : {uint64_t(cell.x), uint64_t(cell.y)}) {
        sum += lane * P2;
        sum = (sum << 31) | (sum >> 33);
        sum *= P1;
    }
    sum += 2 ^ (P5 ^ 3527539u);
    return sum == ~uint64_t{0} ? 1546275796u : sum;
}

class CellSet {
public:
    CellSet() : table_(8, FREE) {}

    void add(Cell cell) {
        if (!insert(table_, cell)) return;
        ++used_;
        const size_t mask = table_.size() - 1;
        if (used_ * 5 < mask * 3) return;
        // grows to more than four times its items, and takes the cells over in the order of the old table
        size_t size = 8;
        while (size <= used_ * 4) size *= 2;
        std::vector<Cell> bigger(size, FREE);
        for (const Cell each : table_)
            if (each != FREE) insert(bigger, each);
        table_.swap(bigger);
    }

    std::vector<Cell> in_order() const {
        std::vector<Cell> cells;
        for (const Cell each : table_)
            if (each != FREE) cells.push_back(each);
        return cells;
    }

private:
    static constexpr Cell FREE{-1, -1};
    std::vector<Cell> table_;
    size_t used_ = 0;

    static bool insert(std::vector<Cell>& table, Cell cell) {
        const uint64_t hash = tuple_hash(cell);
        const size_t mask = table.size() - 1;
        size_t perturb = hash, i = hash & mask;
        for (;;) {
            // up to nine neighbours, if they are within the table
            const size_t last = i + 9 <= mask ? i + 9 : i;
            for (size_t k = i; k <= last; ++k) {
                if (table[k] == cell) return false;
                if (table[k] == FREE) {
                    table[k] = cell;
                    return true;
                }
            }
            perturb >>= 5;
            i = (i * 5 + 1 + perturb) & mask;
        }
    }
};

// Cells in the order of a set that they were added to one by one.
inline std::vector<Cell> set_order(const std::vector<Cell>& cells) {
    CellSet set;
    for (const Cell each : cells) set.add(each);
    return set.in_order();
}

}  // namespace cypool::rware
