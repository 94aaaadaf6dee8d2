// Vehicles and objects, and how they move.
#pragma once

#include <algorithm>
#include <vector>

#include "cypool/envs/highway/roads.h"

namespace cypool::highway {

enum Kind { VEHICLE, BICYCLE, MDP, IDM, OBSTACLE, LANDMARK };

struct Body {
    Kind kind = VEHICLE;
    double x = 0, y = 0, heading = 0, speed = 0;
    double cos_h = 1, sin_h = 0;  // of the heading
    double length = 5, width = 2, diagonal = 0;
    double steering = 0, acceleration = 0;  // the stored action
    double min_speed = -40, max_speed = 40;
    int lane = 0, slot = 0;
    mutable size_t place = 0;  // where the list of its lane has it
    bool crashed = false, hit = false, has_impact = false, check_collisions = true;
    double impact_x = 0, impact_y = 0;
    // controlled vehicles
    int target_lane = 0;
    double target_speed = 0;
    bool has_route = false;
    std::vector<Step> route;
    int speed_index = 0;          // MDP
    double timer = 0, delta = 4;  // IDM
    bool enable_lane_change = true;
    bool is_yielding = false;
    double speeds[3] = {}, steers[2] = {};   // linear drivers
    double lateral_speed = 0, yaw_rate = 0;  // bicycle
    int agent = -1;                          // of which it is the vehicle
    int goal = -1;                           // index of an object

    bool is_vehicle() const { return kind < OBSTACLE; }
    bool is_controlled() const { return kind == MDP || kind == IDM; }
    bool solid() const { return kind != LANDMARK; }
    double vx() const { return speed * cos_h; }
    double vy() const { return speed * sin_h; }
    void turn_to(double h) {
        if (h == heading && h != 0) return;  // of zeros, the sign counts
        heading = h;
        face();
    }
    void face() { sine_and_cosine(heading, sin_h, cos_h); }
    void measure() { diagonal = std::sqrt(length * length + width * width); }
    void push(double dx, double dy) { has_impact = true, impact_x = dx, impact_y = dy; }
};

struct Bicycle {
    // derivatives of x, y, heading, speed, lateral speed and yaw rate, with tyres that slip; of the heading, its sine
    // and cosine
    static void slopes(const Body& b, const double* state, double sine, double cosine, double* out) {
        constexpr double INERTIA = 1.0 / 12 * 1 * 29.0, FRICTION = 2 * 15.0, HALF = 2.5;
        const double speed = state[3], sideways = state[4], yaw = state[5];
        double front, rear;
        if (std::fabs(speed) < 1) {
            front = -1 * sideways - INERTIA / HALF * yaw;
            rear = -1 * sideways + INERTIA / HALF * yaw;
        } else {
            const double across[2] = {sideways + HALF * yaw, sideways - HALF * yaw}, along[2] = {speed, speed};
            double angles[4];  // with a gap on both sides
            arctan2_of(across, along, angles + 1, 2);
            front = FRICTION * (b.steering - angles[1]);
            rear = FRICTION * (0 - angles[2]);
        }
        out[0] = row_times_vector(cosine, -sine, speed, sideways);
        out[1] = row_times_vector(sine, cosine, speed, sideways);
        out[2] = yaw;
        out[3] = b.acceleration;
        out[4] = 1 * (front + rear) - yaw * speed;
        out[5] = 1 / INERTIA * (HALF * front - HALF * rear);
    }
    static void move(Body& b, double dt) {  // by a step of Runge and Kutta's method
        const double state[6] = {b.x, b.y, b.heading, b.speed, b.lateral_speed, b.yaw_rate};
        double f1[6], f2[6], f3[6], f4[6], at[6];
        const auto step = [&](const double* f, double length, double* out) {
            for (int k = 0; k < 6; ++k) at[k] = state[k] + f[k] * length;
            double s, c;
            sine_and_cosine(at[2], s, c);
            slopes(b, at, s, c, out);
        };
        slopes(b, state, b.sin_h, b.cos_h, f1);
        step(f1, dt / 2, f2);
        step(f2, dt / 2, f3);
        step(f3, dt, f4);
        for (int k = 0; k < 6; ++k) at[k] = state[k] + dt / 6 * (f1[k] + 2 * f2[k] + 2 * f3[k] + f4[k]);
        b.x = at[0], b.y = at[1], b.speed = at[3], b.lateral_speed = at[4], b.yaw_rate = at[5];
        b.turn_to(at[2]);
    }
};

inline void clip_actions(Body& b) {
    if (b.crashed) {
        b.steering = 0;
        b.acceleration = -1.0 * b.speed;
    }
    if (b.speed > b.max_speed)
        b.acceleration = least(b.acceleration, 1.0 * (b.max_speed - b.speed));
    else if (b.speed < b.min_speed)
        b.acceleration = most(b.acceleration, 1.0 * (b.min_speed - b.speed));
    if (b.kind == BICYCLE) {
        b.steering = clip(b.steering, -PI / 2, PI / 2);
        b.yaw_rate = clip(b.yaw_rate, -2 * PI, 2 * PI);
    }
}

// Moves bodies by a time; `in` and `out` are memory for a number of each.
inline void move(Body* bodies, size_t n, double dt, double* in, double* out) {
    size_t rigid = 0;  // all but bicycles
    for (size_t k = 0; k < n; ++k) {
        clip_actions(bodies[k]);
        if (bodies[k].kind != BICYCLE) in[rigid++] = bodies[k].steering;
    }
    if (rigid) {
        tan_of(in, out, rigid);
        for (size_t k = 0; k < rigid; ++k) in[k] = 1.0 / 2 * out[k];
        arctan_of(in, out, rigid);
    }
    for (size_t k = 0; k < n; ++k) {
        Body& b = bodies[k];
        if (b.kind == IDM) b.timer += dt;
        if (b.kind == BICYCLE) {
            Bicycle::move(b, dt);
            continue;
        }
        const double beta = *out++;
        double s = b.sin_h, c = b.cos_h;
        // of zeros, the sign counts
        if (beta != 0 || b.heading == 0) sine_and_cosine(b.heading + beta, s, c);
        b.x += b.speed * c * dt;
        b.y += b.speed * s * dt;
        if (b.has_impact) {
            b.x += b.impact_x;
            b.y += b.impact_y;
            b.crashed = true;
            b.has_impact = false;
        }
        const double h = b.heading + b.speed * sin(beta) / (b.length / 2) * dt;
        b.speed += b.acceleration * dt;
        b.turn_to(h);
    }
}

}  // namespace cypool::highway
