// A step of many worlds at once, each in a lane of vectors: the velocity iterations of a world depend on each other,
// but not on those of another world. The operations and their order are Box2D's, so the bits are, too.
#pragma once

#include <cstdint>

#include "cypool/envs/box2d/engine.h"
// it needs the one above
#include <Box2D/Dynamics/b2TimeStep.h>

#define CYPOOL_INLINE inline __attribute__((always_inline))

namespace cypool::box2d {

// A body with two limbs on motors and nothing else that moves in its world, while it touches nothing. `begin`, the
// velocity iterations and `finish` are the work of b2World::Step then, without its empty parts.
class FreeRobot {
public:
    static constexpr int LIMBS = 2, BODIES = 1 + LIMBS;

    // limbs: the last one that was made comes first, as b2World::Solve finds them.
    FreeRobot() = default;
    FreeRobot(b2World* world, b2Body* trunk, b2RevoluteJoint* const* limbs) : world(world) {
        bodies[0] = trunk;
        for (int k = 0; k < LIMBS; ++k) {
            joints[k] = limbs[k];
            bodies[1 + k] = limbs[k]->GetBodyB();
        }
    }

    // Whether nothing touches in this step: Box2D makes a contact as soon as boxes around two shapes overlap.
    static bool is_free(const b2World& world, const b2Body* trunk) {
        return world.m_contactManager.m_contactCount == 0 && !(world.m_flags & b2World::e_newFixture)
               && trunk->IsAwake();
    }

    // Up to the velocity iterations.
    void begin() {
        const float32 dt = static_cast<float32>(1.0 / FPS);
        b2TimeStep& step = data.step;
        step.dt = dt;
        step.inv_dt = 1.0f / dt;
        step.dtRatio = world->m_inv_dt0 * dt;
        step.velocityIterations = VELOCITY_ITERATIONS;
        step.positionIterations = POSITION_ITERATIONS;
        step.warmStarting = world->m_warmStarting;
        data.positions = positions;
        data.velocities = velocities;
        for (int k = 0; k < BODIES; ++k) {
            b2Body& body = *bodies[k];
            body.SetAwake(true);
            body.m_islandIndex = k;
            body.m_sweep.c0 = body.m_sweep.c;
            body.m_sweep.a0 = body.m_sweep.a;
            b2Vec2 v = body.m_linearVelocity;
            float32 w = body.m_angularVelocity;
            v += dt * (body.m_gravityScale * world->m_gravity + body.m_invMass * body.m_force);
            w += dt * body.m_invI * body.m_torque;
            v *= b2Clamp(1.0f - dt * body.m_linearDamping, 0.0f, 1.0f);
            w *= b2Clamp(1.0f - dt * body.m_angularDamping, 0.0f, 1.0f);
            positions[k].c = body.m_sweep.c;
            positions[k].a = body.m_sweep.a;
            velocities[k].v = v;
            velocities[k].w = w;
        }
        for (b2RevoluteJoint* joint : joints) joint->InitVelocityConstraints(data);
    }

    // All after the velocity iterations.
    void finish() {
        for (int k = 0; k < BODIES; ++k) move(positions[k], velocities[k]);
        const bool solved = solve_positions();
        for (int k = 0; k < BODIES; ++k) {
            b2Body& body = *bodies[k];
            body.m_sweep.c = positions[k].c;
            body.m_sweep.a = positions[k].a;
            body.m_linearVelocity = velocities[k].v;
            body.m_angularVelocity = velocities[k].w;
            body.SynchronizeTransform();
        }
        if (world->m_allowSleep) sleep(solved);
        for (b2Body* body = world->m_bodyList; body; body = body->GetNext()) {
            if (body->GetType() != b2_staticBody) body->SynchronizeFixtures();
        }
        world->m_contactManager.FindNewContacts();
        if (world->m_continuousPhysics) world->SolveTOI(data.step);
        world->m_inv_dt0 = data.step.inv_dt;
        if (world->m_flags & b2World::e_clearForces) world->ClearForces();
    }

    b2Velocity velocities[BODIES];
    b2RevoluteJoint* joints[LIMBS];
    b2SolverData data;

private:
    void move(b2Position& position, b2Velocity& velocity) const {
        const float32 dt = data.step.dt;
        const b2Vec2 way = dt * velocity.v;
        if (b2Dot(way, way) > b2_maxTranslationSquared) velocity.v *= b2_maxTranslation / way.Length();
        const float32 turn = dt * velocity.w;
        if (turn * turn > b2_maxRotationSquared) velocity.w *= b2_maxRotation / b2Abs(turn);
        position.c += dt * velocity.v;
        position.a += dt * velocity.w;
    }

    bool solve_positions() {
        for (int k = 0; k < POSITION_ITERATIONS; ++k) {
            bool okay = true;
            for (b2RevoluteJoint* joint : joints) okay = joint->SolvePositionConstraints(data) && okay;
            if (okay) return true;
        }
        return false;
    }

