// The world of CarRacing, as bipedal_walker.h: track, car and reward. Its picture is drawn in car_picture.h.
#pragma once

#include <deque>

#include "cypool/envs/box2d/saved_world.h"

namespace cypool::box2d {

class CarRacing : b2ContactListener {
public:
    static constexpr double SCALE = 6.0, FIELD = 2000 / SCALE, DETAIL = 21 / SCALE, WIDTH = 40 / SCALE;
    static constexpr double SIZE = 0.02, WHEEL_W = 14, WHEEL_R = 27;

    struct Color {
        double rgb[3];
    };
    // a quadrilateral of the road: a tile, or a piece of its border
    struct Quad {
        Point corners[4];
        int32 tile;    // its number; -1: a border
        Color border;  // its colour then
    };
    struct Wheel {
        b2Body* body;  // both are the world's
        b2RevoluteJoint* joint;
        double gas, brake, steer, phase, omega;
        int32 num_tiles;    // that it touches
        bool slides;        // and a trace begins with the next step, if it slides then
        int64_t skid;       // number of the trace that grows; -1: none
        bool skid_grass;    // where that is
        int32 skid_points;  // how long it is
    };
    struct Skid {
        bool grass;
        std::vector<Point> points;
    };

    struct Setup : Options {
        Setup(const Options& given) : Options(given) {}
        Actions actions{*this, at("continuous")};
        bool randomize = at("domain_randomize"), fresh_world = at("fresh_world");
        double lap_complete_percent = at("lap_complete_percent");
    };
    explicit CarRacing(const Setup& setup) : setup(setup) {}
    CarRacing(CarRacing&&) = default;  // before its first reset: a world refers to it

    void reset(Step& out) {
        const Rng* rng = out.rng;
        clear();
        total = previous_total = 0;
        if (setup.randomize) {
            for (double& c : road.rgb) c = uniform(rng, 0, 210);
            for (double& c : background.rgb) c = uniform(rng, 0, 210);
            grass = background;
            grass.rgb[integers(rng, 0, 3)] += 20;
        }
        // one in three or so is no closed track
        for (int attempts = 0; !make_track(rng); ++attempts) {
            if (attempts == 1000) throw std::runtime_error("reset: expected random numbers that produce a track");
        }
        build();
        move();
    }

    void step(const void* taken, Step& out) {
        if (!world) throw std::logic_error("a step without a world");
        const auto action = setup.actions.numbers<3>(taken);
        double steer, gas, brake;
        if (setup.actions.are_continuous) {
            steer = -action[0];
            gas = action[1];
            brake = action[2];
        } else {
            steer = -0.6 * (action[0] == 1) + 0.6 * (action[0] == 2);
            gas = 0.2 * (action[0] == 3);
            brake = 0.8 * (action[0] == 4);
        }
        wheels[0].steer = wheels[1].steer = steer;
        gas = clip(gas, 0, 1);
        for (int k = 2; k < 4; ++k) {
            const double more = gas - wheels[k].gas;
            wheels[k].gas += more > 0.1 ? 0.1 : more;
        }
        for (Wheel& wheel : wheels) wheel.brake = brake;
        move();
        total -= 0.1;
        out.reward = total - previous_total;
        previous_total = total;
        out.terminated = lap_finished = num_visited == static_cast<int32>(track.size()) || new_lap;
        const b2Vec2 at = hull->GetPosition();
        if (std::fabs(double{at.x}) > FIELD || std::fabs(double{at.y}) > FIELD) {
            out.terminated = true;
            lap_finished = false;
            out.reward = -100;
        }
    }

    void observe(const Slot& out) const;  // in car_picture.h

