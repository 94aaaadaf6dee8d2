"""MuJoCo's calls that may fail: where MuJoCo would end the process, an exception comes out.

MuJoCo reports errors and warnings through a handler of the thread. After an error it goes no further than the handler,
so that has to leave by a jump. Nothing is printed, and no log file written.
"""
from libcpp.string cimport string

from cypool.envs.mujoco.libmujoco cimport mjData, mjModel

cdef extern from "cypool/envs/mujoco/guard.h":
    mjModel* load_xml "cypool::load_xml"(const string& path, string& warning) except +
    mjData* make_data "cypool::make_data"(const mjModel* m, bint with_arena) except +
    void reset_data "cypool::reset_data"(const mjModel* m, mjData* d) except + nogil
    int forward "cypool::forward"(const mjModel* m, mjData* d) except + nogil
    int simulate "cypool::simulate"(const mjModel* m, mjData* d, int frames, bint contact_forces) except + nogil
