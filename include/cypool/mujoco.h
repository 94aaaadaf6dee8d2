// MuJoCo's names without its headers, for whichever version is installed: structs are views, pointers into those of the
// library, taken once; functions and numbers are those of the library that cypool has loaded.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

using mjtNum = double;
using mjtObj = int;

// ---- the parts that cypool uses: their one table

// clang-format off

// numbers that are the same in all versions; compared when the library is loaded
#define CYPOOL_MUJOCO_CONSTANTS(X)                                                                              \
    X(mjEQ_WELD, 1) X(mjCAMERA_FREE, 0) X(mjCAMERA_FIXED, 2) X(mjVIS_CONTACTPOINT, 14) X(mjVIS_ISLAND, 15)      \
    X(mjVIS_CONTACTFORCE, 16) X(mjVIS_CONTACTSPLIT, 17) X(mjOBJ_UNKNOWN, 0) X(mjOBJ_BODY, 1) X(mjOBJ_JOINT, 3)  \
    X(mjOBJ_GEOM, 5) X(mjOBJ_SITE, 6) X(mjOBJ_CAMERA, 7) X(mjOBJ_LIGHT, 8) X(mjOBJ_TENDON, 18)                  \
    X(mjOBJ_ACTUATOR, 19) X(mjOBJ_SENSOR, 20) X(mjJNT_FREE, 0) X(mjJNT_BALL, 1) X(mjJNT_SLIDE, 2)               \
    X(mjJNT_HINGE, 3) X(mjSENS_ACCELEROMETER, 1) X(mjSENS_GYRO, 3) X(mjSENS_FORCE, 4) X(mjSENS_TORQUE, 5)       \
    X(mjSENS_RANGEFINDER, 7) X(mjINT_RK4, 1) X(mjFB_OFFSCREEN, 1) X(mjFONTSCALE_150, 150) X(mjCAT_ALL, 7)       \
    X(mjRND_SHADOW, 0)
// numbers that differ between versions, of enumerations and macros
#define CYPOOL_MUJOCO_NUMBERS(X)                                                                        \
    X(mjNWARNING) X(mjNVISFLAG) X(mjNEQDATA) X(mjNGAIN) X(mjNBIAS) X(mjWARN_BADQPOS) X(mjWARN_BADQVEL)  \
    X(mjWARN_BADQACC) X(mjWARN_BADCTRL) X(mjDSBL_ACTUATION) X(mjDSBL_SENSOR) X(mjSTATE_INTEGRATION)
// fields of mjModel and mjData: sizes, and arrays of one type in all versions
#define CYPOOL_MUJOCO_SIZES(X)                                                                         \
    X(nq) X(nv) X(nu) X(na) X(nbody) X(njnt) X(ngeom) X(nsite) X(ncam) X(ntendon) X(ntree) X(nsensor)  \
    X(nsensordata) X(neq) X(nplugin) X(nhfield) X(narena) X(nmocap) X(npair) X(nflex)
#define CYPOOL_MUJOCO_MODEL(X)                                                                                    \
    X(double, qpos0) X(double, body_mass) X(double, body_subtreemass) X(double, body_pos) X(double, body_quat)    \
    X(int, jnt_type) X(int, jnt_qposadr) X(int, jnt_dofadr) X(unsigned char, jnt_limited) X(double, jnt_range)    \
    X(double, jnt_stiffness) X(double, dof_damping) X(double, geom_size) X(double, geom_pos)                      \
    X(double, site_size) X(double, site_pos) X(double, light_pos) X(double, wrap_prm) X(float, hfield_data)       \
    X(double, hfield_size) X(int, hfield_nrow) X(int, sensor_type) X(int, sensor_adr) X(int, sensor_dim)          \
    X(int, body_mocapid) X(int, eq_type) X(int, eq_obj1id) X(int, eq_obj2id) X(double, eq_data)                   \
    X(int, actuator_biastype) X(int, actuator_trnid) X(double, actuator_gainprm) X(double, actuator_biasprm)      \
    X(float, geom_rgba) X(float, site_rgba) X(unsigned char, actuator_ctrllimited) X(double, actuator_ctrlrange)  \
    X(int, geom_bodyid) X(int, geom_contype) X(int, geom_conaffinity) X(double, geom_margin) X(double, geom_quat) \
    X(double, geom_rbound) X(int, site_bodyid) X(double, site_quat) X(unsigned char, site_sameframe)
