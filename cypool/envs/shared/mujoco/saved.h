// Whether a saved mjData is safe to continue with: MuJoCo takes the indices in it as they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cypool/envs/shared/mujoco/fields.h"
#include "cypool/mujoco.h"

namespace cypool {

// the sizes of a model, by their names
struct Sizes {
    const mjModel* m;
    int64_t operator()(const char* name) const { return static_cast<int64_t>(size_of(m, name)); }
};

// The meaning of the integers of arrays of mjData, by their names; an array may be in some versions of MuJoCo only.
struct Meaning {
    enum Kind {
        ANY,       // flags, which are 0 or 1; MuJoCo does not look at others, or they are checked elsewhere
        RANGE,     // from `least` to `most`
        PARTS,     // where parts of an array with `most` numbers begin, which are as long as `sizes` says
        CONSTANT,  // as MuJoCo made them: they belong to the model
    };
    std::string_view names[17];
    Kind kind = ANY;
    int64_t least = 0;
    int64_t (*most)(const Sizes& m) = nullptr;
    std::string_view sizes = {};
};

inline int64_t one(const Sizes&) { return 1; }
inline int64_t last_body(const Sizes& m) { return m("nbody") - 1; }
inline int64_t last_dof(const Sizes& m) { return m("nv") - 1; }
inline int64_t last_geom(const Sizes& m) { return m("ngeom") - 1; }
inline int64_t num_wraps(const Sizes& m) { return 2 * m("nwrap"); }
inline int64_t num_moments(const Sizes& m) { return m("nJmom"); }
inline int64_t num_tendon_dofs(const Sizes& m) { return m("ntendon") * m("nv"); }
inline int64_t num_edge_dofs(const Sizes& m) { return m("nflexedge") * m("nv"); }

inline const Meaning MEANINGS[] = {
    {{"eq_active", "flex_hessian_valid", "bvh_active"}},
    // models with plug-ins have no states; check_sleep looks at trees, and PARTS at numbers of parts
    {{"plugin", "plugin_data", "flexvert_conage", "tree_asleep", "ten_wrapnum", "moment_rownnz", "ten_J_rownnz",
      "flexedge_J_rownnz"}},
    {{"ten_wrapadr"}, Meaning::PARTS, 0, num_wraps, "ten_wrapnum"},
    {{"wrap_obj"}, Meaning::RANGE, -2, last_geom},
    {{"moment_rowadr"}, Meaning::PARTS, 0, num_moments, "moment_rownnz"},
    {{"tree_awake"}, Meaning::RANGE, 0, one},
    {{"body_awake"}, Meaning::RANGE, -1, one},
    {{"body_awake_ind", "parent_awake_ind"}, Meaning::RANGE, 0, last_body},
    // MuJoCo before 3.6: sparse matrices, the last two and the next two
    {{"moment_colind", "dof_awake_ind", "ten_J_colind", "flexedge_J_colind"}, Meaning::RANGE, 0, last_dof},
    {{"ten_J_rowadr"}, Meaning::PARTS, 0, num_tendon_dofs, "ten_J_rownnz"},
    {{"flexedge_J_rowadr"}, Meaning::PARTS, 0, num_edge_dofs, "flexedge_J_rownnz"},
    // MuJoCo before 3.3.6: where the numbers of matrices are
    {{"B_rownnz", "B_rowadr", "B_colind", "C_rownnz", "C_rowadr", "C_colind", "D_rownnz", "D_rowadr", "D_diag",
      "D_colind", "M_rownnz", "M_rowadr", "M_colind", "mapM2C", "mapM2D", "mapD2M", "mapM2M"},
     Meaning::CONSTANT},
};

inline const Meaning* meaning_of(std::string_view name) {
    for (const Meaning& each : MEANINGS)
        if (std::ranges::find(each.names, name) != std::end(each.names)) return &each;
    return nullptr;
}

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

inline void check_array(const Saved& saved, const Sizes& sizes_of, const Meaning& meaning, const ArrayField& field,
                        const char* array, int64_t count, const int* sizes) {
    const char* const name = field.name.c_str();
    const int64_t most = meaning.most ? meaning.most(sizes_of) : 0;
    if (meaning.kind == Meaning::CONSTANT && !saved.is_as_now(array, count * field.item_bytes))
        refuse(name, "the model's values");
    for (int64_t k = 0; k < count; ++k) {
        if (field.item_bytes == 1) {
            if (saved.get(reinterpret_cast<const unsigned char*>(array), k) > 1) refuse(name, "0 or 1");
        } else if (field.type == 'i') {
            const int64_t value = saved.get(reinterpret_cast<const int*>(array), k);
            if (meaning.kind == Meaning::RANGE && (value < meaning.least || value > most))
                refuse(name, std::to_string(meaning.least) + " to " + std::to_string(most) + ", got "
                                 + std::to_string(value));
            if (meaning.kind == Meaning::PARTS
                && (value < 0 || saved.get(sizes, k) < 0 || value + saved.get(sizes, k) > most))
                refuse(name, "parts of an array of size " + std::to_string(most));
        }
    }
}

// how many are awake, which mjData has outside its buffer; no body sleeps before MuJoCo 3.4
struct Awake {
    int64_t trees = 0, bodies = 0, parents = 0, dofs = 0;
};

inline Awake get_awake(const mjData* d) {
    const Library& l = library();
    if (l.ntree_awake.offset < 0) return {};
    return {at<int>(d->raw, l.ntree_awake), at<int>(d->raw, l.nbody_awake), at<int>(d->raw, l.nparent_awake),
            at<int>(d->raw, l.nv_awake)};
}
inline void set_awake(mjData* d, const Awake& awake) {
    const Library& l = library();
    if (l.ntree_awake.offset < 0) return;
    at<int>(d->raw, l.ntree_awake) = static_cast<int>(awake.trees);
    at<int>(d->raw, l.nbody_awake) = static_cast<int>(awake.bodies);
    at<int>(d->raw, l.nparent_awake) = static_cast<int>(awake.parents);
    at<int>(d->raw, l.nv_awake) = static_cast<int>(awake.dofs);
}

// trees that sleep together are a cycle: each follows one other
inline void check_sleep(const Saved& saved, const mjModel* m, const mjData* d) {
    const Library& l = library();
    if (l.tree_asleep.offset < 0) return;
    const int* const asleep = at<int*>(d->raw, l.tree_asleep);
    const int64_t last = m->opt.enableflags & l.mjENBL_SLEEP ? m->ntree - 1 : -1;
    std::vector<bool> followed(static_cast<size_t>(m->ntree));
    for (int64_t k = 0; k < m->ntree; ++k) {
        const int next = saved.get(asleep, k);
        if (next > last) refuse("tree_asleep", "at most " + std::to_string(last) + ", got " + std::to_string(next));
        if (next < 0) continue;
        if (followed[static_cast<size_t>(next)] || saved.get(asleep, next) < 0) refuse("tree_asleep", "cycles");
        followed[static_cast<size_t>(next)] = true;
    }
}

// an array of a model or its data; nullptr: this version has none
template <class T, class Raw>
const T* array_of(const Raw* raw, const std::vector<ArrayField>& table, std::string_view name) {
    for (const ArrayField& each : table)
        if (each.name == name) return at<const T*>(raw, {each.offset, 0});
    return nullptr;
}

// a ring of `size` samples begins with a number of the user's and the index of its newest sample, as a double
inline void check_ring(const Saved& saved, const mjtNum* history, int64_t at, int size) {
    if (size <= 0 || at < 0) return;
    const mjtNum newest = saved.get(history, at + 1);
    // so is NaN
    if (!(newest >= 0 && newest < size)) refuse("history", "an index");
}

// of actuators and sensors, since MuJoCo 3.5
inline void check_history(const Saved& saved, const mjModel* m, const mjData* d) {
    const Library& l = library();
    if (l.history.offset < 0) return;
    const mjtNum* const history = at<mjtNum*>(d->raw, l.history);
    for (const std::string kind : {"actuator", "sensor"}) {
        const int* const places = array_of<int>(m->raw, l.model, kind + "_historyadr");
        const int* const sizes = array_of<int>(m->raw, l.model, kind + "_history");
        // an actuator has several controls since 3.11
        const bool has_count = l.size("n" + kind) != nullptr;
        const int64_t count = has_count ? static_cast<int64_t>(size_of(m, "n" + kind)) : m->nu;
        for (int64_t k = 0; k < count; ++k) check_ring(saved, history, places[k], sizes[2 * k]);
    }
}

// Throws if an index in the buffer is invalid, also in data that MuJoCo computes again before it reads it.
inline void check_saved(const mjModel* m, const mjData* d, const char* buffer) {
    const Saved saved(d, buffer);
    const Library& l = library();
    for (const ArrayField& each : l.data) {
        if (each.type == 'd') continue;
        const Meaning* const meaning = meaning_of(each.name);
        if (!meaning) refuse(each.name.c_str(), "an array that cypool knows; this MuJoCo is too new");
        check_array(saved, Sizes{m}, *meaning, each, at<const char*>(d->raw, {each.offset, 0}),
                    static_cast<int64_t>(rows_of(m, each) * columns_of(m, each)),
                    array_of<int>(d->raw, l.data, meaning->sizes));
    }
    check_sleep(saved, m, d);
    check_history(saved, m, d);
}

}  // namespace cypool
