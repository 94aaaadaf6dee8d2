"""Checkpoints: everything that a training run needs to continue, in one file."""
from __future__ import annotations

import copy
import json
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.api.base import VectorAPI
from cypool.policies import Policy
from cypool.replay import history
from cypool.replay.buffer import ReplayBuffer
from cypool.state import check_stream, decoded, encoded, opened, verified, write_with_checksum
from cypool.util.arguments import MAX_ENVS, check_int, check_path, shown
from cypool.util.replacing import replacing
from cypool.util.version import version

if TYPE_CHECKING:
    from cypool.state import Blobs
    from cypool.util.typing import Pathlike

# as that of states; arrays and tensors are bytes behind the JSON, too
MAGIC = b"cypool checkpoint 1\n"
PARTS = {VectorAPI: "pool", ReplayBuffer: "replay buffer", history.History: "history", Policy: "policy",
         np.random.Generator: "NumPy Generator"}
# what a file may hold that is no Python: numbers and texts
KINDS = "biufcSU"
MOST_AXES = 32  # of NumPy's arrays before version 2


def save_checkpoint(path: Pathlike, /, **parts: Any) -> None:
    """Writes the complete state of a run to a file; `load_checkpoint` resumes it bit for bit.

    An existing file is replaced only when the new one is complete and safely on disk. The format is plain data with a
    checksum and cypool's version, not a pickle.

    Args:
        path: The file.
        **parts: Objects to save, under names of your choice:

            * pools, or adapters and wrappers with a `pool` attribute: environments with their random streams,
              statistics of `normalize_obs` and `normalize_reward`, random streams of action spaces;
            * replay buffers: rows, priorities, the random stream for sampling, and, if the pool is also a part, the
              observations that the actions in flight were chosen from;
            * a `History`, whose pool must also be a part;
            * `MLP`: weights, seed, and the position in its random stream; `RandomPolicy`; the `state` of a `Policy`;
            * `numpy.random.Generator` and `torch.Generator`, such as `torch.default_generator`;
            * objects with `state_dict` and `load_state_dict`, such as modules and optimizers of torch;
            * plain data: numbers, strings, bytes, arrays, tensors, and lists, tuples and dicts of these, such as
              `numpy.random.get_state()`.

    Raises:
        TypeError, ValueError: `path` is not a path, or a part is not one of these, appears twice, or lacks its pool.
        RuntimeError: Environments are in flight, or were never reset.
        NotImplementedError: Environments cannot be saved.
        OSError: The file cannot be written. An existing file with that name is unchanged.

    Thread safety: no other thread may use the parts during the call.
    """
    path = check_path("path", path)
    names: dict[int, str] = {}
    pools: dict[int, str] = {}
    for name, part in parts.items():
        kind = _kind_of(part)
        if kind != "value" and names.setdefault(id(_bare(part)), name) != name:
            raise ValueError(f"{name}: expected a separate {kind}, got the same as {names[id(_bare(part))]}")
        if kind == "pool":
            pools[id(_bare(part))] = name
    # buffers and histories after pools, which report to them
    order = sorted(parts, key=lambda name: _kind_of(parts[name]) != "pool")
    contents = {}
    for name in order:
        with _named(name):
            contents[name] = _kind_of(parts[name]), _saved(parts[name], pools)
    _write(path, contents)


