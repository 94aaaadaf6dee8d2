"""Environments, factories and arguments that fail: one environment costs one row."""
import contextlib
import sys
import threading
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hosting.environments import GO, RAISE, RAISE_NEXT_RESET, TELL_NONSENSE, Bare, Trouble
from hosting.hosts import HERE, HOSTS, PROCESS, THREADS, of_hosts, receive
from markers import slow
from receiving import started
from waiting import run_program

import cypool


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("batch_size", [4, 2])
def test_env_that_raises_starts_a_new_episode(host, batch_size):
    with cypool.from_factories([partial(Trouble, i) for i in range(4)], **host, batch_size=batch_size) as env:
        env.async_reset()
        receive(env)
        env.send([GO, RAISE, TELL_NONSENSE, GO], [0, 1, 2, 3])
        causes, rows = receive(env)
        assert causes.keys() == {1, 2}
        assert isinstance(causes[1], KeyError) and causes[1].args == ("raised in step",)
        assert isinstance(causes[2], ValueError) and "expected shape (2,)" in str(causes[2])
        if host in (HERE, THREADS):
            assert causes[1].__traceback__.tb_next is not None and causes[1].__cause__ is None
        else:
            assert "in raise_deep_down" in str(causes[1].__cause__)
        for i in (0, 3):
            assert rows[i][0].tolist() == [1, i] and rows[i][1:] == [1, False, False]
        for i in (1, 2):
            assert rows[i][0].tolist() == [0, 0] and rows[i][1:] == [0, False, True]
        # NEXT_STEP: two start new episodes
        env.send([GO] * 4, [0, 1, 2, 3])
        causes, rows = receive(env)
        assert not causes and {i: obs[0] for i, (obs, *_) in rows.items()} == {0: 2, 1: 0, 2: 0, 3: 2}


@pytest.mark.parametrize("mode, host", [
    ("NextStep", {}), ("NextStep", THREADS), ("SameStep", THREADS), *slow(("SameStep", {}))], ids=str)
def test_reset_that_raises_costs_its_own_row(mode, host):
    with started(cypool.from_factories([partial(Trouble, i) for i in range(3)], **host, autoreset_mode=mode)) as env:
        if mode == "NextStep":
            env.step([GO, RAISE_NEXT_RESET, GO])
        with pytest.raises(cypool.EnvError, match="env 1: OSError: no reset today") as caught:
            env.step([GO, RAISE_NEXT_RESET, GO])
        assert caught.value.batch[3].tolist() == [False, True, False]
        assert env.step([GO] * 3)[0][:, 0].tolist()[1] == 0


class Unfit(Trouble):
    observation_space = spaces.Sequence(spaces.Discrete(2))


class Nested(Trouble):
    observation_space = spaces.Dict({"a": spaces.Dict({"b": spaces.Discrete(2)})})


class Wide(Trouble):
    observation_space = spaces.Box(0, 1000, (3,), np.int64)


def fail():
    raise ArithmeticError("no environment today")


@pytest.mark.parametrize("factories, error, message, host", of_hosts([
    ([Unfit], ValueError, "observation_space: expected a Box"),
    ([Nested], ValueError, r"observation_space\['a'\]: expected a Box.* MultiBinary, or a Text, got Dict"),
    ([Trouble, Wide], ValueError, "expected the same observation_space in all environments, but env 0 has"),
    ([Trouble, fail], ArithmeticError, "no environment today"),
    ([Trouble, int], TypeError, "factories: expected functions that return a gymnasium.Env, got 0"),
    ([Trouble, 3], TypeError, "factories: expected"),
    ([gymnasium.Env()], TypeError, "factories: expected .*: pass the class, or lambda: MyEnv"),
    ([], TypeError, "factories: expected"),
    (Trouble, TypeError, "factories: expected"),
], [2, 3, 5, 6, 7, 8]))
def test_bad_factories_are_refused(factories, error, message, host):
    with pytest.raises(error, match=message):
        cypool.from_factories(factories, **host)


