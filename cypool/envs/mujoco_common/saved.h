// Whether a saved mjData is safe to continue with: MuJoCo takes the indices in it as they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <mujoco/mujoco.h>
#include <mujoco/mjxmacro.h>

namespace cypool {

// What the integers of an array of mjData are, by its name; an array may be in some versions of MuJoCo only.
struct Meaning {
    enum Kind {
        ANY,       // MuJoCo does not look at them, or they are checked elsewhere
        FLAGS,     // 0 or 1
        RANGE,     // from `least` to `most`
        PARTS,     // where parts of an array with `most` numbers begin, which are as long as `sizes` says
        CONSTANT,  // as MuJoCo made them: they belong to the model
    };
    std::string_view name;
    Kind kind = ANY;
    int64_t least = 0;
    int64_t (*most)(const mjModel* m) = nullptr;
    std::string_view sizes = {};
};

inline constexpr Meaning MEANINGS[] = {
    {"eq_active", Meaning::FLAGS},
    {"flex_hessian_valid", Meaning::FLAGS},
    {"bvh_active", Meaning::FLAGS},
    {"ten_wrapadr", Meaning::PARTS, 0, [](const mjModel* m) -> int64_t { return 2 * m->nwrap; }, "ten_wrapnum"},
    {"ten_wrapnum"},
    {"wrap_obj", Meaning::RANGE, -2, [](const mjModel* m) -> int64_t { return m->ngeom - 1; }},
    {"moment_rowadr", Meaning::PARTS, 0, [](const mjModel* m) -> int64_t { return m->nJmom; }, "moment_rownnz"},
    {"moment_rownnz"},
    {"moment_colind", Meaning::RANGE, 0, [](const mjModel* m) -> int64_t { return m->nv - 1; }},
    {"tree_awake", Meaning::RANGE, 0, [](const mjModel*) -> int64_t { return 1; }},
    {"body_awake", Meaning::RANGE, -1, [](const mjModel*) -> int64_t { return 1; }},
    {"body_awake_ind", Meaning::RANGE, 0, [](const mjModel* m) -> int64_t { return m->nbody - 1; }},
    {"parent_awake_ind", Meaning::RANGE, 0, [](const mjModel* m) -> int64_t { return m->nbody - 1; }},
    {"dof_awake_ind", Meaning::RANGE, 0, [](const mjModel* m) -> int64_t { return m->nv - 1; }},
    {"tree_asleep"},  // check_sleep
    {"plugin"},       // models with plug-ins have no states
    {"plugin_data"},
    {"flexvert_conage"},
    // MuJoCo before 3.6: sparse matrices
    {"ten_J_rowadr", Meaning::PARTS, 0,
     [](const mjModel* m) -> int64_t { return static_cast<int64_t>(m->ntendon) * m->nv; }, "ten_J_rownnz"},
    {"ten_J_rownnz"},
    {"ten_J_colind", Meaning::RANGE, 0, [](const mjModel* m) -> int64_t { return m->nv - 1; }},
    {"flexedge_J_rowadr", Meaning::PARTS, 0,
     [](const mjModel* m) -> int64_t { return static_cast<int64_t>(m->nflexedge) * m->nv; }, "flexedge_J_rownnz"},
    {"flexedge_J_rownnz"},
    {"flexedge_J_colind", Meaning::RANGE, 0, [](const mjModel* m) -> int64_t { return m->nv - 1; }},
    // MuJoCo before 3.3.6: where the numbers of matrices are
    {"B_rownnz", Meaning::CONSTANT},
    {"B_rowadr", Meaning::CONSTANT},
    {"B_colind", Meaning::CONSTANT},
    {"C_rownnz", Meaning::CONSTANT},
    {"C_rowadr", Meaning::CONSTANT},
    {"C_colind", Meaning::CONSTANT},
    {"D_rownnz", Meaning::CONSTANT},
    {"D_rowadr", Meaning::CONSTANT},
    {"D_diag", Meaning::CONSTANT},
    {"D_colind", Meaning::CONSTANT},
    {"M_rownnz", Meaning::CONSTANT},
    {"M_rowadr", Meaning::CONSTANT},
    {"M_colind", Meaning::CONSTANT},
    {"mapM2C", Meaning::CONSTANT},
    {"mapM2D", Meaning::CONSTANT},
    {"mapD2M", Meaning::CONSTANT},
    {"mapM2M", Meaning::CONSTANT},
};

constexpr const Meaning* meaning_of(std::string_view name) {
    for (const Meaning& each : MEANINGS)
        if (each.name == name) return &each;
    return nullptr;
}

// With UBSan, gcc does not compare addresses in a constant expression.
constexpr bool has_meaning(std::string_view name) {
    for (const Meaning& each : MEANINGS)
        if (each.name == name) return true;
    return false;
}

#define X(type, name, nr, nc)                                         \
    static_assert(std::is_same_v<type, mjtNum> || has_meaning(#name), \
                  "saved.h: expected a meaning of the integers " #name);
MJDATA_POINTERS
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
        std::memcpy(&value, buffer_ + offset(array + k), sizeof value);
        return value;
    }
    // whether an array is as it is in the data now
    template <class T> bool is_as_now(const T* array, int64_t count) const {
        return !std::memcmp(array, buffer_ + offset(array), static_cast<size_t>(count) * sizeof(T));
    }

private:
    size_t offset(const void* place) const { return static_cast<size_t>(static_cast<const char*>(place) - layout_); }

    const char* layout_;
    const char* buffer_;
};

[[noreturn]] inline void refuse(const char* name, const std::string& expected) {
    throw std::invalid_argument(std::string("state: ") + name + ": expected " + expected);
}

// Where the integers of an array begin; nullptr: it has none.
template <class T> const int* integers(const T* array) {
    if constexpr (std::is_same_v<T, int>) return array;
    return nullptr;
}

template <class T>
void check_array(const Saved& saved, const mjModel* m, const char* name, const T* array, int64_t count,
                 const int* sizes) {
    const Meaning& meaning = *meaning_of(name);
    const int64_t most = meaning.most ? meaning.most(m) : 0;
    if (meaning.kind == Meaning::CONSTANT && !saved.is_as_now(array, count)) refuse(name, "those of the model");
    for (int64_t k = 0; k < count; ++k) {
        if constexpr (sizeof(T) == 1) {
            if (saved.get(reinterpret_cast<const unsigned char*>(array), k) > 1) refuse(name, "0 or 1");
        } else if constexpr (std::is_same_v<T, int>) {
            const int64_t value = saved.get(array, k);
            if (meaning.kind == Meaning::RANGE && (value < meaning.least || value > most))
                refuse(name, std::to_string(meaning.least) + " to " + std::to_string(most) + ", got "
                                 + std::to_string(value));
            if (meaning.kind == Meaning::PARTS
                && (value < 0 || saved.get(sizes, k) < 0 || value + saved.get(sizes, k) > most))
                refuse(name, "parts of an array of " + std::to_string(most));
        }
    }
}

// how many are awake, which mjData has outside its buffer; nobody sleeps before MuJoCo 3.4
struct Awake {
    int64_t trees = 0, bodies = 0, parents = 0, dofs = 0;
};

#if mjVERSION_HEADER >= 340
inline Awake get_awake(const mjData* d) { return {d->ntree_awake, d->nbody_awake, d->nparent_awake, d->nv_awake}; }
inline void set_awake(mjData* d, const Awake& awake) {
    d->ntree_awake = static_cast<int>(awake.trees), d->nbody_awake = static_cast<int>(awake.bodies);
    d->nparent_awake = static_cast<int>(awake.parents), d->nv_awake = static_cast<int>(awake.dofs);
}

// trees that sleep together are a cycle: each follows one other
inline void check_sleep(const Saved& saved, const mjModel* m, const mjData* d) {
    const int64_t last = m->opt.enableflags & mjENBL_SLEEP ? m->ntree - 1 : -1;
    std::vector<bool> followed(static_cast<size_t>(m->ntree));
    for (int64_t k = 0; k < m->ntree; ++k) {
        const int next = saved.get(d->tree_asleep, k);
        if (next > last) refuse("tree_asleep", "at most " + std::to_string(last) + ", got " + std::to_string(next));
        if (next < 0) continue;
        if (followed[static_cast<size_t>(next)] || saved.get(d->tree_asleep, next) < 0) refuse("tree_asleep", "cycles");
        followed[static_cast<size_t>(next)] = true;
    }
}
#else
inline Awake get_awake(const mjData*) { return {}; }
inline void set_awake(mjData*, const Awake&) {}
inline void check_sleep(const Saved&, const mjModel*, const mjData*) {}
#endif

#if mjVERSION_HEADER >= 3005000
// a ring of `size` samples begins with a number of the user's and the index of its newest sample, as a double
inline void check_ring(const Saved& saved, const mjtNum* history, int64_t at, int size) {
    if (size <= 0 || at < 0) return;
    const mjtNum newest = saved.get(history, at + 1);
    // so is NaN
    if (!(newest >= 0 && newest < size)) refuse("history", "an index");
}

inline void check_history(const Saved& saved, const mjModel* m, const mjData* d) {
#if mjVERSION_HEADER >= 3011000
    const int64_t actuators = m->nactuator;
#else
    const int64_t actuators = m->nu;
#endif
    for (int64_t k = 0; k < actuators; ++k)
        check_ring(saved, d->history, m->actuator_historyadr[k], m->actuator_history[2 * k]);
    for (int64_t k = 0; k < m->nsensor; ++k)
        check_ring(saved, d->history, m->sensor_historyadr[k], m->sensor_history[2 * k]);
}
#else
inline void check_history(const Saved&, const mjModel*, const mjData*) {}
#endif

// Throws if an index in the buffer is invalid, also in data that MuJoCo computes again before it reads it.
inline void check_saved(const mjModel* m, const mjData* d, const char* buffer) {
    const Saved saved(d, buffer);
    const auto find = [d](std::string_view wanted) {
        const int* found = nullptr;
#define X(type, name, nr, nc) \
    if (wanted == #name) found = integers(d->name);
        MJDATA_POINTERS
#undef X
        return found;
    };
#pragma push_macro("MJ_M")
#undef MJ_M
#define MJ_M(n) m->n
#define X(type, name, nr, nc)                    \
    if constexpr (!std::is_same_v<type, mjtNum>) \
        check_array(saved, m, #name, d->name, static_cast<int64_t>(m->nr * (nc)), find(meaning_of(#name)->sizes));
    MJDATA_POINTERS
#undef X
#pragma pop_macro("MJ_M")
    check_sleep(saved, m, d);
    check_history(saved, m, d);
}

}  // namespace cypool