def load_checkpoint(path: Pathlike, /, **parts: Any) -> dict[str, Any]:
    """Restores the parts of a run from a file that `save_checkpoint` wrote. Never executes code from the file.

    The whole file is checked before anything changes. Only environments check their own states later, during loading.
    If one rejects its state, for example because another program wrote the file, all parts are rolled back, but a pool
    that was never reset must then be reset, and replay buffers note a gap.

    Args:
        path: The file.
        **parts: Objects created like those in the file, under the same names; omit histories and plain values.

    Returns:
        A dict by name: for a pool, the result of `env.load` (the observations for the next actions); histories,
        which continue to record; and plain values. An adapter to a training library also returns these observations
        from its next `reset`, unless `reset` gets a seed or options.

    Raises:
        TypeError: `path` is not a path.
        ValueError: The file is damaged, not a checkpoint, or from another version of cypool; or its parts have
            different names, kinds, sizes or options.
        RuntimeError: Environments are in flight; or a pool whose history is in the file already has one.
        ImportError: The file contains tensors, and torch is not installed.
        OSError: The file cannot be read.

    Thread safety: as for `save_checkpoint`.
    """
    path = check_path("path", path)
    saved = _read(path)
    _check_names(saved, parts)
    results = {name: content for name, (kind, content) in saved.items() if kind == "value"}
    loads: dict[str, Callable[[], Any]] = {}
    others: dict[str, Callable[[], Any]] = {}
    states: dict[str, Any] = {}
    for name, (kind, content) in saved.items():
        part: Any = parts.get(name)
        with _named(name, AttributeError, LookupError, OverflowError, RecursionError):
            if kind == "pool":
                loads[name] = _bare(part)._from_checkpoint(content)
            elif kind == "history":
                results[name], others[name] = history._from_checkpoint(_bare(parts[content["pool"]]), content["own"])
            elif kind == "replay buffer":
                of = content["pool"]
                continues = of is not None and saved[of][0] == "pool"
                if continues and _bare(parts[of]) is not part.env:
                    raise ValueError(f"expected a buffer for the pool {of}")
                others[name] = part._from_checkpoint(content["own"], continues)
            elif kind == "policy":
                if content["class"] != _base_of(part):
                    raise ValueError(f"expected a policy of class {shown(content['class'])}, got {shown(part)}")
                others[name] = part._from_checkpoint(content["own"])
            elif kind == "NumPy Generator":
                state = check_stream("state", content, type(part.bit_generator))
                others[name] = partial(setattr, part.bit_generator, "state", state)
            elif kind == "torch Generator":
                type(part)(part.device).set_state(content)
                others[name] = partial(part.set_state, content)
            elif kind == "state_dict":
                states[name] = content
    with ExitStack() as undo:
        for name, content in states.items():
            with _named(name, Exception):
                undo.callback(parts[name].load_state_dict, copy.deepcopy(parts[name].state_dict()))
                parts[name].load_state_dict(content)
        for name, load in loads.items():
            with _named(name):
                pool = _bare(parts[name])
                if not pool._pool.num_unstarted and not pool._pool.num_pending:
                    undo.callback(pool._from_checkpoint(pool._to_checkpoint()))
                results[name] = load()
        # these do not fail
        for take in others.values():
            take()
        for name in loads:
            if hasattr(parts[name], "_resume"):
                results[name] = parts[name]._resume(*results[name])
        undo.pop_all()
    return results


def _kind_of(part: Any) -> str:
    """Returns the kind of a part, in words."""
    part = _bare(part)
    for cls, kind in PARTS.items():
        if isinstance(part, cls):
            return kind
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(part, torch.Generator):
        return "torch Generator"
    # not of a class, whose objects have them
    if all(callable(getattr(type(part), name, None)) for name in ("state_dict", "load_state_dict")):
        return "state_dict"
    return "value"


def _bare(part: Any) -> Any:
    """Returns the pool in an adapter; other objects unchanged."""
    try:
        pool = getattr(part, "pool", None)
    except Exception:
        # of a stranger's object
        return part
    return pool if isinstance(pool, VectorAPI) else part


def _base_of(policy: Policy) -> str:
    """Returns the name of the class that handles the state of a policy."""
    return next(cls.__name__ for cls in type(policy).__mro__ if "_to_checkpoint" in vars(cls))


def _saved(part: Any, pools: Mapping[int, str]) -> Any:
    """Returns the content of a part, for `encoded` to turn into JSON.

    Args:
        pools: The names of pools, by the ids of these objects.
    """
    kind = _kind_of(part)
    if kind == "pool":
        return _bare(part)._to_checkpoint()
    if kind in ("replay buffer", "history"):
        pool = pools.get(id(part.env))
        if pool is None and kind == "history":
            raise ValueError("expected the history's pool among the parts")
        return {"pool": pool, "own": part._to_checkpoint()}
    if kind == "policy":
        return {"class": _base_of(part), "own": part._to_checkpoint()}
    if kind == "NumPy Generator":
        return part.bit_generator.state
    if kind == "torch Generator":
        return part.get_state()
    return part.state_dict() if kind == "state_dict" else part


@contextmanager
def _named(name: str, *more: type[Exception]) -> Iterator[None]:
    """Adds the name of a part to messages; `more` are the errors of a malformed file."""
    try:
        yield
    except more as error:
        raise ValueError(f"{name}: {type(error).__name__}: {error}") from error
    except (ValueError, TypeError, RuntimeError) as error:
        error.args = (f"{name}: {error}",)
        raise


