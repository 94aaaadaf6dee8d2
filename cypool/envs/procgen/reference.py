"""procgen's library, called as procgen's Python code calls it: the reference for `cypool.testing.check_parity`."""
from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypool.envs.procgen.games import GAMES, MODE_NUMBERS, NUM_ACTIONS, limit_of
from cypool.envs.procgen.library import VERSION, checked, find

UINT8, INT32 = 1, 2
RESET = -1  # an action: the level ends with this step


class _Option(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 128), ("dtype", ctypes.c_int), ("count", ctypes.c_int),
                ("data", ctypes.c_void_p)]


class _Options(ctypes.Structure):
    _fields_ = [("items", ctypes.POINTER(_Option)), ("count", ctypes.c_int)]


def _rows(columns: list[NDArray[Any]]) -> Any:
    """Returns the addresses of all rows of arrays, one array after the other."""
    found = [column.ctypes.data + k * column.strides[0] for column in columns for k in range(len(column))]
    return (ctypes.c_void_p * len(found))(*found)


class Batch:
    """An instance of the library: a batch of environments with our options, which it resets itself."""

    def __init__(self, num: int, rand_seed: int, options: Any):
        path, pictures = checked(find(options["procgen_path"]))
        # as gym3 loads it
        self._library = ctypes.CDLL(str(path), mode=os.RTLD_LAZY | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
        game, mode = options["env_name"], options["distribution_mode"]
        level = GAMES[game].exploration_level if mode == "exploration" else None
        numbers: dict[str, Any] = {"num_levels": options["num_levels"] if level is None else 1,
                                   "start_level": options["start_level"] if level is None else level,
                                   "num_actions": NUM_ACTIONS, "rand_seed": rand_seed, "num_threads": 0,
                                   "distribution_mode": MODE_NUMBERS[mode], "debug_mode": options["debug_mode"]}
        flags = {name: options[name] for name in (
            "use_sequential_levels", "center_agent", "use_backgrounds", "use_monochrome_assets", "restrict_themes",
            "use_generated_assets", "paint_vel_info")}
        values: dict[str, NDArray[Any]] = {
            "env_name": np.frombuffer(game.encode(), np.uint8),
            "resource_root": np.frombuffer(os.fsencode(pictures), np.uint8),
            **{name: np.array([value], np.int32) for name, value in numbers.items()},
            **{name: np.array([value], np.uint8) for name, value in {**flags, "render_human": False}.items()}}
        items = (_Option * len(values))(*[
            _Option(name.encode(), UINT8 if value.dtype == np.uint8 else INT32, value.size, value.ctypes.data)
            for name, value in values.items()])
        make = self._library.libenv_make
        make.restype, make.argtypes = ctypes.c_void_p, (ctypes.c_int, _Options)
        self._handle = ctypes.c_void_p(make(num, _Options(items, len(values))))
        self.picture = np.zeros((num, 64, 64, 3), np.uint8)
        self.reward, self.first = np.zeros(num, np.float32), np.zeros(num, np.uint8)
        self.action = np.zeros(num, np.int32)
        self.infos: dict[str, NDArray[Any]] = {
            "prev_level_seed": np.zeros(num, np.int32), "prev_level_complete": np.zeros(num, np.uint8),
            "level_seed": np.zeros(num, np.int32)}
        ob, info, action = _rows([self.picture]), _rows([*self.infos.values()]), _rows([self.action])
        self._buffers = (ctypes.c_void_p * 5)(ctypes.addressof(ob), self.reward.ctypes.data, self.first.ctypes.data,
                                              ctypes.addressof(info), ctypes.addressof(action))
        self._kept = values, items, ob, info, action
        self._library.libenv_set_buffers(self._handle, self._buffers)
        self._library.libenv_observe(self._handle)

    def act(self, actions: Any) -> None:
        """Steps all environments, and begins a new level where one has ended."""
        self.action[:] = actions
        self._library.libenv_act(self._handle)
        self._library.libenv_observe(self._handle)

    def close(self) -> None:
        """Ends the instance."""
        self._library.libenv_close(self._handle)


class Reference:
    """Batches as one Gymnasium-style vector environment like our pool, without last observations."""

    # no Generators
    np_random = None

    def __init__(self, ours: Any, seed: int):
        options = ours.env_spec.options
        self._num: int = ours.num_envs
        self.single_observation_space = ours.single_observation_space
        self.single_action_space = ours.single_action_space
        self._channel_first = options["channel_first"]
        own = limit_of(options["env_name"], options["distribution_mode"])
        self._level_limit, self._limit = own, ours.env_spec.max_episode_steps or 2**31
        if options["batch_seeds"]:
            if self._limit < own:
                raise ValueError("max_episode_steps: expected None with batch_seeds, because a batch cannot end the "
                                 "episode of a single environment early")
            self._batches = [Batch(self._num, seed, options)]
        else:
            self._batches = [Batch(1, seed + k, options) for k in range(self._num)]
        self._steps, self._level_steps = np.zeros(self._num, int), np.zeros(self._num, int)

    def reset(self, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Returns the first pictures; only one reset is possible, and the seed was set at creation."""
        return self._picture(), self._infos()

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Steps all environments; where an episode ends, the next one begins."""
        for k, batch in enumerate(self._batches):
            batch.act(actions if len(self._batches) == 1 else actions[k])
        self._steps += 1
        self._level_steps += 1
        reward, first = self._all("reward").astype(np.float64), self._all("first").astype(bool)
        # both at once cannot be seen
        over = self._level_steps >= self._level_limit
        terminated, truncated = first & ~over, first & over
        truncated |= self._steps >= self._limit
        for i in np.flatnonzero(truncated & ~first).tolist():
            self._batches[i].act(RESET)
        ended = terminated | truncated
        self._steps[ended] = 0
        # a level that follows another one in the same episode counts its own steps
        self._level_steps[ended | (self._infos()["prev_level_complete"] == 1)] = 0
        return self._picture(), reward, terminated, truncated, self._infos()

    def close(self) -> None:
        """Ends all instances."""
        for batch in self._batches:
            batch.close()

    def _all(self, name: str) -> Any:
        return np.concatenate([getattr(batch, name) for batch in self._batches])

    def _picture(self) -> Any:
        picture = self._all("picture")
        return np.ascontiguousarray(picture.transpose(0, 3, 1, 2)) if self._channel_first else picture

    def _infos(self) -> dict[str, Any]:
        infos = {name: np.concatenate([batch.infos[name] for batch in self._batches])
                 for name in self._batches[0].infos}
        return infos | {f"_{name}": np.ones(self._num, bool) for name in infos}


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns instances of procgen's library as a vector environment, and its name and version.

    Raises:
        ValueError: The reference only supports the mode SameStep.
    """
    mode = ours.metadata["autoreset_mode"].value
    if mode != "SameStep":
        raise ValueError(f"autoreset_mode: expected 'SameStep', procgen's only mode, got {mode!r}")
    return Reference(ours, seed), f"procgen {VERSION}"
