# distutils: extra_compile_args = -O2
# distutils: libraries = dl
"""Games of OpenSpiel: its library as Python functions, and the class of the environments."""
import functools
import sys

from cypool.envs.openspiel import library, specs
from cypool.state import check_state, check_stream
from cypool.util.arguments import shown

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset
from libcpp cimport bool as cbool
from libcpp.map cimport map
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from cypool.env cimport Env, action_data
from cypool.envs.common.archived_env cimport Archived
from cypool.envs.common.turns cimport OVER, TurnEnv, TurnGame
from cypool.random cimport Rng, copy_stream

import numpy as np
from numpy.random import MT19937, RandomState


cdef extern from "cypool/envs/openspiel/library.h" namespace "cypool::openspiel" nogil:
    ctypedef map[string, Parameter] Parameters "cypool::openspiel::Parameters"

    cdef enum ParameterType "cypool::openspiel::Parameter::Type":
        INTEGER "cypool::openspiel::Parameter::INTEGER"
        NUMBER "cypool::openspiel::Parameter::NUMBER"
        TEXT "cypool::openspiel::Parameter::TEXT"
        FLAG "cypool::openspiel::Parameter::FLAG"
        GAME "cypool::openspiel::Parameter::GAME"

    cdef cppclass Parameter:
        Parameter() except +
        cbool is_mandatory, flag
        int integer
        double number
        string text
        Parameters game
        ParameterType type

    cdef enum Information "cypool::openspiel::GameType::Information":
        PERFECT "cypool::openspiel::GameType::PERFECT"

    cdef cppclass GameType:
        string short_name
        int dynamics, chance_mode
        Information information
        cbool has_information_state_tensor, has_observation_tensor, has_only_struct_actions
        Parameters parameters

    cdef cppclass Game:
        pass

    ctypedef shared_ptr[const Game] GamePointer "cypool::openspiel::GamePointer"

    cdef cppclass Library:
        void open(const string& path, cbool sets_handler) except +
        vector[GameType] registered_games() except +
        GamePointer load_game(const string& name, const Parameters& parameters) except +
        Parameters parse_game(const string& text) except +
        int num_players(const Game* game) except +
        int num_actions(const Game* game) except +
        vector[int] information_state_shape(const Game* game) except +
        vector[int] observation_shape(const Game* game) except +
        const GameType& type_of(const Game* game)

    Library the_library "cypool::openspiel::library"

cdef extern from "cypool/envs/openspiel/game.h" namespace "cypool::openspiel" nogil:
    enum:
        TOGETHER "cypool::openspiel::TOGETHER"

    cdef cppclass Match(TurnGame):
        Match() except +
        Match(GamePointer game, cbool sees_information_state, cbool has_parameters) except +
        const Rng* chance
        void play_together(const int64_t* actions, const Rng* rng) except +
        cbool acts(int player) except +
        cbool is_legal_of(int player, int64_t action) except +
        void write_legal_of(int player, uint8_t* mask) except +
        string text_for(int player) except +
        string name_of(int player, int64_t action) except +
        vector[pair[int, string]] moves_after(size_t num_known) except +

cdef enum:
    MT19937_WORDS = 624

cdef bint _is_open = False
DYNAMICS = ["simultaneous", "sequential", "mean field"]
CHANCE_MODES = ["deterministic", "explicit", "sampled"]


# ---- the library


cdef int open_library() except -1:
    """Opens the library, once; raises an ImportError if it is missing, or another one."""
    global _is_open
    if _is_open:
        return 0
    path = library.find()
    try:
        # its own module sets a handler of errors that suits as well
        the_library.open(path.encode(), "pyspiel" not in sys.modules)
    except RuntimeError as error:
        raise ImportError(f"{library.NEEDING} the library of open_spiel {library.VERSION}, found another one in "
                          f"{path}: {error}: {library.INSTALL}", name="pyspiel") from error
    _is_open = True
    return 0


@functools.cache
def games():
    """Returns the parameters of each game: name -> (type, default, whether it has to be given)."""
    cdef GameType game
    cdef pair[string, Parameter] named
    open_library()
    known = {}
    for game in the_library.registered_games():
        known[game.short_name.decode()] = parameters = {}
        for named in game.parameters:
            parameters[named.first.decode()] = (<int>named.second.type, default_of(named.second),
                                                <bint>named.second.is_mandatory)
    return known


cdef object default_of(const Parameter& parameter):
    if parameter.type == INTEGER:
        return parameter.integer
    if parameter.type == NUMBER:
        return parameter.number
    if parameter.type == FLAG:
        return parameter.flag
    return parameter.text.decode() if parameter.type == TEXT else None


cdef GamePointer loaded(str short_name, dict parameters) except *:
    """Returns a game; a parameter is an int, float, bool or str, or a tuple of the text of a game."""
    cdef Parameters given
    cdef Parameter parameter
    cdef string name
    for key, value in parameters.items():
        parameter = Parameter()
        if isinstance(value, bool):
            parameter.type, parameter.flag = FLAG, value
        elif isinstance(value, int):
            parameter.type, parameter.integer = INTEGER, value
        elif isinstance(value, float):
            parameter.type, parameter.number = NUMBER, value
        elif isinstance(value, str):
            parameter.type, parameter.text = TEXT, <string>value.encode()
        else:
            parameter.type, parameter.game = GAME, the_library.parse_game(value[0].encode())
        name = key.encode()
        given[name] = parameter
    return the_library.load_game(short_name.encode(), given)


