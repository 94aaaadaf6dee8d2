# Pictures of an environment, as Gymnasium's `MujocoRenderer` makes them.
import weakref

import numpy as np

from cypool.util.arguments import check_float, shown
from cypool.state import check_state

from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.algorithm cimport sort
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco cimport libmujoco
from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel, mjvCamera, mjvOption

cdef extern from "cypool/envs/shared/mujoco/gl.h" namespace "cypool":
    # finds the libraries: nothing else needs them
    string open_gl() except +

cdef extern from "cypool/envs/shared/mujoco/gl_contexts.h" namespace "cypool":
    cdef cppclass GlContextPool:
        GlContextPool(const mjModel* m, int width, int height, int max_geom) except +
        void draw(const mjModel* m, mjData* d, mjvCamera* camera, const mjvOption* option, cbool shadows,
                  unsigned char* out) except + nogil
        size_t count() except +

# those in use, by model and sizes
_renderers = weakref.WeakValueDictionary()


cdef class Renderer:
    """Draws environments of one model, in one size.

    Thread safety: any number of threads; each holds a context while it draws.
    """
    cdef Model model
    cdef unique_ptr[GlContextPool] gl_contexts
    cdef object __weakref__

    def __init__(self, Model model, int width, int height, int max_geom):
        self.model = model
        self.gl_contexts.reset(new GlContextPool(model.mj, width, height, max_geom))


cdef Renderer _renderer_of(Model model, int width, int height, int max_geom):
    """Returns the renderer for this model and size, which all environments share.

    Raises:
        ImportError: OpenGL is missing.
        RuntimeError: OpenGL was used before this process was forked.
    """
    cdef string missing = open_gl()
    if missing.size() > 0:
        raise ImportError(
            f"rendering MuJoCo's robots requires headless OpenGL (EGL or OSMesa): {missing.decode()}. On Debian "
            "and Ubuntu: apt install libegl1 libgl1-mesa-dri (or libosmesa6); on Fedora: dnf install mesa-libEGL "
            "mesa-dri-drivers; to choose one, set the environment variable MUJOCO_GL to egl or osmesa")
    key = id(model), width, height, max_geom
    renderer = _renderers.get(key)
    if renderer is None:
        renderer = _renderers[key] = Renderer(model, width, height, max_geom)
    return renderer


def contexts():
    """Returns the number of idle OpenGL contexts: for tests."""
    cdef Renderer renderer
    total = 0
    for renderer in list(_renderers.values()):
        total += renderer.gl_contexts.get().count()
    return total


cdef class Camera:
    """The camera of an environment.

    As in Gymnasium, a camera that the model does not define points at the median of all positions when the first
    picture is taken, and stays there.

    Thread safety: any thread, one at a time; `set_up`, `save` and `load` with the GIL.
    """

    def __init__(self, Model loaded, options):
        cdef unsigned char* flags = self.option.flags
        self.loaded = loaded
        self.width, self.height, self.max_geom = options["width"], options["height"], options["max_geom"]
        self.shadows = options["shadows"]
        settings = options.get("default_camera_config", {})
        self.has_lookat, self.has_distance = "lookat" in settings, "distance" in settings
        if options["camera_name"] is not None:
            fixed = loaded.find(libmujoco.mjOBJ_CAMERA, options["camera_name"])
        else:
            fixed = -1 if options["camera_id"] is None else options["camera_id"]
        libmujoco.mjv_defaultOption(&self.option)
        # as since MuJoCo 3.3.6: islands are not in a state
        flags[libmujoco.mjVIS_ISLAND] = 0
        for flag, value in (options["visual_options"] or {}).items():
            flags[<int>flag] = value
        self.sees_contacts = (flags[libmujoco.mjVIS_CONTACTPOINT] or flags[libmujoco.mjVIS_CONTACTFORCE]
                              or flags[libmujoco.mjVIS_CONTACTSPLIT] or flags[libmujoco.mjVIS_ISLAND])
        libmujoco.mjv_defaultCamera(&self.view)
        self.view.lookat = settings.get("lookat", self.view.lookat)
        self.view.distance = settings.get("distance", self.view.distance)
        self.view.azimuth = settings.get("azimuth", self.view.azimuth)
        self.view.elevation = settings.get("elevation", self.view.elevation)
        self.view.trackbodyid = settings.get("trackbodyid", self.view.trackbodyid)
        self.view.orthographic = settings.get("orthographic", self.view.orthographic)
        # whatever the settings say, as in Gymnasium
        self.view.type = libmujoco.mjCAMERA_FREE if fixed < 0 else libmujoco.mjCAMERA_FIXED
        self.view.fixedcamid = fixed

    cdef int set_up(self) except -1:
        if self.renderer is None:
            self.renderer = _renderer_of(self.loaded, self.width, self.height, self.max_geom)
        return 0

    cdef int set_viewpoint(self, const mjModel* model, const mjData* data) except -1 nogil:
        cdef vector[double] places
        cdef size_t middle = model.ngeom // 2
        cdef int64_t k
        cdef int axis
        if self.viewpoint_set:
            return 0
        self.viewpoint_set = True
        if not self.has_distance:
            self.view.distance = model.stat.extent
        if self.has_lookat or model.ngeom == 0:
            return 0
        for axis in range(3):
            places.clear()
            for k in range(model.ngeom):
                places.push_back(data.geom_xpos[3 * k + axis])
            # np.median
            sort(places.begin(), places.end())
            self.view.lookat[axis] = places[middle]
            if model.ngeom % 2 == 0:
                self.view.lookat[axis] = (places[middle - 1] + places[middle]) / 2
        return 0

    cdef void set_default(self, const mjModel* model) noexcept nogil:
        if self.view.type == libmujoco.mjCAMERA_FREE:
            libmujoco.mjv_defaultFreeCamera(model, &self.view)

    cdef int render_into(self, const mjModel* model, mjData* data, unsigned char* out) except -1 nogil:
        cdef GlContextPool* gl_contexts = (<Renderer>self.renderer).gl_contexts.get()
        gl_contexts.draw(model, data, &self.view, &self.option, self.shadows, out)
        return 0

    cdef object save(self):
        """Returns the position of the camera, or None if it is not set yet."""
        return (tuple(self.view.lookat), self.view.distance) if self.viewpoint_set else None

    cdef object checked(self, object state):
        if state is None:
            return None
        if not isinstance(state, tuple) or len(state) != 2:
            raise ValueError(f"expected the position of the camera, got {shown(state)}")
        lookat, distance = state
        return check_state(lookat, float, float, float), check_float("distance", distance, -1e300, 1e300)

    cdef int load(self, object state) except -1:
        self.viewpoint_set = state is not None
        if self.viewpoint_set:
            lookat, self.view.distance = state
            self.view.lookat = lookat
        return 0

    cdef void copy_from(self, Camera other) noexcept nogil:
        self.viewpoint_set = other.viewpoint_set
        if self.viewpoint_set:
            memcpy(self.view.lookat, other.view.lookat, sizeof(self.view.lookat))
            self.view.distance = other.view.distance
