"""The options of NetHack's environments, checked."""
from __future__ import annotations

from typing import Any

import numpy as np

from cypool.envs.nethack.actions import ALL, OF_TASKS, USEFUL, keys_of
from cypool.spec import Array
from cypool.util.arguments import check_choice, check_int, check_list, shown

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
# what a task looks at itself
NEEDED = ("glyphs", "blstats", "message", "program_state", "internal")
_OBSERVED = tuple(key for key in KEYS if key not in ("program_state", "internal", "misc"))
_OF_CHALLENGE = (*(key for key in _OBSERVED if key != "screen_descriptions"), "misc")

TASKS = ("nethack", "score", "staircase", "staircase_pet", "oracle", "gold", "eat", "scout", "challenge")
PENALTIES = ("constant", "exp", "square", "linear", "always")
LONGEST = 2**30
MOST_SEED, MOST_CLOCK = 2**64 - 1, 2**32 - 1
MOST_TEXT, MOST_TEXTS = 200, 4000
NETHACK_OPTIONS = (
    "autopickup", "color", "disclose:+i +a +v +g +c +o", "mention_walls", "nobones", "nocmdassist", "nolegacy",
    "nosparkle", "pickup_burden:unencumbered", "pickup_types:$?!/", "runmode:teleport", "showexp", "showscore", "time")
# by the first letters, as NetHack takes an option's name: of these it would keep patterns
_PATTERNS = ("msgtype", "menucolor", "autopickup_exception", "autopickup_ex")
_CHARACTERS = {"arc", "bar", "cav", "hea", "kni", "mon", "pri", "ran", "rog", "sam", "tou", "val", "wiz", "hum", "elf",
               "dwa", "gno", "orc", "mal", "fem", "law", "neu", "cha"}


def default_keys(task: str) -> tuple[str, ...]:
    """Returns the names of what is observed by default."""
    return _OF_CHALLENGE if task == "challenge" else _OBSERVED


def default_actions(task: str) -> tuple[int, ...]:
    """Returns the keys that the actions of a task press."""
    return keys_of({"nethack": USEFUL, "challenge": ALL}.get(task, OF_TASKS))


def default_options(task: str) -> tuple[str, ...]:
    """Returns NetHack's own options, as NLE sets them."""
    return tuple("pickup_types:$" if task == "gold" and each.startswith("pickup_types") else each
                 for each in NETHACK_OPTIONS)


def check_names(name: str, given: Any, known: Any) -> tuple[str, ...]:
    """Returns a tuple of names, each known and only once."""
    names = tuple(check_choice(f"{name}[{k}]", each, known)
                  for k, each in enumerate(check_list(name, given, "a sequence of names")))
    if not names or len(set(names)) != len(names):
        raise ValueError(f"{name}: expected names, each of them once, got {shown(given)}")
    return names


def check_actions(given: Any) -> tuple[int, ...]:
    """Returns the keys that actions press."""
    keys = tuple(check_int(f"actions[{k}]", each, 0, 255)
                 for k, each in enumerate(check_list("actions", given, "a sequence of keys")))
    if not 0 < len(keys) <= 256:
        raise ValueError(f"actions: expected 1 to 256 keys, got {len(keys)}")
    return keys


def check_character(given: Any) -> str:
    """Returns a character as NetHack takes it behind a name."""
    expected = "'@', or up to four of role, race, gender and alignment such as 'mon-hum-neu-mal'"
    if not isinstance(given, str):
        raise TypeError(f"character: expected {expected}, got {shown(given)}")
    parts = given.lower().split("-")
    if given != "@" and (len(parts) > 4 or not all(part[:3] in _CHARACTERS and len(part) <= 12 and part.isascii()
                                                   and part.isalpha() for part in parts)):
        raise ValueError(f"character: expected {expected}, got {shown(given)}")
    return str(given)


def check_options(given: Any) -> tuple[str, ...]:
    """Returns NetHack's own options."""
    expected = f"a text of 1 to {MOST_TEXT} printable letters"
    texts = check_list("options", given, "a sequence of texts")
    for k, each in enumerate(texts):
        if not isinstance(each, str):
            raise TypeError(f"options[{k}]: expected {expected}, got {shown(each)}")
        if not 0 < len(each) <= MOST_TEXT or not (each.isascii() and each.isprintable()):
            raise ValueError(f"options[{k}]: expected {expected}, got {shown(each)}")
        for part in each.split(","):
            if part.strip()[:1] in ("@", "/"):
                raise ValueError(f"options[{k}]: expected no name of a file, as there are no files, got {shown(each)}")
            if part.strip().lower().startswith(_PATTERNS):
                raise ValueError(f"options[{k}]: expected no option with patterns, which is not available, got "
                                 f"{shown(each)}")
    if sum(map(len, texts)) > MOST_TEXTS:
        raise ValueError(f"options: expected at most {MOST_TEXTS} letters in all, got {sum(map(len, texts))}")
    return tuple(map(str, texts))


def text_of(options: tuple[str, ...], character: str, wizard: bool) -> str:
    """Returns all options as NetHack takes them, in one text."""
    texts = [*options, f"name:Agent-{character}"]
    if character == "@":
        texts += [f"{each}:random" for each in ("race", "gender", "align")
                  if not any(given.startswith(f"{each}:") for given in options)]
    return ",".join([*texts, *["playmode:debug"] * wizard])


def check_seeds(name: str, given: Any) -> tuple[int, int, int | None]:
    """Returns NLE's seeds: of the game, of what is only shown, and of the levels, or None."""
    expected = "a pair (core, disp), or (core, disp, lgen)"
    seeds = check_list(name, given, expected)
    if len(seeds) not in (2, 3):
        raise ValueError(f"{name}: expected {expected}, got {shown(given)}")
    core, disp, *rest = seeds
    lgen = rest[0] if rest else None
    return (check_int(f"{name}[0]", core, 0, MOST_SEED), check_int(f"{name}[1]", disp, 0, MOST_SEED),
            None if lgen is None else check_int(f"{name}[2]", lgen, 0, MOST_SEED))


def check_clock(name: str, given: Any) -> int | str:
    """Returns seconds since 1970 by the clock on the wall, or "real"."""
    if isinstance(given, str):
        return check_choice(name, given, ("real",))
    return check_int(name, given, 0, MOST_CLOCK)
