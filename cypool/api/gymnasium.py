"""The Gymnasium API: a pool as a `gymnasium.vector.VectorEnv`."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec as GymnasiumSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cypool.api.base import VectorAPI
from cypool.api.infos import add_info
from cypool.arguments.agents import by_agent, check_nested, state_of
from cypool.arguments.env_ids import ids_of, players_of
from cypool.features.conversions import TorchEnv, convert
from cypool.features.rollouts import RolloutBuffers
from cypool.registration.gymnasium_ids import ENTRY_POINT, name_of
from cypool.registration.registry import GYMNASIUM_PREFIX, PETTINGZOO_PREFIX
from cypool.spec import Discrete, MultiBinary
from cypool.state import check_stream
from cypool.util.arguments import check_dict, check_list, shown, shown_shape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.engine.engine import Pool
    from cypool.spec import EnvSpec, Group
    from cypool.state import State
    from cypool.util.typing import Batch, Bools, ResetOptions, Seed

# the columns behind the observation in a batch
FLAGS = [("reward", (), np.float64), ("terminated", (), np.bool_), ("truncated", (), np.bool_)]

# arguments of `make` that are those of this one pool, on this machine, or that Gymnasium's `EnvSpec` has a field for
OF_NO_SPEC = ("env_type", "seed", "max_episode_steps", "num_threads", "thread_affinity")


def space_of(description: Any) -> spaces.Space[Any]:
    """Returns the Gymnasium space of an `Array`, a `Discrete`, or a dict or tuple of them."""
    if isinstance(description, Discrete):
        return spaces.Discrete(description.n)
    if isinstance(description, Mapping):
        return spaces.Dict({key: space_of(part) for key, part in description.items()})
    if isinstance(description, tuple):
        return spaces.Tuple([space_of(part) for part in description])
    if isinstance(description, MultiBinary):
        return spaces.MultiBinary(description.shape if len(description.shape) > 1 else description.shape[0])
    return spaces.Box(description.low, description.high, dtype=description.dtype.type)


def space_of_all(group: Group, name: Literal["observation", "action"]) -> spaces.Space[Any]:
    """Returns the Gymnasium space of the observations or actions of all agents of a group."""
    own = getattr(group, name)
    if any(isinstance(part, Discrete) for part in (own.values() if isinstance(own, Mapping) else [own])):
        # a MultiDiscrete rather than a Box of integers
        return batch_space(space_of(own), group.count)
    return space_of(group.of_all(name))


def spaces_of(spec: EnvSpec) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Returns the Gymnasium spaces of one environment's observation and action.

    With agents, they are batches of the spaces of one agent; with several groups, a Dict of these.
    """
    if spec.agents:
        observation: dict[str, Any] = {}
        action: dict[str, Any] = {}
        for name, group in spec.agents.items():
            observation[name], action[name] = space_of_all(group, "observation"), space_of_all(group, "action")
        if len(spec.agents) > 1:
            return spaces.Dict(observation), spaces.Dict(action)
        return observation.popitem()[1], action.popitem()[1]
    return spec.spaces or (space_of(spec.observation), space_of(spec.action))


def metadata_of(spec: EnvSpec) -> dict[str, Any]:
    """Returns the `metadata` of an environment without its autoreset mode."""
    if spec.render_fps is None:
        return {"render_modes": []}
    return {"render_modes": [*spec.render_modes], "render_fps": spec.render_fps}


