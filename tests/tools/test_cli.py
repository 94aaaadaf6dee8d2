"""The `cypool` command: its output, as JSON too, and its errors: in one line, with status 2."""
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from drawing import missing
from tools.terminals import said_at_terminal
from waiting import run_program, wait_until

import cypool
import cypool.testing
from cypool.envs import FAMILIES
from cypool.registration.registry import Entry, known_entries
from cypool.tools import tuning
from cypool.tools.cli import doctor, main
from cypool.tools.cli.app import completions
from cypool.tools.cli.doctor import EXAMINATIONS, requirements
from cypool.tools.cli.info import arguments_of, options_with_meanings, unwrapped
from cypool.tools.cli.list_envs import by_family
from cypool.tools.keyboard import action_of_keys
from cypool.tools.terminal import area_mean
from cypool.tools.tuning import Measured, Setting, in_order

pytestmark = pytest.mark.families("atari", "mujoco")
CARTPOLE = "cypool.envs.classic_control.classic_control:CartPole"
VERBS = ("list", "info", "check", "new", "get", "doctor", "bench", "tune", "play")


@pytest.fixture
def shown(capsys):
    """Runs a command that succeeds; returns what it prints."""
    def run(*words):
        assert main(words) == 0
        return capsys.readouterr().out

    return run


def test_importing_cypool_imports_none_of_it(run_python):
    done = run_python("import cypool, sys; print(*sys.modules)")
    assert not {"argparse", "cypool.tools"} & set(done.stdout.split())


def test_the_help_is_light(run_python):
    done = run_python("import sys, cypool.tools.cli as c; c.main(['--help']); print(*sys.modules)")
    loaded = done.stdout.splitlines()[-1].split()
    assert "argparse" in loaded
    assert not {"numpy", "gymnasium", "cypool.env", "matplotlib", "pygame"} & set(loaded)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples(verb, shown):
    assert f"cypool {verb}" in shown(verb, "--help").partition("Examples:")[2]


def test_version(shown):
    assert shown("--version") == f"cypool {cypool.__version__}\n"


def test_info_has_the_meaning_of_each_option_behind_a_signature():
    class Described:
        @staticmethod
        def describe():
            """describe(length, slip)

            Returns the spec.

            Args:
                length: Cells.
                slip: A probability.
            """

    assert options_with_meanings(Described) == {"length": "Cells.", "slip": "A probability."}


@pytest.mark.families("atari")
def test_list(shown):
    assert shown("list", "cartpole-v?") == "CartPole-v0\nCartPole-v1\n"
    found = json.loads(shown("list", "ale/po*", "--json"))
    listed = shown("list", "Classic_Control").split()
    assert "Pendulum-v1" in listed and "ALE/Pong-v5" not in listed
    assert [each["reference"] for each in found if each["id"] == "ALE/Pong-v5"] == ["cypool.envs.atari.reference:make"]


def test_info(shown):
    report = json.loads(shown("info", "CartPole-v1", "--json", "-o", "sutton_barto_reward=True"))
    assert report["action"] == "Discrete(2)" and report["max_episode_steps"] == 500
    assert report["options"]["sutton_barto_reward"] == {
        "value": True, "meaning": "Uses the rewards from Sutton and Barto's book."}
    said = shown("info", "CartPole-v1", "--picture")
    assert "Gymnasium's CartPole-v1" in said and "▀" * 72 in said


@pytest.mark.parametrize(("id", "package"), [
    pytest.param("CrafterReward-v1", "crafter", marks=pytest.mark.families("crafter")),
    pytest.param("Pong-v5", "ale_py", marks=pytest.mark.families("atari")),
    pytest.param("InvertedPendulum-v5", "mujoco", marks=pytest.mark.families("mujoco"))])
