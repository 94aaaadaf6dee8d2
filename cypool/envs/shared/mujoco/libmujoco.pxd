"""The parts of MuJoCo's C interface that are used, named as in MuJoCo's headers, which describe each field."""
from libc.stdint cimport int64_t


cdef extern from "cypool/mujoco.h" nogil:
    enum:
        mjEQ_WELD, mjCAMERA_FREE, mjCAMERA_FIXED, mjVIS_CONTACTPOINT, mjVIS_ISLAND, mjVIS_CONTACTFORCE
        mjVIS_CONTACTSPLIT
        mjOBJ_UNKNOWN, mjOBJ_BODY, mjOBJ_JOINT, mjOBJ_GEOM, mjOBJ_SITE, mjOBJ_LIGHT, mjOBJ_CAMERA, mjOBJ_SENSOR
        mjOBJ_TENDON, mjOBJ_ACTUATOR
        mjJNT_FREE, mjJNT_BALL, mjJNT_SLIDE, mjJNT_HINGE
        mjSENS_ACCELEROMETER, mjSENS_GYRO, mjSENS_FORCE, mjSENS_TORQUE, mjSENS_RANGEFINDER

    # of the version that is installed
    int mjNEQDATA "cypool::library().mjNEQDATA"
    int mjNGAIN "cypool::library().mjNGAIN"
    int mjNBIAS "cypool::library().mjNBIAS"

    ctypedef struct mjOption "mjModel::Option":
        double timestep
        double* gravity

    ctypedef struct mjStatistic "mjModel::Statistic":
        double extent

    ctypedef struct mjModel:
        int64_t nq, nv, nu, na, nbody, njnt, ngeom, nsite, ncam, ntendon, ntree, nsensor, nsensordata, nplugin
        mjOption opt
        mjStatistic stat
        double* qpos0
        double* body_mass
        double* body_subtreemass
        double* body_pos
        double* body_quat
        int* jnt_type
        int* jnt_qposadr
        int* jnt_dofadr
        unsigned char* jnt_limited
        double* jnt_range
        double* jnt_stiffness
        double* dof_damping
        double* geom_size
        double* geom_pos
        double* geom_quat
        double* site_size
        double* site_pos
        double* light_pos
        double* wrap_prm
        float* hfield_data
        double* hfield_size
        int* hfield_nrow
        int* sensor_type
        int* sensor_adr
        int* sensor_dim
        int64_t neq
        int* body_mocapid
        int* eq_type
        int* eq_obj1id
        int* eq_obj2id
        double* eq_data
        int* actuator_biastype
        int* actuator_trnid
        double* actuator_gainprm
        double* actuator_biasprm
        float* geom_rgba
        float* site_rgba
        unsigned char* actuator_ctrllimited
        double* actuator_ctrlrange

    ctypedef struct mjWarningStat:
        int lastinfo, number

    ctypedef struct mjData:
        int64_t nbuffer
        mjWarningStat* warning
        double time
        int ncon
        void* buffer
        double* qpos
        double* qvel
        double* act
        double* ctrl
        double* qacc
        double* userdata
        double* sensordata
        double* mocap_pos
        double* mocap_quat
        double* xpos
        double* xquat
        double* xmat
        double* xipos
        double* xanchor
        double* geom_xpos
        double* geom_xmat
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
    const char* mju_type2Str(int type) noexcept
    void mju_axisAngle2Quat(double* res, const double* axis, double angle) noexcept
    void mj_kinematics(const mjModel* m, mjData* d) noexcept
    void mj_local2Global(mjData* d, double* xpos, double* xmat, const double* pos, const double* quat, int body,
                         unsigned char same) noexcept
    void mj_collision(const mjModel* m, mjData* d) noexcept
    void mj_jacSite(const mjModel* m, const mjData* d, double* jacp, double* jacr, int site) noexcept
    void mj_objectVelocity(const mjModel* m, const mjData* d, int objtype, int objid, double* res,
                           int flg_local) noexcept
    void mjv_defaultFreeCamera(const mjModel* m, mjvCamera* cam) noexcept
    void mjv_defaultCamera(mjvCamera* cam) noexcept
    void mjv_defaultOption(mjvOption* opt) noexcept
