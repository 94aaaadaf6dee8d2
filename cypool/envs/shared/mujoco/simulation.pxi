# The base class of all environments that MuJoCo simulates: their model and data, pictures, save and load.
import zlib

import numpy as np

from cypool.envs.shared.mujoco import specs
from cypool.util.arguments import shown
from cypool.state import check_state, unpack

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.env_methods cimport check_status
from cypool.env cimport Slot
from cypool.envs.shared.mujoco cimport libmujoco, saved

ctypedef int (*GetObs)(Simulation env, ObsWriter* obs) noexcept nogil

cnp.import_array()

cdef enum:
    DRAWN = -1  # in `info_types`: the numbers that `variation` has drawn, which are not in `info`


cdef class Simulation(Env):
    """Base of the MuJoCo families: holds model and data, draws, saves and loads.

    Thread safety: any thread, one at a time.
    """

    describe = staticmethod(specs.simulation)

    def __dealloc__(self):
        if self.data != NULL:
            libmujoco.mj_deleteData(self.data)

    cdef int set_up_frames(self, object spec, size_t obs_size) except -1:
        cdef size_t frame_bytes = obs_size * sizeof(double)
        options = spec.options
        self.action_is_single = spec.action.dtype == np.float32
        self.obs_is_single = options["obs_dtype"] == "float32"
        self.from_pixels = options["from_pixels"]
        self.obs_size = obs_size
        if self.from_pixels:
            self.camera.set_up()
            if options["frame_stack"] > 1:
                self.picture_bytes = 3 * self.camera.height * self.camera.width
                # of whole doubles
                frame_bytes += (self.picture_bytes + 7) // 8 * 8
        self.frames = FrameStack(options["frame_stack"], frame_bytes)
        return 0

    cdef int set_up_info(self, object spec) except -1:
        cdef size_t size = 0
        for name, array in spec.info.items():
            is_drawn = name == "randomize" and spec.options["randomize_info"]
            self.info_types.push_back(DRAWN if is_drawn else array.dtype.num)
            self.info_sizes.push_back(array.low.size)
            size += 0 if is_drawn else array.low.size
        self.info.resize(size)
        return 0

    cdef void clear_info(self) noexcept nogil:
        cdef size_t k
        for k in range(self.info.size()):
            self.info[k] = 0

    cdef void write_infos(self, const Slot* out) noexcept nogil:
        cdef const double* value = self.info.data()
        cdef size_t column
        cdef int k
        for column in range(self.info_sizes.size()):
            if self.info_types[column] == DRAWN:
                memcpy(out.info[column], self.variation.drawn.data(), self.info_sizes[column] * sizeof(double))
                continue
            for k in range(self.info_sizes[column]):
                if self.info_types[column] == cnp.NPY_DOUBLE:
                    (<double*>out.info[column])[k] = value[0]
                elif self.info_types[column] == cnp.NPY_FLOAT:
                    (<float*>out.info[column])[k] = <float>value[0]
                elif self.info_types[column] == cnp.NPY_INT32:
                    (<int32_t*>out.info[column])[k] = <int32_t>value[0]
                elif self.info_types[column] == cnp.NPY_BOOL:
                    (<uint8_t*>out.info[column])[k] = value[0] != 0
                else:
                    (<int64_t*>out.info[column])[k] = <int64_t>value[0]
                value += 1

    cdef object check_info(self, object state):
        if type(state) is not tuple or any(type(number) is not float for number in state):
            raise TypeError(f"expected a tuple of floats for the infos, got {shown(state)}")
        if len(state) != <Py_ssize_t>self.info.size():
            raise ValueError(f"expected {self.info.size()} numbers for the infos, got {len(state)}")
        return state

    cdef int get_obs(self, ObsWriter* obs) except -1 nogil:
        raise NotImplementedError("get_obs")

    cdef int draw(self, unsigned char* out) except -1 nogil:
        return self.camera.render_into(self.model, self.data, out)

    cdef void set_controls(self, const void* action) noexcept nogil:
        cdef int64_t k
        if self.action_is_single:
            for k in range(self.model.nu):
                self.data.ctrl[k] = (<const float*>action)[k]
        else:
            memcpy(self.data.ctrl, action, self.model.nu * sizeof(double))

    cdef int push_frame(self) except -1 nogil:
        cdef unsigned char* frame = self.frames.push()
        cdef ObsWriter obs = ObsWriter(<double*>frame, self.obs_size)
        if self.obs_size > 0:
            check_status("get_obs", (<GetObs>self.get_obs)(self, &obs))
            if not obs.is_complete():
                raise RuntimeError(f"get_obs: expected {self.obs_size} numbers, got {self.obs_size - obs.left()}"
                                   f"{f', then {obs.refused()} that do not fit' if obs.refused() != 0 else ''}")
        if self.picture_bytes > 0:
            self.draw(frame + self.obs_size * sizeof(double))
        return 0

    cdef void* write_numbers(self, size_t first, size_t count, void* out) noexcept nogil:
        cdef const double* numbers
        cdef size_t i
        cdef int k
        for k in range(self.frames.num_frames):
            numbers = <const double*>self.frames.frame(0, k) + first
            if self.obs_is_single:
                for i in range(count):
                    (<float*>out)[i] = <float>numbers[i]
                out = <float*>out + count
            else:
                memcpy(out, numbers, count * sizeof(double))
                out = <double*>out + count
        return out

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef int k
        self.write_infos(out)
        if not self.from_pixels:
            self.write_numbers(0, self.obs_size, out.obs[0])
        elif self.frames.num_frames == 1:
            self.draw(<unsigned char*>out.obs[0])
        else:
            for k in range(self.frames.num_frames):
                memcpy(<char*>out.obs[0] + k * self.picture_bytes, self.frames.frame(0, k), self.picture_bytes)
        return 0

    cdef object save_own(self):
        raise NotImplementedError("save_own")

    cdef object check_own(self, object state):
        raise NotImplementedError("check_own")

    cdef int load_own(self, object checked) except -1:
        raise NotImplementedError("load_own")

    cdef int copy_own(self, Simulation other) except -1 nogil:
        raise NotImplementedError("copy_own")

    cdef object render(self):
        picture = np.empty((self.camera.height, self.camera.width, 3), np.uint8)
        cdef unsigned char* pixels = <unsigned char*>cnp.PyArray_DATA(picture)
        self.camera.set_up()
        self.camera.set_viewpoint(self.model, self.data)
        with nogil:
            self.draw(pixels)
        return picture

    cdef object save(self):
        cdef const mjData* d = self.data
        cdef saved.Awake counts
        if self.model.nplugin > 0:
            raise NotImplementedError(f"save: {self.loaded.path} has MuJoCo plug-ins with their own data")
        if self.camera.sees_contacts:
            raise NotImplementedError("save: states do not include the contacts that visual_options draws")
        # all that MuJoCo computed, not only its state: rewards and pictures go by positions from before the last step
        computed = (<char*>d.buffer)[:d.nbuffer]
        drawn = None if self.variation is None else self.variation.drawn
        counts = saved.get_awake(d)
        awake = counts.trees, counts.bodies, counts.parents, counts.dofs
        packed = zlib.compress(computed + self.frames.save(), 1)
        return (packed, d.time, awake, self.frames.newest, self.save_own(), drawn, self.camera.save(),
                libmujoco.mj_version())

    cdef int load(self, object state) except -1:
        cdef mjData* d = self.data
        cdef const mjModel* m = self.model
        cdef saved.Awake counts
        cdef bytes unpacked
        cdef int64_t size = d.nbuffer + <int64_t>self.frames.frames.size()
        # first all that may fail
        if m.nplugin > 0:
            raise NotImplementedError(f"load: {self.loaded.path} has MuJoCo plug-ins with their own data")
        if not isinstance(state, (tuple, list)) or len(state) != 8:
            raise ValueError(f"expected 8 values, got {shown(state)}")
        packed, time, awake, newest, own, values, view, version = state
        own = self.check_own(own)
        time, newest, version = check_state(
            (time, newest, version), float, (0, self.frames.num_frames - 1), (0, 2**31 - 1))
        if version != libmujoco.mj_version():
            raise ValueError(f"expected a state from MuJoCo {libmujoco.mj_version()}, got one from {version}")
        awake = check_state(awake, (0, m.ntree), (0, m.nbody), (0, m.nbody), (0, m.nv))
        view = self.camera.checked(view)
        if self.variation is not None:
            values = self.variation.checked(values)
        elif values is not None:
            raise ValueError(f"expected None (nothing is randomized), got {shown(values)}")
        unpacked = unpack(packed, size)
        if len(unpacked) != size:
            raise ValueError(f"expected {size} bytes, got {len(unpacked)}")
        saved.check_saved(m, d, <const char*>unpacked)
        if self.variation is not None:
            self._vary(values)
        memcpy(d.buffer, <const char*>unpacked, d.nbuffer)
        self.frames.load(unpacked[d.nbuffer:], newest)
        self.camera.load(view)
        d.time = time
        counts.trees, counts.bodies, counts.parents, counts.dofs = awake
        saved.set_awake(d, counts)
        return self.load_own(own)

    cdef int copy_from(self, Env other) except -1 nogil:
        cdef mjData* d = self.data
        cdef const mjData* from_data = (<Simulation>other).data
        if self.model.nplugin > 0:
            raise NotImplementedError("copy: the model has MuJoCo plug-ins with their own data")
        if self.camera.sees_contacts:
            raise NotImplementedError("copy: states do not include the contacts that visual_options draws")
        if self.variation is not None:
            self.variation.copy_from((<Simulation>other).variation, d)
        memcpy(d.buffer, from_data.buffer, d.nbuffer)
        self.frames.copy_from((<Simulation>other).frames)
        self.info = (<Simulation>other).info
        self.camera.copy_from((<Simulation>other).camera)
        d.time = from_data.time
        saved.set_awake(d, saved.get_awake(from_data))
        return self.copy_own(<Simulation>other)

    cdef int _vary(self, values) except -1:
        """Restores the model of a saved state, and overwrites its computed values; on an error, nothing changes."""
        cdef mjData* d = self.data
        cdef vector[double] before = self.variation.drawn
        cdef bytes buffer = (<char*>d.buffer)[:d.nbuffer]
        try:
            self.variation.drawn = values
            self.variation.apply(d)
        except BaseException:
            self.variation.drawn = before
            self.variation.apply(d)
            memcpy(d.buffer, <const char*>buffer, d.nbuffer)
            raise
        return 0
