"""Draws of a plug-in from a random stream."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from cypool.env cimport import_cypool
from cypool.random cimport Rng, categorical, copy_stream, integers, normal, shuffle, uniform

import_cypool()


cdef const Rng* stream_of(object bit_generator) except NULL:
    return <const Rng*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")


def draw_integers(bit_generator, int64_t low, int64_t high, int count):
    """Draws integers in [low, high)."""
    cdef const Rng* rng = stream_of(bit_generator)
    return [integers(rng, low, high) for _ in range(count)]


def draw_categories(bit_generator, sums, int count):
    """Draws indices by the sums of probabilities."""
    cdef const Rng* rng = stream_of(bit_generator)
    cdef vector[double] values = sums
    return [categorical(rng, values.data(), <int>values.size()) for _ in range(count)]


def draw_doubles(bit_generator, double low, double high, int count):
    """Draws doubles in [low, high)."""
    cdef const Rng* rng = stream_of(bit_generator)
    return [uniform(rng, low, high) for _ in range(count)]


def draw_normals(bit_generator, double mean, double deviation, int count):
    """Draws doubles of a normal distribution."""
    cdef const Rng* rng = stream_of(bit_generator)
    return [normal(rng, mean, deviation) for _ in range(count)]


def draw_shuffled(bit_generator, items):
    """The items of a list of ints in another order."""
    cdef const Rng* rng = stream_of(bit_generator)
    cdef vector[int64_t] values = items
    shuffle(rng, values.data(), <int>values.size())
    return list(values)


def copy_streams(target, source):
    """Has a stream continue as another one does; whether these are of a kind that is known."""
    return bool(copy_stream(stream_of(target), stream_of(source)))
