"""OpenGL without a window or a display: EGL, or OSMesa. The libraries are looked for when something is to be drawn, and
nothing else needs them.
"""
from libcpp.string cimport string

cdef extern from "cypool/envs/shared/mujoco/gl.h":
    string open_gl "cypool::open_gl"() except +
