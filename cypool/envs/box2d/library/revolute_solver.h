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
            begin(constraints[k], impulses[k], static_cast<b2RevoluteJoint*>(joints[k]), data.step);
        }
    }

    void solve_once() {
        for (int32 k = 0; k < num_joints; ++k) solve(constraints[k], impulses[k]);
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
            constraints[k].joint->m_impulse = impulses[k].point;
            constraints[k].joint->m_motorImpulse = impulses[k].motor;
        }
    }

private:
    // those of the robots that cypool has
    static constexpr int32 MOST_JOINTS = 4, MOST_BODIES = MOST_JOINTS + 1;

    struct Impulse {
        b2Vec3 point;
        float32 motor;
    };
    struct JointConstraint {
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
    static void begin(JointConstraint& c, Impulse& impulse, b2RevoluteJoint* joint, const b2TimeStep& step) {
        c.joint = joint;
        c.a = joint->m_indexA;
        c.b = joint->m_indexB;
        c.mass_a = joint->m_invMassA;
        c.mass_b = joint->m_invMassB;
        c.inertia_a = joint->m_invIA;
        c.inertia_b = joint->m_invIB;
        c.arm_a = joint->m_rA;
        c.arm_b = joint->m_rB;
        c.limit = joint->m_limitState;
        const bool turns = c.inertia_a + c.inertia_b != 0.0f;
        c.has_motor = joint->m_enableMotor && c.limit != e_equalLimits && turns;
        c.has_limit = joint->m_enableLimit && c.limit != e_inactiveLimit && turns;
        c.motor_mass = joint->m_motorMass;
        c.motor_speed = joint->m_motorSpeed;
        c.most = step.dt * joint->m_maxMotorTorque;
        c.mass = joint->m_mass;
        c.cross = b2Cross(c.mass.ey, c.mass.ez);
        c.factor_22 = inverse(c.mass.ex.x * c.mass.ey.y - c.mass.ey.x * c.mass.ex.y);
        c.factor_33 = inverse(b2Dot(c.mass.ex, c.cross));
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
    static b2Vec2 solve_22(const JointConstraint& c, const b2Vec2& b) {
        return b2Vec2(c.factor_22 * (c.mass.ey.y * b.x - c.mass.ey.x * b.y),
                      c.factor_22 * (c.mass.ex.x * b.y - c.mass.ex.y * b.x));
    }
    static b2Vec3 solve_33(const JointConstraint& c, const b2Vec3& b) {
        return b2Vec3(c.factor_33 * b2Dot(b, c.cross), c.factor_33 * b2Dot(c.mass.ex, b2Cross(b, c.mass.ez)),
                      c.factor_33 * b2Dot(c.mass.ex, b2Cross(c.mass.ey, b)));
    }

    [[gnu::always_inline]] void solve(const JointConstraint& c, Impulse& total) {
        b2Velocity &a = velocities[c.a], &b = velocities[c.b];
        b2Vec2 v_a = a.v, v_b = b.v;
        float32 w_a = a.w, w_b = b.w;
        if (c.has_motor) {
            const float32 before = total.motor;
            total.motor = keep_within(before + -c.motor_mass * (w_b - w_a - c.motor_speed), c.most);
            const float32 impulse = total.motor - before;
            w_a -= c.inertia_a * impulse;
            w_b += c.inertia_b * impulse;
        }
        const b2Vec2 speed = v_b + b2Cross(w_b, c.arm_b) - v_a - b2Cross(w_a, c.arm_a);
        if (c.has_limit) {
            b2Vec3 impulse = -solve_33(c, b2Vec3(speed.x, speed.y, w_b - w_a));
            const float32 sum = total.point.z + impulse.z;
            if (c.limit == e_atLowerLimit ? sum < 0.0f : c.limit == e_atUpperLimit && sum > 0.0f) {
                const b2Vec2 reduced = solve_22(c, -speed + total.point.z * b2Vec2(c.mass.ez.x, c.mass.ez.y));
                impulse.Set(reduced.x, reduced.y, -total.point.z);
                total.point.x += reduced.x;
                total.point.y += reduced.y;
                total.point.z = 0.0f;
            } else {
                total.point += impulse;
            }
            const b2Vec2 point(impulse.x, impulse.y);
            v_a -= c.mass_a * point;
            w_a -= c.inertia_a * (b2Cross(c.arm_a, point) + impulse.z);
            v_b += c.mass_b * point;
            w_b += c.inertia_b * (b2Cross(c.arm_b, point) + impulse.z);
        } else {
            const b2Vec2 impulse = solve_22(c, -speed);
            total.point.x += impulse.x;
            total.point.y += impulse.y;
            v_a -= c.mass_a * impulse;
            w_a -= c.inertia_a * b2Cross(c.arm_a, impulse);
            v_b += c.mass_b * impulse;
            w_b += c.inertia_b * b2Cross(c.arm_b, impulse);
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
    JointConstraint constraints[MOST_JOINTS];
    Impulse impulses[MOST_JOINTS];
    b2Velocity velocities_then[MOST_BODIES];
    Impulse impulses_then[MOST_JOINTS];
};
