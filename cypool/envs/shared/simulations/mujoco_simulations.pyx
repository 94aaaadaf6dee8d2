"""Simulations of a MuJoCo model with live arrays, and environments whose rows Python computes all at once.

`cypool.mujoco` has the classes that users see. `environments.pxi` knows nothing of MuJoCo.
"""
import hashlib
import weakref

import mujoco
import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.map cimport map as cmap
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.lanes.mujoco_lanes import make_lanes, may_vary_in_lanes, set_up_stepper
from cypool.spec import Array, EnvSpec

from cypool.env cimport Env, Slot
from cypool.envs.shared.mujoco cimport guard, libmujoco
from cypool.envs.shared.mujoco.fields cimport Field, fields_of
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel
from cypool.envs.shared.mujoco.mujoco_common cimport Camera, Model

cnp.import_array()

cdef extern from "cypool/envs/shared/simulations/simulations.h" nogil:
    cdef cppclass Stepper "cypool::lanes::Stepper":
        void* lanes
        cbool (*is_usable)(void* lanes) noexcept

    cdef cppclass ArrayField "cypool::ArrayField":
        string name, rows
        char type

    vector[ArrayField] data_arrays "cypool::data_arrays"() except +
    size_t rows_of "cypool::rows_of"(const mjModel* m, const ArrayField& array)
    size_t columns_of "cypool::columns_of"(const mjModel* m, const ArrayField& array)
    bint has_hidden_state "cypool::has_hidden_state"(const mjModel* m)
    int num_warnings "cypool::num_warnings"()
    mjModel* copy_model "cypool::copy_model"(size_t address) except +

    ctypedef enum Call "cypool::Simulations::Call":
        STEP "cypool::Simulations::STEP"
        FORWARD "cypool::Simulations::FORWARD"
        FILL "cypool::Simulations::FILL"
        RESET "cypool::Simulations::RESET"
        SET_CONST "cypool::Simulations::SET_CONST"

    cdef cppclass CSimulations "cypool::Simulations":
        CSimulations(const mjModel* m, int64_t count, int* warnings) except +
        Call call
        int frames, keyframe
        const unsigned char* chosen
        Stepper stepper
        void add(const string& name, char* rows, const vector[pair[int64_t, int64_t]]& parts) except +
        void expand(const Field& field, char* rows) except +
        cbool repeats_last()
        int run(int64_t begin, int64_t end) except -1
        cmap[int64_t, string] take_errors() except +
        int64_t steps_alone()
        void pose(int64_t e, mjData* d) except +

CALLS = {"step": STEP, "forward": FORWARD, "fill": FILL, "reset": RESET, "set_const": SET_CONST}
# scalars of mjData, and the types of arrays
SCALARS = {"time": "d", "ncon": "i", "nefc": "i"}
TYPES = {"d": np.float64, "i": np.int32, "b": np.uint8}

# copies of models in use, by their contents
_models = weakref.WeakValueDictionary()


def copied_model(given):
    """Returns the `Model` of a `mujoco.MjModel`, which may change later.

    Raises:
        ValueError: A batch cannot step this model.
    """
    cdef Model model
    contents = np.empty(mujoco.mj_sizeModel(given), np.uint8)
    mujoco.mj_saveModel(given, None, contents)
    key = hashlib.blake2b(contents.data).digest()
    model = _models.get(key)
    if model is None:
        model = Model()
        model.mj = copy_model(given._address)
        model.path, model.key = "the model", key
        model.nq, model.nv, model.nu, model.nbody = given.nq, given.nv, given.nu, given.nbody
        model.nsite, model.ncam, model.ntendon = given.nsite, given.ncam, given.ntendon
        model.nsensordata, model.timestep = given.nsensordata, given.opt.timestep
        _models[key] = model
    if has_hidden_state(model.mj):
        raise ValueError("model: expected no plug-ins, delays or sleeping bodies, whose states are more than numbers")
    return model


def data_fields(Model model not None):
    """Returns, for each field of mjData, the size that counts its rows, its shape and its dtype."""
    cdef ArrayField field
    found = {name: ("", (), np.dtype(TYPES[letter])) for name, letter in SCALARS.items()}
    for field in data_arrays():
        letter = chr(field.type)
        if letter in TYPES:
            shape = [rows_of(model.mj, field), columns_of(model.mj, field)]
            shape = tuple(shape[:1] if shape[1] == 1 else shape)
            found[field.name.decode()] = field.rows.decode(), shape, np.dtype(TYPES[letter])
    return found


