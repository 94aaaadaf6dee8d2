"""Options that both interfaces have, and the arguments that they become for an engine."""
from __future__ import annotations

from typing import Any

import numpy as np

from cypool.envs.vizdoom import assets
from cypool.spec import Array, EnvSpec, Group
from cypool.util.arguments import check_bool, check_float, check_int, shown

MAX_SEED = 2**32 - 1             # what the game takes
MAX_PLAYERS = 16                 # of a match


def lines_of(config: Any) -> str:
    """Returns a dict of config keys and values as lines of a config."""
    lines = []
    for key, value in config.items():
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, list | tuple):
            value = f"{{ {' '.join(map(str, value))} }}"
        lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n" if lines else ""


def check_text(name: str, value: Any) -> str:
    """Returns `value` if it is a string, else raises a TypeError."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, got {shown(value)}")
    # the engine takes lines of text
    if "\0" in value or value != value.encode(errors="replace").decode():
        raise ValueError(f"{name}: expected text, got {shown(value)}")
    return str(value)


def check_word(name: str, value: Any) -> str:
    """Returns `value` if it is a string without spaces, and not empty; raises as `check_text` does."""
    text = check_text(name, value)
    if text.split() != [text]:
        raise ValueError(f"{name}: expected a name without spaces, got {shown(text)}")
    return text


def is_alone(options: dict[str, Any]) -> bool:
    """Returns whether nobody else plays, so that the engine waits for nothing but our tics."""
    return options["num_players"] == 1 and options["num_bots"] == 0 and not options["game_args"]


def player_arguments(num_players: int, num_bots: int, game_args: str) -> list[str]:
    """Returns the arguments of each player's engine, in addition to those of the config."""
    bots = f" +viz_bots_path {assets.package() / 'bots.cfg'}" if num_bots > 0 else ""
    if num_players == 1:
        host = " -host 1 -deathmatch +sv_forcerespawn 1" if num_bots > 0 else ""
        return [f"{game_args}{host}{bots}"]
    common = " +viz_connect_timeout 60 +sv_forcerespawn 1"
    return [
        f"-host {num_players} -netmode 0 -deathmatch +name Player0{common}{bots} {game_args}",
        *(f"-join 127.0.0.1 +name Player{k}{common} {game_args}" for k in range(1, num_players))]


def common_options(facts: Any, wad_path: Any, iwad_path: Any, frame_skip: int, game_args: str, num_players: int,
                   num_bots: int, engine_timeout: float, engine_pid: Any,
                   map_option: str = "doom_map") -> dict[str, Any]:
    """Checks the options that both interfaces have, and finds the files; returns them as they are to be kept."""
    # the library's own way to find them depends on where its code is
    wad = _find("wad_path", wad_path, facts.wad) or ""
    iwad = _find("iwad_path", iwad_path, facts.iwad) or assets.default_iwad()
    assets.check_map(map_option, facts.map, {"iwad_path": iwad} | ({"wad_path": wad} if wad else {}))
    return {
        "wad_path": wad,
        "iwad_path": iwad,
        "frame_skip": check_int("frame_skip", frame_skip, 1, 10_000),
        "game_args": check_text("game_args", game_args),
        "num_players": check_int("num_players", num_players, 1, MAX_PLAYERS),
        "num_bots": check_int("num_bots", num_bots, 0, MAX_PLAYERS - 1),
        "engine_timeout": check_float("engine_timeout", engine_timeout, 0.001, 1e6),
        "engine_pid": check_bool("engine_pid", engine_pid),
    }


def _find(name: str, path: Any, otherwise: Any) -> Any:
    """Returns the WAD that an option names, or else the config; None if neither does."""
    if path is None or (isinstance(path, str) and not path):
        path = otherwise
    return None if isinstance(path, str) and not path else assets.find_data(name, path)


def spec_of_players(count: int, observation: Any, action: Any, **others: Any) -> EnvSpec:
    """Returns the spec of a match: of one player, or of `count` that are a group of agents called `player`."""
    if count == 1:
        return EnvSpec(observation=observation, action=action, **others)
    return EnvSpec(agents={"player": Group(count, observation, action)}, num_players=count, **others)


def common_info(options: dict[str, Any]) -> dict[str, Any]:
    """Describes the infos that both interfaces have; `Doom.write_infos` writes them in this order."""
    lead = (options["num_players"],) if options["num_players"] > 1 else ()
    info = {"engine_restarted": Array((), np.bool_)}
    if lead:
        info |= {"player_reward": Array(lead, np.float64), "player_dead": Array(lead, np.bool_)}
    if options["engine_pid"]:
        info["engine_pid"] = Array(lead, np.int32)
    return info
