// Observations of agents.
#pragma once

#include "cypool/envs/highway/tasks.h"

namespace cypool::highway {

class Observer : public Task {
public:
    Observer() = default;
    using Task::Task;

    // writes an agent's observation
    void observe(int agent, char* out) {
        for (const View& part : setup->views) {
            view = &part;
            observe(ego(agent), out);
            out += setup->room(part);
        }
    }

private:
    void observe(const Body& b, void* out) {
        switch (view->kind) {
            case KINEMATICS:
            case EXIT_OBS: return kinematics(b, static_cast<float*>(out));
            case TTC: return collisions(b, static_cast<float*>(out));
            case GRID: return grid(b, out);
            case LIDAR: return lidar(b, static_cast<float*>(out));
            case ATTRIBUTES: std::memcpy(out, attributes, sizeof attributes); return;
            case GOAL: {
                double all[16];
                double* d = static_cast<double*>(out);
                features(b, nullptr, true, all);
                for (int k = 0; k < view->num_features; ++k)
                    d[k] = d[view->num_features + k] = all[view->features[k]] / view->scales[k];
                features(world.objects[b.goal], nullptr, true, all);
                for (int k = 0; k < view->num_features; ++k)
                    d[2 * view->num_features + k] = all[view->features[k]] / view->scales[k];
                return;
            }
        }
    }
    void features(const Body& b, const Body* origin, bool intentions, double* out) const {
        const bool vehicle = b.is_vehicle();
        out[PRESENCE] = 1;
        out[X] = b.x, out[Y] = b.y;
        out[VX] = vehicle ? b.vx() : 0.0, out[VY] = vehicle ? b.vy() : 0.0;
        out[HEADING] = vehicle ? b.heading : std::nan("");
        out[COS_H] = b.cos_h, out[SIN_H] = b.sin_h;
        out[COS_D] = out[SIN_D] = 0;
        if (intentions && view->needs(COS_D, SIN_D) && vehicle && b.has_route && !b.route.empty()) {
            const Step& last = b.route.back();
            const Lane& l = world.net->lanes[world.net->roads[last.road].first + std::max(last.id, 0)];
            double x, y;
            l.position(l.length, 0, x, y);
            if (x != b.x || y != b.y) {
                const double n = norm(x - b.x, y - b.y);
                out[COS_D] = (x - b.x) / n, out[SIN_D] = (y - b.y) / n;
            }
        }
        out[LONG_OFF] = out[LAT_OFF] = out[ANG_OFF] = std::nan("");
        if (vehicle && view->needs(LONG_OFF, ANG_OFF)) {
            const auto c = world.on_lane_of(b, b.lane);
            out[LONG_OFF] = c.s, out[LAT_OFF] = c.lateral;
            out[ANG_OFF] = wrap(b.heading - lane(b).heading_at(c.s));
        }
        if (origin) {
            out[X] -= origin->x, out[Y] -= origin->y;
            out[VX] -= origin->vx(), out[VY] -= origin->vy();
        }
    }
    void ranges(const Body& b) {  // those not given are of the road where the first observation is made
        if (has_range >> b.agent & 1) return;
        has_range |= 1u << b.agent;
        range_y[b.agent] = 4.0 * world.net->road_of(b.lane).count;
    }
    double ranged(int feature, double v, bool clipped, double range_y = 0) const {
        double low = view->low[feature], high = view->high[feature];
        if (feature == Y && view->has_road_range) low = -range_y, high = range_y;
        if (low == high) return v;
        v = mapped(v, low, high, -1, 1);
        return clipped ? clip(v, -1, 1) : v;
    }
    void kinematics(const Body& b, float* out) {
        const bool exit = view->kind == EXIT_OBS;
        const int n = view->num_features;
        double all[16];
        world.close_to(b, view->rows - 1, view->see_behind, exit || view->sorted, !exit && view->objects, near);
        std::fill_n(out, size_t(view->rows) * n, 0.0f);
        ranges(b);
        const auto write = [&](float* row) {
            for (int k = 0; k < n; ++k) {
                const int f = view->features[k];
                row[k] = static_cast<float>(view->normalize ? ranged(f, all[f], view->clip, range_y[b.agent]) : all[f]);
            }
        };
        features(b, nullptr, true, all);
        if (exit) {
            const int road = world.net->road_between(o->nodes[1], o->nodes[2]);
            all[X] = world.on_lane_of(b, world.net->roads[road].first + world.net->roads[road].count - 1).s;
        }
        write(out);
        int row = 1;
        for (const Body* v : near) {
            features(*v, view->absolute ? nullptr : &b, view->intentions, all);
            write(out + n * row++);
        }
        if (view->shuffled) {
            // rows of an array: swapped through a buffer, drawn like items of a list
            for (int i = view->rows - 2; i > 0; --i) {
                const int j = int(interval(world.rng, i));
                if (i != j) std::swap_ranges(out + (1 + i) * n, out + (2 + i) * n, out + (1 + j) * n);
            }
        }
    }
    void collisions(const Body& b, float* out) {
        const Network& net = *world.net;
        const int speeds = o->num_targets(), lanes = net.road_of(ego().lane).count, T = view->horizon;
        const double quantum = 1 / o->policy_frequency;
        table.assign(size_t(speeds) * lanes * T, 0.0);
        for (const Body& v : world.vehicles) {
            if (&v == &b) continue;
            const int road = net.lanes[v.lane].road;
            if (!net.connected(net.lanes[b.lane].road, road, b.route.data(), b.has_route ? int(b.route.size()) : 0, 3))
                continue;
            const bool same = net.roads[road].count == net.road_of(b.lane).count;
            const double between = world.lane_distance(b, v), margin = v.length / 2 + b.length / 2;
            const double projected = v.speed * dot(v.cos_h, v.sin_h, b.cos_h, b.sin_h);
            for (int k = 0; k < speeds; ++k) {
                if (world.target_speeds[k] == v.speed) continue;
                for (const auto& [m, cost] : {std::pair{0.0, 1.0}, {-margin, 0.5}, {margin, 0.5}}) {
                    const double t = (between + m) / not_zero(world.target_speeds[k] - projected);
                    if (t < 0) continue;
                    for (double at : {std::trunc(t / quantum), std::ceil(t / quantum)}) {
                        if (!(0 <= at && at < T)) continue;
                        const int first = same ? net.lanes[v.lane].id : 0, last = same ? first : lanes - 1;
                        for (int l = first; l <= last; ++l) {
                            double& cell = table[(size_t(k) * lanes + l) * T + int(at)];
                            cell = std::max(cell, cost);
                        }
                    }
                }
            }
        }
        for (int i = 0; i < 3; ++i) {
            const int k = std::clamp(b.speed_index + i - 1, 0, speeds - 1);
            for (int j = 0; j < 3; ++j) {
                const int l = net.lanes[b.lane].id + j - 1;
                for (int t = 0; t < T; ++t)
                    *out++ = l < 0 || l >= lanes ? 1.0f : static_cast<float>(table[(size_t(k) * lanes + l) * T + t]);
            }
        }
    }
    bool cell_of(const Body& b, double x, double y, int& i, int& j) const {
        if (view->align) {
            const double rx = row_times_vector(b.cos_h, b.sin_h, x, y), ry = row_times_vector(-b.sin_h, b.cos_h, x, y);
            x = rx, y = ry;
        }
        const double ci = std::floor((x - view->start[0]) / view->cell[0]),
                     cj = std::floor((y - view->start[1]) / view->cell[1]);
        if (!(0 <= ci && ci < view->width && 0 <= cj && cj < view->height)) return false;
        i = int(ci), j = int(cj);
        return true;
    }
    void grid(const Body& b, void* out) {
        const size_t plane = size_t(view->width) * view->height;
        table.assign(plane * view->num_features, std::nan(""));
        int i, j;
        double all[16];
        for (size_t v = world.vehicles.size(); v-- > 0;) {
            features(world.vehicles[v], &b, true, all);
            // and back, as the reference has it
            const auto back = [&](int f) {
                const double low = view->low[f], high = view->high[f], v = ranged(f, all[f], false);
                return low == high ? v : mapped(v, -1, 1, low, high);
            };
            if (!cell_of(b, back(X), back(Y), i, j)) continue;
            for (int k = 0; k < view->num_features; ++k)
                if (view->features[k] < FEATURES)
                    table[plane * k + size_t(i) * view->height + j] =
                        ranged(view->features[k], all[view->features[k]], false);
        }
        for (int k = 0; k < view->num_features; ++k)
            if (view->features[k] == ON_ROAD) road_layer(b, &table[plane * k]);
        for (size_t k = 0; k < table.size(); ++k) {
            double v = table[k];
            if (view->clip) v = clip(v, -1, 1);
            if (view->as_image)
                static_cast<uint8_t*>(out)[k] =
                    std::isnan(v) ? 0 : static_cast<uint8_t>((clip(v, -1, 1) + 1) / 2 * 255);
            else
                static_cast<float*>(out)[k] = std::isnan(v) ? 0.0f : static_cast<float>(v);
        }
    }
    void road_layer(const Body& b, double* layer) const {
        const double spacing = std::min(view->cell[0], view->cell[1]);
        // farther away than this, no cell is
        const double x1 = view->start[0] + view->width * view->cell[0],
                     y1 = view->start[1] + view->height * view->cell[1];
        const double rx = std::max(std::fabs(view->start[0]), std::fabs(x1)),
                     ry = std::max(std::fabs(view->start[1]), std::fabs(y1));
        const double reach = std::sqrt(rx * rx + ry * ry) + 1e-3;
        for (const Lane& l : world.net->lanes) {
            if (l.farther_than(b.x, b.y, reach)) continue;
            double s, r;
            l.local(b.x, b.y, s, r);
            const double begin = s - 100, end = s + 100, step = (begin + spacing) - begin;
            const int n = int(std::ceil((end - begin) / spacing));
            double last = std::nan("");
            for (int k = 0; k < n; ++k) {
                const double w = clip(k == 0 ? begin : k == 1 ? begin + spacing : begin + k * step, 0, l.length);
                if (w == last) continue;
                last = w;
                if (l.kind != CIRCLE && std::fabs(w - s) > reach) continue;
                double x, y;
                int ci, cj;
                l.position(w, 0, x, y);
                if (cell_of(b, x - b.x, y - b.y, ci, cj)) layer[size_t(ci) * view->height + cj] = 1;
            }
        }
    }
    void lidar(const Body& b, float* out) const {
        const double angle = 2 * PI / view->cells;
        for (int k = 0; k < 2 * view->cells; ++k) out[k] = 1.0f * static_cast<float>(view->lidar_range);
        const auto index = [&](double a) { return int(remainder(std::floor(a / angle), view->cells)); };
        const auto seen_at = [&](double x, double y) { return arctan2(y - b.y, x - b.x) + angle / 2; };
        const auto write = [&](int k, double distance, const Body& v) {
            if (!(distance <= out[2 * k])) return;
            const double dx = cos(k * angle), dy = sin(k * angle);
            out[2 * k] = static_cast<float>(distance);
            out[2 * k + 1] = static_cast<float>(dot(v.vx() - b.vx(), v.vy() - b.vy(), dx, dy));
        };
        const auto look = [&](const Body& v) {
            if (&v == &b || !v.solid()) return;
            const double away = norm(v.x - b.x, v.y - b.y);
            if (away > view->lidar_range) return;
            write(index(seen_at(v.x, v.y)), away - v.width / 2, v);
            const Polygon p(v);
            double low = 0, high = 0;
            for (int k = 0; k < 4; ++k) {
                const double a = seen_at(p.x[k], p.y[k]);
                if (k == 0 || a < low) low = a;
                if (k == 0 || a > high) high = a;
            }
            if (low < -PI / 2 && PI / 2 < high) {
                const double swapped = low + 2 * PI;
                low = high, high = swapped;
            }
            const int start = index(low), end = index(high);
            const int n = start < end ? end - start + 1 : view->cells - start + end + 1;
            for (int k = 0; k < n; ++k) {
                const int at = (start + k) % view->cells;
                write(at, hit(b, at * angle, p), v);
            }
        };
        for (const Body& v : world.vehicles) look(v);
        for (const Body& v : world.objects) look(v);
        if (view->normalize)
            for (int k = 0; k < 2 * view->cells; ++k) out[k] /= static_cast<float>(view->lidar_range);
    }
    // how far along a ray the rectangle begins
    double hit(const Body& b, double angle, const Polygon& p) const {
        const double qx = b.x + view->lidar_range * cos(angle), qy = b.y + view->lidar_range * sin(angle);
        double ux = p.x[1] - p.x[0], uy = p.y[1] - p.y[0], vx = p.x[3] - p.x[0], vy = p.y[3] - p.y[0];
        const double nu = norm(ux, uy), nv = norm(vx, vy);
        ux /= nu, uy /= nu, vx /= nv, vy /= nv;
        const double dx = qx - b.x, dy = qy - b.y, ru = dot(dx, dy, ux, uy), rv = dot(dx, dy, vx, vy);
        const double ax = p.x[0] - b.x, ay = p.y[0] - b.y;
        double u0 = dot(ax, ay, ux, uy) / ru, u1 = dot(p.x[1] - b.x, p.y[1] - b.y, ux, uy) / ru;
        double v0 = dot(ax, ay, vx, vy) / rv, v1 = dot(p.x[3] - b.x, p.y[3] - b.y, vx, vy) / rv;
        if (!(ru >= 0)) std::swap(u0, u1);
        if (!(rv >= 0)) std::swap(v0, v1);
        if (gap(u0, u1, v0, v1) <= 0 && gap(0, 1, u0, u1) <= 0 && gap(0, 1, v0, v1) <= 0)
            return most(u0, v0) * norm(dx, dy);
        return std::numeric_limits<double>::infinity();
    }

protected:
    double range_y[8] = {};  // of agents' observations, fixed at the first one
    uint32_t has_range = 0;

private:
    const View* view = nullptr;
    std::vector<const Body*> near;
    mutable std::vector<double> table;
};

}  // namespace cypool::highway
