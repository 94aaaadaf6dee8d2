// The world of LunarLander: each cast and each order of operations is that of Gymnasium's Python over pybox2d.
#pragma once

#include <deque>

#include "cypool/envs/box2d/robot_lanes.h"
#include "cypool/envs/box2d/saved_world.h"

namespace cypool::box2d {

class LunarLander : TwoFeet {
public:
    // a picture's flame: a body that nothing else depends on, so its way is computed when a picture is drawn
    struct Particle {
        int64_t born;  // steps of the world before its first
        double mass, x, y, impulse_x, impulse_y, ttl;
    };

    struct Setup : Options {
        Setup(const Options& given) : Options(given) {}
        Actions actions{*this, at("continuous")};
        bool wind = at("enable_wind");
        double gravity = at("gravity"), wind_power = at("wind_power"), turbulence_power = at("turbulence_power");
    };
    explicit LunarLander(const Setup& setup) : setup(setup) {}
    LunarLander(LunarLander&&) = default;  // before its first reset: a world refers to it

    void reset(Step& out) {
        const Rng* rng = out.rng;
        double height[CHUNKS + 1];
        for (double& h : height) h = uniform(rng, 0, H / 2);
        for (int k = CHUNKS / 2 - 2; k <= CHUNKS / 2 + 2; ++k) height[k] = HELIPAD_Y;
        for (int k = 0; k < CHUNKS; ++k) {
            smooth_y[k] = 0.33 * (height[k ? k - 1 : CHUNKS] + height[k] + height[k + 1]);
        }
        const double push_x = uniform(rng, -INITIAL_RANDOM, INITIAL_RANDOM);
        const double push_y = uniform(rng, -INITIAL_RANDOM, INITIAL_RANDOM);
        if (setup.wind) {
            wind_index = integers(rng, -9999, 9999);
            torque_index = integers(rng, -9999, 9999);
        }
        build();
        hull->ApplyForceToCenter(vec(push_x, push_y), true);
        has_shaping = false;
        time = 0;
        particles.clear();
        play({0, 0}, out);
    }

    void step(const void* action, Step& out) { play(setup.actions.numbers<2>(action), out); }

    void observe(const Slot& out) const { std::copy_n(obs, std::size(obs), obs_row<float>(&out, 0)); }

    // Whether step_together can step it.
    bool is_free() const { return world && FreeRobot::is_free(*world, hull); }

    // One of several that are stepped together.
    struct Flight {
        LunarLander* lander;
        const void* action;
        Step* step;
        uint32_t row;
    };
    // Steps, as `step` does, up to lanes::MAX_LANES landers that are free. One whose step fails is not `ready` any
    // more; its next step says why.
    static void step_together(const Flight* flights, int count) noexcept {
        const Flight* flying[lanes::MAX_LANES];
        FreeRobot robots[lanes::MAX_LANES];
        Engines engines[lanes::MAX_LANES];
        int n = 0;
        for (const Flight* flight = flights; flight < flights + count; ++flight) {
            flight->lander->attempt([&](LunarLander& self) {
                engines[n] = self.fire(flight->step->rng, self.setup.actions.numbers<2>(flight->action));
                robots[n] = self.robot();
                robots[n].begin();
                flying[n++] = flight;
            });
        }
        lanes::solve_velocities(robots, n);
        for (int k = 0; k < n; ++k) {
            flying[k]->lander->attempt([&](LunarLander& self) {
                robots[k].finish();
                self.finish_step(engines[k], *flying[k]->step);
            });
        }
    }

