// Islands: trees that constraints join. Each is solved alone, as mj_island has it.

#include <algorithm>
#include <map>
#include <memory>

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

// the dimensions of some contacts, one after another
class ContactSizes {
public:
    // Returns whether there was room.
    bool add(int dim) {
        if (count_ == static_cast<int>(numbers_.size()) * IN_ONE) return false;
        // none is less than any
        const int place = 3 * (IN_ONE - 1 - count_ % IN_ONE);
        numbers_[static_cast<size_t>(count_++ / IN_ONE)] |= static_cast<uint64_t>(dim) << place;
        return true;
    }
    bool begins_with(const ContactSizes& other) const {
        for (int k = 0; k * IN_ONE < other.count_; ++k) {
            const int rest = IN_ONE - std::min(IN_ONE, other.count_ - k * IN_ONE);
            if ((numbers_[static_cast<size_t>(k)] ^ other.numbers_[static_cast<size_t>(k)]) >> 3 * rest) return false;
        }
        return other.count_ <= count_;
    }
    auto operator<=>(const ContactSizes&) const = default;

private:
    static constexpr int IN_ONE = 21;  // three bits each
    std::array<uint64_t, 4> numbers_ = {};
    int count_ = 0;
};

// some trees of a model, and where their numbers are among the model's
struct Section {
    Island island;
    Dofs dofs;
    int places[MAX_DOFS], entries[MAX_INERTIA], frictions[MAX_DOFS];
    int number[MAX_DOFS];  // of each degree of freedom of the model

    Section(const Description& m, Dofs dofs) : island(m), dofs(dofs) {
        island.nv = island.num_inertia = island.num_frictions = 0;
        for (Dofs left = dofs; left; left &= left - 1) {
            const int k = __builtin_ctzll(left);
            number[k] = island.nv;
            Dof& dof = island.dofs[island.nv];
            places[island.nv++] = k;
            dof = m.dofs[k];
            dof.row_begin = island.num_inertia;
            for (int t = 0; t < dof.row_size; ++t) {
                entries[island.num_inertia] = m.dofs[k].row_begin + t;
                island.columns[island.num_inertia++] = number[m.columns[m.dofs[k].row_begin + t]];
            }
        }
        for (int r = 0; r < m.num_frictions; ++r)
            if (dofs >> m.frictions[r].dof & 1) {
                frictions[island.num_frictions] = r;
                Friction& own = island.frictions[island.num_frictions++];
                own = m.frictions[r];
                own.dof = number[own.dof];
            }
    }
    Dofs own_dofs(Dofs models) const {
        Dofs own = 0;
        for (Dofs left = models; left; left &= left - 1) own |= Dofs{1} << number[__builtin_ctzll(left)];
        return own;
    }
};

class Sections {
public:
    explicit Sections(const Description& m) : m_(m) {}
    const Section* find(Dofs dofs) {
        std::unique_ptr<Section>& found = sections_[dofs];
        if (!found) found = std::make_unique<Section>(m_, dofs);
        return found.get();
    }
    // before those that were found are used no more
    void tidy() {
        if (sections_.size() > 256) sections_.clear();
    }

private:
    const Description& m_;
    std::map<Dofs, std::unique_ptr<Section>> sections_;
};

// all degrees of freedom of the trees that a row joins
CYPOOL_LANES_INLINE Dofs trees_of(const Description& m, const Row& row) {
    Dofs trees = 0;
    for (Dofs left = row.dofs; left; left &= ~trees) trees |= m.dofs[__builtin_ctzll(left)].tree;
    return trees;
}

