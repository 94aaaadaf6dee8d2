"""The memory of a replay buffer: a ring of rows for each environment, and which of them are drawn."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

cimport numpy as cnp

from cypool.random cimport Rng

cdef extern from "cypool/replay/sum_tree.h" namespace "cypool" nogil:
    cdef cppclass SumTree:
        SumTree(size_t count) except +
        double total() noexcept
        double get(size_t k) noexcept
        void set(size_t k, double value) noexcept
        size_t find(double part) noexcept

cdef extern from "cypool/replay/checksum.h" namespace "cypool" nogil:
    uint64_t checksum(const char* data, size_t size, uint64_t seed) noexcept

cdef extern from "cypool/replay/priorities.h" namespace "cypool" nogil:
    const int64_t OF_ALL "cypool::kOfAll"
    uint64_t sealed(double priority, int64_t index) noexcept
    double number_in(uint64_t sealed) noexcept
    bint is_sealed(uint64_t sealed, int64_t index) noexcept

cdef extern from "cypool/replay/stream.h" namespace "cypool" nogil:
    void stream(char* out, const char* source, size_t size) noexcept
    void end_of_streams() noexcept

cdef enum:                       # what a row is of: bits
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

cdef struct Part:                # of the observation
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

cdef char* bytes_of(cnp.ndarray array, size_t size) except? NULL
cdef void copy_blocks(char* out, size_t out_stride, const char* source, size_t source_stride, size_t blocks,
                      size_t block_bytes) noexcept nogil


cdef class Ring:
    """Rows of what environments did."""
    cdef readonly int num_envs
    cdef readonly int64_t rows             # of each environment
    cdef readonly int padding              # rows in front of a FIRST one
    cdef readonly int64_t num_eligible     # rows that can be sampled
    cdef int64_t length                    # of sequences; 0: single steps
    cdef double alpha
    cdef double greatest                   # priority so far, at least 1
    cdef list arrays                       # own the memory that the pointers are of
    cdef vector[Part] parts
    cdef vector[Column] columns            # the action first, then those of agents
    cdef vector[Group] groups
    cdef double* reward
    cdef uint8_t* flags
    cdef int64_t* begun                    # rows of each environment whose writing has begun ...
    cdef int64_t* written                  # ... and is done: row k is at k % rows
    cdef uint64_t* obs_sums                # checksums of rows, of their observations and ...
    cdef uint64_t* step_sums               # ... of the steps from them. NULL: none are kept
    cdef uint64_t* priority                # of rows, sealed; NULL: there are none
    cdef uint64_t* greatest_so_far         # priority, sealed
    cdef vector[char] pending              # actions of steps in flight
    cdef vector[uint8_t] is_open           # whether the last row of an environment waits for a step: a `Writer`
    cdef vector[uint8_t] eligible
    cdef vector[int64_t] last              # row that ends the episode of a row; -1: it is not over. Empty without goals
    cdef vector[int64_t] record            # number of a row among those that are no padding. Empty without sequences
    cdef vector[int64_t] candidate         # the next row to become eligible, where sequences are
    cdef int achieved, desired             # parts of goals; -1
    cdef unique_ptr[SumTree] tree          # of priorities; NULL

    cdef inline size_t at(self, int64_t env, int64_t row) noexcept nogil:
        return <size_t>(env * self.rows + row % self.rows)
    cdef inline int64_t oldest(self, int64_t env) noexcept nogil:
        """The oldest row whose frames are all there."""
        return max(self.begun[env] - self.rows, <int64_t>0) + self.padding
    cdef const int32_t* ids_of(self, cnp.ndarray env_ids, size_t* count) except NULL
    cdef void mark(self, int64_t env, int64_t row) noexcept nogil
    cdef void unmark(self, int64_t env, int64_t row) noexcept nogil
    cdef uint64_t obs_sum(self, int64_t env, int64_t row) noexcept nogil
    cdef uint64_t step_sum(self, int64_t env, int64_t row) noexcept nogil
    cdef void begin_row(self, int64_t env, uint8_t flags) noexcept nogil
    cdef void end_row(self, int64_t env) noexcept nogil
    cdef void write_frame(self, const Part* part, int64_t env, const char* obs, int frame) noexcept nogil
    cdef void append(self, int64_t env, const vector[const char*]& obs, size_t k, uint8_t flags,
                     Writer writer) noexcept nogil
    cdef void close_episode(self, int64_t env) noexcept nogil
    cdef void end_of(self, int64_t env, Writer writer) noexcept nogil
    cdef void set_last(self, int64_t env, int64_t newest) noexcept nogil
    cdef bint restore_priority(self, int64_t env, int64_t row) noexcept nogil
    cdef void forget_step(self, int64_t env, int64_t row) noexcept nogil
    cdef void restore_rows(self, int64_t env) noexcept nogil
    cdef void mark_sequences(self, int64_t env) noexcept nogil
    cdef uint8_t agents_end(self, size_t k) noexcept nogil
    cdef int64_t index_of(self, size_t k) noexcept nogil
    cdef void draw_evenly(self, const Rng* rng, int64_t* index, size_t n) noexcept nogil
    cdef void find_eligible(self, vector[size_t]& places) noexcept nogil
    cdef void draw_by_priority(self, const Rng* rng, int64_t* index, float* weight, size_t n,
                               double beta) noexcept nogil
