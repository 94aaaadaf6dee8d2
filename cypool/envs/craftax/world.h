// An environment of either game: the flow of its keys, its infos and its state; the rules as rules.h has them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cypool/access.h"
#include "cypool/envs/shared/numerics/jax_random.h"
#include "cypool/envs/shared/rules/rules.h"
#include "cypool/envs/craftax/picture.h"
#include "cypool/envs/craftax/rules.h"

namespace cypool::craftax {

// Whether NumPy's PCG64 has its numbers where `place_of` reads them; craftax.pyx looks.
inline bool knows_streams = false;

// Where a stream stands. Nothing draws from the engine's stream; but a tree search moves it to have chance drawn again.
inline uint64_t place_of(const Rng* rng) {
    if (!rng || !knows_streams) return 0;
    const uint64_t* numbers = *static_cast<const uint64_t* const*>(rng->state);
    return numbers[0] ^ numbers[1];
}

// The package's `score`, by how many of Classic's achievements there are: XLA's exp and log are its own.
// clang-format off
constexpr float SCORES[] = {
    0, 0x1.de032p-3f, 0x1.0ae614p-1f, 0x1.c0b27cp-1f, 0x1.5076dp+0f, 0x1.dabf78p+0f, 0x1.42a75ep+1f, 0x1.abd6a4p+1f,
    0x1.16c96cp+2f, 0x1.66cb76p+2f, 0x1.c97a2p+2f, 0x1.219894p+3f, 0x1.6ca86cp+3f, 0x1.c93d5ap+3f, 0x1.1db71ap+4f,
    0x1.64231p+4f, 0x1.bafeccp+4f, 0x1.13104p+5f, 0x1.5521b6p+5f, 0x1.a69ee2p+5f, 0x1.059092p+6f, 0x1.438c72p+6f,
    0x1.8ffffcp+6f};
// clang-format on

// What craftax.pyx calls of a World.
class AnyWorld {
public:
    virtual ~AnyWorld() = default;
    // Users of the package keep a key: key, step_key = split(key). This one begins with PRNGKey(seed),
    void start(uint32_t seed) { start(jax::prng_key(seed)); }
    // or with one of split(key, n)
    void start(uint32_t a, uint32_t b, uint32_t index) { start(jax::subkey({a, b}, index)); }
    bool ready() const { return ready_; }
    virtual void draw(const Pictures& pictures, float* image) const = 0;

protected:
    jax::Key key_{};
    bool has_next_ = false, ready_ = false;

private:
    void start(jax::Key key) {
        key_ = key;
        has_next_ = ready_ = false;
    }
};

// `Of`: Classic or Full; `Setup` are its options.
template <class Of> class World final : public AnyWorld {
public:
    using Setup = typename Of::Setup;

    explicit World(const Options& given) : game_(std::make_shared<const Setup>(given)) {
        if (const int tile = given.at("tile", 0)) {
            pictures_ = std::make_shared<const Pictures>(
                Pictures{tile, given.at("ground"), given.at("sprites"), given.at("cells"), given.at("noise")});
        }
    }

    void reset(Step& step) {
        if (ready_) {
            look_at_stream(step);
        } else {
            place_ = place_of(step.rng);
        }
        const jax::Key key = has_next_ ? next_ : jax::take(key_);
        // in Craftax, the package splits it for symbols, but not for pixels
        game_.reset(Of::IS_CLASSIC || pictures_ ? key : jax::subkey(key, 1));
        game_.made_by_step = has_next_;
        has_next_ = false;
        ready_ = true;
    }
    void step(const void* action, Step& step) noexcept(noexcept(std::declval<Of&>().step({}, 0))) {
        look_at_stream(step);
        jax::Key stepping = jax::take(key_);
        if (game_.setup->auto_reset) {
            next_ = jax::subkey(stepping, 1);
            stepping = jax::subkey(stepping, 0);
        }
        game_.step(stepping, discrete_action(action));
        step.reward = game_.reward;
        step.terminated = game_.is_over();
        has_next_ = game_.setup->auto_reset && step.terminated;
    }
    void observe(const Slot& out) const noexcept {
        const bool is_over = game_.is_over();
        if (pictures_) {
            Painter(game_, *pictures_, obs_row<float>(&out, 0)).draw();
        } else {
            game_.observe(obs_row<float>(&out, 0));
        }
        auto* achievements = info_row<float>(&out, 0);
        for (int k = 0; k < Of::NUM_ACHIEVEMENTS; ++k) achievements[k] = is_over && game_.achieved[k] ? 100 : 0;
        *info_row<float>(&out, 1) = !is_over;
        if constexpr (Of::IS_CLASSIC) *info_row<float>(&out, 2) = SCORES[is_over ? game_.num_achieved() : 0];
    }

    template <class Archive> void exchange(Archive& archive) {
        exchange_key(archive, "key", key_);
        archive("place", place_, INT64_MIN, INT64_MAX);
        archive("has_next", has_next_);
        exchange_key(archive, "next", next_);
        archive("made_by_step", game_.made_by_step);
        game_.exchange(archive);
        if constexpr (Archive::LOADS) ready_ = true;
    }
    void validate() const { game_.validate(); }
    std::unique_ptr<World> fresh() const { return std::unique_ptr<World>(new World(game_.setup, pictures_)); }

    void draw(const Pictures& pictures, float* image) const override { Painter(game_, pictures, image).draw(); }

private:
    World(std::shared_ptr<const Setup> setup, std::shared_ptr<const Pictures> pictures)
        : pictures_(std::move(pictures)),
          game_(std::move(setup)) {}

    void look_at_stream(const Step& step) {
        const uint64_t place = place_of(step.rng);
        if (place == place_) return;
        place_ = place;
        has_next_ = false;
        key_ = {static_cast<uint32_t>(place >> 32), static_cast<uint32_t>(place)};
    }

    uint64_t place_ = 0;
    jax::Key next_{};                           // of the world that follows, if the step has drawn it
    std::shared_ptr<const Pictures> pictures_;  // null: symbols are observed
    Of game_;
};

inline Rules* new_rules(bool is_full, const Options& options) {
    if (is_full) return new RulesOf<World<Full>>(options);
    return new RulesOf<World<Classic>>(options);
}
inline AnyWorld* world_of(Rules* rules, bool is_full) {
    if (is_full) return static_cast<RulesOf<World<Full>>*>(rules)->get();
    return static_cast<RulesOf<World<Classic>>*>(rules)->get();
}

}  // namespace cypool::craftax
