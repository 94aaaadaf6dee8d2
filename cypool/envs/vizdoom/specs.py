"""The specs of both interfaces: options, spaces and infos, and the conversion of options to an engine's arguments."""
from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Container, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cypool.envs.vizdoom import assets
from cypool.envs.vizdoom.config import Config, ReadConfig, envpool_lines, envpool_size, lines_of, wrapper_lines
from cypool.envs.vizdoom.names import BUTTONS, FIRST_DELTA, VARIABLES
from cypool.options import Option, boolean, integer, number, optional, unchecked
from cypool.spec import Array, Discrete, EnvSpec, Group, MultiBinary
from cypool.util.arguments import check_float, check_int, shown

_TEXT_BYTES = 32_768  # of notifications, at most
_MAX_SEED = 2**32 - 1  # the game's
_MAX_PLAYERS = 16  # of a match
_LARGEST = np.finfo(np.float32).max

Numbers: TypeAlias = NDArray[np.float32]

# EnvPool's rewards by default: of a gain, and a loss
REWARDS = {
    "FRAGCOUNT": (1, -1.5), "KILLCOUNT": (1, 0), "DEATHCOUNT": (-0.75, 0.75), "HITCOUNT": (0.01, -0.01),
    "DAMAGECOUNT": (0.003, -0.003), "HEALTH": (0.005, -0.003), "ARMOR": (0.005, -0.001),
    **{f"WEAPON{k}": (0.02, -0.01) if k < 3 else (0.1, -0.05) if k < 6 else (0.2, -0.1) for k in range(8)},
    **{f"AMMO{k}": (0.0002, -0.0001) if k < 3 else (0.001, -0.0005) if k < 6 else (0.002, -0.001) for k in range(8)}}
WEAPON_REWARDS = {k: 0.0002 if k < 3 else 0.001 if k < 6 else 0.002 for k in range(8)}
# the infos that EnvPool reports
INFO = (*(f"AMMO{k}" for k in range(2, 8)), "ARMOR", "DAMAGECOUNT", "DEATHCOUNT", "FRAGCOUNT", "HEALTH", "HITCOUNT",
        "KILLCOUNT", "SELECTED_WEAPON", "SELECTED_WEAPON_AMMO", "USER2")
# of these EnvPool presses one of a pair at most
_PAIRS = ("MOVE_RIGHT", "MOVE_BACKWARD", "TURN_RIGHT", "LOOK_UP", "MOVE_UP", "SELECT_NEXT_WEAPON", "SELECT_NEXT_ITEM")
_WEAPONS = range(BUTTONS.index("SELECT_WEAPON1"), BUTTONS.index("SELECT_WEAPON0") + 1)


# ---- checks of options


def _check_text(name: str, value: Any) -> str:
    """Returns `value` if it is a string, else raises a TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, got {shown(value)}")
    # the engine takes lines of text
    if "\0" in value or value != value.encode(errors="replace").decode():
        raise ValueError(f"{name}: expected valid text without null characters, got {shown(value)}")
    return str(value)


def _check_word(name: str, value: Any) -> str:
    """Returns `value` if it is a string without spaces, and not empty; raises as `_check_text` does."""
    text = _check_text(name, value)
    if text.split() != [text]:
        raise ValueError(f"{name}: expected a name without spaces, got {shown(text)}")
    return text


def _check_config(name: str, config: Any) -> dict[str, Any]:
    """Returns the option `config` as a plain dict, with names instead of vizdoom's enums."""
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        raise TypeError(f"{name}: expected a dict of config keys and values, got {shown(config)}")
    plain: dict[str, Any] = {}
    for key, value in config.items():
        values = value if isinstance(value, list | tuple) else [value]
        values = [each if isinstance(each, bool | int | float | str) else getattr(each, "name", None)
                  for each in values]
        texts = [str(each) for each in (key, *values)]
        if not isinstance(key, str) or None in values or any("\n" in text or "{" in text for text in texts):
            raise ValueError(f"{name}: expected names with numbers, strings, bools or lists of these, got "
                             f"{shown(key)}: {shown(value)}")
        for text in texts:
            _check_text(name, text)
        plain[key] = values if isinstance(value, list | tuple) else values[0]
    return plain


