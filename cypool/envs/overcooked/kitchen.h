// Overcooked, equal to the grid world of overcooked_ai 1.1.0: its transition, rewards and lossless encoding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cypool/access.h"
#include "cypool/envs/shared/rules/rules.h"

namespace cypool::overcooked {

enum Action { NORTH, SOUTH, EAST, WEST, STAY, INTERACT };
enum Kind : uint8_t { NOTHING, ONION, TOMATO, DISH, SOUP };

constexpr int MOST_INGREDIENTS = 3;

// Layers of an observation.
enum Layer {
    OWN_PLACE,
    OTHER_PLACE,
    OWN_DIRECTION,
    OTHER_DIRECTION = OWN_DIRECTION + 4,
    TERRAIN = OTHER_DIRECTION + 4,  // pot, counter, dispensers of onions, tomatoes and dishes, where soups are served
    ONIONS_IN_POT = TERRAIN + 6,
    TOMATOES_IN_POT,
    ONIONS_IN_SOUP,
    TOMATOES_IN_SOUP,
    TIME_LEFT,
    SOUP_IS_READY,
    DISHES,
    ONIONS,
    TOMATOES,
    URGENCY,
    LAYERS
};
constexpr int URGENT = 40;  // fewer steps left: the last layer is 1

// A thing that lies on a counter, is in a pot or is held.
struct Thing {
    Kind kind = NOTHING;
    uint8_t onions = 0, tomatoes = 0;  // of a soup
    int32_t tick = -1;                 // for how many steps a soup has cooked; -1: it does not cook yet

    // of the tables of recipes
    int recipe() const { return onions * (MOST_INGREDIENTS + 1) + tomatoes; }
    int ingredients() const { return onions + tomatoes; }
};

struct Player {
    int16_t x = 0, y = 0;
    uint8_t direction = NORTH;
    Thing held;
};

// The kitchen as an episode begins; environments with the same options share it.
struct Kitchen : Options {
    int width = at("width"), height = at("height"), horizon = at("horizon");
    double placement_reward = at("placement_in_pot_reward"), dish_reward = at("dish_pickup_reward");
    double soup_reward = at("soup_pickup_reward"), shaped_reward = at("shaped_reward");
    bool is_narrow = at("is_narrow");                                // observations are uint8, else int64
    std::string terrain = at("terrain");                             // row by row: " ", X, O, T, D, P, S
    std::vector<double> values = at("values");                       // of a soup, by recipe; 0: it was not ordered
    std::vector<int> times = at("times");                            // to cook it
    std::vector<Player> players;                                     // as they begin
    std::vector<Thing> things = std::vector<Thing>(terrain.size());  // likewise, of each cell
    std::vector<int> pots;                                           // their cells
    std::vector<int> offsets;     // of cells in an observation, which has columns first
    std::vector<uint8_t> narrow;  // an observation without players and things
    std::vector<int64_t> wide;    // the same

    explicit Kitchen(const Options& given) : Options(given) {
        for (int c = 0; c < width * height; ++c) {
            if (terrain[c] == 'P') pots.push_back(c);
            offsets.push_back((c % width * height + c / width) * LAYERS);
        }
        const std::vector<int> places = at("players"), soups = at("soups");
        for (size_t k = 0; k < places.size(); k += 3) {
            Player& player = players.emplace_back();
            player.x = static_cast<int16_t>(places[k]);
            player.y = static_cast<int16_t>(places[k + 1]);
            player.direction = static_cast<uint8_t>(places[k + 2]);
        }
        for (size_t k = 0; k < soups.size(); k += 4) {
            things[cell(soups[k], soups[k + 1])] = {SOUP, static_cast<uint8_t>(soups[k + 2]),
                                                    static_cast<uint8_t>(soups[k + 3])};
        }
        narrow.resize(obs_size());
        for (size_t c = 0; c < terrain.size(); ++c) {
            const size_t kind = std::string_view("PXOTDS").find(terrain[c]);
            if (kind != std::string_view::npos) narrow[offsets[c] + TERRAIN + kind] = 1;
        }
        wide.assign(narrow.begin(), narrow.end());
    }
    int cell(int x, int y) const { return y * width + x; }
    size_t obs_size() const { return terrain.size() * LAYERS; }
};

class World {
public:
    std::vector<Player> players;
    std::vector<Thing> things;    // on counters and in pots, row by row
    std::vector<double> shaped;   // rewards of the last step, of each player
    std::vector<uint8_t> served;  // likewise: the recipe of a soup, or 0

    explicit World(const Options& options) : World(std::make_shared<const Kitchen>(options)) {}
    explicit World(std::shared_ptr<const Kitchen> kitchen) : kitchen_(std::move(kitchen)) {
        begin();
        is_ready_ = false;
    }

    void reset(const Step&) { begin(); }

    void begin() {
        players = kitchen_->players;
        things = kitchen_->things;
        served.assign(players.size(), 0);
        shaped.assign(players.size(), 0);
        to_.resize(players.size());
        time_ = 0, is_ready_ = true;
    }