def test_info_without_the_package_of_a_family_says_the_rest(run_forked, id, package):
    done = run_forked(f"import sys; sys.modules[{package!r}] = None; from cypool.tools.cli import main; "
                      f"sys.exit(main(['info', {id!r}]))", check=True)
    said = " ".join(done.stdout.split())
    assert said.startswith(id) and "spaces unknown: " in said and "pip install" in said
    assert f"`cypool check {id}`" in said and "class cypool.envs." in said
    # MuJoCo's module cannot be imported, so the family describes the robot
    assert not said.removeprefix(id).startswith(" spaces")


@pytest.mark.families("minigrid")
def test_info_of_a_class_without_a_text_has_its_familys(shown):
    assert json.loads(shown("info", "MiniGrid-DoorKey-8x8-v0", "--json"))["about"].startswith("MiniGrid: ")


@pytest.mark.families("lbf")
def test_info_leaves_room_for_a_limit_of_the_environments_own(shown):
    said = " ".join(shown("info", "Foraging-8x8-2p-3f-v3").split())
    assert "step limit set by the environment, if any" in said and "time_limit = 50 Maximum number of steps" in said


@pytest.mark.families("mujoco")
def test_info_fits_80_columns(shown, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = shown("info", "Ant-v5")
    assert max(map(len, said.splitlines())) <= 80
    # spaces and options come before the text, whose lines are as long as the terminal has room for
    parts = ["observation  ", "obs_dtype = 'float64'\n    ", "\nReward: For velocity"]
    assert said.index(parts[0]) < said.index(parts[1]) < said.index(parts[2])
    assert "exclude_current_positions_from_observation = True" in said
    assert "velocities; clipped contact forces on each body except the world.\nAction" in said


def test_docstrings_are_unwrapped():
    text = """First line
continues.

A paragraph of
two lines.

Observation: one
    two
Action: three
* a point that
  has two lines
- another"""
    assert unwrapped(text) == """First line continues.

A paragraph of two lines.

Observation: one two
Action: three
* a point that has two lines
- another"""


@pytest.mark.families("mujoco")
def test_options_of_base_classes_are_explained(shown):
    options = json.loads(shown("info", "Ant-v5", "--json"))["options"]
    assert [name for name, option in options.items() if not option["meaning"]] == []


def test_check(shown):
    report = json.loads(shown("check", "CartPole-v1", "--num-steps", "20", "--seeds", "2", "--json"))
    assert report["holds"] and report["parity"]["seeds"] == [0, 1] and len(report["contract"]["passed"]) == 8


@pytest.mark.families("atari")
@pytest.mark.parametrize("option", [[], ["-o", "preset=None"]])
def test_check_without_a_preset_compares_with_one(shown, option):
    said = shown("check", "Pong-v5", "--only", "parity", "--num-steps", "10", "--seeds", "1", *option)
    assert "matches AtariVectorEnv of ale_py 0.12.1 byte for byte with preset='ale': 1 seeds" in said
    said = " ".join(shown("info", "Pong-v5").split())
    assert "`cypool check Pong-v5` compares cypool with it byte for byte with preset='ale'" in said


@pytest.mark.families("atari")
def test_check_that_compares_nothing_is_no_success(capsys):
    all_actions = ["-o", "full_action_space=all"]
    assert main(["check", "Pong-v5", "--num-steps", "10", *all_actions]) == 2
    said = capsys.readouterr()
    assert "✓ steps and resets run without the GIL" in said.out
    assert said.err == ("cypool check: Pong-v5 was not compared with its reference: full_action_space: expected a bool"
                        " (AtariVectorEnv does not support 'all'), got 'all'; --only contract needs no "
                        "reference\n")
    assert main(["check", "Pong-v5", "--num-steps", "10", *all_actions, "--only", "contract"]) == 0


def test_check_reports_a_difference(capsys, monkeypatch):
    def differ(id, **_):
        raise cypool.testing.ParityError(id, 0, 3, 1, "reward", 1.0, 2.0)

    monkeypatch.setattr(cypool.testing, "check_parity", differ)
    assert main(["check", "CartPole-v1", "--only", "parity"]) == 1
    assert "step 3, env 1: reward is 1.0, the reference has 2.0" in " ".join(capsys.readouterr().out.split())


@pytest.mark.families("atari")
def test_doctor(shown):
    findings = json.loads(shown("doctor", "--json"))
    assert len({finding["topic"] for finding in findings}) == len(EXAMINATIONS)
    assert not [each for each in findings if each["found"].startswith("the check failed")]
    assert all(finding["advice"] for finding in findings if finding["status"] != "ok")


@pytest.mark.parametrize("version, status, found", [
    ("3.17.0", "ok", "3.17.0 in "),
    ("9.0.1", "warning", "9.0.1 in "),
    ("4.0.0", "warning", "MuJoCo environments: mujoco 4.0.0 incorrectly factorizes"),
])
def test_doctor_says_which_mujoco_there_is(monkeypatch, tmp_path, version, status, found):
    (tmp_path / f"libmujoco.so.{version}").touch()
    monkeypatch.setattr(doctor, "find_spec", lambda name: name)
    monkeypatch.setattr("cypool.envs.shared.packages.mujoco_version.folder_of", lambda name: str(tmp_path))
    (line,) = doctor._mujoco()
    assert line[0] == status and line[1].startswith(found)


@pytest.mark.families("mujoco", "dm_control")
@pytest.mark.parametrize(("id", "options", "said"), [
    ("HalfCheetah-v5", [], "lanes"),
    ("HalfCheetah-v5", ["physics=mj_step"], "mj_step: physics="),
    ("HalfCheetah-v5", ["randomize={'opt.gravity': (0.9, 1.1)}"], "lanes"),
    ("HalfCheetah-v5", ["randomize={'body_ipos:torso': (0.9, 1.1)}"], "mj_step: randomize varies body_ipos"),
    ("Swimmer-v5", [], "lanes"),
    ("dm_control/walker-walk-v0", ["action_repeat=2"], "mj_step: each repetition of an action has"),
])
def test_info_says_what_steps_a_robot(shown, id, options, said):
    pytest.importorskip("dm_control")
    check = pytest.importorskip("cypool.envs.shared.lanes.mujoco_lanes").check_machine
    try:
        check()
    except ValueError as error:
        pytest.skip(f"lanes: {error}")
    report = json.loads(shown("info", id, "--json", *(word for option in options for word in ("--option", option))))
    assert report["stepped_by"].startswith(said)


def test_doctor_says_what_is_wrong(shown, monkeypatch, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("CYPOOL_CACHE", str(tmp_path / "open"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    # the one that draws takes a second
    monkeypatch.setattr("cypool.tools.cli.doctor.EXAMINATIONS",
                        [each for each in EXAMINATIONS if each.__name__ in ("_cache", "_compiler")])
    said = " ".join(shown("doctor").split())
    assert "no-such-compiler does not run" in said and "set CYPOOL_CACHE to a folder of your own" in said
    assert "1 warning" in said


def test_doctor_shows_training_libraries(run_python):
    code = """
import json, sys
from importlib import metadata
own = {"stable-baselines3": "2.9.2", "torchrl": "0.1", "pufferlib": "3.0.0", "torch": "2.13.0+cpu"}
def version(name):
    if name in own:
        return own[name]
    raise metadata.PackageNotFoundError(name)
metadata.version = version
from cypool.tools.cli.doctor import _libraries
print(json.dumps(list(_libraries())))
print(*sys.modules)"""
    lines, modules = run_python(code).stdout.splitlines()
    lines = json.loads(lines)
    assert lines[:1] == [["ok", "Stable-Baselines3 2.9.2"]]
    assert ["ok", "PufferLib 3.0.0"] in lines and ["ok", "PyTorch 2.13.0+cpu"] in lines
    (old,) = (line for line in lines if line[0] == "warning")
    assert old[1].startswith("TorchRL 0.1, supported: ") and old[2].startswith('pip install "torchrl')
    assert all(">=0.11.0" in text for text in old[1:])
    assert lines[-1][1] == "not installed: Tianshou, rl_games, RLlib (in Ray), skrl, AgileRL, CleanRL, JAX"
    # a look at versions imports nothing
    assert not {"torch", "stable_baselines3", "pufferlib", "ray"} & set(modules.split())


def test_requirements_are_those_of_users():
    named = {name for name, _, _ in requirements()}
    assert {"numpy", "gymnasium", "ray"} <= named and "cypool" not in named


@pytest.mark.parametrize("words, said", [
    (["chekc"], "expected a command, got 'chekc' (did you mean check?)"),
    (["info", "Ponk-v5"], "did you mean Pong-v5"),
    (["info", "pongg"], "did you mean"),
    (["list", "cartpol-v1"], "did you mean CartPole-v1"),
    (["check", "Pong"], "did you mean Pong-v5"),
    (["info", "CartPole-v1", "-o", "sutton_barto_reword=1"], "did you mean sutton_barto_reward"),
    (["info", "CartPole-v1", "-o", "sutton_barto_reward"], "--option: expected name=value"),
    (["check", "Catch-v0", "--only", "parity"], "registered without a reference"),
    (["check", "Pong-v5", "--only", "parrot"], "--only: expected one of 'parity', 'contract', got 'parrot'"),
    (["info", "Xyzzy-v0"], "no environment 'Xyzzy-v0'; `cypool list` or list_all_envs() shows all ids"),
    (["new", "My-Env"], "name: expected a lowercase package name"),
    (["bench", "CartPole-v1", "--rounds", "0"], "--rounds: expected 1 to 10000, got 0"),
    (["bench", "CartPol-v1"], "id: no environment 'CartPol-v1' (did you mean CartPole-v"),
    (["bench", "CartPole-v1", "--env", "Pong-v5"], "--env: expected either ID or --env"),
    (["play", "CartPol-v1"], "did you mean CartPole-v"),
    (["play", "CartPole-v1"], "no display for a window"),
    (["play", "CartPole-v1", "--policy", "nothing"], "--policy: expected MODULE:FUNCTION"),
    (["play", "CartPole-v1", "--policy", "nope:f"],
     "--policy: expected MODULE:FUNCTION, got 'nope:f': No module named 'nope'"),
    (["play", "CartPole-v1", "--record", "film"], "--record: expected a file name"),
    (["play", "CartPole-v1", "--record", "film.xyz"],
     "--record: expected a file name that ends in .mp4, .gif, .png, .mkv, .mov, .avi, got 'film.xyz'"),
    (["play", "CartPole-v1", "--fps", "nan"], "--fps: expected"),
    (["play", "CartPole-v1", "--png", "a.jpg"], "--png: expected a name that ends in .png, got 'a.jpg'"),
    (["play", "CartPole-v1", "--png", "a.png", "--record", "a.gif"], "--png: cannot be combined with --record"),
    (["play", "CartPole-v1", "--num-envs", "2"], "--num-envs: only valid with --record or --png"),
    (["tune", "CartPole"], "did you mean CartPole-v"),
    (["tune", "CartPole-v1", "--for", "learner-ms"], "expected a number after, and only after, learner-ms"),
    (["tune", "CartPole-v1", "--for", "asinc"], "--for: expected one of 'sync', 'async', 'learner-ms', got 'asinc'"),
    (["tune", "CartPole-v1", "5"], "expected a number after, and only after, learner-ms"),
    (["tune", "CartPole-v1", "--for", "learner-ms", "nan"], "expected learner-ms in (0, 10000], got nan"),
    (["tune", "CartPole-v1", "--for", "async", "--max-envs", "1"], "--max-envs: expected at least 2"),
])
def test_refusals(words, said, capsys, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and said in printed.err and printed.err.count("\n") == 1


def test_ctrl_c(capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("cypool.registration.registry.list_all_envs", interrupt)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == ""


def test_ctrl_c_during_an_import_waits_for_its_end(tmp_path, capsys, monkeypatch):
    """NumPy turns the exception into an ImportError, as this module does."""
    (tmp_path / "interrupted_module.py").write_text(
        "import signal\ntry:\n    signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt as error:\n    raise ImportError('broken') from error\n")

    def import_it(*_, **__):
        importlib.import_module("interrupted_module")
        wait_until(lambda: False)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("cypool.registration.registry.list_all_envs", import_it)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)]
    assert main(["list"]) == 130
    assert capsys.readouterr().err == ""
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)] == handlers


def test_ctrl_c_in_a_command_that_an_import_runs_ends_it(tmp_path, monkeypatch):
    (tmp_path / "running_module.py").write_text("from cypool.tools.cli import main\nstatus = main(['list'])\n")

    def interrupt(*_, **__):
        signal.raise_signal(signal.SIGINT)
        wait_until(lambda: False)

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("cypool.registration.registry.list_all_envs", interrupt)
    assert importlib.import_module("running_module").status == 130


def test_ctrl_c_from_outside(tmp_path):
    # in another folder, as the checkout may have an uncompiled ./cypool
    with subprocess.Popen([sys.executable, "-m", "cypool", "check", "CartPole-v1", "--seeds", "1000"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                          env={**os.environ, "PYTHONUNBUFFERED": "1"}) as run:
        # the GNU C library and Python are loaded; whenever it comes, the status is the same
        maps = Path(f"/proc/{run.pid}/maps")
        wait_until(lambda: run.poll() is not None or "numpy" in maps.read_text())
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        said, errors = run.communicate(timeout=300)
    assert run.returncode == 130 and errors == ""


def test_list_in_a_terminal_is_a_table_for_each_family(tmp_path):
    said = said_at_terminal(["-m", "cypool", "list", "pole-v1"], cwd=tmp_path, COLUMNS="100", NO_COLOR="1").decode()
    assert "Gymnasium's CartPole-v1" in said and "environments" in said
    headings = [line.rstrip() for line in said.splitlines() if re.fullmatch(r"\S.* \(\d+\)\s*", line)]
    assert headings == ["Classic control (1)"]


def test_list_without_a_pattern_in_a_terminal_shows_the_families(tmp_path):
    said = said_at_terminal(["-m", "cypool", "list"], cwd=tmp_path, COLUMNS="100", NO_COLOR="1").decode()
    listed = {line.split()[0]: int(line.split()[1]) for line in said.splitlines() if re.match(r"[a-z]\w+ +\d", line)}
    assert listed == {family.name: len(family.entries(("*",))) for family in FAMILIES if family.is_built}
    assert "CartPole, MountainCar" in said and "CartPole-v1" not in said


def test_environments_of_a_package_are_a_group():
    entries = [Entry("my_env/A-v0", "my_env.own:A", None, {}, None), Entry("CartPole-v1", CARTPOLE, None, {}, None)]
    assert [(name, title, [each.id for each in members]) for name, title, _, members in by_family(entries)] == [
        ("classic_control", "Classic control", ["CartPole-v1"]), ("", "my_env", ["my_env/A-v0"])]


def test_completion_knows_ids(tmp_path):
    done = run_program(sys.executable, "-m", "cypool", "info", "CartP", cwd=tmp_path,
                       env={**os.environ, "_CYPOOL_COMPLETE": "1"})
    assert done.stdout.split() == ["CartPole-v0", "CartPole-v1"]


@pytest.mark.parametrize("words, expected", [
    ([], sorted([*VERBS, "--completion", "--help", "--version"])), (["ch"], ["check"]), (["nope", ""], []),
    (["check", "--on"], ["--only"]), (["check", "--only", ""], ["contract", "parity"]),
    (["check", "Catch-v0", "--only", "p"], ["parity"]), (["check", "--num-envs", ""], []),
    (["list", "classic"], ["classic_control"]),
    pytest.param(["get", "pro"], ["procgen"], marks=pytest.mark.families("procgen")),
])
def test_completions(words, expected):
    assert completions(words) == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_what_the_command_prints(tmp_path):
    (tmp_path / "cypool").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cypool "$@"\n')
    (tmp_path / "cypool").chmod(0o755)
    code = 'eval "$(cypool --completion)"; COMP_WORDS=(cypool info CartP) COMP_CWORD=2; _cypool; echo "${COMPREPLY[@]}"'
    done = run_program("bash", "-c", code, cwd=tmp_path,
                       env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"})
    assert (done.stdout, done.stderr) == ("CartPole-v0 CartPole-v1\n", "")


def test_arguments_of_a_docstring():
    text = "Returns it.\n\nArgs:\n    one, two: Both\n        of them.\n    three: This: and that.\n\nRaises:\n    X: y"
    assert arguments_of(text) == {"one": "Both of them.", "two": "Both of them.", "three": "This: and that."}
    assert arguments_of("Returns it.") == {}


def test_smaller_pictures():
    picture = np.arange(4 * 6 * 3).reshape(4, 6, 3)
    assert area_mean(picture, 2, 3)[0, 0].tolist() == picture[:2, :2].mean((0, 1)).round().tolist()
    assert area_mean(picture, 8, 12).shape == (8, 12, 3)


@pytest.mark.parametrize("id, option, words, asynchronous", [
    ("CartPole-v1", "sutton_barto_reward=True", [], False),
    ("CartPole-v1", "sutton_barto_reward=True", ["--for", "async"], True),
    ("CartPole-v1", "sutton_barto_reward=True", ["--for", "learner-ms", "0.1"], None),
    pytest.param("board/connect_four-v0", "view=single", ["--for", "learner-ms", "0.1"], None,
                 marks=pytest.mark.families("board"))])
def test_tune(id, option, words, asynchronous, shown, monkeypatch):
    for name in ("WARM_UP", "FIRST"):
        monkeypatch.setattr(tuning, name, 0.001)
    report = json.loads(shown("tune", id, "--max-envs", "4", "-o", option, "--json", *words))
    tried = {(each["num_envs"], each["batch_size"]) for each in report["settings"]}
    assert asynchronous is None or all((batch < n) == asynchronous for n, batch in tried)
    assert {key: report["settings"][0][key] for key in report["best"]} == report["best"]
    made = {}
    exec(report["line"], {"cypool": __import__("cypool")}, made)
    assert made["env"].num_envs == report["best"]["num_envs"]
    made["env"].close()


def test_tune_chooses_the_smallest_that_is_nearly_the_fastest():
    few, some, many, lucky = (Measured(Setting(n, n, 1), speed, samples)
                              for n, speed, samples in ((8, 90.0, 5), (16, 96.0, 5), (32, 100.0, 5), (1, 200.0, 1)))
    assert in_order([few, some, many, lucky]) == [some, many, few, lucky]


@pytest.mark.parametrize("name", ["film.gif", "film.mp4", "film.png"])
def test_play_records(name, tmp_path, shown):
    pytest.importorskip("imageio")
    said = shown("play", "CartPole-v1", "--record", str(tmp_path / name), "--steps", "5", "--seed", "1")
    assert (tmp_path / name).stat().st_size > 100 and "5 steps, rewards 5" in " ".join(said.split())


@pytest.mark.parametrize("words", [[], ["--random"], ["--policy", "acts:act"]])
def test_play_in_a_window(words, tmp_path, shown, monkeypatch):
    pytest.importorskip("pygame")
    (tmp_path / "acts.py").write_text("def act(obs):\n    return [1] * len(obs)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    assert "5 steps, rewards 5" in shown("play", "CartPole-v1", "--steps", "5", "--fps", "1000", *words)


@pytest.mark.families("atari")
def test_play_without_a_display_watches_in_the_terminal(tmp_path):
    words = ["-m", "cypool", "play", "Pong-v5", "--random", "--steps", "3", "--fps", "1000"]
    environ = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "NO_COLOR"), "")
    said = said_at_terminal(words, cwd=tmp_path, COLUMNS="80", LINES="24", **environ).decode()
    pictures = said.split("\x1b[H")[1:]
    assert len(pictures) == 3 and "3 steps, rewards 0" in pictures[-1]
    for picture in pictures:
        lines = picture.splitlines()
        assert sum("▀" in line for line in lines) == 22
        assert {line.count("▀") for line in lines if "▀" in line} == {33}


@pytest.mark.families("toy_text")
def test_play_without_a_display_prints_the_text_of_a_game(tmp_path):
    words = ["-m", "cypool", "play", "FrozenLake-v1", "--random", "--steps", "2", "--fps", "1000"]
    environ = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "NO_COLOR"), "")
    said = said_at_terminal(words, cwd=tmp_path, **environ).decode()
    assert said.count("\x1b[H") == 2 and said.count("HFFG") == 2 and "▀" not in said and "2 steps, rewards 0" in said
    # a pipe gets the same without control sequences of the cursor
    done = run_program(sys.executable, *words, cwd=tmp_path, env={**os.environ, **environ})
    assert done.stdout.count("HFFG") == 2 and "\x1b[H" not in done.stdout


@pytest.mark.parametrize("words, size", [
    (["--num-envs", "3", "--steps", "2"], (1200, 800)), (["--random"], (600, 400))])
def test_play_writes_a_picture_of_a_grid(words, size, tmp_path, shown):
    pytest.importorskip("pygame")
    image = pytest.importorskip("PIL.Image")
    said = shown("play", "CartPole-v1", "--png", str(tmp_path / "grid.png"), *words)
    with image.open(tmp_path / "grid.png") as picture:
        assert picture.size == size and picture.n_frames == 1 and picture.convert("L").getextrema() != (0, 0)
    assert f"{size[0]} x {size[1]} pixels after {2 if len(words) > 1 else 40} steps" in said


@pytest.fixture
def display():
    """The name of a display of X: the one that is there, or of a server without a screen."""
    if "DISPLAY" in os.environ or shutil.which("Xvfb") is None:
        yield os.environ.get("DISPLAY") or pytest.skip("there is no display, and no Xvfb")
        return
    reader, writer = os.pipe()
    with subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "800x600x24", "-nolisten", "tcp"],
                          pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        os.close(writer)
        try:
            # nothing, if it ends
            number = os.read(reader, 16).decode().strip()
            assert number
            yield f":{number}"
        finally:
            server.terminate()
            os.close(reader)


