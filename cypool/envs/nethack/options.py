"""The options of NetHack's environments, and what follows from them: the spec, and texts and checks for the game."""
from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from cypool.envs.nethack.actions import ALL, OF_TASKS, USEFUL, keys_of
from cypool.envs.nethack.library import WHEEL
from cypool.options import Option, boolean, choice, describes, integer, number, optional
from cypool.spec import Array, Discrete, EnvSpec
from cypool.state import check_state
from cypool.util.arguments import check_choice, check_int, check_list, check_reset_options, shown

MAP, ITEMS = (21, 79), (55,)
_INT32 = (-2**31, 2**31 - 1)
MAX_GLYPH = 5976
# in the order in which the library has them
KEYS = {
    "glyphs": Array(MAP, np.int16, 0, MAX_GLYPH),
    "chars": Array(MAP, np.uint8),
    "colors": Array(MAP, np.uint8, 0, 15),
    "specials": Array(MAP, np.uint8),
    "blstats": Array((27,), np.int64, *_INT32),
    "message": Array((256,), np.uint8),
    "program_state": Array((6,), np.int32),
    "internal": Array((9,), np.int32),
    "inv_glyphs": Array(ITEMS, np.int16, 0, MAX_GLYPH),
    "inv_strs": Array((*ITEMS, 80), np.uint8),
    "inv_letters": Array(ITEMS, np.uint8, 0, 127),
    "inv_oclasses": Array(ITEMS, np.uint8, 0, 18),
    "screen_descriptions": Array((*MAP, 80), np.uint8, 0, 127),
    "tty_chars": Array((24, 80), np.uint8),
    "tty_colors": Array((24, 80), np.int8, 0, 31),
    "tty_cursor": Array((2,), np.uint8),
    "misc": Array((3,), np.int32),
}
INFOS = {
    "end_status": Array((), np.int32, -1, 2),
    "is_ascended": Array((), np.bool_),
    "how_done": Array((), np.int32),
    "turns": Array((), np.int64),
    "depth": Array((), np.int64),
}
# observations that a task, or `render`, uses itself
NEEDED = ("glyphs", "chars", "blstats", "message", "program_state", "internal")
_OBSERVED = tuple(key for key in KEYS if key not in ("program_state", "internal", "misc"))
_OF_CHALLENGE = (*(key for key in _OBSERVED if key != "screen_descriptions"), "misc")

TASKS = ("nethack", "score", "staircase", "staircase_pet", "oracle", "gold", "eat", "scout", "challenge")
PENALTIES = ("constant", "exp", "square", "linear", "always")
_LONGEST = 2**30
_MOST_SEED, _MOST_CLOCK = 2**64 - 1, 2**32 - 1
_MOST_TEXT, _MOST_TEXTS, _MOST_RECORD = 200, 4000, 20_000
# a line of the list of high scores as NetHack writes it: its memory limits the number of letters
_RECORD = re.compile(rb"(\d\.\d{1,2}\.\d{1,2}( -?\d{1,12}){10}( [A-Z][a-z]{2}){4} "
                     rb"[^\0-\x1f,]{1,10},[^\0-\x1f]{1,100}\n)*")
_NETHACK_OPTIONS = (
    "autopickup", "color", "disclose:+i +a +v +g +c +o", "mention_walls", "nobones", "nocmdassist", "nolegacy",
    "nosparkle", "pickup_burden:unencumbered", "pickup_types:$?!/", "runmode:teleport", "showexp", "showscore", "time")
# by the first letters, as NetHack takes an option's name: of these it would keep patterns
_PATTERNS = ("msgtype", "menucolor", "autopickup_exception", "autopickup_ex")
_CHARACTERS = {"arc", "bar", "cav", "hea", "kni", "mon", "pri", "ran", "rog", "sam", "tou", "val", "wiz", "hum", "elf",
               "dwa", "gno", "orc", "mal", "fem", "law", "neu", "cha"}


def default_options(task: str) -> tuple[str, ...]:
    """Returns NetHack's own options, as NLE sets them."""
    return tuple("pickup_types:$" if task == "gold" and each.startswith("pickup_types") else each
                 for each in _NETHACK_OPTIONS)


def _defaults_of(task: str) -> dict[str, Any]:
    """Returns the defaults of options that are None."""
    is_challenge = task == "challenge"
    return {
        "character": "@" if is_challenge else "mon-hum-neu-mal",
        "observation_keys": _OF_CHALLENGE if is_challenge else _OBSERVED,
        "actions": keys_of({"nethack": USEFUL, "challenge": ALL}.get(task, OF_TASKS)),
        "options": default_options(task),
        "allow_all_yn_questions": is_challenge,
        "allow_all_modes": is_challenge,
        "penalty_step": -0.0 if is_challenge else -0.01,
        "abort_steps": 1_000_000 if is_challenge else 5000}