    // Returns a new one with the same options.
    std::unique_ptr<LunarLander> fresh() const { return std::make_unique<LunarLander>(setup); }
    template <class Archive> void exchange(Archive& archive) {
        constexpr int64_t MAX_STEPS = int64_t{1} << 40;
        constexpr double REACH = 1e6, MAX_IMPULSE = 1e3;
        archive.all("smooth_y", smooth_y, 0, H);
        archive("wind_index", wind_index, -MAX_STEPS, MAX_STEPS);
        archive("torque_index", torque_index, -MAX_STEPS, MAX_STEPS);
        archive("time", time, 1, MAX_STEPS);
        if constexpr (Archive::LOADS) {
            build();
            has_shaping = true;
        }
        archive.all("contact", contact, 0, 1);
        archive("game_over", game_over);
        archive("shaping", shaping, -LARGE, LARGE);
        archive.all("obs", obs, -LARGE, LARGE);
        int64_t earliest = std::max<int64_t>(time - OLDEST, 0);
        archive.list("particles", particles, 0, 2 * OLDEST, [&](Particle& p) {
            archive("born", p.born, earliest, time - 1);
            earliest = p.born;
            archive("mass", p.mass, SIDE_MASS, MAIN_MASS);
            exchange_xy(archive, p, REACH);
            archive("impulse_x", p.impulse_x, -MAX_IMPULSE, MAX_IMPULSE);
            archive("impulse_y", p.impulse_y, -MAX_IMPULSE, MAX_IMPULSE);
            archive("ttl", p.ttl, -10, 1);
        });
        exchange_world(archive, *world, REACH);
    }
    void validate() const {}

    // ---- for pictures

    // Ages the flames, as drawing them does, and returns where they are.
    std::vector<b2Vec2> age_particles() {
        for (Particle& p : particles) p.ttl -= 0.15;
        forget_old();
        std::unique_ptr<b2World> sky(new b2World(vec(0, setup.gravity)));
        add_moon(*sky);
        std::vector<b2Body*> bodies;
        size_t next = 0;
        for (int64_t now = particles.empty() ? time : particles.front().born; now < time; ++now) {
            for (; next < particles.size() && particles[next].born == now; ++next) {
                bodies.push_back(add_particle(*sky, particles[next]));
            }
            advance(sky);
        }
        std::vector<b2Vec2> places;
        for (const b2Body* body : bodies) places.push_back(SCALE_F * body->GetPosition());
        return places;
    }

    // the outline of the lander (0) or of a leg (1, 2), in pixels
    std::vector<b2Vec2> outline(int k) const {
        const b2Body* body = k ? feet[k - 1] : hull;
        return outline_of(*body, *body->GetFixtureList()->GetShape(), SCALE_F);
    }

    static constexpr int CHUNKS = 11;
    double smooth_y[CHUNKS] = {};
    std::deque<Particle> particles;
    float obs[8] = {};
    bool ready() const noexcept { return static_cast<bool>(world); }

private:
    static constexpr double SCALE = 30.0, W = 600 / SCALE, H = 400 / SCALE, HELIPAD_Y = H / 4, INITIAL_RANDOM = 1000;
    static constexpr float SCALE_F = 30;
    static constexpr double MAIN_MASS = 3.5, SIDE_MASS = 0.7;  // of flames
    static constexpr int64_t OLDEST = 1000;                    // steps: a picture computes the way of each flame

    struct Engines {
        double main, side;
    };

    // action: the number of a discrete one, or two numbers
    void play(const std::array<double, 2>& action, Step& out) {
        if (!world) throw std::logic_error(failure);
        const Engines engines = fire(out.rng, action);
        advance(world);
        finish_step(engines, out);
    }
    // The forces of a step: the wind's, and the engines'.
    Engines fire(const Rng* rng, const std::array<double, 2>& action) {
        const bool continuous = setup.actions.are_continuous;
        if (setup.wind && !(contact[0] || contact[1])) blow();
        const double angle = hull->GetAngle();
        const Point tip{std::sin(angle), std::cos(angle)}, side{-tip.y, tip.x};
        const double d0 = uniform(rng, -1, 1) / SCALE, d1 = uniform(rng, -1, 1) / SCALE;
        const double main = continuous ? clip(action[0], -1, 1) : action[0];
        const double lateral = continuous ? clip(action[1], -1, 1) : 0;
        Engines engines{0, 0};
        if (continuous ? main > 0 : main == 2) {
            engines.main = continuous ? (clip(main, 0, 1) + 1.0) * 0.5 : 1.0;
            const double ox = tip.x * (4 / SCALE + 2 * d0) + side.x * d1;
            const double oy = -tip.y * (4 / SCALE + 2 * d0) - side.y * d1;
            const b2Vec2 at = hull->GetPosition();
            push(MAIN_MASS, at.x + ox, at.y + oy, ox * 13.0 * engines.main, oy * 13.0 * engines.main, engines.main);
            hull->ApplyLinearImpulse(vec(-ox * 13.0 * engines.main, -oy * 13.0 * engines.main),
                                     vec(at.x + ox, at.y + oy), true);
        }
        if (continuous ? std::fabs(lateral) > 0.5 : main == 1 || main == 3) {
            const double direction = continuous ? sign(lateral) : main - 2;
            engines.side = continuous ? clip(std::fabs(lateral), 0.5, 1.0) : 1.0;
            const double ox = tip.x * d0 + side.x * (3 * d1 + direction * 12 / SCALE);
            const double oy = -tip.y * d0 - side.y * (3 * d1 + direction * 12 / SCALE);
            const b2Vec2 at = hull->GetPosition();
            const double x = at.x + ox - tip.x * 17 / SCALE, y = at.y + oy + tip.y * 14 / SCALE;
            push(SIDE_MASS, x, y, ox * 0.6 * engines.side, oy * 0.6 * engines.side, engines.side);
            hull->ApplyLinearImpulse(vec(-ox * 0.6 * engines.side, -oy * 0.6 * engines.side), vec(x, y), true);
        }
        return engines;
    }
    void finish_step(const Engines& engines, Step& out) {
        ++time;
        forget_old();
        compute_observation(engines, out);
    }

