"""Environments around environments: what hooks change, what debugging watches."""
from dataclasses import replace
from functools import partial


def put_around(envs, spec, reward_hook, observation_hook, debug):
    """Puts hooks and guards around environments.

    Args:
        envs: The environments.
        spec: The spec of the first one.
        reward_hook, observation_hook, debug: As in `cypool.make`.

    Returns:
        The environments for the engine; the spec for a face; a function that puts hooks in Python around the engine's
        pool, or None; and what `cypool.make` needs for the same again.

    Raises:
        TypeError, ValueError: A hook or its description is wrong.
    """
    from cypool.hooks import CHook, hook_of, observation_hook_of
    from cypool.wrappers.guarded import Guarded
    from cypool.wrappers.hooked import Hooked

    reward = hook_of("reward_hook", reward_hook)
    observation, described = observation_hook_of(observation_hook, spec)
    shown = replace(spec, observation=described)
    in_c = [hook if isinstance(hook, CHook) else None for hook in (reward, observation)]
    in_python = [None if isinstance(hook, CHook) else hook for hook in (reward, observation)]
    if debug:
        envs = [Guarded(env.spec, i, env) for i, env in enumerate(envs)]
    if any(in_c):
        made = described if in_c[1] else spec.observation
        envs = [Hooked(replace(env.spec, observation=made), i, env, *in_c) for i, env in enumerate(envs)]
        if debug:
            envs = [Guarded(env.spec, i, env) for i, env in enumerate(envs)]
    finish = None
    if any(in_python):
        from cypool.faces.batch_hooks import HookedPool
        finish = partial(HookedPool, spec=envs[0].spec, reward=in_python[0], observation=in_python[1], described=shown)
    given = {"debug": debug, "reward_hook": reward,
             "observation_hook": None if observation is None else (observation, described)}
    return envs, shown, finish, given
