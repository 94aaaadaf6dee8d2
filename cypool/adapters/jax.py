"""JAX: a pool's functions for compiled code. See docs/how_to/training_libraries.md.

Code compiled for the CPU calls `cypool.adapters.xla`; other code uses JAX's own Python callbacks. JAX does not order
these calls; the handle that each call takes and returns keeps them in order.
"""
from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import weakref
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.adapters import require, xla

if TYPE_CHECKING:
    from cypool.api.base import VectorAPI

jax = require("jax", "jax", "0.5", "0.12")

from jax.dtypes import canonicalize_dtype  # noqa: E402
from jax.experimental import io_callback  # noqa: E402

TARGET = "cypool"
jax.ffi.register_ffi_target(TARGET, xla.target(), platform="cpu")

# a handle begins with the number of its pool; none is given twice, so that a handle never leads to another pool
pools: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
numbers = itertools.count()

HANDLE = jax.ShapeDtypeStruct((2,), np.int32)


@atexit.register
def _finish() -> None:
    """Lets calls finish, as JAX does, but before pools are closed."""
    # JAX reports errors when it does the same
    with contextlib.suppress(jax.errors.JaxRuntimeError):
        jax.effects_barrier()


class Functions(namedtuple("Functions", ["handle", "recv", "send", "step"])):
    """The result of `pool.xla()`: `handle, recv, send, step = pool.xla()`.

    All of them work in `jax.jit`, `jax.lax.scan` and the like, and in `jax.vmap` over the handles and arguments of
    several pools, which are called one after the other.

    * `handle`: int32, (2,). Each call takes and returns the handle, which keeps the calls in order.
    * `step(handle, actions, env_id=None) -> handle, batch`.
    * `send(handle, actions, env_id=None) -> handle`, `recv(handle) -> handle, batch`.
    * `functions.reset(handle, mask=None) -> handle, (observation, info)`: resets the environments where the bool array
      `mask` is True, by default all. Other rows stay the same. Only for synchronous pools with `cypool.make`'s
      Gymnasium API.

    A batch is what `pool.recv` returns, but always with `batch_size` rows and in JAX's dtypes: single precision
    unless `jax_enable_x64` is set. With `autoreset_mode="SameStep"`, the infos of each batch contain `final_obs`, an
    array (or dict or tuple) with the same number of rows, `final_info`, and `_final_obs`, which marks the valid rows;
    other rows are zero. With `episode_statistics`, they also contain `episode` and `_episode`.

    Args:
        pool: A pool from `cypool.make` or `cypool.compat.envpool.make`.
    """

    def __new__(cls, pool: VectorAPI) -> Functions:
        calls = _Calls(pool)
        functions: Any = super().__new__(cls, calls.handle, calls.recv, calls.send, calls.step)
        functions.reset = calls.reset
        # pools live as long as their functions
        functions.pool = pool
        result: Functions = functions
        return result


class _Calls:
    """The functions for one pool, and for all pools whose batches look the same."""

    def __init__(self, pool: VectorAPI):
        number = next(numbers)
        pools[number] = pool
        self.handle = jax.numpy.array([number, 0], np.int32)
        self.pool = pool
        batch = pool._empty_batch()
        if getattr(pool, "_same_step", False):
            obs, info = batch[0], batch[4]
            info["final"] = (obs, {key: values for key, values in info.items() if key != "env_id"})
        self.batch = _dense(pool, pool._format_batch(batch))

    def step(self, handle: Any, actions: Any, env_id: Any = None) -> Any:
        return self._call(_step, self.batch, handle, actions, env_id)

    def send(self, handle: Any, actions: Any, env_id: Any = None) -> Any:
        return self._call(_send, (), handle, actions, env_id)[0]

    def recv(self, handle: Any) -> Any:
        return self._call(_recv, self.batch, handle)

    def reset(self, handle: Any, mask: Any = None) -> Any:
        if not self.pool.has_reset_mask or self.pool.is_async:
            raise ValueError("reset: expected a synchronous pool with cypool.make's Gymnasium API")
        obs, _, _, _, info = self.pool._empty_batch()
        return self._call(_reset, (obs, info), handle, mask)

    def _call(self, work: Callable[..., Any], like: Any, handle: Any, *args: Any) -> Any:
        """Calls `work(pool, *args)` from compiled code; the result is structured like `like`, with a batch's rows."""
        arrays, arguments = jax.tree.flatten(args)
        leaves, tree = jax.tree.flatten(like)
        shapes = [jax.ShapeDtypeStruct((self.pool.batch_size, *array.shape[1:]), canonicalize_dtype(array.dtype))
                  for array in leaves]
        function = _Function(work, arguments, tree)
        if jax.default_backend() == "cpu":
            call = jax.ffi.ffi_call(TARGET, [HANDLE, *shapes], has_side_effect=True, vmap_method="sequential")
            handle, *results = call(handle, *arrays, function=np.int64(_number_of(function)))
        else:
            def call_back(handle: Any, *arrays: Any) -> Any:
                handle = np.asarray(handle)
                given = function(int(handle[0]), [np.asarray(array) for array in arrays])
                converted = [np.asarray(array, like.dtype) for array, like in zip(given, shapes, strict=True)]
                return [handle + np.array([0, 1], np.int32), *converted]

            handle, *results = io_callback(call_back, [HANDLE, *shapes], handle, *arrays)
        return handle, tree.unflatten(results)


