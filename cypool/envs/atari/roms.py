"""The games, and the locations of their ROMs in the installed ale-py, which is found without importing it."""
from __future__ import annotations

from typing import TYPE_CHECKING

from cypool.util.arguments import suggestion
from cypool.util.packages import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# games that take two players; ALE has no rules for them
TWO_PLAYERS = ("combat", "joust", "maze_craze", "warlords")

# every other game of ale-py
TASKS = (
    "adventure air_raid alien amidar assault asterix asteroids atlantis atlantis2 backgammon bank_heist "
    "basic_math battle_zone beam_rider berzerk blackjack bowling boxing breakout carnival casino centipede "
    "chopper_command crazy_climber crossbow darkchambers defender demon_attack donkey_kong double_dunk "
    "earthworld elevator_action enduro entombed et fishing_derby flag_capture freeway frogger frostbite "
    "galaxian gopher gravitar hangman haunted_house hero human_cannonball ice_hockey jamesbond "
    "journey_escape kaboom kangaroo keystone_kapers king_kong klax koolaid krull kung_fu_master laser_gates "
    "lost_luggage mario_bros miniature_golf montezuma_revenge mr_do ms_pacman name_this_game othello pacman "
    "phoenix pitfall pitfall2 pong pooyan private_eye qbert riverraid road_runner robotank seaquest "
    "sir_lancelot skiing solaris space_invaders space_war star_gunner superman surround tennis tetris "
    "tic_tac_toe_3d time_pilot trondead turmoil tutankham up_n_down venture video_checkers video_chess "
    "video_cube video_pinball wizard_of_wor word_zapper yars_revenge zaxxon"
).split()

# those that agents are compared on: the usual 57, and the 26 of Atari 100k
ATARI_57 = (
    "alien amidar assault asterix asteroids atlantis bank_heist battle_zone beam_rider berzerk bowling boxing "
    "breakout centipede chopper_command crazy_climber defender demon_attack double_dunk enduro fishing_derby "
    "freeway frostbite gopher gravitar hero ice_hockey jamesbond kangaroo krull kung_fu_master "
    "montezuma_revenge ms_pacman name_this_game phoenix pitfall pong private_eye qbert riverraid road_runner "
    "robotank seaquest skiing solaris space_invaders star_gunner surround tennis time_pilot tutankham "
    "up_n_down venture video_pinball wizard_of_wor yars_revenge zaxxon"
).split()
ATARI_26 = (
    "alien amidar assault asterix bank_heist battle_zone boxing breakout chopper_command crazy_climber "
    "demon_attack freeway frostbite gopher hero jamesbond kangaroo krull kung_fu_master ms_pacman pong "
    "private_eye qbert road_runner seaquest up_n_down"
).split()


def title(task: str) -> str:
    """Returns the game's name as used in ids: "MsPacman" for "ms_pacman"."""
    return "".join(part.capitalize() for part in task.split("_"))


def ale_title(task: str) -> str:
    """Returns the game's name as used in ids of ale_py: "TicTacToe3D" where `title` has "TicTacToe3d"."""
    return task.title().replace("_", "")


def rom_path(task: str) -> Path:
    """Returns the path of a game's ROM.

    Raises:
        ValueError: `task` is not a game, or its ROM is missing.
    """
    if task in TWO_PLAYERS:
        raise ValueError(f"task: {task!r} needs two players, which ALE does not support")
    if task not in TASKS:
        raise ValueError("task: expected one of the games in cypool.envs.atari.roms.TASKS, got "
                         f"{task!r}{suggestion(task, TASKS)}")
    folder = folder_of("ale_py")
    if folder is None:
        raise ValueError(f"task: the ROM for {task!r} is part of ale-py, which is not installed: "
                         'pip install "cypool[atari]"')
    from pathlib import Path

    path = Path(folder, "roms", f"{task}.bin")
    if not path.is_file():
        raise ValueError(f"task: the ROM for {task!r} is not at {path}: reinstall ale-py")
    return path


def examine() -> Iterator[tuple[str, str, str]]:
    """Looks for all ROMs; yields what `cypool doctor` prints about them."""
    missing = []
    for task in TASKS:
        try:
            rom_path(task)
        except ValueError:
            missing.append(task)
    if missing:
        yield ("warning", f"{len(missing)} of {len(TASKS)} ROMs are missing: {', '.join(missing[:3])}...",
               "pip install --force-reinstall ale-py")
    else:
        from importlib.metadata import version

        yield "ok", f"all {len(TASKS)} ROMs, in ale-py {version('ale-py')}", ""