#define CYPOOL_MUJOCO_DATA(X)                                                                                 \
    X(double, qpos) X(double, qvel) X(double, act) X(double, ctrl) X(double, qacc) X(double, userdata)        \
    X(double, sensordata) X(double, mocap_pos) X(double, mocap_quat) X(double, xpos) X(double, xquat)         \
    X(double, xmat) X(double, xipos) X(double, xanchor) X(double, geom_xpos) X(double, geom_xmat)             \
    X(double, site_xpos) X(double, site_xmat) X(double, subtree_com) X(double, cinert) X(double, ten_length)  \
    X(double, ten_velocity) X(double, actuator_force) X(double, cvel) X(double, qfrc_actuator)                \
    X(double, qfrc_constraint) X(double, cfrc_ext) X(char, buffer)
// fields of any struct, under a name for their place, with their type
#define CYPOOL_MUJOCO_PLACES(X)                                                                                 \
    X(double, opt_timestep, "mjModel.opt.timestep") X(double, opt_gravity, "mjModel.opt.gravity")               \
    X(int, opt_disableflags, "mjModel.opt.disableflags") X(int, opt_enableflags, "mjModel.opt.enableflags")     \
    X(int, opt_integrator, "mjModel.opt.integrator") X(double, stat_extent, "mjModel.stat.extent")              \
    X(int, vis_offwidth, "mjModel.vis.global.offwidth") X(int, vis_offheight, "mjModel.vis.global.offheight")   \
    X(mjWarningStat, warning, "mjData.warning") X(double, time, "mjData.time") X(int, ncon, "mjData.ncon")      \
    X(int, nefc, "mjData.nefc") X(int64_t, nbuffer, "mjData.nbuffer") X(int64_t, data_narena, "mjData.narena")  \
    X(char, arena, "mjData.arena") X(double, efc_force, "mjData.efc_force")                                     \
    X(int, contact_geom, "mjContact.geom") X(int, contact_efc_address, "mjContact.efc_address")                 \
    X(unsigned char, scene_flags, "mjvScene.flags")
// the same, of those that some versions have: bodies sleep since 3.4, a past is kept since 3.5
#define CYPOOL_MUJOCO_LATER_PLACES(X)                                                    \
    X(int, ntree_awake, "mjData.ntree_awake") X(int, nbody_awake, "mjData.nbody_awake")  \
    X(int, nparent_awake, "mjData.nparent_awake") X(int, nv_awake, "mjData.nv_awake")    \
    X(int, tree_asleep, "mjData.tree_asleep") X(double, history, "mjData.history")
// functions of a model and its data, and all others; an unsigned int that became an int is passed alike
#define CYPOOL_MUJOCO_STAGES(X)                                                                                \
    X(mj_step) X(mj_step1) X(mj_step2) X(mj_forward) X(mj_resetData) X(mj_rnePostConstraint) X(mj_kinematics)  \
    X(mj_collision) X(mj_camlight) X(mj_comPos) X(mj_checkPos) X(mj_checkVel) X(mj_fwdPosition)                \
    X(mj_fwdVelocity) X(mj_fwdActuation) X(mj_fwdAcceleration) X(mj_fwdConstraint) X(mj_makeConstraint)        \
    X(mj_island) X(mj_projectConstraint) X(mj_referenceConstraint)
