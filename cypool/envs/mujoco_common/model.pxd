"""Models: what MuJoCo makes of an XML file."""
from cypool.envs.mujoco_common.libmujoco cimport mjModel


cdef class Model:
    """A robot and its world. Shared by environments, and never changed."""
    cdef mjModel* mj                     # owned
    cdef readonly str path
    cdef object __weakref__

    cdef int named(self, int kind, object name) except -2    # the number of an object, by its mjtObj and name, or -1
    cdef list names(self, int kind, int count)           # of the first objects of a kind, without those that have none
    cdef int find(self, int kind, str name) except -1    # the same; ValueError
    cdef int body(self, object name) except -1       # the number of a body, by its name or number; ValueError
    # least and largest value of each control, float64 (2, nu); +-unlimited where the model has no limits
    cdef object control_range(self, double unlimited)


# changes a model before anybody has it
ctypedef int (*Edit)(Model model) except -1

cdef Model load_model(object xml_file)         # ValueError
cdef Model load_edited(str path, Edit edit)    # of a file that comes with a package; `edit` may be NULL; ValueError
cdef Model held(Model model)                   # for an environment, which has to keep it
cdef Model load_model_text(object key, str name, bytes text, dict files)    # of a text, and files by name; ValueError
