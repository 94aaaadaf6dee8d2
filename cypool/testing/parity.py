"""`cypool.testing.check_parity`: steps an environment alongside its reference, and compares them."""
from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import cypool
from cypool.registration.registry import entry_of
from cypool.spec import Text
from cypool.util.arguments import check_int, shown

if TYPE_CHECKING:
    from cypool.api.gymnasium import GymnasiumPool
    from cypool.making.factory import AutoresetMode
    from cypool.util.typing import Bools


class ParityError(AssertionError):
    """An environment differs from its reference.

    Attributes:
        id: The environment.
        seed: The seed of the run.
        step: The step of the run, 1 for the first; 0 for the reset before it.
        env_id: The environment in the batch; None if the differing values have no rows.
        key: The differing part: "observation", "reward", "terminated", "truncated", "info ...", "random stream", or
            a space.
        ours, reference: The values.
    """

    def __init__(self, id: str, seed: int, step: int, env_id: int | None, key: str, ours: Any, reference: Any):
        self.id, self.seed, self.step, self.env_id, self.key = id, seed, step, env_id, key
        self.ours, self.reference = ours, reference
        env = "" if env_id is None else f", env {env_id}"
        super().__init__(f"{id}, seed {seed}, step {step}{env}: {key} is {ours!r}, the reference has {reference!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return ParityError, (self.id, self.seed, self.step, self.env_id, self.key, self.ours, self.reference)


@dataclass(frozen=True)
class Parity:
    """The report of a `check_parity` that found no difference.

    Attributes:
        id: The environment.
        reference: The name and the version of the reference.
        options: Its options.
        autoreset_mode: The mode.
        num_envs, num_steps, seeds: The size of the comparison.
        num_episodes: Number of episodes that ended, over all runs.
        num_terminated: Number of these that were terminated, not only truncated.
        has_streams: Whether random streams were also compared. Some references do not use NumPy's.
    """

    id: str
    reference: str
    options: dict[str, Any]
    autoreset_mode: str
    num_envs: int
    num_steps: int
    seeds: tuple[Any, ...]
    num_episodes: int
    num_terminated: int
    has_streams: bool = True

    def __str__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        parts = "observations, rewards, ends" + (", infos and random streams" if self.has_streams else " and infos")
        return (f"{self.id}{options}, {self.autoreset_mode}, matches {self.reference} byte for byte in {parts}:\n"
                f"{len(self.seeds)} seeds x {self.num_envs} envs x {self.num_steps} steps, "
                f"{self.num_episodes} episodes, of which {self.num_terminated} terminated")


def check_parity(id: str, *, num_envs: int = 4, num_steps: int = 1000, seeds: Sequence[int] = (0, 1, 2),
                 autoreset_mode: AutoresetMode = "NextStep", num_threads: int | None = None, **options: Any) -> Parity:
    """Steps an environment and its reference with the same seeds and random actions, and compares everything exactly.

    Args:
        id: An id that is registered with a `reference`, such as Gymnasium's environment of that id in a
            `SyncVectorEnv`; or an Atari game with a `preset`, given or from its id, which is compared with that
            preset's package.
        num_envs: Environments in the batch.
        num_steps: Steps of the batch, for each seed.
        seeds: Seeds, one run each.
        autoreset_mode: As in `cypool.make`.
        num_threads: As in `cypool.make`.
        **options: Options of both environments, and `max_episode_steps`.

    Returns:
        A `Parity`, which can be printed.

    Raises:
        ParityError: The environments differ; the message names the first difference.
        NotImplementedError: The environment does not implement `save`, which gives the position of its random stream.
        ValueError: The environment has no reference, or the reference has no such option; or an argument is wrong, as
            in `cypool.make`.
        ImportError: The reference is not installed.
    """
    reference = entry_of(id).reference
    if reference is None:
        raise ValueError(f"id: expected an id registered with a reference, got {id!r}; check_env needs no "
                         "reference")
    # before the reference, which has other messages for unknown options
    defaults = cypool.make_spec(id).options
    cypool.make_spec(id, **options)
    num_steps = check_int("num_steps", num_steps, 1, 2**31 - 1)
    if not np.iterable(seeds):
        raise TypeError(f"seeds: expected a sequence of ints, got {seeds!r}")
    seeds = tuple(check_int("seeds", seed, 0, 2**62) for seed in seeds)
    if not seeds:
        raise ValueError("seeds: expected at least one seed, got none")
    ended = []
    for seed in seeds:
        with cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=seed, autoreset_mode=autoreset_mode,
                         **options) as ours:
            # random options have to be the same for both: the map of a FrozenLake
            drawn = {name: value for name, value in ours.env_spec.options.items()
                     if value is not None and defaults[name] is None and name not in options}
            theirs, version = _make_reference(reference, ours, seed, options, drawn)
            try:
                ended += _Run(id, seed, ours, theirs).go(num_steps)
                has_streams = theirs.np_random is not None or hasattr(theirs, "streams")
            finally:
                theirs.close()
    return Parity(id, version, options, ours.metadata["autoreset_mode"].value, ours.num_envs, num_steps, seeds,
                  len(ended), sum(ended), has_streams)


