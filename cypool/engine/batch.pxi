# Batches: aligned memory with one array per column, used again once no reference to its arrays is left.
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

cimport numpy as cnp

import math
from collections.abc import Mapping

import numpy as np

from cypool.util.constants cimport ALIGNMENT

cnp.import_array()

cdef extern from "cypool/engine/uniquely_referenced.h":
    bint is_uniquely_referenced "CYPOOL_IS_UNIQUELY_REFERENCED"(PyObject* object) noexcept
    PyObject* PyList_GET_ITEM(PyObject* items, Py_ssize_t k) noexcept    # borrowed
    Py_ssize_t PyList_GET_SIZE(PyObject* items) noexcept

cdef extern from "cypool/engine/open_batch.h" namespace "cypool" nogil:
    enum:
        MAX_COLUMNS

    cdef enum RowKind:           # the kind of a row
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

    cdef cppclass OpenBatch:     # a batch that is being filled; threads write to distinct rows of it
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

# where an array has its weak references: for its class Python knows it, whatever NumPy's structs are
cdef Py_ssize_t WEAKREFS = np.ndarray.__weakrefoffset__
if WEAKREFS <= 0:
    raise ImportError(f"numpy {np.__version__}: expected array objects that hold a list of weak references, got "
                      f"__weakrefoffset__ {WEAKREFS}")

# the engine's own columns of each row, after those of the environment
cdef list ENGINE_COLUMNS = [(np.float64, ()), (np.bool_, ()), (np.bool_, ()), (np.int32, ()), (np.int32, ())]
cdef enum:
    REWARD = 0
    TERMINATED = 1
    TRUNCATED = 2
    ENV_ID = 3
    ELAPSED_STEP = 4
    NUM_FLAGS = 3                # of these, those that a user's arrays may take the place of
# of episodes
cdef list STATISTICS = [(np.float64, ()), (np.int64, ()), (np.float64, ())]


cdef class Memory:
    """Aligned memory, zeroed once; the base object of a block's arrays."""
    cdef void* _raw                      # owned
    cdef char* data                      # aligned, inside of _raw

    def __cinit__(self, size_t nbytes):
        self._raw = calloc(1, nbytes + ALIGNMENT)
        if self._raw == NULL:
            raise MemoryError(f"not enough memory for a batch of {nbytes} bytes")
        self.data = <char*>((<uintptr_t>self._raw + ALIGNMENT - 1) & ~<uintptr_t>(ALIGNMENT - 1))

    def __dealloc__(self):
        free(self._raw)


@cython.final
cdef class GroupColumns:
    """The columns of a batch that belong to a group of agents."""
    cdef readonly str name
    cdef readonly int count              # of agents
    cdef readonly int num_obs            # observation columns of the group
    cdef readonly int reward, terminated, truncated, acted, alive, episode_return, episode_length


