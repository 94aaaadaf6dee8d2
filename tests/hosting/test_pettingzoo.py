"""Environments of PettingZoo in workers: the episodes are those that they have by themselves."""
import functools
import importlib
import importlib.util
import os
import signal
import sys
import warnings
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from markers import slow
from pettingzoo import ParallelEnv
from pool_arguments import MODES
from receiving import started

import cypool
from cypool.api.pettingzoo import ParallelEnv as Ours
from cypool.hosting.spaces import attribute_of

# it imports environments in a way that it calls old
with warnings.catch_warnings(action="ignore"):
    from pettingzoo.test import parallel_api_test

pytestmark = [pytest.mark.filterwarnings("ignore:The old environment creation"),
              # of Box2D's module, which does not survive it as an error
              pytest.mark.filterwarnings("ignore:builtin type .* has no __module__"),
              pytest.mark.filterwarnings("ignore:.*You are calling render method without")]
BAD = ("shape", "dtype", "leaves", "stays", "raises", "names")


class Mortal(ParallelEnv):
    """Agents of two kinds that die one after the other, are truncated, or come later."""

    metadata = {"name": "mortal", "render_modes": []}
    render_mode = None

    def __init__(self, bad=None, reds=3):
        self.possible_agents = [f"red_{k}" for k in range(reds)] + [f"blue_{k}" for k in range(2)] + [f"red_{reds}"]
        self.agents, self.spaces = [], {}
        self.rng = np.random.default_rng(0)
        self.bad = bad
        if bad == "names":
            del self.possible_agents

    def observation_space(self, agent):
        shape = (3,) if "red" in agent else (2, 2)
        return self.spaces.setdefault(agent, gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float64))

    def action_space(self, agent):
        space = gymnasium.spaces.Discrete(3) if "red" in agent else gymnasium.spaces.Box(-1, 1, (2,))
        return self.spaces.setdefault(f"action of {agent}", space)

    def reset(self, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents = self.possible_agents[:-2]
        self.left = self.possible_agents[-2:]
        return self.look(self.agents), {agent: {"options": str(options)} for agent in self.agents}

    @property
    def pid(self):
        return os.getpid()

    def look(self, agents):
        return {agent: self.rng.normal(size=self.observation_space(agent).shape) for agent in agents}

    def step(self, actions):
        assert set(actions) == set(self.agents), (set(actions), self.agents)
        for agent, action in actions.items():
            assert self.action_space(agent).contains(action), (agent, action)
        was = self.agents
        terminated = {agent: bool(self.rng.random() < 0.1) for agent in was}
        truncated = {agent: bool(self.rng.random() < 0.05) for agent in was}
        reward = {agent: float(np.sum(actions[agent])) + self.rng.normal() for agent in was}
        self.agents = [agent for agent in was if not (terminated[agent] or truncated[agent])]
        if self.left and self.agents and self.rng.random() < 0.2:
            came = self.left.pop()
            self.agents = [*self.agents, came]
            was = [*was, came]
            terminated[came] = truncated[came] = False
            reward[came] = 0.0
        seen = self.look(was)
        if self.bad == "raises" and self.rng.random() < 0.2:
            raise RuntimeError("no more")
        if self.bad == "shape":
            seen[was[0]] = np.zeros(7)
        if self.bad == "dtype":
            seen[was[0]] = np.full(self.observation_space(was[0]).shape, "x")
        if self.bad == "leaves" and len(self.agents) > 1:
            self.agents = self.agents[1:]
        if self.bad == "stays":
            terminated[was[0]] = True
            self.agents = was
        return seen, reward, terminated, truncated, {agent: {"number": len(was)} for agent in was}


# for two pools
NOTHING = {"red": np.zeros((2, 4), int), "blue": np.zeros((2, 2, 2), np.float32)}


REAL = [("butterfly/knights_archers_zombies_v11", {"max_cycles": 60}),
        ("butterfly/cooperative_pong_v6", {"max_cycles": 15}),
        ("butterfly/pistonball_v6", {"max_cycles": 20, "n_pistons": 4}),
        ("sisl/multiwalker_v9", {"terminate_on_fall": False, "remove_on_fall": True, "max_cycles": 60}),
        ("sisl/pursuit_v5", {"max_cycles": 15})]


def compare(env, other, seeds, steps=200):
    """Plays a parallel environment of ours next to another one; returns how many steps were equal."""
    total = 0
    for seed in seeds:
        seen, _ = env.reset(seed=seed)
        wanted, _ = other.reset(seed=seed)
        for agent in other.possible_agents:
            other.action_space(agent).seed(seed)
        for _ in range(steps):
            assert set(seen) == set(wanted) and set(env.agents) == set(other.agents)
            for agent, value in wanted.items():
                assert np.asarray(seen[agent]).tobytes() == np.asarray(value, seen[agent].dtype).tobytes(), agent
            if not other.agents:
                break
            actions = {agent: other.action_space(agent).sample() for agent in other.agents}
            seen, *flags, _ = env.step(actions)
            wanted, *other_flags, _ = other.step(actions)
            for mine, theirs in zip(flags, other_flags, strict=True):
                assert mine == {agent: type(mine[agent])(value) for agent, value in theirs.items()}
            total += 1
    return total


# the engine looks at the flags of eight agents at a time
@pytest.mark.parametrize("reds, seeds", [(3, 30), (5, 10), (17, 10)])
def test_agents_that_die_and_come_equal_pettingzoo(reds, seeds):
    made = functools.partial(Mortal, reds=reds)
    pool = cypool.from_factories([made], autoreset_mode="Disabled", num_workers=0)
    assert compare(Ours(pool), made(), range(seeds)) > 100


def test_a_toy_passes_pettingzoos_test():
    parallel_api_test(Ours(cypool.from_factories([Mortal], autoreset_mode="Disabled", num_workers=0)), num_cycles=1)


@pytest.mark.parametrize("name, options", REAL, ids=[name for name, _ in REAL])
def test_environments_of_pettingzoo(name, options):
    if "multiwalker" in name:
        pytest.importorskip("Box2D")
    if "piston" in name and importlib.util.find_spec("pymunk") is None:
        pytest.skip("pymunk is not installed")
    module = "pettingzoo." + name.replace("/", ".")
    env = cypool.parallel_env(f"pettingzoo:{name}", **options)
    assert compare(env, importlib.import_module(module).parallel_env(**options), [0, 1]) > 15
    env.close()


def test_turns_equal_pettingzoo():
    from pettingzoo.classic import connect_four_v3

    env = cypool.parallel_env("pettingzoo:classic/connect_four_v3")
    assert env.pool.env_spec.turns
    other = connect_four_v3.env()
    rng = np.random.default_rng(0)
    for seed in range(5):
        seen, _ = env.reset(seed=seed)
        other.reset(seed=seed)
        # as many places as the board has
        for _ in range(42):
            if not env.agents:
                break
            agent = other.agent_selection
            acting = dict(zip(env.possible_agents, env.pool._pool.acting()[0].tolist(), strict=True))
            assert [name for name, acts in acting.items() if acts] == [agent]
            wanted = other.observe(agent)
            assert all((seen[agent][key] == wanted[key]).all() for key in wanted)
            action = rng.choice(np.flatnonzero(wanted["action_mask"]))
            other.step(action)
            seen, rewards, terminated, *_ = env.step({agent: action})
            assert rewards == {name: other.rewards[name] for name in rewards}
            assert terminated == {name: other.terminations[name] for name in terminated}


@pytest.mark.parametrize("mode, workers, num_workers", [
    *((mode, *host) for mode in MODES for host in [("auto", 0), ("threads", 2)]), (MODES[0], "auto", 3),
    *slow(*((mode, "auto", 3) for mode in MODES[1:]), *((mode, "auto", 1) for mode in MODES))])
def test_batch_equals_single_environments(mode, workers, num_workers):
    count = 3
    pool = cypool.from_factories([Mortal] * count, seed=7, autoreset_mode=mode, workers=workers,
                                 num_workers=num_workers, episode_statistics=True)
    others = [Mortal() for _ in range(count)]
    rng = np.random.default_rng(1)
    assert {name: group.names for name, group in pool.env_spec.agents.items()} == {
        "red": ("red_0", "red_1", "red_2", "red_3"), "blue": ("blue_0", "blue_1")}
    obs, info = pool.reset()
    seen = [other.reset(seed=7 + i)[0] for i, other in enumerate(others)]
    assert info["red_0"]["options"].tolist() == ["None"] * count
    ended = 0
    starting = np.zeros(count, bool)
    for _ in range(60):
        for i in range(count):
            views = pool.by_agent(obs)
            alive = pool.by_agent({group: each["alive"] for group, each in info["agents"].items()})
            assert {agent for agent in alive if alive[agent][i]} == set(others[i].agents)
            for agent, value in seen[i].items():
                assert views[agent][i].tobytes() == value.tobytes()
        actions = {"red": rng.integers(3, size=(count, 4)),
                   "blue": rng.uniform(-1, 1, (count, 2, 2)).astype(np.float32)}
        by_name = pool.by_agent(actions)
        obs, reward, terminated, truncated, info = pool.step(actions)
        over = terminated | truncated
        rewards = pool.by_agent({group: each["reward"] for group, each in info["agents"].items()})
        for i, other in enumerate(others):
            if starting[i]:
                seen[i] = other.reset()[0]
                assert reward[i] == 0
                continue
            seen[i], wanted, *_ = other.step({
                agent: np.int64(by_name[agent][i]) if "red" in agent else by_name[agent][i] for agent in other.agents})
            assert {agent: rewards[agent][i] for agent in wanted} == wanted
            assert over[i] == (not other.agents)
            if over[i]:
                ended += 1
                if mode == "SameStep":
                    views = pool.by_agent({group: part[None] for group, part in info["final_obs"][i].items()})
                    assert all(views[agent][0].tobytes() == value.tobytes() for agent, value in seen[i].items())
                    seen[i] = other.reset()[0]
        starting = over if mode == "NextStep" else np.zeros(count, bool)
        if mode == "Disabled" and over.any():
            obs, info = pool.reset(options={"reset_mask": over})
            for i in np.flatnonzero(over):
                seen[i] = others[i].reset(seed=None)[0]
    assert ended > 3
    pool.close()


@pytest.mark.parametrize("workers", ["processes", "threads"])
def test_asynchronous_batches_equal_single_environments(workers):
    with cypool.from_factories([Mortal] * 4, batch_size=2, seed=0, workers=workers, num_workers=2) as pool:
        others = [Mortal() for _ in range(4)]
        rng = np.random.default_rng(0)
        pool.async_reset()
        sent = {}
        for _ in range(80):
            obs, reward, _, _, info = pool.recv(timeout=300)
            views = pool.by_agent(obs)
            ids = info["env_id"].tolist()
            for row, i in enumerate(ids):
                if not others[i].agents:
                    seen = others[i].reset(seed=i if i not in sent else None)[0]
                else:
                    seen, rewards, *_ = others[i].step({agent: sent[i][agent] for agent in others[i].agents})
                    assert reward[row] == pytest.approx(sum(rewards.values()))
                assert all(views[agent][row].tobytes() == value.tobytes() for agent, value in seen.items())
            actions = {"red": rng.integers(3, size=(2, 4)), "blue": rng.uniform(-1, 1, (2, 2, 2)).astype(np.float32)}
            by_name = pool.by_agent(actions)
            for row, i in enumerate(ids):
                sent[i] = {agent: np.int64(values[row]) if "red" in agent else values[row]
                           for agent, values in by_name.items()}
            pool.send(actions)


def test_killed_worker_costs_one_episode():
    with started(cypool.from_factories([Mortal] * 2, seed=0, num_workers=2)) as pool:
        pids = pool._pool.ask(None, attribute_of, "pid")
        os.kill(pids[0], signal.SIGKILL)
        with pytest.raises(cypool.EnvError) as caught:
            # the worker may have answered a few before
            for _ in range(1000):
                pool.step(NOTHING)
        obs, reward, _, truncated, info = caught.value.batch
        assert list(caught.value.causes) == [0] and truncated.tolist()[0] and reward[0] == 0
        assert not obs["red"][0].any() and not info["agents"]["red"]["alive"][0].any()
        pool.step(NOTHING)
        _, info = pool.reset()
        assert info["agents"]["red"]["alive"][0, :3].all()


@pytest.mark.parametrize("bad", BAD)
def test_bad_environments_are_named(bad):
    if bad == "names":
        with pytest.raises(ValueError, match="possible_agents"):
            cypool.from_factories([functools.partial(Mortal, bad)], num_workers=0)
        return
    pool = started(cypool.from_factories([functools.partial(Mortal, bad)] * 2, seed=0, num_workers=0))
    words = {"shape": "expected shape", "dtype": "expected float64", "leaves": "exactly the terminated",
             "stays": "is still in", "raises": "no more"}
    with pytest.raises(cypool.EnvError, match=words[bad]):
        for _ in range(100):
            pool.step(NOTHING)
    pool.step(NOTHING)


@pytest.mark.parametrize("name", ["x", "x/y", "butterfly/nothing", "../etc", "os/path", ""])
def test_bad_ids_are_refused(name):
    with pytest.raises(ValueError, match="id: expected 'pettingzoo:family/module'"):
        cypool.make(f"pettingzoo:{name}")


def test_missing_pettingzoo_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ValueError, match=r"pistonball_v6'; PettingZoo is not installed: pip install .cypool\[petting"):
        cypool.make("pettingzoo:butterfly/pistonball_v6")