    void sleep(bool solved) {
        float32 min_sleep_time = b2_maxFloat;
        for (b2Body* body : bodies) {
            if ((body->m_flags & b2Body::e_autoSleepFlag) == 0
                || body->m_angularVelocity * body->m_angularVelocity
                       > b2_angularSleepTolerance * b2_angularSleepTolerance
                || b2Dot(body->m_linearVelocity, body->m_linearVelocity)
                       > b2_linearSleepTolerance * b2_linearSleepTolerance) {
                body->m_sleepTime = 0.0f;
            } else {
                body->m_sleepTime += data.step.dt;
            }
            min_sleep_time = b2Min(min_sleep_time, body->m_sleepTime);
        }
        if (min_sleep_time >= b2_timeToSleep && solved) {
            for (b2Body* body : bodies) body->SetAwake(false);
        }
    }

    b2World* world;
    b2Body* bodies[BODIES];
    b2Position positions[BODIES];
};

// Eight robots between `begin` and `finish`.
class RobotLanes {
    // a number of each; a comparison gives -1 or 0 in each lane
    using F = float32 __attribute__((vector_size(32)));
    using I = int32_t __attribute__((vector_size(32)));

public:
    void set_robot(int lane, const FreeRobot& robot) {
        for (int k = 0; k < FreeRobot::BODIES; ++k) {
            bodies[k].x[lane] = robot.velocities[k].v.x;
            bodies[k].y[lane] = robot.velocities[k].v.y;
            bodies[k].w[lane] = robot.velocities[k].w;
        }
        for (int k = 0; k < FreeRobot::LIMBS; ++k) set_joint(lane, joints[k], *robot.joints[k], robot.data.step.dt);
    }

    CYPOOL_INLINE void solve_once() {
        for (int k = 0; k < FreeRobot::LIMBS; ++k) solve_once(joints[k], bodies[0], bodies[1 + k]);
    }

    void get(int lane, FreeRobot& robot) const {
        for (int k = 0; k < FreeRobot::BODIES; ++k) {
            robot.velocities[k].v.Set(bodies[k].x[lane], bodies[k].y[lane]);
            robot.velocities[k].w = bodies[k].w[lane];
        }
        for (int k = 0; k < FreeRobot::LIMBS; ++k) {
            b2RevoluteJoint& joint = *robot.joints[k];
            joint.m_impulse.Set(joints[k].point_x[lane], joints[k].point_y[lane], joints[k].point_z[lane]);
            joint.m_motorImpulse = joints[k].motor[lane];
        }
    }

private:
    struct Body {
        F x, y, w;
    };
    struct Joint {
        F mass_a, mass_b, inertia_a, inertia_b;  // the inverse
        F arm_a_x, arm_a_y, arm_b_x, arm_b_y;
        F motor_mass, motor_speed, most;
        F xx, xy, xz, yy, yz, zz;     // the mass matrix, which is symmetric
        F cross_x, cross_y, cross_z;  // of its last two columns
        F factor_22, factor_33;       // 1 / determinant
        I has_limit, is_lower, is_upper;
        F point_x, point_y, point_z, motor;  // the impulses
    };

    static float32 inverse(float32 determinant) { return determinant != 0.0f ? 1.0f / determinant : determinant; }
    static void set_joint(int lane, Joint& to, const b2RevoluteJoint& joint, float32 dt) {
        const b2Mat33& mass = joint.m_mass;
        const b2Vec3 cross = b2Cross(mass.ey, mass.ez);
        // a motor, and two limits that differ
        b2Assert(joint.m_enableMotor && joint.m_enableLimit && joint.m_limitState != e_equalLimits);
        to.mass_a[lane] = joint.m_invMassA;
        to.mass_b[lane] = joint.m_invMassB;
        to.inertia_a[lane] = joint.m_invIA;
        to.inertia_b[lane] = joint.m_invIB;
        to.arm_a_x[lane] = joint.m_rA.x;
        to.arm_a_y[lane] = joint.m_rA.y;
        to.arm_b_x[lane] = joint.m_rB.x;
        to.arm_b_y[lane] = joint.m_rB.y;
        to.motor_mass[lane] = joint.m_motorMass;
        to.motor_speed[lane] = joint.m_motorSpeed;
        to.most[lane] = dt * joint.m_maxMotorTorque;
        to.xx[lane] = mass.ex.x;
        to.xy[lane] = mass.ey.x;
        to.xz[lane] = mass.ez.x;
        to.yy[lane] = mass.ey.y;
        to.yz[lane] = mass.ez.y;
        to.zz[lane] = mass.ez.z;
        to.cross_x[lane] = cross.x;
        to.cross_y[lane] = cross.y;
        to.cross_z[lane] = cross.z;
        to.factor_22[lane] = inverse(mass.ex.x * mass.ey.y - mass.ey.x * mass.ex.y);
        to.factor_33[lane] = inverse(b2Dot(mass.ex, cross));
        to.has_limit[lane] = -(joint.m_limitState != e_inactiveLimit);
        to.is_lower[lane] = -(joint.m_limitState == e_atLowerLimit);
        to.is_upper[lane] = -(joint.m_limitState == e_atUpperLimit);
        to.point_x[lane] = joint.m_impulse.x;
        to.point_y[lane] = joint.m_impulse.y;
        to.point_z[lane] = joint.m_impulse.z;
        to.motor[lane] = joint.m_motorImpulse;
    }

