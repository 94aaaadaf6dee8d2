"""MuJoCo calls that may fail: where MuJoCo would end the process, they raise an exception.

MuJoCo reports errors and warnings to a per-thread handler. After an error it cannot continue, so the handler has to
jump out. Nothing is printed, and no log file is written.
"""
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.shared.mujoco.libmujoco cimport mjData, mjModel

cdef extern from "cypool/envs/shared/mujoco/guard.h":
    mjModel* load_xml "cypool::load_xml"(const string& path, string& warning) except +
    mjModel* load_xml_text "cypool::load_xml_text"(const string& text,
                                                   const vector[pair[string, string]]& files) except +
    mjData* make_data "cypool::make_data"(const mjModel* m, bint with_arena) except +
    void reset_data "cypool::reset_data"(const mjModel* m, mjData* d) except + nogil
    int forward "cypool::forward"(const mjModel* m, mjData* d) except + nogil
    int simulate "cypool::simulate"(const mjModel* m, mjData* d, int frames, bint contact_forces) except + nogil
    # the same; sensors are computed in the last step, if they are seen, else in none: the struct has to be its own
    int simulate_unseen "cypool::simulate_unseen"(mjModel* m, mjData* d, int frames, bint seen) except + nogil
    # a forward with the controls there are, then a step with others
    int forward_and_step "cypool::forward_and_step"(const mjModel* m, mjData* d, const double* ctrl) except + nogil
    # of an environment with a separate arena, as dm_control calls MuJoCo: each warning is an exception
    void forward_passive "cypool::forward_passive"(mjModel* m, mjData* d) except + nogil
    void restart "cypool::restart"(mjModel* m, mjData* d) except + nogil
    void advance "cypool::advance"(const mjModel* m, mjData* d, int steps, bint legacy) except + nogil
    void fill_arena "cypool::fill_arena"(const mjModel* m, mjData* d) except + nogil
    int count_contacts "cypool::count_contacts"(const mjModel* m, mjData* d) except + nogil