cdef class Simulations:
    """Simulations of one model as rows of the arrays that it writes to; `cypool.mujoco.Batch` uses it.

    Thread safety: several threads may `run` disjoint rows; everything else takes one thread while none runs.
    """
    cdef CSimulations* made              # owned
    cdef readonly Model model
    cdef readonly object warning         # int32 (num_envs, kinds)
    cdef object why_not                  # why lanes refuse the model, or None
    cdef object lanes
    cdef object chosen
    cdef list arrays                     # kept, as rows are written there
    cdef mjData* picture_data            # owned; NULL before the first picture

    def __cinit__(self, Model model not None, int64_t num_envs, str physics):
        self.model, self.arrays = model, []
        self.warning = np.frombuffer(bytearray(4 * num_envs * num_warnings()), np.int32).reshape(num_envs, -1)
        self.made = new CSimulations(model.mj, num_envs, <int*>cnp.PyArray_DATA(self.warning))
        self.why_not = 'physics="mj_step"' if physics == "mj_step" else None
        if self.why_not is not None:
            return
        try:
            self.lanes = make_lanes(model)
        except ValueError as error:
            self.why_not = str(error)
            return
        set_up_stepper(self.lanes, PyCapsule_New(&self.made.stepper, "cypool.lanes.Stepper", NULL))

    def __dealloc__(self):
        del self.made
        if self.picture_data != NULL:
            libmujoco.mj_deleteData(self.picture_data)

    def add(self, str name, cnp.ndarray rows, list parts):
        """Makes calls store parts of a field of mjData, (offset, size) in bytes, in the rows of an array."""
        self.made.add(name.encode(), cnp.PyArray_BYTES(rows), <vector[pair[int64_t, int64_t]]>parts)
        self.arrays.append(rows)

    def expand(self, size_t number, cnp.ndarray rows):
        """Gives each row its own copy of a field of the model.

        Args:
            number: The field's index in `Model.fields`.
            rows: The array.
        """
        self.made.expand(fields_of(self.model.mj)[number], cnp.PyArray_BYTES(rows))
        self.arrays.append(rows)

    def vary(self, str name):
        """Notes that a field differs between rows; lanes check by themselves what mj_setConst writes."""
        if self.why_not is None and not may_vary_in_lanes(name):
            self.made.stepper.lanes = NULL
            self.why_not = f"{name} differs between environments, but lanes read it from the shared model"

    def setconst_fields(self):
        """Returns the numbers of the fields that mj_setConst writes."""
        cdef vector[Field] fields = fields_of(self.model.mj)
        return [k for k in range(fields.size()) if fields[k].is_derived]

    def command(self, str call, int frames, int keyframe, chosen):
        """Sets what the next steps of the chunks do.

        Args:
            call: One of `CALLS`.
            frames: Number of MuJoCo steps.
            keyframe: The keyframe; -1: none.
            chosen: A bool array, C-contiguous, (num_envs,); None: all.
        """
        self.made.call, self.made.frames, self.made.keyframe = <Call><int>CALLS[call], frames, keyframe
        self.chosen = chosen
        self.made.chosen = NULL
        if chosen is not None:
            self.made.chosen = <const unsigned char*>cnp.PyArray_DATA(chosen)

    def take_errors(self):
        """Returns the errors of the last call: a dict from rows to texts."""
        cdef cmap[int64_t, string] errors = self.made.take_errors()
        return {row: text.decode(errors="replace") for row, text in errors}

    def why_mj_step(self):
        """Returns why mj_step steps everything, or None."""
        if self.why_not is None and not self.made.stepper.is_usable(self.made.stepper.lanes):
            return "lanes differed from mj_step, or a MuJoCo callback is set"
        return self.why_not

    def repeats_last(self):
        """Returns whether mj_step repeats each row's last step after lanes took it."""
        return self.made.repeats_last()

    def steps_alone(self):
        """Returns how many times mj_step stepped a row."""
        return self.made.steps_alone()

    def camera(self, dict options):
        """Returns a camera for `render`, with the options of `specs.SIMULATION`."""
        return Camera(self.model, options)

    def render(self, int64_t row, Camera camera not None):
        """Returns a picture of a row: uint8 (height, width, 3)."""
        picture = np.empty((camera.height, camera.width, 3), np.uint8)
        camera.set_up()
        if self.picture_data == NULL:
            self.picture_data = guard.make_data(self.model.mj, True)
        self.made.pose(row, self.picture_data)
        camera.set_viewpoint(self.model.mj, self.picture_data)
        camera.render_into(self.model.mj, self.picture_data, <unsigned char*>cnp.PyArray_DATA(picture))
        return picture


cdef class Chunk(Env):
    """Rows of simulations as an environment, so that the threads of a pool run a call."""
    cdef Simulations simulations
    cdef int64_t begin, end

    cdef int reset(self) except -1 nogil:
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        self.simulations.made.run(self.begin, self.end)
        return 0

    cdef int observe(self, const Slot* out) except -1 nogil:
        (<char*>out.obs[0])[0] = 0
        return 0


def chunks(Simulations simulations, num_envs, size):
    """Returns environments for a pool, each of which runs calls for this many rows."""
    cdef Chunk chunk
    spec = EnvSpec(Array((), np.uint8), Array((), np.uint8), id="cypool.mujoco.Batch")
    made = []
    for begin in range(0, num_envs, size):
        chunk = Chunk(spec, len(made))
        chunk.simulations, chunk.begin, chunk.end = simulations, begin, min(begin + size, num_envs)
        made.append(chunk)
    return made


include "environments.pxi"
