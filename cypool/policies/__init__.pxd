"""The argument of a policy in C: `cdef api int my_policy(Decision* d) noexcept nogil`. See docs/how_to/policies.md."""
from libc.stdint cimport int32_t, int64_t, uint8_t

from cypool.env cimport Agents


cdef extern from "cypool/policy.h" namespace "cypool" nogil:
    cdef struct Decision:
        const void** obs        # obs[k]: the k-th array of the observation that the last step, or reset, led to
        const void** info       # info[k]: the k-th info array
        void* action            # where the policy writes the action; zero before
        void* state             # this environment's row of Policy.state; NULL without
        const void* parameters  # Policy.parameters; NULL without
        int64_t step            # of the rollout
        int32_t env_id
        int32_t elapsed_step    # steps in the episode before this one
        uint8_t ended           # this step starts the next episode, and ignores the action
        const Agents* agents    # NULL in an environment with one agent

    ctypedef int (*PolicyFunction)(Decision*) noexcept
