// Where geoms touch and joints are at their limits, for the comparison with mj_step at first use.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "cypool/envs/shared/lanes/record.h"

namespace cypool::lanes {

// a name that MuJoCo's library exports, and that `Library` does not have
inline void* exported(const char* name) {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(library().mj_step), &info)) throw std::invalid_argument("no library");
    void* const handle = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    void* const found = handle ? dlsym(handle, name) : nullptr;
    if (handle) dlclose(handle);
    if (!found) throw std::invalid_argument(std::string("MuJoCo has no ") + name);
    return found;
}

// splitmix64
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    double draw(double most) {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return most * (static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1);
    }

private:
    uint64_t state_;
};

class Poses {
public:
    Poses(const mjModel* m, const Description& description, Random& random)
        : m_(m),
          description_(description),
          random_(random),
          d_(make_data(m, false)) {}

    // Returns positions: the model's own, then some for each limit and each pair that can be had.
    std::vector<std::vector<double>> find() {
        found_.clear();
        begin(0);
        keep();
        for (int k = 0; k < description_.num_joints; ++k) {
            const Joint& j = description_.joints[k];
            if (!j.is_limited) continue;
            for (const bool is_upper : {false, true})
                for (const double depth : depths(j.limit)) {
                    begin(0.05);
                    d_->qpos[j.qpos] = is_upper ? j.high - j.margin + depth : j.low + j.margin - depth;
                    keep();
                }
        }
        for (int k = 0; k < description_.num_tendons; ++k) {
            const Tendon& t = description_.tendons[k];
            if (!t.is_limited) continue;
            for (const bool is_upper : {false, true})
                for (const double depth : depths(t.limit)) {
                    begin(0.05);
                    if (stretch(k, is_upper ? t.high - t.margin + depth : t.low + t.margin - depth, 0.1 * depth))
                        keep();
                }
        }
        // of very many pairs some, for it takes long
        const size_t every = description_.pairs.size() / 1024 + 1;
        for (size_t number = 0; number < description_.pairs.size(); number += every)
            for (const double noise : {0.05, 0.5, 2.0, 2.0, 2.0}) {
                const Pair& p = description_.pairs[number];
                begin(noise);
                // away from the ground
                if (p.body1 && description_.joints[0].type == mjJNT_FREE) d_->qpos[2] += 2 * m_->stat.extent;
                bool is_reached = false;
                for (const double depth : depths(p.impedance)) {
                    if (!approach(p, p.margin - depth, m_->nv)) break;
                    is_reached |= has_room();
                    keep();
                }
                if (is_reached) break;
            }
        for (const Pair& p : description_.pairs)
            for (int axes = 1; axes < 7; ++axes) {
                if (!lay_down(p, axes)) break;
                for (const double depth : depths(p.impedance)) {
                    if (!approach(p, p.margin - depth, 3)) break;
                    keep();
                }
            }
        return std::move(found_);
    }

private:
    using Distance = double (*)(const RawModel*, const RawData*, int, int, double, double*);
    using Jacobian = void (*)(const RawModel*, const RawData*, double*, double*, const double*, int);
    using Step = void (*)(const RawModel*, RawData*);
    using Integrate = void (*)(const RawModel*, double*, const double*, double);

    void begin(double noise) {
        reset_data(m_, d_.get());
        for (int64_t k = 0; noise != 0 && k < m_->nq; ++k) d_->qpos[k] += random_.draw(noise);
    }
    void keep() { found_.emplace_back(d_->qpos, d_->qpos + m_->nq); }

    // whether lanes have room for the constraints there
    bool has_room() const {
        try {
            return !forward(m_, d_.get()) && d_->nefc <= description_.max_rows;
        } catch (const std::runtime_error&) {
            return false;
        }
    }

    // one in each part of the curve of an impedance
    static std::vector<double> depths(const Impedance& s) {
        if (s.is_flat) return {1e-3};
        return {0.5 * s.middle * s.width, 0.5 * (1 + s.middle) * s.width, 1.2 * s.width};
    }