#define CYPOOL_MUJOCO_FUNCTIONS(X)                                                                                   \
    X(int, mj_version, ())                                                                                           \
    X(void, mj_setConst, (RawModel* m, RawData* d))                                                                  \
    X(RawData*, mj_makeData, (const RawModel* m))                                                                    \
    X(RawModel*, mj_loadXML, (const char* file, const mjVFS* vfs, char* error, int size))                            \
    X(int, mj_name2id, (const RawModel* m, int type, const char* name))                                              \
    X(const char*, mj_id2name, (const RawModel* m, int type, int id))                                                \
    X(const char*, mju_type2Str, (int type))                                                                         \
    X(void, mju_axisAngle2Quat, (double* res, const double* axis, double angle))                                     \
    X(void*, mju_malloc, (size_t size))                                                                              \
    X(void, mju_free, (void* place))                                                                                 \
    X(void, mj_defaultVFS, (mjVFS* vfs))                                                                             \
    X(void, mj_deleteVFS, (mjVFS* vfs))                                                                              \
    X(int, mj_addBufferVFS, (mjVFS* vfs, const char* name, const void* buffer, int size))                            \
    X(void, mj_jacSite, (const RawModel* m, const RawData* d, double* jacp, double* jacr, int site))                 \
    X(void, mj_objectVelocity, (const RawModel* m, const RawData* d, int type, int id, double* res, int local))      \
    X(int, mj_stateSize, (const RawModel* m, int signature))                                                         \
    X(void, mj_getState, (const RawModel* m, const RawData* d, double* state, int signature))                        \
    X(void, mj_setState, (const RawModel* m, RawData* d, const double* state, int signature))                        \
    X(void, mj_local2Global,                                                                                         \
      (RawData* d, double* xpos, double* xmat, const double* pos, const double* quat, int body,                      \
       unsigned char same))                                                                                          \
    X(void, mjv_defaultFreeCamera, (const RawModel* m, mjvCamera* camera))                                           \
    X(void, mjv_defaultCamera, (mjvCamera* camera))                                                                  \
    X(void, mjv_defaultOption, (mjvOption* option))                                                                  \
    X(void, mjv_defaultPerturb, (mjvPerturb* perturb))                                                               \
    X(void, mjv_defaultScene, (mjvScene* scene))                                                                     \
    X(void, mjv_makeScene, (const RawModel* m, mjvScene* scene, int max_geom))                                       \
    X(void, mjv_freeScene, (mjvScene* scene))                                                                        \
    X(void, mjv_updateScene,                                                                                         \
      (const RawModel* m, RawData* d, const mjvOption* option, const mjvPerturb* perturb, mjvCamera* camera,         \
       int categories, mjvScene* scene))                                                                             \
    X(void, mjr_defaultContext, (mjrContext* context))                                                               \
    X(void, mjr_makeContext, (const RawModel* m, mjrContext* context, int font_scale))                               \
    X(void, mjr_freeContext, (mjrContext* context))                                                                  \
    X(void, mjr_setBuffer, (int buffer, mjrContext* context))                                                        \
    X(void, mjr_uploadHField, (const RawModel* m, const mjrContext* context, int id))                                \
    X(void, mjr_render, (mjrRect viewport, mjvScene* scene, const mjrContext* context))                              \
    X(void, mjr_readPixels, (unsigned char* rgb, float* depth, mjrRect viewport, const mjrContext* context))

// clang-format on

enum CypoolMujocoConstants {
#define X(name, value) name = value,
    CYPOOL_MUJOCO_CONSTANTS(X)
#undef X
};

// ---- structs of one layout in all versions, of which as much as is used; compared when the library is loaded

struct mjWarningStat {
    int lastinfo, number;
};
struct mjvCamera {
    int type, fixedcamid, trackbodyid;
    double lookat[3];
    double distance, azimuth, elevation;
    int orthographic;
};
// the last two have room for more than any version needs
struct mjvOption {
    alignas(8) char before[50];
    unsigned char flags[78];
};
struct mjvPerturb {
    alignas(8) char bytes[256];
};
struct mjrRect {
    int left, bottom, width, height;
};
struct mjVFS {
    void* impl;
};
struct mjLogMessage {
    int level, topic;
    char subject[1];  // and more
};
// clang-format off
#define CYPOOL_MUJOCO_SAME(X)                                                                                   \
    X(mjWarningStat, number) X(mjvCamera, type) X(mjvCamera, lookat) X(mjvCamera, distance)                     \
    X(mjvCamera, azimuth) X(mjvCamera, elevation) X(mjvCamera, orthographic) X(mjvOption, flags)                \
    X(mjLogMessage, level) X(mjLogMessage, subject)
// clang-format on

// ---- the library

struct mjModel;
struct mjData;
struct mjvScene;
struct mjrContext;

