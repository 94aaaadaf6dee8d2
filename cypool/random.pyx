# distutils: extra_compile_args = -O2
"""Random numbers for environments; see its `.pxd`."""
import numpy
from numpy.random import MT19937, PCG64, Generator

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

cdef extern from *:
    """
    #include <cstddef>
    #include <numpy/random/bitgen.h>
    // the structs behind the state of a bit generator
    struct Pcg64State { void* numbers; int has_uint32; uint32_t uinteger; };
    struct Mt19937State { uint32_t key[624]; int pos; };
    enum { PCG64_NUMBERS = 32 };
    static_assert(sizeof(cypool::Rng) == sizeof(bitgen_t)
                  && offsetof(cypool::Rng, next_double) == offsetof(bitgen_t, next_double),
                  "cypool/rng.h: expected the layout of NumPy's bitgen_t");
    """

cdef extern from "numpy/random/distributions.h" nogil:
    ctypedef struct bitgen_t:
        pass
    double random_normal(bitgen_t* bitgen_state, double loc, double scale) noexcept


cdef extern from *:
    enum:
        PCG64_NUMBERS

    cdef struct Pcg64State:
        void* numbers
        int has_uint32
        unsigned int uinteger

    cdef struct Mt19937State:
        pass

cdef extern from "cypool/rng.h" namespace "cypool" nogil:
    uint64_t mixed(uint64_t& number) noexcept
    ctypedef void (*Draw "decltype(cypool::Rng::next_uint64)")() noexcept
    cdef struct OpenRng "cypool::Rng":
        void* state
        Draw next_uint64

# how streams draw whose states lie in memory as these structs; NULL: they do not in this NumPy
cdef Draw draw_pcg64 = NULL
cdef Draw draw_mt19937 = NULL


cdef bint copy_stream(const Rng* target, const Rng* source) noexcept nogil:
    cdef OpenRng* to = <OpenRng*>target
    cdef OpenRng* come_from = <OpenRng*>source
    if to.next_uint64 != come_from.next_uint64 or to.next_uint64 == NULL:
        return False
    if to.next_uint64 == draw_pcg64:
        copy_pcg64(<Pcg64State*>to.state, <const Pcg64State*>come_from.state)
        return True
    if to.next_uint64 == draw_mt19937:
        memcpy(to.state, come_from.state, sizeof(Mt19937State))
        return True
    return False


cdef bint move_stream(const Rng* target, uint64_t place) noexcept nogil:
    cdef OpenRng* to = <OpenRng*>target
    cdef Pcg64State* state = <Pcg64State*>to.state
    cdef uint64_t* words
    cdef int k
    if to.next_uint64 != draw_pcg64 or draw_pcg64 == NULL:
        return False
    words = <uint64_t*>state.numbers
    for k in range(PCG64_NUMBERS // 8):
        words[k] = mixed(place)
    # the increment is odd, whichever of its words is the lower one
    words[2], words[3] = words[2] | 1, words[3] | 1
    state.has_uint32 = 0
    return True


cdef void copy_pcg64(Pcg64State* to, const Pcg64State* come_from) noexcept nogil:
    memcpy(to.numbers, come_from.numbers, PCG64_NUMBERS)
    to.has_uint32, to.uinteger = come_from.has_uint32, come_from.uinteger


cdef OpenRng* _opened(bit_generator):
    return <OpenRng*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")


cdef bint _holds(object owner, const void* start, size_t size):
    """Whether memory lies within that of an object."""
    cdef uintptr_t first = id(owner), at = <uintptr_t>start
    return first <= at and at + size <= first + type(owner).__basicsize__


def _look_at_streams():
    """Checks whether NumPy's streams are laid out as `copy_stream` expects, which NumPy does not guarantee."""
    global draw_pcg64, draw_mt19937
    cdef OpenRng* opened
    source, target = PCG64(1), PCG64(2)
    source.state = {**source.state, "has_uint32": 1, "uinteger": 12345}
    opened = _opened(source)
    if _holds(source, opened.state, sizeof(Pcg64State)) and _holds(
            source, (<Pcg64State*>opened.state).numbers, PCG64_NUMBERS):
        copy_pcg64(<Pcg64State*>_opened(target).state, <Pcg64State*>opened.state)
        if target.state == source.state:
            draw_pcg64 = opened.next_uint64
    source, target = MT19937(1), MT19937(2)
    source.random_raw()
    opened = _opened(source)
    if _holds(source, opened.state, sizeof(Mt19937State)):
        memcpy(_opened(target).state, opened.state, sizeof(Mt19937State))
        if str(target.state) == str(source.state) and (target.random_raw(1000) == source.random_raw(1000)).all():
            draw_mt19937 = opened.next_uint64


_look_at_streams()


def _check_draws():
    """Compares draws with those of NumPy's Generator, which may change them in any release."""
    cdef int[9] items = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    cdef int64_t high
    cdef const Rng* rng
    theirs, own = Generator(PCG64(1)), PCG64(1)
    rng = <const Rng*>_opened(own)
    # of 32 and 64 bits; a quarter of those of three are refused and drawn again
    highs = [1, 6, 3 << 30, 1 << 32, (1 << 32) + 1, 3 << 61] * 5
    expected = [int(theirs.integers(0, high)) for high in highs]
    _compare("integers", expected, [integers(rng, 0, high) for high in highs])
    expected = list(range(9))
    theirs.shuffle(expected)
    shuffle(rng, &items[0], 9)
    _compare("shuffle", expected, list(items))
    _compare("uniform", [theirs.uniform(-1, 3) for _ in range(5)], [uniform(rng, -1, 3) for _ in range(5)])
    # one in a hundred takes the slow way
    _compare("normal", theirs.normal(2, 3, 200).tolist(), [normal(rng, 2, 3) for _ in range(200)])


def _compare(method, expected, found):
    for one, other in zip(expected, found, strict=True):
        if one != other:
            raise ImportError(f"cypool: environments draw {other}, but Generator.{method} in numpy "
                              f"{numpy.__version__} draws {one}: pip install 'numpy==2.4.*'")


cdef double normal(const Rng* rng, double mean, double deviation) noexcept nogil:
    # NumPy's own object code, from the static library that comes with it
    return random_normal(<bitgen_t*>rng, mean, deviation)


_check_draws()
