// One environment's part of a step in lanes: what goes in, what comes out, and how MuJoCo repeats its last mj_step.
#pragma once

#include <cmath>
#include <cstring>
#include <string>

#include "cypool/envs/mujoco_lanes/description.h"

namespace cypool::lanes {

// what an environment reads of mjData after a step, but for positions and velocities of joints
enum Reads { READS_NOTHING = 0, READS_POSITIONS = 1, READS_CONTACT_FORCES = 2 };

struct State {
    double qpos[MAX_POSITIONS], qvel[MAX_DOFS], warmstart[MAX_DOFS];
};

class Record {
public:
    State state, last, result;  // before the step, before the last mj_step of it, and after it
    double ctrl[MAX_CONTROLS];
    double xpos[3 * MAX_BODIES], cfrc_ext[6 * MAX_BODIES];
    bool is_ready = false;  // there is a result that nobody has taken
    bool is_stale = false;  // mjData has the result, but not what MuJoCo computes on the way there

    Record(const mjModel* m, mjData* d)
        : m_(m),
          d_(d),
          warmstart_(const_cast<double*>(array_of<double>(d->raw, library().data, "qacc_warmstart"))),
          body_forces_(array_of<double>(d->raw, library().data, "xfrc_applied")),
          joint_forces_(array_of<double>(d->raw, library().data, "qfrc_applied")) {}

    // Takes the state and the controls of mjData; false: mj_step has to step it.
    bool prepare() {
        is_ready = false;
        for (int64_t k = 0; k < m_->nu; ++k)
            if (!(std::fabs(d_->ctrl[k]) < 1e10)) return false;
        for (int64_t k = 0; k < 6 * m_->nbody; ++k)
            if (body_forces_[k] != 0) return false;
        for (int64_t k = 0; k < m_->nv; ++k)
            if (joint_forces_[k] != 0) return false;
        get(state);
        copy(ctrl, d_->ctrl, m_->nu);
        return true;
    }

    // Makes the result that of mjData, if it follows from what is there; else mj_step has to step it.
    bool take(int frames, int reads) {
        if (!is_ready) return false;
        is_ready = false;
        if (!is_now(state) || std::memcmp(ctrl, d_->ctrl, static_cast<size_t>(m_->nu) * sizeof *ctrl)) return false;
        put(result);
        for (int k = 0; k < frames; ++k) {
            last_time_ = d_->time;
            d_->time += m_->opt.timestep;
        }
        copy(last_ctrl_, ctrl, m_->nu);
        if (reads & READS_POSITIONS) copy(d_->xpos + 3, xpos, 3 * (m_->nbody - 1));
        if (reads & READS_CONTACT_FORCES) copy(d_->cfrc_ext, cfrc_ext, 6 * m_->nbody);
        reads_ = reads;
        is_stale = true;
        return true;
    }

    // Repeats the last mj_step with MuJoCo: all of mjData is as if it had stepped. Returns what lanes had otherwise.
    std::string repeat() {
        if (!is_stale) return "";
        is_stale = false;
        // taken over from another environment, the result is only in mjData
        get(result);
        put(last);
        copy(d_->ctrl, last_ctrl_, m_->nu);
        d_->time = last_time_;
        const std::string positions = reads_ & READS_POSITIONS ? bytes(d_->xpos + 3, 3 * (m_->nbody - 1)) : "";
        const std::string forces = reads_ & READS_CONTACT_FORCES ? bytes(d_->cfrc_ext, 6 * m_->nbody) : "";
        if (simulate(m_, d_, 1, reads_ & READS_CONTACT_FORCES)) return "an unstable simulation";
        std::string differing;
        const auto compare = [&differing](const char* name, bool is_same) {
            if (!is_same) differing += differing.empty() ? name : std::string(", ") + name;
        };
        compare("qpos", same(result.qpos, d_->qpos, m_->nq));
        compare("qvel", same(result.qvel, d_->qvel, m_->nv));
        compare("qacc_warmstart", same(result.warmstart, warmstart_, m_->nv));
        compare("xpos", positions.empty() || positions == bytes(d_->xpos + 3, 3 * (m_->nbody - 1)));
        compare("cfrc_ext", forces.empty() || forces == bytes(d_->cfrc_ext, 6 * m_->nbody));
        return differing;
    }

    // Takes over from an environment of which mjData was copied.
    void copy_from(const Record& other) {
        is_ready = false;
        is_stale = other.is_stale;
        last = other.last;
        last_time_ = other.last_time_;
        std::memcpy(last_ctrl_, other.last_ctrl_, sizeof last_ctrl_);
        reads_ = other.reads_;
    }

private:
    static void copy(double* to, const double* from, int64_t n) {
        std::memcpy(to, from, static_cast<size_t>(n) * sizeof *to);
    }
    static std::string bytes(const double* from, int64_t n) {
        return {reinterpret_cast<const char*>(from), static_cast<size_t>(n) * sizeof *from};
    }
    static bool same(const double* a, const double* b, int64_t n) {
        return !std::memcmp(a, b, static_cast<size_t>(n) * sizeof *a);
    }
    void get(State& s) const {
        copy(s.qpos, d_->qpos, m_->nq);
        copy(s.qvel, d_->qvel, m_->nv);
        copy(s.warmstart, warmstart_, m_->nv);
    }
    void put(const State& s) {
        copy(d_->qpos, s.qpos, m_->nq);
        copy(d_->qvel, s.qvel, m_->nv);
        copy(warmstart_, s.warmstart, m_->nv);
    }
    bool is_now(const State& s) const {
        return same(s.qpos, d_->qpos, m_->nq) && same(s.qvel, d_->qvel, m_->nv)
               && same(s.warmstart, warmstart_, m_->nv);
    }

    const mjModel* m_;
    mjData* d_;
    double* warmstart_;
    const double *body_forces_, *joint_forces_;
    double last_time_ = 0, last_ctrl_[MAX_CONTROLS] = {};
    int reads_ = 0;
};

}  // namespace cypool::lanes
