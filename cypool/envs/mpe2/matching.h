// The assignment of rows to columns at the least cost: shortest augmenting paths.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

namespace cypool::mpe2 {

// Writes the cost of each row in its column, of n rows and columns, n being at most MAX; infinity if costs are
// infinite, or not numbers.
template <int MAX, class F> void match(int n, F&& cost_of, double* matched) {
    constexpr double FAR = std::numeric_limits<double>::infinity();
    double cost[MAX * MAX];
    for (int r = 0; r < n; ++r) {
        matched[r] = FAR;
        for (int c = 0; c < n; ++c) cost[r * n + c] = cost_of(r, c);
    }
    double row_price[MAX] = {}, column_price[MAX] = {}, shortest[MAX];
    int row_of[MAX], column_of[MAX], path[MAX];
    bool row_done[MAX], column_done[MAX];
    std::fill_n(row_of, n, -1);
    std::fill_n(column_of, n, -1);
    for (int start = 0; start < n; ++start) {
        std::fill_n(shortest, n, FAR);
        std::fill_n(row_done, n, false);
        std::fill_n(column_done, n, false);
        double least = 0;
        int row = start, free_column = -1;
        while (free_column < 0) {
            row_done[row] = true;
            int best = -1;
            double lowest = FAR;
            for (int c = 0; c < n; ++c) {
                if (column_done[c]) continue;
                const double reached = least + cost[row * n + c] - row_price[row] - column_price[c];
                if (reached < shortest[c]) {
                    shortest[c] = reached;
                    path[c] = row;
                }
                if (shortest[c] < lowest || (shortest[c] == lowest && row_of[c] < 0)) {
                    lowest = shortest[c];
                    best = c;
                }
            }
            if (!(lowest < FAR)) return;
            least = lowest;
            column_done[best] = true;
            if (row_of[best] < 0) {
                free_column = best;
            } else {
                row = row_of[best];
            }
        }
        row_price[start] += least;
        for (int r = 0; r < n; ++r) {
            if (row_done[r] && r != start) row_price[r] += least - shortest[column_of[r]];
        }
        for (int c = 0; c < n; ++c) {
            if (column_done[c]) column_price[c] -= least - shortest[c];
        }
        for (int c = free_column;;) {
            const int r = path[c];
            row_of[c] = r;
            std::swap(column_of[r], c);
            if (r == start) break;
        }
    }
    for (int r = 0; r < n; ++r) matched[r] = cost[r * n + column_of[r]];
}

}  // namespace cypool::mpe2