def _make_reference(reference: str, ours: Any, seed: int, options: dict[str, Any],
                    drawn: dict[str, Any]) -> tuple[Any, str]:
    """Returns the reference as a vector environment like `ours`, and its name and version."""
    kind, id = reference.split(":", 1)
    if kind != "gymnasium":
        function: Any = getattr(importlib.import_module(kind), id, None)
        try:
            inspect.signature(function).bind(ours, seed, options)
        except TypeError as error:
            raise TypeError(f"reference: expected {reference} to be a function of the pool, the seed and the options, "
                            f"got {shown(function)}: {error}") from error
        made = function(ours, seed, options)
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(f"reference: expected {reference} to return a vector environment and its name, got "
                            f"{shown(made)}")
        return made
    import gymnasium

    with warnings.catch_warnings():
        # that there is a newer version of the environment, or that its spaces are unusual
        warnings.simplefilter("ignore")
        # the reference is always exact, and it computes with the actions that it is given
        options = {name: value for name, value in {**options, **drawn}.items()
                   if (name, value) != ("precision", "exact") and name != "action_dtype"}
        theirs = gymnasium.make_vec(id, num_envs=ours.num_envs, vectorization_mode="sync",
                                    vector_kwargs={"autoreset_mode": ours.metadata["autoreset_mode"]},
                                    disable_env_checker=True, **options)
    return theirs, f"{id} of Gymnasium {gymnasium.__version__}"


