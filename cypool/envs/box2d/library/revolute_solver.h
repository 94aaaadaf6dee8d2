// The velocity iterations of an island's joints, in the place of b2RevoluteJoint::SolveVelocityConstraints, with the
// same operations in the same order. Values that are the same in all iterations are computed once, and no call is
// virtual.
#pragma once

#include <cstring>

class RevoluteSolver {
public:
    // InitVelocityConstraints was called for each joint.
    RevoluteSolver(b2Joint** joints, int32 num_joints, int32 num_bodies, const b2SolverData& data)
        : velocities(data.velocities),
          num_joints(num_joints),
          num_bodies(num_bodies) {
        b2Assert(num_joints <= MOST_JOINTS);
        for (int32 k = 0; k < num_joints; ++k) {
            b2Assert(joints[k]->GetType() == e_revoluteJoint);
            begin(parts[k], impulses[k], static_cast<b2RevoluteJoint*>(joints[k]), data.step);
        }
    }

    void solve_once() {
        for (int32 k = 0; k < num_joints; ++k) solve(parts[k], impulses[k]);
    }

    // All iterations of an island without contacts. An iteration depends on velocities and impulses only: from bits
    // that were there before, the iterations repeat. This is Brent's search for that.
    void solve_all(int32 iterations) {
        const bool searches = num_joints > 0 && num_bodies <= MOST_BODIES;
        if (searches) remember();
        for (int32 power = 1, since = 0; iterations > 0;) {
            solve_once();
            --iterations;
            if (!searches) continue;
            ++since;
            if (is_remembered()) {
                for (iterations %= since; iterations > 0; --iterations) solve_once();
            } else if (since == power) {
                power *= 2;
                since = 0;
                remember();
            }
        }
    }

    void store() const {
        for (int32 k = 0; k < num_joints; ++k) {
            parts[k].joint->m_impulse = impulses[k].point;
            parts[k].joint->m_motorImpulse = impulses[k].motor;
        }
    }

private:
    // those of the robots that cypool has
    static constexpr int32 MOST_JOINTS = 4, MOST_BODIES = MOST_JOINTS + 1;

    struct Impulse {
        b2Vec3 point;
        float32 motor;
    };
    struct Part {
        b2RevoluteJoint* joint;
        int32 a, b;
        float32 mass_a, mass_b, inertia_a, inertia_b;  // the inverse
        b2Vec2 arm_a, arm_b;
        bool has_motor, has_limit;
        float32 motor_mass, motor_speed, most;
        b2LimitState limit;
        b2Mat33 mass;
        b2Vec3 cross;
        float32 factor_22, factor_33;  // 1 / determinant
    };

    static float32 inverse(float32 determinant) { return determinant != 0.0f ? 1.0f / determinant : determinant; }
    static void begin(Part& p, Impulse& impulse, b2RevoluteJoint* joint, const b2TimeStep& step) {
        p.joint = joint;
        p.a = joint->m_indexA;
        p.b = joint->m_indexB;
        p.mass_a = joint->m_invMassA;
        p.mass_b = joint->m_invMassB;
        p.inertia_a = joint->m_invIA;
        p.inertia_b = joint->m_invIB;
        p.arm_a = joint->m_rA;
        p.arm_b = joint->m_rB;
        p.limit = joint->m_limitState;
        const bool turns = p.inertia_a + p.inertia_b != 0.0f;
        p.has_motor = joint->m_enableMotor && p.limit != e_equalLimits && turns;
        p.has_limit = joint->m_enableLimit && p.limit != e_inactiveLimit && turns;
        p.motor_mass = joint->m_motorMass;
        p.motor_speed = joint->m_motorSpeed;
        p.most = step.dt * joint->m_maxMotorTorque;
        p.mass = joint->m_mass;
        p.cross = b2Cross(p.mass.ey, p.mass.ez);
        p.factor_22 = inverse(p.mass.ex.x * p.mass.ey.y - p.mass.ey.x * p.mass.ex.y);
        p.factor_33 = inverse(b2Dot(p.mass.ex, p.cross));
        impulse = {joint->m_impulse, joint->m_motorImpulse};
    }

