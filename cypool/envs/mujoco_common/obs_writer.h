// Puts an observation together, number after number. It writes nothing behind the end, whatever it is given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cypool {

class ObsWriter {
public:
    ObsWriter() = default;
    ObsWriter(double* out, size_t size) : out_(out), left_(size) {}

    void put(double number) { put(&number, 1); }

    void put(const double* numbers, int64_t count) {
        if (count < 0 || static_cast<uint64_t>(count) > left_) {
            refused_ = refused_ == 0 ? count : refused_;
            return;
        }
        out_ = std::copy_n(numbers, count, out_);
        left_ -= static_cast<size_t>(count);
    }

    bool is_complete() const { return left_ == 0 && refused_ == 0; }
    size_t left() const { return left_; }
    int64_t refused() const { return refused_; }  // how many numbers did not fit first; 0: all did

private:
    double* out_ = nullptr;
    size_t left_ = 0;
    int64_t refused_ = 0;
};

}  // namespace cypool