def _check_map_of(name: str, value: Any, *, known: Container[Any], count: int, kind: str) -> dict[Any, Any]:
    """Returns an option that maps known names to `count` numbers each (1: a number) as a plain dict."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected a dict, got {shown(value)}")
    plain = {}
    for key, numbers in value.items():
        given = (numbers,) if count == 1 else numbers
        if key not in known:
            raise ValueError(f"{name}: expected {kind}, got {shown(key)}")
        if not isinstance(given, tuple | list) or len(given) != count:
            raise ValueError(f"{name}: expected {count} numbers for {key!r}, got {shown(numbers)}")
        checked = tuple(check_float(name, number, -1e30, 1e30) for number in given)
        plain[key] = checked[0] if count == 1 else checked
    return plain


def _check_deltas(name: str, deltas: Any) -> dict[str, tuple[int, float, float]]:
    """Returns {button: (count, low, high)} as a plain dict; none for None."""
    deltas = _check_map_of(name, {} if deltas is None else deltas, known=BUTTONS[FIRST_DELTA:], count=3,
                           kind="buttons that take a number")
    return {button: (check_int(name, int(count), 0, 1000), low, high) for button, (count, low, high) in deltas.items()}


def _check_engine(name: str, value: Any) -> str:
    """Returns the engine's path, "" for the installed one."""
    path = _check_text(name, value)
    if path and not os.path.isfile(path):
        raise ValueError(f"{name}: expected the engine's executable, got {shown(path)}")
    return path


def _check_folder(name: str, path: Any) -> str:
    path = _check_text(name, path)
    return os.path.abspath(path) if path else ""


def _check_resolution(path: str, resolution: str, read_config: ReadConfig) -> None:
    # a file that is wrong by itself is reported as such
    read_config(path, "")
    try:
        read_config(path, lines_of({"screen_resolution": resolution}))
    except ValueError:
        raise ValueError("screen_resolution: expected a ViZDoom resolution, such as 'RES_160X120', got "
                         f"{shown(resolution)}") from None


# ---- shared by both interfaces


def is_alone(options: Mapping[str, Any]) -> bool:
    """Returns whether there are no other players, so that the engine only waits for our tics."""
    return options["num_players"] == 1 and options["num_bots"] == 0 and not options["game_args"]


def player_arguments(options: Mapping[str, Any]) -> list[str]:
    """Returns the arguments of each player's engine, in addition to those of the config."""
    num_players, num_bots, game_args = options["num_players"], options["num_bots"], options["game_args"]
    bots = f" +viz_bots_path {assets.package() / 'bots.cfg'}" if num_bots > 0 else ""
    if num_players == 1:
        host = " -host 1 -deathmatch +sv_forcerespawn 1" if num_bots > 0 else ""
        return [f"{game_args}{host}{bots}"]
    common = " +viz_connect_timeout 60 +sv_forcerespawn 1"
    return [
        f"-host {num_players} -netmode 0 -deathmatch +name Player0{common}{bots} {game_args}",
        *(f"-join 127.0.0.1 +name Player{k}{common} {game_args}" for k in range(1, num_players))]


def _find_files(options: dict[str, Any], config: Config, map_option: str) -> None:
    """Replaces the WADs that options name by those in effect, and checks that they have the map."""
    # the library's own way to find them depends on where its code is
    options["wad_path"] = wad = _find("wad_path", options["wad_path"], config.wad) or ""
    options["iwad_path"] = iwad = _find("iwad_path", options["iwad_path"], config.iwad) or assets.default_iwad()
    assets.check_map(map_option, config.map, {"iwad_path": iwad} | ({"wad_path": wad} if wad else {}))


