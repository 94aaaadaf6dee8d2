// The world of BipedalWalker, as lunar_lander.h. It lives on through resets, which shows in the bits, unless a fresh
// one is wanted for each.
#pragma once

#include "cypool/envs/box2d/saved_world.h"

namespace cypool::box2d {

class BipedalWalker : TwoFeet {
public:
    static constexpr double SCALE = 30.0, STEP = 14 / SCALE, HEIGHT = 400 / SCALE / 4;
    static constexpr int LENGTH = 200, NUM_CLOUDS = 10, CLOUD_POINTS = 5, NUM_RAYS = 10;

    struct Setup : Options {
        Setup(const Options& given) : Options(given) {}
        bool hardcore = at("hardcore"), fresh_world = at("fresh_world");
        Actions actions{*this, true};
    };
    explicit BipedalWalker(const Setup& setup) : setup(setup) {}
    BipedalWalker(BipedalWalker&&) = default;  // before its first reset: a world refers to it

    void reset(Step& out) {
        const Rng* rng = out.rng;
        clear();
        make_terrain(rng);
        for (int k = 0; k < NUM_CLOUDS; ++k) {
            const double x = uniform(rng, 0, LENGTH) * STEP, y = 400 / SCALE * 3 / 4;
            for (int a = 0; a < CLOUD_POINTS; ++a) {
                clouds[k][a].x = x + 15 * STEP * std::sin(3.14 * 2 * a / 5) + uniform(rng, 0, 5 * STEP);
                clouds[k][a].y = y + 5 * STEP * std::cos(3.14 * 2 * a / 5) + uniform(rng, 0, 5 * STEP);
            }
        }
        build();
        hull->ApplyForceToCenter(vec(uniform(rng, -5, 5), 0), true);
        has_shaping = false;
        renders = 0;
        const double off[4] = {0, 0, 0, 0};
        play(off, out);
    }

    void step(const void* action, Step& out) {
        setup.actions.are_floats ? play(action_data<float>(action), out) : play(action_data<double>(action), out);
    }

    // Float: the dtype of actions, in which Gymnasium also computes their cost
    template <class Float> void play(const Float* action, Step& out) {
        if (!world) throw std::logic_error("a step without a world");
        Float used[4];
        for (int k = 0; k < 4; ++k) {
            used[k] = static_cast<Float>(clip(std::fabs(double{action[k]}), 0, 1));
            joints[k]->SetMotorSpeed(static_cast<float>((k % 2 ? 6 : 4) * sign(action[k])));
            joints[k]->SetMaxMotorTorque(static_cast<float>(80 * used[k]));
        }
        advance(world);
        compute_observation();
        const double now = 130 * double{hull->GetPosition().x} / SCALE - 5.0 * std::fabs(double{hull->GetAngle()});
        Float sum = static_cast<Float>(has_shaping ? now - shaping : 0);
        for (int k = 0; k < 4; ++k) sum -= static_cast<Float>(0.00035 * 80) * used[k];
        out.reward = sum;
        shaping = now;
        has_shaping = true;
        const double x = hull->GetPosition().x;
        if (game_over || x < 0) out.reward = -100;
        out.terminated = game_over || x < 0 || x > (LENGTH - 10) * STEP;
    }

    void observe(const Slot& out) const { std::copy_n(obs, std::size(obs), obs_row<float>(&out, 0)); }

    // Returns a new one with the same options.
    std::unique_ptr<BipedalWalker> fresh() const { return std::make_unique<BipedalWalker>(setup); }
    template <class Archive> void exchange(Archive& archive) {
        constexpr double REACH = 1e3, MAX_Y = 100;
        archive.list("blocks", blocks, 0, 4 * LENGTH, [&](Block& block) {
            archive("left", block.left, 0, REACH);
            archive("right", block.right, 0, REACH);
            archive("y", block.y, -MAX_Y, MAX_Y);
            archive("other_y", block.other_y, -MAX_Y, MAX_Y);
        });
        archive.each("ground", ground, [&](Point& point) { archive("y", point.y, -MAX_Y, MAX_Y); });
        archive.each("clouds", clouds, [&](auto& cloud) {
            archive.each("corners", cloud, [&](Point& corner) {
                archive("x", corner.x, -MAX_Y, LENGTH * STEP + MAX_Y);
                archive("y", corner.y, -MAX_Y, MAX_Y);
            });
        });
        if constexpr (Archive::LOADS) {
            for (int i = 0; i < LENGTH; ++i) ground[i].x = i * STEP;
            world.reset(new b2World(vec(0, -10)));
            add_terrain();
            build();
            has_shaping = true;
        }
        archive.all("contact", contact, 0, 1);
        archive("game_over", game_over);
        archive("shaping", shaping, -LARGE, LARGE);
        archive("renders", renders, 0, 99);
        archive.all("obs", obs, -LARGE, LARGE);
        archive.all("ray_from", ray_from, -REACH, REACH);
        archive.each("ray_to", ray_to, [&](Point& to) { exchange_xy(archive, to, 2 * REACH); });
        exchange_world(archive, *world, REACH);
    }
    void validate() const {}

