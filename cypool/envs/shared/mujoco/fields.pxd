"""Fields of a MuJoCo model by name, and a model that owns some fields and shares the others."""
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel

# pointers to these are in a class that plug-ins see: they are declared here, and modules that use them include fields.h
cdef extern from *:
    """
    namespace cypool { struct Field; class VariedModel; }
    """
    cdef cppclass Field "cypool::Field":
        string name
        size_t rows, columns
        cbool is_double, is_float, is_source, is_derived

    vector[Field] fields_of "cypool::fields_of"(const mjModel* m) except +
    # False: this MuJoCo may write more than it has to
    cbool derived_is_known "cypool::derived_is_known"() noexcept nogil

    cdef cppclass VariedModel "cypool::VariedModel":
        VariedModel(const mjModel* base) except +
        const mjModel* view() noexcept nogil
        mjModel* edit() noexcept nogil
        string contents() except +
        cbool has_contents(string& all) noexcept nogil
        cbool set_contents(const string& all) except +
        void copy_contents(const VariedModel& other) noexcept nogil
        void own(const Field& field) except +
        void restore() noexcept nogil
        double get(const Field& field, size_t k) noexcept nogil
        void set(const Field& field, size_t k, double value) noexcept nogil
        void derive(mjData* d) except + nogil