def _find(name: str, path: Any, otherwise: Any) -> Any:
    """Returns the WAD that an option or else the config names; None if neither does."""
    if path is None or (isinstance(path, str) and not path):
        path = otherwise
    return None if isinstance(path, str) and not path else assets.find_data(name, path)


def _spec(options: dict[str, Any], observation: Any, action: Any, info: dict[str, Array], **others: Any) -> EnvSpec:
    """Returns the spec of a match with one player, or with several that form a group of agents called `player`.

    `Doom.write_infos` writes the infos of both interfaces, after the others, in this order.
    """
    count = options["num_players"]
    info["engine_restarted"] = Array((), np.bool_)
    if count > 1:
        info |= {"player_reward": Array((count,), np.float64), "player_dead": Array((count,), np.bool_)}
        others |= {"agents": {"player": Group(count, observation, action)}, "num_players": count}
    else:
        others |= {"observation": observation, "action": action}
    if options["engine_pid"]:
        info["engine_pid"] = Array((count,) if count > 1 else (), np.int32)
    return EnvSpec(info=info, threads_per_cpu=4, sync_threads_per_cpu=1 if is_alone(options) else 4, options=options,
                   **others)


_FRAME_SKIP = integer(1, 1, 10_000, "Duration of a step in tics.")
_WAD = unchecked(None, "The scenario's WAD to use instead of the one in the config.")
_IWAD = unchecked(None, "The game's WAD to use instead of the one in the config.")
_GAME_ARGS = Option("", _check_text, "Additional arguments for the engine.")
_MATCH = {
    "num_players": integer(1, 1, _MAX_PLAYERS, "Number of players; with two or more, the game is a deathmatch."),
    "num_bots": integer(0, 0, _MAX_PLAYERS - 1, "Number of additional players controlled by the game."),
    "engine_timeout": number(60.0, 0.001, 1e6, "Seconds after which the engine is killed if a step or a reset has not "
                                               "finished."),
    "engine_pid": boolean(False, "Adds the engine's process id to the infos.")}


# ---- ViZDoom's wrapper


WRAPPER_OPTIONS = dict(
    scenario_config_file=Option("basic.cfg", assets.find_config, "The config: a path, or the name of a config included "
                                                                 "in vizdoom."),
    frame_skip=_FRAME_SKIP,
    max_buttons_pressed=integer(
        0, 0, len(BUTTONS), "Number of buttons that can be pressed at once: an action is one combination of buttons. "
                            "0: any number of buttons, each with a separate value. If some buttons take a number, "
                            "the action is a dict that separates them from the others."),
    treat_episode_timeout_as_truncation=boolean(True, "Also reports the game's own time limit as truncation; "
                                                      "`terminated` is set either way."),
    config=Option(None, _check_config, "A dict of config keys and values that override those in the file."),
    doom_map=optional(_check_word, "The map to use instead of the one in the config."),
    doom_skill=integer(None, 1, 5, "The difficulty, 1 to 5, to use instead of the one in the config."),
    wad_path=_WAD, iwad_path=_IWAD, game_args=_GAME_ARGS, **_MATCH)


def gymnasium_doom(options: dict[str, Any], read_config: ReadConfig) -> EnvSpec:
    """Describes the game as ViZDoom's wrapper makes it with these options."""
    path, config = options["scenario_config_file"], options["config"]
    for name in ("doom_map", "doom_skill"):
        if options[name] is not None:
            config[name] = options[name]
    _find_files(options, read_config(path, lines_of(config)), "doom_map")
    facts = read_config(path, wrapper_lines(path, options, read_config))
    size = (facts.height, facts.width)
    parts = {"screen": Array((*size, facts.channels), np.uint8)}
    for name in ("depth", "labels"):
        if getattr(facts, name):
            parts[name] = Array((*size, 1), np.uint8)
    if facts.automap:
        parts["automap"] = Array((*size, facts.channels), np.uint8)
    if facts.audio:
        parts["audio"] = Array((facts.samples_per_tic * facts.audio_tics, 2), np.int16)
    if facts.notifications:
        parts["notifications"] = Array((_TEXT_BYTES,), np.uint8)
    if facts.variables:
        parts["gamevariables"] = Array((len(facts.variables),), np.float32, -_LARGEST, _LARGEST)
    return _spec(options, parts, _wrapper_action(facts, options["max_buttons_pressed"]), {}, render_fps=35)


