# The rows of a replay buffer, and their memory.
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.string cimport memcpy

cimport numpy as cnp

from cypool.random cimport Rng

cdef enum:                       # the kind of a row: bits
    FIRST = 1                    # the first observation of an episode, or after a gap
    LAST = 2                     # the last observation of an episode
    STEPPED = 4                  # a step was made from here, to the next row
    TERMINATED = 8               # ... which ended the episode
    TRUNCATED = 16
    AGENT_ENDED = 32             # ... or the part of an agent
    PADDING = 64                 # only an older frame of the FIRST row that follows

cdef enum Writer:                # of a row that waits for a step, which only the same one may add
    NOBODY
    POOL
    CALLER

cdef struct ObsPart:             # of the observation
    char* frames                 # (num_envs, rows, frame_bytes)
    size_t frame_bytes
    int stack                    # frames of an observation
    size_t blocks                # pieces of a frame, which lie apart in an observation
    size_t block_bytes

cdef struct Column:              # of the step from a row
    char* data                   # (num_envs, rows, row_bytes)
    size_t row_bytes

cdef struct Group:               # of agents
    size_t count
    size_t reward                # which columns these are
    size_t terminated
    size_t truncated
    size_t acted                 # 0: all always act


cdef char* bytes_of(cnp.ndarray array, size_t size) except? NULL:
    """Returns the memory of an array that has this many bytes."""
    if <size_t>cnp.PyArray_NBYTES(array) != size or not cnp.PyArray_ISCARRAY_RO(array):
        raise ValueError(f"expected a C-contiguous array of {size} bytes, got {array.dtype}, {(<object>array).shape}")
    return cnp.PyArray_BYTES(array)


cdef const Rng* rng_of(object bit_generator) except NULL:
    return <const Rng*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")


cdef void copy_blocks(char* out, size_t out_stride, const char* source, size_t source_stride, size_t blocks,
                      size_t block_bytes) noexcept nogil:
    """Copies blocks that are not contiguous."""
    cdef size_t k
    if blocks == 1:
        memcpy(out, source, block_bytes)
    elif block_bytes == 3:
        # the colours of a pixel: no call for three bytes
        for k in range(blocks):
            out[k * out_stride] = source[k * source_stride]
            out[k * out_stride + 1] = source[k * source_stride + 1]
            out[k * out_stride + 2] = source[k * source_stride + 2]
    else:
        for k in range(blocks):
            memcpy(out + k * out_stride, source + k * source_stride, block_bytes)
