"""The argument of a hook in C: `cdef api void my_hook(Transition* t) noexcept nogil`. See docs/how_to/hooks.md."""
from libc.stdint cimport int32_t, uint8_t

from cypool.env cimport Agents


cdef extern from "cypool/transition.h" namespace "cypool" nogil:
    cdef struct Transition:
        const void** obs        # obs[k]: the k-th observation array of the environment's own spec
        const void** info       # info[k]: the k-th info array
        const void** before     # obs before the step; NULL for an observation hook
        const void* action      # as step gets it; NULL for an observation hook
        void** out              # out[k]: where an observation hook writes; NULL for a reward hook
        double reward           # a reward hook may change this, and the two below
        uint8_t terminated
        uint8_t truncated
        int32_t env_id
        int32_t elapsed_step
        Agents* agents          # NULL in an environment with one agent; a reward hook may change their rewards

    ctypedef void (*Hook)(Transition*) noexcept