    // Turns a robot that floats until a shape of it is level, on a face or an edge, above one of the world. `axes`:
    // which of its axes are then upright together, bit by bit. Returns whether there is such a pose.
    bool lay_down(const Pair& p, int axes) {
        if (!p.is_general || (p.body1 && p.body2) || !(p.dofs & 1) || description_.joints[0].type != mjJNT_FREE)
            return false;
        begin(0.05);
        d_->qpos[2] += 2 * m_->stat.extent;
        warned(m_, d_.get(), [this] { mj_kinematics(m_, d_.get()); });
        const double* const shape = d_->geom_xmat + 9 * (p.body1 ? p.geom1 : p.geom2);
        const double* const ground = d_->geom_xmat + 9 * (p.body1 ? p.geom2 : p.geom1);
        const double* const root = d_->xmat + 9 * description_.dofs[0].body;
        double from[3] = {}, axis[3], along = 0, across = 0;
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 3; ++k)
                if (axes >> k & 1) from[i] += shape[3 * i + k];
            along += from[i] * ground[3 * i + 2];
        }
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            axis[i] = from[j] * ground[3 * k + 2] - from[k] * ground[3 * j + 2];
            across += axis[i] * axis[i];
        }
        across = std::sqrt(across);
        // the smaller angle, of the axes upwards or downwards
        const double angle = std::atan(across / along) / std::max(across, 1e-15);
        std::vector<double> move(static_cast<size_t>(m_->nv));
        for (size_t i = 0; i < 9; ++i) move[3 + i % 3] += root[i] * axis[i / 3] * angle;
        integrate_(m_->raw, d_->qpos, move.data(), 1);
        return true;
    }

    // Moves the joints until a tendon has a length, by Newton's method. Returns whether it has.
    bool stretch(int tendon, double length, double precision) {
        const Tendon& t = description_.tendons[tendon];
        const double* const J = array_of<double>(d_->raw, library().data, "ten_J") + t.first_number;
        const double& now = array_of<double>(d_->raw, library().data, "ten_length")[tendon];
        for (int step = 0; step < MOST_STEPS; ++step) {
            warned(m_, d_.get(), [this] {
                mj_kinematics(m_, d_.get());
                mj_comPos(m_, d_.get());
                tendon_(m_->raw, d_->raw);
            });
            if (std::fabs(now - length) < precision) return true;
            std::vector<double> move(static_cast<size_t>(m_->nv));
            double squared = 0;
            for (int j = 0; j < t.num_dofs; ++j) squared += J[j] * J[j];
            if (!(squared > 1e-12)) return false;
            for (int j = 0; j < t.num_dofs; ++j) move[static_cast<size_t>(t.dofs[j])] = J[j] * (length - now) / squared;
            integrate_(m_->raw, d_->qpos, move.data(), 1);
        }
        return false;
    }

    // Moves the joints until two geoms have a distance, by Newton's method. Returns whether they do.
    bool approach(const Pair& p, double distance, int64_t num_dofs) {
        const auto size = static_cast<size_t>(m_->nv);
        std::vector<double> jacobians[2] = {std::vector<double>(3 * size), std::vector<double>(3 * size)}, move(size);
        const double precision = 0.05 * std::fabs(p.margin - distance);
        for (int step = 0; step < MOST_STEPS; ++step) {
            double dist = 0, ends[6];
            try {
                warned(m_, d_.get(), [&] {
                    mj_kinematics(m_, d_.get());
                    mj_comPos(m_, d_.get());
                    dist = distance_(m_->raw, d_->raw, p.geom1, p.geom2, 1e6, ends);
                    jacobian_(m_->raw, d_->raw, jacobians[0].data(), nullptr, ends, p.body1);
                    jacobian_(m_->raw, d_->raw, jacobians[1].data(), nullptr, ends + 3, p.body2);
                });
            } catch (const std::runtime_error&) {
                // for which MuJoCo has no memory
                return false;
            }
            if (std::fabs(dist - distance) < precision) return true;
            double squared = 0;
            for (size_t k = 0; k < static_cast<size_t>(num_dofs); ++k) {
                move[k] = 0;
                for (size_t i = 0; i < 3; ++i)
                    move[k] +=
                        (ends[3 + i] - ends[i]) / dist * (jacobians[1][i * size + k] - jacobians[0][i * size + k]);
                squared += move[k] * move[k];
            }
            // so is NaN, where they just touch
            if (!(squared > 1e-12)) return false;
            for (double& each : move) each *= (distance - dist) / squared;
            integrate_(m_->raw, d_->qpos, move.data(), 1);
        }
        return false;
    }

    static constexpr int MOST_STEPS = 20;
    const mjModel* m_;
    const Description& description_;
    Random& random_;
    OwnData d_;
    std::vector<std::vector<double>> found_;
    const Distance distance_ = reinterpret_cast<Distance>(exported("mj_geomDistance"));
    const Step tendon_ = reinterpret_cast<Step>(exported("mj_tendon"));
    const Jacobian jacobian_ = reinterpret_cast<Jacobian>(exported("mj_jac"));
    const Integrate integrate_ = reinterpret_cast<Integrate>(exported("mj_integratePos"));
};

}  // namespace cypool::lanes