// Sorts the rows of a lane by island. Calls `found` with the trees of each, and its first row and number of rows.
template <class Found>
inline void find_islands(const Dofs* trees_of_rows, int* rows, int num_rows, const Found& found) {
    Dofs islands[MAX_DOFS], last = 0;
    int count = 0;
    for (int k = 0; k < num_rows; ++k) {
        Dofs trees = trees_of_rows[rows[k]];
        if (trees == last) continue;
        last = trees;
        for (int i = 0; i < count;) {
            if (!(islands[i] & trees)) {
                ++i;
                continue;
            }
            trees |= islands[i];
            islands[i] = islands[--count];
        }
        islands[count++] = trees;
    }
    int sorted[MAX_ROWS], next = 0, begins[MAX_DOFS + 1] = {};
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < num_rows; ++k)
            if (trees_of_rows[rows[k]] & islands[i]) sorted[next++] = rows[k];
        begins[i + 1] = next;
    }
    std::copy_n(sorted, num_rows, rows);
    for (int i = 0; i < count; ++i) found(islands[i], begins[i], begins[i + 1] - begins[i]);
}

// A contact as the solver has it: `dim` is that of its pair.
CYPOOL_LANES_INLINE Cone cone_of(const Description& m, const Group& d, const Contact& contact) {
    const Pair& p = m.pairs[static_cast<size_t>(contact.pair)];
    Cone c = {};
    c.dim = p.condim, c.mu = contact.mu;
    for (int j = 0; j < p.condim - 1; ++j) c.friction[j] = own_or(d, p.own + 1 + j, p.friction[j]);
    return c;
}

// The better one of qacc_warmstart and qacc_smooth, by the costs of all islands together.
inline __attribute__((noinline)) void choose_start(const Description& m, Group& d) {
    const int n = m.nv;
    Real warm = all(0), smooth = all(0);
    const Contact* contact = d.contacts;
    for (int r = 0; r < d.num_rows; ++r) {
        const Row& row = d.rows[r];
        for (; contact < d.contacts + d.num_contacts && contact->first_row < r;) ++contact;
        if (m.is_elliptic && contact < d.contacts + d.num_contacts && contact->first_row == r) {
            const Cone c = cone_of(m, d, *contact);
            if (c.dim > 1) {
                Real at_warm[MAX_CONE], at_smooth[MAX_CONE], D[MAX_CONE];
                for (int j = 0; j < c.dim; ++j) {
                    at_warm[j] = dot(d.J + (r + j) * n, d.warmstart, n) - d.rows[r + j].aref;
                    at_smooth[j] = dot(d.J + (r + j) * n, d.smooth_acc, n) - d.rows[r + j].aref;
                    D[j] = d.rows[r + j].D;
                }
                add_cone_cost(warm, c, at_warm, D);
                add_cone_cost(smooth, c, at_smooth, D);
                r += c.dim - 1;
                continue;
            }
        }
        const auto residual = [&](const Real* acc) {
            if (row.dof < 0) return dot(d.J + r * n, acc, n) - row.aref;
            return where(row.active, row.is_negative ? -acc[row.dof] : acc[row.dof]) - row.aref;
        };
        const Real at_warm = residual(d.warmstart), at_smooth = residual(d.smooth_acc);
        const int friction = r - m.num_equality_rows;
        if (friction < 0) {
            warm = warm + 0.5 * row.D * at_warm * at_warm;
            smooth = smooth + 0.5 * row.D * at_smooth * at_smooth;
        } else if (friction < m.num_frictions) {
            const Real force = own_or(d, m.own_of_friction(friction) + 1, m.frictions[friction].force);
            warm = warm + friction_cost(force, at_warm, row.R, row.D);
            smooth = smooth + friction_cost(force, at_smooth, row.R, row.D);
        } else {
            warm = warm + where(at_warm < 0.0, 0.5 * row.D * at_warm * at_warm);
            smooth = smooth + where(at_smooth < 0.0, 0.5 * row.D * at_smooth * at_smooth);
        }
    }
    Real step[MAX_DOFS], force[MAX_DOFS];
    for (int i = 0; i < n; ++i) step[i] = d.warmstart[i] - d.smooth_acc[i];
    multiply_inertia_matrix(m, force, d.M, step);
    d.is_cold = m.has_warmstart ? warm + 0.5 * dot(force, step, n) > smooth : ~none();
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
