"""Batches: aligned memory with one array per column, used again once nobody holds an array of it."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

cimport numpy as cnp

from cypool.env cimport Slot


cdef extern from "cypool/engine/open_batch.h" namespace "cypool" nogil:
    enum:
        MAX_COLUMNS

    cdef enum RowKind:           # what a row is of
        ROW_STEP
        ROW_RESET                # the row begins an episode
        ROW_NO_STEP              # the environment was only observed again, stays at its end, or has failed

    cdef struct Column:
        char* data               # row 0; the block owns the memory
        size_t row_bytes

    cdef struct AgentColumns:    # of a group of agents; each row has `count` of a kind
        uint32_t count
        int num_obs              # observation columns that are the group's, behind those of the groups before
        double* reward
        uint8_t* terminated
        uint8_t* truncated
        uint8_t* acted           # NULL if all always act and stay
        uint8_t* alive           # likewise
        double* episode_return   # where statistics are kept
        int64_t* episode_length

    cdef cppclass OpenBatch:     # a batch that is being filled; workers write to distinct rows of it
        OpenBatch() except +
        Column* columns          # observations, then infos
        Column* finals           # the same of episodes that end here; NULL unless the layout has them
        int num_columns          # observations and infos
        int num_obs
        double* reward
        uint8_t* terminated
        uint8_t* truncated
        uint8_t* kind            # RowKind
        int32_t* env_id
        int32_t* elapsed_step
        int32_t* final_step
        double* episode_return
        int64_t* episode_length
        double* episode_time
        const AgentColumns* agents    # of each group
        int num_groups
        atomic[uint32_t] finished
        atomic[uint32_t] wanted


@cython.final
cdef class GroupColumns:
    """Which columns of a batch are those of a group of agents; -1: there is none."""
    cdef readonly str name
    cdef readonly int count              # of agents
    cdef readonly int num_obs            # observation columns of the group
    cdef readonly int reward, terminated, truncated, acted, alive, episode_return, episode_length


cdef class Layout:
    cdef readonly int num_rows
    cdef readonly int num_obs            # observation columns come first, then infos, then the engine's
    cdef readonly int num_columns        # observations and infos
    cdef readonly bint has_finals        # then the columns of final observations and infos, and their steps
    cdef readonly bint has_statistics    # then return, length and time of episodes
    cdef readonly int first_final, first_statistic
    cdef readonly list groups            # of agents: their columns come last
    cdef list dtypes
    cdef list shapes                     # of one row
    cdef vector[vector[cnp.npy_intp]] dims   # the same with the rows in front
    cdef vector[size_t] row_bytes
    cdef vector[size_t] offsets          # of each column from the start of the block
    cdef size_t kinds_offset             # of the rows' kinds, which have no array
    cdef size_t nbytes
    cdef tuple _arguments

    cdef GroupColumns add_group(self, spec, str name, group)
    cdef int add_column(self, dtype, tuple shape) except -1
    cdef Layout of(self, int num_rows)
    cdef int check_out(self, tuple out, uint32_t num_rows) except -1


cdef class Memory:
    cdef void* _raw                      # owned
    cdef char* data                      # aligned, inside of _raw


cdef class Block:
    cdef Layout layout
    cdef Memory memory
    cdef list arrays                     # one per column
    cdef char* data                      # borrowed from memory
    cdef vector[Column] columns
    cdef vector[Column] finals
    cdef vector[AgentColumns] agents

    cdef int add_group(self, GroupColumns group) except -1
    cdef char* column(self, int k) noexcept
    cdef bint idle(self) except -1
    cdef void open_on(self, OpenBatch* batch) noexcept
    cdef uint8_t* kinds(self) noexcept


cdef class Blocks:
    cdef Layout layout
    cdef list out                        # blocks that were handed out, the oldest first
    cdef int watched

    cdef Block take(self)
    cdef int lend(self, Block block) except -1