    // Returns a new one with the same options.
    std::unique_ptr<CarRacing> fresh() const { return std::make_unique<CarRacing>(setup); }
    template <class Archive> void exchange(Archive& archive) {
        constexpr double REACH = 1e3;
        constexpr int64_t MAX_SKID = int64_t{1} << 40;
        // a tile of the road may be a little lighter
        archive.all("road", road.rgb, 0, 245);
        archive.all("background", background.rgb, 0, 255);
        archive.all("grass", grass.rgb, 0, 255);
        archive.list("track", track, 4, 2500, [&](Node& node) {
            archive("beta", node.beta, -REACH, REACH);
            exchange_xy(archive, node, REACH);
        });
        if constexpr (Archive::LOADS) {
            world.reset(new b2World(vec(0, 0)));
            lay_track();
            build();
        }
        const auto num_tiles = static_cast<int64_t>(track.size());
        archive.each("tiles", tiles, [&](Tile& tile) {
            archive("visited", tile.visited);
            archive("painted", tile.painted);
        });
        archive("total", total, -LARGE, LARGE);
        archive("previous_total", previous_total, -LARGE, LARGE);
        archive("time", time, 0, LARGE);
        archive("shown", shown, -LARGE, LARGE);
        archive("num_visited", num_visited, 0, num_tiles);
        archive("new_lap", new_lap);
        archive("lap_finished", lap_finished);
        archive.each("wheels", wheels, [&](Wheel& wheel) {
            archive("gas", wheel.gas, 0, 1);
            archive("brake", wheel.brake, 0, 1);
            archive("steer", wheel.steer, -1, 1);
            archive("phase", wheel.phase, -LARGE, LARGE);
            archive("omega", wheel.omega, -1e6, 1e6);
            archive("num_tiles", wheel.num_tiles, 0, num_tiles);
            archive("slides", wheel.slides);
            archive("skid", wheel.skid, -1, MAX_SKID);
            archive("skid_grass", wheel.skid_grass);
            archive("skid_points", wheel.skid_points, 0, MAX_POINTS);
        });
        archive("first_skid", first_skid, 0, MAX_SKID);
        archive.list("skids", skids, 0, MAX_SKIDS, [&](Skid& skid) {
            archive("grass", skid.grass);
            archive.list("points", skid.points, 2, MAX_POINTS, [&](Point& at) { exchange_xy(archive, at, REACH); });
        });
        exchange_world(archive, *world, REACH);
    }
    void validate() const {}

    // ---- for pictures

    Color road{{102, 102, 102}}, background{{102, 204, 102}}, grass{{102, 230, 102}};
    std::vector<Quad> quads;
    Color color_of(const Quad& quad) const {
        if (quad.tile < 0) return quad.border;
        if (tiles[quad.tile].painted) return road;
        Color color = road;
        for (double& c : color.rgb) c += 0.01 * (quad.tile % 3) * 255;
        return color;
    }
    struct Pose {
        double x, y, angle, speed, spin, steer;
    };
    Pose pose() const {
        const b2Vec2 at = hull->GetPosition(), v = hull->GetLinearVelocity();
        return {at.x,
                at.y,
                hull->GetAngle(),
                std::sqrt(double{v.x} * v.x + double{v.y} * v.y),
                hull->GetAngularVelocity(),
                wheels[0].joint->GetJointAngle()};
    }
    // of a tyre (part 0), the mark on it that shows that it turns (part 1; nothing if that is below), or, of wheel -1,
    // a part of the hull
    std::vector<b2Vec2> outline(int wheel, int part) const {
        const b2Body* body = wheel < 0 ? hull : wheels[wheel].body;
        if (wheel < 0 || part == 0) {
            const b2Fixture* fixture = body->GetFixtureList();
            for (; part > 0; --part) fixture = fixture->GetNext();
            return outline_of(*body, *fixture->GetShape(), 1);
        }
        const double begin = wheels[wheel].phase, end = begin + 1.2, s1 = std::sin(begin), s2 = std::sin(end);
        if (s1 > 0 && s2 > 0) return {};
        const double y1 = WHEEL_R * (s1 > 0 ? sign(std::cos(begin)) : std::cos(begin)) * SIZE;
        const double y2 = WHEEL_R * (s2 > 0 ? sign(std::cos(end)) : std::cos(end)) * SIZE, x = WHEEL_W * SIZE;
        std::vector<b2Vec2> points{vec(-x, y1), vec(x, y1), vec(x, y2), vec(-x, y2)};
        for (b2Vec2& point : points) point = b2Mul(body->GetTransform(), point);
        return points;
    }
    b2Body* hull = nullptr;  // the world's
    Wheel wheels[4] = {};
    double time = 0;         // s
    double total = 0;        // of rewards
    double shown = 0;        // the same, as the picture of the step has it
    std::deque<Skid> skids;  // the last ones
    bool ready() const noexcept { return static_cast<bool>(world); }

private:
    static constexpr double RADIUS = 900 / SCALE, TURN = 0.31, BORDER = 8 / SCALE;
    static constexpr int MAX_SKIDS = 30, MAX_POINTS = 30;