def _registered(pool: GymnasiumPool) -> GymnasiumSpec | None:
    """Returns Gymnasium's `EnvSpec` of a pool, or None."""
    spec, recipe = pool.env_spec, pool.recipe
    if "factories" in recipe:
        from cypool.hosting.spaces import gymnasium_spec_of

        # that of the first one, as of Gymnasium's own vectors
        result: GymnasiumSpec | None = pool._pool.ask(np.zeros(1, np.int32), gymnasium_spec_of)[0]
        return result
    if spec.id.startswith(PETTINGZOO_PREFIX) or not isinstance(recipe["id"], str):
        return None
    if pool._pool.is_hosted:
        found: Any = gymnasium.spec(spec.id.removeprefix(GYMNASIUM_PREFIX).rpartition(":")[2])
        kwargs = {**found.kwargs, **spec.options}
        if recipe["render_mode"] is not None:
            kwargs["render_mode"] = recipe["render_mode"]
    else:
        usual = {"batch_size": recipe["num_envs"], "autoreset_mode": "NextStep"}
        kwargs = {name: value for name, value in recipe.items()
                  if name in spec.options or (name not in OF_NO_SPEC and value and usual.get(name) != value)}
        kwargs.pop("id", None)
        kwargs.update(cypool_id=recipe["id"], num_envs=recipe["num_envs"], vectorization_mode="vector_entry_point")
        found = gymnasium.registry.get(name_of(spec.id))
        if found is None or found.vector_entry_point != ENTRY_POINT:
            try:
                found = GymnasiumSpec(name_of(spec.id), vector_entry_point=ENTRY_POINT)
            except gymnasium.error.Error:
                return None
    result = replace(found, kwargs=kwargs, max_episode_steps=spec.max_episode_steps)
    return result


