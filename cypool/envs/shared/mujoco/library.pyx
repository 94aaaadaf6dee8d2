"""MuJoCo's library, whichever version is installed: its functions, and where its structs keep their fields."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

cdef extern from "cypool/envs/shared/mujoco/library_setup.h":
    cdef cppclass Place "cypool::Place":
        int64_t offset, bytes

    cdef cppclass ArrayField "cypool::ArrayField":
        string name, rows, columns
        int64_t offset, item_bytes, factor
        char type
        cbool is_option, is_source, is_derived

    cdef cppclass Library "cypool::Library":
        vector[ArrayField] model, data
        Place solver
        cbool derived_is_known
        vector[string] warnings

    cdef cppclass Found "cypool::Found":
        unordered_map[string, Place] places
        unordered_map[string, int64_t] numbers, sizes

    void set_up_layout "cypool::set_up_layout"(Library& library, const Found& found) except +
    void set_up_functions "cypool::set_up_functions"(Library& library, const char* path) except +

# for all modules, as long as the process lives
cdef Library* _library = new Library()


def set_up(object layout, bytes path):
    """Passes a loaded library and its `StructLayout` to all modules that use MuJoCo.

    Raises:
        RuntimeError: Something that is used is missing or different; the text begins with "no" or "a".
    """
    cdef Found found
    cdef Place place
    for name, size in layout.sizes.items():
        found.sizes[name.encode()] = size
    for name, number in layout.numbers.items():
        found.numbers[name.encode()] = number
    for name, field in layout.fields.items():
        place.offset, place.bytes = field.offset, field.item
        found.places[name.encode()] = place
    set_up_layout(_library[0], found)
    _library.derived_is_known = layout.derived_is_known
    solver = layout.fields["mjData.solver"]
    _library.solver.offset, _library.solver.bytes = solver.offset, solver.size
    for name, field in layout.fields.items():
        struct, _, rest = name.partition(".")
        if name in layout.arrays:
            _add(struct, rest, field, layout.arrays[name])
    for name, field in layout.fields.items():
        if name.startswith("mjModel.opt.") and field.type != "S":
            _add("mjModel", name.removeprefix("mjModel."), field, None)
    # in the order of mjtWarning
    for _, name in sorted((number, name) for name, number in layout.numbers.items() if name.startswith("mjWARN_")):
        _library.warnings.push_back(name.encode())
    set_up_functions(_library[0], path)


cdef int _add(str struct, str name, object field, object array) except -1:
    """Adds an array; without its shape, an option."""
    cdef ArrayField added
    added.name = name.encode()
    added.offset, added.item_bytes, added.type = field.offset, field.item, ord(field.type)
    if array is None:
        added.is_option, added.factor = True, field.size // field.item
    else:
        added.rows, added.columns, added.factor = array.rows.encode(), array.columns.encode(), array.factor
        added.is_source, added.is_derived = array.is_source, array.is_derived
    if struct == "mjModel":
        _library.model.push_back(added)
    else:
        _library.data.push_back(added)
    return 0


# a capsule's name has to live as long as it does
cdef bytes _name = f"cypool.envs.shared.mujoco.library.LIBRARY_{sizeof(Library)}".encode()
globals()[f"LIBRARY_{sizeof(Library)}"] = PyCapsule_New(_library, <const char*>_name, NULL)