def choices_of(num_binary: int, pressed: int) -> list[tuple[int, ...]]:
    """Returns the combinations of buttons, each a tuple of 0 and 1; empty if buttons are independent."""
    if not num_binary or not pressed:
        return []
    return [choice for choice in itertools.product((0, 1), repeat=num_binary) if sum(choice) <= pressed]


def _wrapper_action(config: Config, pressed: int) -> Any:
    """Describes the actions of a player."""
    num_binary = len(config.buttons) - config.num_deltas
    choices = choices_of(num_binary, pressed)
    parts: dict[str, Any] = {}
    if num_binary:
        parts["binary"] = Discrete(len(choices)) if choices else MultiBinary((num_binary,))
    if config.num_deltas:
        parts["continuous"] = Array((config.num_deltas,), np.float32, -_LARGEST, _LARGEST)
    return parts if len(parts) > 1 else parts.popitem()[1]


# ---- EnvPool


_SIDE = unchecked(84, "Size of an observation, at most that of the config's screen.")


ENVPOOL_OPTIONS = dict(
    cfg_path=Option("", assets.find_config, "The config: a path, or the name of a config included in vizdoom or in "
                                            "EnvPool's assets."),
    img_height=_SIDE, img_width=_SIDE,
    stack_num=integer(4, 1, 256, "Number of stacked frames."),
    frame_skip=_FRAME_SKIP.with_default(4),
    lmp_save_dir=Option("", _check_folder, 'A folder for recordings of all episodes except the first; "": none.'),
    episodic_life=boolean(False, "Ends the episode when a life is lost, even if the game continues."),
    force_speed=boolean(False, "Always presses SPEED in combined actions."),
    use_combined_action=boolean(False, "Makes each action one of the sensible combinations of buttons, instead of a "
                                       "value per button."),
    use_inter_area_resize=boolean(True, "Resizes images with OpenCV's INTER_AREA instead of INTER_LINEAR."),
    weapon_duration=integer(5, 0, 2**31 - 1, "Number of steps for which a weapon must be held to earn a reward."),
    reward_config=Option(REWARDS, functools.partial(_check_map_of, known=VARIABLES, count=2, kind="game variables"),
                         "{variable: (gain, loss)}: the reward is the gain times an increase, or the loss, usually "
                         "negative, times a decrease."),
    selected_weapon_reward_config=Option(
        WEAPON_REWARDS, functools.partial(_check_map_of, known=range(8), count=1, kind="weapons, 0 to 7"),
        "{weapon: reward}: rewards each step with that weapon in hand and ammunition for it."),
    delta_button_config=Option(None, _check_deltas, "{button: (count, low, high)}: uses `count` values of the button "
                                                    "in combined actions."),
    wad_path=_WAD.with_default(""),
    vzd_path=Option("", _check_engine, "The engine to use instead of the installed one; must be the same version."),
    iwad_path=_IWAD.with_default(""), game_args=_GAME_ARGS,
    map_id=Option("map01", _check_word, "The map."),
    screen_resolution=optional(
        _check_word, "The engine's resolution, such as \"RES_160X120\"; None: the config's, except that for widths "
                     "below 320, the engine renders at 320x240 and scales the image down, like EnvPool. A lower "
                     "resolution is faster, but changes pixels."), **_MATCH)


