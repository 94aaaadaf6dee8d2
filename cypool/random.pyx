"""Random numbers for environments; see its `.pxd`."""

cdef extern from *:
    """
    #include <cstddef>
    #include <numpy/random/bitgen.h>
    static_assert(sizeof(cypool::Rng) == sizeof(bitgen_t)
                  && offsetof(cypool::Rng, next_double) == offsetof(bitgen_t, next_double),
                  "cypool/rng.h: expected the layout of NumPy's bitgen_t");
    """

cdef extern from "numpy/random/distributions.h" nogil:
    ctypedef struct bitgen_t:
        pass
    double random_normal(bitgen_t* bitgen_state, double loc, double scale) noexcept


cdef double normal(const Rng* rng, double mean, double deviation) noexcept nogil:
    # NumPy's own object code, from the static library that comes with it
    return random_normal(<bitgen_t*>rng, mean, deviation)
