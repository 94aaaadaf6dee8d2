"""The arrays that a replay buffer stores, and those of a sample."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.arguments.action_readers import pack_parts
from cypool.spec import Array, Discrete, EnvSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ARRAYS = 64  # of the engine
# the columns of a sample for each step, behind the action
OF_STEPS = {"reward": np.float32, "discount": np.float32, "terminated": np.bool_, "truncated": np.bool_,
            "is_first": np.bool_, "is_last": np.bool_}


@dataclass
class Sample:
    """The result of `ReplayBuffer.sample`: arrays of n rows or, for sequences of L rows, (n, L).

    Attributes:
        obs: The observation from which the action was chosen.
        action: The action.
        reward: float32: the reward, or the discounted sum of the rewards of n steps.
        next_obs: The observation after the step, or after the last of several steps; at the end of an episode, its
            last observation. None for sequences, where it is the next row.
        discount: float32: the factor of the value of `next_obs`: gamma to the power of the number of steps, 0 where the
            episode terminated.
        terminated, truncated: bool: whether the episode ended in the step, or in the last of several.
        index: int64, (n,): for `gather` and `update_priorities`. Indexes are never reused.
        weight: float32, (n,): importance weights, at most 1; all 1 without priorities.
        is_first: bool: whether `obs` is the first observation of an episode, or the first after a gap.
        is_last: bool, for sequences: whether `obs` is the last observation of an episode: no step was made from it, and
            action, reward and discount are 0.
        agents: A dict of groups of agents, each a dict of `reward`, `terminated`, `truncated` and, if agents may be
            absent, `acted`; {} for one agent.
    """

    obs: Any
    action: Any
    reward: NDArray[np.float32]
    next_obs: Any
    discount: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    index: NDArray[np.int64]
    weight: NDArray[np.float32]
    is_first: NDArray[np.bool_]
    is_last: NDArray[np.bool_] | None
    agents: dict[str, dict[str, NDArray[Any]]]


@dataclass
class Episode:
    """A complete episode of T steps.

    Attributes:
        env_id: The environment.
        obs: Its T + 1 observations.
        action, reward, terminated, truncated: The values of its T steps; rewards are float64.
    """

    env_id: int
    obs: Any
    action: Any
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class RingLayout:
    """The arrays of a ring, and of a sample.

    Args:
        spec: The spec of the environments.
        length: Length of sequences; 0: single steps.
        stacks: Whether each frame of a stack is stored once.
        priorities: Whether rows have them.
    """

    def __init__(self, spec: EnvSpec, length: int, stacks: bool, priorities: bool):
        self.spec = spec
        self._priorities = priorities
        self._length = length
        # observations of absent agents are zero, frames before included
        stacks = stacks and not spec.has_absent_agents
        self.parts = [_part(part, stacks) for _, part in spec.observations]
        self.action_parts = [_bytes_of(part) for _, part in spec.actions]
        self.groups = [(group.count, spec.has_absent_agents) for group in spec.agents.values()]
        self.agent_keys = ["reward", "terminated", "truncated", *(["acted"] if spec.has_absent_agents else [])]
        self.columns = [sum(self.action_parts)]
        for count, _ in self.groups:
            self.columns += [count * (8 if key == "reward" else 1) for key in self.agent_keys]
        self.padding = max(stack for _, stack, _ in self.parts) - 1

    def memory(self, num_envs: int, rows: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Returns shape and dtype of each array of a ring, and of its file."""
        shape = num_envs, rows
        arrays: dict[str, tuple[tuple[int, ...], Any]] = {
            "begun": ((num_envs,), np.int64), "written": ((num_envs,), np.int64), "flags": (shape, np.uint8),
            "reward": (shape, np.float64), "obs_sums": (shape, np.uint64), "step_sums": (shape, np.uint64)}
        if self._priorities:
            arrays |= {"priority": (shape, np.uint64), "greatest": ((1,), np.uint64)}
        arrays |= {f"obs{k}": ((*shape, size), np.uint8) for k, (size, _, _) in enumerate(self.parts)}
        return arrays | {f"step{k}": ((*shape, size), np.uint8) for k, size in enumerate(self.columns)}

    def contents(self, num_envs: int, rows: int) -> dict[str, Any]:
        """Returns the properties that a file of such a ring has to have."""
        def described(part: Array | Discrete) -> list[Any]:
            return [list(part.shape), part.dtype.str]

        return {"id": self.spec.id, "num_envs": num_envs, "rows": rows, "frames": self.parts,
                "observation": [[name, *described(part)] for name, part in self.spec.observations],
                "action": [[name, *described(part)] for name, part in self.spec.actions],
                "agents": [[name, *sizes] for name, sizes in zip(self.spec.agents, self.groups, strict=True)],
                **({"priorities": True} if self._priorities else {})}

    def unpack(self, obs: Any) -> list[NDArray[Any]]:
        """Returns the parts of a batch of observations."""
        if type(obs) is np.ndarray:
            return [np.ascontiguousarray(obs)]
        # a hook may return arrays in any order
        return [np.ascontiguousarray(part) for part in self.spec.unpack(obs)]

    @property
    def goals(self) -> tuple[int, int] | None:
        """Which parts of the observation are the achieved and the desired goal."""
        if self.spec.goals is None:
            return None
        names = [name for name, _ in self.spec.observations]
        return names.index("achieved_goal"), names.index("desired_goal")

    def sampled(self) -> EnvSpec:
        """Describes a row of a sample, as an observation of many parts.

        Raises:
            ValueError: There are more than the engine accepts.
        """
        lead = (self._length,) if self._length else ()
        obs = [Array((*lead, *part.shape), part.dtype) for _, part in self.spec.observations]
        arrays = obs + [Array((*lead, *part.shape), part.dtype) for _, part in self.spec.actions]
        arrays += [Array(lead, dtype) for dtype in OF_STEPS.values()]
        for count, _ in self.groups:
            arrays += [Array((*lead, count), np.float32 if key == "reward" else np.bool_) for key in self.agent_keys]
        if not self._length:
            arrays += obs
        if len(arrays) > MOST_ARRAYS:
            raise ValueError(f"env: expected an environment whose samples consist of at most {MOST_ARRAYS} "
                             f"arrays, got {len(arrays)} for {self.spec.id}")
        # the engine asks for an action, too
        return EnvSpec({f"array{k}": array for k, array in enumerate(arrays)}, Discrete(1))

    def sample_of(self, arrays: list[NDArray[Any]], index: NDArray[np.int64], weight: NDArray[np.float32]) -> Sample:
        """Returns these arrays as a sample."""
        left = iter(arrays)
        obs = self.spec.pack([next(left) for _ in self.parts])
        action = pack_parts(self.spec.action, left)
        steps: dict[str, Any] = {name: next(left) for name in OF_STEPS}
        agents = {name: {key: next(left) for key in self.agent_keys} for name in self.spec.agents}
        next_obs = None if self._length else self.spec.pack(list(left))
        if not self._length:
            # there is a step from each
            steps["is_last"] = None
        return Sample(obs=obs, action=action, next_obs=next_obs, index=index, weight=weight, agents=agents, **steps)


def _bytes_of(part: Array | Discrete) -> int:
    return part.dtype.itemsize * math.prod(part.shape)


def _part(part: Array | Discrete, stacks: bool) -> tuple[int, int, int]:
    """Returns the bytes of a frame, the number of frames in an observation, and the number of pieces of each."""
    if isinstance(part, Discrete) or part.stack is None or not stacks:
        return _bytes_of(part), 1, 1
    axis, count = part.stack
    return _bytes_of(part) // count, count, math.prod(part.shape[:axis])
