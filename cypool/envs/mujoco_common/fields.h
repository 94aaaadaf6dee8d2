// Fields of a MuJoCo model by their names, and a model that has some of its own and shares the others.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include <mujoco/mjxmacro.h>

#include "cypool/envs/mujoco_common/guard.h"

namespace cypool {

// an array of a model, or an option
struct Field {
    std::string name;
    size_t offset = 0;  // of the pointer in mjModel; of the numbers themselves if it is an option
    size_t rows = 0, columns = 0;
    size_t item_bytes = 0;
    bool is_double = false, is_float = false;  // else it is nothing to compute with
    bool is_option = false;
    bool is_source = false;   // mj_setConst has to be called after a change
    bool is_derived = false;  // mj_setConst writes it
};

// a number of rows or columns: fixed, or one of the sizes of a model, or a multiple of that
struct Count {
    using Size = decltype(mjModel::nq);  // int, before MuJoCo 3.9

    constexpr Count(size_t fixed) : factor(fixed) {}
    constexpr Count(Size mjModel::* size, size_t times = 1) : factor(times), size(size) {}
    constexpr Count operator*(size_t times) const { return Count(size, factor * times); }
    size_t in(const mjModel* m) const { return size ? factor * static_cast<size_t>(m->*size) : factor; }

    size_t factor;
    Size mjModel::* size = nullptr;
};

#ifdef MJSETCONST_ARRAYS
enum : bool { DERIVED_IS_KNOWN = true };

// Notes what mj_setConst does with a field, as the header says: a source is what the first group that uses it reads.
inline void relate(Field& field) {
    static constexpr struct {
        std::string_view name;
        int uses[4];  // by the groups of mj_setConst
    } arrays[] = {
#define X(array, ...) {#array, {__VA_ARGS__}},
        MJSETCONST_ARRAYS
#undef X
    };
    for (const auto& array : arrays) {
        if (field.name != array.name) continue;
        for (const int use : array.uses) {
            field.is_source |= (use & mjSC_IN) && !field.is_derived;
            field.is_derived |= (use & mjSC_OUT) != 0;
        }
    }
}
#else
enum : bool { DERIVED_IS_KNOWN = false };

// Before MuJoCo 3.17, headers do not say what mj_setConst does: it may read any array, and write any that is no data of
// a shape.
inline void relate(Field& field) {
    bool is_shape = false;
    for (const char* const kind : {"mesh_", "skin_", "hfield_", "tex_"}) is_shape |= field.name.starts_with(kind);
    field.is_source = field.is_derived = !field.is_option && !is_shape;
}
#endif

#undef MJ_M
#define MJ_M(n) Count(&mjModel::n)

inline std::vector<Field> fields_of(const mjModel* m) {
    // tables of constants: code that makes hundreds of fields one by one takes seconds to compile
    static constexpr struct {
        const char* name;
        size_t offset;
        Count rows, columns;
        size_t item_bytes;
        bool is_double, is_float, is_option;
    } fields[] = {
#define X(type, name, nr, nc)      \
    {#name,                        \
     offsetof(mjModel, name),      \
     &mjModel::nr,                 \
     nc,                           \
     sizeof(type),                 \
     std::is_same_v<type, mjtNum>, \
     std::is_same_v<type, float>,  \
     false},
        MJMODEL_POINTERS
#undef X
#define XVEC(type, name, n)                             \
    {"opt." #name,                                      \
     offsetof(mjModel, opt) + offsetof(mjOption, name), \
     1,                                                 \
     n,                                                 \
     sizeof(type),                                      \
     std::is_same_v<type, mjtNum>,                      \
     false,                                             \
     true},
#ifdef MJOPTION_FIELDS
#define X(type, name, n) XVEC(type, name, n)
            MJOPTION_FIELDS
#undef X
#else  // MuJoCo before 3.6
#define X(type, name) XVEC(type, name, 1)
            MJOPTION_SCALARS
#undef X
#define X(name, n) XVEC(mjtNum, name, n)
                MJOPTION_VECTORS
#undef X
#endif
#undef XVEC
    };
    std::vector<Field> found;
    for (const auto& row : fields) {
        Field field{row.name,       row.offset,    row.rows.in(m), row.columns.in(m),
                    row.item_bytes, row.is_double, row.is_float,   row.is_option};
        relate(field);
        found.push_back(std::move(field));
    }
    return found;
}

class VariedModel {
public:
    explicit VariedModel(const mjModel* base) : base_(base), view_(*base) {}