def _check_names(name: str, given: Any, *, known: Any) -> tuple[str, ...]:
    """Returns a tuple of unique, known names."""
    names = tuple(check_choice(f"{name}[{k}]", each, known)
                  for k, each in enumerate(check_list(name, given, "a sequence of names")))
    if not names or len(set(names)) != len(names):
        raise ValueError(f"{name}: expected one or more unique names, got {shown(given)}")
    return names


def _check_actions(name: str, given: Any) -> tuple[int, ...]:
    """Returns the keys that actions press."""
    keys = tuple(check_int(f"{name}[{k}]", each, 0, 255)
                 for k, each in enumerate(check_list(name, given, "a sequence of keys")))
    if not 0 < len(keys) <= 256:
        raise ValueError(f"{name}: expected 1 to 256 keys, got {len(keys)}")
    return keys


def _check_character(name: str, given: Any) -> str:
    """Returns a character in the form that NetHack expects after a name."""
    expected = "'@', or up to four of role, race, gender and alignment such as 'mon-hum-neu-mal'"
    if not isinstance(given, str):
        raise TypeError(f"{name}: expected {expected}, got {shown(given)}")
    parts = given.lower().split("-")
    if given != "@" and (len(parts) > 4 or not all(part[:3] in _CHARACTERS and len(part) <= 12 and part.isascii()
                                                   and part.isalpha() for part in parts)):
        raise ValueError(f"{name}: expected {expected}, got {shown(given)}")
    return str(given)


def _check_options(name: str, given: Any) -> tuple[str, ...]:
    """Returns NetHack's own options."""
    expected = f"a str of 1 to {_MOST_TEXT} printable characters"
    texts = check_list(name, given, "a sequence of strings")
    for k, each in enumerate(texts):
        at = f"{name}[{k}]"
        if not isinstance(each, str):
            raise TypeError(f"{at}: expected {expected}, got {shown(each)}")
        if not 0 < len(each) <= _MOST_TEXT or not (each.isascii() and each.isprintable()):
            raise ValueError(f"{at}: expected {expected}, got {shown(each)}")
        for part in each.split(","):
            if part.strip()[:1] in ("@", "/"):
                raise ValueError(f"{at}: expected no option that names a file (files are not "
                                 f"supported), got {shown(each)}")
            if part.strip().lower().startswith(_PATTERNS):
                raise ValueError(f"{at}: expected no pattern (patterns are not supported), got {shown(each)}")
    if sum(map(len, texts)) > _MOST_TEXTS:
        raise ValueError(f"{name}: expected at most {_MOST_TEXTS} characters in total, got {sum(map(len, texts))}")
    return tuple(map(str, texts))


def _check_seeds(name: str, given: Any) -> tuple[int, int, int | None]:
    """Returns NLE's seeds: for the game, for numbers that are only displayed, and for the levels, or None."""
    expected = "a pair (core, disp), or (core, disp, lgen)"
    seeds = check_list(name, given, expected)
    if len(seeds) not in (2, 3):
        raise ValueError(f"{name}: expected {expected}, got {shown(given)}")
    core, disp, *rest = seeds
    lgen = rest[0] if rest else None
    return (check_int(f"{name}[0]", core, 0, _MOST_SEED), check_int(f"{name}[1]", disp, 0, _MOST_SEED),
            None if lgen is None else check_int(f"{name}[2]", lgen, 0, _MOST_SEED))


def _check_clock(name: str, given: Any) -> int | str:
    """Returns seconds since 1970 in local time, or "real"."""
    if isinstance(given, str):
        return check_choice(name, given, ("real",))
    return check_int(name, given, 0, _MOST_CLOCK)