class _Function(namedtuple("_Function", ["work", "arguments", "tree"])):
    """The function that compiled code calls: the work on a pool, and the arrays of its arguments and results."""

    def __call__(self, number: int, arrays: Any) -> Any:
        pool = pools.get(number)
        if pool is None:
            raise ValueError(f"handle: expected the handle of a pool that is still referenced, got {number}")
        return self.tree.flatten_up_to(self.work(pool, *self.arguments.unflatten(arrays)))


@functools.cache
def _number_of(function: _Function) -> int:
    result: int = xla.add(function)
    return result


def _step(pool: VectorAPI, actions: Any, env_id: Any) -> Any:
    return _full(pool, pool.step(actions, env_id))


def _send(pool: VectorAPI, actions: Any, env_id: Any) -> Any:
    pool.send(actions, env_id)
    return ()


def _recv(pool: VectorAPI) -> Any:
    return _full(pool, pool.recv())


def _reset(pool: VectorAPI, mask: Any) -> Any:
    if mask is None:
        return pool.reset()
    # not the API's reset, which wants at least one True as Gymnasium does
    pool._pool.send_reset(np.flatnonzero(mask).astype(np.int32), True)
    obs, _, _, _, info = pool._received(pool._pool.recv)
    return obs, info


def _full(pool: VectorAPI, batch: Any) -> Any:
    rows = len(batch[1])
    if rows != pool.batch_size:
        raise RuntimeError(f"recv: expected {pool.batch_size} environments in flight, got {rows}")
    return _dense(pool, batch)


def _dense(pool: VectorAPI, batch: Any) -> Any:
    """Returns a batch that always has the same arrays: zeros where no episode ended."""
    same_step, statistics = getattr(pool, "_same_step", False), pool.recipe.get("episode_statistics")
    if not same_step and not statistics:
        return batch
    *others, info = batch
    info = dict(info)
    rows = len(others[1])
    if same_step:
        spec = pool.env_spec
        ended = info.get("_final_obs", np.zeros(rows, np.bool_))
        finals = [np.zeros((rows, *part.shape), part.dtype) for _, part in spec.observations]
        for row in np.flatnonzero(ended):
            for array, part in zip(finals, spec.unpack(info["final_obs"][row]), strict=True):
                array[row] = part
        names = ["elapsed_step", *spec.info]
        given = info.get("final_info", {})
        info.update(final_obs=spec.pack(finals), _final_obs=ended, _final_info=ended,
                    final_info={name: given.get(name, np.zeros_like(info[name])) for name in names})
    if statistics and "episode" not in info:
        info["episode"] = {"r": np.zeros(rows), "l": np.zeros(rows, np.int64), "t": np.zeros(rows)}
        if "agents" in info:
            info["episode"]["agents"] = {
                name: {"r": np.zeros_like(group["reward"]), "l": np.zeros(group["reward"].shape, np.int64)}
                for name, group in info["agents"].items()}
        info["_episode"] = np.zeros(rows, np.bool_)
    return (*others, info)