namespace cypool {

// MuJoCo's own structs, whose layout depends on the version
struct RawModel;
struct RawData;

// where a field is; none: offset < 0
struct Place {
    int64_t offset = -1;
    int64_t bytes = 0;  // of one of its numbers, or of those that it points to
};

// an array that mjModel or mjData points to, or an option in mjModel
struct ArrayField {
    std::string name;
    int64_t offset = 0;
    char type = 0;  // d, f, i, or another one, which is not used in calculations
    int64_t item_bytes = 0;
    std::string rows, columns;  // names of sizes; "": a number
    int64_t factor = 1;         // of the columns
    bool is_option = false;
    bool is_source = false, is_derived = false;  // as in `Field`
};

struct Library {
    int version = 0;  // as mjVERSION_HEADER: 337, 3017000
    int64_t model_bytes = 0, data_bytes = 0, scene_bytes = 0, context_bytes = 0, contact_bytes = 0;
    Place solver;                         // the statistics in mjData, all their bytes
    std::vector<ArrayField> model, data;  // options are behind the arrays
    bool derived_is_known = false;        // whether `model` says which arrays mj_setConst reads and writes
    std::vector<std::string> warnings;    // the names of mjtWarning
    int mjENBL_SLEEP = 0;                 // 0: no body sleeps, before 3.4
#define X(name) int name = 0;
    CYPOOL_MUJOCO_NUMBERS(X)
#undef X
#define X(name) Place name;
    CYPOOL_MUJOCO_SIZES(X)
#undef X
#define X(type, name) Place name;
    CYPOOL_MUJOCO_MODEL(X)
    CYPOOL_MUJOCO_DATA(X)
#undef X
#define X(type, name, field) Place name;
    CYPOOL_MUJOCO_PLACES(X)
    CYPOOL_MUJOCO_LATER_PLACES(X)
    X(char, contact, "mjData.contact")
#undef X
#define X(name) void (*name)(const RawModel* m, RawData* d) = nullptr;
    CYPOOL_MUJOCO_STAGES(X)
#undef X
#define X(result, name, parameters) result(*name) parameters = nullptr;
    CYPOOL_MUJOCO_FUNCTIONS(X)
#undef X
    std::unordered_map<std::string, Place> sizes;  // all of mjModel's, by their names
    void (*mj_deleteModel)(RawModel* m) = nullptr;
    void (*mj_deleteData)(RawData* d) = nullptr;
    double (**mjcb_time)() = nullptr;
    void (**mjcb_control)(const RawModel* m, RawData* d) = nullptr;
    // handlers of errors and warnings in a thread: one since 3.10, two before
    using LogHandler = void (*)(const mjLogMessage*);
    using TextHandler = void (*)(const char*);
    LogHandler (*set_log_handler)(LogHandler) = nullptr;  // returns the one before
    TextHandler (*get_error_handler)() = nullptr;
    TextHandler (*get_warning_handler)() = nullptr;
    void (*set_error_handler)(TextHandler) = nullptr;
    void (*set_warning_handler)(TextHandler) = nullptr;

    // nullptr: this version has no such size
    const Place* size(const std::string& name) const {
        const auto found = sizes.find(name);
        return found == sizes.end() ? nullptr : &found->second;
    }
};

// where `cypool.envs.shared.mujoco.library` has put it; the end is the size of a Library, so that code that was
// compiled for another one finds none
inline std::atomic<const Library*> the_library = nullptr;
inline const Library& find_library() {
    const PyGILState_STATE state = PyGILState_Ensure();
    const std::string name = "cypool.envs.shared.mujoco.library.LIBRARY_" + std::to_string(sizeof(Library));
    const void* const found = PyCapsule_Import(name.c_str(), 0);
    if (!found) Py_FatalError("MuJoCo's environments: expected a module that was compiled for this cypool");
    PyGILState_Release(state);
    the_library.store(static_cast<const Library*>(found), std::memory_order_release);
    return *static_cast<const Library*>(found);
}
inline const Library& library() {
    const Library* const found = the_library.load(std::memory_order_acquire);
    return __builtin_expect(found != nullptr, 1) ? *found : find_library();
}

template <class T, class Raw> T& at(Raw* raw, const Place& place) {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(const_cast<std::remove_const_t<Raw>*>(raw)) + place.offset);
}
template <class Raw> int64_t integer_at(Raw* raw, const Place& place) {
    return place.bytes == 4 ? at<int32_t>(raw, place) : at<int64_t>(raw, place);
}

}  // namespace cypool

// ---- views

