"""NetHack's keys under NLE's names, and the actions of NLE's environments."""
from __future__ import annotations

# "^d" is control and d, "M-p" is meta and p
_DIRECTIONS = {
    "north": "k", "east": "l", "south": "j", "west": "h", "northeast": "u", "southeast": "n", "southwest": "b",
    "northwest": "y", "far_north": "K", "far_east": "L", "far_south": "J", "far_west": "H", "far_northeast": "U",
    "far_southeast": "N", "far_southwest": "B", "far_northwest": "Y", "up": "<", "down": ">", "wait": "."}
_COMMANDS = {
    "extcmd": "#", "extlist": "M-?", "adjust": "M-a", "annotate": "M-A", "apply": "a", "attributes": "^x",
    "autopickup": "@", "call": "C", "cast": "Z", "chat": "M-c", "close": "c", "conduct": "M-C", "dip": "M-d",
    "drop": "d", "droptype": "D", "eat": "e", "engrave": "E", "enhance": "M-e", "esc": "^[", "fight": "F", "fire": "f",
    "force": "M-f", "glance": ";", "history": "V", "inventory": "i", "inventtype": "I", "invoke": "M-i", "jump": "M-j",
    "kick": "^d", "known": "\\", "knownclass": "`", "look": ":", "loot": "M-l", "monster": "M-m", "move": "m",
    "movefar": "M", "offer": "M-o", "open": "o", "options": "O", "overview": "^o", "pay": "p", "pickup": ",",
    "pray": "M-p", "puton": "P", "quaff": "q", "quit": "M-q", "quiver": "Q", "read": "r", "redraw": "^r", "remove": "R",
    "ride": "M-R", "rub": "M-r", "rush": "g", "rush2": "G", "save": "S", "search": "s", "seeall": "*",
    "seeamulet": '"', "seearmor": "[", "seegold": "$", "seerings": "=", "seespells": "+", "seetools": "(",
    "seetrap": "^", "seeweapon": ")", "shell": "!", "sit": "M-s", "swap": "x", "takeoff": "T", "takeoffall": "A",
    "teleport": "^t", "throw": "t", "tip": "M-T", "travel": "_", "turn": "M-t", "twoweapon": "X", "untrap": "M-u",
    "version": "M-v", "versionshort": "v", "wear": "W", "whatdoes": "&", "whatis": "/", "wield": "w", "wipe": "M-w",
    "zap": "z"}
_LETTERS = {"plus": "+", "minus": "-", "space": " ", "apos": "'", "quote": '"',
            **{digit: digit for digit in "0123456789"}, "dollar": "$"}
# commands that the plain task does without: most are about the program
_USELESS = {"extcmd", "extlist", "annotate", "autopickup", "conduct", "glance", "history", "known", "knownclass",
            "options", "overview", "quit", "redraw", "save", "seeall", "seeamulet", "seegold", "seespells", "teleport",
            "travel", "version", "whatdoes", "whatis"}


def key(written: str) -> int:
    """Returns the code of a key given in NetHack's notation."""
    if written.startswith("M-"):
        return 128 + key(written[2:])
    if len(written) == 2:
        return ord(written[1].upper()) - 64
    return ord(written)


KEYS = {name: key(written) for name, written in {**_DIRECTIONS, "more": "^m", **_COMMANDS, **_LETTERS}.items()}
# names of actions, in the order of NLE's numbers: of NetHackChallenge, of NetHack, and of the other tasks
ALL = tuple(KEYS)
USEFUL = (*(name for name in ALL if name not in _USELESS and name not in _LETTERS), "plus", "quote", "dollar", "space")
OF_TASKS = ("more", *_DIRECTIONS, "kick", "eat", "search")


def keys_of(names: tuple[str, ...]) -> tuple[int, ...]:
    """Returns the keys that the actions with these names press."""
    return tuple(KEYS[name] for name in names)
