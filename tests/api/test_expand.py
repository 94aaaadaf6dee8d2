"""Ids that stand for several environments, with options and seeds of each."""
import pickle
import sys
import types

import gymnasium
import numpy as np
import pytest

import cypool
from cypool.registration import registry
from cypool.testing import check_env


@pytest.fixture
def benchmark(monkeypatch):
    """Registers a benchmark of three pendulums with different gravity, and more of them."""
    def expand(num_envs, seed, gravities=(1.0, 5.0, 9.0), **options):
        copies, rest = divmod(num_envs or len(gravities), len(gravities))
        if rest:
            raise ValueError(f"num_envs: expected a multiple of {len(gravities)}, got {num_envs}")
        return [{"g": g, **options} for g in gravities for _ in range(copies)], [seed] * copies * len(gravities)

    module = types.ModuleType("expanding")
    module.expand = expand
    module.one_less = lambda num_envs, seed, **options: ([{}, {}], [seed])
    module.none = lambda num_envs, seed, **options: ([], [])
    monkeypatch.setitem(sys.modules, "expanding", module)
    monkeypatch.setattr(registry, "_entries", dict(registry._load()))
    point = "cypool.envs.classic_control.classic_control:Pendulum"
    cypool.register("expanding/Gravities", point, expand="expanding:expand", max_episode_steps=20)
    cypool.register("expanding/Two", point, expand="expanding:expand", gravities=(2.0, 3.0))
    cypool.register("expanding/Wrong", point, expand="expanding:one_less")
    cypool.register("expanding/None", point, expand="expanding:none")
    return module


def gravities(env):
    env.reset()
    return [row["options"]["g"] for row in env.save().rows]


def test_an_id_makes_as_many_as_it_stands_for(benchmark):
    env = cypool.make("expanding/Gravities", seed=3)
    assert env.num_envs == 3 and gravities(env) == [1.0, 5.0, 9.0]
    assert env.np_random_seed == (3, 3, 3)
    obs, _ = env.reset(seed=[3, 3, 3])
    assert (obs == obs[0]).all() and env.env_spec.max_episode_steps == 20
    assert gravities(cypool.make("expanding/Gravities", num_envs=6)) == [1.0, 1.0, 5.0, 5.0, 9.0, 9.0]
    assert gravities(cypool.make("expanding/Two")) == [2.0, 3.0]
    assert cypool.make("Pendulum-v1").num_envs == 1


def test_options_of_the_function_and_of_environments(benchmark):
    env = cypool.make("expanding/Gravities", gravities=(4.0, 2.0), seed=[1, 2], env_options=[{}, {"g": 7.0}])
    assert gravities(env) == [4.0, 7.0] and env.np_random_seed == (1, 2)
    assert cypool.make_spec("expanding/Gravities", gravities=(4.0,)).options["g"] == 4.0
    assert cypool.make_spec("expanding/Gravities").id == "expanding/Gravities"


@pytest.mark.parametrize("env_type", ["gymnasium", "gym"])
def test_pools_are_pickled(benchmark, env_type):
    env = cypool.make("expanding/Gravities", env_type, gravities=(4.0, 2.0), num_envs=4)
    again = pickle.loads(pickle.dumps(env))
    assert gravities(again) == gravities(env) == [4.0, 4.0, 2.0, 2.0]
    actions = np.ones((4, 1), np.float32)
    assert (again.step(actions)[0] == env.step(actions)[0]).all()


def test_gymnasium_does_not_know_them(benchmark):
    assert "cypool/Pendulum-v1" in gymnasium.registry and "expanding/Gravities" not in gymnasium.registry


@pytest.mark.parametrize(("id", "options", "error", "message"), [
    ("Gravities", {"num_envs": 4}, ValueError, "^num_envs: expected a multiple of 3, got 4"),
    ("Gravities", {"num_envs": "3"}, TypeError, "^num_envs: expected"),
    ("Gravities", {"seed": "3"}, TypeError, "^seed: expected"),
    ("Gravities", {"seed": -1}, ValueError, "^seed: expected"),
    ("Gravities", {"seed": []}, ValueError, "^seed: expected one seed for each of 3 envs"),
    ("Gravities", {"seed": [1, 2]}, ValueError, "^seed: expected one seed for each of 3 envs"),
    ("Gravities", {"gravity": 3}, ValueError, "^gravity: not an option of expanding/Gravities"),
    ("Gravities", {"env_options": [{}] * 2}, ValueError, "^env_options: expected a dict for each of 3 envs"),
    ("Wrong", {}, ValueError, "^expanding:one_less: expected options and a seed for each of its envs, got 2 and 1"),
    ("Two", {"num_envs": 0}, ValueError, "^num_envs: expected"),
    ("None", {}, ValueError, "^expanding:none: expected options and a seed for each of its envs, got 0 and 0"),
])
def test_what_is_wrong(benchmark, id, options, error, message):
    with pytest.raises(error, match=message):
        cypool.make(f"expanding/{id}", **options)


def test_each_is_to_be_checked_on_its_own(benchmark):
    with pytest.raises(ValueError, match="^id: expected the id of a single environment, got 'expanding/Two'"):
        check_env("expanding/Two")


def test_names_and_functions(benchmark):
    point = "cypool.envs.classic_control.classic_control:Pendulum"
    with pytest.raises(ValueError, match=r"^id: expected '<name>-v<number>', got 'expanding/Other'"):
        cypool.register("expanding/Other", point)
    with pytest.raises(ValueError, match="^id: expected a name, got 'a b'"):
        cypool.register("a b", point, expand="expanding:expand")
    for wrong in ("expanding", 3, ""):
        with pytest.raises(ValueError, match="^expand: expected 'module:function' or None"):
            cypool.register("expanding/Other", point, expand=wrong)