struct mjModel {
    explicit mjModel(cypool::RawModel* mujocos)
        : raw(mujocos),
          opt{at<double>(cypool::library().opt_timestep), &at<double>(cypool::library().opt_gravity),
              at<int>(cypool::library().opt_disableflags), at<int>(cypool::library().opt_enableflags),
              at<int>(cypool::library().opt_integrator)},
          stat{at<double>(cypool::library().stat_extent)} {
        look();
    }
    mjModel(const mjModel&) = delete;
    void operator=(const mjModel&) = delete;

    // Reads the sizes and addresses of the arrays, again after the model was given others.
    void look() {
        const cypool::Library& l = cypool::library();
#define X(name) name = cypool::integer_at(raw, l.name);
        CYPOOL_MUJOCO_SIZES(X)
#undef X
#define X(type, name) name = at<type*>(l.name);
        CYPOOL_MUJOCO_MODEL(X)
#undef X
    }

    cypool::RawModel* raw;
    struct Option {
        double& timestep;
        double* gravity;
        int &disableflags, &enableflags, &integrator;
    } opt;
    struct Statistic {
        double& extent;
    } stat;
#define X(name) int64_t name;
    CYPOOL_MUJOCO_SIZES(X)
#undef X
#define X(type, name) type* name;
    CYPOOL_MUJOCO_MODEL(X)
#undef X

private:
    template <class T> T& at(const cypool::Place& place) const { return cypool::at<T>(raw, place); }
};

struct mjData {
    explicit mjData(cypool::RawData* mujocos)
        : raw(mujocos),
          time(at<double>(cypool::library().time)),
          ncon(at<int>(cypool::library().ncon)),
          nefc(at<int>(cypool::library().nefc)),
          nbuffer(cypool::integer_at(mujocos, cypool::library().nbuffer)),
          narena(at<int64_t>(cypool::library().data_narena)),
          arena(at<void*>(cypool::library().arena)),
          efc_force(at<double*>(cypool::library().efc_force)),
          warning(&at<mjWarningStat>(cypool::library().warning)) {
        const cypool::Library& l = cypool::library();
#define X(type, name) name = at<type*>(l.name);
        CYPOOL_MUJOCO_DATA(X)
#undef X
    }
    mjData(const mjData&) = delete;
    void operator=(const mjData&) = delete;

    cypool::RawData* raw;
    double& time;
    int &ncon, &nefc;
    const int64_t nbuffer;
    int64_t& narena;
    void*& arena;
    double*& efc_force;
    mjWarningStat* warning;
#define X(type, name) type* name;
    CYPOOL_MUJOCO_DATA(X)
#undef X

private:
    template <class T> T& at(const cypool::Place& place) const { return cypool::at<T>(raw, place); }
};

// a contact; the addresses of contacts change with each step
struct mjContact {
    int geom[2];
    int efc_address;
};
inline mjContact contact_of(const mjData* d, int k) {
    const cypool::Library& l = cypool::library();
    const char* const contact = cypool::at<const char*>(d->raw, l.contact) + k * l.contact_bytes;
    const int* const geom = &cypool::at<int>(contact, l.contact_geom);
    return {{geom[0], geom[1]}, cypool::at<int>(contact, l.contact_efc_address)};
}

// ---- functions, which take views, too

namespace cypool {

template <class T> T raw_of(T value) { return value; }
inline const RawModel* raw_of(const mjModel* m) { return m->raw; }
inline RawModel* raw_of(mjModel* m) { return m->raw; }
inline const RawData* raw_of(const mjData* d) { return d->raw; }
inline RawData* raw_of(mjData* d) { return d->raw; }

}  // namespace cypool

#define X(result, name, parameters) \
    template <class... Values> auto name(Values... values) { return cypool::library().name(cypool::raw_of(values)...); }
CYPOOL_MUJOCO_FUNCTIONS(X)
#undef X
#define X(name) \
    inline void name(const mjModel* m, mjData* d) { cypool::library().name(m->raw, d->raw); }
CYPOOL_MUJOCO_STAGES(X)
#undef X
inline void mj_deleteModel(mjModel* m) {
    if (m) cypool::library().mj_deleteModel(m->raw);
    delete m;
}
inline void mj_deleteData(mjData* d) {
    if (d) cypool::library().mj_deleteData(d->raw);
    delete d;
}
