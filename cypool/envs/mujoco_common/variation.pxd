"""Domain randomization: a model that changes in each episode."""
from libcpp.vector cimport vector

from cypool.envs.mujoco_common.fields cimport Field, VariedModel
from cypool.envs.mujoco_common.libmujoco cimport mjData, mjModel
from cypool.envs.mujoco_common.model cimport Model
from cypool.random cimport Rng


cdef enum Operation:
    SCALE
    ADD
    SET

# numbers of a field that vary
cdef struct Part:
    size_t field                         # of `fields`
    size_t begin, end                    # of its numbers
    Operation operation
    double low, high


cdef class Variation:
    cdef Model loaded
    cdef VariedModel* model              # owned
    cdef vector[Field]* fields           # those that vary; owned
    cdef vector[Part] parts
    cdef readonly vector[double] drawn   # for each number that varies, part after part
    cdef bint derives                    # whether MuJoCo has to compute other fields from these

    cdef const mjModel* view(self) noexcept nogil     # the model, of which `draw` changes the numbers
    cdef mjModel* edit(self) noexcept nogil           # the same, for those who write to fields of `own`
    cdef bytes contents(self)                         # of the fields of its own
    cdef int set_contents(self, bytes contents) except -1
    cdef int draw(self, const Rng* rng, mjData* data) except -1 nogil  # another model; data is overwritten
    cdef object checked(self, object values)          # what `drawn` is in a saved state, or raises
    # becomes the model of another one; data is overwritten, but where nothing varies
    cdef int copy_from(self, Variation other, mjData* data) except -1 nogil
    cdef int apply(self, mjData* data) except -1 nogil  # the model of what is drawn

    # its own
    cdef void _set_drawn(self) noexcept nogil


cdef object check_randomize(Model model, object randomize)   # returns it, or raises
