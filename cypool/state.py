"""The saved state of environments, its file format, and the checks that environments use when they load one."""
from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.util.arguments import check_array, check_bool, check_float, check_int, check_path, shown
from cypool.util.replacing import replacing
from cypool.util.version import version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from io import BufferedIOBase
    from typing import BinaryIO

    from numpy.typing import NDArray

    from cypool.util.typing import Bools, Pathlike

# the last number but the newline is the version of the format; behind it: SHA-256 of the rest; how long the JSON is,
# 8 bytes, little-endian; the JSON; the bytes that it refers to, in its order
MAGIC = b"cypool state 1\n"
CHUNK = 2**20  # bytes that are written or read at once


class State:
    """The result of `env.save()`: the states of environments, one per row.

    `len(state)` is the number of rows. `state[rows]` selects rows by an index, a slice or a sequence of integers, as in
    NumPy; a row may appear several times: `state[[0] * 8]` explores eight continuations of the first.

    `save` and `to_bytes` use a format of plain data. `cypool.load_state` and `from_bytes` read and check it, and never
    execute code from it. A state can also be pickled, but unpickling someone else's file can run their code.

    Args:
        env_id: The environments that the rows were saved from.
        rows: The engine's data for each environment.

    Attributes:
        env_id: int32, (k,).
        needs_reset: bool, (k,): whether the next step starts a new episode.
        rows: A list of dicts.
    """

    def __init__(self, env_id: Any, rows: Any):
        env_id = check_array("env_id", env_id, "integers of shape (k,)")
        if env_id.ndim != 1 or (env_id.dtype.kind not in "iu" and env_id.size):
            raise TypeError(f"env_id: expected integers of shape (k,), got {env_id.dtype} of shape {env_id.shape}")
        # beyond int32 nothing is an id; clipping keeps it out of range
        self.env_id = np.clip(env_id, -1, 2**31 - 1).astype(np.int32)
        self.rows = rows

    @property
    def needs_reset(self) -> Bools:
        """Whether the next step of each environment starts a new episode: bool, (k,)."""
        try:
            return np.array([row["needs_reset"] for row in self.rows], np.bool_)
        except (LookupError, TypeError, ValueError) as error:
            # edited
            raise ValueError(f"rows: expected dicts with a bool needs_reset, got {shown(self.rows)}") from error

    def save(self, path: Pathlike) -> None:
        """Writes the state to a file, in the format of `to_bytes`.

        Raises:
            TypeError, ValueError: As in `to_bytes`; or `path` is not a path.
            OSError: The file cannot be written.
        """
        path, data = check_path("path", path), self.to_bytes()
        with replacing(path) as file:
            file.write(data)

    def to_bytes(self) -> bytes:
        """Returns the state as bytes: plain data, with a checksum and cypool's version.

        Raises:
            ValueError: The state contains anything other than numbers, strings, bytes, and tuples, lists and dicts of
                them. This includes Python environments, whose own state is a pickle that would run code when loaded.
        """
        blobs: list[bytes] = []
        specs: dict[str, Any] = {}
        rows: list[Any] = []
        try:
            for row in self.rows:
                row = dict(row)
                # rows mostly have the same
                spec = json.dumps(encoded((row.pop("id"), row.pop("options")), blobs), separators=(",", ":"))
                rows.append([specs.setdefault(spec, len(specs)), encoded(row, blobs)])
            header = {"cypool": version(), "env_id": self.env_id.tolist(),
                      "specs": [json.loads(spec) for spec in specs], "rows": rows}
            text = json.dumps(header, separators=(",", ":"))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"state: expected plain data in rows returned by save(): {error}") from error
        return with_checksum(MAGIC, text, blobs)

    @staticmethod
    def from_bytes(data: bytes) -> State:
        """Returns the state that `to_bytes` turned into `data`; never executes code from it.

        Raises:
            TypeError: `data` is not bytes.
            ValueError: `data` is damaged, not a state, or from another version of cypool.
        """
        text, blobs = verified(MAGIC, data, "data: expected a state returned by to_bytes()")
        try:
            header = json.loads(text)
            saved_by = header["cypool"]
            if saved_by == version():
                specs = [decoded(spec, blobs) for spec in header["specs"]]
                rows = []
                for number, rest in header["rows"]:
                    id, options = specs[number]
                    rows.append({"id": id, "options": options, **decoded(rest, blobs)})
                state = State([check_int("env_id", i, 0, 2**31 - 1) for i in header["env_id"]], rows)
                blobs.end()
        # with the right checksum: `to_bytes` did not write it
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValueError("data: expected a state returned by to_bytes(), got one that cannot be read: "
                             f"{type(error).__name__}: {error}") from error
        if saved_by != version():
            raise ValueError(f"data: expected a state from cypool {version()}, got one from {shown(saved_by)}")
        return state

    def __getstate__(self) -> dict[str, Any]:
        # memory of this process stays in it
        rows = [{**row, "own": tuple(row["own"])} if isinstance(row, dict) and type(row.get("own")) is WithMemory
                else row for row in self.rows]
        return {**self.__dict__, "rows": rows}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: Any) -> State:
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        return State(self.env_id[chosen], [self.rows[k] for k in chosen])

    def __repr__(self) -> str:
        return f"State(env_id={self.env_id.tolist()})"


