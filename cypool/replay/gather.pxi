# Samples of a replay buffer, gathered from its ring: observations from frames, one or several steps as one.
cimport cython
from libc.math cimport pow as power
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

cimport numpy as cnp

from cypool.env cimport Env, Slot

cnp.import_array()

cdef struct Request:             # of rows that are to be gathered
    const int64_t* index
    const int64_t* goal          # instead of whose desired goal that of ... is shown; -1: its own; NULL: all their own


@cython.final
cdef class Gatherer:
    """Gathers rows of a ring.

    Args:
        ring: The ring of the rows.
        action_parts: The bytes of each part of the action.
        n_step: Number of steps in a sample that is not a sequence.
        gamma: Discount of a step.

    Thread safety: one thread at a time, except `gather`, which several may call.
    """
    cdef Ring ring
    cdef int n_step
    cdef int64_t length                    # of sequences; 0: single steps
    cdef double gamma
    cdef vector[size_t] action_parts       # their sizes
    cdef size_t num_step_arrays            # of a sample
    cdef Request requested
    cdef object owners                     # of the requested rows

    def __init__(self, Ring ring, list action_parts, int n_step, double gamma):
        self.ring, self.n_step, self.gamma, self.length = ring, n_step, gamma, ring.length
        self.action_parts = action_parts
        # after these: reward, discount, terminated, truncated, is_first, is_last
        self.num_step_arrays = len(action_parts) + 6 + ring.columns.size() - 1

    def request(self, cnp.ndarray index, cnp.ndarray goal=None):
        """Sets the rows of the next sample.

        Args:
            index: int64, (n,): rows that can be sampled.
            goal: int64, (n,), of `draw_goals`.
        """
        cdef size_t n = <size_t>cnp.PyArray_SIZE(index)
        self.owners = index, goal
        self.requested.index = <const int64_t*>bytes_of(index, n * sizeof(int64_t))
        self.requested.goal = NULL
        if goal is not None:
            self.requested.goal = <const int64_t*>bytes_of(goal, n * sizeof(int64_t))

    cdef void write_observation(self, const ObsPart* part, int64_t env, int64_t row, char* out) noexcept nogil:
        """Writes the observation of a row: its frame, and those of the rows before it."""
        cdef size_t first = self.ring.at(env, row - part.stack + 1), end = <size_t>((env + 1) * self.ring.rows), count
        cdef size_t stride = part.stack * part.block_bytes
        cdef int64_t k
        if part.blocks == 1:
            # until the end of the ring, then from its beginning
            count = min(end - first, <size_t>part.stack)
            memcpy(out, part.frames + first * part.frame_bytes, count * part.frame_bytes)
            if count < <size_t>part.stack:
                memcpy(out + count * part.frame_bytes, part.frames + env * self.ring.rows * part.frame_bytes,
                       (part.stack - count) * part.frame_bytes)
            return
        for k in range(part.stack):
            copy_blocks(out + k * part.block_bytes, stride,
                        part.frames + self.ring.at(env, row - part.stack + 1 + k) * part.frame_bytes, part.block_bytes,
                        part.blocks, part.block_bytes)

    cdef void write_observation_parts(self, int64_t env, int64_t row, int64_t goal, void* const* out,
                                      size_t k) noexcept nogil:
        """Writes all parts of an observation to place k of these arrays."""
        cdef size_t p
        cdef const ObsPart* part
        for p in range(self.ring.parts.size()):
            part = &self.ring.parts[p]
            if goal >= 0 and <int>p == self.ring.desired:
                self.write_observation(&self.ring.parts[self.ring.achieved], env, goal, <char*>out[p])
            else:
                self.write_observation(part, env, row, <char*>out[p] + k * part.stack * part.frame_bytes)

    cdef int num_steps(self, int64_t env, int64_t row) noexcept nogil:
        """Returns how many steps from a row count as one: up to n, and none beyond an end."""
        cdef int count = 0
        cdef uint8_t flags = self.ring.flags[self.ring.at(env, row)]
        while flags & STEPPED:
            count += 1
            if count == self.n_step or flags & (TERMINATED | TRUNCATED | AGENT_ENDED):
                break
            flags = self.ring.flags[self.ring.at(env, row + count)]
        return count

    cdef double discounted(self, const double* reward, size_t count, size_t j, int64_t env, int64_t row,
                           int steps) noexcept nogil:
        """Returns the sum of rewards of agent j of `count` in some steps from a row."""
        cdef double total = 0, gamma = 1
        cdef int k
        for k in range(steps):
            total += gamma * reward[self.ring.at(env, row + k) * count + j]
            gamma *= self.gamma
        return total

    cdef int64_t write_steps(self, int64_t env, int64_t row, void* const* out, size_t k) noexcept nogil:
        """Writes the step, or steps, from a row to place k of these arrays; returns the row that they lead to."""
        cdef size_t first = self.ring.at(env, row), last, size, j, c = 0
        cdef int steps = self.num_steps(env, row)
        # those of no step are zero
        cdef uint8_t flags = 0
        cdef const char* action = self.ring.columns[0].data + first * self.ring.columns[0].row_bytes
        cdef const Group* group
        last = self.ring.at(env, row + max(steps - 1, 0))
        if steps > 0:
            flags = self.ring.flags[last]
        for size in self.action_parts:
            memcpy(<char*>out[c] + k * size, action, size)
            action += size
            c += 1
        (<float*>out[c])[k] = <float>self.discounted(self.ring.reward, 1, 0, env, row, steps)
        (<float*>out[c + 1])[k] = <float>(0 if steps == 0 or flags & TERMINATED else power(self.gamma, steps))
        (<uint8_t*>out[c + 2])[k] = (flags & TERMINATED) != 0
        (<uint8_t*>out[c + 3])[k] = (flags & TRUNCATED) != 0
        (<uint8_t*>out[c + 4])[k] = (self.ring.flags[first] & FIRST) != 0
        (<uint8_t*>out[c + 5])[k] = (self.ring.flags[first] & LAST) != 0
        c += 6
        for g in range(self.ring.groups.size()):
            group = &self.ring.groups[g]
            size = group.count
            for j in range(size):
                (<float*>out[c])[k * size + j] = <float>self.discounted(
                    <const double*>self.ring.columns[group.reward].data, size, j, env, row, steps)
            # the part of an agent ends with the last one of the steps, if it does
            memcpy(<char*>out[c + 1] + k * size, self.ring.columns[group.terminated].data + last * size, size)
            memcpy(<char*>out[c + 2] + k * size, self.ring.columns[group.truncated].data + last * size, size)
            c += 3
            if group.acted > 0:
                memcpy(<char*>out[c] + k * size, self.ring.columns[group.acted].data + first * size, size)
                c += 1
        return row + steps

    cdef void gather(self, size_t k, void* const* out) noexcept nogil:
        """Writes row k of the requested sample to these pointers, one for each array."""
        cdef int64_t index = self.requested.index[k], j
        cdef int64_t env = index % self.ring.num_envs, row = index // self.ring.num_envs
        cdef int64_t goal = -1 if self.requested.goal == NULL else self.requested.goal[k]
        cdef size_t num_obs = self.ring.parts.size()
        if self.length == 0:
            self.write_observation_parts(env, row, goal, out, 0)
            row = self.write_steps(env, row, out + num_obs, 0)
            self.write_observation_parts(env, row, goal, out + num_obs + self.num_step_arrays, 0)
            return
        for j in range(self.length):
            while self.ring.flags[self.ring.at(env, row)] & PADDING:
                row += 1
            self.write_observation_parts(env, row, -1, out, <size_t>j)
            self.write_steps(env, row, out + num_obs, <size_t>j)
            row += 1


cdef class SampledRow(Env):
    """A row of a sample: for the engine an environment whose observation is gathered.

    Args:
        spec: Describes the row as an observation.
        env_id: The number of the row.
        gatherer: Gathers the observation.
    """
    cdef Gatherer gatherer

    def __init__(self, spec, int env_id, Gatherer gatherer):
        self.gatherer = gatherer

    cdef int seed(self, object seed) except -1:
        return 0

    cdef int reset(self) except -1 nogil:
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        self.gatherer.gather(self.env_id, out.obs)
        return 0
