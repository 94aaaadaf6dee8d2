// Four environments in lanes: their state, and all that a step computes of it.
#pragma once

#include <utility>
#include <vector>

#include "cypool/envs/mujoco_lanes/record.h"
#include "cypool/envs/mujoco_lanes/spatial.h"

namespace cypool::lanes {

class Coverage;

struct Row {
    Mask active;
    Real R, D, aref, force;
    int joint_dof;  // of a limit, else -1
    bool is_upper;
    uint32_t dofs;  // those with a number in J
};
struct Contact {
    int pair, first_row;
    Mask active;
    Real dist, pos[3], frame[9];
};

struct Group {
    // state
    Real qpos[MAX_POSITIONS], qvel[MAX_DOFS], warmstart[MAX_DOFS], ctrl[MAX_CONTROLS];
    // before the last step, to repeat it with MuJoCo
    Real last_qpos[MAX_POSITIONS], last_qvel[MAX_DOFS], last_warmstart[MAX_DOFS];
    Mask bad;  // lanes that mj_step has to step
    const Coverage* coverage;
    int has_unseen;                              // the constraints may have something that no compared step had
    std::vector<std::pair<int, Active>> unseen;  // lanes, and what was active in them that no compared step had
    bool has_step1;                              // what `step1` computes is that of qpos and qvel
    // of positions
    Real xpos[MAX_BODIES][3], xquat[MAX_BODIES][4], xmat[MAX_BODIES][9], xipos[MAX_BODIES][3], ximat[MAX_BODIES][9];
    Real xanchor[MAX_JOINTS][3], xaxis[MAX_JOINTS][3], com[3], cinert[MAX_BODIES][10], crb[MAX_BODIES][10];
    Real cdof[MAX_DOFS][6], M[MAX_INERTIA], LD[MAX_INERTIA], LD_inverse[MAX_DOFS];
    std::vector<int> near_boxes;  // of collisions, in the order of their numbers
    Real geom_pos[MAX_GEOMS][3], geom_axis[MAX_GEOMS][3], site_pos[MAX_SITES][3], tendon_length[MAX_TENDONS];
    // of velocities
    Real cvel[MAX_BODIES][6], cdof_dot[MAX_DOFS][6], bias[MAX_DOFS], passive[MAX_DOFS], actuator[MAX_DOFS];
    Real tendon_velocity[MAX_TENDONS], speed[3], touch[MAX_TOUCHES];
    Real smooth[MAX_DOFS], smooth_acc[MAX_DOFS], qacc[MAX_DOFS], constraint[MAX_DOFS];
    // constraints: those that are active in a lane
    int num_rows, num_contacts;
    Row rows[MAX_ROWS];
    Contact contacts[MAX_ROWS];
    Real J[MAX_ROWS * MAX_DOFS], contact_force[MAX_BODIES][6];
    // integration
    Real first_qpos[MAX_POSITIONS], stage_vel[4][MAX_DOFS], stage_acc[4][MAX_DOFS];
};

}  // namespace cypool::lanes
