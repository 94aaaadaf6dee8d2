"""PyTorch: a pool with tensors. See docs/how_to/training_libraries.md."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from cypool.adapters import require
from cypool.errors import EnvError
from cypool.features.frames import FrameBuffers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.api.gymnasium import GymnasiumPool
    from cypool.spec import EnvSpec
    from cypool.util.typing import Batch, ResetOptions, Seed

torch = require("torch", "torch", "2.3", "3")


class TorchPool:
    """A pool with the Gymnasium API whose batches are tensors; `pool.torch()` creates it.

    A batch is (observation, reward, terminated, truncated, info): tensors of `batch_size` rows, with observations (or a
    dict or tuple of them) in their own dtype, rewards in float32, flags in bool. `info` is the pool's, with NumPy
    arrays on the host, except `final_obs` with `autoreset_mode="SameStep"`: in batches in which episodes ended, it is a
    tensor of their last observations, one for each row that is True in the bool tensor `_final_obs`.

    On the CPU, tensors share the memory of the pool's arrays, which are yours to keep. For other devices, a synchronous
    pool alternates between two buffers: one is copied while the environments already fill the other. You get a new
    tensor each time. Batches of asynchronous and normalized pools are copied without such buffers. The `batch` of an
    `EnvError` is the pool's: separate arrays on the host.

    Args:
        pool: A pool from `cypool.make`.
        device: The device of the tensors.
        pin: Whether to page-lock the buffers, so that copies overlap with computation; by default, only for CUDA.

    Raises:
        ValueError: `pin` is True, but the device is not a CUDA device.

    Attributes:
        pool, device: The arguments.

    Thread safety: one thread at a time.
    """

    def __init__(self, pool: GymnasiumPool, device: Any = "cpu", pin: bool | None = None):
        self.pool = pool
        self.device = torch.device(device)
        self._same_step = pool.metadata["autoreset_mode"].value == "SameStep"
        self._buffers = None
        pin = self.device.type == "cuda" if pin is None else pin
        if pin and self.device.type != "cuda":
            raise ValueError(f"pin: expected False for device {str(self.device)!r}, got {pin!r}")
        # asynchronous pools write where the next row is, and normalized ones make new arrays
        if self.device.type != "cpu" and not pool.is_async and pool.fills_out:
            self._buffers = [_Buffer(pool, pin) for _ in "12"]
            self._turn = 0

    def reset(self, env_id: Any = None, *, seed: Seed = None,
              options: ResetOptions = None) -> tuple[Any, dict[str, Any]]:
        """Starts new episodes: see `GymnasiumPool.reset`. Returns observation and info."""
        obs, info = self.pool.reset(env_id, seed=seed, options=options)
        return self._moved(obs), info

    def step(self, actions: Any, env_id: Any = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Steps environments and waits for a batch.

        Args:
            actions: A tensor on any device, or actions as for the pool.
            env_id: As for the pool.
        """
        actions = _on_host(actions)
        if self._buffers is None or env_id is not None:
            return self._batch(self.pool.step(actions, env_id))
        buffer = self._buffers[self._turn]
        self._turn = 1 - self._turn
        buffer.wait()
        try:
            info = self.pool.step(actions, out=buffer.arrays)[4]
        except EnvError as error:
            # the buffer is filled again, the error may be kept
            obs, *flags, info = error.batch
            error.batch = (_each(obs, np.array), *map(np.array, flags), info)
            raise
        return (*buffer.copied(self.device), self._info(info))

    def send(self, actions: Any, env_id: Any = None) -> None:
        """Sends actions to environments without waiting; see `GymnasiumPool.send`."""
        self.pool.send(_on_host(actions), env_id)

    def recv(self, timeout: float | None = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Waits for a batch: see `GymnasiumPool.recv`."""
        return self._batch(self.pool.recv(timeout))

    def rollout_buffers(self, num_steps: int, frames: Literal["stacked", "once"] = "stacked") -> Any:
        """Allocates memory for steps: see `GymnasiumPool.rollout_buffers`. With `frames="once"`, the memory
        is on the device."""
        buffers = self.pool.rollout_buffers(num_steps, frames)
        if frames == "once":
            return TensorFrameBuffers(self.pool.env_spec, num_steps, self.pool.num_envs, self.device)
        return buffers

    def _resume(self, obs: Any, info: dict[str, Any]) -> Any:
        """Returns the observations of a loaded checkpoint as tensors."""
        return self._moved(obs), info

    def close(self) -> None:
        """Closes the pool."""
        self.pool.close()

    def _batch(self, batch: Batch) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        obs, reward, terminated, truncated, info = batch
        return (self._moved(obs), torch.from_numpy(reward).to(self.device, torch.float32), self._moved(terminated),
                self._moved(truncated), self._info(info))

    def _moved(self, value: Any) -> Any:
        return _each(value, lambda array: torch.from_numpy(array).to(self.device))

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        if "_final_obs" in info:
            spec = self.pool.env_spec
            rows = [spec.unpack(final) for final in info["final_obs"][info["_final_obs"]]]
            finals = [np.stack(parts) for parts in zip(*rows, strict=True)]
            info["final_obs"] = self._moved(spec.pack(finals))
            info["_final_obs"] = self._moved(info["_final_obs"])
        return info

    def __getattr__(self, name: str) -> Any:
        # spaces, numbers and the like
        if name == "pool":
            raise AttributeError(name)
        return getattr(self.pool, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TensorFrameBuffers(FrameBuffers):
    """`FrameBuffers` of tensors: frames are stored, and stacks gathered, on a device.

    `pool.torch(device).rollout_buffers(T, frames="once")` creates it. `begin` and `add` take the pool's tensors on the
    device; `stacks` takes a tensor of integers on any device, and returns tensors.

    Args:
        spec, num_steps, num_envs: As in `FrameBuffers`.
        device: The device of the frames.
    """

    def __init__(self, spec: EnvSpec, num_steps: int, num_envs: int, device: Any = "cpu"):
        self._device = torch.device(device)
        super().__init__(spec, num_steps, num_envs)

    def _array(self, values: Any) -> Any:
        return torch.as_tensor(values, device=self._device)

    def _zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return torch.zeros(shape, dtype=torch.from_numpy(np.zeros(0, dtype)).dtype, device=self._device)

    def _at(self, positions: NDArray[np.int64]) -> Any:
        return torch.from_numpy(positions).to(self._device)

    def _moved(self, array: Any, source: int, target: int) -> Any:
        return array.movedim(source, target)

    def _equal_rows(self, one: Any, two: Any) -> NDArray[np.bool_]:
        # bytes: NaN equals itself, and 0.0 is not -0.0
        rows = [each.reshape(len(each), -1).contiguous().view(torch.uint8) for each in (one, two)]
        result: NDArray[np.bool_] = (rows[0] == rows[1]).all(1).cpu().numpy()
        return result

    def _rows(self, index: Any) -> Any:
        if not isinstance(index, torch.Tensor):
            return torch.from_numpy(super()._rows(index).astype(np.int64)).to(self._device)
        count = len(self) * self._num_envs
        if index.ndim != 1 or index.dtype.is_floating_point or index.dtype == torch.bool:
            raise ValueError(f"index: expected integers of shape (k,), got {index.dtype}, shape {tuple(index.shape)}")
        # beyond the end, CUDA would stop all that follows
        if len(index) and not (index.min() >= 0 and index.max() < count):
            raise ValueError(f"index: expected numbers in [0, {count}), got {index.min()} to {index.max()}")
        return index.to(self._device, torch.int64)


class _Buffer:
    """Host memory for one batch, and the event that marks the end of its copy."""

    def __init__(self, pool: GymnasiumPool, pin: bool):
        def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
            return torch.from_numpy(np.zeros((pool.num_envs, *shape), dtype))

        spec = pool.env_spec
        tensors = [zeros(part.shape, part.dtype) for _, part in spec.observations]
        tensors += [zeros((), np.float64), zeros((), np.bool_), zeros((), np.bool_)]
        if pin:
            tensors = [tensor.pin_memory() for tensor in tensors]
        self.event = torch.cuda.Event() if pin else None
        self.obs = spec.pack(tensors[:-3])
        self.flags = tensors[-3:]
        self.arrays = (_each(self.obs, torch.Tensor.numpy), *(tensor.numpy() for tensor in self.flags))

    def wait(self) -> None:
        """Waits until the last copy of this buffer is done."""
        if self.event is not None:
            self.event.synchronize()

    def copied(self, device: Any) -> Any:
        """Starts to copy everything to the device; returns the tensors there."""
        reward, terminated, truncated = (tensor.to(device, non_blocking=True) for tensor in self.flags)
        obs = _each(self.obs, lambda tensor: tensor.to(device, non_blocking=True))
        if self.event is not None:
            self.event.record(torch.cuda.current_stream(device))
        return obs, reward.float(), terminated, truncated


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Returns an observation with each of its parts changed."""
    if isinstance(value, dict):
        return {key: change(part) for key, part in value.items()}
    return tuple(map(change, value)) if isinstance(value, tuple) else change(value)


def _on_host(actions: Any) -> Any:
    if isinstance(actions, Mapping):
        return {name: _on_host(part) for name, part in actions.items()}
    return actions.detach().cpu().numpy() if isinstance(actions, torch.Tensor) else actions
