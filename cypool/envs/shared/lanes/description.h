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
enum { JOINT_WRAP = 1 };  // the kind of a tendon's part
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
// the length is a sum of positions of joints
struct Tendon {
    int num_joints, joints[MAX_TENDON_JOINTS], dofs[MAX_TENDON_JOINTS];
    double coefficients[MAX_TENDON_JOINTS];
    double jacobian[MAX_TENDON_JOINTS];  // in the order of `dofs`
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
    int num_actuators, num_own, num_mocap, num_equality_rows, max_rows;
    double timestep, collision_tolerance;
    bool has_bounds;    // MuJoCo's functions have memory for any shapes: those whose boxes are apart need no call
    double at_rest[3];  // the acceleration that gravity seems to be
    bool is_runge_kutta, is_implicit_fast, is_gauss_seidel, has_damping, has_gravcomp;
    bool has_islands;  // it has several trees
    bool is_elliptic;  // of the friction cone
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

// Reads a model's arrays by their names, and refuses what lanes cannot do.
class Describer {
public:
    Describer(const mjModel* m, const mjData* at_start) : m_(m), d_(at_start), disabled_(m->opt.disableflags) {}

    // Throws std::invalid_argument: why mj_step has to step this model.
    void describe(Description& o) {
        check_class();
        check_numbers();
        sizes(o);
        tree(o);
        joints(o);
        dofs(o);
        gravcomp(o);
        fluid(o);
        actuators(o);
        sites(o);
        tendons(o);
        equalities(o);
        sensors(o);
        check_rows(o);
        pairs(o);
        o.is_general =
            o.has_islands || o.is_elliptic || o.impratio != 1 || !o.equalities.empty() || o.noslip_iterations > 0;
    }

    // Writes the numbers in which the model of one environment differs from the one that is described. Throws
    // std::invalid_argument: why mj_step has to step it.
    void describe_own(const Description& o, const mjModel* described, std::vector<double>& own) const {
        for (const ArrayField& each : library().model) {
            const Place place{each.offset, 0};
            const void *mine = at<const void*>(m_->raw, place), *others = at<const void*>(described->raw, place);
            if (each.is_option) mine = &at<char>(m_->raw, place), others = &at<char>(described->raw, place);
            // of what holds bodies, the numbers are compared below
            if (mine == others || may_vary(each.name) || each.name == "eq_data") continue;
            if (is_unread(o, each.name, described)) continue;
            const size_t bytes = rows_of(m_, each) * columns_of(m_, each) * static_cast<size_t>(each.item_bytes);
            if (std::memcmp(mine, others, bytes)) throw std::invalid_argument(each.name + " varies");
        }
        own.resize(static_cast<size_t>(o.num_own));
        double* next = own.data();
        for (int k = 0; k < 3; ++k) *next++ = at_rest(k);
        const auto* const inertia = array<double>("body_inertia");
        for (int k = 0; k < o.num_bodies; ++k) {
            refuse_if((m_->body_subtreemass[k] < mjMINVAL) != o.bodies[k].is_massless,
                      "some environments have massless bodies where others do not");
            *next++ = m_->body_mass[k];
            *next++ = inverse_subtree_mass(k);
            *next++ = m_->body_subtreemass[k];
            next = std::copy_n(inertia + 3 * k, 3, next);
            next = std::copy_n(m_->body_pos + 3 * k, 3, next);
            next = std::copy_n(m_->body_quat + 4 * k, 4, next);
        }
        next = std::copy_n(array<double>("site_pos"), 3 * o.num_sites, next);
        const auto* const armature = array<double>("dof_armature");
        const auto* const simple_inertia = array<double>("dof_M0");
        const auto* const dof_weight = array<double>("dof_invweight0");
        bool has_damping = false;
        for (int k = 0; k < o.nv; ++k) {
            refuse_if(m_->dof_damping[k] < 0, "a damping is negative");
            has_damping |= damping(k) > 0 && !(disabled_ & NO_EULERDAMP);
            *next++ = o.dofs[k].is_simple ? simple_inertia[k] : armature[k];
            *next++ = damping(k);
        }
        refuse_if(has_damping != o.has_damping, "only some environments have damping in their joints");
        for (int k = 0; k < o.num_joints; ++k) {
            const int type = o.joints[k].type;
            refuse_if((type == mjJNT_FREE || type == mjJNT_BALL) && stiffness(k) != 0,
                      "a ball or free joint has a spring");
            *next++ = stiffness(k);
            *next++ = dof_weight[o.joints[k].dof];
        }
        const auto* const gear = array<double>("actuator_gear");
        const auto* const bias = array<double>("actuator_biasprm");
        for (int k = 0; k < o.nu; ++k) {
            *next++ = m_->actuator_gainprm[library().mjNGAIN * k];
            *next++ = gear[6 * k];
            next = std::copy_n(bias + library().mjNGAIN * k, 3, next);
        }
        for (int k = 0; k < o.num_frictions; ++k) {
            const Friction& f = o.frictions[k];
            refuse_if(!(friction_of(f.dof) > 0), "different joints have friction");
            *next++ = friction_R(f.impedance, dof_weight[f.dof]);
            *next++ = friction_of(f.dof);
        }
        int num_frictions = 0;
        for (int k = 0; k < o.nv; ++k) num_frictions += friction_of(k) != 0;
        refuse_if(num_frictions != o.num_frictions, "different joints have friction");
        next = std::copy_n(array<double>("tendon_invweight0"), o.num_tendons, next);
        for (Equality e : o.equalities) {
            const Equality before = e;
            inverse_weights(e);
            if (e.num_rows == 1)
                std::copy_n(held_numbers(e.number), 5, e.polynomial);
            else
                hold(o, e, held_numbers(e.number), e.has_sites);
            refuse_if(
                e.torque_scale != before.torque_scale || !std::equal(e.polynomial, e.polynomial + 5, before.polynomial),
                "eq_data varies");
            next = std::copy_n(e.inverse_weights, 2, next);
            for (const HeldBody& b : e.bodies) next = std::copy_n(b.quat, 4, std::copy_n(b.pos, 3, next));
        }
        for (const Sensor& s : o.sensors)
            for (int side = 0; side < 2; ++side)
                if (const int geom = sensed_geom(s, side); geom >= 0)
                    next = std::copy_n(m_->geom_pos + 3 * geom, 3, next);
        for (Pair p : o.pairs) {
            set_friction(p);
            *next++ = p.impedance.inverse_weight;
            next = std::copy_n(p.friction.data(), p.condim - 1, next);
            Pair wall = p;
            for (int k = 1; k < p.num_boxes; ++k) {
                wall.geom2 = o.boxes[static_cast<size_t>(p.first_box + k)].geom;
                set_friction(wall);
                refuse_if(wall.friction != p.friction, "identical walls have different friction");
            }
        }
        refuse_if(!std::all_of(own.begin(), own.end(), [](double x) { return std::isfinite(x); }),
                  "a number is not finite");
    }

private:
    // Whether what lanes read of an array, which environments may write to, is that of another model.
    bool is_unread(const Description& o, const std::string& name, const mjModel* other) const {
        const auto is_same = [&](const char* array_name, int number) {
            const double* const others = array_of<double>(other->raw, library().model, array_name);
            return !std::memcmp(array<double>(array_name) + 3 * number, others + 3 * number, 3 * sizeof(double));
        };
        if (name == "site_size")
            return std::all_of(o.sensors.begin(), o.sensors.end(),
                               [&](const Sensor& s) { return s.type != TOUCH || is_same("site_size", s.object); });
        if (name != "geom_pos") return false;
        return std::all_of(o.pairs.begin(), o.pairs.end(), [&](const Pair& p) {
            bool is_unread = is_same("geom_pos", p.geom1);
            for (int k = 0; k < std::max(1, p.num_boxes); ++k)
                is_unread &=
                    is_same("geom_pos", p.num_boxes ? o.boxes[static_cast<size_t>(p.first_box + k)].geom : p.geom2);
            return is_unread;
        });
    }
    // kinds of elements, and where the model has their names
    struct Kind {
        const char *word, *places;
    };
    static constexpr Kind BODIES = {"body", "name_bodyadr"}, ALL_JOINTS = {"joint", "name_jntadr"},
                          GEOMS = {"geom", "name_geomadr"}, ACTUATORS = {"actuator", "name_actuatoradr"},
                          ALL_TENDONS = {"tendon", "name_tendonadr"}, LISTED_PAIRS = {"contact pair", "name_pairadr"},
                          EQUALITIES = {"equality constraint", "name_eqadr"};

