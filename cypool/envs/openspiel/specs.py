"""The specs of OpenSpiel's games: their options, which are OpenSpiel's parameters, and spaces."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cypool.envs.openspiel import library, trial
from cypool.envs.shared.turns.turn_specs import ILLEGAL, OPPONENT, SIMULATIONS, turn_options, turn_spec
from cypool.options import check_options, choice, describes, unchecked
from cypool.spec import Array, EnvSpec
from cypool.util.arguments import check_bool, check_float, check_int, shown, suggestion

# as in turn_game.h
_MOST_PLAYERS = 10
# two of them on threads, or of different sizes, end the process
_SHARE_MEMORY = ("twixt",)
_LARGEST = 2**28  # numbers of a tensor, and actions
# the parameters of all games: by name, type, default and whether it has to be given
Games = dict[str, dict[str, tuple[int, Any, bool]]]
# in the order of Parameter::Type
INTEGER, NUMBER, TEXT, FLAG, GAME = range(5)
_OF_VIEWS = ("view", "seat", "opponent", "simulations")
_OWN = ("short_name", "tensor", "chance_stream", *_OF_VIEWS, "illegal")


def _check_parameter(name: str, kind: int, value: Any) -> Any:
    if kind == INTEGER:
        return check_int(name, value, -2**31, 2**31 - 1)
    if kind == NUMBER:
        return check_float(name, value, -math.inf, math.inf)
    if kind == FLAG:
        return check_bool(name, value)
    if not isinstance(value, str):
        what = "a str" if kind == TEXT else "a str that names a game, such as 'kuhn_poker(players=3)'"
        raise TypeError(f"{name}: expected {what}, got {shown(value)}")
    return value


def _parameters(known: Games, short_name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Returns all of a game's parameters; raises errors about those that are given."""
    if not isinstance(short_name, str):
        raise TypeError(f"short_name: expected the name of a game, got {shown(short_name)}")
    if short_name not in known:
        raise ValueError(f"short_name: expected a game from OpenSpiel {library.VERSION}, got {shown(short_name)}"
                         f"{suggestion(short_name, known)}")
    declared = known[short_name]
    for name in given:
        if name not in declared:
            raise ValueError(f"{name}: not an option of openspiel/{short_name}-v0{suggestion(name, declared)}; "
                             f"options: {', '.join([*declared, *_OWN[1:]])}")
    parameters = {}
    for name, (kind, default, is_mandatory) in declared.items():
        if given.get(name) is not None:
            parameters[name] = _check_parameter(name, kind, given[name])
        elif is_mandatory:
            raise ValueError(f"{name}: expected a value, because {short_name} has no default for it")
        # that of cypool.make has another meaning
        elif name != "seed":
            # OpenSpiel says 0 also where the game finds a default itself
            parameters[name] = default or None
    return parameters