def test_play_in_a_window_of_what_opengl_draws(display, tmp_path):
    pytest.importorskip("pygame")
    pytest.importorskip("mujoco")
    if missing("HalfCheetah-v5"):
        pytest.skip(missing("HalfCheetah-v5"))
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("SDL_", "WAYLAND_"))}
    done = run_program(sys.executable, "-m", "cypool", "play", "HalfCheetah-v5", "--random", "--steps", "3", check=True,
                       env={**environ, "DISPLAY": display}, cwd=tmp_path)
    assert "3 steps" in done.stdout, done.stderr


def test_play_keeps_sdl_from_opengl(monkeypatch):
    """A thread has one context, which draws the environment."""
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_FRAMEBUFFER_ACCELERATION", "1")
    assert main(["play", "CartPole-v1", "--random", "--steps", "2", "--fps", "1000"]) == 0
    assert os.environ["SDL_FRAMEBUFFER_ACCELERATION"] == "0"


def test_play_without_the_display_that_was_asked_for_is_refused(capsys, monkeypatch):
    # drawing another environment may have opened one
    pytest.importorskip("pygame").display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "none")
    assert main(["play", "CartPole-v1", "--random", "--steps", "2"]) == 2
    said = capsys.readouterr().err
    assert "cannot open a window: none not available" in said and said.count("\n") == 1


