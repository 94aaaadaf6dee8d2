"""Many simulations of one MuJoCo model, with live arrays."""
from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from cypool.engine import cpus
from cypool.engine.engine import Pool
from cypool.envs.shared.mujoco.specs import PHYSICS
from cypool.envs.shared.simulations.mujoco_simulations import Simulations, chunks, copied_model, data_fields
from cypool.util.arguments import MAX_ENVS, check_int, shown, suggestion

# below `cypool.envs` it is imported without OpenGL
import mujoco  # isort: skip

# fields that calls read: mjSTATE_INTEGRATION. Forces and similar inputs are read once somebody has touched them
STATE = ("time", "qpos", "qvel", "act", "qacc_warmstart", "ctrl", "mocap_pos", "mocap_quat")
INPUTS = ("qfrc_applied", "xfrc_applied", "eq_active", "userdata")
# by the kind of an object: prefixes of its fields, and sizes of mjModel that these are counted by
_KINDS = {"body": (("",), ("nbody",)), "geom": (("geom_",), ("ngeom",)), "site": (("site_",), ("nsite",)),
          "camera": (("cam_",), ("ncam",)), "light": (("light_",), ("nlight",)), "tendon": (("ten_",), ("ntendon",)),
          "actuator": (("actuator_", ""), ("nu", "nactuator", "nout")), "joint": (("",), ("nq", "nv", "njnt")),
          "sensor": (("",), ("nsensordata",))}
_WIDTHS = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # positions and velocities of a joint: free, ball, slide, hinge
_MOST_AT_ONCE = 64  # rows that a thread takes: as many as lanes step at once


def load_model(model: Any) -> mujoco.MjModel:
    """Returns the compiled model for a path, an XML text, an `mjSpec` or a model.

    Raises:
        TypeError: It is not one of these types.
        ValueError: MuJoCo cannot read it.
    """
    try:
        if isinstance(model, mujoco.MjModel):
            return model
        if isinstance(model, mujoco.MjSpec):
            return model.compile()
        if isinstance(model, str) and model.lstrip().startswith("<"):
            return mujoco.MjModel.from_xml_string(model)
        if isinstance(model, str | os.PathLike):
            return mujoco.MjModel.from_xml_path(os.path.expanduser(os.fspath(model)))
    except ValueError as error:
        raise ValueError(f"model: MuJoCo cannot read this model: {error}") from error
    raise TypeError(f"model: expected a path, MJCF text, a mujoco.MjSpec or a mujoco.MjModel, got {shown(model)}")