    void step(const void* action, Step& step) noexcept {
        const auto* actions = action_data<int64_t>(action);
        std::fill(served.begin(), served.end(), uint8_t{0});
        std::fill(shaped.begin(), shaped.end(), 0.0);
        // as it is before the first interaction
        const int useful = useful_pots();
        for (size_t k = 0; k < players.size(); ++k)
            if (actions[k] == INTERACT) interact(k, useful);
        move(actions);
        for (const int pot : kitchen_->pots) {
            Thing& soup = things[pot];
            if (soup.tick >= 0 && !is_done(soup)) ++soup.tick;
        }
        step.truncated = ++time_ >= kitchen_->horizon;
        double served_worth = 0;
        for (size_t k = 0; k < players.size(); ++k) served_worth += sparse(k);
        step.reward = served_worth;
        for (size_t k = 0; k < players.size(); ++k) {
            step.agents->reward[k] = served_worth;
            if (kitchen_->shaped_reward > 0) {
                step.agents->reward[k] += kitchen_->shaped_reward * shaped[k];
                step.reward += kitchen_->shaped_reward * shaped[k];
            }
        }
    }

    void observe(const Slot& out) const noexcept {
        if (kitchen_->is_narrow) {
            write(obs_row<uint8_t>(&out, 0), kitchen_->narrow.data());
        } else {
            write(obs_row<int64_t>(&out, 0), kitchen_->wide.data());
        }
        for (size_t k = 0; k < players.size(); ++k) {
            info_row<double>(&out, 0)[k] = sparse(k);
            info_row<double>(&out, 1)[k] = shaped[k];
        }
    }

    double sparse(size_t k) const { return kitchen_->values[served[k]]; }

    // Writes each player's observation: (players, width, height, LAYERS).
    template <class T> void write(T* out, const T* empty) const {
        const size_t size = kitchen_->obs_size();
        for (size_t me = 0; me < players.size(); ++me, out += size) {
            std::memcpy(out, empty, size * sizeof(T));
            for (size_t c = 0; c < things.size(); ++c)
                if (things[c].kind) draw(things[c], kitchen_->terrain[c] == 'P', out + kitchen_->offsets[c]);
            for (size_t k = 0; k < players.size(); ++k) {
                T* cell = out + kitchen_->offsets[kitchen_->cell(players[k].x, players[k].y)];
                draw(players[k].held, false, cell);
                cell[k == me ? OWN_PLACE : OTHER_PLACE] = 1;
                cell[(k == me ? OWN_DIRECTION : OTHER_DIRECTION) + players[k].direction] = 1;
            }
            if (kitchen_->horizon - time_ < URGENT)
                for (size_t k = URGENCY; k < size; k += LAYERS) out[k] = 1;
        }
    }

    // ---- for state_archive.h

    bool ready() const { return is_ready_; }
    std::unique_ptr<World> fresh() const { return std::make_unique<World>(kitchen_); }
    template <class Archive> void exchange(Archive& archive) {
        const auto thing = [&](Thing& each) {
            archive("kind", each.kind, NOTHING, SOUP);
            archive("onions", each.onions, 0, MOST_INGREDIENTS);
            archive("tomatoes", each.tomatoes, 0, MOST_INGREDIENTS);
            archive("tick", each.tick, -1, 1 << 30);
        };
        archive("time", time_, 0, kitchen_->horizon);
        archive.each("player", players, [&](Player& player) {
            archive("x", player.x, 0, kitchen_->width - 1);
            archive("y", player.y, 0, kitchen_->height - 1);
            archive("direction", player.direction, NORTH, WEST);
            archive.in("held", [&] { thing(player.held); });
        });
        archive.each("thing", things, thing);
        archive.all("served", served, 0, kitchen_->values.size() - 1);
        archive.all("shaped_reward", shaped, 0, 1e300);
        if constexpr (Archive::LOADS) is_ready_ = true;
    }
    void validate() const {
        for (size_t k = 0; k < players.size(); ++k) {
            const Player& player = players[k];
            const std::string name = name_of_item("player", k);
            if (kitchen_->terrain[kitchen_->cell(player.x, player.y)] != ' ')
                refuse_state(name, "a floor cell", "another kind of cell");
            for (size_t j = 0; j < k; ++j)
                if (player.x == players[j].x && player.y == players[j].y)
                    refuse_state(name, "a cell without another player", "one with another");
            check(name + ".held", player.held, false);
        }
        for (size_t c = 0; c < things.size(); ++c) {
            const std::string name = name_of_item("thing", c);
            const char terrain = kitchen_->terrain[c];
            if (things[c].kind && terrain != 'X' && terrain != 'P')
                refuse_state(name, "nothing outside counters and pots", "something");
            if (things[c].kind && things[c].kind != SOUP && terrain == 'P')
                refuse_state(name, "nothing or a soup in a pot", "something else");
            check(name, things[c], terrain == 'P');
        }
    }

private:
    std::shared_ptr<const Kitchen> kitchen_;
    int32_t time_ = 0;
    bool is_ready_ = false;
    std::vector<std::pair<int16_t, int16_t>> to_;  // where players go in this step

    static constexpr int DX[4] = {0, 0, 1, -1}, DY[4] = {-1, 1, 0, 0};