    struct Node {
        double alpha, beta, x, y;
    };
    struct Tile {
        bool visited, painted;
    };
    // the target of a body's user data: a tile, or a wheel
    struct Role {
        int32 tile, wheel;  // -1: none
    };

    void BeginContact(b2Contact* c) override { touch(c, true); }
    void EndContact(b2Contact* c) override { touch(c, false); }
    void touch(b2Contact* c, bool begins) {
        const auto role = [](b2Fixture* f) { return static_cast<const Role*>(f->GetBody()->GetUserData()); };
        const Role *a = role(c->GetFixtureA()), *b = role(c->GetFixtureB());
        if (b && b->tile >= 0) std::swap(a, b);
        if (!a || a->tile < 0) return;
        Tile& tile = tiles[a->tile];
        tile.painted = true;
        if (!b || b->wheel < 0) return;
        wheels[b->wheel].num_tiles += begins ? 1 : -1;
        if (!begins || tile.visited) return;
        tile.visited = true;
        total += 1000.0 / static_cast<double>(track.size());
        ++num_visited;
        if (a->tile == 0 && num_visited / static_cast<double>(track.size()) > setup.lap_complete_percent)
            new_lap = true;
    }

    // bodies go in the order of Gymnasium's lists; contacts that end thereby are still heard
    void clear() {
        if (!world || setup.fresh_world) {
            world.reset(new b2World(vec(0, 0)));
            return;
        }
        for (b2Body* body : road_bodies) world->DestroyBody(body);
        world->DestroyBody(hull);
        for (const Wheel& wheel : wheels) world->DestroyBody(wheel.body);
    }

    // draws checkpoints and drives along them; False if that gives no closed track
    bool make_track(const Rng* rng) {
        constexpr int N = 12;
        struct {
            double alpha, x, y;
        } checkpoints[N];
        const double start_alpha = 2 * PI * (-0.5) / N;
        for (int c = 0; c < N; ++c) {
            const double noise = uniform(rng, 0, 2 * PI * 1 / N);
            double alpha = 2 * PI * c / N + noise, radius = uniform(rng, RADIUS / 3, RADIUS);
            if (c == 0) alpha = 0, radius = 1.5 * RADIUS;
            if (c == N - 1) alpha = 2 * PI * c / N, radius = 1.5 * RADIUS;
            checkpoints[c] = {alpha, radius * std::cos(alpha), radius * std::sin(alpha)};
        }
        std::vector<Node> way;
        double x = 1.5 * RADIUS, y = 0, beta = 0;
        int next = 0, laps = 0;
        bool behind = false;
        for (int left = 2500;;) {
            double alpha = std::atan2(y, x);
            if (behind && alpha > 0) {
                ++laps;
                behind = false;
            }
            if (alpha < 0) {
                behind = true;
                alpha += 2 * PI;
            }
            double to_x, to_y;
            for (bool found = false;; alpha -= 2 * PI) {
                do {
                    to_x = checkpoints[next % N].x;
                    to_y = checkpoints[next % N].y;
                    found = alpha <= checkpoints[next % N].alpha;
                } while (!found && ++next % N != 0);
                if (found) break;
            }
            const double r1x = std::cos(beta), r1y = std::sin(beta), p1x = -r1y, p1y = r1x;
            double projection = r1x * (to_x - x) + r1y * (to_y - y);
            while (beta - alpha > 1.5 * PI) beta -= 2 * PI;
            while (beta - alpha < -1.5 * PI) beta += 2 * PI;
            const double before = beta;
            projection *= SCALE;
            if (projection > 0.3) beta -= std::fmin(TURN, std::fabs(0.001 * projection));
            if (projection < -0.3) beta += std::fmin(TURN, std::fabs(0.001 * projection));
            x += p1x * DETAIL;
            y += p1y * DETAIL;
            way.push_back({alpha, before * 0.5 + beta * 0.5, x, y});
            if (laps > 4 || --left == 0) break;
        }
        // the last whole lap
        int begin = -1, end = -1;
        for (int i = static_cast<int>(way.size()) - 1; begin < 0; --i) {
            if (i == 0) return false;
            if (way[i].alpha > start_alpha && way[i - 1].alpha <= start_alpha) (end < 0 ? end : begin) = i;
        }
        track.assign(way.begin() + begin, way.begin() + (end - 1));
        const Node &first = track.front(), &last = track.back();
        const double gap_x = std::cos(first.beta) * (first.x - last.x);
        const double gap_y = std::sin(first.beta) * (first.y - last.y);
        if (std::sqrt(gap_x * gap_x + gap_y * gap_y) > DETAIL) return false;
        lay_track();
        return true;
    }