    template <class T> const T* array(const char* name) const {
        const T* const found = array_of<T>(m_->raw, library().model, name);
        if (!found) throw std::invalid_argument(std::string("this MuJoCo has no ") + name);
        return found;
    }
    template <class T> T option(const char* name) const {
        for (const ArrayField& each : library().model)
            if (each.name == name) return at<T>(m_->raw, {each.offset, 0});
        throw std::invalid_argument(std::string("this MuJoCo has no ") + name);
    }
    int columns(const char* name) const {
        for (const ArrayField& each : library().model)
            if (each.name == name) return static_cast<int>(columns_of(m_, each));
        throw std::invalid_argument(std::string("this MuJoCo has no ") + name);
    }
    int64_t size(const char* name) const {
        const Place* const place = library().size(name);
        if (!place) throw std::invalid_argument(std::string("this MuJoCo has no ") + name);
        return integer_at(m_->raw, *place);
    }
    // what only some versions have
    void refuse_new(const char* name, int64_t count) const {
        const auto* const numbers = array_of<double>(m_->raw, library().model, name);
        if (numbers) refuse_any<double>(name, count);
    }
    template <class Text> static void refuse_if(bool refused, const Text& why) {
        if (refused) throw std::invalid_argument(why);
    }
    // `why` follows the element's name, or its number
    void refuse_if(bool refused, const Kind& kind, int number, const char* why) const {
        if (refused) throw std::invalid_argument(named(kind, number) + " " + why);
    }
    void refuse_if(bool refused, const Pair& p, const char* why) const {
        if (refused) throw std::invalid_argument(named(GEOMS, p.geom1) + " and " + named(GEOMS, p.geom2) + " " + why);
    }
    std::string named(const Kind& kind, int number) const {
        const int* const places = array_of<int>(m_->raw, library().model, kind.places);
        const char* const names = array_of<char>(m_->raw, library().model, "names");
        if (!places || !names || !names[places[number]]) return kind.word + (" " + std::to_string(number));
        return kind.word + (" \"" + std::string(names + places[number]) + "\"");
    }
    template <class T> void refuse_any(const char* name, int64_t count) const {
        const T* const numbers = array<T>(name);
        const bool is_zero = std::all_of(numbers, numbers + count, [](T number) { return number == 0; });
        refuse_if(!is_zero, std::string(name) + " is not zero");
    }

    // MuJoCo takes NaN in some numbers, and notices it in a step
    void check_numbers() const {
        for (const ArrayField& each : library().model) {
            if (each.type != 'd') continue;
            const auto* const numbers =
                each.is_option ? &at<double>(m_->raw, {each.offset, 0}) : at<const double*>(m_->raw, {each.offset, 0});
            const size_t count = rows_of(m_, each) * columns_of(m_, each);
            const bool is_finite = std::all_of(numbers, numbers + count, [](double x) { return std::isfinite(x); });
            refuse_if(!is_finite, each.name + " has a number that is not finite");
        }
    }

