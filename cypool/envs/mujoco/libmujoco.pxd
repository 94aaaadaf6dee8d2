"""MuJoCo's C interface, as far as it is used; names as in MuJoCo's headers, which say what each field is."""
from libc.stdint cimport int64_t


cdef extern from "mujoco/mujoco.h" nogil:
    enum:
        mjVERSION_HEADER
        mjNWARNING
        mjNVISFLAG
        mjCAMERA_FREE
        mjCAMERA_FIXED
        mjVIS_CONTACTPOINT
        mjVIS_ISLAND
        mjVIS_CONTACTFORCE
        mjVIS_CONTACTSPLIT

    enum mjtWarning:
        mjWARN_BADQPOS
        mjWARN_BADQVEL
        mjWARN_BADQACC
        mjWARN_BADCTRL

    enum mjtObj:
        mjOBJ_UNKNOWN
        mjOBJ_BODY
        mjOBJ_JOINT
        mjOBJ_GEOM
        mjOBJ_SITE
        mjOBJ_CAMERA
        mjOBJ_TENDON
        mjOBJ_ACTUATOR

    ctypedef struct mjOption:
        double timestep

    ctypedef struct mjStatistic:
        double extent

    ctypedef struct mjModel:
        int64_t nq, nv, nu, na, nbody, njnt, ngeom, nsite, ncam, ntendon, ntree
        int nplugin
        mjOption opt
        mjStatistic stat
        double* qpos0
        double* body_mass
        unsigned char* actuator_ctrllimited
        double* actuator_ctrlrange

    ctypedef struct mjWarningStat:
        int lastinfo, number

    ctypedef struct mjData:
        int64_t nbuffer
        mjWarningStat* warning
        double time
        int ntree_awake, nbody_awake, nparent_awake, nv_awake
        void* buffer
        double* qpos
        double* qvel
        double* act
        double* ctrl
        double* qacc
        double* userdata
        double* sensordata
        double* xpos
        double* xquat
        double* xmat
        double* xipos
        double* geom_xpos
        double* site_xpos
        double* site_xmat
        double* subtree_com
        double* cinert
        double* ten_length
        double* ten_velocity
        double* actuator_force
        double* cvel
        double* qfrc_actuator
        double* qfrc_constraint
        double* cfrc_ext

    ctypedef struct mjvCamera:
        int type, fixedcamid, trackbodyid
        double lookat[3]
        double distance, azimuth, elevation
        int orthographic

    ctypedef struct mjvOption:
        unsigned char* flags

    int mj_version() noexcept
    void mj_deleteModel(mjModel* m) noexcept
    void mj_deleteData(mjData* d) noexcept
    int mj_name2id(const mjModel* m, int type, const char* name) noexcept
    const char* mj_id2name(const mjModel* m, int type, int id) noexcept
    void mjv_defaultCamera(mjvCamera* cam) noexcept
    void mjv_defaultOption(mjvOption* opt) noexcept
