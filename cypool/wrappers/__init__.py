"""Environments around environments, for hooks and for debugging."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cypool.env import Env
    from cypool.spec import EnvSpec


def wrap_envs(envs: Sequence[Env], spec: EnvSpec, reward_hook: Any, observation_hook: Any,
               debug: bool) -> tuple[Any, ...]:
    """Puts hooks and guards around environments.

    Args:
        envs: The environments.
        spec: The spec of the first one.
        reward_hook, observation_hook, debug: As in `cypool.make`.

    Returns:
        The environments for the engine; the spec for an API; the arguments of `BatchHooks`, or None if no hook is in
        Python; and the arguments of `cypool.make` for an identical pool.

    Raises:
        TypeError, ValueError: A hook or its description is wrong.
    """
    from cypool.hooks import CHook, hook_of, observation_hook_of
    from cypool.wrappers.wrappers import Guarded, Hooked

    reward = hook_of("reward_hook", reward_hook)
    observation, described = observation_hook_of(observation_hook, spec)
    shown = spec.with_observation(described)
    in_c = [hook if isinstance(hook, CHook) else None for hook in (reward, observation)]
    in_python = [None if isinstance(hook, CHook) else hook for hook in (reward, observation)]
    if debug:
        envs = [Guarded(env.spec, i, env) for i, env in enumerate(envs)]
    if any(in_c):
        envs = [Hooked(env.spec.with_observation(described) if in_c[1] else env.spec, i, env, *in_c)
                for i, env in enumerate(envs)]
        if debug:
            # those within check the rows that environments write, these the rows that hooks write
            envs = [Guarded(env.spec, i, env) for i, env in enumerate(envs)]
    batch_hooks = None
    if any(in_python):
        batch_hooks = {"spec": envs[0].spec, "reward": in_python[0], "observation": in_python[1],
                       "described": shown, "debug": debug}
    given = {"debug": debug, "reward_hook": reward,
             "observation_hook": None if observation is None else (observation, described)}
    return envs, shown, batch_hooks, given