def test_keys_in_a_window(shown, monkeypatch):
    """In a game of turns a key is a step; Escape ends it."""
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    batches = [[pygame.K_RIGHT], [], [pygame.K_DOWN], [pygame.K_r], [pygame.K_ESCAPE]]
    monkeypatch.setattr(pygame.event, "get", lambda: [
        pygame.event.Event(kind, key=key) for key in batches.pop(0) for kind in (pygame.KEYDOWN, pygame.KEYUP)])
    assert "2 steps" in shown("play", "FrozenLake-v1", "--fps", "1000") and batches == []


def test_play_without_pygame(capsys, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(sys.modules, "pygame", None)
    assert main(["play", "CartPole-v1"]) == 2
    said = capsys.readouterr().err
    assert 'pip install "cypool[render]"' in said and said.count("\n") == 1


@pytest.mark.families("atari", "mujoco")
@pytest.mark.parametrize("id, held, action", [
    ("CartPole-v1", {"right"}, 1), ("MountainCar-v0", set(), 1), ("CartPole-v1", {"1"}, 1), ("Catch-v0", {"left"}, 0),
    ("Pong-v5", {"space", "right"}, 4), ("Pong-v5", {"up"}, 0), ("Pong-v5", {"up", "right"}, 2), ("Pong-v5", {"5"}, 5),
    ("Pendulum-v1", {"right"}, [2.0]), ("Pendulum-v1", set(), [0.0]), ("Ant-v5", {"left", "up"}, [-1.0, 1.0] + [0] * 6),
])
def test_keys_choose_actions(id, held, action):
    entry_point = next(entry.entry_point for entry in known_entries() if entry.id == id)
    chosen = action_of_keys(cypool.make_spec(id), entry_point)[0](held)
    assert (chosen.tolist() if hasattr(chosen, "tolist") else chosen) == action


def test_ray_alone_is_no_rllib(monkeypatch):

    known = {"ray": "2.60.0", "lz4": "4.0"}

    def version(name):
        if name not in known:
            raise metadata.PackageNotFoundError(name)
        return known[name]

    monkeypatch.setattr(doctor.metadata, "version", version)
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: [
        "click>=7", 'dm-tree; extra == "rllib"', "lz4>=1; extra == 'rllib'", 'pandas; extra == "data"',
        'dm-tree>=9; python_version < "3" and extra == "rllib"', 'yaml; python_version >= "3" and extra == "all"'])
    line = doctor._installed("RLlib (in Ray)", "ray", "")
    assert line == ("warning", "RLlib (in Ray) 2.60.0, without dm-tree", 'pip install "ray[rllib]"')
    known["dm-tree"] = "1"
    assert doctor._installed("RLlib (in Ray)", "ray", "")[0] == "ok"


