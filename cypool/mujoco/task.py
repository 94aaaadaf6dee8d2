"""Tasks: a robot, and functions on arrays over all environments that turn its simulation into episodes."""
from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.envs.shared.mujoco.specs import SIMULATION, check_with_model
from cypool.envs.shared.simulations.mujoco_simulations import Generators, RowsBackend
from cypool.mujoco.batch import Batch, load_model
from cypool.spec import Array, EnvSpec
from cypool.util.arguments import check_int, shown, suggestion

import mujoco  # isort: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CAMERA = ("width", "height", "camera_name", "camera_id", "default_camera_config", "max_geom", "shadows")


class Task:
    """A robot and its task: subclass it, and pass the class to `cypool.make`.

    Each method handles all environments at once. `sim` is a `cypool.mujoco.Batch`, with a row per environment.
    A step of the pool calls `act`, takes `frame_skip` MuJoCo steps, and calls `reward`, `terminated`, `truncated`,
    `reset` for the environments that start an episode, `observe` and `info`. Results for environments that
    start an episode instead of stepping are ignored.

    Options that `cypool.make` itself does not know are passed to the class.

    Attributes:
        model: The path of an XML file, MJCF text, a `mujoco.MjSpec` or a `mujoco.MjModel`.
        frame_skip: Number of MuJoCo steps per environment step.
        physics: "mj_step" switches lanes off.
        max_episode_steps: The step limit of an episode; None: no limit.
        action_space, observation_space: `gymnasium.spaces.Box`; for observations, also a `Dict` of them. By default,
            actions are float32 within the model's control limits, and observations float32 of the shape that `observe`
            returns.
        render_options: Options for pictures: `width`, `height`, `camera_name` or `camera_id`, `default_camera_config`,
            `max_geom`, `shadows`, as for Gymnasium's robots.
    """

    model: Any = None
    frame_skip: int = 1
    physics: str = "lanes"
    max_episode_steps: int | None = None
    action_space: Any = None
    observation_space: Any = None
    render_options: Mapping[str, Any] = {}
    render_mode = "rgb_array"  # for adapters, which ask environments for it
    # of `add_state`, and how many rows there are; in `setup` only
    _state: list[NDArray[Any]] | None = None
    _num_envs = 0

    def setup(self, sim: Batch) -> None:
        """Runs once, before all other methods: create views of arrays here, and call `add_state`."""

    def act(self, sim: Batch, action: NDArray[Any]) -> None:
        """Sets the controls from the actions, shape (num_envs, ...); by default, copies the actions."""
        sim.ctrl[:] = action

    def reset(self, sim: Batch, ids: NDArray[Any], rng: Generators) -> None:
        """Starts episodes; cypool then calls `sim.forward(ids)`.

        Args:
            sim: The simulations.
            ids: The environments, in ascending order.
            rng: Their random streams: `rng.uniform(-1, 1, 3)` has shape (len(ids), 3), and each row comes from the
                stream of one environment.
        """
        sim.reset(ids, forward=False)

    def observe(self, sim: Batch) -> Any:
        """Returns the observations, an array (num_envs, ...), or a dict of them."""
        raise NotImplementedError(f"{type(self).__name__}.observe: a task must define this method")

    def reward(self, sim: Batch, action: NDArray[Any]) -> Any:
        """Returns the rewards of the step, shape (num_envs,)."""
        raise NotImplementedError(f"{type(self).__name__}.reward: a task must define this method")

    def terminated(self, sim: Batch) -> Any:
        """Returns a flag for each environment, True if the episode ends; by default, all are False."""
        return False

    def truncated(self, sim: Batch) -> Any:
        """Returns a flag for each environment, True to cut off the episode before the step limit."""
        return False

    def info(self, sim: Batch) -> Mapping[str, Any]:
        """Returns additional arrays (num_envs, ...) by name; the names must be the same in each step."""
        return {}

    def add_state(self, shape: int | tuple[int, ...] = (), dtype: Any = np.float64) -> NDArray[Any]:
        """Returns an array of zeros with one row per environment, which is saved, loaded and copied with the
        environment.

        Call it in `setup`, and write to the array; do not replace it.
        """
        if self._state is None:
            raise RuntimeError("add_state: can only be called in setup()")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        array = np.zeros((self._num_envs, *shape), dtype)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"dtype: expected numbers or bools, got {array.dtype}")
        self._state.append(array)
        return array

    # what `cypool.make` calls; `start_workers` in hosting returns the same

    @classmethod
    def make_envs(cls, source: Any, num_envs: int, num_threads: int | None, max_episode_steps: int | None,
                  options: dict[str, Any]) -> Any:
        """Returns the `Env` objects of a pool, and the backend that steps them.

        Args:
            source: The class, or an instance, which is copied.
            num_envs, num_threads, max_episode_steps: As in `cypool.make`.
            options: Arguments of the class.
        """
        if not isinstance(source, type) and options:
            raise TypeError(f"{min(options)}: expected no options with a task instance: pass the class")
        parameters = inspect.signature(source).parameters if isinstance(source, type) else {}
        takes_more = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        for name in () if takes_more else options.keys() - parameters.keys():
            hint = suggestion(name, parameters) or (" (to change it, make a subclass)" if hasattr(source, name) else
                                                    " (to vary its model, call sim.expand in setup)")
            raise ValueError(f"{name}: not an option of {source.__name__}{hint}; options: "
                             f"{', '.join(parameters) or 'none'}")
        task = source(**options) if isinstance(source, type) else copy.copy(source)
        usual = {name: each.default for name, each in parameters.items() if each.default is not each.empty}
        backend = _Rows(task, num_envs, num_threads, max_episode_steps, options, usual)
        return backend.envs, backend