class Pickled(bytes):
    """A pickle in a state. Loading it runs its code, so it is distinct from plain bytes and never saved to files."""


class WithMemory(tuple[Any, ...]):
    """A state of an environment together with its native memory, which makes `load` faster.

    Files, pickles and copies contain only the values.

    Attributes:
        memory: An object that only the environment's module can create. It knows the values that it represents.
    """

    memory: Any

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)


def load_state(path: Pathlike) -> State:
    """Returns the `State` that `State.save` wrote to a file; never executes code from it.

    Raises:
        TypeError: `path` is not a path.
        ValueError: The file is damaged, not a state, or from another version of cypool.
        OSError: The file cannot be read.
    """
    path = check_path("path", path)
    with opened(path, "path: expected a state written by State.save()") as file:
        data = file.read()
    try:
        return State.from_bytes(data)
    except ValueError as error:
        raise ValueError(f"path: {path}: {str(error).removeprefix('data: ')}") from error


def check_state(state: Any, *kinds: Any) -> Any:
    """Returns the checked values of a state as a tuple. An environment's `load` calls it first.

        self.row, self.speed, self.moved = check_state(state, (0, self.height - 1), float, bool)

    Args:
        state: The argument of `load`; it should be a tuple.
        *kinds: The expected kind of each value: `bool`; `float`, a finite number; `bytes`; (minimum, maximum), an
            integer in that range if both are ints, otherwise a real number. NaN is outside of every range.

    Raises:
        TypeError: `state` is not a tuple, or a value has the wrong type.
        ValueError: The number of values is wrong, or one is out of range.
    """
    if not isinstance(state, (tuple, list)):
        raise TypeError(f"state: expected a tuple, got {shown(state)}")
    values = tuple(state)
    if len(values) != len(kinds):
        raise ValueError(f"state: expected {len(kinds)} values, got {len(values)}")
    pairs = zip(values, kinds, strict=True)
    return tuple(_checked(f"state[{k}]", value, kind) for k, (value, kind) in enumerate(pairs))


def _checked(name: str, value: Any, kind: Any) -> Any:
    if kind is bool:
        return check_bool(name, value)
    if kind is float:
        return check_float(name, value, -sys.float_info.max, sys.float_info.max)
    if kind is bytes:
        if type(value) is not bytes:
            raise TypeError(f"{name}: expected bytes, got {shown(value)}")
        return value
    are_ints = all(isinstance(bound, int) for bound in kind)
    return (check_int if are_ints else check_float)(name, value, *kind)


