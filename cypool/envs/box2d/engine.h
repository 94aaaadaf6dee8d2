// Box2D, and the shared code of its three environments: how pybox2d gets from Python's numbers to Box2D's, and a world
// that ends well when an assertion of Box2D fails.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <Box2D/Common/b2Settings.h>
// as in Box2D itself, compiled with library/Python.h: no Python, as there is no GIL
#undef b2Assert
#define b2Assert(A) \
    if (!(A)) throw std::logic_error(#A)
#include <Box2D/Box2D.h>

#include "cypool/access.h"
#include "cypool/envs/shared/rules/options.h"

namespace cypool::box2d {

constexpr double PI = 3.141592653589793;
constexpr double FPS = 50;
constexpr int VELOCITY_ITERATIONS = 6 * 30, POSITION_ITERATIONS = 2 * 30;

// np.sign and np.clip of a number
inline double sign(double x) noexcept { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }
inline double clip(double x, double low, double high) noexcept { return x < low ? low : x > high ? high : x; }

// pybox2d takes Python's floats as float32; in between all is double
inline b2Vec2 vec(double x, double y) noexcept { return {static_cast<float>(x), static_cast<float>(y)}; }

struct Point {
    double x, y;
};

// How actions are given: as floats or doubles, or as the number of a discrete one.
struct Actions {
    bool are_continuous, are_floats;

    Actions(const Options& options, bool continuous) : are_continuous(continuous) {
        const std::string dtype = options.at("action_dtype");
        are_floats = dtype == "float32";
    }
    template <size_t N> std::array<double, N> numbers(const void* action) const {
        std::array<double, N> numbers{};
        if (!are_continuous) {
            numbers[0] = static_cast<double>(discrete_action(action));
        } else if (are_floats) {
            std::copy_n(action_data<float>(action), N, numbers.begin());
        } else {
            std::copy_n(action_data<double>(action), N, numbers.begin());
        }
        return numbers;
    }
};

// Whether Box2D finds the hull of n points. It goes from corner to corner until it is back at the first one; for
// corners that lie so close that rounding decides, it may never be, and writes behind its arrays.
inline bool has_hull(const b2Vec2* points, int n) noexcept {
    int first = 0;
    for (int k = 1; k < n; ++k) {
        const b2Vec2 &p = points[k], &best = points[first];
        if (p.x > best.x || (p.x == best.x && p.y < best.y)) first = k;
    }
    int at = first;
    for (int m = 0; m < n; ++m) {
        int next = 0;
        for (int k = 1; k < n; ++k) {
            if (next == at) {
                next = k;
                continue;
            }
            const b2Vec2 r = points[next] - points[at], v = points[k] - points[at];
            const float c = b2Cross(r, v);
            if (c < 0 || (c == 0 && v.LengthSquared() > r.LengthSquared())) next = k;
        }
        at = next;
        if (at == first) return true;
    }
    return false;
}

inline void set_polygon(b2PolygonShape& shape, const Point* points, int n) {
    b2Vec2 vertices[b2_maxPolygonVertices];
    for (int k = 0; k < n; ++k) vertices[k] = vec(points[k].x, points[k].y);
    if (!has_hull(vertices, n)) throw std::logic_error("corners without a hull");
    shape.Set(vertices, n);
}

// The same of an item of the ground, which an error names.
inline void set_polygon(b2PolygonShape& shape, const Point* points, int n, const char* name, size_t index) {
    try {
        set_polygon(shape, points, n);
    } catch (const std::logic_error& error) {
        throw std::logic_error(std::string(name) + "[" + std::to_string(index)
                               + "]: expected corners of a polygon, got " + error.what());
    }
}

inline b2Body* add_body(b2World& world, b2BodyType type, double x = 0, double y = 0, double angle = 0) {
    b2BodyDef def;
    def.type = type;
    def.position = vec(x, y);
    def.angle = static_cast<float>(angle);
    return world.CreateBody(&def);
}

// The fixture of a part of a robot: it collides with the ground only.
inline b2FixtureDef part(const b2Shape* shape, double density, uint16 category) {
    b2FixtureDef def;
    def.shape = shape;
    def.density = static_cast<float>(density);
    def.filter.categoryBits = category;
    def.filter.maskBits = 1;
    return def;
}

struct Hinge {
    b2Vec2 anchor_a, anchor_b;
    double torque, speed, lower, upper;
};

inline b2RevoluteJoint* add_hinge(b2World& world, b2Body* a, b2Body* b, const Hinge& hinge) {
    b2RevoluteJointDef def;
    def.bodyA = a;
    def.bodyB = b;
    def.localAnchorA = hinge.anchor_a;
    def.localAnchorB = hinge.anchor_b;
    // pybox2d's constructor of a definition does that
    def.referenceAngle = static_cast<float>(double{b->GetAngle()} - double{a->GetAngle()});
    def.enableMotor = def.enableLimit = true;
    def.maxMotorTorque = static_cast<float>(hinge.torque);
    def.motorSpeed = static_cast<float>(hinge.speed);
    def.lowerAngle = static_cast<float>(hinge.lower);
    def.upperAngle = static_cast<float>(hinge.upper);
    return static_cast<b2RevoluteJoint*>(world.CreateJoint(&def));
}

// A fiftieth of a second. A world in which an assertion fails can neither be stepped nor deleted: its destructor
// would assert, too. It is leaked, and the exception is thrown again.
inline void advance(std::unique_ptr<b2World>& world) {
    try {
        world->Step(static_cast<float>(1.0 / FPS), VELOCITY_ITERATIONS, POSITION_ITERATIONS);
    } catch (...) {
        static_cast<void>(world.release());
        throw;
    }
}

// The corners of a body's shape, where the body is, times a scale.
inline std::vector<b2Vec2> outline_of(const b2Body& body, const b2Shape& shape, float scale) {
    std::vector<b2Vec2> points;
    if (shape.GetType() == b2Shape::e_edge) {
        const auto& edge = static_cast<const b2EdgeShape&>(shape);
        points = {edge.m_vertex1, edge.m_vertex2};
    } else {
        const auto& polygon = static_cast<const b2PolygonShape&>(shape);
        points.assign(polygon.m_vertices, polygon.m_vertices + polygon.m_count);
    }
    for (b2Vec2& point : points) point = scale * b2Mul(body.GetTransform(), point);
    return points;
}

// A robot with two feet: whether these touch something, and whether its hull has done so.
class TwoFeet : public b2ContactListener {
protected:
    void BeginContact(b2Contact* c) override { touch(c, true); }
    void EndContact(b2Contact* c) override { touch(c, false); }

    b2Body *hull = nullptr, *feet[2] = {};  // the world's
    bool contact[2] = {}, game_over = false;

private:
    void touch(b2Contact* c, bool begins) {
        for (const b2Body* body : {c->GetFixtureA()->GetBody(), c->GetFixtureB()->GetBody()}) {
            if (hull == body && begins) game_over = true;
            for (int k = 0; k < 2; ++k) {
                if (feet[k] == body) contact[k] = begins;
            }
        }
    }
};

// Whether worlds and pictures use vector instructions, where the CPU has them: the results are the same. Not to be
// changed while an environment runs.
inline bool has_avx2() noexcept {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}
inline bool avx2 = has_avx2();
inline void use_simd(bool on) noexcept { avx2 = on && has_avx2(); }

// Box2D fills tables when the first world is made and when the first two bodies meet: to be called while no other
// thread does.
inline void initialize() {
    b2World world(vec(0, 0));
    b2CircleShape circle;
    circle.m_radius = 1;
    for (int k = 0; k < 2; ++k) add_body(world, b2_dynamicBody)->CreateFixture(&circle, 1);
    world.Step(1, 1, 1);
    if (!b2Contact::s_initialized) throw std::logic_error("Box2D: expected tables that the first contact fills");
}

}  // namespace cypool::box2d
