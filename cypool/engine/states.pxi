# The saved state of an environment: its own state, and the engine's data on it.
from cpython.ref cimport PyObject
from libc.limits cimport INT_MAX
from libc.stdint cimport int32_t, int64_t, uint32_t

from cypool.util.arguments import check_bool, check_int, shown
from cypool.state import check_stream

from cypool.util.park cimport now_ns
from cypool.env_methods cimport copy_from_env, load_env
from cypool.random cimport copy_stream
from cypool.env cimport Env

KEYS = frozenset(["id", "options", "elapsed_step", "needs_reset", "reset_requested", "episode_return", "episode_length",
                  "episode_ns", "agents", "rng", "own"])


cdef dict save_state(Env env):
    """Returns everything that the next steps of an environment depend on, as a picklable dict."""
    return dict(
        id=env.spec.id, options=env.spec.saved_options, elapsed_step=env.elapsed_step, needs_reset=env.needs_reset,
        reset_requested=env.reset_requested, episode_return=env.episode_return, episode_length=env.episode_length,
        # 0 where the time is not measured
        episode_ns=now_ns() - env.episode_began if env.episode_began != 0 else 0,
        agents=save_agents(env), rng=None if env._bit_generator is None else env._bit_generator.state, own=env.save())


cdef dict check_saved(Env env, object state):
    """Returns a copy of a result of `save_state` for an environment with the same options; changes nothing.

    All of it is checked except `own`, which only the environment understands.

    Raises:
        ValueError: It is not such a result.
    """
    if type(state) is not dict or state.keys() != KEYS:
        raise ValueError(f"state: expected rows returned by save(), got {shown(state)}")
    cdef dict row = dict(state)
    if not _same((env.spec.id, env.spec.saved_options), (row["id"], row["options"])):
        id = row["id"] if type(row["id"]) is str else shown(row["id"])
        own, given = env.spec.saved_options, row["options"]
        if id == env.spec.id:
            own, given = differing(own, given)
        raise ValueError(f"state: expected a state of {env.spec.id} with {shown(own)} for env {env.env_id}, got "
                         f"{id:.200} with {shown(given)}")
    try:
        for key in ("needs_reset", "reset_requested"):
            row[key] = check_bool(key, row[key])
        # one more step may follow, unless the next one is a reset
        maximum = INT_MAX if row["needs_reset"] else INT_MAX - 1
        row["elapsed_step"] = check_int("elapsed_step", row["elapsed_step"], 0, maximum)
        row["episode_length"] = check_int("episode_length", row["episode_length"], 0, maximum)
        row["episode_ns"] = check_int("episode_ns", row["episode_ns"], 0, 2**62)
        if type(row["episode_return"]) not in (float, int):
            raise TypeError(f"episode_return: expected a number, got {shown(row['episode_return'])}")
        row["episode_return"] = float(row["episode_return"])
        row["agents"] = check_agents(env, row["agents"])
        row["rng"] = _stream(env._bit_generator, row["rng"])
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        raise _refused(env, error) from error
    return row


cdef list check_states(Scheduler scheduler, const int32_t* ids, uint32_t count, list states):
    """Returns states for environments, checked but for the environments' own parts."""
    cdef uint32_t k
    if <Py_ssize_t>count != len(states):
        raise ValueError(f"state: expected {count} rows, one for each env, got {len(states)}")
    return [check_saved(<Env>scheduler.envs[ids[k]], states[k]) for k in range(count)]


cdef tuple differing(object options, object others):
    """Returns the options in each of two dicts that the other lacks, for a message."""
    if not isinstance(options, dict) or not isinstance(others, dict):
        # to look for a name in a range takes for ever
        return options, others
    try:
        return tuple([{name: value for name, value in one.items() if name not in other or not _same(value, other[name])}
                      for one, other in ((options, others), (others, options))])
    except Exception:
        # keys that cannot be compared
        return options, others


def _same(one, other):
    # a stranger's values may raise when they are compared
    try:
        return bool(one == other)
    except Exception:
        return False


def _stream(own, state):
    """Returns the state of a bit generator like `own`, checked."""
    if own is not None and state is not None:
        return check_stream("rng", state, type(own))
    if own is not None or state is not None:
        raise ValueError(f"rng: expected {'None' if own is None else 'the state of a stream'}, got {shown(state)}")
    return None


