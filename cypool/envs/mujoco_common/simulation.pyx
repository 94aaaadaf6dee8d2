"""The base class of all environments that MuJoCo simulates: their model and data, pictures, save and load."""
import zlib

import numpy as np

from cypool.arguments import shown
from cypool.state import check_state, unpack

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from cypool.envs.mujoco_common cimport libmujoco, saved

cnp.import_array()

if libmujoco.mj_version() != libmujoco.mjVERSION_HEADER:
    raise ImportError(f"MuJoCo's environments are built for version {libmujoco.mjVERSION_HEADER} of its library, found "
                      f"{libmujoco.mj_version()}")


cdef class Simulation(Env):
    """Base of the families that MuJoCo simulates: holds model and data, draws, saves and loads.

    Threads: any, one at a time.
    """

    def __dealloc__(self):
        if self.data != NULL:
            libmujoco.mj_deleteData(self.data)

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
            self.camera.render_into(self.model, self.data, pixels)
        return picture

    cdef object save(self):
        cdef const mjData* d = self.data
        if self.model.nplugin > 0:
            raise NotImplementedError(f"save: {self.loaded.path} has plug-ins of MuJoCo's, with data of their own")
        if self.camera.sees_contacts:
            raise NotImplementedError("save: the contacts that visual_options has drawn are not in a state")
        # all that MuJoCo computed, not only its state: rewards and pictures go by positions from before the last step
        computed = (<char*>d.buffer)[:d.nbuffer]
        drawn = None if self.variation is None else self.variation.drawn
        awake = d.ntree_awake, d.nbody_awake, d.nparent_awake, d.nv_awake
        packed = zlib.compress(computed + self.frames.save(), 1)
        return (packed, d.time, awake, self.frames.newest, self.save_own(), drawn, self.camera.save(),
                libmujoco.mjVERSION_HEADER)

    cdef int load(self, object state) except -1:
        cdef mjData* d = self.data
        cdef const mjModel* m = self.model
        cdef bytes unpacked
        cdef int64_t size = d.nbuffer + <int64_t>self.frames.frames.size()
        # first all that may fail
        if m.nplugin > 0:
            raise NotImplementedError(f"load: {self.loaded.path} has plug-ins of MuJoCo's, with data of their own")
        if not isinstance(state, (tuple, list)) or len(state) != 8:
            raise ValueError(f"expected 8 values, got {shown(state)}")
        packed, time, awake, newest, own, values, view, version = state
        own = self.check_own(own)
        time, newest, version = check_state(
            (time, newest, version), float, (0, self.frames.num_frames - 1), (0, 2**31 - 1))
        if version != libmujoco.mjVERSION_HEADER:
            raise ValueError(f"expected a state of MuJoCo {libmujoco.mjVERSION_HEADER}, got one of {version}")
        awake = check_state(awake, (0, m.ntree), (0, m.nbody), (0, m.nbody), (0, m.nv))
        view = self.camera.checked(view)
        if self.variation is not None:
            values = self.variation.checked(values)
        elif values is not None:
            raise ValueError(f"expected None where nothing is randomized, got {shown(values)}")
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
        d.ntree_awake, d.nbody_awake, d.nparent_awake, d.nv_awake = awake
        return self.load_own(own)

    cdef int copy_from(self, Env other) except -1 nogil:
        cdef mjData* d = self.data
        cdef const mjData* from_data = (<Simulation>other).data
        if self.model.nplugin > 0:
            raise NotImplementedError("copy: the model has plug-ins of MuJoCo's, with data of their own")
        if self.camera.sees_contacts:
            raise NotImplementedError("copy: the contacts that visual_options has drawn are not in a state")
        if self.variation is not None:
            self.variation.copy_from((<Simulation>other).variation, d)
        memcpy(d.buffer, from_data.buffer, d.nbuffer)
        self.frames.copy_from((<Simulation>other).frames)
        self.camera.copy_from((<Simulation>other).camera)
        d.time = from_data.time
        d.ntree_awake, d.nbody_awake = from_data.ntree_awake, from_data.nbody_awake
        d.nparent_awake, d.nv_awake = from_data.nparent_awake, from_data.nv_awake
        return self.copy_own(<Simulation>other)

    cdef int _vary(self, values) except -1:
        """Makes the model that of a saved state; what it computes is overwritten. Another one stays as it was."""
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
