// The state of an environment as bytes. A family visits its fields once, in `exchange`, each with a name and a range;
// archives save, load and list them. `validate` checks conditions that ranges cannot say:
//
//     bool ready() const;        // false: only this flag is saved, as before the first reset
//     template <class Archive> void exchange(Archive& archive) {
//         archive("speed", speed, -10, 10);
//         archive.all("lives", lives, 0, 3);  // an array; `item` visits one of its numbers
//         archive.each("players", players, [&](Player& player) { archive("y", player.y, 0, height - 1); });
//         archive.list("balls", balls, 0, 20, [&](Ball& ball) { archive("x", ball.x, 0, width - 1); });
//         if constexpr (Archive::LOADS) ready_ = true;  // and recompute what is not saved; elsewhere, change nothing
//     }
//     void validate() const;     // calls refuse_state
//     std::unique_ptr<T> fresh() const;  // another one with the same options, not ready
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cypool {

// One number of a saved state.
struct StateField {
    std::string path;  // "balls[2].x"
    char format;       // its type, as Python's module `struct` calls it
    size_t offset;     // in the bytes
    double low, high;
};

[[noreturn]] inline void refuse_state(const std::string& path, const std::string& expected, const std::string& got) {
    throw std::invalid_argument("state: " + path + ": expected " + expected + ", got " + got);
}

inline std::string name_of_item(const char* name, size_t index) {
    return std::string(name) + "[" + std::to_string(index) + "]";
}

inline std::string text_of(std::integral auto number) { return std::to_string(number); }
inline std::string text_of(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", number);
    return text;
}

// How an enumerator or a bool is saved.
template <class T> struct Stored : std::underlying_type<T> {};
template <> struct Stored<bool> {
    using type = uint8_t;
};

// The common part of all archives; Self: `LOADS`, `NAMES` (whether it looks at paths), and `number`.
template <class Self> class StateArchive {
public:
    // ranges are compared in these types
    template <class T> using Bound = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

    // a number, an enumerator or a bool
    template <class T> void operator()(const char* name, T& value, Bound<T> low, Bound<T> high) {
        field(name, NONE, value, low, high);
    }
    void operator()(const char* name, bool& value) { field(name, NONE, value, 0, 1); }
    // one of several numbers
    template <class T> void item(const char* name, size_t index, T& value, Bound<T> low, Bound<T> high) {
        field(name, index, value, low, high);
    }
    // a fixed number of numbers
    template <class Numbers, class L, class H> void all(const char* name, Numbers& numbers, L low, H high) {
        size_t k = 0;
        for (auto& value : numbers) {
            using B = Bound<std::remove_reference_t<decltype(value)>>;
            field(name, k++, value, static_cast<B>(low), static_cast<B>(high));
        }
    }
    // the names of f's fields get this name in front, and the index of one of several items
    template <class F> void in(const char* name, F&& f) { in(name, NONE, f); }
    template <class F> void in(const char* name, size_t index, F&& f) {
        if constexpr (Self::NAMES) path_.push_back({name, index});
        f();
        if constexpr (Self::NAMES) path_.pop_back();
    }
    // f visits each of a fixed number of items
    template <class Items, class F> void each(const char* name, Items& items, F&& f) {
        size_t k = 0;
        for (auto& item : items) {
            in(name, k++, [&] { f(item); });
        }
    }
    // how many items there are: loading makes as many
    template <class Items> void size(const char* name, Items& items, size_t min_size, size_t max_size) {
        auto count = static_cast<uint32_t>(items.size());
        in(name, [&] {
            self().number("size", NONE, count, static_cast<int64_t>(min_size), static_cast<int64_t>(max_size));
            if constexpr (Self::LOADS) self().expect_bytes("size", NONE, count);
        });
        if constexpr (Self::LOADS) items.resize(count);
    }
    // f visits each of least to most items
    template <class Items, class F> void list(const char* name, Items& items, size_t min_size, size_t max_size, F&& f) {
        size(name, items, min_size, max_size);
        each(name, items, f);
    }
    // printable characters of ASCII
    void text(const char* name, std::string& value, size_t max_size) {
        size(name, value, 0, max_size);
        all(name, value, ' ', '~');
    }

protected:
    static constexpr size_t NONE = ~size_t{0};
    struct PathItem {
        const char* name;
        size_t index;
    };

    std::string path_of(const char* name, size_t index) const {
        std::string path;
        const auto add = [&](PathItem item) {
            path += path.empty() ? "" : ".";
            path += item.index == NONE ? item.name : name_of_item(item.name, item.index);
        };
        for (const PathItem& item : path_) add(item);
        add({name, index});
        return path;
    }

private:
    Self& self() { return static_cast<Self&>(*this); }

    template <class T> void field(const char* name, size_t index, T& value, Bound<T> low, Bound<T> high) {
        if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
            // the old value may be no valid one yet
            typename Stored<T>::type number{};
            if constexpr (!Self::LOADS) number = static_cast<typename Stored<T>::type>(value);
            self().number(name, index, number, low, high);
            if constexpr (Self::LOADS) value = static_cast<T>(number);
        } else {
            self().number(name, index, value, low, high);
        }
    }
    std::vector<PathItem> path_;
};

