"""Random numbers for environments, the same bits as NumPy's, without the GIL."""
from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef extern from "cypool/rng.h" namespace "cypool" nogil:
    cdef struct Rng:
        pass
    double uniform(const Rng* rng, double low, double high) noexcept         # Generator.uniform
    int64_t integers(const Rng* rng, int64_t low, int64_t high) noexcept     # Generator.integers
    uint32_t interval(const Rng* rng, uint32_t most) noexcept                # Generator.shuffle's draws
    void shuffle[T](const Rng* rng, T* items, int n) noexcept                # Generator.shuffle of a list
    int categorical(const Rng* rng, const double* sums, int n) noexcept      # Gymnasium's categorical_sample

# makes the first stream continue as the second one, of the same kind, does; False: these are of a kind that it does not
# know, and nothing has changed
cdef bint copy_stream(const Rng* target, const Rng* source) noexcept nogil
# has a stream continue at a place that depends on the number alone; False: as above
cdef bint move_stream(const Rng* target, uint64_t place) noexcept nogil
# Generator.normal
cdef double normal(const Rng* rng, double mean, double deviation) noexcept nogil