    void check_class() const {
        const std::tuple<const char*, int64_t, int> sizes[] = {
            {"bodies", m_->nbody, MAX_BODIES},
            {"degrees of freedom", m_->nv, MAX_DOFS},
            {"joints", m_->njnt, MAX_JOINTS},
            {"positions", m_->nq, MAX_POSITIONS},
            {"elements of the inertia matrix", size("nC"), MAX_INERTIA},
            {"controls", m_->nu, MAX_CONTROLS},
            {"sites", m_->nsite, MAX_SITES},
            {"tendons", m_->ntendon, MAX_TENDONS}};
        for (const auto& [word, count, most] : sizes)
            refuse_if(count > most, "the model is too large: " + std::to_string(count) + " " + word + ", at most "
                                        + std::to_string(most));
        // mj_step leaves out constraints for which there is no memory, and warns
        refuse_if(m_->narena < 1 << 20, "the model has less than 1 MiB of memory for its arena");
        refuse_if(size("nplugin") != 0, "the model has plugins");
        refuse_if(size("nflex") != 0, "the model has flexes");
        refuse_if(size("nhistory") != 0, "an actuator or a sensor has a delay or an interval");
        refuse_any<double>("geom_adhesion", m_->ngeom);
        refuse_any<double>("pair_adhesion", size("npair"));
        refuse_any<double>("geom_surfacevel", 6 * m_->ngeom);
        // without islands, sums have another order
        refuse_if(disabled_ & NO_ISLAND, "the flag island is disabled");
        refuse_if(disabled_ & NO_SENSOR && size("nsensor") != 0, "the flag sensor is disabled");
        refuse_if(disabled_ >= 2 * NO_MULTICCD, "a flag that lanes do not know is disabled");
        refuse_if(m_->opt.enableflags & ~(ENERGY | INVDISCRETE), "flags other than energy and invdiscrete are enabled");
        const bool is_elliptic = option<int>("opt.cone") != 0;
        refuse_if(is_elliptic && option<int>("opt.solver") == GAUSS_SEIDEL,
                  "friction cones are elliptic and the solver is PGS");
        refuse_if(is_elliptic && option<int>("opt.noslip_iterations") > 0,
                  "friction cones are elliptic and noslip_iterations is not zero");
        refuse_if(m_->opt.timestep < 0, "the timestep is negative");
        refuse_if(option<int>("opt.disableactuator") != 0, "actuatorgroupdisable disables actuators");
        refuse_if(option<int>("opt.solver") != GAUSS_SEIDEL && option<int>("opt.solver") != NEWTON,
                  "the solver is neither Newton nor PGS");
        refuse_if(
            m_->opt.integrator != EULER && m_->opt.integrator != RUNGE_KUTTA && m_->opt.integrator != IMPLICIT_FAST,
            "the integrator is not Euler, RK4 or implicitfast");
        refuse_if(option<int>("opt.jacobian") == 1 || (option<int>("opt.jacobian") == 2 && m_->nv >= 60),
                  "the Jacobian is sparse");
        refuse_if(m_->ntree == 0, "nothing moves");
        refuse_if(m_->ntree > 1 && option<int>("opt.solver") == GAUSS_SEIDEL,
                  "the model has several trees of bodies and the solver is PGS");
        for (const char* name : {"tendon_damping", "tendon_frictionloss", "tendon_armature"})
            refuse_any<double>(name, m_->ntendon);
        for (const char* name : {"tendon_stiffnesspoly", "tendon_dampingpoly"})
            refuse_any<double>(name, NUM_COEFFICIENTS * m_->ntendon);
        refuse_new("jnt_springyield", m_->njnt);
        refuse_new("tendon_springyield", m_->ntendon);
        refuse_if(size("nactuator") != m_->nu, "an actuator has several controls");
    }

    void sizes(Description& o) const {
        o.nq = static_cast<int>(m_->nq);
        o.nv = static_cast<int>(m_->nv);
        o.nu = static_cast<int>(m_->nu);
        o.num_acts = static_cast<int>(m_->na);
        o.num_mocap = static_cast<int>(m_->nmocap);
        o.num_sensed = static_cast<int>(m_->nsensordata);
        o.num_bodies = static_cast<int>(m_->nbody);
        o.num_joints = static_cast<int>(m_->njnt);
        o.num_geoms = 0;
        o.num_inertia = static_cast<int>(size("nC"));
        o.timestep = m_->opt.timestep;
        o.tolerance = option<double>("opt.tolerance");
        o.search_tolerance = option<double>("opt.ls_tolerance");
        o.collision_tolerance = option<double>("opt.ccd_tolerance");
        o.has_bounds = option<int>("opt.ccd_iterations") <= 500;
        o.iterations = option<int>("opt.iterations");
        o.search_iterations = option<int>("opt.ls_iterations");
        o.is_gauss_seidel = option<int>("opt.solver") == GAUSS_SEIDEL;
        o.is_runge_kutta = m_->opt.integrator == RUNGE_KUTTA;
        o.is_implicit_fast = m_->opt.integrator == IMPLICIT_FAST;
        o.has_warmstart = !(disabled_ & NO_WARMSTART);
        o.is_elliptic = option<int>("opt.cone") != 0;
        o.impratio = std::max(mjMINVAL, option<double>("opt.impratio"));
        o.noslip_iterations = option<int>("opt.noslip_iterations");
        o.noslip_tolerance = option<double>("opt.noslip_tolerance");
        for (int k = 0; k < 3; ++k) o.at_rest[k] = at_rest(k);
        std::memcpy(o.columns, array<int>("M_colind"), static_cast<size_t>(o.num_inertia) * sizeof(int));
    }

    void tree(Description& o) const {
        const auto* const frame = array<unsigned char>("body_sameframe");
        for (int k = 0; k < o.num_bodies; ++k) {
            Body& b = o.bodies[k];
            b = {};
            b.parent = array<int>("body_parentid")[k];
            b.first_joint = array<int>("body_jntadr")[k];
            b.mocap = m_->body_mocapid[k];
            b.num_joints = array<int>("body_jntnum")[k];
            b.first_dof = array<int>("body_dofadr")[k];
            b.num_dofs = array<int>("body_dofnum")[k];
            b.inertial_frame = frame[k];
            b.mass = m_->body_mass[k];
            b.inverse_subtree_mass = inverse_subtree_mass(k);
            b.subtree_mass = m_->body_subtreemass[k];
            b.is_massless = b.subtree_mass < mjMINVAL;
            b.is_fixed = array<int>("body_dofnum")[array<int>("body_weldid")[k]] == 0;
            copy(b.pos, m_->body_pos, k);
            copy(b.quat, m_->body_quat, k);
            copy(b.inertial_pos, array<double>("body_ipos"), k);
            copy(b.inertial_quat, array<double>("body_iquat"), k);
            copy(b.inertia, array<double>("body_inertia"), k);
            const int root = array<int>("body_rootid")[k];
            if (root == k && k) o.roots.push_back(k);
            b.root = k ? static_cast<int>(std::find(o.roots.begin(), o.roots.end(), root) - o.roots.begin()) : 0;
        }
        o.has_islands = m_->ntree > 1;
    }

    void gravcomp(Description& o) const {
        o.has_gravcomp = false;
        // MuJoCo computes it with springs and dampers
        if ((disabled_ & NO_SPRING && disabled_ & NO_DAMPER) || disabled_ & NO_GRAVITY) return;
        for (int k = 0; k < o.num_bodies; ++k) {
            o.bodies[k].gravcomp = array<double>("body_gravcomp")[k];
            refuse_if(o.bodies[k].gravcomp < 0, BODIES, k, "has a negative gravcomp");
            o.has_gravcomp |= o.bodies[k].gravcomp != 0;
        }
    }

