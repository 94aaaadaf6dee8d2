// Fields of a MuJoCo model by their names, and a model that owns some and shares the others.
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

#include "cypool/envs/shared/mujoco/guard.h"

namespace cypool {

// an array of a model, or an option
struct Field {
    std::string name;
    size_t offset = 0;  // of the pointer in MuJoCo's mjModel; of the numbers themselves if it is an option
    size_t rows = 0, columns = 0;
    size_t item_bytes = 0;
    bool is_double = false, is_float = false;  // else it is nothing to compute with
    bool is_option = false;
    bool is_source = false;   // mj_setConst has to be called after a change
    bool is_derived = false;  // mj_setConst writes it
};

// False: MuJoCo may write more than it has to.
inline bool derived_is_known() { return library().derived_is_known; }

// a size of a model, by its name
inline size_t size_of(const mjModel* m, const std::string& name) {
    const Place* const place = library().size(name);
    return place ? static_cast<size_t>(integer_at(m->raw, *place)) : 0;
}

// rows and columns of an array
inline size_t rows_of(const mjModel* m, const ArrayField& array) {
    return array.rows.empty() ? 1 : size_of(m, array.rows);
}
inline size_t columns_of(const mjModel* m, const ArrayField& array) {
    return static_cast<size_t>(array.factor) * (array.columns.empty() ? 1 : size_of(m, array.columns));
}

inline std::vector<Field> fields_of(const mjModel* m) {
    std::vector<Field> found;
    for (const ArrayField& each : library().model)
        found.push_back({each.name, static_cast<size_t>(each.offset), rows_of(m, each), columns_of(m, each),
                         static_cast<size_t>(each.item_bytes), each.type == 'd', each.type == 'f', each.is_option,
                         each.is_source, each.is_derived});
    return found;
}

class VariedModel {
public:
    explicit VariedModel(const mjModel* base) : base_(base), struct_(base), view_(struct_.get()) {}

    const mjModel* view() const { return &view_; }
    mjModel* edit() { return &view_; }

    // The model's own real numbers, one array behind the other. Integers stay as MuJoCo made them: those of a state
    // could lead anywhere.
    std::string contents() const {
        std::string all;
        for_real([&](const Own& each, size_t) { all.append(each.bytes.get(), each.size); });
        return all;
    }
    // Whether these are its contents; then they are.
    bool has_contents(std::string& all) const {
        bool is_same = true;
        for_real([&](const Own& each, size_t at) {
            if (all.size() < at + each.size) all.resize(at + each.size), is_same = false;
            is_same &= !std::memcmp(all.data() + at, each.bytes.get(), each.size);
            std::memcpy(all.data() + at, each.bytes.get(), each.size);
        });
        return is_same;
    }
    // Takes them back; false if it is not their size, or if some numbers are not finite.
    bool set_contents(const std::string& all) {
        if (for_real([](const Own&, size_t) {}) != all.size()) return false;
        bool finite = true;
        for_real([&](const Own& each, size_t at) {
            const char* const numbers = all.data() + at;
            finite &= each.is_double ? all_finite<double>(numbers, each.size) : all_finite<float>(numbers, each.size);
        });
        if (!finite) return false;
        for_real([&](const Own& each, size_t at) { std::memcpy(each.bytes.get(), all.data() + at, each.size); });
        return true;
    }

    // Takes the arrays over from another model with the same ones.
    void copy_contents(const VariedModel& other) {
        for (size_t k = 0; k < own_.size(); ++k)
            std::memcpy(own_[k].bytes.get(), other.own_[k].bytes.get(), own_[k].size);
    }

    // Gives this model a separate array.
    void own(const Field& field) {
        if (field.is_option) return;
        for (const Own& each : own_)
            if (each.offset == field.offset) return;
        Own mine{field.offset, field.rows * field.columns * field.item_bytes, field.is_double, field.is_float, nullptr};
        mine.bytes.reset(new char[mine.size]);
        at(view_, mine.offset) = mine.bytes.get();
        own_.push_back(std::move(mine));
        view_.look();
    }

    // Makes all as in the shared model.
    void restore() {
        struct_.copy(base_);
        for (const Own& each : own_) {
            std::memcpy(each.bytes.get(), at(*base_, each.offset), each.size);
            at(view_, each.offset) = each.bytes.get();
        }
    }

    double get(const Field& field, size_t k) const {
        const char* place = numbers(*base_, field) + k * field.item_bytes;
        return field.is_double ? *reinterpret_cast<const double*>(place) : *reinterpret_cast<const float*>(place);
    }

    void set(const Field& field, size_t k, double value) {
        char* place = numbers(view_, field) + k * field.item_bytes;
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
    };

    // Calls a function with each array of real numbers and where it begins in the contents, whose size it returns.
    template <class Use> size_t for_real(const Use& use) const {
        size_t at = 0;
        for (const Own& each : own_) {
            if (!each.is_double && !each.is_float) continue;
            use(each, at);
            at += each.size;
        }
        return at;
    }

    template <class T> static bool all_finite(const char* bytes, size_t size) {
        for (size_t at = 0; at < size; at += sizeof(T)) {
            T number;
            std::memcpy(&number, bytes + at, sizeof number);
            if (!std::isfinite(number)) return false;
        }
        return true;
    }

    static char*& at(const mjModel& m, size_t offset) {
        return cypool::at<char*>(m.raw, {static_cast<int64_t>(offset), sizeof(char*)});
    }
    static char* numbers(const mjModel& m, const Field& field) {
        if (field.is_option) return reinterpret_cast<char*>(m.raw) + field.offset;
        return at(m, field.offset);
    }

    const mjModel* base_;
    ModelStruct struct_;
    mjModel view_;  // of it
    std::vector<Own> own_;
};

}  // namespace cypool
