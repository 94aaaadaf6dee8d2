# The bounds of actions: of those that users pass, and of those that policies write.
from libcpp.vector cimport vector

cimport numpy as cnp

import math

import numpy as np

from cypool.spec import Discrete

cnp.import_array()

# in the order of the enum
NUMBERS = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
cdef enum:
    FIRST_FLOAT = 0
    FIRST_SIGNED = 2
    FIRST_UNSIGNED = 6


cdef vector[char] chars(bytes data):
    cdef const char* begin = data
    cdef vector[char] result
    result.assign(begin, begin + len(data))
    return result


cdef str kind_of(description):
    return "u1" if description.dtype.kind == "b" else f"{description.dtype.kind}{description.dtype.itemsize}"


cdef bint is_checkable(description):
    """Whether `part_of` knows the type of the numbers."""
    return kind_of(description) in NUMBERS


cdef ActionPart part_of(description, size_t offset) except *:
    """Returns a part of an action, at `offset`.

    Raises:
        ValueError: Its numbers are of a type that cannot be checked.
    """
    cdef ActionPart part
    kind = kind_of(description)
    if kind not in NUMBERS:
        raise ValueError(f"action: expected one of {', '.join(NUMBERS)} or bool, got {description.dtype}")
    part.number, part.count, part.offset = <Number><int>NUMBERS.index(kind), math.prod(description.shape), offset
    discrete = isinstance(description, Discrete)
    low, high = (0, description.n - 1) if discrete else (description.low, description.high)
    # a copy with one bound for each number
    part.low = chars(np.broadcast_to(np.asarray(low, description.dtype), description.shape).tobytes())
    part.high = chars(np.broadcast_to(np.asarray(high, description.dtype), description.shape).tobytes())
    return part


cdef bint copy_checked_array(cnp.ndarray given, const ActionPart& part, void* out, size_t stride) noexcept:
    """Copies actions, an array of `part.count` numbers per row, to rows that begin at `out`, `stride` bytes apart.

    Returns:
        False if `copy_checked` refuses them.
    """
    cdef int type_num = cnp.PyArray_TYPE(given), number
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(given)
    if not cnp.PyArray_ISCARRAY_RO(given):
        return False
    if cnp.PyTypeNum_ISSIGNED(type_num) and cnp.PyTypeNum_ISINTEGER(type_num):
        number = FIRST_SIGNED
    elif cnp.PyTypeNum_ISUNSIGNED(type_num):
        number = FIRST_UNSIGNED
    elif type_num == cnp.NPY_FLOAT or type_num == cnp.NPY_DOUBLE:
        # 4 bytes come first
        number, size = FIRST_FLOAT, size >> 2
    else:
        return False
    # 1, 2, 4 and 8 bytes, in this order; of floats 4 and 8
    while size > 1:
        number, size = number + 1, size >> 1
    size = cnp.PyArray_SIZE(given) // <Py_ssize_t>part.count
    return copy_checked(cnp.PyArray_DATA(given), <Number>number, size, part, <char*>out, stride)