class Batch:
    """Simulations of one MuJoCo model, stepped by threads, in lanes if possible.

    Each field of `mujoco.MjData` is an attribute: an array of shape (num_envs, ...) that stays the same object. State
    fields, such as `qpos`, `qvel` and `ctrl`, are inputs: write to them before a call. All others are read-only
    results. A result is computed only once you have accessed it: at first it has the values that `forward` would give,
    then those of the last call. As after `mujoco.mj_step`, values derived from positions and velocities belong to the
    state before the last step: call `forward` if you need those of the new state.

    Args:
        model: The path of an XML file, MJCF text, a `mujoco.MjSpec` or a `mujoco.MjModel`, which is copied.
        num_envs: Number of simulations.
        num_threads: Number of threads that step them, including the caller; one per CPU by default.
        physics: "mj_step" switches lanes off.

    Attributes:
        model: The `mujoco.MjModel`, for names and sizes.
        num_envs: Number of simulations.
        num_threads: Number of threads that step them, including the caller.
        warning: int32, (num_envs, kinds): MuJoCo's warnings since the last reset, by `mujoco.mjtWarning`.

    Raises:
        TypeError, ValueError: The model cannot be read or stepped, or an argument is out of range.

    Thread safety: one thread at a time; calls from a second thread raise RuntimeError.
    """

    def __init__(self, model: Any, num_envs: int = 1, *, num_threads: int | None = None, physics: str = "lanes"):
        self.model = load_model(model)
        self.num_envs = check_int("num_envs", num_envs, 1, MAX_ENVS)
        most = max(cpus.available(), 1) if num_threads is None else check_int("num_threads", num_threads, 0, 4096)
        self._arrays: dict[Any, Any] = {}
        self._own: dict[Any, Any] = {}  # the same, writeable
        self._expanded: dict[str, Any] = {}
        self._has_constants = False
        self._lock = threading.Lock()
        copied = copied_model(self.model)
        self._simulations = Simulations(copied, self.num_envs, PHYSICS.check("physics", physics))
        self._fields = data_fields(copied)
        self._model_fields = copied.fields()
        self.warning = _read_only(self._simulations.warning)
        # two for each thread, so that those that are done help the others
        size = _MOST_AT_ONCE if most <= 1 else min(_MOST_AT_ONCE, max(8, math.ceil(self.num_envs / most / 2)))
        envs = chunks(self._simulations, self.num_envs, size)
        self.num_threads = min(max(most, 1), len(envs))
        self._pool = Pool(envs, [0] * len(envs), len(envs), self.num_threads, "next_step", False, None,
                          cpus.affinity(None, self.num_threads))
        self._pool.send_reset()
        self._pool.recv()
        self._actions = np.zeros(len(envs), np.uint8)
        for name in STATE:
            self._add(name, name, None)
        self.reset()

    # fields

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return self.bind(name)
        hint = suggestion(name, fields) if not name.startswith("_") else ""
        raise AttributeError(f"a Batch has no {name!r}, and mjData has no fixed-size field with that name{hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_fields", {}):
            # as in MjData
            self.bind(name)[...] = value
        else:
            super().__setattr__(name, value)

    def bind(self, name: str) -> Any:
        """Returns the live array of a field of mjData, like the attribute with this name."""
        if name not in self._arrays:
            if name not in self._fields:
                raise ValueError(f"name: expected a fixed-size mjData field, got {shown(name)}"
                                 f"{suggestion(name, self._fields) if isinstance(name, str) else ''}")
            self._touch(name, name, None)
        return self._arrays[name]

    def expand(self, name: str) -> Any:
        """Gives each simulation its own values of a field of the model.

        Args:
            name: A field of real numbers, such as "geom_friction", or an option, such as "opt.gravity".

        Returns:
            The live array, (num_envs, ...), which starts with the model's values. After writing to a field that others
            depend on, such as "body_mass", call `set_const`.

        Raises:
            ValueError: The field does not exist, or cannot vary.
        """
        if name not in self._expanded:
            names = [field for field, _, _, kind in self._model_fields if kind is not None and field != "opt.timestep"]
            if name not in names:
                raise ValueError(f"name: expected a real-valued field of mjModel other than the time step, got "
                                 f"{shown(name)}{suggestion(name, names) if isinstance(name, str) else ''}")
            with self._calling():
                # another thread may have done it meanwhile
                if name not in self._expanded:
                    self._expand(name)
        self._simulations.vary(name)
        return self._expanded[name]

    def _expand(self, name: str) -> None:
        number = [field for field, *_ in self._model_fields].index(name)
        _, rows, columns, dtype = self._model_fields[number]
        owner = self.model.opt if name.startswith("opt.") else self.model
        shape = np.shape(getattr(owner, name.removeprefix("opt.")))
        if int(np.prod(shape)) != rows * columns:
            shape = rows, columns
        array = _zeros((self.num_envs, *shape), dtype)
        array.reshape(self.num_envs, -1)[:] = self._simulations.model.numbers(number)
        self._simulations.expand(number, array)
        self._expanded[name] = array

    def _touch(self, key: Any, name: str, parts: Any) -> None:
        with self._calling():
            # another thread may have done it meanwhile
            if key in self._arrays:
                return
            self._add(key, name, parts)
            if name == "eq_active":
                self._arrays[key][:] = self.model.eq_active0
            elif name not in INPUTS:
                self._run("fill", None)

    def _add(self, key: Any, name: str, parts: Any) -> None:
        """Adds a live array of a whole field, or of some of its rows, given as (first, shape of one row)."""
        _, shape, dtype = self._fields[name]
        if parts is None:
            array = _zeros((self.num_envs, *shape), dtype)
            places = [(0, array.nbytes // self.num_envs)]
        else:
            array = _zeros((self.num_envs, len(parts), *parts[0][1]), dtype)
            places = [(first * dtype.itemsize, math.prod(shape) * dtype.itemsize) for first, shape in parts]
        self._simulations.add(name, array, places)
        self._own[key] = array
        self._arrays[key] = array if name in STATE or name in INPUTS else _read_only(array)

    # objects

    def body(self, *names: str | int) -> Objects:
        """Returns live arrays of bodies: `xpos`, `xquat`, `xmat`, `cvel` and other fields of mjData.

        Here and in the methods below, passing several names returns arrays whose second axis is the objects.
        """
        return Objects(self, "body", names)

    def joint(self, *names: str | int) -> Objects:
        """Returns live arrays of joints: `qpos`, `qvel`, `qacc`, `xanchor` and others."""
        return Objects(self, "joint", names)

    def geom(self, *names: str | int) -> Objects:
        """Returns live arrays of geoms: `xpos`, `xmat`."""
        return Objects(self, "geom", names)

    def site(self, *names: str | int) -> Objects:
        """Returns live arrays of sites: `xpos`, `xmat`."""
        return Objects(self, "site", names)

    def camera(self, *names: str | int) -> Objects:
        """Returns live arrays of cameras: `xpos`, `xmat`."""
        return Objects(self, "camera", names)

    def tendon(self, *names: str | int) -> Objects:
        """Returns live arrays of tendons: `length`, `velocity`."""
        return Objects(self, "tendon", names)

    def actuator(self, *names: str | int) -> Objects:
        """Returns live arrays of actuators: `ctrl`, `force`, `length`, `velocity`."""
        return Objects(self, "actuator", names)

    def sensor(self, *names: str | int) -> Any:
        """Returns the live array of a sensor's values; several sensors are concatenated."""
        return Objects(self, "sensor", names).data

    # calls

    def step(self, nstep: int = 1, ids: Any = None) -> None:
        """Steps the simulations.

        Args:
            nstep: Number of MuJoCo steps.
            ids: The simulations: integers, or a bool array of shape (num_envs,); by default all.

        Raises:
            RuntimeError: MuJoCo failed in some simulations, which remain unchanged.
        """
        self._call("step", ids, check_int("nstep", nstep, 1, 2**31 - 1))

    def forward(self, ids: Any = None) -> None:
        """Computes all results from the state, like `mujoco.mj_forward`; `ids` as in `step`."""
        self._call("forward", ids)

    def reset(self, ids: Any = None, keyframe: int | str = -1, *, forward: bool = True) -> None:
        """Resets simulations like `mujoco.mj_resetData` or `mj_resetDataKeyframe`, then calls `forward`.

        Args:
            ids: As in `step`.
            keyframe: The number or name of a keyframe; -1: none.
            forward: Whether to call `forward`; without it, all results are zero.
        """
        if isinstance(keyframe, str):
            found = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_KEY, keyframe)
            if found < 0:
                known = [self.model.key(k).name for k in range(self.model.nkey)]
                raise ValueError(f"keyframe: expected one of {known}, got {shown(keyframe)}")
            keyframe = found
        self._call("reset", ids, keyframe=check_int("keyframe", keyframe, -1, self.model.nkey - 1))
        if forward:
            self.forward(ids)

    def set_const(self, ids: Any = None) -> None:
        """Recomputes the values that depend on fields from `expand`, like `mujoco.mj_setConst`; `ids` as in `step`."""
        if not self._has_constants:
            with self._calling():
                for number in self._simulations.setconst_fields():
                    name, _, _, dtype = self._model_fields[number]
                    if dtype is not None and name not in self._expanded:
                        self._expand(name)
                self._has_constants = True
        self._call("set_const", ids)

    def get_state(self, ids: Any = None) -> Any:
        """Returns copies of the states, for `set_state`: float64, one row for each simulation."""
        rows = slice(None) if ids is None else np.flatnonzero(self._mask(ids))
        return np.concatenate([array[rows].reshape(len(array[rows]), -1) for array in self._inputs().values()], 1,
                              dtype=np.float64)

    def set_state(self, state: Any, ids: Any = None) -> None:
        """Restores states returned by `get_state`; a single row applies to all simulations."""
        rows = np.arange(self.num_envs) if ids is None else np.flatnonzero(self._mask(ids))
        arrays = self._inputs()
        size = sum(array[0].size for array in arrays.values())
        given = np.asarray(state, np.float64)
        if given.ndim not in (1, 2) or given.shape[-1] != size or given.shape[:-1] not in ((), (1,), (len(rows),)):
            raise ValueError(f"state: expected shape ({len(rows)}, {size}), got {given.shape}")
        first = 0
        for array in arrays.values():
            end = first + array[0].size
            array[rows] = given[..., first:end].reshape(*given.shape[:-1], *array.shape[1:])
            first = end

    def _inputs(self) -> dict[str, Any]:
        return {name: self._arrays[name] for name in (*STATE, *INPUTS) if name in self._arrays}

    def get_data(self, env_id: int) -> mujoco.MjData:
        """Returns a simulation as `mujoco.MjData`, after `mj_forward`, for rendering and MuJoCo's own functions."""
        env_id = check_int("env_id", env_id, 0, self.num_envs - 1)
        data = mujoco.MjData(self.model)
        for name, array in self._inputs().items():
            setattr(data, name, array[env_id])
        mujoco.mj_forward(self.model, data)
        return data

    @property
    def stepped_by(self) -> str:
        """How the model is stepped: a text that begins with "lanes", or with "mj_step: " and the reason."""
        why = self._simulations.why_mj_step()
        if why is not None:
            return f"mj_step: {why}"
        return "lanes" + (", then mj_step once more for fields that lanes do not compute"
                          if self._simulations.repeats_last() else "")

    def close(self) -> None:
        """Ends the threads. The arrays remain valid."""
        self._pool.close()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Batch({self.num_envs} simulations, {self.stepped_by})"

    @contextlib.contextmanager
    def _calling(self) -> Iterator[None]:
        """Excludes other threads, and waits for an interrupted call to finish."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("another call is using the batch: use it from one thread at a time")
        try:
            if self._pool.num_pending:
                self._pool.discard()
            yield
        finally:
            self._lock.release()

    def _call(self, call: str, ids: Any, nstep: int = 1, keyframe: int = -1) -> None:
        errors = self.run(call, None if ids is None else self._mask(ids), nstep, keyframe)
        if errors:
            first, others = min(errors), f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            raise RuntimeError(f"simulation {first}{others}: {errors[first]}")

    def run(self, call: str, chosen: Any, nstep: int = 1, keyframe: int = -1) -> dict[int, BaseException]:
        """Makes a call for the rows where `chosen` is True, or all if it is None; returns errors by row."""
        with self._calling():
            return self._run(call, chosen, nstep, keyframe)

    def _run(self, call: str, chosen: Any, nstep: int = 1, keyframe: int = -1) -> dict[int, BaseException]:
        self._simulations.command(call, nstep, keyframe, chosen)
        try:
            self._pool.step(self._actions)
        except BaseException:
            # an interrupt must not leave threads at work on the arrays
            self._pool.discard()
            raise
        return {row: RuntimeError(text) for row, text in self._simulations.take_errors().items()}

    def _mask(self, ids: Any) -> Any:
        given = np.asarray(ids)
        if given.dtype == np.bool_:
            if given.shape != (self.num_envs,):
                raise ValueError(f"ids: expected a mask of shape ({self.num_envs},), got {given.shape}")
            return np.ascontiguousarray(given)
        if given.size == 0:
            given = given.astype(np.int64)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ValueError(f"ids: expected integers of shape (k,), or a mask, got {shown(ids)}")
        if given.size and not (0 <= given.min() and given.max() < self.num_envs):
            raise ValueError(f"ids: expected 0 to {self.num_envs - 1}, got {given.min()} to {given.max()}")
        mask = np.zeros(self.num_envs, np.bool_)
        mask[given] = True
        if np.count_nonzero(mask) != given.size:
            raise ValueError(f"ids: expected each id at most once, got {shown(ids)}")
        return mask


class Objects:
    """Objects in a model, such as some of its sites: live arrays of their fields in `mujoco.MjData`.

    Args:
        batch: The batch.
        kind: The kind of the objects.
        names: Their names or numbers; at least one.

    Attributes:
        id: The number of the object, or an array for several.
    """

    def __init__(self, batch: Batch, kind: str, names: tuple[str | int, ...]):
        if not names:
            raise TypeError(f"{kind}: expected at least one name")
        self._batch, self._kind, self._is_one = batch, kind, len(names) == 1
        self._found = []
        for name in names:
            try:
                self._found.append(getattr(batch.model, kind)(name))
            except (KeyError, IndexError, TypeError) as error:
                text = str(error.args[0]) if error.args else str(error)
                raise ValueError(f"{kind}: expected a name in the model, got {shown(name)}: {text}") from error
        ids = np.array([found.id for found in self._found])
        self.id = int(ids[0]) if self._is_one else ids

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        batch, (prefixes, sizes) = self._batch, _KINDS[self._kind]
        attribute = "sensordata" if self._kind == "sensor" and name == "data" else name
        for prefix in prefixes:
            size, shape, _ = batch._fields.get(prefix + attribute, (None, (), None))
            if size in sizes:
                return self._array(prefix + attribute, size, shape)
        known = [field.removeprefix(next(filter(field.startswith, filter(None, prefixes)), ""))
                 for field, (size, _, _) in batch._fields.items() if size in sizes]
        raise AttributeError(f"{self._kind}: expected one of {known}, got {name!r}")

    def _array(self, field: str, size: str, shape: tuple[int, ...]) -> Any:
        batch = self._batch
        columns = shape[1] if len(shape) > 1 else 1
        if self._kind == "actuator" and shape[0] != getattr(batch.model, "nactuator", batch.model.nu):
            raise ValueError(f"actuator: expected a model whose actuators have one {field} each; use batch.{field}")
        parts = [self._place(found, size) for found in self._found]
        if field in STATE or field in INPUTS:
            array = batch.bind(field)
            first, end = parts[0][0], parts[-1][0] + parts[-1][1]
            if [f for f, _ in parts[1:]] != [f + n for f, n in parts[:-1]]:
                raise ValueError(f"{self._kind}: expected adjacent objects, because otherwise {field} is not a view; "
                                 f"use batch.{field} and column numbers")
            array = array[:, first:end]
            return array[:, 0] if self._is_one and size in ("nu", "nactuator", "nout") else array
        key = (field, tuple(parts))
        if key not in batch._arrays:
            if size in ("nq", "nv", "nsensordata"):
                # lengths may differ: one behind the other
                flat: list[tuple[int, tuple[int, ...]]] = [
                    (first + k, ()) for first, count in parts for k in range(count)]
            else:
                flat = [(first * columns, shape[1:]) for first, _ in parts]
            batch._touch(key, field, flat)
        array = batch._arrays[key]
        return array[:, 0] if self._is_one and size not in ("nq", "nv", "nsensordata") else array

    def _place(self, found: Any, size: str) -> tuple[int, int]:
        """Returns the first row and the number of rows of an object in a field."""
        if self._kind == "sensor":
            return int(found.adr[0]), int(found.dim[0])
        if self._kind == "joint" and size != "njnt":
            width = _WIDTHS[int(found.type[0])]
            return (int(found.qposadr[0]), width[0]) if size == "nq" else (int(found.dofadr[0]), width[1])
        return int(found.id), 1


def _zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    # memory that cannot be moved, as threads write there: `resize` of an array that has its own could
    return np.frombuffer(bytearray(max(math.prod(shape) * np.dtype(dtype).itemsize, 1)), dtype,
                         math.prod(shape)).reshape(shape)


def _read_only(array: Any) -> Any:
    view = array.view()
    view.flags.writeable = False
    return view