class _Rows(RowsBackend):
    """Steps the environments of a task.

    Args:
        task: The task, which must not be used elsewhere.
        num_envs, num_threads, limit: As in `cypool.make`.
        options, usual: The options of the task and their defaults, for the spec.
    """

    def __init__(self, task: Task, num_envs: int, num_threads: int | None, limit: int | None,
                 options: dict[str, Any], usual: dict[str, Any]):
        self.name, self.task, self.camera = type(task).__name__, task, None
        if task.model is None:
            raise ValueError(f"{self.name}.model: expected a path, MJCF text, a mujoco.MjSpec or a mujoco.MjModel")
        self.frame_skip = check_int(f"{self.name}.frame_skip", task.frame_skip, 1, 2**31 - 1)
        self.sim = Batch(load_model(task.model), num_envs, num_threads=num_threads, physics=task.physics)
        try:
            super().__init__(self._described_by_trial(limit, options, usual), num_envs, self.sim.num_threads)
        except BaseException:
            self.close()
            raise

    def _described_by_trial(self, limit: int | None, options: dict[str, Any], usual: dict[str, Any]) -> EnvSpec:
        """Sets up the task, and describes what it returns."""
        task, num_envs = self.task, self.sim.num_envs
        task._state, task._num_envs = [], num_envs
        task.setup(self.sim)
        self.state, task._state = task._state, None
        action = _box(f"{self.name}.action_space", task.action_space) or _controls(self.sim.model)
        # with streams that nobody else has
        trial = RowsBackend(EnvSpec(Array((), np.uint8), action), num_envs, 0)
        trial.seed(0)
        everyone = np.arange(num_envs)
        task.reset(self.sim, everyone, Generators(trial.envs, everyone))
        self.sim.forward()
        observation = self._described(task.observe(self.sim))
        info = {name: _array_of(f"info()[{name!r}]", value, num_envs, np.float64)
                for name, value in task.info(self.sim).items()}
        limit = task.max_episode_steps if limit is None else limit
        if limit is not None:
            limit = check_int("max_episode_steps", limit, 1, 2**31 - 2)
        fps = max(1, round(1 / (self.sim.model.opt.timestep * self.frame_skip)))
        # states contain the other options, which may have to be plain data
        unsaved = tuple(name for name in usual if name not in options)
        return EnvSpec(observation, action, info, max_seed=2**64 - 1, id=self.name, max_episode_steps=limit,
                       options={**usual, **options}, unsaved_options=unsaved, render_fps=fps)

    def _described(self, obs: Any) -> Any:
        """Returns the description of observations, from the task's space, or from the first observations."""
        space, name, num_envs = self.task.observation_space, f"{self.name}.observation_space", self.sim.num_envs
        if isinstance(obs, Mapping):
            spaces = getattr(space, "spaces", None)
            if spaces is not None and spaces.keys() != obs.keys():
                raise ValueError(f"{name}: expected {list(obs)}, the parts that observe() returns, got {list(spaces)}")
            return {key: _box(f"{name}[{key!r}]", spaces[key]) if spaces is not None else
                    _array_of(f"observe()[{key!r}]", part, num_envs) for key, part in obs.items()}
        return _box(name, space) or _array_of("observe()", obs, num_envs)

    def advance(self, same_step: bool) -> None:
        """Steps the rows of `stepped` and resets those of `resets`."""
        task, sim, resets = self.task, self.sim, self.resets
        if self.stepped.any():
            # tasks may keep it
            action = self.actions.copy()
            task.act(sim, action)
            self.errors.update(sim.run("step", None if self.stepped.all() else self.stepped, self.frame_skip))
            self._write("reward", task.reward(sim, action), self.reward, "biuf", "numbers")
            self._write("terminated", task.terminated(sim), self.terminated, "b", "bools")
            self._write("truncated", task.truncated(sim), self.truncated, "b", "bools")
            if same_step:
                self.begun[:] = self.stepped & (self.terminated | self.truncated | self.last)
                if self.begun.any():
                    self._observe(self.final, self.begun)
                    resets = self.begun
        if resets.any():
            ids = np.flatnonzero(resets)
            task.reset(sim, ids, Generators(self.envs, ids))
            self.errors.update(sim.run("forward", resets))
        self._observe(self.current, self.stepped | resets)

    def _write(self, method: str, given: Any, out: NDArray[Any], kinds: str, kind: str) -> None:
        values = np.asarray(given)
        # one for all is a plain number: NumPy's are means and sums over all environments, by mistake
        is_plain = values.shape == () and not isinstance(given, np.generic | np.ndarray)
        if not (values.shape == out.shape or is_plain) or values.dtype.kind not in kinds:
            raise ValueError(f"{self.name}.{method}: expected {kind} of shape {out.shape}, got "
                             f"{values.dtype} of shape {values.shape}")
        out[:] = values

    def _observe(self, columns: list[NDArray[Any]], rows: NDArray[Any]) -> None:
        """Writes observations and infos to some rows."""
        obs, spec = self.task.observe(self.sim), self.envs[0].spec
        if isinstance(obs, Mapping) != isinstance(spec.observation, Mapping):
            raise ValueError(f"{self.name}.observe: expected {spec.observation}, got {shown(obs)}")
        given = [obs] if not isinstance(obs, Mapping) else self._parts("observe", obs, spec.observation)
        if spec.info:
            given += self._parts("info", self.task.info(self.sim), spec.info)
        everybody = rows.all()
        for value, column in zip(given, columns, strict=True):
            value = np.asarray(value)
            if value.shape != column.shape:
                raise ValueError(f"{self.name}.observe: expected arrays of shape {column.shape}, got {value.shape}")
            if everybody:
                np.copyto(column, value, "same_kind")
            else:
                column[rows] = value[rows]

    def _parts(self, method: str, given: Mapping[str, Any], described: Mapping[str, Any]) -> list[Any]:
        if given.keys() != described.keys():
            raise ValueError(f"{self.name}.{method}: expected {list(described)}, as in the first call, got "
                             f"{list(given)}")
        return [given[name] for name in described]

    # states: bytes of each array's row

    def _arrays(self) -> dict[str, NDArray[Any]]:
        sim = self.sim
        return {**{f"data.{name}": array for name, array in sim._own.items()},
                **{f"model.{name}": array for name, array in sim._expanded.items()},
                **{f"task.{k}": array for k, array in enumerate(self.state)},
                **{f"row.{k}": array for k, array in enumerate(self.current)},
                "warning": sim._simulations.warning}

    def save_row(self, row: int) -> Any:
        """Returns the state of an environment."""
        return {name: array[row].tobytes() for name, array in self._arrays().items()}, mujoco.mj_version()

    def load_row(self, row: int, state: Any) -> None:
        """Restores the state of an environment."""
        if not isinstance(state, tuple | list) or len(state) != 2 or not isinstance(state[0], dict):
            raise ValueError(f"expected the state of a task, got {shown(state)}")
        given, version = state
        if version != mujoco.mj_version():
            raise ValueError(f"expected a state from MuJoCo {mujoco.mj_version()}, got one from {shown(version)}")
        for name in given:
            # a field that was first used later
            if isinstance(name, str) and name.startswith("data.") and name[5:] in self.sim._fields:
                self.sim.bind(name[5:])
            elif isinstance(name, str) and name.startswith("model."):
                self.sim.expand(name[6:])
        arrays = self._arrays()
        sizes = {name: array.nbytes // len(array) for name, array in arrays.items()}
        # of a field that was not in use where the state comes from
        absent = {name for name in sizes.keys() - given.keys() if name.startswith("data.")}
        for name in sizes.keys() - absent | given.keys():
            if not isinstance(given.get(name), bytes) or len(given[name]) != sizes.get(name):
                raise ValueError(f"expected {sizes.get(name, 0)} bytes for {shown(name)}, got {shown(given.get(name))}")
        mask = np.zeros(self.sim.num_envs, np.bool_)
        mask[row] = True

        def write() -> None:
            for name, part in given.items():
                arrays[name][row] = np.frombuffer(part, arrays[name].dtype).reshape(arrays[name].shape[1:])

        write()
        if self.sim._has_constants:
            self.sim.run("set_const", mask)
        if absent:
            self.sim.run("forward", mask)
        write()

    def render_row(self, row: int) -> NDArray[Any]:
        """Returns a picture of an environment."""
        if self.camera is None:
            given = {"default_camera_config": {}, **self.task.render_options}
            if unknown := given.keys() - set(_CAMERA):
                raise ValueError(f"{self.name}.render_options: expected keys in {list(_CAMERA)}, got {min(unknown)!r}")
            options = {name: one.check(name, given.get(name, one.default)) for name, one in SIMULATION.items()}
            options["default_camera_config"] = given["default_camera_config"]
            check_with_model(self.sim._simulations.model, options, {})
            self.camera = self.sim._simulations.camera(options)
        picture: NDArray[Any] = self.sim._simulations.render(row, self.camera)
        return picture

    @property
    def stepped_by(self) -> str:
        """How the environments are stepped."""
        return self.sim.stepped_by

    def close(self) -> None:
        """Ends the threads."""
        self.sim.close()


def _box(name: str, space: Any) -> Array | None:
    """Returns the description of a Gymnasium space; None for None."""
    if space is None or isinstance(space, Array):
        return space
    if not all(hasattr(space, part) for part in ("shape", "dtype", "low", "high")):
        raise ValueError(f"{name}: expected a gymnasium.spaces.Box, got {shown(space)}")
    return Array(space.shape, space.dtype, space.low, space.high)


def _controls(model: mujoco.MjModel) -> Array:
    limited = model.actuator_ctrllimited.astype(bool)
    low, high = np.where(limited, model.actuator_ctrlrange.T, [[-math.inf], [math.inf]])
    if model.nu == 0:
        raise ValueError("model: expected a model with actuators, or an action_space")
    return Array((model.nu,), np.float32, low, high)


def _array_of(name: str, value: Any, num_envs: int, real: Any = np.float32) -> Array:
    value = np.asarray(value)
    if value.ndim == 0 or len(value) != num_envs or value.dtype.kind not in "biuf":
        raise ValueError(f"{name}: expected an array with {num_envs} rows, got {value.dtype} of shape {value.shape}")
    return Array(value.shape[1:], real if value.dtype.kind == "f" else value.dtype)
