// Four environments in lanes: their state, and all that a step computes of it.

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "cypool/envs/shared/lanes/coverage.h"

#include "cypool/envs/shared/lanes/target.h"

namespace cypool::lanes::CYPOOL_LANES {

struct Row {
    Mask active;
    Real R, D, aref, force;
    int dof;  // the only one with a number in J; -1: `dofs`, with their numbers in the group's
    bool is_negative;
    bool is_edge;  // of a friction pyramid
    Dofs dofs;     // those with a number in J
    int contact;   // that begins with it; -1: none
    int tendon;    // whose limit it is, the upper one if it is negative; -1: none
};
struct Contact {
    int pair, first_row;
    Mask active;
    Real dist, pos[3], frame[9];
    Real mu;  // of an elliptic cone
};

// The memory of arrays whose sizes are those of a model, one after another, zero at first.
class Arrays {
public:
    // `each` calls what it is given with all arrays and their sizes.
    template <class Each> explicit Arrays(const Each& each) {
        size_t bytes = 0;
        each([&bytes](auto*& array, int count) { bytes += size_of(array, count); });
        memory_.reset(static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)));
        if (!memory_) throw std::bad_alloc();
        std::memset(memory_.get(), 0, bytes);
        char* next = memory_.get();
        each([&next](auto*& array, int count) {
            array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
            next += size_of(array, count);
        });
    }

private:
    struct Free {
        void operator()(char* memory) const { std::free(memory); }
    };
    template <class T> static size_t size_of(T*, int count) {
        static_assert(alignof(T) == alignof(Real));
        return static_cast<size_t>(count) * sizeof(T);
    }
    std::unique_ptr<char, Free> memory_;
};

struct Group {
    // state
    Real *qpos, *qvel, *warmstart, *act, *ctrl, *mocap_pos, *mocap_quat;
    Real* own;  // the numbers in which the environments differ, if they do
    bool has_own = false;
    std::array<uint64_t, WIDTH> whose_own = {};  // of each lane, as `Record` has it
    // before the last step, to repeat it with MuJoCo
    Real *last_qpos, *last_qvel, *last_warmstart, *last_act;
    Mask bad;                // lanes for which MuJoCo has to take the last step
    int dropped = 0;         // lanes for which it has to take all of them, bit by bit
    int with_result = 0;     // lanes of which the record has the result already, bit by bit
    Mask is_cold;            // lanes in which the solver does not begin at the warm start
    bool has_step1 = false;  // what `step1` computes is that of qpos and qvel
    bool has_fixed = false;  // the geoms of the world are in their places
    const Coverage* coverage;
    int has_unseen;                              // the constraints may have something that no compared step had
    std::vector<std::pair<int, Active>> unseen;  // lanes, and what was active in the last step that none compared had
    // of positions
    Real (*xpos)[3], (*xquat)[4], (*xmat)[9], (*xipos)[3], (*ximat)[9];
    Real (*xanchor)[3], (*xaxis)[3], (*com)[3], (*cinert)[10], (*crb)[10];
    Real (*cdof)[6], *M, *LD, *LD_inverse;
    std::vector<int> near_boxes;  // of collisions, in the order of their numbers
    Real (*geom_pos)[3], (*geom_axis)[3], (*geom_mat)[9], (*site_pos)[3], *tendon_length;
    // of velocities
    Real (*cvel)[6], (*cdof_dot)[6], *bias, *passive, *actuator, *actuator_damping, *gravcomp;
    Real *tendon_velocity, *tendon_J, *sensed, *actuator_force;
    Real *smooth, *smooth_acc, *qacc, *constraint, *act_dot;
    Real* distances;  // of equality constraints, from where they hold
    // constraints: those that are active in a lane
    int num_rows, num_contacts;
    int own_rows[WIDTH][MAX_ROWS], num_own_rows[WIDTH];  // which rows each lane has
    Row* rows;
    Contact* contacts;
    Real *J, (*contact_force)[6];
    // integration
    Real *first_qpos, *first_act, *stage_vel[4], *stage_acc[4], *stage_act_dot[4];