def check_stream(name: str, state: Any, kind: Any) -> dict[str, Any]:
    """Returns a random stream's state, checked not to make the stream repeat itself.

    Args:
        name: The name to use in messages.
        state: The `state` attribute of a bit generator.
        kind: The class of that bit generator, such as `numpy.random.PCG64`.

    Raises:
        ValueError: The state is invalid, or would make a stream repeat the same numbers.
    """
    if kind not in _scratch.streams:
        _scratch.streams[kind] = kind(0)
    stream = _scratch.streams[kind]
    try:
        stream.state = state
        taken: dict[str, Any] = stream.state
        is_one = _equal(taken, state)
    except Exception as error:
        raise ValueError(f"{name}: expected the state of {kind.__name__}, got {shown(state)}: {error}") from error
    if not is_one:
        raise ValueError(f"{name}: expected the state of {kind.__name__}, got {shown(state)}")
    # NumPy takes these, too
    numbers = taken["state"]
    if "PCG64" in taken["bit_generator"] and numbers["inc"] % 2 == 0:
        raise ValueError(f"{name}: expected a PCG64 with an odd increment, got {numbers['inc']}")
    if taken["bit_generator"] == "MT19937":
        if not 0 <= numbers["pos"] <= len(numbers["key"]):
            raise ValueError(f"{name}: expected MT19937 position 0 to {len(numbers['key'])}, got {numbers['pos']}")
        # of the first number only the highest bit counts
        if numbers["key"][0] < 2**31 and not numbers["key"][1:].any():
            raise ValueError(f"{name}: expected an MT19937 with a nonzero key, got {shown(state)}")
    return taken


class _Scratch(threading.local):
    """Bit generators for trying states, one of each kind per thread."""

    def __init__(self) -> None:
        self.streams: dict[Any, Any] = {}


_scratch = _Scratch()


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    return bool(one == other) if isinstance(one, (int, str)) else np.array_equal(one, other)


def unpack(packed: Any, most: Any) -> Any:
    """Returns the bytes that `zlib.compress` packed.

    Raises:
        TypeError: It is not bytes.
        ValueError: It is damaged, or has more than `most` bytes when unpacked.
    """
    import zlib

    if type(packed) is not bytes:
        raise TypeError(f"state: expected bytes, got {shown(packed)}")
    reader = zlib.decompressobj()
    try:
        data = reader.decompress(packed, most + 1)
    except zlib.error as error:
        raise ValueError(f"state: damaged: {error}") from error
    if len(data) > most:
        raise ValueError(f"state: expected at most {most} bytes, got more")
    if not reader.eof or reader.unused_data:
        raise ValueError("state: damaged: it is cut off, or has extra bytes at the end")
    return data


def with_checksum(magic: bytes, text: str, blobs: list[bytes]) -> bytes:
    """Returns a file's content: `magic`, a checksum, JSON, and the bytes that the JSON refers to."""
    file = io.BytesIO()
    write_with_checksum(file, magic, text, blobs)
    return file.getvalue()


def write_with_checksum(file: BinaryIO, magic: bytes, text: str, blobs: Iterable[Any]) -> None:
    """Writes what `with_checksum` returns to a file; the bytes may also be uint8 arrays."""
    packed, digest = text.encode(), hashlib.sha256()
    file.write(magic + bytes(digest.digest_size))
    for blob in (len(packed).to_bytes(8, "little"), packed, *blobs):
        view = memoryview(blob)
        for at in range(0, len(view), CHUNK):
            # the checksum is that of what is written, also if another thread changes an array
            chunk = bytes(view[at:at + CHUNK])
            digest.update(chunk)
            file.write(chunk)
    file.seek(len(magic))
    file.write(digest.digest())


def opened(path: str, expected: str) -> io.BufferedReader:
    """Returns a file, opened for reading; if there is none, the message of the error begins with `expected`."""
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, f"{expected}, got no file", path) from error