def _refused(Env env, error):
    return ValueError(f"state: expected rows returned by save(), got one that env {env.env_id} cannot load: "
                      f"{type(error).__name__}: {error}")


cdef int load_state(Env env, dict row) except -1:
    """Puts an environment into the state that `check_saved` returned; if that fails, it must be reset."""
    env.needs_reset = env.reset_requested = True
    try:
        load_env(env, row["own"])
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
        raise _refused(env, error) from error
    if row["rng"] is not None:
        env._bit_generator.state = row["rng"]
    env.elapsed_step = row["elapsed_step"]
    env.episode_return, env.episode_length = row["episode_return"], row["episode_length"]
    env.episode_began = now_ns() - <int64_t>row["episode_ns"]
    env.needs_reset, env.reset_requested = row["needs_reset"], row["reset_requested"]
    load_agents(env, row["agents"])
    return 0


cdef int check_copies(Scheduler scheduler, const int32_t* sources, const int32_t* targets, uint32_t count) except -1:
    """Raises a ValueError if an environment cannot become a copy of another."""
    cdef uint32_t k
    cdef Env source, target
    for k in range(count):
        source, target = <Env>scheduler.envs[sources[k]], <Env>scheduler.envs[targets[k]]
        if source.spec is target.spec and type(source) is type(target):
            continue
        if type(source) is not type(target) or source.spec.id != target.spec.id or (
                source.spec.saved_options != target.spec.saved_options):
            given = source.spec.saved_options
            if source.spec.id == target.spec.id:
                given, _ = differing(given, target.spec.saved_options)
            raise ValueError(f"source: expected an environment with the id and options of env {target.env_id}, got env "
                             f"{source.env_id}: {source.spec.id} with {shown(given)}")
    return 0


cdef int copy_env(PyObject* target, PyObject* source) except -1 nogil:
    """Copies the state of another environment, as `save_state` and `load_state` do.

    If that fails, the environment must be reset.
    """
    copy_from_env(target, source)
    if (<Env>target).rng != NULL and not copy_stream((<Env>target).rng, (<Env>source).rng):
        _copy_other_stream(target, source)
    (<Env>target).elapsed_step = (<Env>source).elapsed_step
    (<Env>target).episode_return = (<Env>source).episode_return
    (<Env>target).episode_length = (<Env>source).episode_length
    (<Env>target).episode_began = (<Env>source).episode_began
    (<Env>target).needs_reset = (<Env>source).needs_reset
    (<Env>target).reset_requested = (<Env>source).reset_requested
    if (<Env>target).agents != NULL:
        copy_agents(target, source)
    return 0


cdef int _copy_other_stream(PyObject* target, PyObject* source) except -1 with gil:
    (<Env>target)._bit_generator.state = (<Env>source)._bit_generator.state
    return 0


cdef void note_failed_copy(PyObject* env, object error):
    if not isinstance(error, NotImplementedError):
        (<Env>env).needs_reset = (<Env>env).reset_requested = True


cdef int copy_each(Scheduler scheduler, Claim* claim) except -1 nogil:
    """Makes the environments of a claim copies of others. No row is written, but each counts as one."""
    cdef uint32_t row
    # says nothing about a step
    claim.measured_from = 0
    while claim.at < claim.count:
        claim_row(scheduler, claim, &row)
        copy_env(scheduler.envs[claim.ids[claim.at]], scheduler.envs[scheduler.sources[row]])
        claim.unpublished += 1
        claim.at += 1
    return 0


cdef dict copy_on_caller(Scheduler scheduler, const int32_t* ids, const int32_t* sources, uint32_t count):
    """Makes environments copies of others on the caller's thread; returns the errors."""
    cdef uint32_t k = 0
    # the scheduler's are of rows that were not received yet
    cdef dict errors = {}
    while k < count:
        try:
            with nogil:
                while k < count:
                    copy_env(scheduler.envs[ids[k]], scheduler.envs[sources[k]])
                    k += 1
        except BaseException as error:
            note_failed_copy(scheduler.envs[ids[k]], error)
            if not isinstance(error, Exception):
                raise
            errors[ids[k]] = error
            k += 1
    return errors
