"""The function that XLA's compiled code calls, called as XLA does it. With compiled code: adapters/test_xla.py."""
import ctypes
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
    cast,
    pointer,
    sizeof,
)

import numpy as np
import pytest

from cypool.adapters import xla

BASE = [("size", c_size_t), ("extension", c_void_p)]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64"]


class Version(Structure):
    _fields_ = [*BASE, ("major", c_int32), ("minor", c_int32)]


class Metadata(Structure):
    _fields_ = [("size", c_size_t), ("version", Version), ("traits", c_uint32)]


class Extension(Structure):
    _fields_ = [("size", c_size_t), ("type", c_int32), ("next", c_void_p), ("metadata", POINTER(Metadata))]


class ErrorArguments(Structure):
    _fields_ = [*BASE, ("message", c_char_p), ("code", c_int32)]


CREATE_ERROR = ctypes.CFUNCTYPE(c_void_p, POINTER(ErrorArguments))


class Api(Structure):
    _fields_ = [*BASE, ("version", Version), ("internal", c_void_p), ("create_error", CREATE_ERROR)]


class Buffer(Structure):
    _fields_ = [*BASE, ("dtype", c_int32), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64))]


class Scalar(Structure):
    _fields_ = [("dtype", c_int32), ("value", c_void_p)]


class Values(Structure):
    _fields_ = [*BASE, ("count", c_int64), ("types", POINTER(c_int32)), ("values", POINTER(c_void_p))]


class Attributes(Structure):
    _fields_ = [*BASE, ("count", c_int64), ("types", POINTER(c_int32)), ("names", c_void_p),
                ("values", POINTER(c_void_p))]


class Frame(Structure):
    _fields_ = [*BASE, ("api", POINTER(Api)), ("context", c_void_p), ("stage", c_int32), ("arguments", Values),
                ("results", Values), ("attributes", Attributes)]


def address():
    ctypes.pythonapi.PyCapsule_GetPointer.restype = c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]
    return ctypes.pythonapi.PyCapsule_GetPointer(xla.target(), None)


HANDLER = ctypes.CFUNCTYPE(c_void_p, POINTER(Frame))(address())


class Caller:
    """Calls a function with arrays, and has `results` filled; `change(self)` may spoil the frame before that."""

    def __init__(self):
        self.errors = []
        self.create_error = CREATE_ERROR(self._create_error)
        self.api = Api(size=sizeof(Api), version=Version(size=sizeof(Version), minor=3), create_error=self.create_error)

    def _create_error(self, arguments):
        assert arguments[0].size == 28 and arguments[0].code == 13
        self.errors.append(arguments[0].message.decode())
        return len(self.errors)

    def values(self, arrays):
        buffers = [Buffer(size=sizeof(Buffer), dtype=DTYPES.index(array.dtype.name) + 1, data=array.ctypes.data,
                          rank=array.ndim, dims=(c_int64 * array.ndim)(*array.shape)) for array in arrays]
        types = (c_int32 * len(arrays))(*[1] * len(arrays))
        pointers = (c_void_p * len(arrays))(*[ctypes.addressof(buffer) for buffer in buffers])
        self.alive.append((buffers, types, pointers))
        return buffers, Values(sizeof(Values), None, len(arrays), types, pointers)

    def __call__(self, number, arguments, results, change=lambda call: None):
        self.alive, self.number = [], c_int64(number)
        self.scalar = Scalar(5, cast(pointer(self.number), c_void_p))
        self.arguments, given = self.values(arguments)
        self.results, wanted = self.values(results)
        self.frame = Frame(
            size=sizeof(Frame), api=pointer(self.api), stage=3, arguments=given, results=wanted,
            attributes=Attributes(sizeof(Attributes), None, 1, (c_int32 * 1)(3), None,
                                  (c_void_p * 1)(ctypes.addressof(self.scalar))))
        change(self)
        failed = HANDLER(byref(self.frame))
        return self.errors.pop() if failed else None


@pytest.fixture
def caller():
    return Caller()


def handles(number=7, count=2):
    return np.array([number, count], np.int32), np.zeros(2, np.int32)