    const mjModel* view() const { return &view_; }
    mjModel* edit() { return &view_; }

    // The real numbers of its own, one array behind the other. Integers are what MuJoCo makes of them: those of a state
    // could lead anywhere.
    std::string contents() const {
        std::string all;
        for (const Own& each : own_)
            if (each.is_real()) all.append(each.bytes.get(), each.size);
        return all;
    }
    // Takes them back; false if it is not their size, or if some numbers are not finite.
    bool set_contents(const std::string& all) {
        size_t size = 0, at = 0;
        for (const Own& each : own_) size += each.is_real() ? each.size : 0;
        if (size != all.size()) return false;
        for (const Own& each : own_) {
            if (!each.is_real()) continue;
            if (each.is_double && !all_finite<double>(all.data() + at, each.size)) return false;
            if (each.is_float && !all_finite<float>(all.data() + at, each.size)) return false;
            at += each.size;
        }
        at = 0;
        for (const Own& each : own_) {
            if (!each.is_real()) continue;
            std::memcpy(each.bytes.get(), all.data() + at, each.size);
            at += each.size;
        }
        return true;
    }

    // Takes the arrays over from another model with the same ones.
    void copy_contents(const VariedModel& other) {
        for (size_t k = 0; k < own_.size(); ++k)
            std::memcpy(own_[k].bytes.get(), other.own_[k].bytes.get(), own_[k].size);
    }

    // Gives this model an array of its own.
    void own(const Field& field) {
        if (field.is_option) return;
        for (const Own& each : own_)
            if (each.offset == field.offset) return;
        Own mine{field.offset, field.rows * field.columns * field.item_bytes, field.is_double, field.is_float, nullptr};
        mine.bytes.reset(new char[mine.size]);
        at(view_, mine.offset) = mine.bytes.get();
        own_.push_back(std::move(mine));
    }

    // Makes all as in the shared model.
    void restore() {
        mjModel fresh = *base_;
        for (const Own& each : own_) {
            std::memcpy(each.bytes.get(), at(*base_, each.offset), each.size);
            at(fresh, each.offset) = each.bytes.get();
        }
        view_ = fresh;
    }

    double get(const Field& field, size_t k) const {
        const char* place = numbers(*base_, field) + k * field.item_bytes;
        return field.is_double ? *reinterpret_cast<const double*>(place) : *reinterpret_cast<const float*>(place);
    }

    void set(const Field& field, size_t k, double value) {
        char* place = const_cast<char*>(numbers(view_, field)) + k * field.item_bytes;
        if (field.is_double)
            *reinterpret_cast<double*>(place) = value;
        else
            *reinterpret_cast<float*>(place) = static_cast<float>(value);
    }

    void derive(mjData* d) {
        warned(&view_, d, [=, this] { mj_setConst(&view_, d); });
    }

private:
    struct Own {
        size_t offset, size;
        bool is_double, is_float;
        std::unique_ptr<char[]> bytes;

        bool is_real() const { return is_double || is_float; }
    };

    template <class T> static bool all_finite(const char* bytes, size_t size) {
        for (size_t at = 0; at < size; at += sizeof(T)) {
            T number;
            std::memcpy(&number, bytes + at, sizeof number);
            if (!std::isfinite(number)) return false;
        }
        return true;
    }

    static void*& at(mjModel& m, size_t offset) {
        return *reinterpret_cast<void**>(reinterpret_cast<char*>(&m) + offset);
    }
    static const void* at(const mjModel& m, size_t offset) {
        return *reinterpret_cast<void* const*>(reinterpret_cast<const char*>(&m) + offset);
    }
    static const char* numbers(const mjModel& m, const Field& field) {
        if (field.is_option) return reinterpret_cast<const char*>(&m) + field.offset;
        return static_cast<const char*>(at(m, field.offset));
    }

    const mjModel* base_;
    mjModel view_;
    std::vector<Own> own_;
};

}  // namespace cypool