class _Run:
    """One seed."""

    def __init__(self, id: str, seed: int, ours: GymnasiumPool, theirs: Any):
        self.id, self.seed, self.step = id, seed, 0
        self.ours, self.theirs = ours, theirs

    def go(self, num_steps: int) -> list[bool]:
        """Returns for each episode that ended whether it was terminated."""
        from gymnasium.vector import AutoresetMode

        ours, theirs = self.ours, self.theirs
        texts = any(isinstance(part, Text) for _, part in ours.env_spec.observations)
        for key in ("single_observation_space", "single_action_space"):
            space, their_space = getattr(ours, key), getattr(theirs, key)
            # of a Discrete it changes nothing
            if (key == "single_action_space" and "action_dtype" in ours.env_spec.options
                    and hasattr(their_space, "low")):
                dtype = their_space.dtype
                space = type(space)(space.low.astype(dtype), space.high.astype(dtype), dtype=dtype)
            # a text has another space than its bytes
            if space != their_space and not (texts and key == "single_observation_space"):
                self._differ(key, space, their_space)
        obs, info = ours.reset()
        their_obs, their_info = theirs.reset(seed=self.seed)
        self._compare("observation", obs, their_obs)
        self._compare_info(info, their_info)
        ours.action_space.seed(self.seed)
        ended = []
        for self.step in range(1, num_steps + 1):
            actions = ours.sample_legal()
            if hasattr(theirs, "choose"):
                actions = theirs.choose(actions)
            *batch, info = ours.step(actions)
            *their_batch, their_info = theirs.step(actions)
            for key, a, b in zip(("observation", "reward", "terminated", "truncated"), batch, their_batch, strict=True):
                self._compare(key, a, b)
            self._compare_info(info, their_info)
            _, _, terminated, truncated = batch
            over = terminated | truncated
            ended += terminated[over].tolist()
            if over.any() and ours.metadata["autoreset_mode"] == AutoresetMode.DISABLED:
                obs, info = ours.reset(options={"reset_mask": over})
                their_obs, their_info = theirs.reset(options={"reset_mask": over})
                self._compare("observation", obs, their_obs)
                self._compare_info(info, their_info)
        self._compare_streams()
        return ended

    def _compare(self, key: str, ours: Any, theirs: Any, rows: Bools | None = None, env_id: int | None = None) -> None:
        """Compares arrays, or dicts or tuples of them: all rows, or those that count; or values of one environment."""
        if isinstance(theirs, str) or (isinstance(theirs, tuple) and theirs and isinstance(theirs[0], str)):
            # the reference's texts are bytes here
            ours = cypool.text(ours)
            if ours != theirs:
                self._differ(key, ours, theirs, env_id)
            return
        if isinstance(theirs, dict):
            for name, part in theirs.items():
                if not isinstance(ours, dict) or name not in ours:
                    self._differ(f"{key} {name}", None, part, env_id)
                self._compare(f"{key} {name}", ours[name], part, rows, env_id)
            return
        if isinstance(theirs, tuple):
            if not isinstance(ours, tuple) or len(ours) != len(theirs):
                self._differ(key, ours, theirs, env_id)
            for k, part in enumerate(theirs):
                self._compare(f"{key} {k}", ours[k], part, rows, env_id)
            return
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            self._differ(f"{key}: dtype and shape", (ours.dtype, ours.shape), (theirs.dtype, theirs.shape), env_id)
        if env_id is not None:
            if ours.tobytes() != theirs.tobytes():
                self._differ(key, ours, theirs, env_id)
            return
        for i in range(len(theirs)) if rows is None else np.flatnonzero(rows):
            # an array of objects has one for each environment: final_obs
            if theirs.dtype == object or ours[i].tobytes() != theirs[i].tobytes():
                self._compare(key, ours[i], theirs[i], env_id=int(i))

    def _compare_info(self, ours: Any, theirs: Any) -> None:
        """Compares the keys of the reference's info; ours may contain more."""
        for key, value in theirs.items():
            if key.startswith("_") or not np.any(theirs[f"_{key}"]):
                continue
            if key not in ours:
                self._differ(f"info {key}", None, value)
            elif isinstance(value, dict):
                # final_info, and infos of agents, by their groups
                self._compare_info(ours[key], value)
            else:
                mine = np.asarray(ours[key])
                if mine.dtype.kind == "f" and np.asarray(value).dtype.kind == "i":
                    # a batch that begins with an int has no place for the fractions of other rows
                    mine = mine.astype(value.dtype)
                self._compare(f"info {key}", mine, value, theirs[f"_{key}"])

    def _compare_streams(self) -> None:
        """Compares the positions of the random streams, which reveal even draws without effect.

        Skipped if the reference does not use NumPy's.
        """
        if hasattr(self.theirs, "streams"):
            for i, (ours, other) in enumerate(self.theirs.streams(self.ours.save().rows)):
                if ours != other:
                    self._differ("random stream", ours, other, i)
        if self.theirs.np_random is None:
            return
        for i, (row, generator) in enumerate(zip(self.ours.save().rows, self.theirs.np_random, strict=True)):
            theirs = generator.bit_generator.state
            if row["rng"] != theirs:
                self._differ("random stream", row["rng"], theirs, i)

    def _differ(self, key: str, ours: Any, theirs: Any, env_id: int | None = None) -> NoReturn:
        raise ParityError(self.id, self.seed, self.step, env_id, key, ours, theirs)
