# The memory of a replay buffer: a ring of rows for each environment, and which of them are drawn.
#
# A row has an observation, and the step that was made from it, which led to the next row. An episode of T steps has
# T + 1 rows. For stacked observations, a row stores only the newest frame, and the first row of an episode follows as
# many rows of padding as its other frames need. So the frames of an observation are always those of neighbouring rows.
cimport cython
from libc.math cimport pow as power
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy, memset
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

cimport numpy as cnp

import numpy as np

from cypool.random cimport Rng, integers, uniform

cnp.import_array()

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
    uint64_t tagged(double priority, int64_t index) noexcept
    double number_in(uint64_t word) noexcept
    bint is_tagged(uint64_t word, int64_t index) noexcept

cdef extern from "cypool/replay/stream.h" namespace "cypool" nogil:
    void stream(char* out, const char* source, size_t size) noexcept
    void end_of_streams() noexcept

cdef extern from "<atomic>" namespace "std" nogil:
    ctypedef enum memory_order:
        memory_order_seq_cst
    # keeps the compiler from moving writes across: the order counts if the process is killed
    void atomic_signal_fence(memory_order order) noexcept

cdef enum:
    SPARSE = 32                  # if a smaller part of the rows can be drawn, these are listed before


@cython.final
cdef class Ring:
    """The rows of all environments.

    Args:
        num_envs: Number of environments.
        rows: Number of rows of each environment.
        memory: Arrays of zeros, or those of another ring: "begun" and "written", int64, (num_envs,); "flags", uint8,
            "reward", float64, (num_envs, rows); and "obs0", ... and "step0", ... of the next two. To keep checksums,
            also "obs_sums" and "step_sums", uint64, (num_envs, rows). With priorities also "priority", uint64,
            (num_envs, rows), and "greatest", uint64, (1,).
        parts: For each part of the observation (frame_bytes, stack, blocks): a frame is `blocks` pieces, which are
            apart in an observation.
        columns: The bytes of a row of each column of a step: the action, then for each group of agents their rewards,
            terminated, truncated, and acted where agents may be absent.
        groups: For each group of agents (count, whether there is acted).
        length: Length of sequences; 0: single steps.
        alpha: Exponent of priorities; 0: there are none.
        goals: The parts of the observation that are the achieved and the desired goal, or None.

    Thread safety: one thread at a time.
    """
    cdef readonly int num_envs
    cdef readonly int64_t rows             # of each environment
    cdef readonly int padding              # rows in front of a FIRST one
    cdef readonly int64_t num_eligible     # rows that can be sampled
    cdef int64_t length                    # of sequences; 0: single steps
    cdef double alpha
    cdef double greatest                   # priority so far, at least 1
    cdef list arrays                       # own the memory that the pointers are of
    cdef vector[ObsPart] parts
    cdef vector[Column] columns            # the action first, then those of agents
    cdef vector[Group] groups
    cdef double* reward
    cdef uint8_t* flags
    cdef int64_t* begun                    # rows of each environment whose writing has begun ...
    cdef int64_t* written                  # ... and is done: row k is at k % rows
    cdef uint64_t* obs_sums                # checksums of rows, of their observations and ...
    cdef uint64_t* step_sums               # ... of the steps from them. NULL: none are kept
    cdef uint64_t* priority                # of rows, tagged; NULL: there are none
    cdef uint64_t* greatest_so_far         # priority, tagged
    cdef vector[char] pending              # actions of steps in flight
    cdef vector[uint8_t] is_open           # whether the last row of an environment waits for a step: a `Writer`
    cdef vector[uint8_t] eligible
    cdef vector[int64_t] last              # row that ends the episode of a row; -1: it is not over. Empty without goals
    cdef vector[int64_t] record            # number of a row among those that are no padding. Empty without sequences
    cdef vector[int64_t] candidate         # the next row to become eligible, where sequences are
    cdef int achieved, desired             # parts of goals; -1
    cdef unique_ptr[SumTree] tree          # of priorities; NULL

    def __init__(self, int num_envs, int64_t rows, dict memory, list parts, list columns, list groups,
                 int64_t length, double alpha, goals):
        cdef size_t total = <size_t>(num_envs * rows), size = 1
        cdef ObsPart part
        cdef Group group
        self.num_envs, self.rows, self.length = num_envs, rows, length
        self.alpha, self.greatest = alpha, 1
        self.arrays = list(memory.values())
        self.begun = <int64_t*>bytes_of(memory["begun"], num_envs * sizeof(int64_t))
        self.written = <int64_t*>bytes_of(memory["written"], num_envs * sizeof(int64_t))
        self.flags = <uint8_t*>bytes_of(memory["flags"], total)
        self.reward = <double*>bytes_of(memory["reward"], total * sizeof(double))
        if "obs_sums" in memory:
            self.obs_sums = <uint64_t*>bytes_of(memory["obs_sums"], total * sizeof(uint64_t))
            self.step_sums = <uint64_t*>bytes_of(memory["step_sums"], total * sizeof(uint64_t))
        for k, (frame_bytes, stack, blocks) in enumerate(parts):
            part.frame_bytes, part.stack, part.blocks = frame_bytes, stack, blocks
            part.block_bytes = part.frame_bytes // part.blocks
            part.frames = bytes_of(memory[f"obs{k}"], total * part.frame_bytes)
            self.parts.push_back(part)
            self.padding = max(self.padding, part.stack - 1)
        for k, row_bytes in enumerate(columns):
            self.columns.push_back(Column(bytes_of(memory[f"step{k}"], total * <size_t>row_bytes), row_bytes))
        for count, has_acted in groups:
            group.count = count
            group.reward, group.terminated, group.truncated = size, size + 1, size + 2
            group.acted = size + 3 if has_acted else 0
            self.groups.push_back(group)
            size += 4 if has_acted else 3
        self.pending.resize(num_envs * self.columns[0].row_bytes)
        self.is_open.resize(num_envs)
        self.eligible.resize(total)
        self.achieved, self.desired = (-1, -1) if goals is None else goals
        if goals is not None:
            self.last.resize(total)
        if length > 0:
            self.record.resize(total)
            self.candidate.resize(num_envs)
        if alpha > 0:
            self.priority = <uint64_t*>bytes_of(memory["priority"], total * sizeof(uint64_t))
            self.greatest_so_far = <uint64_t*>bytes_of(memory["greatest"], sizeof(uint64_t))
            self.tree.reset(new SumTree(total))

    cdef inline size_t at(self, int64_t env, int64_t row) noexcept nogil:
        return <size_t>(env * self.rows + row % self.rows)

    cdef inline int64_t oldest(self, int64_t env) noexcept nogil:
        """The oldest row whose frames are all there."""
        return max(self.begun[env] - self.rows, <int64_t>0) + self.padding

    cdef void mark(self, int64_t env, int64_t row) noexcept nogil:
        """Makes a row available to samples."""
        cdef size_t k = self.at(env, row)
        if row < self.oldest(env) or self.eligible[k]:
            return
        self.eligible[k] = True
        self.num_eligible += 1
        if self.tree.get() != NULL:
            if self.priority[k] == 0:
                self.priority[k] = tagged(self.greatest, row * self.num_envs + env)
            self.tree.get().set(k, power(number_in(self.priority[k]), self.alpha))

    cdef void unmark(self, int64_t env, int64_t row) noexcept nogil:
        cdef size_t k = self.at(env, row)
        if self.eligible[k]:
            self.eligible[k] = False
            self.num_eligible -= 1
            if self.tree.get() != NULL:
                self.tree.get().set(k, 0)

    cdef uint64_t obs_sum(self, int64_t env, int64_t row) noexcept nogil:
        """Returns the checksum of a row without its step."""
        cdef size_t k = self.at(env, row)
        cdef uint64_t result = <uint64_t>(row * self.num_envs + env) * 128 + (self.flags[k] & (FIRST | LAST | PADDING))
        cdef ObsPart part
        for part in self.parts:
            result = checksum(part.frames + k * part.frame_bytes, part.frame_bytes, result)
        return result

    cdef uint64_t step_sum(self, int64_t env, int64_t row) noexcept nogil:
        """Returns the checksum of the step from a row."""
        cdef size_t k = self.at(env, row)
        cdef uint64_t result = checksum(<const char*>(self.reward + k), sizeof(double), self.flags[k])
        cdef Column column
        for column in self.columns:
            result = checksum(column.data + k * column.row_bytes, column.row_bytes, result)
        return result

    cdef void begin_row(self, int64_t env, uint8_t flags) noexcept nogil:
        """Begins the next row of an environment, in the place of its oldest one."""
        # a row that was begun only is begun again
        cdef int64_t row = self.written[env], lost = row - self.rows + self.padding
        cdef size_t k = self.at(env, row), before
        if lost >= 0:
            # the oldest one, or that whose oldest frame this is
            self.unmark(env, lost)
        self.begun[env] = row + 1
        atomic_signal_fence(memory_order_seq_cst)
        self.flags[k] = flags
        self.forget_step(env, row)
        if self.priority != NULL:
            self.priority[k] = 0
        if self.last.size() > 0:
            self.last[k] = -1
        if self.record.size() > 0:
            # padding has that of the row that follows
            before = self.at(env, row - 1) if row > 0 else k
            self.record[k] = self.record[before]
            if not self.flags[before] & PADDING:
                self.record[k] += 1

    cdef void end_row(self, int64_t env) noexcept nogil:
        if self.obs_sums != NULL:
            self.obs_sums[self.at(env, self.written[env])] = self.obs_sum(env, self.written[env])
        atomic_signal_fence(memory_order_seq_cst)
        self.written[env] = self.begun[env]

    cdef void write_frame(self, const ObsPart* part, int64_t env, const char* obs, int frame) noexcept nogil:
        """Writes a frame of an observation to the row that has begun."""
        cdef char* out = part.frames + self.at(env, self.begun[env] - 1) * part.frame_bytes
        if part.blocks == 1 and self.obs_sums == NULL:
            # with checksums it is read at once
            stream(out, obs + frame * part.block_bytes, part.block_bytes)
            return
        copy_blocks(out, part.block_bytes, obs + frame * part.block_bytes, part.stack * part.block_bytes, part.blocks,
                    part.block_bytes)

    cdef void append(self, int64_t env, const vector[const char*]& obs, size_t k, uint8_t flags,
                     Writer writer) noexcept nogil:
        """Adds a row with row k of these arrays; before a FIRST one also those of its older frames."""
        cdef const ObsPart* part
        cdef int older, frame
        cdef size_t p
        for older in range(self.padding if flags & FIRST else 0, -1, -1):
            self.begin_row(env, flags if older == 0 else PADDING)
            for p in range(self.parts.size()):
                part = &self.parts[p]
                frame = part.stack - 1 - older
                if frame >= 0:
                    self.write_frame(part, env, obs[p] + k * part.stack * part.frame_bytes, frame)
            self.end_row(env)
        self.is_open[env] = NOBODY if flags & LAST else writer
        if self.length > 0:
            self.mark_sequences(env)
        if flags & LAST:
            self.close_episode(env)

    cdef void close_episode(self, int64_t env) noexcept nogil:
        """Ends the episode of an environment's last row: no step leads from there."""
        self.is_open[env] = NOBODY
        if self.last.size() > 0:
            self.set_last(env, self.written[env] - 1)

    cdef void set_last(self, int64_t env, int64_t newest) noexcept nogil:
        """Notes, for the rows of an episode, which one is the last."""
        cdef int64_t row
        for row in range(newest, max(self.begun[env] - self.rows, <int64_t>0) - 1, -1):
            self.last[self.at(env, row)] = newest
            if self.flags[self.at(env, row)] & FIRST:
                return

    cdef void mark_sequences(self, int64_t env) noexcept nogil:
        """Makes complete sequences available to samples: the newest row belongs to none, as its step is not known."""
        cdef int64_t newest = self.written[env] - 1, row = max(self.candidate[env], self.oldest(env))
        while row < newest:
            if not self.flags[self.at(env, row)] & PADDING:
                if self.record[self.at(env, newest)] - self.record[self.at(env, row)] < self.length:
                    break
                self.mark(env, row)
            row += 1
        self.candidate[env] = row

    cdef const int32_t* ids_of(self, cnp.ndarray env_ids, size_t* count) except NULL:
        """Returns env ids, each in [0, num_envs), and writes their number."""
        cdef size_t k
        cdef const int32_t* ids
        count[0] = <size_t>cnp.PyArray_SIZE(env_ids)
        ids = <const int32_t*>bytes_of(env_ids, count[0] * sizeof(int32_t))
        for k in range(count[0]):
            if not 0 <= ids[k] < self.num_envs:
                raise ValueError(f"env_id: expected ids in [0, {self.num_envs}), got {ids[k]}")
        return ids

    def note_actions(self, cnp.ndarray actions, cnp.ndarray env_ids):
        """Stores the actions of steps that are sent.

        Args:
            actions: A row for each id, as the engine takes them.
            env_ids: int32, (k,), each in [0, num_envs).
        """
        cdef size_t size = self.columns[0].row_bytes, k, count
        cdef const int32_t* ids = self.ids_of(env_ids, &count)
        cdef const char* source = bytes_of(actions, count * size)
        for k in range(count):
            memcpy(self.pending.data() + ids[k] * size, source + k * size, size)

    def continues(self, cnp.ndarray env_ids, list led_to, list obs):
        """Returns where the last row waits for a step of the caller's that begins with its observation: bool, (k,).

        Args:
            env_ids: int32, (k,), each in [0, num_envs).
            led_to: The observations after the caller's last steps, an array of all environments for each part.
            obs: Those before its next steps, an array of k rows for each part. Bytes are compared, so NaN equals
                itself.
        """
        cdef size_t k, p, size, count
        cdef const int32_t* ids = self.ids_of(env_ids, &count)
        cdef cnp.ndarray result = np.zeros(count, np.bool_)
        cdef uint8_t* out = <uint8_t*>cnp.PyArray_DATA(result)
        cdef const char* last
        cdef const char* given
        for k in range(count):
            out[k] = self.is_open[ids[k]] == CALLER
        for p in range(self.parts.size()):
            size = self.parts[p].stack * self.parts[p].frame_bytes
            last, given = bytes_of(led_to[p], self.num_envs * size), bytes_of(obs[p], count * size)
            for k in range(count):
                out[k] = out[k] and memcmp(last + ids[k] * size, given + k * size, size) == 0
        return result

    def newest(self, cnp.ndarray env_ids):
        """Returns the index of the row that the last step of each of these environments was made from: int64."""
        cdef size_t k, count
        cdef const int32_t* ids = self.ids_of(env_ids, &count)
        cdef cnp.ndarray result = np.zeros(cnp.PyArray_SIZE(env_ids), np.int64)
        for k in range(count):
            (<int64_t*>cnp.PyArray_DATA(result))[k] = (self.written[ids[k]] - 2) * self.num_envs + ids[k]
        return result

    def cut_pool(self):
        """Ends the pool's episodes after an unknown change; episodes of the caller continue."""
        cdef int64_t env
        for env in range(self.num_envs):
            self.end_of(env, CALLER)

    cdef void end_of(self, int64_t env, Writer writer) noexcept nogil:
        """Ends the episode of an environment's last row, if it waits for a step of another writer."""
        if self.is_open[env] != NOBODY and self.is_open[env] != writer:
            self.close_episode(env)

    def add(self, cnp.ndarray env_ids, cnp.ndarray stepped, cnp.ndarray starts, list obs, cnp.ndarray reward,
            cnp.ndarray terminated, cnp.ndarray truncated, list agents, list final_obs=None, bint of_caller=False):
        """Adds a batch.

        Args:
            env_ids: int32, (k,), each in [0, num_envs).
            stepped, starts: bool: which rows belong to a step; which begin an episode, because they belong to a reset.
            obs: An array for each part.
            reward, terminated, truncated: Of the rows.
            agents: An array for each column of agents.
            final_obs: As `obs`, where an episode ended and the next one has begun.
            of_caller: Whether the steps are not the pool's: they do not continue the pool's episodes.
        """
        cdef size_t k, c, p, newest, count
        cdef const int32_t* ids = self.ids_of(env_ids, &count)
        cdef Writer writer = CALLER if of_caller else POOL
        cdef const uint8_t* is_step = <const uint8_t*>bytes_of(stepped, count)
        cdef const uint8_t* is_start = <const uint8_t*>bytes_of(starts, count)
        cdef const double* rewards = <const double*>bytes_of(reward, count * sizeof(double))
        cdef const uint8_t* terminal = <const uint8_t*>bytes_of(terminated, count)
        cdef const uint8_t* cut_off = <const uint8_t*>bytes_of(truncated, count)
        cdef vector[const char*] shown, finals, columns
        cdef const Column* column
        cdef int64_t env
        cdef uint8_t flags
        cdef bint same_step = final_obs is not None
        if len(obs) != <int>self.parts.size() or len(agents) != <int>self.columns.size() - 1 or (
                same_step and len(final_obs) != len(obs)):
            raise ValueError("expected an array for each part of the observation and for each column of agents")
        for p in range(self.parts.size()):
            shown.push_back(bytes_of(obs[p], count * self.parts[p].stack * self.parts[p].frame_bytes))
            if same_step:
                finals.push_back(bytes_of(final_obs[p], count * self.parts[p].stack * self.parts[p].frame_bytes))
        for c in range(self.columns.size() - 1):
            columns.push_back(bytes_of(agents[c], count * self.columns[c + 1].row_bytes))
        with nogil:
            for k in range(count):
                env = ids[k]
                self.end_of(env, writer)
                if is_start[k]:
                    if self.is_open[env]:
                        self.close_episode(env)
                    self.append(env, shown, k, FIRST, writer)
                    continue
                if not is_step[k]:
                    if cut_off[k] and self.is_open[env]:
                        # it has failed
                        self.close_episode(env)
                    continue
                flags = (TERMINATED if terminal[k] else 0) | (TRUNCATED if cut_off[k] else 0)
                if self.is_open[env]:
                    newest = self.at(env, self.written[env] - 1)
                    column = &self.columns[0]
                    memcpy(column.data + newest * column.row_bytes, self.pending.data() + env * column.row_bytes,
                           column.row_bytes)
                    for c in range(1, self.columns.size()):
                        column = &self.columns[c]
                        memcpy(column.data + newest * column.row_bytes, columns[c - 1] + k * column.row_bytes,
                               column.row_bytes)
                    self.reward[newest] = rewards[k]
                    self.flags[newest] |= STEPPED | flags | self.agents_end(newest)
                    if self.step_sums != NULL:
                        self.step_sums[newest] = self.step_sum(env, self.written[env] - 1)
                    self.append(env, finals if same_step and flags else shown, k, LAST if flags else 0, writer)
                    if self.length == 0:
                        self.mark(env, self.written[env] - 2)
                elif not flags:
                    # the observation before is not known
                    self.append(env, shown, k, FIRST, writer)
                if same_step and flags:
                    self.append(env, shown, k, FIRST, writer)
            end_of_streams()

    cdef uint8_t agents_end(self, size_t k) noexcept nogil:
        """Returns AGENT_ENDED if the part of an agent ended in the step from row k, else 0."""
        cdef Group group
        cdef size_t j, c
        for group in self.groups:
            for c in range(group.terminated, group.truncated + 1):
                for j in range(group.count):
                    if self.columns[c].data[k * group.count + j]:
                        return AGENT_ENDED
        return 0

    def sums(self):
        """Returns the checksums of all rows, computed now: uint64, (num_envs, rows), of observations and of steps."""
        cdef cnp.ndarray obs = np.zeros((self.num_envs, self.rows), np.uint64), steps = obs.copy()
        cdef uint64_t* obs_sums = <uint64_t*>cnp.PyArray_DATA(obs)
        cdef uint64_t* step_sums = <uint64_t*>cnp.PyArray_DATA(steps)
        cdef int64_t env, row
        with nogil:
            for env in range(self.num_envs):
                for row in range(max(self.begun[env] - self.rows, <int64_t>0), self.written[env]):
                    obs_sums[self.at(env, row)] = self.obs_sum(env, row)
                    if self.flags[self.at(env, row)] & STEPPED:
                        step_sums[self.at(env, row)] = self.step_sum(env, row)
        return obs, steps

    def writers(self):
        """Returns who may make a step from the last row of each environment: uint8, (num_envs,), of `Writer`."""
        cdef cnp.ndarray result = np.zeros(self.num_envs, np.uint8)
        memcpy(cnp.PyArray_DATA(result), self.is_open.data(), self.is_open.size())
        return result

    def restore(self, cnp.ndarray obs_sums, cnp.ndarray step_sums, cnp.ndarray writers=None):
        """Adopts the rows in memory that was filled from outside.

        Args:
            obs_sums, step_sums: Their checksums, as `sums` returns them.
            writers: As `writers` returns them, where the last rows still wait for a step; None: there are gaps.

        Returns:
            Whether all rows are as they were written. If not, the ring must be emptied.
        """
        cdef size_t total = self.eligible.size(), k
        cdef const uint64_t* wanted_obs = <const uint64_t*>bytes_of(obs_sums, total * sizeof(uint64_t))
        cdef const uint64_t* wanted_step = <const uint64_t*>bytes_of(step_sums, total * sizeof(uint64_t))
        cdef const uint8_t* waiting = NULL
        cdef int64_t env, row
        cdef bint intact = True
        if writers is not None:
            waiting = <const uint8_t*>bytes_of(writers, self.num_envs)
        with nogil:
            for env in range(self.num_envs):
                if not (0 <= self.written[env] <= self.begun[env] <= self.written[env] + 1
                        and self.begun[env] < <int64_t>1 << 48):
                    intact = False
                    break
                for row in range(max(self.begun[env] - self.rows, <int64_t>0), self.written[env]):
                    k = self.at(env, row)
                    intact &= self.obs_sum(env, row) == wanted_obs[k]
                    intact &= self.priority == NULL or self.restore_priority(env, row)
                    if row == self.written[env] - 1:
                        # the observation after the step was not written any more
                        self.forget_step(env, row)
                    else:
                        intact &= wanted_step[k] == (self.step_sum(env, row) if self.flags[k] & STEPPED else 0)
            if self.priority != NULL:
                intact = intact and is_tagged(self.greatest_so_far[0], OF_ALL)
                self.greatest = max(self.greatest, number_in(self.greatest_so_far[0]))
            for env in range(self.num_envs if intact else 0):
                self.is_open[env] = NOBODY if waiting == NULL else <Writer>waiting[env]
                if self.is_open[env] != NOBODY:
                    intact &= (self.is_open[env] <= CALLER and self.written[env] > 0
                               and not self.flags[self.at(env, self.written[env] - 1)] & (LAST | PADDING))
            if intact:
                for env in range(self.num_envs):
                    self.restore_rows(env)
        return intact

    cdef bint restore_priority(self, int64_t env, int64_t row) noexcept nogil:
        """Returns whether the priority of a row is valid."""
        cdef size_t k = self.at(env, row)
        if self.priority[k] == 0:
            # only the newest step may have been without one yet; in sequences it comes later
            return (self.length > 0 or row >= self.written[env] - 2 or row < self.oldest(env)
                    or not self.flags[k] & STEPPED)
        self.greatest = max(self.greatest, number_in(self.priority[k]))
        return is_tagged(self.priority[k], row * self.num_envs + env)

    cdef void forget_step(self, int64_t env, int64_t row) noexcept nogil:
        cdef size_t k = self.at(env, row)
        cdef Column column
        self.flags[k] &= FIRST | LAST | PADDING
        self.reward[k] = 0
        if self.step_sums != NULL:
            self.step_sums[k] = 0
        for column in self.columns:
            memset(column.data + k * column.row_bytes, 0, column.row_bytes)

    cdef void restore_rows(self, int64_t env) noexcept nogil:
        """Computes the fields of an environment's rows that are not stored."""
        cdef int64_t oldest = max(self.begun[env] - self.rows, <int64_t>0), written = self.written[env], row
        cdef int64_t number = 0
        for row in range(oldest, written):
            if self.record.size() > 0:
                self.record[self.at(env, row)] = number
                if not self.flags[self.at(env, row)] & PADDING:
                    number += 1
            if self.length == 0 and self.flags[self.at(env, row)] & STEPPED:
                self.mark(env, row)
            # as if it had been written now, an episode after the other; padding belongs to none
            if self.last.size() > 0:
                self.last[self.at(env, row)] = -1
                if not self.flags[self.at(env, row)] & (PADDING | STEPPED) and (
                        row < written - 1 or self.is_open[env] == NOBODY):
                    self.set_last(env, row)
        if self.length > 0 and written > 0:
            self.candidate[env] = oldest
            self.mark_sequences(env)

    def clear(self):
        """Forgets all rows."""
        cdef int64_t env
        for env in range(self.num_envs):
            self.written[env] = self.begun[env] = 0
            self.is_open[env] = NOBODY
        self.eligible.assign(self.eligible.size(), False)
        self.num_eligible = 0
        if self.tree.get() != NULL:
            self.tree.reset(new SumTree(self.eligible.size()))
            self.greatest, self.greatest_so_far[0] = 1, 0
        self.candidate.assign(self.candidate.size(), 0)

    def draw(self, object bit_generator, cnp.ndarray index, cnp.ndarray weight, double beta):
        """Draws rows, all with the same probability or by their priorities.

        Args:
            bit_generator: NumPy's.
            index: int64, (n,): where to write them.
            weight: float32, (n,): where to write the importance of each; all 1 without priorities.
            beta: Exponent of the importance.
        """
        cdef const Rng* rng = rng_of(bit_generator)
        cdef size_t n = <size_t>cnp.PyArray_SIZE(index), k
        cdef int64_t* out = <int64_t*>bytes_of(index, n * sizeof(int64_t))
        cdef float* weights = <float*>bytes_of(weight, n * sizeof(float))
        if self.num_eligible == 0:
            raise RuntimeError("no row can be sampled")
        with nogil:
            if self.tree.get() == NULL:
                self.draw_evenly(rng, out, n)
                for k in range(n):
                    weights[k] = 1
            else:
                self.draw_by_priority(rng, out, weights, n, beta)

    cdef void draw_evenly(self, const Rng* rng, int64_t* index, size_t n) noexcept nogil:
        cdef int64_t most = 0, env
        cdef size_t k, at
        cdef vector[size_t] found
        for env in range(self.num_envs):
            most = max(most, self.written[env])
        most = min(most, self.rows)
        if self.num_eligible < self.num_envs * most // SPARSE:
            # few tries would find one
            self.find_eligible(found)
            for k in range(n):
                index[k] = self.index_of(found[<size_t>integers(rng, 0, <int64_t>found.size())])
            return
        for k in range(n):
            at = <size_t>(integers(rng, 0, self.num_envs) * self.rows + integers(rng, 0, most))
            while not self.eligible[at]:
                at = <size_t>(integers(rng, 0, self.num_envs) * self.rows + integers(rng, 0, most))
            index[k] = self.index_of(at)

    cdef void find_eligible(self, vector[size_t]& places) noexcept nogil:
        """Writes the places of the rows that can be sampled."""
        cdef const uint8_t* begin = self.eligible.data()
        cdef const uint8_t* end = begin + self.eligible.size()
        cdef const uint8_t* at = begin
        places.reserve(<size_t>self.num_eligible)
        while at < end:
            at = <const uint8_t*>memchr(at, True, <size_t>(end - at))
            if at == NULL:
                return
            places.push_back(<size_t>(at - begin))
            at += 1

    cdef void draw_by_priority(self, const Rng* rng, int64_t* index, float* weight, size_t n,
                               double beta) noexcept nogil:
        """Draws one row from each of n equal parts of all priorities."""
        cdef SumTree* tree = self.tree.get()
        cdef double total = tree.total(), importance, greatest = 0
        cdef size_t k, at
        for k in range(n):
            at = tree.find((k + uniform(rng, 0, 1)) / n * total)
            index[k] = self.index_of(at)
            importance = power(self.num_eligible * (tree.get(at) / total), -beta)
            greatest = max(greatest, importance)
            weight[k] = <float>importance
        for k in range(n):
            weight[k] = <float>(weight[k] / greatest)

    cdef int64_t index_of(self, size_t k) noexcept nogil:
        """Returns the index of the row at place k: it belongs to this row, not to the place."""
        cdef int64_t env = <int64_t>k // self.rows, place = <int64_t>k % self.rows, newest = self.written[env] - 1
        return (newest - (newest - place) % self.rows) * self.num_envs + env

    def draw_goals(self, object bit_generator, cnp.ndarray index, cnp.ndarray goal, double share):
        """For a share of the rows, draws a later row of the same episode, whose achieved goal becomes the desired one.

        Args:
            bit_generator: NumPy's.
            index: int64, (n,).
            goal: int64, (n,): where to write the row; -1: the desired goal stays.
            share: The share of the rows, on average.
        """
        cdef const Rng* rng = rng_of(bit_generator)
        cdef size_t n = <size_t>cnp.PyArray_SIZE(index), k
        cdef const int64_t* rows = <const int64_t*>bytes_of(index, n * sizeof(int64_t))
        cdef int64_t* out = <int64_t*>bytes_of(goal, n * sizeof(int64_t))
        cdef int64_t env, row, last
        for k in range(n):
            env, row = rows[k] % self.num_envs, rows[k] // self.num_envs
            out[k] = -1
            if uniform(rng, 0, 1) < share:
                last = self.last[self.at(env, row)]
                out[k] = integers(rng, row + 1, (self.written[env] if last < 0 else last + 1))

    def is_eligible(self, cnp.ndarray index):
        """Returns which rows can be sampled: bool, (n,). Accepts any int64."""
        cdef size_t n = <size_t>cnp.PyArray_SIZE(index), k
        cdef const int64_t* rows = <const int64_t*>bytes_of(index, n * sizeof(int64_t))
        cdef cnp.ndarray result = np.zeros(n, np.bool_)
        cdef uint8_t* out = <uint8_t*>cnp.PyArray_DATA(result)
        cdef int64_t env, row
        for k in range(n):
            if rows[k] >= 0:
                env, row = rows[k] % self.num_envs, rows[k] // self.num_envs
                out[k] = self.oldest(env) <= row < self.written[env] and self.eligible[self.at(env, row)]
        return result

    def all_eligible(self):
        """Returns the index of every row that can be sampled: int64."""
        cdef size_t k
        cdef vector[size_t] found
        cdef cnp.ndarray result = np.zeros(self.num_eligible, np.int64)
        self.find_eligible(found)
        for k in range(found.size()):
            (<int64_t*>cnp.PyArray_DATA(result))[k] = self.index_of(found[k])
        return result

    def episodes(self):
        """Returns (environment, first row, last row) of each whole episode."""
        cdef int64_t env, row, first
        cdef uint8_t flags
        cdef list found = []
        for env in range(self.num_envs):
            first = -1
            for row in range(self.oldest(env), self.written[env]):
                flags = self.flags[self.at(env, row)]
                if flags & FIRST:
                    first = row
                if flags & LAST and first >= 0:
                    found.append((env, first, row))
                    first = -1
        return found

    def set_priorities(self, cnp.ndarray index, cnp.ndarray priority):
        """Sets priorities; rows that no longer exist are ignored.

        Args:
            index: int64, (n,).
            priority: float64, (n,), each in [LEAST, MOST] of priorities.h.
        """
        cdef size_t n = <size_t>cnp.PyArray_SIZE(index), k
        cdef const int64_t* rows = <const int64_t*>bytes_of(index, n * sizeof(int64_t))
        cdef const double* values = <const double*>bytes_of(priority, n * sizeof(double))
        cdef cnp.ndarray there = self.is_eligible(index)
        cdef const uint8_t* counts = <const uint8_t*>cnp.PyArray_DATA(there)
        cdef size_t place
        for k in range(n):
            if counts[k]:
                place = self.at(rows[k] % self.num_envs, rows[k] // self.num_envs)
                # one store: it is there, or not, if the process is killed
                self.priority[place] = tagged(values[k], rows[k])
                if number_in(self.priority[place]) > self.greatest:
                    self.greatest = number_in(self.priority[place])
                    self.greatest_so_far[0] = tagged(self.greatest, OF_ALL)
                self.tree.get().set(place, power(number_in(self.priority[place]), self.alpha))

    def priorities(self, cnp.ndarray index):
        """Returns the priorities of rows that can be sampled: float64, (n,).

        Args:
            index: int64, (n,).
        """
        cdef size_t n = <size_t>cnp.PyArray_SIZE(index), k
        cdef const int64_t* rows = <const int64_t*>bytes_of(index, n * sizeof(int64_t))
        cdef cnp.ndarray result = np.zeros(n)
        for k in range(n):
            (<double*>cnp.PyArray_DATA(result))[k] = number_in(
                self.priority[self.at(rows[k] % self.num_envs, rows[k] // self.num_envs)])
        return result
