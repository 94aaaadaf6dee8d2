"""The checks of actions, for the API above; all other parts of the engine are declared where they are defined."""
from libcpp.vector cimport vector

cimport numpy as cnp


# The bounds of actions: of those that users pass, and of those that policies write.

cdef extern from "cypool/engine/action_check.h" namespace "cypool" nogil:
    cdef enum class Number(int):
        pass

    cdef cppclass ActionPart:
        Number number
        size_t offset
        size_t count
        vector[char] low
        vector[char] high

    size_t first_outside(const char* action, const ActionPart& part) noexcept
    bint copy_checked(const void* given, Number number, size_t rows, const ActionPart& part, char* out,
                      size_t stride) noexcept


cdef bint is_checkable(description)
cdef ActionPart part_of(description, size_t offset) except *
cdef bint copy_checked_array(cnp.ndarray given, const ActionPart& part, void* out, size_t stride) noexcept