    // ---- for pictures

    // a rectangle; `y` is that of its first corner
    struct Block {
        double left, right, y, other_y;
    };
    std::vector<Block> blocks;  // of hardcore
    Point ground[LENGTH] = {}, clouds[NUM_CLOUDS][CLOUD_POINTS] = {};
    double ray_from[2] = {};
    Point ray_to[NUM_RAYS] = {};
    int32 renders = 0;  // since the reset, modulo 100

    // the outline of a piece of terrain, in pixels, in the order in which they are drawn; then the legs, then the hull
    int num_outlines() const { return static_cast<int>(terrain.size()) + 5; }
    std::vector<b2Vec2> outline(int k) const {
        const int n = static_cast<int>(terrain.size());
        const b2Body* body = k < n ? terrain[n - 1 - k] : k < n + 4 ? legs[k - n] : hull;
        return outline_of(*body, *body->GetFixtureList()->GetShape(), 30);
    }
    double scroll() const { return hull->GetPosition().x - 600 / SCALE / 5; }

    bool ready() const noexcept { return static_cast<bool>(world); }

private:
    static constexpr double LEG_W = 8 / SCALE, LEG_H = 34 / SCALE, LEG_DOWN = -8 / SCALE;

    struct Ray : b2RayCastCallback {
        float fraction = 1;
        float32 ReportFixture(b2Fixture* fixture, const b2Vec2& point, const b2Vec2&, float32 at) override {
            if ((fixture->GetFilterData().categoryBits & 1) == 0) return -1;
            end = {point.x, point.y};
            return fraction = at;
        }
        Point end{};
    };

    // bodies go in the order of Gymnasium's list: the terrain made last first
    void clear() {
        if (!world || setup.fresh_world) {
            world.reset(new b2World(vec(0, -10)));
        } else {
            world->SetContactListener(nullptr);
            for (auto body = terrain.rbegin(); body != terrain.rend(); ++body) world->DestroyBody(*body);
            world->DestroyBody(hull);
            for (b2Body* leg : legs) world->DestroyBody(leg);
        }
        terrain.clear();
        blocks.clear();
    }

    void make_terrain(const Rng* rng) {
        enum : int64_t { GRASS, STUMP, STAIRS, PIT };
        int64_t state = GRASS, counter = 20, stairs = 0, width = 0, rise = 0;
        bool first = false;
        double velocity = 0, y = HEIGHT, original_y = 0;
        for (int i = 0; i < LENGTH; ++i) {
            const double x = i * STEP;
            ground[i].x = x;
            if (state == GRASS && !first) {
                velocity = 0.8 * velocity + 0.01 * sign(HEIGHT - y);
                if (i > 20) velocity += uniform(rng, -1, 1) / SCALE;
                y += velocity;
            } else if (state == PIT && first) {
                counter = integers(rng, 3, 5);
                const Block block{x, x + STEP, y, y - 4 * STEP};
                blocks.push_back(block);
                blocks.push_back({block.left + STEP * counter, block.right + STEP * counter, block.y, block.other_y});
                counter += 2;
                original_y = y;
            } else if (state == PIT) {
                y = original_y;
                if (counter > 1) y -= 4 * STEP;
            } else if (state == STUMP && first) {
                counter = integers(rng, 1, 3);
                const double side = counter * STEP;
                blocks.push_back({x, x + side, y, y + side});
            } else if (state == STAIRS && first) {
                rise = rng->next_double(rng->state) > 0.5 ? 1 : -1;
                width = integers(rng, 4, 5);
                stairs = integers(rng, 3, 5);
                original_y = y;
                for (int64_t k = 0; k < stairs; ++k) {
                    const double left = x + (k * width) * STEP, right = x + ((1 + k) * width) * STEP;
                    const double top = y + (k * rise) * STEP, bottom = y + (-1 + k * rise) * STEP;
                    blocks.push_back({left, right, top, bottom});
                }
                counter = stairs * width;
            } else if (state == STAIRS) {
                const double n = static_cast<double>(stairs * width - counter - rise) / static_cast<double>(width);
                y = original_y + (n * rise) * STEP;
            }
            first = false;
            ground[i].y = y;
            if (--counter == 0) {
                counter = integers(rng, 5, 10);
                state = state == GRASS && setup.hardcore ? integers(rng, 1, 4) : int64_t{GRASS};
                first = true;
            }
        }
        add_terrain();
    }