    explicit Group(const Description& m)
        : arrays_([&](const auto& add) {
              for (Real** each : {&qpos, &last_qpos, &first_qpos}) add(*each, m.nq);
              for (Real** each : {&qvel, &warmstart, &last_qvel, &last_warmstart, &LD_inverse, &bias, &passive,
                                  &actuator, &actuator_damping, &gravcomp, &smooth, &smooth_acc, &qacc, &constraint})
                  add(*each, m.nv);
              for (Real** each : {&act, &last_act, &first_act, &act_dot}) add(*each, m.num_acts);
              for (int stage = 0; stage < 4; ++stage) {
                  add(stage_vel[stage], m.nv), add(stage_acc[stage], m.nv);
                  add(stage_act_dot[stage], m.num_acts);
              }
              add(mocap_pos, 3 * m.num_mocap), add(mocap_quat, 4 * m.num_mocap);
              add(distances, static_cast<int>(m.equalities.size()));
              add(ctrl, m.nu), add(actuator_force, m.nu), add(own, m.num_own), add(sensed, m.num_sensed);
              add(xpos, m.num_bodies), add(xquat, m.num_bodies), add(xmat, m.num_bodies);
              add(xipos, m.num_bodies), add(ximat, m.num_bodies), add(cinert, m.num_bodies), add(crb, m.num_bodies);
              add(xanchor, m.num_joints), add(xaxis, m.num_joints), add(com, static_cast<int>(m.roots.size()));
              add(cdof, m.nv), add(M, m.num_inertia), add(LD, m.num_inertia);
              add(cvel, m.num_bodies), add(cdof_dot, m.nv);
              add(geom_pos, m.num_geoms), add(geom_axis, m.num_geoms), add(geom_mat, m.num_geoms);
              add(tendon_length, m.num_tendons), add(tendon_velocity, m.num_tendons),
                  add(tendon_J, m.num_tendon_numbers);
              add(rows, MAX_ROWS), add(contacts, MAX_ROWS), add(J, MAX_ROWS * m.nv);
              add(site_pos, m.num_sites), add(contact_force, m.num_bodies);
          }) {
        // of the world
        xquat[0][0] = all(1);
        for (int k = 0; k < 9; k += 4) xmat[0][k] = ximat[0][k] = all(1);
        for (int k = 0; k < m.num_tendons; ++k) {
            const Tendon& t = m.tendons[k];
            for (int j = 0; j < t.num_joints; ++j) tendon_J[t.first_number + j] = all(t.jacobian[j]);
        }
    }

private:
    Arrays arrays_;
};

// a number of a model, or those of the environments if they differ in it
CYPOOL_LANES_INLINE Real own_or(const Group& d, int place, double shared) {
    return d.has_own ? d.own[place] : all(shared);
}

// the centre of mass that inertia and axes of motion of a body are around
CYPOOL_LANES_INLINE const Real* com_of(const Description& m, const Group& d, int body) {
    return d.com[m.bodies[body].root];
}

inline void note_unseen(Group& d, int number, int branches, const Mask& active) {
    if (!(d.coverage->unseen(number) & branches)) return;
    for (int left = bits(active); left; left &= left - 1)
        d.unseen.push_back({__builtin_ctz(static_cast<unsigned>(left)), {number, static_cast<uint64_t>(branches)}});
}
inline void note_clip(Group& d, int number, const Real& x, double low, double high, int is_low, int is_high) {
    if (!(d.coverage->unseen(number) & (is_low | is_high))) return;
    note_unseen(d, number, is_low, x < low);
    note_unseen(d, number, is_high, x > high);
}

}  // namespace cypool::lanes::CYPOOL_LANES

#pragma GCC pop_options