    void fluid(Description& o) const {
        o.density = option<double>("opt.density"), o.viscosity = option<double>("opt.viscosity");
        // MuJoCo computes it with springs and dampers
        o.has_fluid = (o.density != 0 || o.viscosity != 0) && !(disabled_ & NO_SPRING && disabled_ & NO_DAMPER);
        if (!o.has_fluid) return;
        refuse_if(o.is_implicit_fast, "the model is in a fluid, and the integrator is implicitfast");
        o.wind = option<std::array<double, 3>>("opt.wind");
        for (int k = 0; k < static_cast<int>(m_->ngeom); ++k)
            refuse_if(array<double>("geom_fluid")[columns("geom_fluid") * k] > 0, GEOMS, k,
                      "is an ellipsoid in a fluid");
    }

    double friction_of(int dof) const {
        return disabled_ & (NO_FRICTIONLOSS | NO_CONSTRAINT) ? 0 : array<double>("dof_frictionloss")[dof];
    }
    double at_rest(int axis) const { return disabled_ & NO_GRAVITY ? 0 : m_->opt.gravity[axis] * -1.0; }
    double stiffness(int joint) const { return disabled_ & NO_SPRING ? 0 : m_->jnt_stiffness[joint]; }
    double damping(int dof) const { return disabled_ & NO_DAMPER ? 0 : m_->dof_damping[dof]; }
    static double friction_R(double impedance, double weight) {
        return std::max(mjMINVAL, (1 - impedance) * weight / impedance);
    }
    double inverse_subtree_mass(int body) const { return 1.0 / std::max(mjMINVAL, m_->body_subtreemass[body]); }

    void joints(Description& o) const {
        refuse_any<double>("jnt_stiffnesspoly", NUM_COEFFICIENTS * m_->njnt);
        for (int k = 0; k < o.num_joints; ++k) {
            Joint& j = o.joints[k];
            j = {};
            j.type = m_->jnt_type[k];
            refuse_if(array<int>("jnt_actuatorid")[k] != -1, ALL_JOINTS, k, "has an actuator with damping or armature");
            j.qpos = m_->jnt_qposadr[k];
            j.dof = m_->jnt_dofadr[k];
            j.is_limited = m_->jnt_limited[k] && !(disabled_ & (NO_LIMIT | NO_CONSTRAINT));
            j.is_force_limited = array<unsigned char>("jnt_actfrclimited")[k];
            j.acts_gravcomp = array<unsigned char>("jnt_actgravcomp")[k];
            j.lowest_force = array<double>("jnt_actfrcrange")[2 * k];
            j.highest_force = array<double>("jnt_actfrcrange")[2 * k + 1];
            copy(j.axis, array<double>("jnt_axis"), k);
            copy(j.pos, array<double>("jnt_pos"), k);
            for (int i = 0; i < 3; ++i)
                refuse_if((j.axis[i] == 0 && std::signbit(j.axis[i])) || (j.pos[i] == 0 && std::signbit(j.pos[i])),
                          ALL_JOINTS, k, "has a negative zero in its axis or pos");
            j.low = m_->jnt_range[2 * k];
            j.high = m_->jnt_range[2 * k + 1];
            j.margin = array<double>("jnt_margin")[k];
            j.stiffness = stiffness(k);
            j.qpos0 = m_->qpos0[j.qpos];
            j.qpos_spring = array<double>("qpos_spring")[j.qpos];
            j.is_centered = j.pos[0] == 0 && j.pos[1] == 0 && j.pos[2] == 0;
            refuse_if((j.type == mjJNT_BALL || j.type == mjJNT_FREE)
                          && (j.is_limited || j.is_force_limited || j.stiffness != 0),
                      ALL_JOINTS, k, "is a ball or free joint with a limit, a spring or a force limit");
            refuse_if(j.type == mjJNT_FREE && o.bodies[array<int>("jnt_bodyid")[k]].num_joints != 1, ALL_JOINTS, k,
                      "is free, and its body has other joints");
            if (j.is_limited) {
                j.limit =
                    impedance(array<double>("jnt_solref") + 2 * k, array<double>("jnt_solimp") + 5 * k, ALL_JOINTS, k);
                j.limit.inverse_weight = array<double>("dof_invweight0")[j.dof];
            }
        }
    }

    void dofs(Description& o) const {
        refuse_any<double>("dof_dampingpoly", NUM_COEFFICIENTS * m_->nv);
        o.has_damping = false;
        for (int k = 0; k < o.nv; ++k) {
            o.dofs[k] = {array<int>("dof_bodyid")[k],
                         array<int>("dof_parentid")[k],
                         array<int>("dof_jntid")[k],
                         array<int>("M_rownnz")[k],
                         array<int>("M_rowadr")[k],
                         array<int>("dof_simplenum")[k] > 0,
                         array<double>("dof_armature")[k],
                         damping(k),
                         Dofs{1} << k,
                         0};
            Dof& dof = o.dofs[k];
            if (dof.parent >= 0) dof.chain |= o.dofs[dof.parent].chain;
            if (dof.is_simple) dof.armature = array<double>("dof_M0")[k];
            const int tree = array<int>("dof_treeid")[k];
            for (int i = 0; i < o.nv; ++i) dof.tree |= Dofs{array<int>("dof_treeid")[i] == tree} << i;
            refuse_if(m_->opt.integrator == IMPLICIT_FAST && m_->jnt_type[dof.joint] == mjJNT_FREE
                          && __builtin_popcountll(dof.tree) == 6,
                      BODIES, dof.body, "is a single free body, which implicitfast rotates differently");
            // implicit Euler's matrix could be singular
            refuse_if(m_->dof_damping[k] < 0, ALL_JOINTS, dof.joint, "has a negative damping");
            o.has_damping |= o.dofs[k].damping > 0 && !(disabled_ & NO_EULERDAMP);
            friction(o, k);
        }
        for (int k = 0; k < o.num_bodies; ++k) o.bodies[k].dofs = moving(o, k);
    }

