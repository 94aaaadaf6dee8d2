// Whether a saved mjData is safe to continue with: MuJoCo takes the indices in it as they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <mujoco/mujoco.h>
#include <mujoco/mjxmacro.h>

namespace cypool {

// a MuJoCo with another one has another index to be checked below
#define X(type, name, nr, nc) +!std::is_same_v<type, mjtNum>
static_assert((0 MJDATA_POINTERS) == 18, "saved.h: expected mjData with 18 arrays of integers");
#undef X

// The arrays of mjData as they lie in other memory of the same layout.
class Saved {
public:
    Saved(const mjData* layout, const char* buffer)
        : layout_(static_cast<const char*>(layout->buffer)),
          buffer_(buffer) {}

    // bytes of the buffer need not be aligned
    template <class T> T get(const T* array, int64_t k) const {
        T value;
        std::memcpy(&value, buffer_ + (reinterpret_cast<const char*>(array + k) - layout_), sizeof value);
        return value;
    }

    // all of them in [least, most]
    void check(const char* name, const int* array, int64_t count, int64_t least, int64_t most) const {
        for (int64_t k = 0; k < count; ++k) {
            const int value = get(array, k);
            if (value < least || value > most) {
                throw std::invalid_argument(std::string("state: ") + name + ": expected " + std::to_string(least)
                                            + " to " + std::to_string(most) + ", got " + std::to_string(value));
            }
        }
    }
    void check(const char* name, const mjtBool* array, int64_t count) const {
        for (int64_t k = 0; k < count; ++k) {
            if (get(reinterpret_cast<const unsigned char*>(array), k) > 1)
                throw std::invalid_argument(std::string("state: ") + name + ": expected 0 or 1");
        }
    }
    // each a part of a longer array
    void check_parts(const char* name, const int* start, const int* size, int64_t count, int64_t total) const {
        for (int64_t k = 0; k < count; ++k) {
            const int64_t first = get(start, k), n = get(size, k);
            if (first < 0 || n < 0 || first + n > total)
                throw std::invalid_argument(std::string("state: ") + name + ": expected parts of an array of "
                                            + std::to_string(total));
        }
    }
    // a ring of `size` samples begins with a number of the user's and the index of its newest sample, as a double
    void check_ring(const mjtNum* history, int64_t at, int size) const {
        if (size <= 0 || at < 0) return;
        const mjtNum newest = get(history, at + 1);
        // so is NaN
        if (!(newest >= 0 && newest < size)) throw std::invalid_argument("state: history: expected an index");
    }

private:
    const char* layout_;
    const char* buffer_;
};

// Throws if an index in the buffer is invalid, also in data that MuJoCo computes again before it reads it.
inline void check_saved(const mjModel* m, const mjData* d, const char* buffer) {
    const Saved saved(d, buffer);
    saved.check("eq_active", d->eq_active, m->neq);
    saved.check("flex_hessian_valid", d->flex_hessian_valid, m->nflex);
    saved.check("bvh_active", d->bvh_active, m->nbvh);
    saved.check_parts("ten_wrapadr", d->ten_wrapadr, d->ten_wrapnum, m->ntendon, 2 * m->nwrap);
    saved.check("wrap_obj", d->wrap_obj, 2 * m->nwrap, -2, m->ngeom - 1);
    saved.check_parts("moment_rowadr", d->moment_rowadr, d->moment_rownnz, m->nout, m->nJmom);
    saved.check("moment_colind", d->moment_colind, m->nJmom, 0, m->nv - 1);
    saved.check("tree_awake", d->tree_awake, m->ntree, 0, 1);
    saved.check("body_awake", d->body_awake, m->nbody, -1, 1);
    saved.check("body_awake_ind", d->body_awake_ind, m->nbody, 0, m->nbody - 1);
    saved.check("parent_awake_ind", d->parent_awake_ind, m->nbody, 0, m->nbody - 1);
    saved.check("dof_awake_ind", d->dof_awake_ind, m->nv, 0, m->nv - 1);
    // trees that sleep together are a cycle: each follows one other
    const bool may_sleep = m->opt.enableflags & mjENBL_SLEEP;
    saved.check("tree_asleep", d->tree_asleep, m->ntree, -2147483647 - 1, may_sleep ? m->ntree - 1 : -1);
    std::vector<bool> followed(static_cast<size_t>(m->ntree));
    for (int64_t k = 0; k < m->ntree; ++k) {
        const int next = saved.get(d->tree_asleep, k);
        if (next < 0) continue;
        if (followed[static_cast<size_t>(next)] || saved.get(d->tree_asleep, next) < 0)
            throw std::invalid_argument("state: tree_asleep: expected cycles");
        followed[static_cast<size_t>(next)] = true;
    }
    for (int64_t k = 0; k < m->nactuator; ++k)
        saved.check_ring(d->history, m->actuator_historyadr[k], m->actuator_history[2 * k]);
    for (int64_t k = 0; k < m->nsensor; ++k)
        saved.check_ring(d->history, m->sensor_historyadr[k], m->sensor_history[2 * k]);
}

}  // namespace cypool
