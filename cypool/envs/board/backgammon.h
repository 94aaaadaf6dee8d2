// Backgammon. Player 0 moves from point 0 to point 23 and off the board, player 1 the other way. Here each player's
// points are numbered in the direction of the player's moves: both enter from the bar at point `die - 1`.
//
// An action is two moves of checkers: the first one's place + 26 * the second one's, + 676 if the first one takes the
// lower die. A place is a point as player 0 counts; 24: the bar; 25: no move. Equal dice are two such actions.
#pragma once

#include <array>

#include "cypool/envs/board/bits.h"
#include "cypool/envs/board/match.h"

namespace cypool::board {

struct Backgammon {
    static constexpr int PLAYERS = 2, POINTS = 24, HOME = 18, CHECKERS = 15, BAR = 24, PASS = 25, PLACES = 26;
    static constexpr int LOW_FIRST = PLACES * PLACES, ACTIONS = 2 * LOW_FIRST, WORDS = (ACTIONS + 63) / 64;
    enum Scoring { WIN, GAMMON, BACKGAMMON };  // the most that a win counts: 1, 2 or 3

    // The checkers of one player.
    struct Side {
        int8_t points[POINTS];
        int8_t bar, off;
    };
    Scoring scoring;
    int max_turns;
    Side sides[PLAYERS];
    int32_t current = 0;
    int32_t shown = 0;           // whose turn the tensor says it is; or OVER
    int32_t turns = 0;           // two actions for equal dice are one
    int8_t dice[2] = {};         // the lower one first; 0: none
    bool is_second = false;      // whether this is the second action for equal dice
    uint64_t moves[WORDS] = {};  // which actions are legal

    explicit Backgammon(const Options& options)
        : scoring(options.at("scoring_type")),
          max_turns(options.at("max_player_turns")) {
        set_up();
    }
    size_t num_actions() const { return ACTIONS; }
    size_t tensor_size() const { return 2 * 4 * POINTS + 8; }
    uint64_t outcome() const { return static_cast<uint64_t>(dice[0] * 8 + dice[1]); }
    void set_up() {
        for (Side& side : sides) {
            side = Side{};
            side.points[0] = 2;
            side.points[11] = 5;
            side.points[16] = 3;
            side.points[18] = 5;
        }
    }

    // ---- dice: each outcome is drawn as NumPy's `Generator.choice` draws it with equal probabilities
    template <int N> static const std::array<double, N>& sums() {
        static const auto made = [] {
            std::array<double, N> found{};
            double sum = 0;
            for (double& each : found) each = sum += 1.0 / N;
            for (double& each : found) each /= sum;
            return found;
        }();
        return made;
    }
    template <int N> static int drawn(const Rng* rng) {
        const auto& all = sums<N>();
        return static_cast<int>(std::upper_bound(all.begin(), all.end(), rng->next_double(rng->state)) - all.begin());
    }
    // Outcomes: each pair of different dice twice, 1 2, 1 3 and so on, then equal ones.
    void set_dice(int outcome) {
        if (outcome >= 30) {
            dice[0] = dice[1] = static_cast<int8_t>(outcome - 29);
            return;
        }
        int left = outcome / 2, low = 1;
        for (; left >= 6 - low; ++low) left -= 6 - low;
        dice[0] = static_cast<int8_t>(low);
        dice[1] = static_cast<int8_t>(low + 1 + left);
    }
    void reset(const Rng* rng) {
        set_up();
        // who begins has no equal dice
        const int outcome = drawn<30>(rng);
        set_dice(outcome);
        turns = 0;
        is_second = false;
        begin(outcome % 2);
    }
    void begin(int player) {
        current = shown = player;
        find_moves();
    }