def test_versions(caller):
    def reported_version(minor):
        metadata = Metadata(size=36)
        extension = Extension(sizeof(Extension), 1, None, pointer(metadata))
        # behind one of another type
        first = Extension(sizeof(Extension), 2, ctypes.addressof(extension), None)
        caller.api.version.minor = minor
        frame = Frame(size=sizeof(Frame), extension=ctypes.addressof(first))
        if minor > 1:
            frame.api = pointer(caller.api)
        assert HANDLER(byref(frame)) is None
        return metadata.version.major, metadata.version.minor, metadata.version.size, metadata.traits

    assert [reported_version(minor) for minor in (1, 2, 3, 9)] == [(0, minor, 24, 0) for minor in (1, 2, 3, 3)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_there_and_back(caller, dtype):
    kept = []

    def twice(number, arrays):
        kept.extend(arrays)
        return [arrays[0] + arrays[0], np.asfortranarray(arrays[1]), np.zeros((0, 3), dtype)]

    given = [np.arange(6).astype(dtype), np.arange(24).reshape(2, 3, 4).astype(dtype)]
    handle, after = handles(-5, 2**31 - 1)
    results = [np.zeros_like(array) for array in given] + [np.zeros((0, 3), dtype)]
    assert caller(xla.add(twice), [handle, *given], [after, *results]) is None
    assert after.tolist() == [-5, -2**31]
    assert (results[0] == given[0] + given[0]).all() and (results[1] == given[1]).all()
    # the function's are its own
    for array, kind in zip(kept, given, strict=True):
        assert array.dtype == kind.dtype and (array == kind).all() and not np.shares_memory(array, kind)


def test_dtypes_are_converted_within_a_kind(caller):
    give = xla.add(lambda number, arrays: [np.array([1.5, 2.5]), np.array([3, -4])])
    before, after = handles()
    reward, steps = np.zeros(2, np.float32), np.zeros(2, np.int32)
    assert caller(give, [before], [after, reward, steps]) is None
    assert reward.tolist() == [1.5, 2.5] and steps.tolist() == [3, -4]
    said = caller(give, [before], [after, np.zeros(2, np.int32), steps])
    assert said == "TypeError: handle: expected the handle of a pool whose batches have an array of int32, got float64"


def test_errors_are_told(caller):
    class Odd(BaseException):
        def __str__(self):
            raise KeyError

    for raised, message in [(ValueError("no ünit"), "ValueError: no ünit"),
                            (KeyboardInterrupt(), "KeyboardInterrupt: "),
                            (SystemExit(3), "SystemExit: 3"), (Odd(), "an exception that cannot be shown"),
                            (RuntimeError("\udc80"), "RuntimeError: ?")]:
        def fail(number, arrays, raised=raised):
            raise raised

        assert caller(xla.add(fail), [handles()[0]], [handles()[1]]) == message


def spoil(path, value):
    """Returns a function that sets a part of the frame."""
    *names, last = path.split(".")

    def change(caller):
        part = caller
        for name in names:
            part = part[int(name)] if name.isdigit() else getattr(part, name)
        setattr(part, last, value)

    return change


@pytest.mark.parametrize("change, message", [
    (spoil("frame.size", sizeof(Frame) - 8), "RuntimeError: cypool: expected calls from a supported jaxlib"),
    (spoil("frame.arguments.size", 8), "RuntimeError: cypool: expected calls from a supported jaxlib"),
    (spoil("frame.attributes.size", 8), "RuntimeError: cypool: expected calls from a supported jaxlib"),
    (spoil("frame.stage", 0), "RuntimeError: cypool: expected calls from a supported jaxlib"),
    (spoil("frame.attributes.count", 0), "ValueError: cypool: expected a function number"),
    (spoil("scalar.dtype", 4), "ValueError: cypool: expected a function number"),
    (spoil("number.value", -1), "ValueError: cypool: expected a function number"),
    (spoil("number.value", 10**9), "ValueError: cypool: expected a function number"),
    (spoil("frame.arguments.count", 0), "TypeError: handle: expected int32 of shape"),
    (spoil("frame.results.count", 0), "TypeError: handle: expected int32 of shape"),
    (spoil("arguments.0.dtype", 5), "TypeError: handle: expected int32 of shape"),
    (spoil("results.0.rank", 0), "TypeError: handle: expected int32 of shape"),
    (spoil("arguments.1.size", 40), "TypeError: cypool: expected arrays"),
    (spoil("arguments.1.dtype", 16), "TypeError: cypool: expected arrays with a dtype .* XLA's dtype number 16"),
    (spoil("results.1.dtype", 0), "TypeError: cypool: expected arrays with a dtype .* XLA's dtype number 0"),
    (spoil("frame.results.count", 1), "ValueError: handle: expected .* batches have 0 arrays, got 1"),
    (spoil("results.1.rank", 0), r"ValueError: handle: expected .* have an array of shape \(\), got \(4,\)"),
    (spoil("arguments.1.dims", (c_int64 * 1)(3)), r".* array of shape \(4,\), got \(3,\)"),
])
def test_frames_that_do_not_fit(caller, change, message):
    echo = xla.add(lambda number, arrays: arrays)
    before, after = handles()
    array, result = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    said = caller(echo, [before, array], [after, result], change)
    with pytest.raises(ValueError, match=message):
        raise ValueError(said)
    # nothing was written where it does not fit, and the next call goes well
    assert after.tolist() == [0, 0] and not result.any()
    assert caller(echo, [before, array], [after, result]) is None and after.tolist() == [7, 3]


def test_not_imported_with_the_package(run_python):
    assert run_python("import sys, cypool; assert 'cypool.adapters.xla' not in sys.modules").returncode == 0