    // Calls f. A world in which it throws is leaked, as by `advance`.
    template <class F> void attempt(F&& f) noexcept {
        try {
            f(*this);
        } catch (const std::exception& error) {
            static_cast<void>(world.release());
            failure = error.what();
        }
    }

    FreeRobot robot() const {
        b2Joint* last = world->GetJointList();
        b2RevoluteJoint* limbs[2] = {static_cast<b2RevoluteJoint*>(last),
                                     static_cast<b2RevoluteJoint*>(last->GetNext())};
        return FreeRobot(world.get(), hull, limbs);
    }

    // a new world, as at each reset
    void build() {
        world.reset(new b2World(vec(0, setup.gravity)));
        world->SetContactListener(this);
        game_over = contact[0] = contact[1] = false;
        add_moon(*world);
        const double x = W / 2, y = H;
        hull = add_body(*world, b2_dynamicBody, x, y);
        const Point corners[6] = {{-14 / SCALE, 17 / SCALE}, {-17 / SCALE, 0 / SCALE}, {-17 / SCALE, -10 / SCALE},
                                  {17 / SCALE, -10 / SCALE}, {17 / SCALE, 0 / SCALE},  {14 / SCALE, 17 / SCALE}};
        b2PolygonShape shape;
        set_polygon(shape, corners, 6);
        b2FixtureDef def = part(&shape, 5, 0x10);
        def.friction = 0.1f;
        hull->CreateFixture(&def);
        for (int k = 0; k < 2; ++k) {
            const int i = k ? 1 : -1;
            feet[k] = add_body(*world, b2_dynamicBody, x - i * 20 / SCALE, y, i * 0.05);
            b2PolygonShape box;
            box.SetAsBox(static_cast<float>(2 / SCALE), static_cast<float>(8 / SCALE));
            b2FixtureDef leg = part(&box, 1, 0x20);
            feet[k]->CreateFixture(&leg);
            add_hinge(*world, hull, feet[k],
                      {vec(0, 0), vec(i * 20 / SCALE, 18 / SCALE), 40, 0.3 * i, i < 0 ? 0.9 - 0.5 : -0.9,
                       i < 0 ? 0.9 : -0.9 + 0.5});
        }
    }

    void add_moon(b2World& to) const {
        b2Body* moon = add_body(to, b2_staticBody);
        b2EdgeShape edge;
        edge.Set(vec(0, 0), vec(W, 0));
        b2FixtureDef def;
        def.shape = &edge;
        moon->CreateFixture(&def);
        def.friction = 0.1f;
        for (int k = 0; k + 1 < CHUNKS; ++k) {
            edge.Set(vec(W / (CHUNKS - 1) * k, smooth_y[k]), vec(W / (CHUNKS - 1) * (k + 1), smooth_y[k + 1]));
            moon->CreateFixture(&def);
        }
    }

    void blow() {
        const auto gust = [](double i) { return std::tanh(std::sin(0.02 * i) + std::sin(PI * 0.01 * i)); };
        hull->ApplyForceToCenter(vec(gust(static_cast<double>(wind_index++)) * setup.wind_power, 0), true);
        const double torque = gust(static_cast<double>(torque_index++)) * setup.turbulence_power;
        hull->ApplyTorque(static_cast<float>(torque), true);
    }

