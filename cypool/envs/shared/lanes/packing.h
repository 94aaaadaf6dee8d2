// Environments of any groups that have constraints, packed for the solver, and what it finds unpacked.

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// Solves what waits, those with as many rows together.
template <bool IS_GENERAL> void BatchInLanes::solve_waiting() {
    std::sort(waiting_.begin(), waiting_.end(), [this](const Waiting& a, const Waiting& b) {
        if (IS_GENERAL && a.section != b.section) return a.section < b.section;
        if (IS_GENERAL && m_.is_elliptic && sizes_of(a) != sizes_of(b)) return sizes_of(a) < sizes_of(b);
        return a.order < b.order;
    });
    size_t next = 0;
    while (next < waiting_.size()) {
        const Waiting* const who = waiting_.data() + next;
        const int most = static_cast<int>(std::min<size_t>(WIDTH, waiting_.size() - next));
        int count = 1, scalars = IS_GENERAL ? who->num_scalars : 0;
        for (; count < most; ++count) {
            if (m_.is_gauss_seidel && who[count].count() != who->count()) break;
            if constexpr (!IS_GENERAL) continue;
            if (!go_together(who[count - 1], who[count], scalars)) break;
            scalars = std::max(scalars, who[count].num_scalars);
        }
        solve<IS_GENERAL>(who, count, scalars);
        next += static_cast<size_t>(count);
    }
}

inline void BatchInLanes::find_own_rows(Group& d) {
    int counts[WIDTH] = {};
    for (int r = 0; r < d.num_rows; ++r) {
        const int active = bits(d.rows[r].active);
        for (int l = 0; l < WIDTH; ++l) {
            d.own_rows[l][counts[l]] = r;
            counts[l] += active >> l & 1;
        }
    }
    std::copy_n(counts, WIDTH, d.num_own_rows);
}

// Whether lanes may have both of these, which follow each other; `scalars`: the most that those before have.
inline bool BatchInLanes::go_together(const Waiting& before, const Waiting& w, int scalars) const {
    if (w.section != before.section) return false;
    return !m_.is_elliptic
           || (sizes_of(w).begins_with(sizes_of(before))
               && std::max(scalars, w.num_scalars) + w.num_others() <= MAX_ROWS);
}

inline void BatchInLanes::wait_by_island(Group& d, int g) {
    choose_start(m_, d);
    Dofs trees[MAX_ROWS];
    for (int r = 0; r < d.num_rows; ++r) trees[r] = trees_of(m_, d.rows[r]);
    for (int l = 0; l < WIDTH && g * WIDTH + l < count_; ++l)
        find_islands(trees, d.own_rows[l], d.num_own_rows[l], [&](Dofs dofs, int begin, int count) {
            const uint64_t which = dofs * 0x9e3779b97f4a7c15;
            if (!coverage_->has_path(which)) d.unseen.push_back({l, {PATH, which}});
            wait(d, sections_.find(dofs), g * WIDTH + l, begin, count);
        });
}

// where the numbers of an island are among the model's: of all of it, one after another
template <bool IS_GENERAL> int BatchInLanes::place(const int* places, int k) {
    if constexpr (IS_GENERAL) return places[k];
    return k;
}