    void lay_track() {
        const int n = static_cast<int>(track.size());
        const auto at = [&](int k) -> const Node& { return track[(k + n) % n]; };
        std::vector<char> border(n);
        for (int i = 0; i < n; ++i) {
            bool good = true;
            double one_side = 0;
            for (int k = 0; k < 4; ++k) {
                const double turn = at(i - k).beta - at(i - k - 1).beta;
                good &= std::fabs(turn) > TURN * 0.2;
                one_side += sign(turn);
            }
            border[i] = good && std::fabs(one_side) == 4;
        }
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < 4; ++k) border[(i - k + n) % n] |= border[i];
        }
        tiles.assign(n, Tile{});
        roles.assign(n + 4, Role{-1, -1});
        road_bodies.clear();
        quads.clear();
        b2PolygonShape shape;
        b2FixtureDef def;
        def.shape = &shape;
        for (int i = 0; i < n; ++i) {
            const Node &a = track[i], &b = at(i - 1);
            const auto beside = [](const Node& node, double side, double width) {
                return Point{node.x + side * width * std::cos(node.beta), node.y + side * width * std::sin(node.beta)};
            };
            const Quad tile{
                {beside(a, -1, WIDTH), beside(a, 1, WIDTH), beside(b, 1, WIDTH), beside(b, -1, WIDTH)}, i, {}};
            set_polygon(shape, tile.corners, 4, "track", i);
            b2Body* body = add_body(*world, b2_staticBody);
            body->CreateFixture(&def);
            body->GetFixtureList()->SetSensor(true);
            roles[i].tile = i;
            body->SetUserData(&roles[i]);
            road_bodies.push_back(body);
            quads.push_back(tile);
            if (!border[i]) continue;
            const double side = sign(b.beta - a.beta), wide = WIDTH + BORDER, other = i % 2 ? 0 : 255;
            quads.push_back(
                {{beside(a, side, WIDTH), beside(a, side, wide), beside(b, side, wide), beside(b, side, WIDTH)},
                 -1,
                 {{255, other, other}}});
        }
    }

    // the car, and all that begins with an episode
    void build() {
        world->SetContactListener(this);
        time = shown = 0;
        num_visited = 0;
        new_lap = lap_finished = false;
        skids.clear();
        first_skid = 0;
        static constexpr Point NOSE[] = {{-60, 130}, {60, 130}, {60, 110}, {-60, 110}},
                               NECK[] = {{-15, 120}, {15, 120}, {20, 20}, {-20, 20}},
                               BODY[] = {{25, 20},   {50, -10},  {50, -40},  {20, -90},
                                         {-20, -90}, {-50, -40}, {-50, -10}, {-25, 20}},
                               TAIL[] = {{-50, -120}, {50, -120}, {50, -90}, {-50, -90}},
                               WHEEL[] = {{-WHEEL_W, WHEEL_R},
                                          {WHEEL_W, WHEEL_R},
                                          {WHEEL_W, -WHEEL_R},
                                          {-WHEEL_W, -WHEEL_R}},
                               PLACES[] = {{-55, 80}, {55, 80}, {-55, -82}, {55, -82}};
        const double x = track[0].x, y = track[0].y, angle = track[0].beta;
        b2PolygonShape shape;
        b2FixtureDef def;
        def.shape = &shape;
        def.density = 1;
        hull = add_body(*world, b2_dynamicBody, x, y, angle);
        const auto add = [&](b2Body* body, const Point* points, int count) {
            Point scaled[8];
            for (int k = 0; k < count; ++k) scaled[k] = {points[k].x * SIZE, points[k].y * SIZE};
            set_polygon(shape, scaled, count);
            body->CreateFixture(&def);
        };
        add(hull, NOSE, 4);
        add(hull, NECK, 4);
        add(hull, BODY, 8);
        add(hull, TAIL, 4);
        def = part(&shape, 0.1, 0x20);
        for (int k = 0; k < 4; ++k) {
            const Point place{PLACES[k].x * SIZE, PLACES[k].y * SIZE};
            b2Body* body = add_body(*world, b2_dynamicBody, x + place.x, y + place.y, angle);
            add(body, WHEEL, 4);
            b2RevoluteJoint* joint = add_hinge(
                *world, hull, body, {vec(place.x, place.y), vec(0, 0), 180 * 900 * SIZE * SIZE, 0, -0.4, 0.4});
            wheels[k] = {body, joint, 0, 0, 0, 0, 0, 0, false, -1, false, 0};
            Role& role = roles[track.size() + k];
            role.wheel = k;
            body->SetUserData(&role);
        }
    }

    void move() {
        for (Wheel& wheel : wheels) drive(wheel);
        advance(world);
        time += 1.0 / FPS;
        shown = total;
    }

    void drive(Wheel& w) {
        constexpr double DT = 1.0 / FPS, POWER = 100000000 * SIZE * SIZE, INERTIA = 4000 * SIZE * SIZE;
        constexpr double LIMIT = 1000000 * SIZE * SIZE, RADIUS_M = 1.0 * WHEEL_R * SIZE;
        const double turn = w.steer - double{w.joint->GetJointAngle()};
        w.joint->SetMotorSpeed(static_cast<float>(sign(turn) * std::fmin(50.0 * std::fabs(turn), 3.0)));
        const bool on_grass = w.num_tiles == 0;
        const double limit = on_grass ? LIMIT * 0.6 : std::fmax(LIMIT * 0.6, LIMIT * 1.0);
        const b2Vec2 forward = w.body->GetWorldVector(b2Vec2(0, 1)), side = w.body->GetWorldVector(b2Vec2(1, 0));
        const b2Vec2 v = w.body->GetLinearVelocity();
        const double forward_speed = double{forward.x} * v.x + double{forward.y} * v.y;
        const double side_speed = double{side.x} * v.x + double{side.y} * v.y;
        w.omega += DT * POWER * w.gas / INERTIA / (std::fabs(w.omega) + 5.0);
        if (w.brake >= 0.9) {
            w.omega = 0;
        } else if (w.brake > 0) {
            const double direction = -sign(w.omega), braking = 15 * w.brake;
            w.omega += direction * (std::fabs(braking) > std::fabs(w.omega) ? std::fabs(w.omega) : braking);
        }
        w.phase += w.omega * DT;
        double f_force = -forward_speed + w.omega * RADIUS_M, p_force = -side_speed;
        f_force *= 205000 * SIZE * SIZE;
        p_force *= 205000 * SIZE * SIZE;
        double force = std::sqrt(f_force * f_force + p_force * p_force);
        trace(w, std::fabs(force) > 2.0 * limit, on_grass);
        if (std::fabs(force) > limit) {
            f_force /= force;
            p_force /= force;
            force = limit;
            f_force *= force;
            p_force *= force;
        }
        w.omega -= DT * f_force * RADIUS_M / INERTIA;
        w.body->ApplyForceToCenter(vec(p_force * side.x + f_force * forward.x, p_force * side.y + f_force * forward.y),
                                   true);
    }

    void trace(Wheel& w, bool slides, bool on_grass) {
        if (!slides) {
            w.slides = false;
            w.skid = -1;
            return;
        }
        const Point at{w.body->GetPosition().x, w.body->GetPosition().y};
        if (w.skid >= 0 && w.skid_grass == on_grass && w.skid_points < MAX_POINTS) {
            ++w.skid_points;
            // one that is no longer among the last ones grows unseen
            const int64_t k = w.skid - first_skid;
            if (k >= 0 && k < static_cast<int64_t>(skids.size()) && skids[k].points.size() < MAX_POINTS) {
                skids[k].points.push_back(at);
            }
        } else if (!w.slides) {
            w.slides = true;
        } else {
            // Gymnasium keeps a reference to the wheel's position, not the one of the step before
            w.skid = first_skid + static_cast<int64_t>(skids.size());
            w.skid_grass = on_grass;
            w.skid_points = 2;
            w.slides = false;
            skids.push_back({on_grass, {at, at}});
            if (skids.size() > MAX_SKIDS) {
                skids.pop_front();
                ++first_skid;
            }
        }
    }

    const Setup setup;
    std::unique_ptr<b2World> world;
    std::vector<b2Body*> road_bodies;  // the world's
    std::vector<Role> roles;
    std::vector<Tile> tiles;
    std::vector<Node> track;
    double previous_total = 0;
    int32 num_visited = 0;
    bool new_lap = false, lap_finished = false;
    int64_t first_skid = 0;  // the number of skids[0]
};

}  // namespace cypool::box2d