    void compute_observation(const Engines& engines, Step& out) {
        const b2Vec2 position = hull->GetPosition(), velocity = hull->GetLinearVelocity();
        const double state[8] = {
            (position.x - W / 2) / (W / 2),
            (position.y - (HELIPAD_Y + 18 / SCALE)) / (H / 2),
            velocity.x * (W / 2) / FPS,
            velocity.y * (H / 2) / FPS,
            hull->GetAngle(),
            20.0 * hull->GetAngularVelocity() / FPS,
            contact[0] ? 1.0 : 0.0,
            contact[1] ? 1.0 : 0.0,
        };
        for (int k = 0; k < 8; ++k) obs[k] = static_cast<float>(state[k]);
        const double now = -100 * std::sqrt(state[0] * state[0] + state[1] * state[1])
                           - 100 * std::sqrt(state[2] * state[2] + state[3] * state[3]) - 100 * std::fabs(state[4])
                           + 10 * state[6] + 10 * state[7];
        out.reward = has_shaping ? now - shaping : 0;
        shaping = now;
        has_shaping = true;
        out.reward -= engines.main * 0.30;
        out.reward -= engines.side * 0.03;
        const bool is_lost = game_over || std::fabs(state[0]) >= 1.0, rests = !hull->IsAwake();
        if (is_lost) out.reward = -100;
        if (rests) out.reward = 100;
        out.terminated = is_lost || rests;
    }

    void push(double mass, double x, double y, double impulse_x, double impulse_y, double ttl) {
        particles.push_back({time, mass, x, y, impulse_x, impulse_y, ttl});
    }
    void forget_old() {
        while (!particles.empty() && (particles.front().ttl < 0 || time - particles.front().born > OLDEST)) {
            particles.pop_front();
        }
    }
    static b2Body* add_particle(b2World& to, const Particle& p) {
        b2Body* body = add_body(to, b2_dynamicBody, p.x, p.y);
        b2CircleShape circle;
        circle.m_radius = static_cast<float>(2 / SCALE);
        b2FixtureDef def = part(&circle, p.mass, 0x100);
        def.friction = 0.1f;
        def.restitution = 0.3f;
        body->CreateFixture(&def);
        body->ApplyLinearImpulse(vec(p.impulse_x, p.impulse_y), vec(p.x, p.y), true);
        return body;
    }

    const Setup setup;
    std::unique_ptr<b2World> world;
    std::string failure = "a step without a world";
    int64_t wind_index = 0, torque_index = 0, time = 0;
    bool has_shaping = false;
    double shaping = 0;
};

}  // namespace cypool::box2d

namespace cypool {

// Those that touch nothing go together; the engine steps the others.
template <> inline bool RulesOf<box2d::LunarLander>::can_step_many() const { return true; }
template <> inline void RulesOf<box2d::LunarLander>::step_many(const Rows& rows, const RulesPool& pool) const {
    constexpr int WORTHWHILE = 2;  // landers that take less time together than alone
    box2d::LunarLander::Flight flights[box2d::lanes::MAX_LANES];
    int count = 0;
    for (uint32_t k = 0; k < rows.count; ++k) {
        const RulesPool::Member& member = pool.members[rows.ids[k]];
        auto& env = *static_cast<RulesOf*>(member.rules);
        rows.terminated[k] = STEP_ALONE;
        if (!*member.needs_reset && env.get()->is_free()) {
            flights[count++] = {env.get(), rows.actions + rows.ids[k] * pool.action_bytes, &env.next(), k};
        }
        if (count < (k + 1 == rows.count ? WORTHWHILE : box2d::lanes::MAX_LANES)) continue;
        box2d::LunarLander::step_together(flights, count);
        for (; count > 0; --count) {
            const auto& [lander, action, step, row] = flights[count - 1];
            if (!lander->ready()) continue;
            std::copy_n(lander->obs, std::size(lander->obs), static_cast<float*>(rows.obs[0]) + 8 * row);
            rows.reward[row] = step->reward;
            rows.terminated[row] = step->terminated;
        }
    }
}

}  // namespace cypool
