// From MuJoCo's model to the description that lanes step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cypool/envs/shared/lanes/description.h"

namespace cypool::lanes {

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
    void describe_own(const Description& o, const mjModel* described, std::vector<double>& own) const;

private:
    bool is_unread(const Description& o, const std::string& name, const mjModel* other) const;
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

    void sizes(Description& o) const;
    void tree(Description& o) const;
    void gravcomp(Description& o) const;
    void fluid(Description& o) const;
    double friction_of(int dof) const;
    double at_rest(int axis) const { return disabled_ & NO_GRAVITY ? 0 : m_->opt.gravity[axis] * -1.0; }
    double stiffness(int joint) const { return disabled_ & NO_SPRING ? 0 : m_->jnt_stiffness[joint]; }
    double damping(int dof) const { return disabled_ & NO_DAMPER ? 0 : m_->dof_damping[dof]; }
    static double friction_R(double impedance, double weight) {
        return std::max(mjMINVAL, (1 - impedance) * weight / impedance);
    }
    double inverse_subtree_mass(int body) const { return 1.0 / std::max(mjMINVAL, m_->body_subtreemass[body]); }

    void joints(Description& o) const;
    bool is_free(const Description& o, int body) const;
    void dofs(Description& o) const;
    void friction(Description& o, int dof) const;
    void actuators(Description& o) const;
    int place(Description& o, int number) const;
    bool is_wall(int geom) const;
    bool is_floor(int geom) const;
    bool is_round(int geom) const;
    int box(Description& o, int geom) const;
    // of contacts, lanes count the rows
    void check_rows(Description& o) const {
        int most = o.num_equality_rows + o.num_frictions;
        for (int k = 0; k < o.num_joints; ++k) most += 2 * o.joints[k].is_limited;
        for (int k = 0; k < o.num_tendons; ++k) most += 2 * o.tendons[k].is_limited;
        o.max_rows = o.is_gauss_seidel ? MAX_DUAL_ROWS : MAX_ROWS;
        refuse_if(most > o.max_rows, "the model has too many limits and frictions of joints");
    }

    void sites(Description& o) const;
    Anchor anchor(const Description& o, int type, int number) const;
    static int sensed_geom(const Sensor& s, int side);
    void sensors(Description& o) const;
    void tendons(Description& o) const;
    void equalities(Description& o) const;
    // false: a polynomial couples two trees
    bool couple(const Description& o, Equality& e, const double* numbers) const;
    void hold(const Description& o, Equality& e, const double* numbers, bool has_sites) const;
    void inverse_weights(Equality& e) const;
    const double* held_numbers(int number) const;

    bool may_collide(int type1, int affinity1, int type2, int affinity2) const;
    bool is_excluded(int body1, int body2) const;
    void pairs(Description& o) const;
    std::vector<std::pair<int, int>> given_pairs(Description& o, int body1, int body2) const;
    // whether a box is the next of those that a pair has, and like them
    static bool continues(const Pair& p, const Pair& next) {
        return p.num_boxes && next.num_boxes && p.given < 0 && next.given < 0 && p.geom1 == next.geom1
               && next.first_box == p.first_box + p.num_boxes && p.condim == next.condim && p.margin == next.margin
               && p.friction == next.friction && p.impedance == next.impedance;
    }

    void add_pair(Description& o, int a, int b, int given = -1) const;
    bool is_near_plane(const Pair& p) const;
    void mix_parameters(Pair& p) const;
    void take_parameters(Pair& p) const;
    std::pair<int, int> deciding(const Pair& p) const;
    void set_friction(Pair& p) const;
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

#include "cypool/envs/shared/lanes/actuator_description.h"
#include "cypool/envs/shared/lanes/body_description.h"
#include "cypool/envs/shared/lanes/equality_description.h"
#include "cypool/envs/shared/lanes/own_description.h"
#include "cypool/envs/shared/lanes/pair_description.h"
