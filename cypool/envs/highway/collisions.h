// Whether two rectangles meet, now or in the next frame, and how that pushes them apart.
#pragma once

#include <limits>

#include "cypool/envs/highway/body.h"

namespace cypool::highway {

struct Polygon {
    double x[5], y[5];  // corners, the first one twice

    explicit Polygon(const Body& b) {
        const double l = b.length / 2, w = b.width / 2;
        const double px[4] = {-l, -l, l, l}, py[4] = {-w, w, w, -w};
        for (int k = 0; k < 4; ++k) {
            x[k] = row_times_matrix(b.cos_h, -b.sin_h, px[k], py[k]) + b.x;
            y[k] = row_times_matrix(b.sin_h, b.cos_h, px[k], py[k]) + b.y;
        }
        x[4] = x[0], y[4] = y[0];
    }
    void project(double nx, double ny, double& low, double& high) const {
        for (int k = 0; k < 5; ++k) {
            const double d = dot(x[k], y[k], nx, ny);
            if (k == 0 || d < low) low = d;
            if (k == 0 || d > high) high = d;
        }
    }
    static double mean(const double* v) { return (((v[0] + v[1]) + v[2]) + v[3]) / 4; }
};

// between two intervals; negative where they overlap
inline double gap(double a0, double a1, double b0, double b1) { return a0 < b0 ? b0 - a1 : a0 - b1; }

// Separating axes, as the reference has them: its `break` leaves the edges of one polygon only.
inline void collide(Body& a, Body& b, double dt) {
    if (!(a.check_collisions || b.check_collisions)) return;
    if (norm(b.x - a.x, b.y - a.y) > (a.diagonal + b.diagonal) / 2 + a.speed * dt) return;
    const Polygon pa(a), pb(b);
    const double ax = a.vx() * dt, ay = a.vy() * dt, bx = b.vx() * dt, by = b.vy() * dt;
    bool now = true, soon = true;
    double shortest = std::numeric_limits<double>::infinity(), tx = 0, ty = 0;
    for (const Polygon* p : {&pa, &pb}) {
        for (int k = 0; k < 4; ++k) {
            double nx = -p->y[k + 1] + p->y[k], ny = p->x[k + 1] - p->x[k];
            const double n = norm(nx, ny);
            nx /= n, ny /= n;
            double a0 = 0, a1 = 0, b0 = 0, b1 = 0;
            pa.project(nx, ny, a0, a1);
            pb.project(nx, ny, b0, b1);
            if (gap(a0, a1, b0, b1) > 0) now = false;
            const double closing = dot(nx, ny, ax - bx, ay - by);
            (closing < 0 ? a0 : a1) += closing;
            const double d = gap(a0, a1, b0, b1);
            if (d > 0) soon = false;
            if (!now && !soon) break;
            if (std::fabs(d) < shortest) {
                shortest = std::fabs(d);
                const double dx = Polygon::mean(pa.x) - Polygon::mean(pb.x);
                const double dy = Polygon::mean(pa.y) - Polygon::mean(pb.y);
                const bool along = dot(dx, dy, nx, ny) > 0;
                tx = along ? nx : -nx;
                ty = along ? ny : -ny;
            }
        }
    }
    const bool solid = a.solid() && b.solid();
    if (soon && solid) {
        const double x = shortest * tx, y = shortest * ty;
        if (b.kind == OBSTACLE) {
            a.push(x, y);
        } else if (a.kind == OBSTACLE) {
            b.push(x, y);
        } else {
            a.push(x / 2, y / 2);
            b.push(-x / 2, -y / 2);
        }
    }
    if (!now) return;
    if (solid) a.crashed = b.crashed = true;
    if (!a.solid()) a.hit = true;
    if (!b.solid()) b.hit = true;
}

}  // namespace cypool::highway
