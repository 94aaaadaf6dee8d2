"""Rewards from goals: functions of goals alone, for any number of them at once, bit-identical to the reference."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypool.envs.robotics.rotations import angles_of_pens

Numbers = NDArray[np.float64]


class Distance(NamedTuple):
    """A goal that counts as reached when it is near: for Fetch and the reaching hand.

    Attributes:
        reward_type: "sparse" or "dense".
        threshold: The distance at which it counts as reached.
    """

    reward_type: str
    threshold: float

    def compute_reward(self, achieved: Numbers, desired: Numbers) -> Any:
        """Returns the reward of each pair of goals."""
        far = lengths(achieved - desired, achieved.shape[-1])
        return -(far > self.threshold).astype(np.float32) if self.reward_type == "sparse" else -far

    def compute_terminated(self, achieved: Numbers, desired: Numbers) -> Any:
        """Returns for each pair of goals whether it ends an episode."""
        return np.zeros(achieved.shape[:-1], np.bool_)


class MazeGoal(NamedTuple):
    """A position in a maze.

    Attributes:
        reward_type: "sparse" or "dense".
        continuing_task: Whether an episode continues at the goal.
    """

    reward_type: str
    continuing_task: bool

    def compute_reward(self, achieved: Numbers, desired: Numbers) -> Any:
        """Returns the reward of each pair of goals."""
        far = lengths(achieved - desired, achieved.shape[-1])
        return np.exp(-far) if self.reward_type == "dense" else (far <= 0.45).astype(np.float64)

    def compute_terminated(self, achieved: Numbers, desired: Numbers) -> Any:
        """Returns for each pair of goals whether it ends an episode."""
        if self.continuing_task:
            return np.zeros(achieved.shape[:-1], np.bool_)
        way = achieved - desired
        # one by one: the reference has no batches here, and its norm of one is another sum
        near = [np.linalg.norm(each) <= 0.45 for each in way.reshape(-1, way.shape[-1])]
        return np.array(near, np.bool_).reshape(way.shape[:-1])


class Pose(NamedTuple):
    """The position and rotation of an object in a hand.

    Attributes:
        reward_type: "sparse" or "dense".
        ignores_position: Whether any position is accepted.
        ignores_z: Whether any rotation around the object's own axis is accepted: for the pen.
        distance_threshold: The distance, in meters.
        rotation_threshold: The angle, in radians.
    """

    reward_type: str
    ignores_position: bool
    ignores_z: bool
    distance_threshold: float
    rotation_threshold: float

    def compute_reward(self, achieved: Numbers, desired: Numbers) -> Any:
        """Returns the reward of each pair of goals.

        For a pen, rewards match the reference's for a batch: it sets a row instead of an angle, so they differ from the
        rewards of steps, and fewer than three goals raise an error.
        """
        if self.ignores_position:
            far = np.zeros_like(achieved[..., 0])
        else:
            far = lengths(achieved - desired, 3)
        if self.ignores_z:
            if achieved.ndim > 1 and len(achieved) < 3:
                raise ValueError(f"achieved_goal: expected one goal, or three or more for the pen, got {len(achieved)}")
            turned = angles_of_pens(achieved, desired)
        else:
            # the real part of the product with the conjugate, from left to right
            real = achieved[..., 3] * desired[..., 3]
            for k in (4, 5, 6):
                real = real + achieved[..., k] * desired[..., k]
            turned = 2 * np.arccos(np.clip(real, -1.0, 1.0))
        if self.reward_type == "dense":
            return -(10.0 * far + turned)
        reached = (far < self.distance_threshold) & (turned < self.rotation_threshold)
        return reached.astype(np.float32) - 1.0

    def compute_terminated(self, achieved: Numbers, desired: Numbers) -> Any:
        """Returns for each pair of goals whether it ends an episode."""
        return np.zeros(achieved.shape[:-1], np.bool_)


class Tasks(NamedTuple):
    """Goals of several tasks, concatenated: for the kitchen, where each counts whenever it is completed.

    Attributes:
        sizes: Number of values of each task's goal.
    """

    sizes: tuple[int, ...]

    def compute_reward(self, achieved: Numbers, desired: Numbers) -> Any:
        """Returns the number of completed tasks for each pair of goals."""
        parts = np.split(achieved - desired, np.cumsum(self.sizes)[:-1], axis=-1)
        # one by one, as `MazeGoal`
        near = [[np.linalg.norm(each) < 0.3 for each in part.reshape(-1, part.shape[-1])] for part in parts]
        return np.sum(near, axis=0, dtype=np.float64).reshape(achieved.shape[:-1])

    def compute_terminated(self, achieved: Numbers, desired: Numbers) -> Any:
        """Raises a NotImplementedError, because tasks completed earlier count, too."""
        raise NotImplementedError("compute_terminated: in the kitchen, termination does not depend on goals alone")


def lengths(ways: Numbers, n: int) -> Numbers:
    """Returns `np.linalg.norm(ways[..., :n], axis=-1)`, in half the time for few numbers."""
    found: Numbers
    if n < 8:
        squares = ways * ways
        total = squares[..., 0]
        for k in range(1, n):
            total = total + squares[..., k]
        found = np.sqrt(total)
    else:
        # added in another order there
        found = np.linalg.norm(ways[..., :n], axis=-1)
    return found


def euler2quat(euler: Numbers) -> Numbers:
    """Returns the quaternions of Euler angles, computed as in gymnasium-robotics."""
    ai, aj, ak = euler[..., 2] / 2, -euler[..., 1] / 2, euler[..., 0] / 2
    si, sj, sk = np.sin(ai), np.sin(aj), np.sin(ak)
    ci, cj, ck = np.cos(ai), np.cos(aj), np.cos(ak)
    cc, cs, sc, ss = ci * ck, ci * sk, si * ck, si * sk
    return np.stack([cj * cc + sj * ss, cj * cs - sj * sc, -(cj * ss + sj * cc), cj * sc - sj * cs], axis=-1)


def parallel_rotations() -> Numbers:
    """Returns the quaternions of the 24 rotations that map axes to axes, in gymnasium-robotics' order."""
    # quarter turns around z for those around x and y, with the package's signs of zeros
    upright, upside_down = (0, 1, -1, 2), (2, -1, 1, -0.0)
    turns = [(x, y, z) for x, y in ((0, 0), (0, 1), (0, -1), (2, 0), (1, 0), (-1, 0))
             for z in (upside_down if x in (2, -1) else upright)]
    return euler2quat(np.array(turns) * (np.pi / 2))
