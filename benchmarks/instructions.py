"""Counts instructions with valgrind: for a step of CartPole or another environment, or for a frame, by function.

    python benchmarks/instructions.py [id] [num_envs ...]
    python benchmarks/instructions.py functions id ...
    python benchmarks/instructions.py calls

`calls` counts the instructions of the most common calls on a pool of one CartPole, and prints them next to the last
release's counts in instructions.json. `calls --write VERSION` writes that file: do so for a release, with CI's version
of Python.

The others run twice with different numbers of steps, so the difference excludes startup. They use one thread and the
Python that runs this script. valgrind simulates a processor, so the counts of a build do not depend on the machine or
on what else runs there. Another compiler, Python or NumPy changes them by a few percent.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

STEPS = """
import sys
import numpy as np
import cypool
id = sys.argv[1]
num_envs, num_steps = map(int, sys.argv[2:])
env = cypool.make(id, num_envs=num_envs, num_threads=1, seed=0)
env.reset()
env.action_space.seed(0)
actions = np.arange(num_envs) % 2 if id == "CartPole-v1" else env.action_space.sample()
for _ in range(num_steps):
    env.step(actions)
"""
CALLS = """
import os
import sys
import numpy as np
import cypool
env = cypool.make("CartPole-v1", num_envs=1, num_threads=1, seed=0)
planner = cypool.make("CartPole-v1", num_envs=1, num_threads=1, seed=0, autoreset_mode="Disabled")
# of an environment of its own: a buffer observes all steps
stored = cypool.make("CartPole-v1", num_envs=1, num_threads=1, seed=0)
buffer = cypool.ReplayBuffer(stored, 1000, seed=0)
stored.reset()
env.reset()
planner.reset()
state = planner.save()
actions = np.zeros(1, np.int64)
plan = np.arange(128).reshape(128, 1) % 2
sequences = plan.reshape(1, 128)
for _ in range(100):
    buffer.step(actions)
for call in sys.argv[2:]:
    exec(f"def made(): {call}")
    for few in (True, False):
        for _ in range(100 if few else int(sys.argv[1])):
            made()
        # valgrind writes down what was counted since the last time
        os.getppid()
"""
# with one environment, where little but the call costs
COUNTED = {
    "step": "env.step(actions)",
    "send, recv": "env.send(actions); env.recv()",
    "rollout, 1 step": "env.rollout(plan[:1])",
    "rollout, 128 steps": "env.rollout(plan)",
    "search, 1 x 128 steps": "planner.search(state, sequences)",
    "ReplayBuffer.step": "buffer.step(actions)",
    "ReplayBuffer.sample(32)": "buffer.sample(32)",
}
RELEASE = Path(__file__).with_suffix(".json")
FEW, MANY = 40, 240
# by a pattern in the line of a function: the first that fits. sincos is CartPole's, random numbers are its resets'
PARTS = {"MuJoCo": r"libmujoco", "environment": r"/cypool/envs/|sincos|numpy/random/", "engine": r"/cypool/engine/",
         "api": r"/cypool/(api|features|arguments)/", "Python": ""}


def run(program, folder, *arguments, options=()):
    """Runs a program under callgrind, which writes to `folder`/out."""
    subprocess.run(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *options,
                    sys.executable, "-c", program, *map(str, arguments)], check=True,
                   env=dict(os.environ, PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1"))


def lines_of(id, num_envs, num_steps):
    """Yields the instructions of each function in a whole run, and the line that contains it."""
    with tempfile.TemporaryDirectory() as folder:
        run(STEPS, folder, id, num_envs, num_steps)
        text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", os.path.join(folder, "out")],
                              check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        found = re.match(r"\s*([\d,]+) \([\s\d.]+%\)  (.*:.*)", line)
        if found:
            yield int(found[1].replace(",", "")), found[2]


def of_step(id, num_envs, name_of):
    """Returns the instructions of a step, added up by the names that `name_of` gives to lines of functions."""
    totals = []
    for num_steps in (FEW, MANY):
        totals.append(Counter())
        for number, line in lines_of(id, num_envs, num_steps):
            totals[-1][name_of(line)] += number
    few, many = totals
    return {name: (many[name] - few[name]) / (MANY - FEW) for name in many}


def part_of(line):
    return next(part for part, pattern in PARTS.items() if re.search(pattern, line))


def name_in(line):
    # file:type namespace::name(arguments) [library]
    name = line.replace("(anonymous namespace)", "").split(":", 1)[1].split(" [")[0].split("(")[0]
    return name.split("::")[-1].split(" ")[-1]


def of_calls(version):
    """Prints the instructions of calls next to the last release's, or writes the counts of a release."""
    with tempfile.TemporaryDirectory() as folder:
        run(CALLS, folder, MANY, *COUNTED.values(), options=["--dump-before=getppid"])
        # a file before the calls of each kind that count, and one with them
        totals = [int(re.search(r"^(?:totals|summary): (\d+)", Path(folder, f"out.{2 * k + 2}").read_text(), re.M)[1])
                  for k in range(len(COUNTED))]
    counts = {name: total // MANY for name, total in zip(COUNTED, totals, strict=True)}
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if version is not None:
        release = {"version": version, "python": python, "instructions of a call (callgrind)": counts}
        RELEASE.write_text(json.dumps(release, indent=2) + "\n")
    release = json.loads(RELEASE.read_text())
    print("one CartPole", f"instructions of a call, Python {python}",
          f"{release['version']}, Python {release['python']}", "ratio", sep=" | ")
    for name, number in counts.items():
        before = release["instructions of a call (callgrind)"].get(name)
        print(name, number, before or "", f"{number / before:.2f}" if before else "", sep=" | ")


def of_functions(id):
    """Prints the instructions of a frame and of its functions; a step of a game has several frames."""
    import cypool

    frames = cypool.make_spec(id).options.get("frame_skip", 1)
    parts = {name: number / frames for name, number in of_step(id, 1, name_in).items()}
    whole = sum(parts.values())
    print(f"{id}: {whole:.0f} instructions a frame")
    for name, number in sorted(parts.items(), key=lambda part: -part[1])[:12]:
        print(f"{number / whole:7.1%} {name}")


def main():
    if sys.argv[1:2] == ["functions"]:
        for id in sys.argv[2:]:
            of_functions(id)
        return
    if sys.argv[1:2] == ["calls"]:
        of_calls(sys.argv[3] if sys.argv[2:3] == ["--write"] else None)
        return
    words = sys.argv[1:]
    id = words.pop(0) if words and not words[0].isdecimal() else "CartPole-v1"
    sizes = [int(word) for word in words] or [1, 64, 1024]
    print("environments", "a call of step()", "per environment", *PARTS, sep=" | ")
    for num_envs in sizes:
        parts = dict.fromkeys(PARTS, 0) | of_step(id, num_envs, part_of)
        total = sum(parts.values())
        print(num_envs, f"{total:.0f}", f"{total / num_envs:.0f}", *(f"{n:.0f}" for n in parts.values()), sep=" | ")


if __name__ == "__main__":
    main()
