from libcpp.string cimport string
from libcpp.vector cimport vector


cdef extern from "cypool/envs/common/state_archive.h" namespace "cypool" nogil:
    cdef struct StateField:
        string path
        char format
        size_t offset
        double low, high

    string save_state[T](const T& env) except +
    vector[StateField] list_state[T](const T& env) except +
    # into a new one; throws std::invalid_argument, a ValueError
    void load_state[T](T& env, const string& saved) except +


cdef inline list field_tuples(const vector[StateField]& fields):
    """Returns (path, type, offset, least, greatest) of each number of a state; the type as `struct` calls it."""
    return [(fields[k].path.decode(), chr(fields[k].format), fields[k].offset, fields[k].low, fields[k].high)
            for k in range(fields.size())]