template <bool IS_GENERAL> void BatchInLanes::solve(const Waiting* who, int count, int scalars) {
    const Section* const section = IS_GENERAL ? who->section : nullptr;
    const Island& island = IS_GENERAL ? section->island : m_;
    const int* const places = IS_GENERAL ? section->places : nullptr;
    const int* const entries = IS_GENERAL ? section->entries : nullptr;
    for (int l = 0; l < WIDTH; ++l) {
        const int e = who[l < count ? l : 0].environment();
        groups_of_[l] = &group(e), lanes_of_[l] = e % WIDTH;
    }
    pack<IS_GENERAL>(who, count, island, scalars);
    Mask running = none();
    for (int l = 0; l < count; ++l) running[l] = -1;
    const auto load_factor = [&] {
        collect<IS_GENERAL>(problem_->LD, &Group::LD, island.num_inertia, entries);
        collect<IS_GENERAL>(problem_->LD_inverse, &Group::LD_inverse, island.nv, places);
    };
    if (m_.is_gauss_seidel) {
        load_factor();
        solve_gauss_seidel(m_, *problem_, *dual_, running);
    } else
        Newton<IS_GENERAL>::solve(island, *problem_, running, load_factor);
    for (int l = 0; l < count; ++l) {
        const int e = who[l].environment(), from = e % WIDTH;
        Group& d = group(e);
        if (bits(problem_->bad) >> l & 1) d.bad[from] = -1;
        const uint64_t branches = problem_->branches_of(l);
        if (!coverage_->has_path(branches)) d.unseen.push_back({from, {PATH, branches}});
        move_lane<IS_GENERAL>(d.qacc, from, problem_->qacc, l, island.nv, places);
        move_lane<IS_GENERAL>(d.constraint, from, problem_->constraint, l, island.nv, places);
        for (int r = 0; r < island.num_frictions; ++r) {
            const int number = coverage_->friction(place<IS_GENERAL>(IS_GENERAL ? section->frictions : nullptr, r));
            const int unseen = coverage_->unseen(number);
            if (!unseen) continue;
            const double force = lane(problem_->force[problem_->num_equalities + r], l),
                         most = lane(problem_->friction[r], l);
            const int state = force == most ? PULLS : force == -most ? PUSHES : STICKS;
            if (unseen & state) d.unseen.push_back({from, {number, static_cast<uint64_t>(state)}});
        }
        for (int k = 0; k < packed_[l].count; ++k)
            if (const int r = packed_[l].rows[k]; !IS_GENERAL || r >= 0)
                lane(d.rows[r].force, from) = lane(problem_->force[k], l);
    }
}

template <bool IS_GENERAL>
void BatchInLanes::move_lane(Real* to, int to_lane, const Real* from, int from_lane, int n, const int* places) {
    double* const out = reinterpret_cast<double*>(to) + to_lane;
    const double* const in = reinterpret_cast<const double*>(from) + from_lane;
    for (int k = 0; k < n; ++k) out[place<IS_GENERAL>(places, k) * WIDTH] = in[k * WIDTH];
}

// what the lanes of the solver have of an array: numbers of environments in any groups
template <bool IS_GENERAL> void BatchInLanes::collect(Real* to, Real* Group::* array, int n, const int* places) const {
    const double* from[WIDTH];
    for (int l = 0; l < WIDTH; ++l) from[l] = reinterpret_cast<const double*>(groups_of_[l]->*array) + lanes_of_[l];
    for (int k = 0; k < n; ++k) to[k] = gather([&](int l) { return from[l][place<IS_GENERAL>(places, k) * WIDTH]; });
}

// Finds the rows of environments that lanes of the solver have.
template <bool IS_GENERAL> void BatchInLanes::place_rows(const Waiting* who, int count, int scalars) {
    for (int l = 0; l < WIDTH; ++l) {
        packed_[l] = {nullptr, 0};
        if (l >= count) continue;
        const Waiting& w = who[l];
        const int* const rows = group(w.environment()).own_rows[w.environment() % WIDTH] + w.begin;
        packed_[l] = {rows, w.count()};
        if (!IS_GENERAL || w.num_scalars == scalars || !w.num_others()) continue;
        int* const moved = moved_rows_[l];
        std::fill(moved + w.num_scalars, moved + scalars, -1);
        std::copy_n(rows, w.num_scalars, moved);
        std::copy_n(rows + w.num_scalars, w.num_others(), moved + scalars);
        packed_[l] = {moved, scalars + w.num_others()};
    }
}