    void friction(Description& o, int dof) const {
        const double force = friction_of(dof);
        refuse_if(force < 0, ALL_JOINTS, o.dofs[dof].joint, "has a negative frictionloss");
        if (force == 0) return;
        const Impedance s = impedance(array<double>("dof_solref") + 2 * dof, array<double>("dof_solimp") + 5 * dof,
                                      ALL_JOINTS, o.dofs[dof].joint);
        const double r = s.is_flat ? s.flat : s.low;
        o.frictions[o.num_frictions++] = {dof, force, r, friction_R(r, array<double>("dof_invweight0")[dof]),
                                          s.damping};
    }

    void actuators(Description& o) const {
        o.num_actuators = disabled_ & NO_ACTUATION ? 0 : o.nu;
        for (int k = 0; k < o.nu; ++k) {
            const int transmission = array<int>("actuator_trntype")[k], acts_on = m_->actuator_trnid[2 * k];
            refuse_if(transmission != AT_JOINT && transmission != AT_TENDON, ACTUATORS, k,
                      "does not act on a joint or tendon");
            const int dynamics = array<int>("actuator_dyntype")[k];
            refuse_if(dynamics > FILTEREXACT, ACTUATORS, k,
                      "has a dyntype other than none, integrator, filter and filterexact");
            refuse_if(array<int>("actuator_actnum")[k] != (dynamics != NO_DYNAMICS), ACTUATORS, k,
                      "has several activations");
            refuse_if(array<int>("actuator_gaintype")[k] != 0, ACTUATORS, k, "has a gaintype other than fixed");
            const int bias_type = array<int>("actuator_biastype")[k];
            refuse_if(bias_type != 0 && bias_type != AFFINE, ACTUATORS, k, "has a biastype other than none and affine");
            Actuator& a = o.actuators[k];
            a = {};
            a.tendon = transmission == AT_TENDON ? acts_on : -1;
            if (a.tendon < 0) {
                const Joint& joint = o.joints[acts_on];
                refuse_if(joint.type != mjJNT_HINGE && joint.type != mjJNT_SLIDE, ACTUATORS, k,
                          "does not act on a hinge or slide");
                a.dof = joint.dof, a.qpos = joint.qpos;
            } else {
                // so much as a damping couples the joints
                refuse_if(bias_type == AFFINE && m_->opt.integrator == IMPLICIT_FAST, ACTUATORS, k,
                          "has a bias and acts on a tendon, and the integrator is implicitfast");
                refuse_if(array<unsigned char>("tendon_actfrclimited")[a.tendon], ALL_TENDONS, a.tendon,
                          "limits the forces of its actuators");
            }
            a.is_limited = m_->actuator_ctrllimited[k] && !(disabled_ & NO_CLAMPCTRL);
            a.is_affine = bias_type == AFFINE;
            a.is_force_limited = array<unsigned char>("actuator_forcelimited")[k];
            a.gear = array<double>("actuator_gear")[6 * k];
            a.gain = m_->actuator_gainprm[library().mjNGAIN * k];
            a.low = m_->actuator_ctrlrange[2 * k], a.high = m_->actuator_ctrlrange[2 * k + 1];
            std::copy_n(array<double>("actuator_biasprm") + library().mjNGAIN * k, 3, a.bias);
            a.lowest_force = array<double>("actuator_forcerange")[2 * k];
            a.highest_force = array<double>("actuator_forcerange")[2 * k + 1];
            a.act = array<int>("actuator_actadr")[k], a.dynamics = dynamics;
            a.is_act_limited = array<unsigned char>("actuator_actlimited")[k];
            a.is_early = array<unsigned char>("actuator_actearly")[k];
            a.lowest_act = array<double>("actuator_actrange")[2 * k];
            a.highest_act = array<double>("actuator_actrange")[2 * k + 1];
            a.time = std::max(mjMINVAL, array<double>("actuator_dynprm")[columns("actuator_dynprm") * k]);
            a.share = 1 - std::exp(-m_->opt.timestep / a.time);
        }
    }

    // where lanes keep the place of a geom
    int place(Description& o, int number) const {
        for (int k = 0; k < o.num_geoms; ++k)
            if (o.geoms[k].number == number) return k;
        refuse_if(o.num_geoms == MAX_GEOMS, "the model has too many geoms that may touch");
        Geom& g = o.geoms[o.num_geoms];
        g = {};
        g.number = number;
        g.body = m_->geom_bodyid[number];
        g.frame = array<unsigned char>("geom_sameframe")[number];
        g.type = array<int>("geom_type")[number];
        g.has_axis = g.type == CAPSULE;
        g.bound = m_->geom_rbound[number];
        copy(g.size, m_->geom_size, number);
        copy(g.box_center, array<double>("geom_aabb"), 2 * number);
        copy(g.box_half, array<double>("geom_aabb"), 2 * number + 1);
        copy(g.pos, m_->geom_pos, number);
        copy(g.quat, array<double>("geom_quat"), number);
        return o.num_geoms++;
    }

    bool is_wall(int geom) const {
        const double* const matrix = d_->geom_xmat + 9 * geom;
        return array<int>("geom_type")[geom] == BOX && m_->geom_bodyid[geom] == 0 && matrix[0] == 1 && matrix[4] == 1
               && matrix[8] == 1;
    }
    bool is_floor(int geom) const {
        const double* const matrix = d_->geom_xmat + 9 * geom;
        return array<int>("geom_type")[geom] == PLANE && m_->geom_bodyid[geom] == 0 && matrix[2] == 0 && matrix[5] == 0
               && matrix[8] == 1;
    }
    bool is_round(int geom) const {
        return array<int>("geom_type")[geom] == SPHERE || array<int>("geom_type")[geom] == CAPSULE;
    }

    int box(Description& o, int geom) const {
        for (size_t k = 0; k < o.boxes.size(); ++k)
            if (o.boxes[k].geom == geom) return static_cast<int>(k);
        refuse_if(o.boxes.size() == MAX_BOXES, "the world has too many boxes");
        Box& added = o.boxes.emplace_back();
        added.geom = geom;
        copy(added.center, d_->geom_xpos, geom);
        copy(added.half, m_->geom_size, geom);
        return static_cast<int>(o.boxes.size()) - 1;
    }