cdef class BatchLayout:
    """The columns of a batch.

    Args:
        num_rows: Rows of a batch.
        spec: The `EnvSpec` of the environments.
        has_finals: Whether observations and infos exist twice, for the end of one episode and the start of the next.
        has_statistics: Whether there are columns for return, length and time of episodes.
        rows_before: Rows of observations and infos from before the batch, which precede its own.
    """
    cdef readonly int num_rows, rows_before
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

    def __init__(self, int num_rows, spec, bint has_finals, bint has_statistics, int rows_before=0):
        self._arguments = (spec, has_finals, has_statistics)
        self.num_rows, self.rows_before = num_rows, rows_before
        self.dtypes, self.shapes = [], []
        described = [part for _, part in spec.observations]
        self.num_obs = len(described)
        own = [(part.dtype, part.shape) for part in (*described, *spec.info.values())]
        self.has_finals = has_finals
        self.has_statistics = has_statistics
        self.num_columns = len(own)
        if self.num_columns > MAX_COLUMNS:
            raise ValueError(f"spec: expected at most {MAX_COLUMNS} arrays, got {self.num_columns}")
        for dtype, shape in own:
            self.add_column(dtype, shape, rows_before)
        for dtype, shape in ENGINE_COLUMNS:
            self.add_column(dtype, shape)
        self.first_final = len(self.dtypes)
        for dtype, shape in own + [ENGINE_COLUMNS[ELAPSED_STEP]] if has_finals else ():
            self.add_column(dtype, shape)
        self.first_statistic = len(self.dtypes)
        for dtype, shape in STATISTICS if has_statistics else ():
            self.add_column(dtype, shape)
        self.groups = [self.add_group(spec, name, group) for name, group in spec.agents.items()]
        self.kinds_offset = self.nbytes
        self.nbytes += num_rows

    cdef GroupColumns add_group(self, spec, str name, group):
        """Adds the columns of a group of agents."""
        cdef GroupColumns columns = GroupColumns()
        columns.name, columns.count = name, group.count
        columns.num_obs = len(group.observation) if isinstance(group.observation, Mapping) else 1
        cdef tuple shape = (group.count,)
        columns.reward = self.add_column(np.float64, shape)
        columns.terminated = self.add_column(np.bool_, shape)
        columns.truncated = self.add_column(np.bool_, shape)
        columns.acted = columns.alive = columns.episode_return = columns.episode_length = -1
        if spec.has_absent_agents:
            columns.acted = self.add_column(np.bool_, shape)
            columns.alive = self.add_column(np.bool_, shape)
        if self.has_statistics:
            columns.episode_return = self.add_column(np.float64, shape)
            columns.episode_length = self.add_column(np.int64, shape)
        return columns

    cdef int add_column(self, dtype, tuple shape, int rows_before=0) except -1:
        """Returns the index of the new column."""
        self.dtypes.append(np.dtype(dtype))
        self.shapes.append(shape)
        self.dims.push_back([self.num_rows + rows_before, *shape])
        self.row_bytes.push_back(np.dtype(dtype).itemsize * math.prod(shape))
        self.offsets.push_back(self.nbytes)
        # every column starts on a new cache line
        self.nbytes += (self.row_bytes.back() * (self.num_rows + rows_before) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return len(self.dtypes) - 1

    cdef BatchLayout with_rows(self, int num_rows, int rows_before=0):
        """The same columns with another number of rows."""
        return BatchLayout(num_rows, *self._arguments, rows_before)

    cdef int check_out(self, tuple out, uint32_t num_rows, uint32_t rows_before=0) except -1:
        """Checks arrays that replace those of a batch: observations, reward, terminated, truncated.

        Raises:
            ValueError: The number of arrays is wrong; one has a wrong dtype, shape or order, or is read-only; or two
                share memory and would overwrite each other.
        """
        cdef cnp.ndarray array, other
        cdef int j, k, column
        cdef uint32_t count
        if len(out) != self.num_obs + NUM_FLAGS:
            raise ValueError(f"out: expected {self.num_obs + NUM_FLAGS} arrays, got {len(out)}")
        for k in range(len(out)):
            # after the observations come the infos, which are not among them
            column = k if k < self.num_obs else self.num_columns + k - self.num_obs
            count = num_rows + rows_before if k < self.num_obs else num_rows
            wanted = (count, *self.shapes[column])
            if not isinstance(out[k], cnp.ndarray):
                raise TypeError(f"out: expected an array at index {k}, got {type(out[k]).__name__}")
            array = out[k]
            # not its own `shape`, which a subclass may make up
            shape = tuple([cnp.PyArray_DIM(array, j) for j in range(cnp.PyArray_NDIM(array))])
            if shape and shape[0] != count:
                raise ValueError(f"out: expected arrays of {count} rows, got {shape[0]}")
            if (not cnp.PyArray_ISCARRAY(array) or shape != wanted
                    or not cnp.PyArray_EquivTypenums(cnp.PyArray_TYPE(array), self.dtypes[column].num)):
                raise ValueError(f"out: expected a writeable C-contiguous array of {self.dtypes[column]}, shape "
                                 f"{wanted}, at index {k}, got {array.dtype}, shape {shape}")
            for j in range(k):
                other = out[j]
                if (cnp.PyArray_BYTES(array) < cnp.PyArray_BYTES(other) + cnp.PyArray_NBYTES(other)
                        and cnp.PyArray_BYTES(other) < cnp.PyArray_BYTES(array) + cnp.PyArray_NBYTES(array)):
                    raise ValueError("out: expected arrays that do not overlap in memory, but those at indices "
                                     f"{j} and {k} do")
        return 0


cdef object _view(BatchLayout layout, Memory memory, int k):
    """Returns a new array over column k."""
    cdef int type_num = layout.dtypes[k].num
    array = cnp.PyArray_SimpleNewFromData(
        <int>layout.dims[k].size(), layout.dims[k].data(), type_num, memory.data + layout.offsets[k])
    # the base is no ndarray, so views of views refer to our array, whose reference count shows it
    cnp.set_array_base(array, memory)
    return array


cdef inline bint _intact(BatchLayout layout, Memory memory, PyObject* borrowed, Py_ssize_t k) noexcept:
    """Whether the array is as `_view` made it, and there is no other reference to it: a user may have reshaped, locked
    or refilled it before letting it go, or may keep a weak reference."""
    cdef cnp.ndarray array = <cnp.ndarray>borrowed
    cdef size_t num_dims = layout.dims[k].size(), d
    if (<size_t>cnp.PyArray_NDIM(array) != num_dims or not cnp.PyArray_ISCARRAY(array)
            or cnp.PyArray_BYTES(array) != memory.data + layout.offsets[k]
            or cnp.PyArray_BASE(array) != <PyObject*>memory
            or (<PyObject**>(<char*>borrowed + WEAKREFS))[0] != NULL
            or <PyObject*>cnp.PyArray_DESCR(array) != PyList_GET_ITEM(<PyObject*>layout.dtypes, k)):
        return False
    for d in range(num_dims):
        if cnp.PyArray_DIM(array, <int>d) != layout.dims[k][d]:
            return False
    return True


cdef class Block:
    """The memory of one batch and the arrays over it.

    Memory: the arrays share one `Memory`, which lives as long as any of them, or any view of them.
    """
    cdef BatchLayout layout
    cdef Memory memory
    cdef list arrays                     # one per column
    cdef char* data                      # borrowed from memory
    cdef vector[Column] columns
    cdef vector[Column] finals
    cdef vector[AgentColumns] agents

    def __init__(self, BatchLayout layout):
        cdef Memory memory = Memory(layout.nbytes)
        cdef int k
        self.layout = layout
        self.memory = memory
        self.data = memory.data
        self.arrays = [_view(layout, memory, k) for k in range(len(layout.dtypes))]
        for k in range(layout.num_columns):
            self.columns.push_back(Column(self.data + layout.offsets[k], layout.row_bytes[k]))
            if layout.has_finals:
                self.finals.push_back(Column(
                    self.data + layout.offsets[layout.first_final + k], layout.row_bytes[k]))

        for group in layout.groups:
            self.add_group(group)

    cdef int add_group(self, GroupColumns group) except -1:
        cdef AgentColumns columns
        columns.count, columns.num_obs = group.count, group.num_obs
        columns.reward = <double*>self.column(group.reward)
        columns.terminated = <uint8_t*>self.column(group.terminated)
        columns.truncated = <uint8_t*>self.column(group.truncated)
        columns.acted = <uint8_t*>self.column(group.acted)
        columns.alive = <uint8_t*>self.column(group.alive)
        columns.episode_return = <double*>self.column(group.episode_return)
        columns.episode_length = <int64_t*>self.column(group.episode_length)
        self.agents.push_back(columns)
        return 0

    cdef char* column(self, int k) noexcept:
        """The first row of a column; NULL for -1."""
        if k < 0:
            return NULL
        return self.data + self.layout.offsets[k]

    cdef bint idle(self) except -1:
        """Whether only this block holds the arrays; repairs changes that a user made to them."""
        cdef PyObject* arrays = <PyObject*>self.arrays
        cdef Py_ssize_t k, n = PyList_GET_SIZE(arrays)
        for k in range(n):
            if not is_uniquely_referenced(PyList_GET_ITEM(arrays, k)):
                return False
        for k in range(n):
            if not _intact(self.layout, self.memory, PyList_GET_ITEM(arrays, k), k):
                self.arrays[k] = _view(self.layout, self.memory, <int>k)
        return True

    cdef void open_on(self, OpenBatch* batch) noexcept:
        """Makes `batch` point to this block."""
        cdef int n = self.layout.num_columns
        batch.columns = self.columns.data()
        batch.num_columns = n
        batch.num_obs = self.layout.num_obs
        batch.reward = <double*>(self.data + self.layout.offsets[n + REWARD])
        batch.terminated = <uint8_t*>(self.data + self.layout.offsets[n + TERMINATED])
        batch.truncated = <uint8_t*>(self.data + self.layout.offsets[n + TRUNCATED])
        batch.kind = self.kinds()
        memset(batch.kind, ROW_STEP, self.layout.num_rows)
        batch.env_id = <int32_t*>(self.data + self.layout.offsets[n + ENV_ID])
        batch.elapsed_step = <int32_t*>(self.data + self.layout.offsets[n + ELAPSED_STEP])
        if self.layout.has_finals:
            batch.finals = self.finals.data()
            batch.final_step = <int32_t*>(self.data + self.layout.offsets[self.layout.first_final + n])
        if self.layout.has_statistics:
            batch.episode_return = <double*>(self.data + self.layout.offsets[self.layout.first_statistic])
            batch.episode_length = <int64_t*>(self.data + self.layout.offsets[self.layout.first_statistic + 1])
            batch.episode_time = <double*>(self.data + self.layout.offsets[self.layout.first_statistic + 2])
        batch.agents, batch.num_groups = self.agents.data(), <int>self.agents.size()
        batch.finished.store(0)
        batch.wanted.store(0)

    cdef uint8_t* kinds(self) noexcept:
        """A `RowKind` for each row."""
        return <uint8_t*>(self.data + self.layout.kinds_offset)


cdef class Blocks:
    """Creates blocks, and lends their arrays: `take` finds lent blocks whose arrays are no longer held.

    Args:
        layout: The columns of every block.
        watched: Number of blocks held by users that are watched. A user who keeps more batches than that gets
            fresh memory for each, which is freed with the last array over it.
    """
    cdef BatchLayout layout
    cdef list lent                        # blocks that were handed out, the oldest first
    cdef int watched

    def __init__(self, BatchLayout layout, int watched):
        self.layout = layout
        self.lent = []
        self.watched = watched

    cdef Block take(self):
        """A block that is not in use."""
        cdef Py_ssize_t k
        cdef Block block
        # they come free in the order they were handed out
        for k in range(len(self.lent)):
            block = <Block>self.lent[k]
            if block.idle():
                del self.lent[k]
                return block
        return Block(self.layout)

    cdef int lend(self, Block block) except -1:
        """Marks a block's arrays as handed out to the user."""
        if len(self.lent) >= self.watched:
            # the oldest is the user's now: its arrays keep its memory alive
            del self.lent[0]
        self.lent.append(block)
        return 0
