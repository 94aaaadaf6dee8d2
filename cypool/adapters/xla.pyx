"""Python functions for CPU code compiled by XLA, through XLA's foreign function interface.

Compiled code names a function by the number that `add` gave it. The first argument and the first result are a handle:
int32, (2,), the number that the function gets, and a count of calls.
"""
import atexit
import os
import threading

from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_New
from libc.limits cimport INT_MAX
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy
from libcpp.atomic cimport atomic

cimport numpy as cnp

from cypool.util.constants cimport SLICE_NS
from cypool.util.park cimport now_ns, park, wake

cnp.import_array()

cdef extern from "cypool/adapters/xla.h" namespace "cypool::xla" nogil:
    const int32_t MAJOR, MINOR, MINOR_WITHOUT_API, METADATA, EXECUTE, BUFFER, SCALAR, PRED, S32, S64, F64, INTERNAL
    const size_t METADATA_SIZE, ERROR_ARGUMENTS_SIZE
    cdef struct Error:
        pass
    cdef struct Extension:
        int32_t type
        Extension* next
    cdef struct Version:
        size_t size
        Extension* extension
        int32_t major
        int32_t minor
    cdef struct Metadata:
        size_t size
        Version version
        uint32_t traits
    cdef struct MetadataExtension:
        Metadata* metadata
    cdef struct ErrorArguments:
        size_t size
        Extension* extension
        const char* message
        int32_t code
    cdef struct Api:
        size_t size
        Version version
        Error* (*create_error)(ErrorArguments*) noexcept nogil
    cdef struct Buffer:
        size_t size
        int32_t dtype
        void* data
        int64_t rank
        int64_t* dims
    cdef struct Scalar:
        int32_t dtype
        void* value
    cdef struct Values:
        size_t size
        int64_t count
        int32_t* types
        void** values
    cdef struct Attributes:
        size_t size
        int64_t count
        int32_t* types
        void** values
    cdef struct Frame:
        size_t size
        Extension* extension
        const Api* api
        int32_t stage
        Values arguments
        Values results
        Attributes attributes

cdef extern from "Python.h":
    ctypedef struct PyThreadState:
        pass
    PyThreadState* PyGILState_GetThisThreadState() noexcept nogil
    int PyGILState_Ensure() noexcept nogil
    PyThreadState* PyEval_SaveThread() noexcept nogil

cdef extern from "numpy/arrayobject.h":
    bint PyArray_CanCastArrayTo(cnp.ndarray array, cnp.dtype to, cnp.NPY_CASTING casting)

cdef enum:
    PATIENCE_NS = 3_000_000_000  # how long to wait for calls at exit

# of XLA's data types from PRED on
cdef int[12] TYPES = [
    cnp.NPY_BOOL, cnp.NPY_INT8, cnp.NPY_INT16, cnp.NPY_INT32, cnp.NPY_INT64, cnp.NPY_UINT8, cnp.NPY_UINT16,
    cnp.NPY_UINT32, cnp.NPY_UINT64, cnp.NPY_FLOAT16, cnp.NPY_FLOAT32, cnp.NPY_FLOAT64]

# never shortened, as compiled code may live as long as the process
cdef list functions = []
# of those who add to them
_adding = threading.Lock()
# calls of compiled code that hold the GIL, or will ask for it
cdef atomic[uint32_t] inside
# whether the interpreter is about to end
cdef atomic[uint32_t] ended


def add(function):
    """Registers a function for compiled code.

    Args:
        function: Called with the number in the handle and a list of arrays, which it owns. Returns a list of
            arrays, of the shapes that the code was compiled for; their dtypes are converted within a kind.

    Returns:
        Its number.
    """
    with _adding:
        functions.append(function)
        return len(functions) - 1


def target():
    """Returns the argument of `jax.ffi.register_ffi_target`."""
    return PyCapsule_New(<void*>_handle, NULL, NULL)


@atexit.register
def _end():
    """Stops calls: a thread that asks a dying interpreter for the GIL never returns."""
    cdef int64_t deadline = now_ns() + PATIENCE_NS
    cdef uint32_t count
    ended.store(1)
    while now_ns() < deadline:
        count = inside.load()
        if count == 0:
            return
        with nogil:
            park(inside, count, SLICE_NS)
        PyErr_CheckSignals()


def _forget():
    inside.store(0)


# threads that were in calls are the parent's
os.register_at_fork(after_in_child=_forget)


cdef Error* _handle(Frame* frame) noexcept nogil:
    """The function that XLA calls, on any thread."""
    cdef Error* error
    cdef Extension* extension = frame.extension
    while extension != NULL:
        if extension.type == METADATA:
            return _introduce(frame, (<MetadataExtension*>extension).metadata)
        extension = extension.next
    # count first, look afterwards: a thread that sets `ended` in between waits for this call
    inside.fetch_add(1)
    if ended.load() != 0:
        error = _error(frame, "RuntimeError: the interpreter is shutting down")
    else:
        if PyGILState_GetThisThreadState() == NULL:
            # Python's record of this thread, which stays: one for each call takes longer than many a step
            PyGILState_Ensure()
            PyEval_SaveThread()
        error = _run(frame)
    if inside.fetch_sub(1) == 1 and ended.load() != 0:
        wake(inside, INT_MAX)
    return error


