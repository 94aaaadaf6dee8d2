"""Prints the settings of the runs in docs/data, for docs/how_to/settings.md: python docs_tools/settings.py

The first line of a data file is the command that wrote it. Settings missing there are the program's defaults, which are
read from its source.
"""
from __future__ import annotations

import ast
import csv
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# where build_site.py puts them
MARKER = "<!-- settings -->\n"
ALGORITHMS = {"learning_curves": "PPO", "ppo_fast": "PPO, collecting while it learns", "ppo_procgen": "PPO",
              "mappo": "MAPPO", "alphazero": "AlphaZero"}
# options that change what is measured or written, or how long, but not what is learned
OTHERS = {"id", "env_id", "game", "candidates", "seed", "seeds", "total_timesteps", "total_steps", "minutes",
          "max_seconds", "goal", "out", "csv", "file", "draw", "rows", "updates_per_row", "torch_threads",
          "num_threads", "device", "physics", "opponent", "games", "num_test_envs"}


class Run(NamedTuple):
    """A data file.

    Attributes:
        file: Its name.
        program: The example that wrote it.
        command: The first line.
        id: The environment.
        settings: The settings that the agent learned with.
        steps, seconds, results: cypool's, at the end of each seed.
        cpu_seconds: The same, if the program measured CPU time.
    """

    file: str
    program: str
    command: str
    id: str
    settings: dict[str, Any]
    steps: list[int]
    seconds: list[float]
    cpu_seconds: list[float]
    results: dict[str, list[float]]


def runs() -> list[Run]:
    """Returns the runs of all data files whose program is one of `ALGORITHMS`, by environment."""
    found = [run_of(file) for file in sorted((ROOT / "docs" / "data").glob("learning_*.csv"))]
    return sorted(filter(None, found), key=lambda run: (run.id.lower(), run.file))


def run_of(file: Path) -> Run | None:
    """Returns the run of a data file, or None if its program compares something else."""
    lines = file.read_text().splitlines()
    found = re.search(r"python examples/(\w+)\.py.*", lines[0])
    if not found or found[1] not in ALGORITHMS:
        return None
    program, given = found[1], given_in(shlex.split(found[0])[2:])
    settings = defaults_of(ROOT / "examples" / f"{program}.py") | given
    id = settings.get("env_id") or settings.get("id") or f"procgen-{settings['game']}-v0"
    settings |= settings.pop(id, {})
    if program == "learning_curves" and "image_size" not in given:
        del settings["image_size"]  # of Atari
    rows = [row for row in csv.DictReader(line for line in lines if not line.startswith("#"))
            if row.get("candidate", "cypool") in ("cypool", program)]
    last = list({row.get("seed", "0"): row for row in rows}.values())
    others = {"candidate", "seed", "step", "steps", "seconds", "seconds_in_envs", "cpu_seconds", "games", "loss"}
    return Run(file.name, program, lines[0].removeprefix("# "), id,
               {name: value for name, value in settings.items()
                if name not in OTHERS and not isinstance(value, dict | None) and value is not False},
               [int(row.get("step") or row["steps"]) for row in last], [float(row["seconds"]) for row in last],
               [float(row["cpu_seconds"]) for row in last if "cpu_seconds" in row],
               {name: [float(row[name]) for row in last] for name in last[0] if name not in others})


def defaults_of(program: Path) -> dict[str, Any]:
    """Returns the defaults of a program's options; by id if it has settings for each environment."""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse(program.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            name = ast.literal_eval(node.args[0]) if isinstance(node.args[0], ast.Constant) else ""
            default = {each.arg: each.value for each in node.keywords}.get("default", ast.Constant(None))
            if name.startswith("--") and isinstance(default, ast.Constant):
                found[name[2:].replace("-", "_")] = default.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if name.lower() == "settings" and isinstance(value, ast.Dict):
                pairs = zip(value.keys, value.values, strict=True)
                found |= {ast.literal_eval(key): ast.literal_eval(each) for key, each in pairs if key is not None}
            elif name == "DEFAULTS":
                found |= ast.literal_eval(value)
    return found


def given_in(words: list[str]) -> dict[str, Any]:
    """Returns the options of a command line; those without a value are True."""
    found: dict[str, Any] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word[2:].replace("-", "_")
            found[name] = True
        elif found.get(name) is True:
            found[name] = word
    return found


def shown(values: list[float], digits: int = 3) -> str:
    """Returns the range of some numbers, rounded to a number of digits."""
    def rounded(value: float) -> str:
        return f"{round(value):,}" if abs(value) >= 10**(digits - 1) else f"{value:.{digits}g}"

    low, high = rounded(min(values)), rounded(max(values))
    return low if low == high else f"{low} to {high}"


def text() -> str:
    """Returns a table of all runs, and a section for each."""
    rows, sections = [], []
    for run in runs():
        results = ", ".join(f"{'' if name == 'return' else name + ' '}{shown(values)}"
                            for name, values in run.results.items())
        title = f"{run.id}, {run.program}.py"
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        rows.append(f"| [`{run.id}`](#{anchor}) | [{ALGORITHMS[run.program]}](../../examples/{run.program}.py) | "
                    f"{shown(list(map(float, run.steps)))} | {shown(run.seconds)} | "
                    f"{shown(run.cpu_seconds) if run.cpu_seconds else ''} | {results} | "
                    f"[data](../data/{run.file}) |")
        settings = ", ".join(f"`{name}`" if value is True else f"`{name}` {value}"
                             for name, value in run.settings.items())
        sections.append(f"## {title}\n\n```\n{wrapped(run.command)}\n```\n\n{settings}")
    heading = ["| environment | program | steps | seconds | CPU seconds | return | run |",
               "| --- | --- | --: | --: | --: | --: | --- |"]
    return "\n\n".join(["\n".join(heading + rows), *sections]) + "\n"


def wrapped(command: str) -> str:
    """Returns a command wrapped to fit a page."""
    lines = [""]
    for words in re.split(r" (?=--)", command):
        if len(lines[-1]) + len(words) > 90:
            lines.append("")
        lines[-1] += f" {words}" if lines[-1] else words
    return " \\\n    ".join(lines)


if __name__ == "__main__":
    print(text(), end="")