    // of contacts, lanes count the rows
    void check_rows(Description& o) const {
        int most = o.num_equality_rows + o.num_frictions;
        for (int k = 0; k < o.num_joints; ++k) most += 2 * o.joints[k].is_limited;
        for (int k = 0; k < o.num_tendons; ++k) most += 2 * o.tendons[k].is_limited;
        o.max_rows = o.is_gauss_seidel ? MAX_DUAL_ROWS : MAX_ROWS;
        refuse_if(most > o.max_rows, "the model has too many limits and frictions of joints");
    }

    void sites(Description& o) const {
        o.num_sites = static_cast<int>(m_->nsite);
        for (int k = 0; k < o.num_sites; ++k) o.sites[k] = {anchor(o, SITE, k), array<int>("site_type")[k]};
    }

    // `number`: below zero, there is none
    Anchor anchor(const Description& o, int type, int number) const {
        Anchor a = {};
        a.own = -1;
        if (number < 0) return a;
        const auto take = [&](const char* body, const char* frame, const char* pos, const char* quat) {
            a.body = body ? array<int>(body)[number] : number;
            if (frame) a.frame = array<unsigned char>(frame)[number];
            copy(a.pos, array<double>(pos), number);
            copy(a.quat, array<double>(quat), number);
        };
        if (type == SITE)
            take("site_bodyid", "site_sameframe", "site_pos", "site_quat"), a.own = o.own_of_site(number);
        else if (type == GEOM)
            take("geom_bodyid", "geom_sameframe", "geom_pos", "geom_quat");
        else {
            take(nullptr, nullptr, "body_ipos", "body_iquat");
            a.frame = type == BODY ? SAME_BODY : SAME_INERTIA, a.is_body = type == BODY;
        }
        a.is_fixed = o.bodies[a.body].is_fixed;
        return a;
    }

    // the geom of which a sensor senses the frame, or to which it refers; -1: none
    static int sensed_geom(const Sensor& s, int side) {
        if (s.type < FRAMEPOS || s.type > FRAMEANGACC) return -1;
        if (side) return s.reference_type == GEOM ? s.reference : -1;
        return s.object_type == GEOM ? s.object : -1;
    }

    void sensors(Description& o) const {
        o.sensors = known_sensors(m_);
        for (const Sensor& s : o.sensors) {
            const bool is_frame = s.type < JOINTPOS || (s.type >= FRAMEPOS && s.type <= FRAMEANGACC);
            o.anchors.push_back({anchor(o, s.object_type, is_frame ? s.object : -1),
                                 anchor(o, s.reference_type, is_frame ? s.reference : -1)});
        }
    }

    void tendons(Description& o) const {
        o.num_tendons = static_cast<int>(m_->ntendon);
        for (int k = 0; k < o.num_tendons; ++k) {
            Tendon& t = o.tendons[k];
            t = {};
            t.num_joints = array<int>("tendon_num")[k];
            refuse_if(array<int>("tendon_actuatorid")[k] != -1, ALL_TENDONS, k,
                      "has an actuator with damping or armature");
            std::vector<std::pair<int, double>> jacobian;
            for (int j = 0; j < t.num_joints; ++j) {
                const int wrap = array<int>("tendon_adr")[k] + j;
                refuse_if(array<int>("wrap_type")[wrap] != JOINT_WRAP, ALL_TENDONS, k, "is spatial");
                refuse_if(t.num_joints > MAX_TENDON_JOINTS, ALL_TENDONS, k, "has too many joints");
                t.joints[j] = array<int>("wrap_objid")[wrap];
                t.coefficients[j] = array<double>("wrap_prm")[wrap];
                jacobian.emplace_back(o.joints[t.joints[j]].dof, t.coefficients[j]);
            }
            std::sort(jacobian.begin(), jacobian.end());
            for (int j = 0; j < t.num_joints; ++j) {
                std::tie(t.dofs[j], t.jacobian[j]) = jacobian[static_cast<size_t>(j)];
                refuse_if(j && t.dofs[j] == t.dofs[j - 1], ALL_TENDONS, k, "lists a joint twice");
                t.dof_set |= Dofs{1} << t.dofs[j];
            }
            t.stiffness = disabled_ & NO_SPRING ? 0 : array<double>("tendon_stiffness")[k];
            t.spring_low = array<double>("tendon_lengthspring")[2 * k];
            t.spring_high = array<double>("tendon_lengthspring")[2 * k + 1];
            t.is_limited = array<unsigned char>("tendon_limited")[k] && !(disabled_ & (NO_LIMIT | NO_CONSTRAINT));
            if (!t.is_limited) continue;
            t.low = array<double>("tendon_range")[2 * k], t.high = array<double>("tendon_range")[2 * k + 1];
            t.margin = array<double>("tendon_margin")[k];
            t.limit = impedance(array<double>("tendon_solref_lim") + 2 * k, array<double>("tendon_solimp_lim") + 5 * k,
                                ALL_TENDONS, k);
            t.limit.inverse_weight = array<double>("tendon_invweight0")[k];
        }
    }

    void equalities(Description& o) const;
    // false: a polynomial couples two trees
    bool couple(const Description& o, Equality& e, const double* numbers) const;
    void hold(const Description& o, Equality& e, const double* numbers, bool has_sites) const;
    void inverse_weights(Equality& e) const;
    const double* held_numbers(int number) const;

    bool may_collide(int type1, int affinity1, int type2, int affinity2) const {
        return (type1 & affinity2) || (type2 & affinity1);
    }
    bool is_excluded(int body1, int body2) const {
        const auto* const contype = array<int>("body_contype");
        const auto* const affinity = array<int>("body_conaffinity");
        const auto* const weld = array<int>("body_weldid");
        const auto* const parent = array<int>("body_parentid");
        const int weld1 = weld[body1], weld2 = weld[body2];
        if (weld1 == weld2 || !may_collide(contype[body1], affinity[body1], contype[body2], affinity[body2]))
            return true;
        for (int64_t k = 0; k < size("nexclude"); ++k)
            if (array<int>("exclude_signature")[k] == (body1 << 16) + body2) return true;
        return !(disabled_ & NO_FILTERPARENT) && weld1 && weld2
               && (weld1 == weld[parent[weld2]] || weld2 == weld[parent[weld1]]);
    }

