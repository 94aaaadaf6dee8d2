"""The base class of MuJoCo's environments, and its parts."""
from libcpp.vector cimport vector

from cypool.env cimport Env, Slot
from cypool.envs.shared.pixels.frame_stack cimport FrameStack
from cypool.envs.shared.mujoco.fields cimport Field, VariedModel
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel, mjvCamera, mjvOption
from cypool.envs.shared.mujoco.obs_writer cimport ObsWriter
from cypool.random cimport Rng


# Models: compiled by MuJoCo from an XML file.

cdef class Model:
    """A robot and its world. Environments share it, and it never changes."""
    cdef mjModel* mj                     # owned
    cdef readonly str path
    cdef readonly int nq, nv, nu, nbody, nsite, ncam, ntendon, nsensordata      # as mjModel has them
    cdef readonly double timestep
    cdef readonly object key             # of its texts and files: models of one key are equal
    cdef object fits                     # the spec that was last checked
    cdef object __weakref__

    cpdef int named(self, int kind, object name) except -2    # the number of an object, by its mjtObj and name, or -1
    cpdef list names(self, int kind, int count)           # of the first objects of a kind, without those that have none
    cdef int find(self, int kind, str name) except -1    # the same; ValueError
    cpdef int body(self, object name) except -1       # the number of a body, by its name or number; ValueError
    # compares the described sizes with those of the file now: they are not checked later; ValueError
    cdef int check(self, object spec, object describe) except -1
    # least and largest value of each control, float64 (2, nu); +-unlimited where the model has no limits
    cpdef object control_range(self, double unlimited)


# changes a model before anybody has it
ctypedef int (*Edit)(Model model) except -1

cpdef Model load_model(object xml_file)        # ValueError
cdef Model load_edited(str path, Edit edit)    # of a file that comes with a package; `edit` may be NULL; ValueError
cdef Model held(Model model)                   # for an environment, which has to keep it
cpdef Model load_model_text(object key, str name, bytes text, dict files)   # of a text, and files by name; ValueError


# Pictures of an environment, as Gymnasium's `MujocoRenderer` makes them.

cdef class Camera:
    cdef readonly int width, height
    cdef Model loaded
    cdef int max_geom
    cdef bint has_lookat, has_distance   # separate, so that the first picture does not decide them
    cdef mjvOption option
    cdef readonly bint sees_contacts     # its objects lie in the arena
    cdef bint shadows
    cdef object renderer                 # None before the first picture
    cdef mjvCamera view
    cdef bint viewpoint_set              # there was a first picture

    cdef int set_up(self) except -1                                         # finds OpenGL, if that was not done
    cdef int set_viewpoint(self, const mjModel* model, const mjData* data) except -1 nogil    # before the first picture
    cdef void set_default(self, const mjModel* model) noexcept nogil        # the free camera is where MuJoCo puts it
    # writes uint8 (height, width, 3)
    cdef int render_into(self, const mjModel* model, mjData* data, unsigned char* out) except -1 nogil
    cdef object save(self)
    cdef object checked(self, object state)          # a result of save, or raises
    cdef int load(self, object state) except -1
    cdef void copy_from(self, Camera other) noexcept nogil                  # like save and load


# Domain randomization: a model that changes in each episode.

# in the order of `OPERATIONS`
cdef enum Operation:
    SCALE
    ADD
    SET

# numbers of a field that vary
cdef struct VariedRange:
    size_t field                         # of `fields`
    size_t begin, end                    # of its numbers
    Operation operation
    double low, high


cdef class Variation:
    cdef Model loaded
    cdef VariedModel* model              # owned
    cdef vector[Field]* fields           # those that vary; owned
    cdef vector[VariedRange] ranges
    cdef readonly vector[double] drawn   # for each number that varies, range after range
    cdef bint derives                    # whether MuJoCo has to compute other fields from these

    cdef const mjModel* view(self) noexcept nogil     # the model, of which `draw` changes the numbers
    cdef mjModel* edit(self) noexcept nogil           # the same, for those who write to fields of `own`
    cdef bytes contents(self)                         # of its own fields
    cdef int set_contents(self, bytes contents) except -1
    cdef int draw(self, const Rng* rng, mjData* data) except -1 nogil  # another model; data is overwritten
    cdef object checked(self, object values)          # `drawn` of a saved state, or raises
    # becomes the model of another one; data is overwritten, but where nothing varies
    cdef int copy_from(self, Variation other, mjData* data) except -1 nogil
    cdef int apply(self, mjData* data) except -1 nogil  # the model of the drawn values

    # its own
    cdef void _set_drawn(self) noexcept nogil


# The base class of all environments that MuJoCo simulates: their model and data, pictures, save and load.

cdef class Simulation(Env):
    # a subclass sets these in its __init__
    cdef readonly Model loaded
    cdef Variation variation             # of the model in this environment; None: there is none
    cdef const mjModel* model            # borrowed from one of the two
    cdef mjData* data                    # owned
    cdef Camera camera
    # set by `set_up_frames`
    cdef FrameStack frames               # the last observations; a picture that is not stacked is not kept
    cdef bint from_pixels
    cdef bint action_is_single           # float32, else float64
    cdef bint obs_is_single
    cdef size_t obs_size                 # numbers of an observation
    cdef size_t picture_bytes            # of a picture in `frames`, behind the numbers
    # set by `set_up_info`, where there are infos
    cdef vector[double] info             # the info, element after element; zeros when reset or step begins
    cdef vector[int] info_types          # NumPy's number of each array's type
    cdef vector[int] info_sizes

    # has to be implemented, unless `obs_size` is 0; as in `Env`, it runs on a pool thread, without the GIL
    cdef int get_obs(self, ObsWriter* obs) except -1 nogil   # puts `obs_size` numbers
    # can be implemented
    cdef int draw(self, unsigned char* out) except -1 nogil  # a picture of now
    # have to be implemented: the state to save other than MuJoCo's data and the frames
    cdef object save_own(self)                       # returns it as plain values
    cdef object check_own(self, object state)        # returns the argument of `load_own`; TypeError, ValueError
    cdef int load_own(self, object checked) except -1    # MuJoCo's data is loaded already; cannot fail

    # runs without the GIL: takes all this over from another environment of the same class and spec, after MuJoCo's data
    cdef int copy_own(self, Simulation other) except -1 nogil

    # to be called
    cdef int set_up_frames(self, object spec, size_t obs_size) except -1     # at the end of __init__
    cdef int set_up_info(self, object spec) except -1        # in __init__
    cdef void clear_info(self) noexcept nogil
    cdef void write_infos(self, const Slot* out) noexcept nogil      # each array in its type
    cdef object check_info(self, object state)               # an earlier tuple(self.info), or raises
    cdef void set_controls(self, const void* action) noexcept nogil
    cdef int push_frame(self) except -1 nogil                # puts the observation behind the others
    # writes some numbers of each observation, the oldest first, in the dtype of the spec; returns where it ends
    cdef void* write_numbers(self, size_t first, size_t count, void* out) noexcept nogil

    # its own
    cdef int _vary(self, object values) except -1
