"""Our parts of the Atari emulator, compared with ALE's own. All games: sweep.py."""
import json
import subprocess

import numpy as np
import pytest
from envs.atari import emulator
from markers import exhaustive, slow

from cypool.envs.atari import atari


def test_the_module_tells_which_emulator_is_in():
    symbols = subprocess.check_output(["nm", atari.__file__], text=True, timeout=300)
    # ALE's processor has interrupts, ours has none
    assert atari.EMULATOR == ("reference" if "M6502Low16interruptHandlerEv" in symbols else "fast")


# each kind of cartridge, and: a loop of each kind that waits for the timer, frames that are cut off, a picture that is
# drawn in part, long computations without one, paddles
@pytest.mark.parametrize("task", [
    "pong", "montezuma_revenge", "robotank", "pitfall2", "elevator_action", "tic_tac_toe_3d", "amidar",
    *slow("breakout", "pitfall", "klax", "road_runner", "qbert", "up_n_down", "kung_fu_master", "video_chess",
          "ms_pacman"),
])
@pytest.mark.parametrize("run", [
    {"num_steps": 150, "frame_skip": 4, "repeat_action_probability": 0.25, "full_action_space": True},
    *slow({"num_steps": 160, "frame_skip": 1, "repeat_action_probability": 0.0, "full_action_space": False}),
], ids=["sticky", "each_frame"])
def test_games_are_those_of_ale_py(task, run):
    facts = atari.game_facts(task)
    emulator.compare(task=task, seed=11, mode=facts.modes[-1], difficulty=facts.difficulties[-1], **run)


@pytest.mark.parametrize("task", ["pong", *slow("jamesbond"), *exhaustive("freeway")])
def test_random_programs_do_what_they_do_in_ale(task):
    """All opcodes, from memory and at the edges of banks, with operands in chips and cartridges."""
    recorded = json.loads(emulator.PROGRAMS.read_text())[task]
    wanted = [recorded[k:k + 8] for k in range(0, len(recorded), 8)]
    got = emulator.run_programs(task, len(wanted))
    assert [k for k in range(len(wanted)) if got[k] != wanted[k]] == []


def test_a_frame_that_stops_after_hmove_has_no_pixels_blanked_beyond_the_beam():
    ours = emulator.Ours("pong", 1, frame_skip=1, repeat_action_probability=0.0, mode=-1, difficulty=-1,
                         full_action_space=False)
    ours.reset()
    # HMCLR; 100 times WSYNC: LDX #100, STA WSYNC, DEX, BNE; HMOVE is the last access: JMP to itself
    program = bytes.fromhex("852b a264 8502 ca d0fb 852a 4c8b00").ljust(128, b"\0")
    ours.pool.load(emulator.with_program(ours.pool.save(), program, 0x80))
    screen = np.frombuffer(ours.step(0)[1], np.uint8).reshape(210, 160, 3)
    # the beam has drawn 66 black lines; those below show an earlier frame, in which they are alike
    assert not np.any(screen[:66])
    assert np.any(screen[67, 8:])
    assert np.array_equal(screen[66, 8:], screen[67, 8:])
