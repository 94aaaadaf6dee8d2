# distutils: extra_compile_args = -O2
# distutils: libraries = dl
"""OpenSpiel games: the library as Python functions, and the environment class."""
import functools
import sys

from cypool.envs.shared.turns.turn_specs import turn_settings
from cypool.envs.openspiel import library, specs
from cypool.state import check_state, check_stream
from cypool.util.arguments import shown

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.map cimport map
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from cypool.envs.shared.rules.archived_env cimport ArchivedEnv
from cypool.envs.shared.rules.rules_env cimport Options, Rules, RulesEnv, RulesOf, options_of

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
        vector[GameType] registered_games() except +
        GamePointer load_game(const string& name, const Parameters& parameters) except +
        Parameters parse_game(const string& text) except +
        int num_players(const Game* game) except +
        int num_actions(const Game* game) except +
        vector[int] information_state_shape(const Game* game) except +
        vector[int] observation_shape(const Game* game) except +
        const GameType& type_of(const Game* game)

    const Library* the_library "cypool::openspiel::library"
    void open_the_library "cypool::openspiel::open_library"(const string& path, cbool sets_handler) except +

cdef extern from "cypool/envs/shared/turns/turn_rules.h" namespace "cypool" nogil:
    cdef cppclass Turns[Game]:
        Game game

cdef extern from "cypool/envs/openspiel/game.h" namespace "cypool::openspiel" nogil:
    cdef cppclass Match:
        string text_for(int player) except +
        string name_of(int player, int64_t action) except +
        vector[pair[int, string]] moves_after(size_t num_known) except +

    Rules* new_rules(const Options& options, GamePointer game, cbool sees_information_state,
                     cbool has_parameters) except +

cdef enum:
    MT19937_WORDS = 624

cdef bint _is_open = False
DYNAMICS = ["simultaneous", "sequential", "mean field"]
CHANCE_MODES = ["deterministic", "explicit", "sampled"]


# ---- the library


cdef int open_library() except -1:
    """Opens the library, once; raises an ImportError if it is missing, or a different one."""
    global _is_open
    if _is_open:
        return 0
    path = library.find()
    try:
        # its own module sets a handler of errors that suits as well
        open_the_library(path.encode(), "pyspiel" not in sys.modules)
    except RuntimeError as error:
        raise ImportError(f"{library.NEEDING} the library of open_spiel {library.VERSION}, but {path} "
                          f"differs: {error}: {library.INSTALL}", name="pyspiel") from error
    _is_open = True
    return 0


@functools.cache
def games():
    """Returns the parameters of each game: name -> (type, default, whether it is required)."""
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
    """Returns a game; a parameter is an int, float, bool or str, or a tuple with the text of a game."""
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
    """Returns what a game's spec needs, given some parameters; raises a RuntimeError with OpenSpiel's message."""
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


cdef class OpenSpiel(RulesEnv):
    """An OpenSpiel game.

    Observation: float32: the player's tensor, as in OpenSpiel's `rl_environment`: the information state, or the
        observation if the game has none.
    Action: The number of an action in OpenSpiel.
    Reward: OpenSpiel's reward for each move.
    Terminated: When the game is over.
    """
    describe = staticmethod(specs.describer(games, facts_of))

    def __init__(self, spec, env_id):
        # a game for each environment: threads that shared it would count references to it
        self.take_rules(self.make(options_of(turn_settings(spec.options))))
        if spec.options["chance_stream"] == "random_state":
            self.draw_from(MT19937(0))

    cdef Rules* make(self, const Options& options) except NULL:
        chosen = self.spec.options
        parameters = specs.given_parameters(games(), chosen)
        return new_rules(options, loaded(chosen["short_name"], parameters), chosen["tensor"] == "information_state",
                         bool(parameters))

    cdef int seed(self, object seed) except -1:
        RulesEnv.seed(self, seed)
        if self.second_stream is not None:
            if seed is not None and seed >= 2**32:
                raise ValueError(f"seed: expected at most {2**32 - 1}, a RandomState's limit, got {seed}")
            self.draw_from(RandomState(seed)._bit_generator)
        return 0

    cdef object save(self):
        own = ArchivedEnv.save(self)
        if self.second_stream is None:
            return own
        stream = self.second_stream.state["state"]
        return (*own, stream["key"].astype("<u4").tobytes(), stream["pos"])

    cdef int load(self, object state) except -1:
        if self.second_stream is None:
            return ArchivedEnv.load(self, state)
        own, key, pos = check_state(state, bytes, bytes, (0, MT19937_WORDS))
        if len(key) != 4 * MT19937_WORDS:
            raise ValueError(f"chance: expected the key of an MT19937, got {shown(key)}")
        stream = check_stream("chance", {"bit_generator": "MT19937", "state": {
            "key": np.frombuffer(key, "<u4"), "pos": pos}}, MT19937)
        ArchivedEnv.load(self, (own,))
        self.second_stream.state = stream
        return 0


def texts_of(OpenSpiel env not None, own, int player, actions, num_known):
    """Returns a saved game in readable form.

    Args:
        env: An environment that loads it.
        own: The state that an environment saved.
        player: The player who reads it.
        actions: Actions of this player.
        num_known: Number of moves to leave out at the start.

    Returns:
        The position, the names of the actions, and the moves: the player (-1: chance) and the name.
    """
    env.load(own)
    cdef Match* match = &(<RulesOf[Turns[Match]]*>env.rules.get()).get().game
    cdef pair[int, string] move
    return (match.text_for(player).decode(), [match.name_of(player, action).decode() for action in actions],
            [(move.first, move.second.decode()) for move in match.moves_after(num_known)])