@describes(
    task=choice("nethack", TASKS, 'The task: "nethack", "score", "staircase", "staircase_pet", "oracle", "gold", '
                                  '"eat", "scout" or "challenge".'),
    character=optional(_check_character, 'Role, race, gender and alignment, or "@" for a random character; None: the '
                                         "task's default, either a monk or \"@\"."),
    observation_keys=optional(
        functools.partial(_check_names, known=KEYS),
        "Names of the observations, in the desired order; None: the task's default. Omitted observations cost nothing. "
        "`screen_descriptions` changes the random numbers that NetHack draws."),
    actions=optional(_check_actions, "Key codes for the actions, 0 to 255; None: the task's default."),
    options=optional(_check_options, "NetHack's own options; None: NLE's defaults."),
    wizard=boolean(False, "Runs the game in NetHack's debug mode."),
    allow_all_yn_questions=boolean(
        None, "Leaves single-letter prompts to the agent; otherwise the step answers most of them with Escape. None: "
              "as in NLE, True only for the challenge."),
    allow_all_modes=boolean(
        None, "Leaves menus, line prompts and --More-- to the agent; otherwise the step dismisses them. None: "
              "as in NLE, True only for the challenge."),
    spawn_monsters=boolean(True, "Whether new monsters appear."),
    fix_moon_phase=boolean(False, "Derives the phase of the moon and the time of day from the seed."),
    penalty_mode=choice("constant", PENALTIES, 'Kind of penalty for steps in which no time passes: "constant", "exp", '
                                               '"square" or "linear"; or "always", which penalizes every step.'),
    penalty_step=number(None, -1e9, 1e9, "Base value of the step penalty; None: -0.01, or 0 for the challenge."),
    penalty_time=number(-0.0, -1e9, 1e9, "Reward added per turn."),
    abort_steps=integer(None, 1, _LONGEST, "Number of steps after which the episode is aborted (NLE's "
                                           "`max_episode_steps`); None: 5000, or 1000000 for the challenge."),
    no_progress_timeout=integer(10000, 1, _LONGEST, "The challenge is aborted after half this number of steps in which "
                                                    "no time passes."),
    nle_seeds=optional(_check_seeds, "Seeds for every episode, (core, disp) or (core, disp, lgen); None: drawn for "
                                     "each episode."),
    clock=optional(_check_clock, "The game's clock at the start of each episode, in seconds of local time since 1970; "
                                 '"real": the actual time; None: drawn from the years 2000 to 2029.'),
    infos=Option(("end_status", "is_ascended"), functools.partial(_check_names, known=INFOS), "Names of the infos."),
    max_step_seconds=number(10.0, 0.1, 1e6, "CPU seconds after which a step fails, because its game may be in an "
                                            "endless loop."),
    nle_path=optional(WHEEL.check_folder, "The folder that contains nle; None: the folder in `CYPOOL_NETHACK`, the "
                                          "download from `cypool get nethack`, or the installed package."))
def nethack(options: dict[str, Any]) -> EnvSpec:
    options |= {name: value for name, value in _defaults_of(options["task"]).items() if options[name] is None}
    return EnvSpec(observation={key: KEYS[key] for key in options["observation_keys"]},
                   action=Discrete(len(options["actions"])), info={name: INFOS[name] for name in options["infos"]},
                   options=options, render_fps=42, render_modes=("rgb_array", "ansi"),
                   has_own_chance=True)


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that game.h reads."""
    names = list(KEYS)
    return {
        **{name: options[name] for name in ("abort_steps", "no_progress_timeout", "allow_all_yn_questions",
                                            "allow_all_modes", "spawn_monsters", "fix_moon_phase", "penalty_step",
                                            "penalty_time", "max_step_seconds", "actions")},
        "task": TASKS.index(options["task"]), "penalty_mode": PENALTIES.index(options["penalty_mode"]),
        "keys": sum(1 << names.index(key) for key in {*options["observation_keys"], *NEEDED}),
        # NetHack may show the other disclosures at the end without a question; in wizard mode it asks one before it
        # says that the game is over
        "fills_late": not options["wizard"] and options["options"] == default_options(options["task"]),
        "text": text_of(options["options"], options["character"], options["wizard"])}


def text_of(options: tuple[str, ...], character: str, wizard: bool) -> str:
    """Returns all options in NetHack's format, as one string."""
    texts = [*options, f"name:Agent-{character}"]
    if character == "@":
        texts += [f"{each}:random" for each in ("race", "gender", "align")
                  if not any(given.startswith(f"{each}:") for given in options)]
    return ",".join([*texts, *["playmode:debug"] * wizard])


def seeds_and_clock(options: dict[str, Any]) -> tuple[tuple[int, int, int | None] | None, int | str | None]:
    """Returns the seeds and the clock from the options of a reset; None for missing ones."""
    check_reset_options(options, ("nle_seeds", "clock"))
    return (_check_seeds("options['nle_seeds']", options["nle_seeds"]) if "nle_seeds" in options else None,
            _check_clock("options['clock']", options["clock"]) if "clock" in options else None)


def check_saved(state: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Returns a saved game: its seeds, whether it has the last seed, its clocks, high scores and actions.

    Raises:
        ValueError: It is not a saved game.
    """
    seed = (0, _MOST_SEED)
    values: tuple[Any, ...] = check_state(state, seed, seed, seed, bool, (0, 2 * _MOST_CLOCK), (0, 2**40), bytes, bytes)
    *_, record, actions = values
    if len(record) > _MOST_RECORD or _RECORD.fullmatch(record) is None:
        raise ValueError(f"state[6]: expected NetHack's list of high scores, got {shown(record)}")
    if len(actions) > options["abort_steps"] or max(actions, default=0) >= len(options["actions"]):
        raise ValueError(f"state[7]: expected at most {options['abort_steps']} actions, each below "
                         f"{len(options['actions'])}, got {len(actions)}, the highest being {max(actions)}")
    return values