def given_parameters(known: Games, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters that differ from the game's defaults; a game as a parameter is a tuple of its text."""
    declared = known[options["short_name"]]
    return {name: (options[name],) if kind == GAME else options[name]
            for name, (kind, default, _) in declared.items() if options.get(name) not in (None, default or None)}


def describer(games: Callable[[], Games], facts_of: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Any:
    """Returns the function that describes games.

    Args:
        games: Returns the parameters of all games.
        facts_of: Takes a name and given parameters; returns the facts that a spec needs. May raise a RuntimeError.
    """
    @describes(
        "OpenSpiel's parameters for the game.",
        short_name=unchecked("tic_tac_toe", "OpenSpiel's name for the game."),
        tensor=choice("auto", ("auto", "observation", "information_state"),
                      "A player's observation: \"auto\" is the information state, or the observation if the game has "
                      "none."),
        chance_stream=choice("np_random", ("np_random", "random_state"),
                             "The random generator for chance events: Gymnasium's, or a `numpy.random.RandomState`, as "
                             "in OpenSpiel's `rl_environment`."),
        view=unchecked(None, 'The view in each row: "mover", the player to move; "players", all players, as agents; '
                             '"single", one player, while the environment plays the others. None: "mover", or '
                             '"players" for simultaneous moves.'),
        seat=unchecked(None, 'The player in the "single" view: a number, "random" (the default), or "alternate" '
                             "(each player in turn)."),
        opponent=unchecked(None, OPPONENT), simulations=unchecked(None, SIMULATIONS),
        illegal=ILLEGAL)
    def game(options: dict[str, Any], given: dict[str, Any]) -> EnvSpec:
        known, short_name = games(), options["short_name"]
        options = {**options, **_parameters(known, short_name, given)}
        what = ", ".join(name for name in given if given[name] is not None) or f"id: openspiel/{short_name}-v0"
        parameters = given_parameters(known, options)
        inner = [value[0] for value in parameters.values() if isinstance(value, tuple)]
        for name in _SHARE_MEMORY:
            if short_name == name or any(f"{name}(" in text for text in inner):
                raise ValueError(f"{what}: expected a game that several environments can play at once, got {name}, "
                                 "whose boards share memory in OpenSpiel")
        try:
            if parameters:
                trial.check(short_name, tuple((name, options[name]) for name in parameters))
            facts = facts_of(short_name, parameters)
        # C++'s exceptions become several of these
        except (RuntimeError, ValueError, IndexError, ArithmeticError) as error:
            raise ValueError(f"{what}: expected a game that OpenSpiel can load, got {error}") from error
        num_players, together = facts["num_players"], facts["dynamics"] == "simultaneous"
        if facts["dynamics"] == "mean field" or facts["chance_mode"] == "sampled":
            raise ValueError(f"{what}: expected a game with individual players and explicit chance nodes, got one "
                             f"with {'a mean field' if facts['dynamics'] == 'mean field' else 'sampled chance'}")
        shapes = facts["shapes"]
        if not 1 <= facts["num_actions"] <= _LARGEST or not any(shapes.values()) or not all(
                min(shape, default=1) > 0 and math.prod(shape) <= _LARGEST for shape in shapes.values()):
            raise ValueError(f"{what}: expected a game with discrete actions and observation tensors, got "
                             f"{facts['num_actions']} actions and tensor shapes {shapes}")
        if not 1 <= num_players <= _MOST_PLAYERS:
            raise ValueError(f"{what}: expected 1 to {_MOST_PLAYERS} players, got {num_players}")
        kind = options["tensor"]
        if kind == "auto":
            kind = next(iter(shapes))
        if not shapes.get(kind):
            raise ValueError(f"tensor: expected {' or '.join(shapes)} (provided by {short_name}), got {kind}")
        options["tensor"] = kind
        options |= _view(options, short_name, num_players, together)
        tensor = Array(shapes[kind], np.float32)
        return turn_spec(options, tensor, facts["num_actions"], num_players, together=together,
                         has_hidden_information=facts["is_hidden"],
                         has_own_chance=options["chance_stream"] == "random_state"
                         and facts["chance_mode"] != "deterministic")

    return game


def _view(options: dict[str, Any], short_name: str, num_players: int, together: bool) -> dict[str, Any]:
    """Returns the options of views, checked."""
    given = {name: options[name] for name in _OF_VIEWS if options[name] is not None}
    if together:
        given.setdefault("view", "players")
        # an array compared with a string is an array
        if not isinstance(given["view"], str) or given["view"] != "players":
            raise ValueError(f"view: expected 'players' ({short_name} has simultaneous moves), got "
                             f"{shown(given['view'])}")
    declared = turn_options(max(num_players, 2))
    checked = check_options({name: declared[name] for name in _OF_VIEWS}, given)
    if num_players == 1 and not together and checked["view"] != "mover":
        raise ValueError(f"view: expected 'mover' ({short_name} has one player), got {checked['view']!r}")
    return checked
