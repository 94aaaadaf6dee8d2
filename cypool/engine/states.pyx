"""What `save` tells of an environment: its own state, and what the engine keeps of it."""
from libc.stdint cimport int64_t

from cypool.engine.park cimport now_ns
from cypool.env cimport Env

KEYS = frozenset(["id", "options", "elapsed_step", "over", "forced", "episode_return", "episode_length", "episode_ns",
                  "rng", "own"])


cdef dict save_state(Env env):
    """Takes down all that the next steps of an environment depend on, in a dict that pickles."""
    return dict(
        id=env.spec.id, options=env.spec.options, elapsed_step=env.elapsed_step, over=env.over, forced=env.forced,
        episode_return=env.episode_return, episode_length=env.episode_length,
        # 0 where nobody looks at the clock
        episode_ns=now_ns() - env.episode_began if env.episode_began != 0 else 0,
        rng=None if env._bit_generator is None else env._bit_generator.state, own=env.save())


cdef int check_state(Env env, object state) except -1:
    """Raises a ValueError if this is not what `save_state` made of an environment with the same options."""
    if not isinstance(state, dict) or state.keys() != KEYS:
        raise ValueError(f"state: expected rows as save() returned them, got {state!r:.200}")
    if (env.spec.id, env.spec.options) != (state["id"], state["options"]):
        raise ValueError(f"state: expected one of {env.spec.id} with {env.spec.options} for env {env.env_id}, "
                         f"got {state['id']} with {state['options']}")
    return 0


cdef int load_state(Env env, dict state) except -1:
    """Puts an environment back to a checked state; if that fails with a ValueError, it is to be reset."""
    env.over = env.forced = True
    try:
        if state["rng"] is not None:
            if env._bit_generator is None:
                Env.seed(env, 0)
            env._bit_generator.state = state["rng"]
        env.load(state["own"])
        env.elapsed_step = state["elapsed_step"]
        env.episode_return, env.episode_length = state["episode_return"], state["episode_length"]
        env.episode_began = now_ns() - <int64_t>state["episode_ns"]
        env.over, env.forced = state["over"], state["forced"]
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        raise ValueError(f"state: expected rows as save() returned them, got one that env {env.env_id} cannot "
                         f"load: {type(error).__name__}: {error}") from error
    return 0