    // b2Clamp, with jumps in the place of minss and maxss: the code behind it runs before the comparison is known. The
    // empty statements keep the compiler from undoing that.
    static float32 keep_within(float32 x, float32 most) {
        if (!(x < most)) {
            asm volatile("");
            x = most;
        }
        if (-most > x) {
            asm volatile("");
            x = -most;
        }
        return x;
    }
    static b2Vec2 solve_22(const Part& p, const b2Vec2& b) {
        return b2Vec2(p.factor_22 * (p.mass.ey.y * b.x - p.mass.ey.x * b.y),
                      p.factor_22 * (p.mass.ex.x * b.y - p.mass.ex.y * b.x));
    }
    static b2Vec3 solve_33(const Part& p, const b2Vec3& b) {
        return b2Vec3(p.factor_33 * b2Dot(b, p.cross), p.factor_33 * b2Dot(p.mass.ex, b2Cross(b, p.mass.ez)),
                      p.factor_33 * b2Dot(p.mass.ex, b2Cross(p.mass.ey, b)));
    }

    [[gnu::always_inline]] void solve(const Part& p, Impulse& total) {
        b2Velocity &a = velocities[p.a], &b = velocities[p.b];
        b2Vec2 v_a = a.v, v_b = b.v;
        float32 w_a = a.w, w_b = b.w;
        if (p.has_motor) {
            const float32 before = total.motor;
            total.motor = keep_within(before + -p.motor_mass * (w_b - w_a - p.motor_speed), p.most);
            const float32 impulse = total.motor - before;
            w_a -= p.inertia_a * impulse;
            w_b += p.inertia_b * impulse;
        }
        const b2Vec2 speed = v_b + b2Cross(w_b, p.arm_b) - v_a - b2Cross(w_a, p.arm_a);
        if (p.has_limit) {
            b2Vec3 impulse = -solve_33(p, b2Vec3(speed.x, speed.y, w_b - w_a));
            const float32 sum = total.point.z + impulse.z;
            if (p.limit == e_atLowerLimit ? sum < 0.0f : p.limit == e_atUpperLimit && sum > 0.0f) {
                const b2Vec2 reduced = solve_22(p, -speed + total.point.z * b2Vec2(p.mass.ez.x, p.mass.ez.y));
                impulse.Set(reduced.x, reduced.y, -total.point.z);
                total.point.x += reduced.x;
                total.point.y += reduced.y;
                total.point.z = 0.0f;
            } else {
                total.point += impulse;
            }
            const b2Vec2 point(impulse.x, impulse.y);
            v_a -= p.mass_a * point;
            w_a -= p.inertia_a * (b2Cross(p.arm_a, point) + impulse.z);
            v_b += p.mass_b * point;
            w_b += p.inertia_b * (b2Cross(p.arm_b, point) + impulse.z);
        } else {
            const b2Vec2 impulse = solve_22(p, -speed);
            total.point.x += impulse.x;
            total.point.y += impulse.y;
            v_a -= p.mass_a * impulse;
            w_a -= p.inertia_a * b2Cross(p.arm_a, impulse);
            v_b += p.mass_b * impulse;
            w_b += p.inertia_b * b2Cross(p.arm_b, impulse);
        }
        a.v = v_a;
        a.w = w_a;
        b.v = v_b;
        b.w = w_b;
    }

    void remember() {
        std::memcpy(velocities_then, velocities, num_bodies * sizeof(b2Velocity));
        std::memcpy(impulses_then, impulses, num_joints * sizeof(Impulse));
    }
    bool is_remembered() const {
        // mostly the first differ
        return std::memcmp(impulses_then, impulses, sizeof(float32)) == 0
               && std::memcmp(velocities_then, velocities, num_bodies * sizeof(b2Velocity)) == 0
               && std::memcmp(impulses_then, impulses, num_joints * sizeof(Impulse)) == 0;
    }

    b2Velocity* const velocities;
    const int32 num_joints, num_bodies;
    Part parts[MOST_JOINTS];
    Impulse impulses[MOST_JOINTS];
    b2Velocity velocities_then[MOST_BODIES];
    Impulse impulses_then[MOST_JOINTS];
};
