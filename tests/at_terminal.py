"""Games with turns at a terminal whose lines a test types."""
import contextlib
import os
import pty
import re
import signal
import subprocess
import sys

import numpy as np

import cypool


def typed(play, id, lines, steps=None, **options):
    """Returns the output, the steps and the sum of rewards of what a terminal's lines play."""
    ours, theirs = pty.openpty()
    said = []
    with cypool.make(id, num_threads=0, seed=3, **options) as env:
        # control and D ends the input
        os.write(ours, "".join(f"{line}\n" for line in lines).encode() + b"\x04")
        done, total = play(env, said.append, theirs, steps)
    os.close(ours)
    os.close(theirs)
    return "".join(said), done, total


def said_by_play(words, line, prompt, folder, is_interrupted=False):
    """Returns the output of `cypool play`: one line is typed, and at the second prompt the input ends, or Ctrl-C."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "cypool", "play", *words], stdin=theirs, stdout=theirs, stderr=theirs,
                          cwd=folder, start_new_session=True) as run:
        os.close(theirs)
        os.write(ours, line)
        said = b""
        while said.count(prompt) < 2:
            said += os.read(ours, 4096)
        if is_interrupted:
            run.send_signal(signal.SIGINT)
        else:
            os.write(ours, b"\x04")
        # until the other end is closed
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                said += part
    os.close(ours)
    assert run.returncode == 0 and b"Traceback" not in said
    return said.decode()


def assert_listed_moves_are_taken(play, id, **options):
    """Plays random matches, whose moves are typed as "?" lists them, by name or by number."""
    ours, theirs = pty.openpty()
    rng, said, chosen = np.random.default_rng(0), [], []

    def write(text):
        said.append(text)
        if text.startswith("Your move"):
            os.write(ours, f"{chosen.pop() if chosen else '?'}\n".encode())
        elif text.startswith("Enter"):
            os.write(ours, b"\n")
        elif not text.startswith("\n"):
            moves = [re.split(r"(?<=^\d): |(?<=^\d\d): ", each) for each in re.split(r"\s\s+|\n", text.strip())]
            chosen.append(rng.choice(moves[rng.integers(len(moves))]))

    with cypool.make(id, num_threads=0, seed=1, **options) as env:
        done, _ = play(env, write, theirs, 40)
    os.close(ours)
    os.close(theirs)
    assert done == 40 and not any("expected" in each for each in said)