@pytest.mark.parametrize("start_method", ["forkserver", "spawn"])
def test_module_that_makes_a_pool_when_workers_import_it_raises(tmp_path, start_method):
    (tmp_path / "maker.py").write_text(f"""
import cypool, gymnasium
def make():
    return gymnasium.make("CartPole-v1")
pool = cypool.from_factories([make], start_method="{start_method}")
""")
    done = run_program(sys.executable, "-c", "import maker", cwd=tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: a worker imports a module that, at its top level, makes a pool with worker" in done.stderr
    # a script is not a module that others import
    run_program(sys.executable, "maker.py", check=True, cwd=tmp_path)


@pytest.mark.parametrize("arguments, error, message", [
    ({"id": "gymnasium:Nothing-v0"}, ValueError, "id: .*Nothing"),
    ({"id": "gymnasium:CartPole-v77"}, ValueError, "id: .*v77"),
    ({"nonsense": 1, "num_workers": 0}, TypeError, "nonsense"),
    ({"num_workers": -1}, ValueError, "num_workers: expected 0 to 4096"),
    ({"start_method": "fork"}, ValueError, "start_method: expected one of 'forkserver', 'spawn'"),
    ({"worker_timeout": "long"}, TypeError, "worker_timeout: expected a number"),
    ({"worker_timeout": 0}, ValueError, "worker_timeout: expected"),
    ({"max_episode_steps": 0}, ValueError, "max_episode_steps: expected"),
    ({"seed": -1, "num_workers": 0}, ValueError, "seed: expected at least 0"),
    ({"thread_affinity": "numa"}, ValueError, "thread_affinity: expected neither"),
    ({"env_options": [{}]}, ValueError, "env_options: expected a dict for each of 2"),
])
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        cypool.make(**{"id": "gymnasium:CartPole-v1", "num_envs": 2, **arguments})


def test_bad_actions_send_nothing():
    with started(cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2)) as env:
        with pytest.raises(ValueError, match="actions: expected integers in"):
            env.step([0, 2])
        with pytest.raises(RuntimeError, match="nothing is pending"):
            env.recv()
        env.step([0, 1])


class Closing(gymnasium.Env):
    """Notes in a file when it is made and closed; raises `what` in a step with action 1, and in `close`."""

    observation_space = action_space = spaces.Discrete(2)

    def __init__(self, path, number, what):
        self.path, self.number, self.what = path, number, what
        self.note("made")

    def note(self, text):
        with open(self.path, "a") as file:
            file.write(f"{text} {self.number}\n")

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        if action:
            raise self.what
        return 0, 0.0, False, False, {}

    def close(self):
        self.note("closed")
        if self.number == 0:
            raise self.what

WHAT = [SystemExit(3), KeyboardInterrupt(), OSError("broken")]


@pytest.mark.parametrize("what, host", [
    *((what, host) for what in WHAT for host in (HERE, {"workers": "threads", "num_workers": 1})), (WHAT[0], PROCESS),
    *slow(*((what, PROCESS) for what in WHAT[1:]))], ids=repr)
def test_each_environment_is_closed_once(host, what, tmp_path, capfd, monkeypatch):
    path = tmp_path / "notes"
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    env = started(cypool.from_factories([partial(Closing, path, i, what) for i in range(3)], **host))
    # its class is of this module, which a process cannot import
    state = None if host == PROCESS else env.save([2])
    with pytest.raises(cypool.EnvError if host != HERE or not isinstance(what, KeyboardInterrupt) else type(what)):
        env.step([0, 1, 0])
    with contextlib.suppress(cypool.EnvError):
        env.reset()
    # SystemExit and Ctrl-C cost the environment, too: it is made again
    made = ["made 0", "made 1", "made 2", *([] if isinstance(what, OSError) else ["closed 1", "made 1"])]
    if state is not None:
        env.load(state, [2])
        made.append("closed 2")
    assert path.read_text().splitlines() == made
    with contextlib.suppress(KeyboardInterrupt):
        env.close()
    assert path.read_text().splitlines() == [*made, "closed 0", "closed 1", "closed 2"]
    if not isinstance(what, KeyboardInterrupt):
        assert type(what).__name__ in capfd.readouterr().err


@pytest.mark.parametrize("host", [HERE, *({"workers": "threads", "num_workers": n} for n in (1, 3)), *slow(PROCESS)],
                         ids=str)
@pytest.mark.parametrize("wrap", [lambda env: env, gymnasium.wrappers.OrderEnforcing], ids=["same", "wrapped"])
def test_one_environment_for_several_rows_is_refused(host, wrap):
    one = Bare()
    with pytest.raises(ValueError, match="^factories: expected a separate environment .* environment for rows 0 and 2"):
        cypool.from_factories([lambda: one, Bare, lambda: wrap(one)], **host)


class Classic(Bare):
    def __init__(self, wrong):
        self.wrong = wrong

    def reset(self, seed=None):
        observation, info = super().reset()
        return observation if self.wrong == "reset" else (observation, info)

    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, info


@pytest.mark.parametrize("wrong, message", [
    ("reset", r"reset: expected 2 values \(observation, info\), got none: 0"),
    ("step", r"step: expected 5 values \(observation, reward, terminated, truncated, info\), got 4: \(1, 0.0, ")])
@pytest.mark.parametrize("num_workers", [0, *slow(1)])
def test_environment_of_gym_raises(wrong, message, num_workers):
    with cypool.from_factories([partial(Classic, wrong)] * 2, num_workers=num_workers) as env:
        with pytest.raises(cypool.EnvError, match=message):
            env.reset()
            env.step([0, 0])
