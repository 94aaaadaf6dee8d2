// What lanes need of a model, computed once for each; and which models lanes can step.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cypool/envs/shared/mujoco/guard.h"
#include "cypool/envs/shared/mujoco/saved.h"

namespace cypool::lanes {

// sizes up to which lanes have room
enum Most {
    MAX_BODIES = 64,
    MAX_DOFS = 60,  // with more, MuJoCo's matrices are sparse
    MAX_JOINTS = 60,
    MAX_POSITIONS = 80,
    MAX_GEOMS = 256,  // that may touch and are no planes and walls
    MAX_BOXES = 256,
    MAX_INERTIA = 1000,  // of the sparse inertia matrix
    MAX_CONTROLS = 60,
    MAX_SITES = 128,
    MAX_TENDONS = 64,
    MAX_TENDON_JOINTS = 8,
    MAX_PAIRS = 4096,
    MAX_ROWS = 320,      // of constraints
    MAX_DUAL_ROWS = 160  // of those that PGS solves
};
using Dofs = uint64_t;  // some degrees of freedom, bit by bit
// numbers of MuJoCo's enumerations in the versions of `PROVEN`; no others are stepped in lanes
enum Frame { SAME_NONE, SAME_BODY, SAME_INERTIA, SAME_BODY_ROTATION, SAME_INERTIA_ROTATION };
enum Shape { PLANE = 0, HFIELD = 1, SPHERE = 2, CAPSULE = 3, CYLINDER = 5, BOX = 6, MESH = 7, NUM_SHAPES = 9 };
enum Solver { GAUSS_SEIDEL = 0, NEWTON = 2 };
enum Integrator { EULER, RUNGE_KUTTA, IMPLICIT_FAST = 3 };
// what a model may leave out, or have as well
enum Disabled {
    NO_CONSTRAINT = 1 << 0,
    NO_EQUALITY = 1 << 1,
    NO_FRICTIONLOSS = 1 << 2,
    NO_LIMIT = 1 << 3,
    NO_CONTACT = 1 << 4,
    NO_SPRING = 1 << 5,
    NO_DAMPER = 1 << 6,
    NO_GRAVITY = 1 << 7,
    NO_CLAMPCTRL = 1 << 8,
    NO_WARMSTART = 1 << 9,
    NO_FILTERPARENT = 1 << 10,
    NO_ACTUATION = 1 << 11,
    NO_REFSAFE = 1 << 12,
    NO_SENSOR = 1 << 13,
    NO_MIDPHASE = 1 << 14,
    NO_EULERDAMP = 1 << 15,
    NO_AUTORESET = 1 << 16,
    NO_NATIVECCD = 1 << 17,
    NO_ISLAND = 1 << 18,
    NO_MULTICCD = 1 << 19
};
enum Enabled { ENERGY = 1 << 1, INVDISCRETE = 1 << 3 };
enum { AFFINE = 1 };  // the kind of an actuator's bias
enum Transmission { AT_JOINT = 0, AT_TENDON = 3 };
enum Dynamics { NO_DYNAMICS, INTEGRATOR, FILTER, FILTEREXACT };
enum Sensing {
    TOUCH,
    ACCELEROMETER,
    VELOCIMETER,
    GYRO,
    FORCE,
    TORQUE,
    JOINTPOS = 9,
    JOINTVEL,
    TENDONPOS,
    TENDONVEL,
    ACTUATORPOS,
    ACTUATORVEL,
    ACTUATORFRC,
    JOINTACTFRC,
    BALLQUAT = 18,
    BALLANGVEL,
    JOINTLIMITPOS,
    JOINTLIMITVEL,
    JOINTLIMITFRC,
    FRAMEPOS = 26,
    FRAMEQUAT,
    FRAMEXAXIS,
    FRAMEYAXIS,
    FRAMEZAXIS,
    FRAMELINVEL,
    FRAMEANGVEL,
    FRAMELINACC,
    FRAMEANGACC,
    SUBTREECOM,
    SUBTREELINVEL,
    SUBTREEANGMOM
};
// whether MuJoCo senses it after the solver
constexpr bool is_of_forces(int sensor) {
    return sensor == TOUCH || sensor == ACCELEROMETER || sensor == FORCE || sensor == TORQUE || sensor == ACTUATORFRC
           || sensor == JOINTACTFRC || sensor == JOINTLIMITFRC || sensor == FRAMELINACC || sensor == FRAMEANGACC;
}
enum Coupling { CONNECT, WELD, JOINTS, TENDONS };
enum Object { INERTIAL_BODY = 1, BODY = 2, GEOM = 5, SITE = 6 };
enum { JOINT_WRAP = 1, PULLEY_WRAP, SITE_WRAP };  // the kinds of a tendon's parts
inline constexpr int PROVEN[] = {3017000, 4000001};
// whether sums have the order of MuJoCo 4; set before the first model
inline bool is_mujoco_4 = false;

inline constexpr double MIN_IMPEDANCE = 0.0001, MAX_IMPEDANCE = 0.9999, MIN_FRICTION = 1e-5;

// how strongly a constraint pushes back
struct Impedance {
    double stiffness, damping, low, high, width, middle, power, flat, inverse_weight;
    bool is_flat;
    bool operator==(const Impedance&) const = default;
};

struct Body {
    int parent, first_joint, num_joints, first_dof, num_dofs, inertial_frame;
    int root;                    // which of `roots` carries it
    int mocap;                   // -1: none
    bool is_fixed, is_massless;  // nothing moves it; it and what it carries weigh nothing
    bool is_free;                // it moves alone and freely, and the integrator is implicitfast
    double mass, inverse_subtree_mass, subtree_mass, pos[3], quat[4], inertial_pos[3], inertial_quat[4], inertia[3];
    double gravcomp;
    Dofs dofs;  // that move it
};
struct Joint {
    int type, qpos, dof;
    bool is_limited, is_force_limited, acts_gravcomp;
    double axis[3], pos[3], low, high, margin, stiffness, qpos0, qpos_spring;
    double lowest_force, highest_force;  // of its actuators together
    bool is_centered;
    Impedance limit;
};
struct Dof {
    int body, parent, joint, row_size, row_begin;
    bool is_simple;   // its inertia is a constant
    double armature;  // or that constant
    double damping;
    Dofs chain;  // with those that it depends on
    Dofs tree;   // with all that M connects with it
};
// a row of friction of a degree of freedom
struct Friction {
    int dof;
    double force, impedance, R, damping;
};
struct Actuator {
    int dof, qpos;
    int tendon;  // -1: it is at a joint
    bool is_limited, is_affine, is_force_limited;
    double gear, gain, low, high, bias[3], lowest_force, highest_force;
    int act, dynamics;  // its activation; -1: none
    bool is_act_limited, is_early;
    double lowest_act, highest_act;
    double time, share;  // of a filter, and how far one step of an exact one goes
};
// a straight part of a spatial tendon
struct Segment {
    int sites[2], bodies[2];
    Dofs dofs[2];  // that move them; none if nothing changes the length
    double divisor;
};
// the length is a sum of positions of joints, or of distances of sites
struct Tendon {
    int num_joints, joints[MAX_TENDON_JOINTS];
    double coefficients[MAX_TENDON_JOINTS];
    std::vector<Segment> segments;
    int num_dofs, dofs[MAX_DOFS], first_number;  // of those that the Jacobian has, in this order
    double jacobian[MAX_TENDON_JOINTS];          // a constant without segments
    Dofs dof_set;
    double stiffness, spring_low, spring_high;  // between which it is slack
    bool is_limited;
    double low, high, margin;
    Impedance limit;
};
// where something is, relative to a body
struct Anchor {
    int body, frame;
    bool is_body, is_fixed;  // it is the body itself; nothing moves it
    double pos[3], quat[4];
    int own;  // where its place is among the numbers in which environments may differ; -1: nowhere
};
struct Site : Anchor {
    int shape;
};
// a sensor that lanes have, of a frame, or of something else by its number
struct Sensor {
    int type, address, size, object_type, object, reference_type, reference;
};
struct Geom {
    int number, body, frame, type;
    double pos[3], quat[4], size[3], bound;
    double box_center[3], box_half[3];  // of a box around it, in its axes
    bool has_axis, has_matrix;
};
// a body of an equality constraint, and where it is held
struct HeldBody {
    int body, frame, own;  // `own`: where its numbers are that environments may have themselves: place and rotation
    double pos[3], quat[4];
    Dofs dofs;  // that move it
};
struct Equality {
    int number, type, first, second, num_rows;  // joints, tendons, bodies or sites; `second` below zero: there is none
    bool has_sites;
    double polynomial[5], reference[2], torque_scale;
    HeldBody bodies[2];
    Dofs dofs;
    double inverse_weights[2];  // of translation, and of rotation
    Impedance impedance;
};
// a wall: it belongs to the world, and its sides are along the axes
struct Box {
    int geom;
    double center[3], half[3];
};
// two geoms that may touch, or one and several boxes that are alike, in the order in which MuJoCo lists contacts
struct Pair {
    int geom1, geom2, body1, body2, type1, type2, condim;
    int given;           // which of those that the model lists; -1: none
    int own;             // where the numbers are in which environments may differ: inverse weight and friction
    int place1, place2;  // of `geoms`; -1: a plane, or boxes
    int first_box, num_boxes;
    bool is_on_floor;          // a level plane
    bool is_general;           // only MuJoCo's own function knows these shapes, or their places
    Dofs dofs, negative_dofs;  // that move one of the bodies, and of these those that move the first
    double radius1, length1, radius2, length2, margin, bound;
    double certain;                  // at less distance, MuJoCo's search for what is near leaves out no contact
    std::array<double, 5> friction;  // along both tangents, turning around the normal, and around both tangents
    double floor;                    // the height of a plane
    Impedance impedance;
};

// the degrees of freedom that one call of the solver moves: all of a model, or those of some trees
struct Island {
    int nv, num_inertia, num_frictions = 0;
    double tolerance, search_tolerance;
    int iterations, search_iterations;
    bool has_warmstart;
    Dof dofs[MAX_DOFS];
    int columns[MAX_INERTIA];
    Friction frictions[MAX_DOFS];
};

struct Description : Island {
    int nq, nu, num_acts, num_sensed, num_bodies, num_joints, num_geoms, num_sites, num_tendons, num_pairs = 0;
    int num_actuators, num_own, num_mocap, num_equality_rows, max_rows, num_tendon_numbers = 0;
    double timestep, collision_tolerance;
    bool has_bounds;    // MuJoCo's functions have memory for any shapes: those whose boxes are apart need no call
    double at_rest[3];  // the acceleration that gravity seems to be
    bool is_runge_kutta, is_implicit_fast, is_gauss_seidel, has_damping, has_gravcomp;
    bool has_islands;  // it has several trees
    bool is_elliptic;  // of the friction cone
    bool has_spatial_tendons = false;
    // It has several trees, equality constraints, elliptic cones, an impratio or noslip: a robot alone is solved by
    // functions that are compiled without them.
    bool is_general;
    double impratio;
    int noslip_iterations;
    double noslip_tolerance;
    bool has_fluid;
    double density, viscosity;
    std::array<double, 3> wind;
    Body bodies[MAX_BODIES];
    std::vector<int> roots;  // bodies that the world carries
    Joint joints[MAX_JOINTS];
    Actuator actuators[MAX_CONTROLS];
    Geom geoms[MAX_GEOMS];
    std::vector<Box> boxes;
    Site sites[MAX_SITES];
    Tendon tendons[MAX_TENDONS];
    std::vector<Sensor> sensors;
    std::vector<std::array<Anchor, 2>> anchors;  // of each sensor: of its object, and of its reference
    std::vector<Pair> pairs;
    std::vector<Equality> equalities;