def envpool_doom(options: dict[str, Any], read_config: ReadConfig) -> EnvSpec:
    """Describes the game as EnvPool makes it with these options."""
    path = options["cfg_path"]
    if options["screen_resolution"] is not None:
        _check_resolution(path, options["screen_resolution"], read_config)
    config = read_config(path, envpool_lines(options, read_config))
    if config.format not in ("CRCGCB", "CBCGCR", "GRAY8", "DOOM_256_COLORS8"):
        raise ValueError(f"cfg_path: expected a planar screen_format, such as CRCGCB or GRAY8, got {config.format}")
    _find_files(options, config, "map_id")
    for name, most in zip(("img_height", "img_width"), envpool_size(config, options, read_config), strict=True):
        options[name] = check_int(name, options[name], 1, most)
    lead = (options["num_players"],) if options["num_players"] > 1 else ()
    shape = options["stack_num"] * config.channels, options["img_height"], options["img_width"]
    action: Any = Array((len(config.buttons),), np.float64)
    if options["use_combined_action"]:
        action = Discrete(len(combined_actions(config.buttons, options["force_speed"],
                                               options["delta_button_config"])))
    return _spec(options, Array(shape, np.uint8, stack=(0, options["stack_num"])), action,
                 {name: Array(lead, np.float64) for name in INFO}, max_seed=_MAX_SEED,
                 render_fps=max(35 // options["frame_skip"], 1))


def rewarded(config: Config, options: Mapping[str, Any]) -> tuple[list[int], list[int], Numbers, Numbers, Numbers]:
    """Returns how variables are rewarded.

    Returns:
        The numbers of the variables; which of these the infos contain; the rewards for a gain and a loss of each; and
        those for each weapon.
    """
    names = list(dict.fromkeys([*config.variables, *INFO]))
    pairs = [options["reward_config"].get(name, (0, 0)) for name in names]
    of_weapons = [options["selected_weapon_reward_config"].get(weapon, 0) for weapon in range(10)]
    # as EnvPool has them: float32
    gains, losses = np.array(pairs, np.float32).T
    return ([VARIABLES.index(name) for name in names], [names.index(name) for name in INFO], gains, losses,
            np.array(of_weapons, np.float32))


def combined_actions(buttons: Sequence[str], force_speed: bool, deltas: Mapping[str, tuple[int, float, float]],
                     ) -> NDArray[np.float64]:
    """Returns EnvPool's choices of buttons: an array with a row of button values for each.

    At most one weapon is selected, and at most one of two opposite buttons is pressed.

    Args:
        buttons: Names.
        force_speed: SPEED is always pressed.
        deltas: {name: (count, low, high)}: this number of evenly spaced values of a button that takes a number.
    """
    groups: list[list[dict[str, float]]] = []
    taken: set[str] = set()
    for k, name in enumerate(BUTTONS):
        if name not in buttons or name in taken:
            continue
        if k >= FIRST_DELTA:
            count, low, high = deltas.get(name, (0, 0, 0))
            if count > 1:
                space = np.float32(np.float32(high) - np.float32(low)) / np.float32(count - 1)
                values = np.cumsum(np.array([low, *[space] * (count - 1)], np.float32), dtype=np.float32)
                groups.append([{name: float(value)} for value in values])
        elif k in _WEAPONS:
            together = [BUTTONS[each] for each in _WEAPONS if BUTTONS[each] in buttons]
            taken.update(together)
            groups.append([{}, *({each: 1.0} for each in together)])
        elif name in _PAIRS and BUTTONS[k + 1] in buttons:
            taken.add(BUTTONS[k + 1])
            groups.append([{}, {name: 1.0}, {BUTTONS[k + 1]: 1.0}])
        elif name == "SPEED" and force_speed:
            groups.append([{name: 1.0}])
        else:
            groups.append([{}, {name: 1.0}])
    rows = []
    for choice in itertools.product(*groups):
        pressed = {name: value for part in choice for name, value in part.items()}
        rows.append([pressed.get(name, 0.0) for name in buttons])
    return np.array(rows)
