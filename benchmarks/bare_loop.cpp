// The steps of MuJoCo that a pool takes, and nothing else, for comparison with the suite and Meta-World.
#include <mujoco/mujoco.h>

#include <thread>
#include <vector>

// Takes num_steps actions of each environment, in dm_control's "legacy" order. The controls are (num_steps, num_envs,
// nu). Each thread has its own environments and waits for no other.
extern "C" void run(const mjModel* m, mjData* const* envs, int num_envs, const double* controls, int num_steps,
                    int sub_steps, int num_threads) {
    // MuJoCo's Python package sets a clock that a loop in C++ would not have
    const mjfTime clock = mjcb_time;
    mjcb_time = nullptr;
    const auto part = [=](int first) {
        for (int t = 0; t < num_steps; ++t) {
            for (int k = first; k < num_envs; k += num_threads) {
                mju_copy(envs[k]->ctrl, controls + (static_cast<long>(t) * num_envs + k) * m->nu, m->nu);
                int rest = sub_steps;
                if (m->opt.integrator != mjINT_RK4) {
                    mj_step2(m, envs[k]);
                    --rest;
                }
                for (; rest > 0; --rest) mj_step(m, envs[k]);
                mj_step1(m, envs[k]);
            }
        }
    };
    std::vector<std::thread> threads;
    for (int first = 1; first < num_threads; ++first) threads.emplace_back(part, first);
    part(0);
    for (std::thread& each : threads) each.join();
    mjcb_time = clock;
}

// Takes num_steps steps of one of Meta-World's tasks, each with a place of the hand's mocap body and two controls.
extern "C" void run_arm(const mjModel* m, mjData* d, const double* places, const double* controls, int num_steps,
                        int sub_steps) {
    const mjfTime clock = mjcb_time;
    mjcb_time = nullptr;
    const double quat[4] = {1, 0, 1, 0};
    for (int t = 0; t < num_steps; ++t) {
        mju_copy3(d->mocap_pos, places + 3 * t);
        mju_copy4(d->mocap_quat, quat);
        mju_copy(d->ctrl, controls + m->nu * t, m->nu);
        for (int k = 0; k < sub_steps; ++k) mj_step(m, d);
    }
    mjcb_time = clock;
}