    // Where the numbers are in which environments may differ: one of gravity for each axis; mass, inverse and mass of
    // the subtree, inertia, place and rotation; places of sites; armature and damping; stiffness and inverse weight of
    // the limit; gain, gear and bias; R and force of friction; inverse weight of the limit of a tendon; both of an
    // equality constraint, and where it holds each body. Then come places of geoms of sensors, and those of pairs.
    int own_of_body(int body) const { return 3 + 13 * body; }
    int own_of_site(int site) const { return own_of_body(num_bodies) + 3 * site; }
    int own_of_dof(int dof) const { return own_of_site(num_sites) + 2 * dof; }
    int own_of_joint(int joint) const { return own_of_dof(nv) + 2 * joint; }
    int own_of_actuator(int actuator) const { return own_of_joint(num_joints) + 5 * actuator; }
    int own_of_friction(int row) const { return own_of_actuator(nu) + 2 * row; }
    int own_of_tendon(int tendon) const { return own_of_friction(num_frictions) + tendon; }
    int own_of_equality(int equality) const { return own_of_tendon(num_tendons) + 16 * equality; }
};

// fields of a model from which these numbers come, and others that lanes do not read
inline constexpr const char* VARIED[] = {"opt.gravity",      "body_pos",      "body_quat",         "site_pos",
                                         "body_mass",        "body_inertia",  "body_subtreemass",  "body_invweight0",
                                         "dof_armature",     "dof_damping",   "dof_frictionloss",  "jnt_stiffness",
                                         "dof_invweight0",   "geom_friction", "pair_friction",     "actuator_gainprm",
                                         "actuator_biasprm", "actuator_gear", "tendon_invweight0", "dof_M0"};
inline constexpr const char* UNREAD[] = {
    "dof_length",    "actuator_acc0", "actuator_length0", "cam_poscom0",   "cam_pos0",       "cam_mat0",
    "light_poscom0", "light_pos0",    "light_dir0",       "cam_pos",       "cam_quat",       "cam_fovy",
    "light_pos",     "light_dir",     "light_ambient",    "light_diffuse", "light_specular", "light_cutoff",
    "mat_rgba",      "geom_rgba",     "site_rgba",        "tendon_rgba"};
inline bool may_vary(std::string_view name) {
    const auto is_name = [name](const char* each) { return name == each; };
    return std::any_of(std::begin(VARIED), std::end(VARIED), is_name)
           || std::any_of(std::begin(UNREAD), std::end(UNREAD), is_name);
}

inline constexpr const char* SENSOR_ARRAYS[] = {"sensor_type",  "sensor_adr",     "sensor_dim",  "sensor_objtype",
                                                "sensor_objid", "sensor_reftype", "sensor_refid"};

// All sensors that lanes have.
inline std::vector<Sensor> known_sensors(const mjModel* m) {
    // of the fields of `Sensor`
    const int* numbers[7];
    std::transform(std::begin(SENSOR_ARRAYS), std::end(SENSOR_ARRAYS), numbers,
                   [m](const char* name) { return array_of<int>(m->raw, library().model, name); });
    const auto* const cutoff = array_of<double>(m->raw, library().model, "sensor_cutoff");
    const auto* const body_of_site = array_of<int>(m->raw, library().model, "site_bodyid");
    std::vector<Sensor> found;
    for (int k = 0; k < static_cast<int>(m->nsensor); ++k) {
        const Sensor s = {numbers[0][k], numbers[1][k], numbers[2][k], numbers[3][k],
                          numbers[4][k], numbers[5][k], numbers[6][k]};
        const auto is_frame = [](int type) {
            return type == INERTIAL_BODY || type == BODY || type == GEOM || type == SITE;
        };
        // lanes have the centre of mass of each tree, not of the world
        bool is_known = cutoff[k] == 0 && (s.type != TORQUE || body_of_site[s.object]);
        if (s.type >= FRAMEPOS && s.type <= FRAMEANGACC)
            is_known &= is_frame(s.object_type) && (s.reference < 0 || is_frame(s.reference_type));
        else if (s.type >= JOINTPOS && s.type <= JOINTACTFRC)
            is_known &= s.size == 1;
        else
            is_known &= (s.type >= TOUCH && s.type <= TORQUE) || (s.type >= BALLQUAT && s.type <= JOINTLIMITFRC)
                        || (s.type >= SUBTREECOM && s.type <= SUBTREEANGMOM);
        if (is_known) found.push_back(s);
    }
    return found;
}

// Whether an environment that reads all sensors has no others than lanes have.
inline bool knows_all_sensors(const mjModel* m) { return static_cast<int64_t>(known_sensors(m).size()) == m->nsensor; }

}  // namespace cypool::lanes