    void pairs(Description& o) const {
        o.num_own = o.own_of_equality(static_cast<int>(o.equalities.size()));
        for (size_t k = 0; k < o.sensors.size(); ++k)
            for (int side = 0; side < 2; ++side)
                if (Anchor& a = o.anchors[k][static_cast<size_t>(side)]; sensed_geom(o.sensors[k], side) >= 0)
                    a.own = o.num_own, o.num_own += 3;
        if (disabled_ & (NO_CONTACT | NO_CONSTRAINT)) return;
        const auto* const first = array<int>("body_geomadr");
        const auto* const count = array<int>("body_geomnum");
        int64_t num_given = 0;
        for (int body1 = 0; body1 < o.num_bodies; ++body1)
            for (int body2 = body1 + 1; body2 < o.num_bodies; ++body2) {
                const std::vector<std::pair<int, int>> given = given_pairs(o, body1, body2);
                num_given += static_cast<int64_t>(given.size());
                if (is_excluded(body1, body2)) continue;
                const auto begin = o.pairs.size();
                for (int a = first[body1]; a < first[body1] + count[body1]; ++a)
                    for (int b = first[body2]; b < first[body2] + count[body2]; ++b)
                        if (may_collide(m_->geom_contype[a], m_->geom_conaffinity[a], m_->geom_contype[b],
                                        m_->geom_conaffinity[b])
                            && std::find(given.begin(), given.end(), std::pair<int, int>(std::minmax(a, b)))
                                   == given.end())
                            add_pair(o, a, b);
                // where a body has several geoms, MuJoCo finds pairs in a tree, and sorts them
                if ((count[body1] == 1 && count[body2] == 1) || disabled_ & NO_MIDPHASE) continue;
                std::stable_sort(o.pairs.begin() + static_cast<std::ptrdiff_t>(begin), o.pairs.end(),
                                 [](const Pair& p, const Pair& q) {
                                     return p.geom1 != q.geom1 ? p.geom1 < q.geom1 : p.geom2 < q.geom2;
                                 });
            }
        refuse_if(num_given != size("npair"), "a contact pair lists two geoms of the same body");
        std::vector<Pair> joined;
        for (const Pair& p : o.pairs) {
            if (joined.empty() || !continues(joined.back(), p))
                joined.push_back(p);
            else
                ++joined.back().num_boxes;
        }
        refuse_if(joined.size() > MAX_PAIRS, "the model has too many geoms that may touch");
        o.pairs.swap(joined);
        o.num_pairs = static_cast<int>(o.pairs.size());
        for (Pair& p : o.pairs) p.own = o.num_own, o.num_own += p.condim;
    }

    // Adds the pairs that the model itself lists. Returns their geoms, which may touch only so.
    std::vector<std::pair<int, int>> given_pairs(Description& o, int body1, int body2) const {
        std::vector<std::pair<int, int>> given;
        for (int k = 0; k < static_cast<int>(size("npair")); ++k) {
            if (array<int>("pair_signature")[k] != (body1 << 16) + body2) continue;
            const int a = array<int>("pair_geom1")[k], b = array<int>("pair_geom2")[k];
            add_pair(o, a, b, k);
            given.emplace_back(std::minmax(a, b));
        }
        return given;
    }

    // whether a box is the next of those that a pair has, and like them
    static bool continues(const Pair& p, const Pair& next) {
        return p.num_boxes && next.num_boxes && p.given < 0 && next.given < 0 && p.geom1 == next.geom1
               && next.first_box == p.first_box + p.num_boxes && p.condim == next.condim && p.margin == next.margin
               && p.friction == next.friction && p.impedance == next.impedance;
    }

    // `given`: which of those that the model lists, -1: none
    void add_pair(Description& o, int a, int b, int given = -1) const {
        const auto* const type = array<int>("geom_type");
        const int geom1 = type[a] > type[b] ? b : a, geom2 = type[a] > type[b] ? a : b;
        if (type[geom1] == PLANE && type[geom2] == PLANE) return;
        refuse_if(o.pairs.size() >= MAX_PAIRS + MAX_GEOMS * MAX_BOXES, "the model has too many geoms that may touch");
        Pair p = {};
        p.geom1 = geom1, p.geom2 = geom2, p.type1 = type[geom1], p.type2 = type[geom2];
        p.body1 = m_->geom_bodyid[geom1], p.body2 = m_->geom_bodyid[geom2], p.given = given;
        refuse_if(p.type2 > MESH, GEOMS, geom2, "has a shape defined by a plugin, and may touch others");
        p.is_on_floor = is_floor(geom1);
        p.is_general =
            !(is_round(geom2) && (is_round(geom1) || is_floor(geom1))) && !(is_round(geom1) && is_wall(geom2));
        p.radius1 = m_->geom_size[3 * geom1], p.length1 = m_->geom_size[3 * geom1 + 1];
        p.radius2 = m_->geom_size[3 * geom2], p.length2 = m_->geom_size[3 * geom2 + 1];
        const auto* const gap = array<double>("geom_gap");
        p.margin = given >= 0 ? array<double>("pair_margin")[given] : m_->geom_margin[a] + m_->geom_margin[b];
        // MuJoCo's search for what is near may then leave out more
        refuse_if(p.margin < 0 || m_->geom_margin[a] < 0 || m_->geom_margin[b] < 0, p, "have a negative margin");
        refuse_if((given >= 0 ? array<double>("pair_gap")[given] : gap[a] + gap[b]) != 0, p, "have a gap");
        p.certain = p.margin;
        if (p.is_general) p.certain = p.type1 == HFIELD ? -1e-9 : p.margin - (p.type1 == PLANE ? 1e-9 : 1e-11);
        if (given < 0 && is_near_plane(p)) p.certain -= 1e-5;
        const double bound1 = m_->geom_rbound[geom1], bound2 = m_->geom_rbound[geom2];
        p.bound = bound1 + bound2 + p.margin;
        if (p.type1 == PLANE) p.floor = d_->geom_xpos[3 * geom1 + 2];
        p.place1 = p.type1 == PLANE && !p.is_general ? -1 : place(o, geom1);
        p.place2 = p.type2 == BOX && !p.is_general ? -1 : place(o, geom2);
        if (p.is_general)
            o.geoms[p.place1].has_matrix = o.geoms[p.place2].has_matrix = true;
        else if (p.type2 == BOX)
            p.first_box = box(o, geom2), p.num_boxes = 1;
        const Dofs first = moving(o, p.body1);
        p.dofs = first ^ moving(o, p.body2);
        p.negative_dofs = p.dofs & first;
        // MuJoCo leaves out rows without numbers
        if (!p.dofs) return;
        if (given >= 0)
            take_parameters(p);
        else
            mix_parameters(p);
        set_friction(p);
        o.pairs.push_back(p);
    }

