# distutils: extra_compile_args = -O2
"""`TurnEnv`: games in which players move in turn, from the view of who moves, of all players, or of one of them."""
from libc.string cimport memset

from cypool.env cimport Slot, Turn, action_data, info_row, obs_row
from cypool.random cimport integers

cdef enum:
    RANDOM_SEAT = -1
    NEXT_SEAT = -2                   # that of the next player in each match
    MOST_MATCHES = 1000              # that end before the learner moves, one after another

SEATS = {"random": RANDOM_SEAT, "alternate": NEXT_SEAT}
VIEWS = ["mover", "players", "single"]


cdef class TurnEnv(ArchivedEnv):
    """Base of environments of a `TurnGame`, whose specs are made by `cypool.envs.common.turn_specs`."""

    def __init__(self, spec, env_id):
        options = spec.options
        self.view = <View><int>VIEWS.index(options.get("view", "mover"))
        self.loses = options["illegal"] == "lose"
        self.simulations = options["simulations"] if options.get("opponent") == "tree_search" else 0
        seat = options.get("seat", 0)
        self.seat = SEATS[seat] if seat in SEATS else int(seat)

    cdef int seed(self, object seed) except -1:
        ArchivedEnv.seed(self, seed)
        # seats that alternate begin again, each environment with another one
        self.game.num_matches = self.env_id % self.game.num_players
        return 0

    cdef int reset(self) except -1 nogil:
        cdef TurnGame* game = self.game
        cdef int _k
        if self.view != SINGLE:
            game.reset(self.rng)
            if self.view == PLAYERS:
                self.write_turns()
            return 0
        # a match may be over before the learner moves
        for _k in range(MOST_MATCHES):
            game.reset(self.rng)
            if self.seat == RANDOM_SEAT:
                game.seat = <int32_t>integers(self.rng, 0, game.num_players)
            elif self.seat == NEXT_SEAT:
                game.seat = game.num_matches % game.num_players
            else:
                game.seat = self.seat
            game.num_matches = (game.num_matches + 1) % (1 << 30)
            self.let_opponents_play()
            if game.current != OVER:
                return 0
        with gil:
            raise ValueError(f"seat: expected a player who moves before a match is over, got {game.seat}, who did not "
                             f"move in {MOST_MATCHES} matches")

    cdef int step(self, const void* action) except -1 nogil:
        cdef TurnGame* game = self.game
        cdef int mover = game.current, k
        cdef const int64_t* actions = action_data[int64_t](action)
        if mover == OVER:
            with gil:
                raise ValueError("step: expected a match that is not over; was the state edited?")
        if self.view == PLAYERS:
            self.take(actions[mover])
            for k in range(game.num_players):
                self.agents.reward[k] = game.reward[k]
            self.write_turns()
        else:
            self.take(actions[0])
            self.reward = game.reward[mover]
            if self.view == SINGLE:
                self.let_opponents_play()
        self.terminated = game.current == OVER
        return 0

    cdef int take(self, int64_t action) except -1 nogil:
        """Plays an action of the player who moves."""
        cdef TurnGame* game = self.game
        if game.is_legal(action):
            game.play(action, self.rng)
        elif self.loses:
            game.lose()
        else:
            with gil:
                raise ValueError(f"action: expected a legal action of player {game.current}, got {action}")
        return 0

    cdef int let_opponents_play(self) except -1 nogil:
        """Plays for others until it is the learner's turn."""
        cdef TurnGame* game = self.game
        cdef int64_t action
        while game.current != OVER and game.current != game.seat:
            action = self.opponent.choose(game[0], self.simulations, self.rng) if self.simulations > 0 else -1
            if action >= 0:
                game.play(action, self.rng)
            else:
                game.play_random(self.rng)
            self.reward = self.reward + game.reward[game.seat]
        return 0

    cdef int write_turns(self) except -1 nogil:
        cdef int k
        for k in range(self.game.num_players):
            self.agents.turn[k] = k == self.game.current
        return 0

    cdef int legal(self, uint8_t* mask) except -1 nogil:
        cdef TurnGame* game = self.game
        if self.view != PLAYERS:
            game.legal(mask)
            return 0
        memset(mask, 0, game.num_players * game.num_actions)
        if game.current != OVER:
            game.legal(mask + game.current * game.num_actions)
        return 0

    cdef void turn(self, Turn* out) noexcept nogil:
        cdef int k
        out.num_players, out.player, out.outcome = self.game.num_players, self.game.current, self.game.outcome
        for k in range(self.game.num_players):
            out.reward[k] = self.game.reward[k]

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef TurnGame* game = self.game
        cdef float* tensor = obs_row[float](out, 0)
        cdef double* reward
        cdef int k
        if self.view == PLAYERS:
            for k in range(game.num_players):
                game.observe(k, tensor + k * game.tensor_size)
            self.legal(obs_row[uint8_t](out, 1))
            info_row[int32_t](out, 0)[0] = game.current
            return 0
        game.observe(game.seat if self.view == SINGLE else game.last if game.current == OVER else game.current, tensor)
        game.legal(info_row[uint8_t](out, 0))
        if game.num_players > 1:
            info_row[int32_t](out, 1)[0] = game.current
            if self.view == MOVER:
                reward = info_row[double](out, 2)
                for k in range(game.num_players):
                    reward[k] = game.reward[k]
        return 0