template <bool IS_GENERAL> void BatchInLanes::pack(const Waiting* who, int count, const Island& island, int scalars) {
    Problem& p = *problem_;
    const Section* const section = IS_GENERAL ? who->section : nullptr;
    const int* const places = IS_GENERAL ? section->places : nullptr;
    const int* const entries = IS_GENERAL ? section->entries : nullptr;
    const int n = island.nv;
    if (m_.is_gauss_seidel) {
        // only its diagonal
        int diagonal[MAX_DOFS];
        for (int i = 0; i < n; ++i) diagonal[i] = m_.dofs[i].row_begin + m_.dofs[i].row_size - 1;
        collect<true>(p.M, &Group::M, n, diagonal);
    } else
        collect<IS_GENERAL>(p.M, &Group::M, island.num_inertia, entries);
    collect<IS_GENERAL>(p.smooth, &Group::smooth, n, places);
    collect<IS_GENERAL>(p.smooth_acc, &Group::smooth_acc, n, places);
    collect<IS_GENERAL>(p.warmstart, &Group::warmstart, n, places);
    p.num_rows = IS_GENERAL ? scalars + who[count - 1].num_others() : who[count - 1].count();
    place_rows<IS_GENERAL>(who, count, scalars);
    p.bad = none();
    if constexpr (IS_GENERAL)
        for (int k = p.num_cones = p.num_equalities = 0; k < who->count(); ++k)
            p.num_equalities +=
                group(who->environment()).own_rows[who->environment() % WIDTH][who->begin + k] < m_.num_equality_rows;
    std::fill(p.branches, p.branches + WIDTH, uint64_t{0});
    p.has_start = m_.has_islands;
    for (int l = 0; l < WIDTH && p.has_start; ++l) p.is_cold[l] = groups_of_[l]->is_cold[lanes_of_[l]];
    // all lanes have those of friction; their J is that of the problem
    for (int r = 0; r < island.num_frictions; ++r) {
        const int number = place<IS_GENERAL>(IS_GENERAL ? section->frictions : nullptr, r);
        const int row = p.num_equalities + r;
        if (groups_of_[0]->has_own) {
            const int own[] = {m_.own_of_friction(number), m_.own_of_friction(number) + 1};
            collect<true>(p.R + row, &Group::own, 1, own);
            collect<true>(p.friction + r, &Group::own, 1, own + 1);
        } else
            p.R[row] = all(m_.frictions[number].R), p.friction[r] = all(m_.frictions[number].force);
        p.D[row] = 1 / p.R[row];
        p.aref[row] =
            gather([&](int l) { return lane(groups_of_[l]->rows[m_.num_equality_rows + number].aref, lanes_of_[l]); });
        if (IS_GENERAL) p.set_friction(island, r);
    }
    for (int k = 0; k < p.num_rows; ++k) {
        if (k == p.num_equalities) k += island.num_frictions;
        if (k == p.num_rows) break;
        const Row* rows[WIDTH];
        const double* from[WIDTH];
        p.dofs[k] = 0;
        for (int l = 0; l < WIDTH; ++l) {
            const int r = k < packed_[l].count ? packed_[l].rows[k] : -1;
            if (r < 0) {
                rows[l] = &p.no_row, from[l] = reinterpret_cast<const double*>(p.nothing);
                continue;
            }
            const Group& d = *groups_of_[l];
            rows[l] = d.rows + r;
            from[l] = reinterpret_cast<const double*>(rows[l]->dof < 0 ? d.J + r * m_.nv : p.nothing) + lanes_of_[l];
            p.dofs[k] |= rows[l]->dofs;
        }
        if constexpr (IS_GENERAL) p.dofs[k] = section->own_dofs(p.dofs[k]);
        const auto packed = [&](Real Row::* number) {
            return gather([&](int l) { return lane(rows[l]->*number, lanes_of_[l]); });
        };
        if (IS_GENERAL && m_.is_elliptic) p.add_cone(m_, k, rows, groups_of_, lanes_of_);
        p.D[k] = packed(&Row::D), p.aref[k] = packed(&Row::aref), p.R[k] = packed(&Row::R);
        Real* const J = p.J + k * n;
        for (int i = 0; i < n; ++i) J[i] = gather([&](int l) { return from[l][place<IS_GENERAL>(places, i) * WIDTH]; });
        for (int l = 0; l < WIDTH; ++l)
            if (const int dof = rows[l]->dof; dof >= 0)
                lane(J[IS_GENERAL ? section->number[dof] : dof], l) = rows[l]->is_negative ? -1 : 1;
    }
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