def _check_names(saved: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
    """Raises a ValueError unless each saved part that is not created here was passed, with the right kind."""
    wanted = {name: kind for name, (kind, _) in saved.items() if kind not in ("value", "history")}
    if wanted.keys() != parts.keys():
        raise ValueError(f"parts: expected {', '.join(f'{name} (a {kind})' for name, kind in wanted.items()) or 'none'}"
                         f", as in the file, got {', '.join(parts) or 'none'}")
    names: dict[int, str] = {}
    for name, part in parts.items():
        if _kind_of(part) != wanted[name]:
            raise ValueError(f"{name}: expected a {wanted[name]}, as in the file, got {shown(part)}")
        if names.setdefault(id(_bare(part)), name) != name:
            raise ValueError(f"{name}: expected a separate {wanted[name]}, got the same as {names[id(_bare(part))]}")


def _write(path: str, parts: Mapping[str, Any]) -> None:
    """Writes parts, by name (kind, content), to a file, completely or not at all."""
    saved, blobs = {}, list[Any]()
    for name, content in parts.items():
        with _named(name, RecursionError, MemoryError):
            saved[name] = encoded(content, blobs, lambda value: _encoded(value, blobs))
    text = json.dumps({"cypool": version(), "parts": saved}, separators=(",", ":"))
    with replacing(path) as file:
        write_with_checksum(file, MAGIC, text, blobs)


def _read(path: str) -> dict[str, Any]:
    """Returns the parts of a file, by name: (kind, content)."""
    expected = f"path: {path}: expected a checkpoint written by save_checkpoint()"
    parts: dict[str, Any] = {}
    with opened(path, expected) as file:
        text, blobs = verified(MAGIC, file, expected)
        try:
            header = json.loads(text)
            saved_by = header["cypool"]
            if saved_by == version():
                for name, content in dict(header["parts"]).items():
                    kind, own = decoded(content, blobs, lambda kind, about: _decoded(kind, about, blobs))
                    parts[name] = str(kind), own
                blobs.end()
        # with the right checksum: `save_checkpoint` did not write it
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError,
                MemoryError) as error:
            raise ValueError(f"{expected}, got one that cannot be read: {type(error).__name__}: {error}") from error
    if saved_by != version():
        raise ValueError(f"path: {path}: expected a checkpoint from cypool {version()}, got one from {shown(saved_by)}")
    return parts


def _encoded(value: Any, blobs: list[Any]) -> Any:
    """Returns an array, a tensor or another mapping as `encoded` does."""
    if isinstance(value, OrderedDict):
        # those of torch have versions, or shapes, in an attribute
        contents = dict(value), getattr(value, "_metadata", None)
        return {"OrderedDict": encoded(contents, blobs, lambda inner: _encoded(inner, blobs))}
    if isinstance(value, Mapping):
        return encoded(dict(value), blobs, lambda inner: _encoded(inner, blobs))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.device):
        return {"device": str(value)}
    if torch is not None and isinstance(value, torch.Tensor):
        flat = value.detach().cpu().contiguous().reshape(-1)
        blobs.append(flat.view(torch.uint8).numpy())
        return {"tensor": [str(value.dtype).removeprefix("torch."), list(value.shape)]}
    if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
        blobs += _pieces(value)
        return {"array": [value.dtype.str, list(value.shape)]}
    if isinstance(value, (tuple, list)):
        # such as a NamedTuple
        return encoded((tuple if isinstance(value, tuple) else list)(value), blobs,
                       lambda inner: _encoded(inner, blobs))
    raise TypeError("expected a pool, a history, a replay buffer, a policy, a generator, an object with state_dict and "
                    f"load_state_dict, or plain data with arrays and tensors, got {shown(value)}")


def _pieces(array: Any) -> list[Any]:
    """Returns the bytes of an array in the order of its rows: views as far as its memory allows."""
    if array.flags.c_contiguous:
        return [array.reshape(-1).view(np.uint8)]
    if array.ndim > 1 and len(array) <= MAX_ENVS and array[:1].flags.c_contiguous:
        return [row.reshape(-1).view(np.uint8) for row in array]
    return [np.ascontiguousarray(array).reshape(-1).view(np.uint8)]


def _decoded(kind: str, about: Any, blobs: Blobs) -> Any:
    """Returns the value that `_encoded` turned into JSON."""
    if kind == "OrderedDict":
        items, metadata = decoded(about, blobs, lambda kind, about: _decoded(kind, about, blobs))
        ordered: Any = OrderedDict(items)
        if metadata is not None:
            ordered._metadata = metadata
        return ordered
    if kind == "device":
        import torch

        try:
            return torch.device(about)
        except RuntimeError as error:
            raise ValueError(str(error)) from error
    if kind not in ("array", "tensor"):
        raise ValueError(f"{shown(kind)} is not a known kind of value")
    name, sizes = about
    if len(sizes) > MOST_AXES:
        raise ValueError(f"expected an array with at most {MOST_AXES} axes, got {len(sizes)}")
    shape = tuple(check_int("shape", size, 0, 2**62) for size in sizes)
    if kind == "array":
        dtype = np.dtype(str(name))
        if dtype.kind not in KINDS:
            raise ValueError(f"expected an array of numbers or strings, got {dtype}")
        return blobs.array(math.prod(shape) * dtype.itemsize).view(dtype).reshape(shape)
    import torch

    kept = getattr(torch, str(name), None)
    if not isinstance(kept, torch.dtype):
        raise ValueError(f"expected a tensor with a torch dtype, got {shown(name)}")
    if 0 in shape:
        return torch.empty(shape, dtype=kept)
    return torch.from_numpy(blobs.array(math.prod(shape) * kept.itemsize)).view(kept).reshape(shape)