cdef Error* _introduce(const Frame* frame, Metadata* metadata) noexcept nogil:
    """Reports the version that this is written for; XLA refuses an unsupported one."""
    cdef int32_t minor = min(MINOR, frame.api.version.minor) if frame.api != NULL else MINOR_WITHOUT_API
    if metadata.size >= METADATA_SIZE:
        metadata.version.size = sizeof(Version)
        metadata.version.extension = NULL
        metadata.version.major = MAJOR
        # the fields read here were the same before, but an older XLA takes its own version only
        metadata.version.minor = minor
        metadata.traits = 0
    return NULL


cdef Error* _error(const Frame* frame, const char* message) noexcept nogil:
    cdef ErrorArguments arguments
    arguments.size = ERROR_ARGUMENTS_SIZE
    arguments.extension = NULL
    arguments.message = message
    arguments.code = INTERNAL
    return frame.api.create_error(&arguments)


cdef Error* _run(const Frame* frame) noexcept with gil:
    """Wraps a call: an exception is passed to XLA as text."""
    cdef bytes text
    try:
        _call(frame)
    except BaseException as error:
        try:
            text = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        except BaseException:
            text = b"an exception that cannot be shown"
        return _error(frame, text)
    return NULL


cdef int _call(const Frame* frame) except -1:
    cdef const Values* arguments = &frame.arguments
    cdef const Values* results = &frame.results
    cdef int64_t k, number = _number(frame)
    cdef const int32_t* handle = _handle_in(arguments)
    cdef int32_t* handle_out = <int32_t*>_handle_in(results)
    arrays = [_taken(_buffer(arguments, k)) for k in range(1, arguments.count)]
    cdef list given = functions[number](handle[0], arrays)
    if len(given) != results.count - 1:
        raise ValueError(f"handle: expected the handle of a pool whose batches have {results.count - 1} arrays, got "
                         f"{len(given)}")
    for k in range(1, results.count):
        _give(given[k - 1], _buffer(results, k))
    handle_out[0] = handle[0]
    handle_out[1] = handle[1] + 1
    return 0


cdef int64_t _number(const Frame* frame) except -1:
    """Returns which function is called."""
    cdef const Attributes* attributes = &frame.attributes
    cdef const Scalar* scalar
    cdef int64_t number = -1
    if (frame.size < sizeof(Frame) or frame.arguments.size < sizeof(Values) or frame.results.size < sizeof(Values)
            or attributes.size < sizeof(Attributes) or frame.stage != EXECUTE):
        raise RuntimeError("cypool: expected calls from a supported jaxlib")
    if attributes.count == 1 and attributes.types[0] == SCALAR:
        scalar = <const Scalar*>attributes.values[0]
        if scalar.dtype == S64:
            number = (<const int64_t*>scalar.value)[0]
    if not 0 <= number < len(functions):
        raise ValueError("cypool: expected a function number as the only attribute")
    return number


cdef const Buffer* _buffer(const Values* values, int64_t k) except NULL:
    cdef const Buffer* buffer = <const Buffer*>values.values[k]
    if values.types[k] != BUFFER or buffer.size < sizeof(Buffer):
        raise TypeError("cypool: expected arrays")
    if not PRED <= buffer.dtype <= F64:
        raise TypeError(f"cypool: expected arrays with a dtype known to NumPy, got XLA's dtype number {buffer.dtype}")
    return buffer


cdef const int32_t* _handle_in(const Values* values) except NULL:
    """Returns the handle among arguments or results."""
    cdef const Buffer* buffer = _buffer(values, 0) if values.count > 0 else NULL
    if buffer == NULL or buffer.dtype != S32 or buffer.rank != 1 or buffer.dims[0] != 2:
        raise TypeError("handle: expected int32 of shape (2,)")
    return <const int32_t*>buffer.data


cdef object _taken(const Buffer* buffer):
    """Returns a copy of an argument, which does not refer to XLA's memory."""
    array = cnp.PyArray_SimpleNew(<int>buffer.rank, <cnp.npy_intp*>buffer.dims, TYPES[buffer.dtype - PRED])
    memcpy(cnp.PyArray_DATA(array), buffer.data, cnp.PyArray_NBYTES(array))
    return array


cdef int _give(cnp.ndarray array, const Buffer* buffer) except -1:
    """Writes a result, in the dtype that the code was compiled for."""
    cdef int type_num = TYPES[buffer.dtype - PRED]
    cdef cnp.npy_intp* dims = <cnp.npy_intp*>buffer.dims
    if cnp.PyArray_NDIM(array) != buffer.rank or not cnp.PyArray_CompareLists(
            cnp.PyArray_DIMS(array), dims, <int>buffer.rank):
        raise ValueError("handle: expected the handle of a pool whose batches have an array of shape "
                         f"{tuple([dims[k] for k in range(buffer.rank)])}, got {(<object>array).shape}")
    if cnp.PyArray_TYPE(array) == type_num and cnp.PyArray_ISCARRAY_RO(array):
        memcpy(buffer.data, cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array))
        return 0
    dtype = cnp.PyArray_DescrFromType(type_num)
    if not PyArray_CanCastArrayTo(array, dtype, cnp.NPY_SAME_KIND_CASTING):
        raise TypeError(f"handle: expected the handle of a pool whose batches have an array of {dtype}, got "
                        f"{array.dtype}")
    # gone before this returns
    cnp.PyArray_CopyInto(cnp.PyArray_SimpleNewFromData(<int>buffer.rank, dims, type_num, buffer.data), array)
    return 0