class StateWriter : public StateArchive<StateWriter> {
public:
    static constexpr bool LOADS = false, NAMES = false;
    template <class T, class B> void number(const char*, size_t, const T& value, B, B) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    std::string bytes;
};

class StateLister : public StateArchive<StateLister> {
public:
    static constexpr bool LOADS = false, NAMES = true;
    template <class T, class B> void number(const char* name, size_t index, const T&, B low, B high) {
        fields.push_back(
            {path_of(name, index), format<T>(), offset_, static_cast<double>(low), static_cast<double>(high)});
        offset_ += sizeof(T);
    }
    std::vector<StateField> fields;

private:
    template <class T> static constexpr char format() {
        if constexpr (std::is_floating_point_v<T>) {
            return sizeof(T) == 4 ? 'f' : 'd';
        } else {
            constexpr const char* formats = std::is_signed_v<T> ? "bhiq" : "BHIQ";
            return formats[std::countr_zero(sizeof(T))];
        }
    }
    size_t offset_ = 0;
};

// Reads the bytes of a StateWriter, or forged ones: throws std::invalid_argument.
class StateReader : public StateArchive<StateReader> {
public:
    static constexpr bool LOADS = true, NAMES = true;
    explicit StateReader(std::string_view bytes) : rest_(bytes) {}

    template <class T, class B> void number(const char* name, size_t index, T& value, B low, B high) {
        expect_bytes(name, index, sizeof value);
        T read;
        std::memcpy(&read, rest_.data(), sizeof read);
        // not true of NaN
        if (!(static_cast<B>(read) >= low && static_cast<B>(read) <= high)) {
            refuse_state(path_of(name, index), text_of(low) + " to " + text_of(high), text_of(static_cast<B>(read)));
        }
        rest_.remove_prefix(sizeof read);
        value = read;
    }
    void expect_bytes(const char* name, size_t index, size_t count) const {
        if (rest_.size() < count) {
            refuse_state(path_of(name, index), std::to_string(count) + " more bytes", std::to_string(rest_.size()));
        }
    }
    void finish() const {
        if (!rest_.empty()) refuse_state("end", "no more bytes", std::to_string(rest_.size()));
    }

private:
    std::string_view rest_;
};

namespace state_archive {

template <class Archive, class T> bool exchange(Archive& archive, const T& from) {
    bool ready = from.ready();
    archive("ready", ready);
    // an archive that does not load changes nothing
    if (ready) const_cast<T&>(from).exchange(archive);
    return ready;
}

}  // namespace state_archive

// The state that `ArchivedEnv` saves, loads and copies, of any type.
class ArchivedState {
public:
    virtual ~ArchivedState() = default;
    virtual std::string save() const = 0;
    // the numbers in the bytes that `save` returns
    virtual std::vector<StateField> list() const = 0;
    // throws std::invalid_argument, and then nothing has changed
    virtual void load(std::string_view bytes) = 0;
    // of the same type, with the same options
    virtual void copy_from(const ArchivedState& other) = 0;
};

// A T and its state; Base: an ArchivedState. A T that can be assigned lies in here, near the rest of its environment,
// and keeps its address.
template <class T, class Base = ArchivedState> class Archived : public Base {
public:
    T* get() { return held_.operator->(); }
    void hold(T* object) { hold(std::unique_ptr<T>(object)); }

    std::string save() const override {
        StateWriter writer;
        state_archive::exchange(writer, *held_);
        return writer.bytes;
    }
    std::vector<StateField> list() const override {
        StateLister lister;
        state_archive::exchange(lister, *held_);
        return lister.fields;
    }
    void load(std::string_view bytes) override {
        std::unique_ptr<T> loaded = held_->fresh();
        try {
            StateReader reader(bytes);
            bool ready = false;
            reader("ready", ready);
            if (ready) loaded->exchange(reader);
            reader.finish();
            if (ready) loaded->validate();
        } catch (const std::invalid_argument&) {
            throw;
        } catch (const std::logic_error& error) {
            // of a library that makes parts of it
            throw std::invalid_argument(std::string("state: ") + error.what());
        }
        hold(std::move(loaded));
    }
    void copy_from(const ArchivedState& other) override {
        if constexpr (IN_PLACE) {
            *held_ = *static_cast<const Archived&>(other).held_;
        } else {
            load(other.save());
        }
    }

protected:
    const T& held() const { return *held_; }

    void hold(std::unique_ptr<T> object) {
        if constexpr (IN_PLACE) {
            held_ = std::move(*object);
        } else {
            held_ = std::move(object);
        }
    }

private:
    static constexpr bool IN_PLACE = std::is_copy_assignable_v<T>;

    std::conditional_t<IN_PLACE, std::optional<T>, std::unique_ptr<T>> held_;
};

}  // namespace cypool