def facts_of(str short_name, dict parameters):
    """Returns what the spec of a game with some parameters says; raises a RuntimeError with OpenSpiel's message."""
    cdef GamePointer game = loaded(short_name, parameters)
    cdef const GameType* type = &the_library.type_of(game.get())
    cdef int dynamics = type.dynamics, chance_mode = type.chance_mode
    shapes = {}
    if type.has_information_state_tensor:
        shapes["information_state"] = tuple(the_library.information_state_shape(game.get()))
    if type.has_observation_tensor:
        shapes["observation"] = tuple(the_library.observation_shape(game.get()))
    return {"dynamics": DYNAMICS[dynamics], "chance_mode": CHANCE_MODES[chance_mode],
            "num_players": the_library.num_players(game.get()),
            "num_actions": 0 if type.has_only_struct_actions else the_library.num_actions(game.get()),
            "shapes": shapes, "is_hidden": type.information != PERFECT}


# ---- environments


cdef class OpenSpiel(TurnEnv):
    """A game of OpenSpiel.

    Observation: float32: the player's tensor, as in OpenSpiel's `rl_environment`: of the information state, or of the
        observation if a game has none.
    Action: OpenSpiel's.
    Reward: OpenSpiel's, for each move.
    Terminated: The game is over.
    """
    describe = staticmethod(specs.describer(games, facts_of))
    cdef Archived[Match] state
    cdef object chance                   # the MT19937 that chance draws with; None: the environment's stream

    def __init__(self, spec, env_id):
        TurnEnv.__init__(self, spec, env_id)
        options = spec.options
        # one for each environment: threads that shared it would count references to it
        parameters = specs.given_parameters(games(), options)
        self.state.reset(new Match(loaded(options["short_name"], parameters),
                                   options["tensor"] == "information_state", bool(parameters)))
        self.game, self.archived = <TurnGame*>self.state.get(), &self.state
        if options["chance_stream"] == "random_state":
            self.draw_with(MT19937(0))

    cdef int draw_with(self, object bit_generator) except -1:
        self.chance = bit_generator
        self.state.get().chance = <const Rng*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
        return 0

    cdef int seed(self, object seed) except -1:
        TurnEnv.seed(self, seed)
        if self.chance is not None:
            if seed is not None and seed >= 2**32:
                raise ValueError(f"seed: expected at most {2**32 - 1}, as a RandomState has, got {seed}")
            self.draw_with(RandomState(seed)._bit_generator)
        return 0

    cdef object save(self):
        own = TurnEnv.save(self)
        if self.chance is None:
            return own
        stream = self.chance.state["state"]
        return (*own, stream["key"].astype("<u4").tobytes(), stream["pos"])

    cdef int load(self, object state) except -1:
        if self.chance is None:
            return TurnEnv.load(self, state)
        own, key, pos = check_state(state, bytes, bytes, (0, MT19937_WORDS))
        if len(key) != 4 * MT19937_WORDS:
            raise ValueError(f"chance: expected the key of an MT19937, got {shown(key)}")
        stream = check_stream("chance", {"bit_generator": "MT19937", "state": {
            "key": np.frombuffer(key, "<u4"), "pos": pos}}, MT19937)
        TurnEnv.load(self, (own,))
        self.chance.state = stream
        return 0

    cdef int copy_from(self, Env other) except -1 nogil:
        TurnEnv.copy_from(self, other)
        cdef const Rng* chance = self.state.get().chance
        if chance != NULL and not copy_stream(chance, (<OpenSpiel>other).state.get().chance):
            with gil:
                self.chance.state = (<OpenSpiel>other).chance.state
        return 0

    cdef int step(self, const void* action) except -1 nogil:
        cdef Match* match = self.state.get()
        cdef int k
        if match.current != TOGETHER:
            return TurnEnv.step(self, action)
        self.take_together(action_data[int64_t](action))
        for k in range(match.num_players):
            self.agents.reward[k] = match.reward[k]
        self.write_turns()
        self.terminated = match.current == OVER
        return 0

    cdef int take_together(self, const int64_t* actions) except -1 nogil:
        """Plays an action of each player."""
        cdef Match* match = self.state.get()
        cdef int k
        for k in range(match.num_players):
            if match.acts(k) and not match.is_legal_of(k, actions[k]):
                # the first of them
                if self.loses:
                    match.current = k
                    match.lose()
                    return 0
                with gil:
                    raise ValueError(f"action: expected a legal action of player {k}, got {actions[k]}")
        match.play_together(actions, self.rng)
        return 0

    cdef int write_turns(self) except -1 nogil:
        cdef Match* match = self.state.get()
        cdef int k
        for k in range(match.num_players):
            self.agents.turn[k] = match.acts(k)
        return 0

    cdef int legal(self, uint8_t* mask) except -1 nogil:
        cdef Match* match = self.state.get()
        cdef int k
        if match.current != TOGETHER:
            return TurnEnv.legal(self, mask)
        memset(mask, 0, match.num_players * match.num_actions)
        for k in range(match.num_players):
            match.write_legal_of(k, mask + k * match.num_actions)
        return 0


def texts_of(OpenSpiel env not None, own, int player, actions, num_known):
    """Returns a saved game as people read it.

    Args:
        env: An environment that loads it.
        own: What an environment saved.
        player: Who reads it.
        actions: Actions of this player.
        num_known: Of the moves, which this number of first ones are left out of.

    Returns:
        The position, the names of the actions, and the moves: who played, chance being -1, and the name.
    """
    env.load(own)
    cdef Match* match = env.state.get()
    cdef pair[int, string] move
    return (match.text_for(player).decode(), [match.name_of(player, action).decode() for action in actions],
            [(move.first, move.second.decode()) for move in match.moves_after(num_known)])