    // ---- moves
    // Whether a side may move from a place with a die.
    static bool may_move(const Side& own, const Side& other, int from, int die) {
        if ((from == BAR) != (own.bar > 0)) return false;
        const int to = (from == BAR ? -1 : from) + die;
        if (from != BAR && own.points[from] == 0) return false;
        if (to < POINTS) return other.points[POINTS - 1 - to] < 2;
        // off the board: with all in the home, and by more than is needed from the last place only
        for (int p = 0; p < (to == POINTS ? HOME : from); ++p) {
            if (own.points[p] > 0) return false;
        }
        return from >= HOME;
    }
    static void move(Side& own, Side& other, int from, int die) {
        const int to = (from == BAR ? -1 : from) + die;
        from == BAR ? --own.bar : --own.points[from];
        if (to >= POINTS) {
            ++own.off;
            return;
        }
        ++own.points[to];
        int8_t& hit = other.points[POINTS - 1 - to];
        if (hit == 1) {
            hit = 0;
            ++other.bar;
        }
    }
    template <class F> static void each_move(const Side& own, const Side& other, int die, F&& f) {
        const int first = own.bar > 0 ? BAR : 0, end = own.bar > 0 ? BAR + 1 : POINTS;
        for (int from = first; from < end; ++from) {
            if (may_move(own, other, from, die)) f(from);
        }
    }
    // A place in an action; places are their own inverse.
    int place(int from) const { return from < POINTS && current == 1 ? POINTS - 1 - from : from; }
    void allow(int first, int second, bool high_first) {
        const int action = place(second) * PLACES + place(first) + (high_first ? 0 : LOW_FIRST);
        moves[action / 64] |= bit(action % 64);
    }
    // As many dice as possible are used; if only one can be, the higher one.
    void find_moves() {
        std::fill_n(moves, WORDS, 0);
        const Side &own = sides[current], &other = sides[1 - current];
        const bool are_equal = dice[0] == dice[1];
        bool uses_both = false;
        for (int high_first = 1; high_first >= (are_equal ? 1 : 0); --high_first) {
            each_move(own, other, dice[high_first], [&](int first) {
                Side own_after = own, other_after = other;
                move(own_after, other_after, first, dice[high_first]);
                each_move(own_after, other_after, dice[1 - high_first], [&](int second) {
                    uses_both = true;
                    allow(first, second, high_first);
                });
            });
        }
        if (uses_both) return;
        for (int high = 1; high >= 0; --high) {
            bool is_used = false;
            each_move(own, other, dice[high], [&](int from) {
                is_used = true;
                allow(from, PASS, high);
            });
            if (is_used) return;
        }
        allow(PASS, PASS, false);
    }
    bool is_legal(int64_t action) const { return moves[action / 64] >> action % 64 & 1; }
    void legal(uint8_t* mask) const {
        for (int word = 0; word < WORDS; ++word) {
            write_bits(moves[word], static_cast<size_t>(std::min(64, ACTIONS - 64 * word)), mask + 64 * word);
        }
    }
    void play(int64_t action, const Rng* rng, double* reward) {
        const int mover = current;
        const bool high_first = action < LOW_FIRST;
        const auto places = static_cast<int>(action % LOW_FIRST);
        const int from[] = {place(places % PLACES), place(places / PLACES)};
        for (int k = 0; k < 2; ++k) {
            if (from[k] != PASS) move(sides[mover], sides[1 - mover], from[k], dice[high_first == (k == 0)]);
        }
        if (!is_second) ++turns;
        is_second = !is_second && dice[0] == dice[1] && from[0] != PASS && from[1] != PASS;
        if (!is_second) {
            dice[0] = dice[1] = 0;
            shown = OVER;
        }
        if (is_over()) {
            current = OVER;
            if (sides[mover].off == CHECKERS) {
                reward[mover] = value_of_win(mover);
                reward[1 - mover] = -reward[mover];
            }
        } else if (is_second) {
            find_moves();
        } else {
            set_dice(drawn<36>(rng));
            begin(1 - mover);
        }
    }
    bool is_over() const { return turns > max_turns || sides[0].off == CHECKERS || sides[1].off == CHECKERS; }
    int value_of_win(int winner) const {
        const Side& loser = sides[1 - winner];
        if (scoring == WIN || loser.off > 0) return 1;
        // a checker in the winner's home, or on the bar
        bool is_far = loser.bar > 0;
        for (int p = 0; p < POINTS - HOME; ++p) is_far |= loser.points[p] > 0;
        return scoring == BACKGAMMON && is_far ? 3 : 2;
    }

    // Of both players, the own one first: of each point whether there are 1, 2 or 3 checkers, and how many more; then
    // those on the bar and off the board, and whose turn it is; the dice.
    void observe(int player, float* tensor) const {
        for (const int who : {player, 1 - player}) {
            for (int p = 0; p < POINTS; ++p) {
                const int count = sides[who].points[who == 0 ? p : POINTS - 1 - p];
                for (int k = 1; k <= 3; ++k) *tensor++ = static_cast<float>(count == k);
                *tensor++ = static_cast<float>(std::max(count - 3, 0));
            }
        }
        for (const int who : {player, 1 - player}) {
            *tensor++ = sides[who].bar;
            *tensor++ = sides[who].off;
            *tensor++ = static_cast<float>(shown == who);
        }
        *tensor++ = dice[0];
        *tensor++ = dice[1];
    }
    template <class Archive> void exchange(Archive& archive) {
        for (int k = 0; k < PLAYERS; ++k) {
            archive.in("sides", static_cast<size_t>(k), [&] {
                archive.all("points", sides[k].points, 0, CHECKERS);
                archive("bar", sides[k].bar, 0, CHECKERS);
                archive("off", sides[k].off, 0, CHECKERS);
            });
        }
        archive("shown", shown, OVER, 1);
        archive("turns", turns, 0, max_turns + 1);
        archive.all("dice", dice, 0, 6);
        archive("is_second", is_second);
    }
    bool validate() {
        for (int k = 0; k < PLAYERS; ++k) {
            const Side& side = sides[k];
            int count = side.bar + side.off;
            for (int p = 0; p < POINTS; ++p) {
                count += side.points[p];
                if (k == 1 && side.points[p] > 0 && sides[0].points[POINTS - 1 - p] > 0) {
                    refuse_state(name_of_item("sides[1].points", static_cast<size_t>(p)),
                                 "0 where the other player has checkers", text_of(side.points[p]));
                }
            }
            if (count != CHECKERS) {
                refuse_state(name_of_item("sides", static_cast<size_t>(k)), "15 checkers", text_of(count));
            }
        }
        if (current == OVER) return false;
        if (dice[0] < 1 || dice[0] > dice[1] || (is_second && dice[0] != dice[1])) {
            refuse_state("dice", "the lower die first, and equal dice for a second action",
                         text_of(dice[0]) + " and " + text_of(dice[1]));
        }
        if (shown != current) refuse_state("shown", text_of(current), text_of(shown));
        find_moves();
        return !is_over();
    }
};

}  // namespace cypool::board