def verified(magic: bytes, data: Any, expected: str) -> tuple[bytes, Blobs]:
    """Returns the JSON that `with_checksum` was given, and a reader of the bytes after it.

    Args:
        data: Bytes, or a file opened for reading.

    Raises:
        TypeError: `data` is not bytes.
        ValueError: It is damaged, or not of this format; the message begins with `expected`.
    """
    if isinstance(data, (bytes, bytearray, memoryview)):
        data = io.BytesIO(data)
    elif not isinstance(data, io.BufferedReader):
        raise TypeError(f"data: expected bytes, got {shown(data)}")
    prefix = len(magic) + 32 + 8
    begin = data.read(prefix)
    size = data.seek(0, io.SEEK_END)
    if not begin.startswith(magic):
        kind = re.match(rb"cypool (state|history|checkpoint) (\d+)\n", begin)
        if not begin:
            got = "no data"
        elif kind is None:
            got = shown(begin[:20])
        elif magic.startswith(b"cypool " + kind[1]):
            got = f"one of format {kind[2].decode()}, written by a different version of cypool"
        else:
            got = f"a {kind[1].decode()}, which cypool.load_{kind[1].decode()} reads"
        raise ValueError(f"{expected}, got {got}")
    digest = hashlib.sha256()
    data.seek(len(magic) + 32)
    while chunk := data.read(CHUNK):
        digest.update(chunk)
    if len(begin) < prefix or digest.digest() != begin[len(magic):prefix - 8]:
        raise ValueError(f"{expected}, got a damaged one of {size} bytes")
    length = int.from_bytes(begin[prefix - 8:], "little")
    data.seek(prefix)
    return data.read(min(length, size - prefix)), Blobs(data, size - prefix - length)


def encoded(value: Any, blobs: Any, other: Callable[[Any], Any] | None = None) -> Any:
    """Returns a value as JSON; types that JSON does not distinguish become an object with one key; appends bytes.

    Args:
        other: Encodes values of further types.
    """
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is bytes:
        blobs.append(value)
        return {"bytes": len(value)}
    if kind is WithMemory:
        kind = tuple
    if kind in (tuple, list):
        return {kind.__name__: [encoded(item, blobs, other) for item in value]}
    if kind is dict:
        return {"dict": [[encoded(key, blobs, other), encoded(item, blobs, other)] for key, item in value.items()]}
    if kind is Pickled:
        raise TypeError("the state of a Python environment is a pickle, which cypool does not write to files, because "
                        "loading it can run code: store pickle.dumps(env.save()) yourself")
    if other is not None:
        return other(value)
    raise TypeError(f"a {kind.__name__} is not plain data")


def decoded(value: Any, blobs: Any, other: Callable[[str, Any], Any] | None = None) -> Any:
    """Returns the value that `encoded` was given.

    Args:
        other: Decodes the results of `other` of `encoded`, by their key.
    """
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a list without a kind")
        return value
    (kind, content), = value.items()
    if kind == "bytes":
        return blobs.take(content)
    if kind == "tuple":
        return tuple(decoded(item, blobs, other) for item in content)
    if kind == "list":
        return [decoded(item, blobs, other) for item in content]
    if kind == "dict":
        return {decoded(key, blobs, other): decoded(item, blobs, other) for key, item in content}
    if other is not None:
        return other(kind, content)
    raise ValueError(f"{shown(kind)} is not a known kind of value")


class Blobs:
    """The bytes after the JSON, read in order.

    Args:
        file: The source of the bytes.
        size: Their number.
    """

    def __init__(self, file: BufferedIOBase, size: int):
        self._file, self._left = file, size

    def take(self, size: int) -> bytes:
        return self.array(size).tobytes()

    def array(self, size: int) -> NDArray[np.uint8]:
        """Returns the next bytes as a writable array."""
        size = check_int("bytes", size, 0, self._left)
        data = np.empty(size, np.uint8)
        if self._file.readinto(data.data) != size:
            raise ValueError("the file has shrunk")
        self._left -= size
        return data

    def end(self) -> None:
        if self._left:
            raise ValueError(f"{self._left} more bytes than its header specifies")