    void add_terrain() {
        b2FixtureDef def;
        def.friction = 2.5f;
        b2PolygonShape polygon;
        def.shape = &polygon;
        for (size_t k = 0; k < blocks.size(); ++k) {
            const auto [left, right, y, other_y] = blocks[k];
            const Point corners[4] = {{left, y}, {right, y}, {right, other_y}, {left, other_y}};
            set_polygon(polygon, corners, 4, "blocks", k);
            add_ground(def);
        }
        b2EdgeShape edge;
        def.shape = &edge;
        for (int i = 0; i + 1 < LENGTH; ++i) {
            edge.Set(vec(ground[i].x, ground[i].y), vec(ground[i + 1].x, ground[i + 1].y));
            add_ground(def);
        }
    }
    void add_ground(const b2FixtureDef& def) {
        terrain.push_back(add_body(*world, b2_staticBody));
        terrain.back()->CreateFixture(&def);
    }

    void build() {
        world->SetContactListener(this);
        game_over = contact[0] = contact[1] = false;
        const double x = STEP * 20 / 2, y = HEIGHT + 2 * LEG_H;
        hull = add_body(*world, b2_dynamicBody, x, y);
        const Point corners[5] = {{-30 / SCALE, 9 / SCALE},
                                  {6 / SCALE, 9 / SCALE},
                                  {34 / SCALE, 1 / SCALE},
                                  {34 / SCALE, -8 / SCALE},
                                  {-30 / SCALE, -8 / SCALE}};
        b2PolygonShape shape;
        set_polygon(shape, corners, 5);
        b2FixtureDef def = part(&shape, 5, 0x20);
        def.friction = 0.1f;
        hull->CreateFixture(&def);
        for (int k = 0; k < 2; ++k) {
            const int i = k ? 1 : -1;
            legs[2 * k] = add_leg(LEG_W / 2, x, y - LEG_H / 2 - LEG_DOWN, i * 0.05);
            joints[2 * k] =
                add_hinge(*world, hull, legs[2 * k], {vec(0, LEG_DOWN), vec(0, LEG_H / 2), 80, double(i), -0.8, 1.1});
            legs[2 * k + 1] = feet[k] = add_leg(0.8 * LEG_W / 2, x, y - LEG_H * 3 / 2 - LEG_DOWN, i * 0.05);
            joints[2 * k + 1] = add_hinge(*world, legs[2 * k], legs[2 * k + 1],
                                          {vec(0, -LEG_H / 2), vec(0, LEG_H / 2), 80, 1, -1.6, -0.1});
        }
    }
    b2Body* add_leg(double width, double x, double y, double angle) {
        b2PolygonShape box;
        box.SetAsBox(static_cast<float>(width), static_cast<float>(LEG_H / 2));
        const b2FixtureDef def = part(&box, 1, 0x20);
        b2Body* leg = add_body(*world, b2_dynamicBody, x, y, angle);
        leg->CreateFixture(&def);
        return leg;
    }

    void compute_observation() {
        const b2Vec2 from = hull->GetPosition(), velocity = hull->GetLinearVelocity();
        ray_from[0] = from.x;
        ray_from[1] = from.y;
        for (int i = 0; i < NUM_RAYS; ++i) {
            Ray ray;
            ray.end = {from.x + std::sin(1.5 * i / 10.0) * (160 / SCALE),
                       from.y - std::cos(1.5 * i / 10.0) * (160 / SCALE)};
            world->RayCast(&ray, from, vec(ray.end.x, ray.end.y));
            obs[14 + i] = ray.fraction;
            ray_to[i] = ray.end;
        }
        double state[14] = {
            hull->GetAngle(),
            2.0 * hull->GetAngularVelocity() / FPS,
            0.3 * velocity.x * (600 / SCALE) / FPS,
            0.3 * velocity.y * (400 / SCALE) / FPS,
        };
        for (int k = 0; k < 2; ++k) {
            const b2RevoluteJoint &hip = *joints[2 * k], &knee = *joints[2 * k + 1];
            state[4 + 5 * k] = hip.GetJointAngle();
            state[5 + 5 * k] = double{hip.GetJointSpeed()} / 4;
            state[6 + 5 * k] = double{knee.GetJointAngle()} + 1.0;
            state[7 + 5 * k] = double{knee.GetJointSpeed()} / 6;
            state[8 + 5 * k] = contact[k] ? 1.0 : 0.0;
        }
        for (int k = 0; k < 14; ++k) obs[k] = static_cast<float>(state[k]);
    }

    const Setup setup;
    std::unique_ptr<b2World> world;
    std::vector<b2Body*> terrain;  // this and the next two: the world's
    b2Body* legs[4] = {};
    b2RevoluteJoint* joints[4] = {};
    bool has_shaping = false;
    double shaping = 0;
    float obs[24] = {};
};

}  // namespace cypool::box2d
