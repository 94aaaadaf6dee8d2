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

from cypool.api.agents import by_agent, check_nested, state_of
from cypool.api.base import VectorAPI
from cypool.api.conversions import TorchEnv, convert
from cypool.api.env_ids import ids_of, players_of
from cypool.api.infos import add_info
from cypool.api.rollouts import RolloutBuffers
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
    """Returns the Gymnasium space of the observations, or actions, of all agents of a group."""
    own = getattr(group, name)
    if any(isinstance(part, Discrete) for part in (own.values() if isinstance(own, Mapping) else [own])):
        # a MultiDiscrete rather than a Box of integers
        return batch_space(space_of(own), group.count)
    return space_of(group.of_all(name))


def spaces_of(spec: EnvSpec) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Returns the Gymnasium spaces of one environment: of its observation and its action.

    With agents they are batches of the spaces of one agent; of several groups a Dict of such.
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
    """Returns the `metadata` of an environment, but for its autoreset mode."""
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
    if spec.id.startswith(PETTINGZOO_PREFIX):
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
        raise TypeError(f"options: expected a dict or None, or a list of them, got {shown(options)}")
    if len(options) != count:
        raise ValueError(f"options: expected a dict or None for each of {count} environments, got {len(options)}")
    rows = [None if own is None else _dict_of(own) for own in options]
    if any(own is not None and "reset_mask" in own for own in rows):
        raise ValueError("reset_mask: expected it in a dict for all environments, got it among those of one")
    return rows