    bool is_done(const Thing& soup) const { return soup.tick >= 0 && soup.tick >= kitchen_->times[soup.recipe()]; }

    void check(const std::string& name, const Thing& thing, bool in_pot) const {
        const bool is_soup = thing.kind == SOUP;
        if (is_soup ? thing.ingredients() < 1 || thing.ingredients() > MOST_INGREDIENTS : thing.ingredients() > 0)
            refuse_state(name, "1 to 3 ingredients in a soup, otherwise 0", text_of(thing.ingredients()));
        const int most = is_soup ? kitchen_->times[thing.recipe()] : -1, least = in_pot || !is_soup ? -1 : most;
        if (thing.tick < least || thing.tick > most)
            refuse_state(name + ".tick", text_of(least) + " to " + text_of(most), text_of(thing.tick));
    }

    // Pots that are ready, that cook, or that hold one or two ingredients.
    int useful_pots() const {
        int count = 0;
        for (const int pot : kitchen_->pots) {
            const Thing& soup = things[pot];
            count += soup.kind == SOUP && (soup.tick >= 0 || soup.ingredients() < MOST_INGREDIENTS);
        }
        return count;
    }

    bool is_dish_useful(int useful) const {
        // the reference knows this of two players only
        if (players.size() != 2) return false;
        int held = 0;
        for (const Player& each : players) held += each.held.kind == DISH;
        for (const Thing& each : things)
            if (each.kind == DISH) return false;
        return held < useful;
    }

    void interact(size_t k, int useful) {
        Player& player = players[k];
        const int cell = kitchen_->cell(player.x + DX[player.direction], player.y + DY[player.direction]);
        Thing &held = player.held, &there = things[cell];
        switch (kitchen_->terrain[cell]) {
            case 'X':
                if ((held.kind == NOTHING) != (there.kind == NOTHING)) std::swap(held, there);
                return;
            case 'O':
                if (held.kind == NOTHING) held.kind = ONION;
                return;
            case 'T':
                if (held.kind == NOTHING) held.kind = TOMATO;
                return;
            case 'D':
                if (held.kind != NOTHING) return;
                if (is_dish_useful(useful)) shaped[k] += kitchen_->dish_reward;
                held.kind = DISH;
                return;
            case 'P': use_pot(held, there, shaped[k]); return;
            case 'S':
                if (held.kind != SOUP) return;
                served[k] = static_cast<uint8_t>(held.recipe());
                held = Thing();
                return;
            default: return;
        }
    }

    void use_pot(Thing& held, Thing& soup, double& reward) const {
        switch (held.kind) {
            case NOTHING:
                if (soup.kind == SOUP && soup.tick < 0) soup.tick = 0;
                return;
            case DISH:
                if (soup.kind != SOUP || !is_done(soup)) return;
                held = soup, soup = Thing();
                reward += kitchen_->soup_reward;
                return;
            case SOUP: return;
            default:
                if (soup.tick >= 0 || soup.ingredients() == MOST_INGREDIENTS) return;
                soup.kind = SOUP;
                ++(held.kind == ONION ? soup.onions : soup.tomatoes);
                held = Thing();
                reward += kitchen_->placement_reward;
        }
    }

    void move(const int64_t* actions) {
        const size_t n = players.size();
        for (size_t k = 0; k < n; ++k) {
            Player& player = players[k];
            to_[k] = {player.x, player.y};
            if (actions[k] >= STAY) continue;
            player.direction = static_cast<uint8_t>(actions[k]);
            const int x = player.x + DX[player.direction], y = player.y + DY[player.direction];
            if (kitchen_->terrain[kitchen_->cell(x, y)] == ' ')
                to_[k] = {static_cast<int16_t>(x), static_cast<int16_t>(y)};
        }
        // if two of them would meet or change places, no player moves
        const auto at = [&](size_t k) { return std::pair{players[k].x, players[k].y}; };
        for (size_t j = 0; j < n; ++j)
            for (size_t k = 0; k < j; ++k)
                if (to_[j] == to_[k] || (to_[j] == at(k) && to_[k] == at(j))) return;
        for (size_t k = 0; k < n; ++k) players[k].x = to_[k].first, players[k].y = to_[k].second;
    }

    template <class T> void draw(const Thing& thing, bool in_pot, T* cell) const {
        switch (thing.kind) {
            case NOTHING: return;
            case DISH: cell[DISHES] = 1; return;
            case ONION: cell[ONIONS] = 1; return;
            case TOMATO: cell[TOMATOES] = 1; return;
            case SOUP: break;
        }
        if (in_pot && thing.tick < 0) {
            cell[ONIONS_IN_POT] = thing.onions, cell[TOMATOES_IN_POT] = thing.tomatoes;
            return;
        }
        cell[ONIONS_IN_SOUP] = thing.onions, cell[TOMATOES_IN_SOUP] = thing.tomatoes;
        if (in_pot) cell[TIME_LEFT] = static_cast<T>(kitchen_->times[thing.recipe()] - thing.tick);
        cell[SOUP_IS_READY] = !in_pot || is_done(thing);
    }
};

}  // namespace cypool::overcooked
