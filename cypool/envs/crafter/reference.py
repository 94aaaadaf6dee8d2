"""crafter itself as a Gymnasium environment: the other side of `cypool.testing.check_parity`."""
from __future__ import annotations

import collections
import struct
from typing import Any

import gymnasium
import numpy as np
from crafter import Env, engine
from gymnasium.vector import SyncVectorEnv

from cypool.envs.crafter.assets import VERSION, crafter_folder


class OrderedSet(dict[Any, None]):
    """A set that keeps insertion order."""

    def add(self, item: Any) -> None:
        """Adds an item at the end."""
        self[item] = None

    def remove(self, item: Any) -> None:
        """Removes an item."""
        del self[item]


class OrderedWorld(engine.World):  # type: ignore[misc]
    """crafter's world with ordered sets of objects; a seed does not determine the order of crafter's own sets."""

    def reset(self, seed: int | None = None) -> None:
        """Empties the world."""
        super().reset(seed)
        self._chunks: Any = collections.defaultdict(OrderedSet)


class Reference(gymnasium.Env[Any, Any]):
    """crafter's environment with ordered sets.

    Args:
        max_episode_steps: Truncates episodes after this number of steps if it is less than `length`.
        obs_type: "rgb".
        semantic: Whether infos have `semantic`.
        render_size: Size of images from `render`.
        **options: Arguments for `crafter.Env`.
    """

    def __init__(self, max_episode_steps: int | None = None, obs_type: str = "rgb", semantic: bool = True,
                 render_size: Any = (512, 512), **options: Any):
        if obs_type != "rgb":
            raise ValueError(f"obs_type: expected 'rgb' (crafter's only type), got {obs_type!r}")
        self.crafter = Env(**options, seed=0)
        self.crafter._world.__class__ = OrderedWorld
        self.limit, self.semantic, self.render_size = max_episode_steps, semantic, render_size
        width, height = self.crafter._size
        self.observation_space = gymnasium.spaces.Box(0, 255, (int(height), int(width), 3), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(len(self.crafter.action_names))
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode; with a seed, the first one of an environment with this seed."""
        if seed is not None:
            self.crafter._seed, self.crafter._episode = seed, 0
        self.steps = 0
        return self.crafter.reset(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps, and converts the infos to arrays."""
        self.steps += 1
        obs, reward, _, info = self.crafter.step(int(action))
        length = self.crafter._length
        truncated = bool(length and self.steps >= length) or self.steps == self.limit
        arrays = {"inventory": np.array(list(info["inventory"].values()), np.int32),
                  "achievements": np.array(list(info["achievements"].values()), np.int32),
                  "discount": np.float64(info["discount"]), "player_pos": np.array(info["player_pos"], np.int64),
                  "reward": np.float64(info["reward"])}
        if self.semantic:
            arrays["semantic"] = info["semantic"]
        return obs, float(reward), self.crafter._player.health <= 0, truncated, arrays

    def render(self) -> Any:
        """Returns a picture of `render_size` without advancing the random stream."""
        random = self.crafter._world.random
        state = random.get_state()
        picture = self.crafter.render(self.render_size)
        random.set_state(state)
        return picture


class References(SyncVectorEnv):
    """A batch of these environments."""

    # no Generators: see `streams`
    np_random: Any = None

    def streams(self, rows: list[Any]) -> list[tuple[Any, Any]]:
        """Returns the position of each environment's random stream, in our saved row and in crafter."""
        envs: Any = self.envs
        return [(_stream(row["own"][0], env.crafter), _position(env.crafter._world.random))
                for row, env in zip(rows, envs, strict=True)]


def _stream(saved: bytes, crafter: Any) -> tuple[bytes, int]:
    """Returns the position of a saved world's stream after its picture is drawn."""
    # ready, hash of the seed, episode and step come first: state_fields
    key = np.frombuffer(saved, "<u4", 624, offset=21)
    position, = struct.unpack_from("<i", saved, 21 + key.nbytes)
    random = np.random.RandomState()
    random.set_state(("MT19937", key, position, 0, 0.0))
    if crafter._world.daylight < 0.5:
        view = crafter._local_view
        random.random_sample(np.prod(view._grid * view._unit))
    return _position(random)


def _position(random: np.random.RandomState) -> tuple[bytes, int]:
    _, key, position, *_ = random.get_state()
    return np.asarray(key, "<u4").tobytes(), int(position)


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns crafter's environments in a `SyncVectorEnv`, and crafter's name and version.

    Raises:
        ValueError: crafter has no such option.
    """
    crafter_folder()
    given = {"max_episode_steps": options.get("max_episode_steps"), **ours.env_spec.options}
    theirs = References([lambda: Reference(**given)] * ours.num_envs,
                        autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"crafter {VERSION}, with sets that keep their order"
