"""Assembles an observation number by number; never writes past its end, whatever it is given."""
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

# here and not in a header: other packages compile it, too, and have only the headers of include/cypool
cdef extern from *:
    """
    #include <algorithm>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    namespace cypool {

    class ObsWriter {
    public:
        ObsWriter() = default;
        ObsWriter(double* out, size_t size) : out_(out), left_(size) {}

        void put(double number) { put(&number, 1); }
        void put(const double* numbers, int64_t count) {
            if (count < 0 || static_cast<uint64_t>(count) > left_) {
                if (refused_ == 0) refused_ = count;
                return;
            }
            out_ = std::copy_n(numbers, count, out_);
            left_ -= static_cast<size_t>(count);
        }
        void put(const double* numbers, const std::vector<int>& places) {
            for (const int place : places) put(numbers[place]);
        }

        bool is_complete() const { return left_ == 0 && refused_ == 0; }
        size_t left() const { return left_; }
        int64_t refused() const { return refused_; }

    private:
        double* out_ = nullptr;
        size_t left_ = 0;
        int64_t refused_ = 0;
    };

    }  // namespace cypool
    """
    cdef cppclass ObsWriter "cypool::ObsWriter":
        ObsWriter() noexcept nogil
        ObsWriter(double* out, size_t size) noexcept nogil
        void put(double number) noexcept nogil
        # of a count that does not fit, or is negative, nothing is written; the observation is then an error
        void put(const double* numbers, int64_t count) noexcept nogil
        void put(const double* numbers, const vector[int]& places) noexcept nogil
        cbool is_complete() noexcept nogil
        size_t left() noexcept nogil
        int64_t refused() noexcept nogil     # the first such count; 0: all fitted
