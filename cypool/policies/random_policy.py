"""A policy for rollouts that draws legal actions."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cypool.policies import Policy
from cypool.policies.mlp import check_mask, steps_of
from cypool.policies.network import RANDOM_POLICY, RandomCall, Steps
from cypool.spec import Discrete, EnvSpec
from cypool.util.arguments import check_int, shown


class RandomPolicy(Policy):
    """A policy for `rollout` that draws uniformly from the legal actions.

    Without `action_mask` in the spec, for example because an observation hook drops it, it draws from all actions.

    Args:
        spec: The environments' spec: `env.env_spec`. The action is Discrete, possibly for each agent of one group.
        seed: Seed for the draws, which depend on the seed, the environment, the agent and the number of steps that the
            policy has taken. They do not affect the environments' random streams.

    Raises:
        TypeError, ValueError: An argument has the wrong type.
    """

    def __init__(self, spec: EnvSpec, *, seed: int = 0) -> None:
        if "_steps" in self.__dict__:
            raise RuntimeError("the policy is already initialized")
        if not isinstance(spec, EnvSpec):
            raise TypeError(f"spec: expected an EnvSpec, such as env.env_spec, got {shown(spec)}")
        if not isinstance(spec.one_action, Discrete):
            raise ValueError(f"spec: expected a Discrete action space, got {spec.one_action}")
        self._action, self._num_agents = spec.action, spec.num_agents
        self._num_actions, self._has_mask = spec.one_action.n, spec.mask_column is not None
        self._shape = (spec.num_agents,) * bool(spec.agents)
        self._seed, self._state, self._steps = check_int("seed", seed, 0, 2**63 - 1), None, Steps()

    def __call__(self, observation: Any, action_mask: Any = None) -> NDArray[np.int64]:
        """Returns actions.

        Args:
            observation: The observation: only its `action_mask` is used, if it is a dict with one, otherwise its number
                of rows.
            action_mask: If the spec has `illegal`: `info["action_mask"]`, unless it is in the observation.

        Returns:
            (k,) int64; for a group of agents (k, agents).

        Raises:
            ValueError: The mask is missing, or its shape or dtype is wrong.
        """
        if isinstance(observation, dict):
            action_mask = observation.get("action_mask", action_mask)
            observation = next(iter(observation.values()))
        shape = (len(observation), *self._shape)
        mask: Any = check_mask(action_mask, (*shape, self._num_actions)) if self._has_mask else None
        actions = np.zeros(shape, np.int64)
        self._call(1).choose(mask, actions, 0, len(actions))
        return actions

    def _call(self, num_steps: int) -> RandomCall:
        """Returns the policy with random numbers that no other call has."""
        return RandomCall(self._seed, math.prod(self._shape), self._num_actions, self._steps.take(num_steps))

    def _to_checkpoint(self) -> dict[str, Any]:
        return {"actions": (self._num_actions, self._num_agents), "seed": self._seed, "steps": self._steps.take(0)}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], None]:
        actions = self._num_actions, self._num_agents
        if saved["actions"] != actions:
            raise ValueError(f"expected a policy with (actions, agents) = {shown(saved['actions'])}, got one with "
                             f"{actions}")
        seed, steps = check_int("seed", saved["seed"], 0, 2**63 - 1), steps_of(saved["steps"])

        def take() -> None:
            self._seed, self._steps = seed, steps

        return take

    def check(self, spec: EnvSpec, num_envs: int) -> None:
        """Raises a ValueError if the policy's actions differ from a pool's."""
        if spec.action != self._action or spec.num_agents != self._num_agents:
            raise ValueError(f"policy: expected a RandomPolicy for {spec.action}, got one for {self._action}")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a RandomPolicy cannot be pickled or copied: make a new one with the same seed")

    def _for_rollout(self) -> Policy:
        """Returns the policy of one rollout."""
        return _Rollout(self)


class _Rollout(Policy):
    """A `RandomPolicy` in one rollout."""

    def __init__(self, policy: RandomPolicy) -> None:
        self._policy, self._state = policy, None

    def check(self, spec: EnvSpec, num_envs: int) -> None:
        self._policy.check(spec, num_envs)

    def _begin(self, num_steps: int, num_envs: int) -> None:
        self._drawing = self._policy._call(num_steps)
        self._many_address, self._parameters_address = RANDOM_POLICY, self._drawing.address

    def __call__(self, observation: Any, action_mask: Any = None) -> NDArray[np.int64]:
        return self._policy(observation, action_mask)