@pytest.mark.families("atari")
def test_a_text_for_several_options_is_printed_once(shown):
    lines = [line.strip() for line in shown("info", "Pong-v5").splitlines()]
    texts = [line for line in lines if line.endswith(".") and len(line) > 40]
    assert len(set(texts)) == len(texts)


def test_no_words_show_the_help(capsys):
    assert main([]) == 2
    said = capsys.readouterr().out
    assert all(f"  {verb} " in said for verb in VERBS) and "--version" in said


def test_options_stand_anywhere(shown):
    report = json.loads(shown("info", "--json", "-o", "sutton_barto_reward=True", "CartPole-v1"))
    assert report["options"]["sutton_barto_reward"]["value"] is True


def test_a_closed_pipe_ends_the_command_quietly(tmp_path):
    with subprocess.Popen([sys.executable, "-m", "cypool", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, cwd=tmp_path) as run:
        run.stdout.close()
        errors = run.stderr.read()
    assert (run.returncode, errors) == (141, "")


@pytest.mark.parametrize("words", [
    ["list", "--nope"], ["nope"], ["nonsense"], ["info"], ["bench", "CartPole-v1", "--peers"],
    ["check", "CartPole-v1", "--num-envs", "many"]])
def test_usage_errors_are_one_line(words, capsys):
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("cypool") and said.err.count("\n") == 1
