# Steps the environments of a claim, one after another or together, and writes their rows.
from cpython.ref cimport PyObject
from libc.math cimport NAN, isnan, round as round_double
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from cypool.util.park cimport now_ns
from cypool.env_methods cimport observe_env, reset_env, step_env, step_envs
from cypool.env cimport Env, Rows, STEP_ALONE

cdef extern from *:
    # keeps the code for several agents off the fast path
    bint unlikely(bint condition) noexcept nogil


cdef inline OpenBatch* claim_row(Scheduler scheduler, Claim* claim, uint32_t* row) noexcept nogil:
    """The batch and row for the current environment; the same ones if called again."""
    cdef int64_t position
    if scheduler.rows_in_send_order.load():
        row[0] = claim.first_row + claim.at
        if claim.batch != scheduler.open[0]:
            scheduler.publish_finished(claim)
            claim.batch = scheduler.open[0]
        return claim.batch
    if claim.position < 0:
        # once the first environment is done: if it was slow, it has held no row
        claim.position = <int64_t>scheduler.counters.get().rows.fetch_add(claim.count)
    position = claim.position + claim.at
    if claim.batch == NULL or not 0 <= position - claim.batch_position < scheduler.batch_rows:
        scheduler.publish_finished(claim)
        claim.batch_position = position - position % scheduler.batch_rows
        claim.batch = scheduler.open[<size_t>(position // scheduler.batch_rows) % scheduler.open.size()]
    row[0] = <uint32_t>(position - claim.batch_position)
    return claim.batch


cdef int reset_env_and_counts(Scheduler scheduler, PyObject* env) except -1 nogil:
    (<Env>env).elapsed_step = 0
    if scheduler.statistics:
        (<Env>env).episode_return = 0
        (<Env>env).episode_length = 0
        (<Env>env).episode_began = now_ns()
    if scheduler.has_agents:
        begin_episode(env)
    reset_env(env)
    if scheduler.has_agents:
        end_reset(env)
    (<Env>env).reset_requested = (<Env>env).needs_reset = False
    return 0


cdef void record_step(PyObject* env) noexcept nogil:
    """Adds a step to the statistics of its episode."""
    cdef double gain = (<Env>env).raw_reward
    (<Env>env).episode_return = (<Env>env).episode_return + ((<Env>env).reward if isnan(gain) else gain)
    (<Env>env).episode_length = (<Env>env).episode_length + 1


cdef void write_episode_stats(PyObject* env, OpenBatch* batch, uint32_t row, bint ended) noexcept nogil:
    """Writes the statistics of an episode that has ended; otherwise 0."""
    batch.episode_return[row] = (<Env>env).episode_return if ended else 0
    batch.episode_length[row] = (<Env>env).episode_length if ended else 0
    # in seconds, with six digits, as Gymnasium has them
    batch.episode_time[row] = round_double((now_ns() - (<Env>env).episode_began) / 1e3) / 1e6 if ended else 0
    if batch.num_groups > 0:
        write_agent_stats(env, batch, row, ended)


cdef int observe_to_row(Scheduler scheduler, PyObject* env, OpenBatch* batch, Column* columns,
                        uint32_t row) except -1 nogil:
    """Writes the observation and infos of an environment to a row of some columns."""
    cdef RowPointers target
    set_row_pointers(&target, batch, columns, row)
    observe_env(env, &target.slot)
    if scheduler.agents_leave:
        hide_absent(env, batch, columns, row)
    return 0


cdef int autoreset_same_step(Scheduler scheduler, PyObject* env, OpenBatch* batch, uint32_t row) except -1 nogil:
    """Keeps the last observation of an episode and starts the next one."""
    observe_to_row(scheduler, env, batch, batch.finals, row)
    batch.final_step[row] = (<Env>env).elapsed_step
    (<Env>env).reward = 0
    (<Env>env).terminated = (<Env>env).truncated = False
    reset_env_and_counts(scheduler, env)
    if scheduler.has_agents:
        write_alive(env, batch, row)
    return 0


cdef bint end_row(Scheduler scheduler, PyObject* env, OpenBatch* batch, uint32_t row) except -1 nogil:
    """Does the work of statistics and SAME_STEP for a row whose reward, terminated and truncated are written.

    Returns:
        Whether the next episode has begun: the environment must be observed again.
    """
    cdef bint ended = batch.terminated[row] or batch.truncated[row]
    if scheduler.statistics:
        write_episode_stats(env, batch, row, ended)
    if scheduler.autoreset == SAME_STEP and ended:
        autoreset_same_step(scheduler, env, batch, row)
        return True
    return False


cdef inline void complete_row(Claim* claim, PyObject* env, OpenBatch* batch, uint32_t row, RowKind kind) noexcept nogil:
    """Writes the engine's columns of the current environment's row, and moves on to the next environment."""
    # stores of uint8_t may alias anything, and have the compiler load all pointers again
    if kind != ROW_STEP:
        batch.kind[row] = kind
    batch.env_id[row] = claim.ids[claim.at]
    batch.elapsed_step[row] = (<Env>env).elapsed_step
    claim.unpublished += 1
    claim.at += 1


cdef int advance(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Steps the environments of a claim and writes their rows, one after another."""
    cdef int32_t env_id
    cdef PyObject* env
    cdef OpenBatch* batch
    cdef uint32_t row
    cdef double reward
    cdef bint terminated, truncated
    cdef RowKind kind
    cdef RowPointers target
    cdef StepEnd end
    # in a register: environments of one agent load nothing
    cdef bint has_agents = scheduler.has_agents
    while claim.at < claim.count:
        env_id = claim.ids[claim.at]
        env = scheduler.envs[env_id]
        reward, terminated, truncated, kind = 0, False, False, ROW_NO_STEP
        (<Env>env).reward = 0
        (<Env>env).terminated = (<Env>env).truncated = False
        (<Env>env).raw_reward = NAN
        if (<Env>env).observe_only:
            (<Env>env).observe_only = False
        elif (<Env>env).needs_reset:
            # its episode has ended (NEXT_STEP), a reset was sent, or it failed before. With DISABLED, environments
            # in a rollout stay at the end of their episodes
            if claim.rollout.step == 0 or scheduler.autoreset != DISABLED:
                reset_env_and_counts(scheduler, env)
                kind = ROW_RESET
        else:
            kind = ROW_STEP
            (<Env>env).elapsed_step = (<Env>env).elapsed_step + 1
            if unlikely(has_agents):
                (<Env>env).reward = NAN
                begin_step((<Env>env).agents[0])
            step_env(env, claim.actions + env_id * scheduler.action_bytes)
            reward, terminated, truncated = (<Env>env).reward, (<Env>env).terminated, (<Env>env).truncated
            if (<Env>env).elapsed_step >= (<Env>env).max_episode_steps:
                truncated = True
            if unlikely(has_agents):
                end = end_step((<Env>env).agents[0], reward, terminated, truncated, scheduler.statistics)
                reward, terminated, truncated = end.reward, end.terminated, end.truncated
                (<Env>env).reward, (<Env>env).terminated, (<Env>env).truncated = reward, terminated, truncated
            (<Env>env).needs_reset = terminated or truncated
            if scheduler.statistics:
                record_step(env)
        # only now is a row needed: a slow env has held none
        batch = claim_row(scheduler, claim, &row)
        batch.reward[row] = reward
        batch.terminated[row] = terminated
        batch.truncated[row] = truncated
        if unlikely(has_agents):
            if kind == ROW_STEP:
                write_step((<Env>env).agents[0], batch[0], row)
            else:
                write_no_step(env, batch, row)
        if scheduler.has_row_ends:
            end_row(scheduler, env, batch, row)
        if not claim.rollout.unobserved:
            set_row_pointers(&target, batch, batch.columns, row + claim.rollout.obs_shift)
            observe_env(env, &target.slot)
            if unlikely(has_agents) and scheduler.agents_leave:
                hide_absent(env, batch, batch.columns, row + claim.rollout.obs_shift)
        complete_row(claim, env, batch, row, kind)
    return 0


cdef int advance_alone(Scheduler scheduler, Claim* claim) except -1 nogil:
    """The same as `advance`, for one environment of a claim."""
    cdef uint32_t count = claim.count
    claim.count = claim.at + 1
    try:
        advance(scheduler, claim)
    finally:
        claim.count = count
    return 0


cdef int advance_ahead(Scheduler scheduler, Claim* claim) except -1 nogil:
    """The same as `advance`, after `step_many` has prepared the steps."""
    cdef Rows rows
    if not claim.stepped and claim.at < claim.count:
        memset(&rows, 0, sizeof(Rows))
        rows.count, rows.ids, rows.actions = claim.count - claim.at, claim.ids + claim.at, claim.actions
        step_envs(scheduler.envs[rows.ids[0]], &rows)
        claim.stepped = True
    return advance(scheduler, claim)


cdef void begin_steps(Scheduler scheduler, Claim* claim) noexcept nogil:
    """Prepares the agents of a claim for `step_many`, which writes their rewards."""
    cdef PyObject* env
    cdef uint32_t k
    for k in range(claim.at, claim.count):
        env = scheduler.envs[claim.ids[k]]
        if not (<Env>env).needs_reset:
            begin_step((<Env>env).agents[0])


cdef int advance_together(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Steps the environments of a claim with one call, then completes `advance` for each environment."""
    cdef OpenBatch* batch
    cdef RowPointers target
    cdef Rows rows
    cdef PyObject* env
    cdef uint32_t row
    cdef RowKind kind
    cdef bint begins, has_agents = scheduler.has_agents
    batch = claim_row(scheduler, claim, &row)
    # if `step_many` raises, `fail` completes the first row, and this is called again: after the last, none is left
    if not claim.stepped and claim.at < claim.count:
        set_row_pointers(&target, batch, batch.columns, row + claim.rollout.obs_shift)
        rows.count, rows.ids, rows.actions = claim.count - claim.at, claim.ids + claim.at, claim.actions
        rows.obs, rows.info = target.columns, target.columns + batch.num_obs
        rows.reward = batch.reward + row
        rows.terminated, rows.truncated = batch.terminated + row, batch.truncated + row
        memset(rows.truncated, 0, rows.count)
        if scheduler.has_agents:
            begin_steps(scheduler, claim)
        step_envs(scheduler.envs[rows.ids[0]], &rows)
        claim.stepped = True
    while claim.at < claim.count:
        claim_row(scheduler, claim, &row)
        if batch.terminated[row] == STEP_ALONE:
            advance_alone(scheduler, claim)
            continue
        env = scheduler.envs[claim.ids[claim.at]]
        (<Env>env).raw_reward = NAN
        kind = ROW_RESET if (<Env>env).needs_reset else ROW_STEP
        if kind == ROW_RESET:
            reset_env_and_counts(scheduler, env)
            batch.reward[row] = 0
            batch.terminated[row] = batch.truncated[row] = False
            if unlikely(has_agents):
                write_no_step(env, batch, row)
        else:
            (<Env>env).elapsed_step = (<Env>env).elapsed_step + 1
            if (<Env>env).elapsed_step >= (<Env>env).max_episode_steps:
                batch.truncated[row] = True
            if unlikely(has_agents):
                end_step_of_row((<Env>env).agents[0], batch[0], row, scheduler.statistics)
            (<Env>env).needs_reset = batch.terminated[row] or batch.truncated[row]
            if scheduler.statistics:
                (<Env>env).reward = batch.reward[row]
                record_step(env)
        # the kernel has observed those that it has stepped
        begins = kind == ROW_RESET
        if scheduler.has_row_ends and end_row(scheduler, env, batch, row):
            begins = True
        if begins:
            observe_to_row(scheduler, env, batch, batch.columns, row + claim.rollout.obs_shift)
        elif unlikely(has_agents) and scheduler.agents_leave:
            hide_absent(env, batch, batch.columns, row + claim.rollout.obs_shift)
        complete_row(claim, env, batch, row, kind)
    return 0


cdef void zero_columns(OpenBatch* batch, uint32_t row) noexcept nogil:
    """Zeroes observations and infos of a row."""
    cdef int k
    for k in range(batch.num_columns):
        memset(batch.columns[k].data + row * batch.columns[k].row_bytes, 0, batch.columns[k].row_bytes)


cdef void write_failed_row(Scheduler scheduler, Claim* claim) noexcept nogil:
    """Writes the row of an environment that has failed: zero, truncated. Callers increment `claim.at`."""
    cdef int32_t env_id = claim.ids[claim.at]
    cdef PyObject* env = scheduler.envs[env_id]
    cdef uint32_t row
    cdef OpenBatch* batch = claim_row(scheduler, claim, &row)
    cdef int k
    zero_columns(batch, row + claim.rollout.obs_shift)
    batch.reward[row] = 0
    batch.terminated[row] = False
    batch.truncated[row] = True
    batch.kind[row] = ROW_NO_STEP
    batch.env_id[row] = env_id
    batch.elapsed_step[row] = (<Env>env).elapsed_step
    if scheduler.autoreset == SAME_STEP:
        for k in range(batch.num_columns):
            memset(batch.finals[k].data + row * batch.finals[k].row_bytes, 0, batch.finals[k].row_bytes)
        batch.final_step[row] = (<Env>env).elapsed_step
    if scheduler.has_agents:
        write_failed_agents(env, batch, row)
    if scheduler.statistics:
        write_episode_stats(env, batch, row, True)
    (<Env>env).needs_reset = True
    claim.unpublished += 1
