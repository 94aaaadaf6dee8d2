// What of a model was active in a step that mj_step has repeated, with the same bits: contacts, limits, branches.
//
// A step in lanes in which anything else is active is repeated before anybody sees its result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "cypool/envs/shared/lanes/record.h"

namespace cypool::lanes {

// bits: where on its curve the impedance of a contact or a limit is; whether a contact has the other first tangent
enum Branch : uint8_t { RISING = 1, FALLING = 2, FULL = 4, STEEP = 8 };
// where a row of friction, or the spring of a tendon is: at its force in either direction, or between
enum Stick : uint8_t { PULLS = 1, PUSHES = 2, STICKS = 4 };
// of an actuator, whose control, force or activation is clipped, and of the forces of a joint's actuators together
enum Clip : uint8_t { CTRL_LOW = 1, CTRL_HIGH = 2, FORCE_LOW = 4, FORCE_HIGH = 8, ACT_LOW = 16, ACT_HIGH = 32 };
// how far a body turns in a stage of Runge-Kutta: farther than a series holds, more than half a turn
enum Turn : uint8_t { FAR = 1, OVER = 2 };
enum { PATH = -1, BITS_OF_PATHS = 16 };

class Coverage {
public:
    explicit Coverage(const Description& m)
        : first_more_(m.num_pairs),
          first_found_(first_more_ + m.num_pairs),
          first_limit_(first_found_ + m.num_pairs),
          first_friction_(first_limit_ + 2 * m.num_joints),
          first_tendon_(first_friction_ + m.num_frictions),
          first_actuator_(first_tendon_ + 3 * m.num_tendons),
          first_force_(first_actuator_ + m.nu),
          turns_(first_force_ + m.num_joints),
          continued_(turns_ + 1),
          first_equality_(continued_ + 1),
          first_box_(first_equality_ + static_cast<int>(m.equalities.size())),
          first_count_(first_box_ + static_cast<int>(m.boxes.size())),
          unseen_(static_cast<size_t>(first_count_) + MAX_ROWS + 1),
          paths_(static_cast<uint64_t*>(std::calloc(NUM_PATHS, sizeof(uint64_t)))) {
        if (!paths_) throw std::bad_alloc();
        for (std::atomic<uint8_t>& each : unseen_) each.store(1, std::memory_order_relaxed);
        for (int k = 0; k < m.num_pairs; ++k) {
            const Pair& p = m.pairs[static_cast<size_t>(k)];
            set(k, curve(p.impedance) | (p.is_on_floor ? 0 : STEEP));
            set(found(k), branch_of(8) * 2 - 1);
        }
        for (int k = 0; k < m.num_joints; ++k)
            for (const bool is_upper : {false, true}) set(limit(k, is_upper), curve(m.joints[k].limit));
        for (int k = 0; k < m.num_tendons; ++k) {
            for (const bool is_upper : {false, true}) set(tendon_limit(k, is_upper), curve(m.tendons[k].limit));
            set(tendon_spring(k), PULLS | PUSHES);
        }
        for (int k = 0; k < m.num_frictions; ++k) set(friction(k), PULLS | PUSHES | STICKS);
        for (int k = 0; k < m.nu; ++k)
            set(actuator(k), CTRL_LOW | CTRL_HIGH | FORCE_LOW | FORCE_HIGH | ACT_LOW | ACT_HIGH);
        for (int k = 0; k < m.num_joints; ++k) set(joint_force(k), FORCE_LOW | FORCE_HIGH);
        set(turns_, FAR | OVER);
        for (size_t k = 0; k < m.equalities.size(); ++k)
            set(equality(static_cast<int>(k)), curve(m.equalities[k].impedance));
    }

    // what is counted: each has a number; that of the first contact of a pair is the pair's
    int more_contacts(int pair) const { return first_more_ + pair; }
    // how many contacts MuJoCo's own function found, of which lanes could lose one; the last branch is that of many
    int found(int pair) const { return first_found_ + pair; }
    static int branch_of(int count) { return 1 << std::min(count, 8) >> 1; }
    int limit(int joint, bool is_upper) const { return first_limit_ + 2 * joint + is_upper; }
    int friction(int row) const { return first_friction_ + row; }
    int tendon_limit(int tendon, bool is_upper) const { return first_tendon_ + 3 * tendon + is_upper; }
    int tendon_spring(int tendon) const { return first_tendon_ + 3 * tendon + 2; }
    int actuator(int actuator) const { return first_actuator_ + actuator; }
    int joint_force(int joint) const { return first_force_ + joint; }
    int turns() const { return turns_; }
    // whether lanes continued after a step that mj_step took
    int continued() const { return continued_; }
    int equality(int number) const { return first_equality_ + number; }
    int box(int box) const { return first_box_ + box; }
    int rows(int count) const { return first_count_ + count; }
    // The branches that the solver took, bit by bit.
    bool has_path(uint64_t branches) const {
        return place_of(branches).load(std::memory_order_relaxed) == (branches | TAKEN);
    }

    // its branches that no compared step had, bit by bit
    int unseen(int number) const { return unseen_[static_cast<size_t>(number)].load(std::memory_order_relaxed); }

    bool has(const Active& active) const {
        return active.number == PATH ? has_path(active.branches) : !(unseen(active.number) & active.branches);
    }
    void add(const Active& active) {
        if (active.number != PATH) {
            unseen_[static_cast<size_t>(active.number)].fetch_and(static_cast<uint8_t>(~active.branches),
                                                                  std::memory_order_relaxed);
            return;
        }
        // as long as there is room: others are compared each time
        const uint64_t taken = active.branches | TAKEN;
        if (num_paths_.load(std::memory_order_relaxed) >= NUM_PATHS / 2) return;
        uint64_t found = 0;
        while (!place_of(active.branches).compare_exchange_weak(found, taken, std::memory_order_relaxed)) {
            if (found == taken) return;
            found = 0;
        }
        num_paths_.fetch_add(1, std::memory_order_relaxed);
    }

private:
    static constexpr uint64_t TAKEN = uint64_t{1} << 63;
    static constexpr size_t NUM_PATHS = size_t{1} << BITS_OF_PATHS;
    // pages of calloc take no memory before a path is in them
    struct Free {
        void operator()(uint64_t* paths) const { std::free(paths); }
    };
    // where a path is, or would be
    std::atomic_ref<uint64_t> place_of(uint64_t branches) const {
        size_t at = branches * 0x9e3779b97f4a7c15 >> (64 - BITS_OF_PATHS);
        for (;; at = (at + 1) % NUM_PATHS) {
            const std::atomic_ref<uint64_t> place(paths_[at]);
            const uint64_t found = place.load(std::memory_order_relaxed);
            if (!found || found == (branches | TAKEN)) return place;
        }
    }
    static int curve(const Impedance& s) { return s.is_flat ? RISING : RISING | FALLING | FULL; }
    void set(int number, int branches) {
        unseen_[static_cast<size_t>(number)].store(static_cast<uint8_t>(branches), std::memory_order_relaxed);
    }

    const int first_more_, first_found_, first_limit_, first_friction_, first_tendon_, first_actuator_, first_force_,
        turns_, continued_, first_equality_, first_box_, first_count_;
    std::vector<std::atomic<uint8_t>> unseen_;
    std::unique_ptr<uint64_t[], Free> paths_;  // a hash table; 0: free
    std::atomic<size_t> num_paths_{0};
};

}  // namespace cypool::lanes