class _Missing:
    """A method of Gymnasium's vectors that a pool does not have: the error says why."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"{self._name}: a pool has no Python object for each environment; `info`, `env_spec`, "
                             "`save` and `reset(options=...)` read and change what they have",
                             name=self._name, obj=instance)


class GymnasiumPool(VectorAPI, VectorEnv):
    """A batch of environments with Gymnasium's vector API, and with `send` / `recv`.

    A batch, as `step` and `recv` return it, is a tuple (observation, reward, terminated, truncated, info):

    * observation: (batch_size, ...) array, or a dict or tuple of them.
    * reward: float64, (batch_size,).
    * terminated, truncated: bool, (batch_size,).
    * info: Arrays of `batch_size` rows: `env_id` int32, `elapsed_step` int32 and the environment's own. With
      `episode_statistics`, in batches where an episode ended, also `episode`, a dict of `r` (float64, its return, not
      clipped), `l` (int64, its steps) and `t` (float64, seconds it took), 0 where none ended, and `_episode`, the rows
      where one did. Where several agents act in an environment, also `agents`: a dict of groups, each with `reward`
      (float64), `terminated` and `truncated` of shape (batch_size, agents), and `acted` and `alive` where agents may be
      absent; and `episode["agents"]`, a dict of groups with `r` and `l`. Where several play in one environment, also
      `players`, a dict of `env_id`: int32, (batch_size * players,), whose each row of observations is, counted through
      all players.

    Which rows a batch holds, and the other attributes: see `VectorAPI`.

    Args:
        pool: The engine. The API owns it.
        spec: Describes the environments.
        autoreset_mode: How an environment continues after the end of an episode. NEXT_STEP: its next step ignores the
            action and starts an episode, with reward 0. SAME_STEP: the next episode starts at once, the last
            observation and info are in `info["final_obs"]` and `info["final_info"]`. DISABLED: nothing; it has to be
            reset before its next step.

    Attributes:
        batch_size: Rows of a batch; also the batch axis of `observation_space` and `action_space`.
        spec: Gymnasium's `EnvSpec`, from which `gymnasium.make_vec` makes such a pool; of environments of Gymnasium
            that of the first one. None if Gymnasium does not take the name. May be assigned.

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

        Made when it is asked for: Gymnasium keeps four arrays of a batch's size in it.
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
        """The seed of each environment's random stream, a tuple of ints; -1 where it is not known, as after `load`.

        Raises:
            RuntimeError: Environments of Gymnasium, which are asked, are in flight.
        """
        if self._pool.is_hosted:
            return self._asked("np_random_seed")
        return tuple(self._seeds)

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:
        """A NumPy Generator for each environment, a tuple: copies in the states of the environments' random streams.

        They give the numbers that the environments draw next. To draw from them changes no environment.

        Raises:
            AttributeError: The environments draw from no NumPy generator: Atari's with most presets.
            RuntimeError: An environment is in flight.
        """
        if self._pool.is_hosted:
            return self._asked("np_random")
        states = self._pool.streams()
        if None in states:
            raise AttributeError(f"np_random: {self.env_spec.id} draws from no NumPy generator")
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
            env_id: Integers, shape (k,): the environments to reset; all by default, and then whatever is in flight
                is thrown away.
            seed: An int, and environment i gets `seed + i`; or a sequence with one int (or None) for each environment
                (of `env_id`, if given). None leaves the random streams where they are.
            options: `{"reset_mask": mask}`, a bool array of shape (num_envs,), resets the environments that are True
                there, in a synchronous pool; maybe none. Other options go to the environments that are reset, if they
                are Gymnasium's, or have such options. A list with a dict (or None) for each environment (of
                `env_id`, if given) gives each its own; there, `reset_mask` is no option.

        Returns:
            Observation and info: of all environments; with `env_id` of those; in an asynchronous pool of the first
            batch. With a mask the environments that are not reset show their last observation again.

        Raises:
            TypeError, ValueError: Wrong ids, seeds or options.
            RuntimeError: With `env_id`, environments are in flight, whose results would be returned instead.
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
            raise ValueError("reset_mask: expected no env_id with it, and a synchronous pool")
        return mask

    def step(self, actions: Any, env_id: ArrayLike | None = None, out: Any = None) -> Batch:
        """Steps environments and waits for a batch: `send`, then `recv`.

        Args:
            actions, env_id: As in `send`.
            out: (observation, reward, terminated, truncated): arrays, or CPU tensors, that the batch is written to,
                such as `rollout_buffers(T)[t]`. Each C-contiguous and writeable, of the dtype and shape that the
                batch has; no two share memory. In synchronous pools only.

        Returns:
            A batch; the arrays of `out`, if given, and info.
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
        """Returns the state for a central critic, of the batch received last, for an environment with several agents.

        After a rollout it is that of its last step.

        Returns:
            (k, ...) in the order of the rows of that batch: the array that the environment specifies
            (`env_spec.state`), or the observations of all agents, one after the other, in the dtype that holds all of
            them. Where these are one array, a view of it.

        Raises:
            NotImplementedError: The environment has no state.
            RuntimeError: No batch was received, or a rollout ended early since.
        """
        described = self._env_spec.state
        if described is None:
            raise NotImplementedError(f"state: {self._env_spec.id} has none")
        if self._last is None:
            raise RuntimeError("state: expected a batch that was received, got none: call reset() first")
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
        """Returns views of observations, or of other values of all agents, by the agents' names.

        Args:
            values: An array of shape (k, agents, ...), or a dict of such for several groups, or of the structure of
                `observation`. So are `info["agents"]`, each of its columns by group, and a rollout's arrays at one
                step.

        Returns:
            A dict: name of the agent -> (k, ...); dicts of arrays stay dicts.

        Raises:
            ValueError: The environment has one agent, or the values are of other groups.
        """
        return by_agent(self._env_spec, values)

    def sample_legal(self) -> Any:
        """Draws actions, all that are legal with the same probability, without a look at masks in Python.

        The draws come from the generator of `action_space`: `env.action_space.seed(0)` seeds them.

        Returns:
            Actions as `step` takes them; those where no action is legal, as the episode is over, are 0. Where all
            actions are legal: what `action_space.sample()` returns.

        Raises:
            RuntimeError: An environment is in flight, or was never reset.
        """
        if self._env_spec.illegal is None:
            return self.action_space.sample()
        return self._pool.sample_legal(self.action_space.np_random.bit_generator)

    def torch(self, device: Any = "cpu", pin: bool | None = None) -> TorchEnv:
        """Returns the pool with tensors in the place of arrays: a `cypool.adapters.torch.TorchPool`.

        Args:
            device: Where tensors are to be.
            pin: Whether batches pass through page-locked memory, two buffers in turn; by default for CUDA.

        Raises:
            ImportError: PyTorch is not there, or in a version that is not supported.
            ValueError: `pin` for a device that is not CUDA's.
        """
        pool: TorchEnv = convert("torch", self, device, pin)
        return pool

    def render(self, env_id: ArrayLike | None = None) -> Any:
        """Draws environments.

        Args:
            env_id: Integers, shape (k,): which environments.

        Returns:
            uint8, (k, height, width, 3); without `env_id` a tuple of the pictures of all, as Gymnasium has it. With the
            render mode "ansi" a tuple of texts.

        Raises:
            As `VectorAPI.render`.
        """
        if env_id is None:
            return tuple(self._pool.render())
        return super().render(env_id)

    def load(self, state: State, env_id: ArrayLike | None = None) -> tuple[Any, dict[str, Any]]:
        """Puts environments where `save` found them; returns their observation and info. See `VectorAPI.load`."""
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
            raise ValueError(f"expected {len(streams)} random streams of action spaces, got {len(spaces)}")

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
        """Returns the spaces that actions may be drawn from, those in them included: each has a random stream."""
        found: list[Any] = [self.action_space, self.single_action_space]
        for space in found:
            inner = getattr(space, "spaces", ())
            found += inner.values() if isinstance(inner, Mapping) else inner
        return found

    def _targets(self, out: Any) -> tuple[NDArray[Any], ...]:
        """Returns the arrays of `out` one after the other, checked but for the number of rows."""
        if self.is_async:
            raise ValueError("out: expected none in an asynchronous pool, whose rows are in no fixed order")
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
            obs = check_dict("out", obs, described, f"a dict of {list(described)} as observation")
        elif isinstance(described, tuple):
            expected = f"a tuple of {len(described)} arrays as observation"
            if not isinstance(obs, (tuple, list)):
                raise TypeError(f"out: expected {expected}, got {shown(obs)}")
            obs = check_list("out", obs, expected)
            if len(obs) != len(described):
                raise TypeError(f"out: expected {expected}, got {len(obs)}")
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
                    raise TypeError(f"out: expected {name} as memory that NumPy can share, got "
                                    f"{type(given).__name__}: {error}") from error
            if (not isinstance(array, np.ndarray) or array.ndim == 0 or not array.flags.carray or array.dtype != dtype
                    or array.shape[1:] != shape):
                got = f" of {array.dtype}, {array.shape}" if isinstance(array, np.ndarray) else ""
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
        """Ends the threads; called by `close`, which may be called twice."""
        self._pool.close()