    // Whether MuJoCo finds a pair in trees of boxes, and one of these is that of a plane: it reaches so far down that
    // its top is rounded to a millionth. Of a level plane at zero without a margin, nothing is rounded.
    bool is_near_plane(const Pair& p) const {
        const auto* const first = array<int>("body_geomadr");
        const auto* const count = array<int>("body_geomnum");
        const auto* const type = array<int>("geom_type");
        if (disabled_ & NO_MIDPHASE || (count[p.body1] == 1 && count[p.body2] == 1)) return false;
        if (p.is_on_floor && d_->geom_xpos[3 * p.geom1 + 2] == 0 && p.margin == 0) return false;
        const auto has_plane = [&](int body) {
            const int* const begin = type + first[body];
            return std::find(begin, begin + count[body], PLANE) != begin + count[body];
        };
        return has_plane(p.body1) || has_plane(p.body2);
    }

    // mj_contactParam
    void mix_parameters(Pair& p) const {
        const auto* const condim = array<int>("geom_condim");
        const auto* const solmix = array<double>("geom_solmix");
        const auto* const solref = array<double>("geom_solref");
        const auto* const solimp = array<double>("geom_solimp");
        const auto [g1, g2] = deciding(p);
        p.condim = std::max(condim[g1], condim[g2]);
        // MuJoCo mixes no others
        for (const int geom : {g1, g2}) refuse_if(!(solref[2 * geom] > 0), GEOMS, geom, NO_RATIO);
        if (priority_[p.geom1] != priority_[p.geom2]) {
            p.impedance = impedance(solref + 2 * g1, solimp + 5 * g1, GEOMS, g1);
            return;
        }
        const double mix1 = solmix[g1], mix2 = solmix[g2];
        refuse_if(mix1 < mjMINVAL || mix2 < mjMINVAL, p, "have a solmix of zero");
        const double mix = mix1 / (mix1 + mix2);
        double ref[2], imp[5];
        for (int k = 0; k < 2; ++k) ref[k] = mix * solref[2 * g1 + k] + (1 - mix) * solref[2 * g2 + k];
        for (int k = 0; k < 5; ++k) imp[k] = mix * solimp[5 * g1 + k] + (1 - mix) * solimp[5 * g2 + k];
        p.impedance = impedance(ref, imp, GEOMS, g1);
    }

    void take_parameters(Pair& p) const {
        p.condim = array<int>("pair_dim")[p.given];
        const auto* const along = array<double>("pair_solreffriction") + 2 * p.given;
        refuse_if(option<int>("opt.cone") != 0 && (along[0] != 0 || along[1] != 0), LISTED_PAIRS, p.given,
                  "has a solreffriction, and friction cones are elliptic");
        p.impedance = impedance(array<double>("pair_solref") + 2 * p.given, array<double>("pair_solimp") + 5 * p.given,
                                LISTED_PAIRS, p.given);
    }

    // the geoms whose parameters a pair has; where one of them decides alone, it is both
    std::pair<int, int> deciding(const Pair& p) const {
        const int more = priority_[p.geom1] - priority_[p.geom2];
        return {more < 0 ? p.geom2 : p.geom1, more > 0 ? p.geom1 : p.geom2};
    }

    void set_friction(Pair& p) const {
        const auto [g1, g2] = deciding(p);
        for (int k = 0; k < 5; ++k) {
            const int kind = k < 2 ? 0 : k < 3 ? 1 : 2;
            const double mixed = std::max(friction_[3 * g1 + kind], friction_[3 * g2 + kind]);
            p.friction[k] = std::max(MIN_FRICTION, p.given < 0 ? mixed : pair_friction_[5 * p.given + k]);
        }
        double translation = 0;
        translation += weight_[2 * p.body1];
        translation += weight_[2 * p.body2];
        const double first = p.friction[0];
        const bool is_normal = p.condim == 1 || option<int>("opt.cone") != 0;
        p.impedance.inverse_weight = is_normal ? translation : translation + first * first * translation;
    }

    // the degrees of freedom that move a body
    Dofs moving(const Description& o, int body) const {
        const Body& b = o.bodies[array<int>("body_weldid")[body]];
        return b.num_dofs ? o.dofs[b.first_dof + b.num_dofs - 1].chain : 0;
    }

    Impedance impedance(const double* solref, const double* solimp, const Kind& kind, int number) const {
        refuse_if(!(solref[0] > 0 && solref[1] > 0), kind, number, NO_RATIO);
        const double least = disabled_ & NO_REFSAFE ? 0 : 2 * m_->opt.timestep;
        const double time = std::max(solref[0], least), ratio = solref[1];
        const auto clipped = [](double x) { return std::min(MAX_IMPEDANCE, std::max(MIN_IMPEDANCE, x)); };
        Impedance s = {};
        s.low = clipped(solimp[0]), s.high = clipped(solimp[1]), s.width = std::max(0.0, solimp[2]);
        s.middle = clipped(solimp[3]), s.power = std::max(1.0, solimp[4]);
        s.stiffness = 1 / std::max(mjMINVAL, s.high * s.high * time * time * ratio * ratio);
        s.damping = 2 / std::max(mjMINVAL, s.high * time);
        s.is_flat = s.low == s.high || s.width <= mjMINVAL;
        s.flat = 0.5 * (s.low + s.high);
        refuse_if(!s.is_flat && s.power != 2 && s.power != 1, kind, number,
                  "has a solimp whose power is neither 1 nor 2");
        return s;
    }

    template <int N> static void copy(double (&to)[N], const double* from, int k) {
        std::memcpy(to, from + N * k, sizeof to);
    }

    static constexpr double mjMINVAL = 1e-15;
    static constexpr int NUM_COEFFICIENTS = 2;  // mjNPOLY
    static constexpr const char* NO_RATIO = "has a solref that is not a time constant and a damping ratio";
    const mjModel* m_;
    const mjData* d_;
    const int disabled_;
    // of contacts
    const int* const priority_ = array<int>("geom_priority");
    const double* const friction_ = array<double>("geom_friction");
    const double* const pair_friction_ = array<double>("pair_friction");
    const double* const weight_ = array<double>("body_invweight0");
};

}  // namespace cypool::lanes

#include "cypool/envs/shared/lanes/equality_description.h"
