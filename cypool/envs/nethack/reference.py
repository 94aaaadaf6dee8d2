"""NLE's own environments, with a clock that we set: the reference for `cypool.testing.check_parity`."""
from __future__ import annotations

import ctypes
import logging
import mmap
import os
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv

from cypool.envs.nethack.actions import ALL, keys_of
from cypool.envs.nethack.library import VERSION, checked

try:
    import nle
    from nle.env import base, tasks
except ImportError as error:
    raise ImportError(f"nle: the comparison needs nle {VERSION}: pip install --no-deps nle=={VERSION}") from error

_CLASSES = {"nethack": base.NLE, "score": tasks.NetHackScore, "staircase": tasks.NetHackStaircase,
            "staircase_pet": tasks.NetHackStaircasePet, "oracle": tasks.NetHackOracle, "gold": tasks.NetHackGold,
            "eat": tasks.NetHackEat, "scout": tasks.NetHackScout, "challenge": tasks.NetHackChallenge}
# where calls to these functions go in the library of all wheels
_TIME, _LOCALTIME = 0x589D0, 0x58150
# returns the number at an address, and writes it to where its argument points, if it does
_CODE = b"\x48\xb8%b\x48\x8b\x00\x48\x85\xff\x74\x03\x48\x89\x07\xc3"
_JUMP = b"\x48\xb8%b\xff\xe0"


def _address(number: int | None) -> bytes:
    return (number or 0).to_bytes(8, "little")


class Clock:
    """The clock of one copy of NLE's library, a file descriptor: a local time that we set, without time zones."""

    def __init__(self, file: int):
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._now = ctypes.c_int64.from_buffer(self._page)
        at = ctypes.addressof(self._now)
        code = _CODE % _address(at)
        self._page[8:8 + len(code)] = code
        gmtime = ctypes.cast(ctypes.CDLL(None).gmtime, ctypes.c_void_p).value
        os.pwrite(file, _JUMP % _address(at + 8), _TIME)
        os.pwrite(file, _JUMP % _address(gmtime), _LOCALTIME)

    def set(self, now: int) -> None:
        """Sets it to seconds since 1970."""
        self._now.value = now


class Reference(gymnasium.Env[Any, Any]):
    """An NLE environment that draws its episodes as cypool's with these options does, and truncates them at a limit."""

    def __init__(self, options: Any, limit: int | None):
        task = options["task"]
        names = ["character", "observation_keys", "options", "allow_all_yn_questions", "allow_all_modes",
                 "spawn_monsters", "fix_moon_phase"]
        if task != "challenge":
            names += ["actions", "wizard"]
        elif options["wizard"] or options["actions"] != keys_of(ALL):
            raise ValueError("actions, wizard: expected neither, because NLE's challenge does not accept them")
        if task != "nethack":
            names += ["penalty_mode", "penalty_step", "penalty_time"]
        if task == "challenge":
            names += ["no_progress_timeout"]
        if options["clock"] == "real":
            raise ValueError("clock: expected a fixed time, got 'real'")
        logging.getLogger("nle").setLevel(logging.ERROR)
        with warnings.catch_warnings():
            # of a function of logging's that NLE calls
            warnings.simplefilter("ignore")
            self.nle = _CLASSES[task](max_episode_steps=options["abort_steps"],
                                      **{name: options[name] for name in names})
        self._clock = Clock(self.nle.nethack._dl.fileno())
        self._options, self._limit, self._steps = options, limit, 0
        self._reset_library = self.nle.nethack.reset
        # called again where NetHack does not come to a command
        self.nle.nethack.reset = self._begin
        self.observation_space, self.action_space = self.nle.observation_space, self.nle.action_space

    def _begin(self, *args: Any, **kwargs: Any) -> Any:
        seeds, clock = self._options["nle_seeds"], self._options["clock"]
        if seeds is None:
            seeds = (int(self.np_random.integers(2**63 - 1)), int(self.np_random.integers(2**63 - 1)), None)
        if clock is None:
            clock = int(self.np_random.integers(946684800, 1893456000))
        self._clock.set(clock)
        core, disp, lgen = seeds
        self.nle.nethack._pynethack.set_initial_seeds(core, disp, False, lgen)
        return self._reset_library(*args, **kwargs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        self._steps = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            obs, info = self.nle.reset()
        return self._copied(obs), self._arrays(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps, and copies the arrays that NLE overwrites."""
        with warnings.catch_warnings():
            # that the game cannot be quit in the usual way
            warnings.simplefilter("ignore")
            obs, reward, terminated, truncated, info = self.nle.step(int(action))
        self._steps += 1
        truncated = bool(truncated) or self._steps == self._limit
        return self._copied(obs), float(reward), bool(terminated), truncated, self._arrays(info)

    def close(self) -> None:
        """Ends the game."""
        self.nle.close()

    @staticmethod
    def _copied(obs: Any) -> Any:
        return {key: part.copy() for key, part in obs.items()}

    @staticmethod
    def _arrays(info: Any) -> dict[str, Any]:
        return {"end_status": np.int32(info["end_status"]), "is_ascended": bool(info["is_ascended"])}


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns NLE's environments in a `SyncVectorEnv`, and its name and version.

    Raises:
        ImportError: nle is not installed.
        ValueError: NLE has no such option.
    """
    # its code is changed at places that only this version has
    checked(Path(nle.__file__).parent)
    given, limit = ours.env_spec.options, ours.env_spec.max_episode_steps
    theirs = SyncVectorEnv([lambda: Reference(given, limit)] * ours.num_envs,
                           autoreset_mode=ours.metadata["autoreset_mode"])
    return theirs, f"nle {VERSION}, with the clock set"
