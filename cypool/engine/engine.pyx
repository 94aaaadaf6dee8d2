# distutils: extra_compile_args = -O2
"""The engine, as one module of parts, each after the parts it needs. The design page has an order for readers."""
include "action_check.pxi"
include "batch.pxi"
include "claim.pxi"
include "agents.pxi"

# forward declarations, for stepping, threads and child pools
cdef class RolloutPolicy
cdef class Scheduler
cdef class Pool

include "stepping.pxi"
include "normalizing.pxi"
include "rollout_policy.pxi"
include "states.pxi"
include "scheduler.pxi"
include "ids.pxi"
include "results.pxi"
include "threads.pxi"
include "dispatch.pxi"
include "backend_dispatch.pxi"
include "distributor.pxi"
include "queue_dispatch.pxi"
include "deferred_dispatch.pxi"
include "reset_options.pxi"
include "legal_actions.pxi"
include "sync_dispatch.pxi"
include "observers.pxi"
include "lifetime.pxi"
include "pool.pxi"