def _dict_of(options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(options)
    except Exception as error:
        raise TypeError(f"options: expected a dict or None, got {shown(options)}: {error}") from error


def _dicts_of(options: Any, count: int) -> list[dict[str, Any] | None]:
    """Returns the options of each of `count` environments."""
    if not isinstance(options, (list, tuple)) or not all(isinstance(own, Mapping | None) for own in options):
        raise TypeError(f"options: expected a dict, None or a list of these, got {shown(options)}")
    if len(options) != count:
        raise ValueError(f"options: expected a dict or None for each of {count} environments, got {len(options)}")
    rows = [None if own is None else _dict_of(own) for own in options]
    if any(own is not None and "reset_mask" in own for own in rows):
        raise ValueError("options: reset_mask is only valid in a dict for all environments, not in a dict for one "
                         "environment")
    return rows


class _Missing:
    """A method of Gymnasium's vector environments that a pool does not support; the error explains why."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"{self._name}: a pool has no Python object for each environment; use `info`, `env_spec`, "
                             "`save` and `reset(options=...)` to read and change environments",
                             name=self._name, obj=instance)


class GymnasiumPool(VectorAPI, VectorEnv):
    """A batch of environments with Gymnasium's vector API, and with `send` / `recv`.

    `step` and `recv` return a batch: a tuple (observation, reward, terminated, truncated, info):

    * observation: (batch_size, ...) array, or a dict or tuple of them.
    * reward: float64, (batch_size,).
    * terminated, truncated: bool, (batch_size,).
    * info: Arrays of `batch_size` rows: `env_id` int32, `elapsed_step` int32 and the environment's own. With
      `episode_statistics`, batches in which an episode ended also have `episode`, a dict of `r` (float64, the return,
      not clipped), `l` (int64, the number of steps) and `t` (float64, the duration in seconds), 0 where no episode
      ended, and `_episode`, which marks the other rows. With several agents, also `agents`: a dict of groups,
      each with `reward` (float64), `terminated` and `truncated` of shape (batch_size, agents), and `acted` and `alive`
      if agents may be absent; and `episode["agents"]`, a dict of groups with `r` and `l`. With several players in one
      environment, also `players`, a dict of `env_id`: int32, (batch_size * players,), the environment of each player's
      row of observations.

    For the rows of a batch, and the other attributes, see `VectorAPI`.

    Args:
        pool: The engine's pool. The API owns it.
        spec: The spec of the environments.
        autoreset_mode: How an environment continues after the end of an episode. NEXT_STEP: its next step ignores the
            action and starts an episode, with reward 0. SAME_STEP: the next episode starts at once; the last
            observation and info are in `info["final_obs"]` and `info["final_info"]`. DISABLED: the environment must be
            reset before its next step.

    Attributes:
        batch_size: Number of rows of a batch, also in `observation_space` and `action_space`.
        spec: Gymnasium's `EnvSpec`, from which `gymnasium.make_vec` makes such a pool; for Gymnasium environments, the
            spec of the first one. None if Gymnasium rejects the name. It may be assigned.

    Thread safety: one thread at a time.
    """

    autoreset_modes = MappingProxyType({mode.value: mode.name.lower() for mode in AutoresetMode})
    # for adapters: whether the environments write to the arrays of `out` themselves, while a step is made
    fills_out = True
    has_reset_mask = True
    # for adapters: whether info["extra_infos"] stays a list of (row, info, final info), as the engine returns the infos
    # of Gymnasium's environments; else they are merged into info
    keeps_extra_infos = False
    _spec = None
    call, get_attr, set_attr = _Missing(), _Missing(), _Missing()

    def __init__(self, pool: Pool, spec: EnvSpec, autoreset_mode: str | AutoresetMode):
        super().__init__(pool, spec)
        mode = AutoresetMode(autoreset_mode)
        self._same_step = mode == AutoresetMode.SAME_STEP
        self.stays_at_end = mode == AutoresetMode.DISABLED
        self._has_state = spec.state is not None
        self._returns_engine_batch = (not self._same_step and not pool.is_hosted and spec.num_players == 1
                                      and not spec.has_absent_agents and not self._has_state)
        self.metadata = {"autoreset_mode": mode, **metadata_of(spec)}
        self.render_mode = None if spec.render_fps is None else spec.render_mode
        self.single_observation_space, self.single_action_space = spaces_of(spec)
        self.action_space = batch_space(self.single_action_space, self.batch_size)

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:
        """The space of a batch's observations. It may be assigned.

        Created on first use, because Gymnasium stores four arrays of a batch's size in it.
        """
        return batch_space(self.single_observation_space, self.batch_size)

    @property
    def spec(self) -> GymnasiumSpec | None:
        """Gymnasium's `EnvSpec`, from which `gymnasium.make_vec` makes such a pool. It may be assigned."""
        if self._spec is None:
            self._spec = _registered(self)
        return self._spec

    @spec.setter
    def spec(self, value: GymnasiumSpec | None) -> None:
        self._spec = value

    @property
    def np_random_seed(self) -> tuple[int, ...]:
        """The seed of each environment's random stream, a tuple of ints; -1 if unknown, for example after `load`.

        Raises:
            RuntimeError: Python environments, which have to be asked for their seeds, are in flight.
        """
        if self._pool.is_hosted:
            return self._asked("np_random_seed")
        return tuple(self._seeds)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:
        """A tuple of NumPy Generators, one per environment: copies of the environments' random streams.

        They return the numbers that the environments will draw next. Drawing from them does not affect the
        environments.

        Raises:
            AttributeError: The environments do not use a NumPy generator, as in Atari with most presets.
            RuntimeError: An environment is in flight.
        """
        if self._pool.is_hosted:
            return self._asked("np_random")
        states = self._pool.streams()
        if None in states:
            raise AttributeError(f"np_random: {self.env_spec.id} does not use a NumPy generator")
        generators = []
        state: Any
        for state in states:
            # its own seed would be drawn from the operating system, to be overwritten
            generators.append(np.random.Generator(np.random.PCG64(0)))
            generators[-1].bit_generator.state = state
        return tuple(generators)

    def _asked(self, attribute: str) -> tuple[Any, ...]:
        from cypool.hosting.spaces import attribute_of

        return tuple(self._pool.ask(None, attribute_of, attribute))

    def reset(self, env_id: ArrayLike | None = None, *, seed: Seed = None,
              options: ResetOptions = None) -> tuple[Any, dict[str, Any]]:
        """Starts new episodes.

        Args:
            env_id: Integers, shape (k,): the environments to reset; by default all, which discards results in flight.
            seed: An int: environment i gets `seed + i`; or a sequence with one int (or None) for each environment (of
                `env_id`, if given). With None, the random streams continue.
            options: In a synchronous pool, `{"reset_mask": mask}` with a bool array of shape (num_envs,) resets the
                environments where it is True, possibly none. Other options are passed to the environments that are
                reset, if they are Gymnasium's or have such options. A list with a dict (or None) for each environment
                (of `env_id`, if given) gives each its own options, without `reset_mask`.

        Returns:
            Observation and info of all environments, or of those in `env_id`; in an asynchronous pool, of the first
            batch. With a mask, environments that are not reset repeat their last observation.

        Raises:
            TypeError, ValueError: Wrong ids, seeds or options.
            RuntimeError: With `env_id`, other environments are in flight, and their results would be returned instead.
        """
        ids, mask = ids_of(env_id), None
        given: dict[str, Any] | list[dict[str, Any] | None] | None = None
        if isinstance(options, Mapping):
            given = _dict_of(options)
            if "reset_mask" in given:
                mask = self._mask(given.pop("reset_mask"), env_id)
            if not self._pool.is_hosted:
                given = given or None
        elif options is not None:
            given = _dicts_of(options, self.num_envs if ids is None else len(ids))
        self._check_reset(ids)
        self._start(ids, seed, mask, given)
        obs, _, _, _, info = self._received(self._pool.recv)
        return obs, info

    def _mask(self, mask: Any, env_id: Any) -> Bools:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset_mask: expected a NumPy array of bools, got {shown(mask)}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask: expected shape ({self.num_envs},), got {mask.shape}")
        if env_id is not None or self.is_async:
            raise ValueError("reset_mask: expected a synchronous pool and no env_id")
        return mask

    def step(self, actions: Any, env_id: ArrayLike | None = None, out: Any = None) -> Batch:
        """Steps environments and waits for a batch: `send`, then `recv`.

        Args:
            actions, env_id: As in `send`.
            out: (observation, reward, terminated, truncated): arrays or CPU tensors to write the batch to, such as
                `rollout_buffers(T)[t]`. They must be C-contiguous and writeable, have the dtypes and shapes of the
                batch, and not share memory. For synchronous pools only.

        Returns:
            A batch; if `out` is given, its arrays and info.
        """
        if out is not None:
            out = self._targets(out)
        if not self._returns_engine_batch:
            ids = ids_of(env_id)
            result: Batch = self._received(self._pool.step, self._read_actions(actions, ids), ids, out)
            return result
        # fast path: the engine's batch is laid out already
        try:
            batch: Batch = self._pool.step(self._read(actions), None if env_id is None else ids_of(env_id), out)
        except ValueError as error:
            self._explain(error)
            raise
        return batch

    def state(self) -> NDArray[Any]:
        """Returns a centralized critic's input for the last batch of environments with several agents.

        After a rollout, returns the last step's.

        Returns:
            (k, ...) in the order of that batch's rows: the array that the environment specifies (`env_spec.state`), or
            the observations of all agents, one after the other, in a common dtype. If these are one array, a view of
            it.

        Raises:
            NotImplementedError: The environment has no state.
            RuntimeError: No batch has been received, or the last rollout ended early.
        """
        described = self._env_spec.state
        if described is None:
            raise NotImplementedError(f"state: {self._env_spec.id} has no state")
        if self._last is None:
            raise RuntimeError("state: no batch has been received yet: call reset() first")
        if isinstance(self._last, RolloutBuffers):
            obs = self._last.last_obs
            info = {name: self._last.info[name][-1] for name in self._env_spec.info}
        else:
            obs, *_, info = self._last
        if described != "observations":
            state: NDArray[Any] = info["state"]
            return state
        return state_of(self._env_spec, obs)

    def by_agent(self, values: Any) -> dict[str, Any]:
        """Returns views of observations or other values of all agents, by agent name.

        Args:
            values: An array of shape (k, agents, ...), a dict of these for several groups, or values in the structure
                of `observation`: for example `info["agents"]`, one of its columns by group, or a rollout's arrays at
                one step.

        Returns:
            A dict of agent name to (k, ...); dicts of arrays stay dicts.

        Raises:
            ValueError: The environment has only one agent, or the values do not fit its groups.
        """
        return by_agent(self._env_spec, values)

    def sample_legal(self) -> Any:
        """Draws uniformly from the legal actions, without handling masks in Python.

        Uses the generator of `action_space`: `env.action_space.seed(0)` seeds it.

        Returns:
            Actions for `step`; 0 where no action is legal because the episode is over. If all actions are legal, the
            result of `action_space.sample()`.

        Raises:
            RuntimeError: An environment is in flight, or was never reset.
        """
        if self._env_spec.illegal is None:
            return self.action_space.sample()
        return self._pool.sample_legal(self.action_space.np_random.bit_generator)

    def torch(self, device: Any = "cpu", pin: bool | None = None) -> TorchEnv:
        """Returns the pool with tensors instead of arrays: a `cypool.adapters.torch.TorchPool`.

        Args:
            device: The device of the tensors.
            pin: Whether to copy batches through two alternating page-locked buffers; by default, only for CUDA.

        Raises:
            ImportError: PyTorch is missing, or its version is not supported.
            ValueError: `pin` is True, but the device is not a CUDA device.
        """
        pool: TorchEnv = convert("torch", self, device, pin)
        return pool

    def render(self, env_id: ArrayLike | None = None) -> Any:
        """Renders environments.

        Args:
            env_id: Integers, shape (k,): the environments.

        Returns:
            uint8, (k, height, width, 3); without `env_id`, a tuple of all pictures, as in Gymnasium. With render mode
            "ansi", a tuple of strings.

        Raises:
            As in `VectorAPI.render`.
        """
        if env_id is None:
            return tuple(self._pool.render())
        return super().render(env_id)

    def load(self, state: State, env_id: ArrayLike | None = None) -> tuple[Any, dict[str, Any]]:
        """Restores environments to a saved state; returns their observation and info. See `VectorAPI.load`."""
        obs, _, _, _, info = super().load(state, env_id)
        return obs, info

    def _to_checkpoint(self) -> dict[str, Any]:
        streams = [None if space._np_random is None else space._np_random.bit_generator.state
                   for space in self._drawn_spaces()]
        return {**super()._to_checkpoint(), "streams": streams}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], Any]:
        load, spaces = super()._from_checkpoint(saved), self._drawn_spaces()
        streams = [state and check_stream("streams", state, np.random.PCG64) for state in saved["streams"]]
        if len(streams) != len(spaces):
            raise ValueError(f"expected {len(streams)} random streams for action spaces, got {len(spaces)}")

        def take() -> Any:
            loaded = load()
            for space, state in zip(spaces, streams, strict=True):
                space._np_random = None
                if state is not None:
                    space._np_random = np.random.Generator(np.random.PCG64(0))
                    space._np_random.bit_generator.state = state
            return loaded

        return take

    def _drawn_spaces(self) -> list[Any]:
        """Returns the spaces from which actions may be drawn, including nested ones: each has a random stream."""
        found: list[Any] = [self.action_space, self.single_action_space]
        for space in found:
            inner = getattr(space, "spaces", ())
            found += inner.values() if isinstance(inner, Mapping) else inner
        return found

    def _targets(self, out: Any) -> tuple[NDArray[Any], ...]:
        """Returns the arrays of `out` in order, checked except for the number of rows."""
        if self.is_async:
            raise ValueError("out: expected None in an asynchronous pool, whose rows have no fixed order")
        expected = "(observation, reward, terminated, truncated)"
        if not isinstance(out, (tuple, list)):
            raise TypeError(f"out: expected {expected}, got {type(out).__name__}")
        parts = check_list("out", out, expected)
        if len(parts) != 4:
            raise TypeError(f"out: expected {expected}, got {len(parts)} parts")
        obs, *others = parts
        spec = self._env_spec
        described = spec.observation
        wanted: list[Any] = [("observation" if key is None else f"observation {key}", part.shape, part.dtype)
                  for key, part in spec.observations]
        if spec.has_nested_observation:
            check_nested("out", obs, described)
        elif isinstance(described, Mapping):
            obs = check_dict("out", obs, described, f"a dict with the keys {list(described)} as the observation")
        elif isinstance(described, tuple):
            expected = f"a tuple of {len(described)} arrays as the observation"
            if not isinstance(obs, (tuple, list)):
                raise TypeError(f"out: expected {expected}, got {shown(obs)}")
            obs = check_list("out", obs, expected)
            if len(obs) != len(described):
                raise TypeError(f"out: expected {expected}, got {len(obs)} arrays")
        obs = spec.unpack(obs)
        wanted += FLAGS
        arrays: list[NDArray[Any]] = []
        for given, (name, shape, dtype) in zip((*obs, *others), wanted, strict=True):
            array = given
            # not of a list: asarray makes a copy of it, and that would be filled in vain
            if hasattr(type(given), "__dlpack__"):
                try:
                    array = np.asarray(given)
                except Exception as error:
                    raise TypeError(f"out: expected {name} with memory that NumPy can share, got "
                                    f"{type(given).__name__}: {error}") from error
            if (not isinstance(array, np.ndarray) or array.ndim == 0 or not array.flags.carray or array.dtype != dtype
                    or array.shape[1:] != shape):
                got = f" of {array.dtype}, shape {array.shape}" if isinstance(array, np.ndarray) else ""
                raise ValueError(f"out: expected {name} as a writeable C-contiguous array of {dtype}, shape "
                                 f"{shown_shape('k', *shape)}, got {type(given).__name__}{got}")
            if arrays and len(array) != len(arrays[0]):
                raise ValueError(f"out: expected arrays of equal length, got {len(arrays[0])} and {len(array)} rows")
            arrays.append(array)
        return tuple(arrays)

    def _format_batch(self, batch: Batch) -> Batch:
        if self._has_state:
            self._last = batch
        if self._returns_engine_batch:
            return batch
        obs, reward, terminated, truncated, info = batch
        extra_infos = () if self.keeps_extra_infos else info.pop("extra_infos", ())
        # infos that environments report may have any name
        finals = info.pop("final", None) if self._same_step else None
        for row, own, _ in extra_infos:
            add_info(info, own, row, len(reward))
        # not the property, which is a call of Python in each step
        spec = self._env_spec
        if spec.num_players > 1:
            info["players"] = players_of(spec, info["env_id"])
        if finals is None:
            return batch
        final_obs, final_info = finals
        ended = terminated | truncated
        if ended.any():
            rows = np.flatnonzero(ended)
            info["final_obs"] = np.full(len(ended), None, object)
            parts = spec.unpack(final_obs)
            for row in rows:
                info["final_obs"][row] = spec.pack([part[row] for part in parts])
            info["final_info"] = {}
            for key, values in final_info.items():
                info["final_info"][key] = np.zeros_like(values)
                info["final_info"][key][rows] = values[rows]
                info["final_info"][f"_{key}"] = ended.copy()
            for row, _, final in extra_infos:
                add_info(info["final_info"], final or {}, row, len(reward))
            info["_final_obs"], info["_final_info"] = ended.copy(), ended
        return batch

    # Gymnasium's own, which passes arguments of wrappers on to close_extras
    close = VectorEnv.close
    """Ends the threads. A second call does nothing."""

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads; called by `close`."""
        self._pool.close()