def test_loaded_state_continues_equally():
    pool = started(cypool.from_factories([Mortal] * 2, seed=0, num_workers=0))
    for _ in range(5):
        pool.step(NOTHING)
    state = pool.save()
    first = [pool.step(NOTHING) for _ in range(5)]
    pool.load(state)
    again = [pool.step(NOTHING) for _ in range(5)]
    for one, two in zip(first, again, strict=True):
        assert all((one[0][group] == two[0][group]).all() for group in one[0]) and (one[1] == two[1]).all()
        for group, columns in one[-1]["agents"].items():
            assert all((columns[name] == two[-1]["agents"][group][name]).all() for name in columns)


def test_unknown_options_are_refused(monkeypatch):
    from cypool.hosting import pettingzoo

    monkeypatch.setattr(pettingzoo, "module_of", lambda name: SimpleNamespace(parallel_env=lambda max_cycles=1: None))
    with pytest.raises(TypeError, match=r"^max_cycle: expected options that pettingzoo:a/b accepts, got {.*: 3}"):
        pettingzoo.make_pettingzoo("a/b", max_cycle=3)


class Bare(ParallelEnv):
    """Has no more than PettingZoo's base class asks for."""

    def __init__(self):
        self.possible_agents = ["red_0", "red_1"]

    def observation_space(self, agent):
        return gymnasium.spaces.Discrete(2)

    def action_space(self, agent):
        return gymnasium.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        return dict.fromkeys(self.agents, 1), {agent: {} for agent in self.agents}

    def step(self, actions):
        each = dict.fromkeys(self.agents, False)
        return dict.fromkeys(self.agents, 0), dict.fromkeys(self.agents, 1.0), each, each, {a: {} for a in self.agents}


def test_an_environment_without_render_mode_steps():
    with cypool.from_factories([Bare], workers="threads") as env:
        env.reset(seed=0)
        obs, reward, *_ = env.step(np.zeros((1, 2), int))
        assert reward.tolist() == [2.0]