    // b2RevoluteJoint::SolveVelocityConstraints. All ways through it are computed; each lane takes its own.
    static CYPOOL_INLINE void solve_once(Joint& p, Body& a, Body& b) {
        F motor = p.motor + -p.motor_mass * (b.w - a.w - p.motor_speed);
        motor = motor < p.most ? motor : p.most;
        motor = -p.most > motor ? -p.most : motor;
        const F push = motor - p.motor;
        p.motor = motor;
        F w_a = a.w - p.inertia_a * push;
        F w_b = b.w + p.inertia_b * push;

        const F x = b.x - w_b * p.arm_b_y - a.x + w_a * p.arm_a_y;
        const F y = b.y + w_b * p.arm_b_x - a.y - w_a * p.arm_a_x;
        const F z = w_b - w_a;
        // b2Mat33::Solve33: b2Cross((x, y, z), ez), and of ey with it
        const F right_x = y * p.zz - z * p.yz, right_y = z * p.xz - x * p.zz, right_z = x * p.yz - y * p.xz;
        const F left_x = p.yy * z - p.yz * y, left_y = p.yz * x - p.xy * z, left_z = p.xy * y - p.yy * x;
        const F full_x = -(p.factor_33 * (x * p.cross_x + y * p.cross_y + z * p.cross_z));
        const F full_y = -(p.factor_33 * (p.xx * right_x + p.xy * right_y + p.xz * right_z));
        const F full_z = -(p.factor_33 * (p.xx * left_x + p.xy * left_y + p.xz * left_z));
        const F sum = p.point_z + full_z;
        // the limit does not pull, and then there is none
        const I released = (p.is_lower & (sum < 0.0f)) | (p.is_upper & (sum > 0.0f));
        const F rest_x = p.has_limit ? -x + p.point_z * p.xz : -x;
        const F rest_y = p.has_limit ? -y + p.point_z * p.yz : -y;
        const F free_x = p.factor_22 * (p.yy * rest_x - p.xy * rest_y);
        const F free_y = p.factor_22 * (p.xx * rest_y - p.xy * rest_x);
        const I is_full = p.has_limit & ~released;
        const F point_x = is_full ? full_x : free_x, point_y = is_full ? full_y : free_y;
        const F point_z = released ? -p.point_z : full_z;
        p.point_x += point_x;
        p.point_y += point_y;
        p.point_z = released ? F{} : p.has_limit ? sum : p.point_z;

        const F turn_a = p.arm_a_x * point_y - p.arm_a_y * point_x, turn_b = p.arm_b_x * point_y - p.arm_b_y * point_x;
        a.x -= p.mass_a * point_x;
        a.y -= p.mass_a * point_y;
        a.w = w_a - p.inertia_a * (p.has_limit ? turn_a + point_z : turn_a);
        b.x += p.mass_b * point_x;
        b.y += p.mass_b * point_y;
        b.w = w_b + p.inertia_b * (p.has_limit ? turn_b + point_z : turn_b);
    }

    Body bodies[FreeRobot::BODIES] = {};
    Joint joints[FreeRobot::LIMBS] = {};
};

namespace lanes {

constexpr int N = 8, MAX_LANES = 2 * N;

// Two times eight robots take little more time than eight: one waits for its numbers while the other computes.
CYPOOL_INLINE void solve_any(FreeRobot* robots, int count) {
    RobotLanes lanes[2];
    for (int k = 0; k < count; ++k) lanes[k / N].set_robot(k % N, robots[k]);
    if (count > N) {
        for (int n = 0; n < VELOCITY_ITERATIONS; ++n) {
            lanes[0].solve_once();
            lanes[1].solve_once();
        }
    } else {
        for (int n = 0; n < VELOCITY_ITERATIONS; ++n) lanes[0].solve_once();
    }
    for (int k = 0; k < count; ++k) lanes[k / N].get(k % N, robots[k]);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) inline void solve_avx2(FreeRobot* robots, int count) { solve_any(robots, count); }
#endif

// The velocity iterations of up to MAX_LANES robots.
inline void solve_velocities(FreeRobot* robots, int count) {
#if defined(__x86_64__)
    if (avx2) return solve_avx2(robots, count);
#endif
    solve_any(robots, count);
}

}  // namespace lanes

}  // namespace cypool::box2d
