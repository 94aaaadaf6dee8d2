// The options of an environment, by name, as its specs declare them. Rules take over those that they need, each in one
// line, which says its type:
//
//     struct Setup : Options {
//         explicit Setup(const Options& given) : Options(given) {}
//         int rows = at("rows"), limit = at("time_limit", 0);
//         std::vector<int> levels = at("levels");
//     };
#pragma once

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cypool {

// None, a text or bytes, or one or more numbers; becomes what it is assigned to.
class OptionValue {
public:
    OptionValue() = default;
    explicit OptionValue(std::string text) : text_(std::move(text)) {}
    explicit OptionValue(std::vector<double> numbers) : numbers_(std::move(numbers)) {}

    template <class T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    operator T() const {
        return static_cast<T>(numbers_.at(0));
    }
    operator std::string() const { return text_; }
    template <class T> operator std::vector<T>() const {
        std::vector<T> values;
        for (const double number : numbers_) values.push_back(static_cast<T>(number));
        return values;
    }
    // 0 behind the numbers that there are
    template <class T, size_t N> operator std::array<T, N>() const {
        std::array<T, N> values{};
        for (size_t k = 0; k < numbers_.size(); ++k) values.at(k) = static_cast<T>(numbers_[k]);
        return values;
    }
    bool has_number() const { return !numbers_.empty(); }

private:
    std::vector<double> numbers_;
    std::string text_;
};

// Copies share the values.
class Options {
public:
    void set(const std::string& name, OptionValue value) { (*values_)[name] = {std::move(value)}; }
    const OptionValue& at(const std::string& name) const {
        const OptionValue* found = find(name);
        if (!found) throw std::invalid_argument("options: expected " + name + ", got none");
        return *found;
    }
    // of a number that may be None, or that some environments of the family do not have
    template <class T> T at(const std::string& name, T other) const {
        const OptionValue* found = find(name);
        if (!found || !found->has_number()) return other;
        return *found;
    }
    // the names that nothing has asked for
    std::vector<std::string> unread() const {
        std::vector<std::string> names;
        for (const auto& [name, entry] : *values_) {
            if (!entry.is_read) names.push_back(name);
        }
        return names;
    }

private:
    struct Entry {
        OptionValue value;
        bool is_read = false;
    };
    std::shared_ptr<std::map<std::string, Entry>> values_ = std::make_shared<std::map<std::string, Entry>>();

    const OptionValue* find(const std::string& name) const {
        const auto found = values_->find(name);
        if (found == values_->end()) return nullptr;
        found->second.is_read = true;
        return &found->second.value;
    }
};

}  // namespace cypool
