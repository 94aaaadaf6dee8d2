"""Copies of an environment are made from its recipe; environments of one pool may differ."""
import copy
import os
import pickle

import numpy as np
import pytest

import cypool
import cypool.compat.envpool as envpool

pytestmark = pytest.mark.families("atari")


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("env_type", ["gymnasium", "gym", "dm"])
def test_a_copy_starts_where_the_original_started(duplicate, env_type):
    env = cypool.make("CartPole-v1", env_type, num_envs=5, num_threads=2, max_episode_steps=30)
    first = env.reset()
    for _ in range(3):
        env.step([0] * 5)
    twin = duplicate(env)
    env.close()
    assert type(twin) is type(env) and twin.env_spec.max_episode_steps == 30
    assert str(twin.reset()) == str(first)


def test_the_recipe_has_all_that_was_asked_for():
    env = cypool.make("Breakout-v5", num_envs=4, batch_size=2, autoreset_mode="SameStep", seed=3, stack_num=2)
    twin = pickle.loads(pickle.dumps(env))
    assert twin.batch_size == 2 and twin.is_async and twin.env_spec.options["stack_num"] == 2
    assert twin.metadata == env.metadata and twin.recipe["seed"] == [3, 4, 5, 6]


@pytest.mark.parametrize("num_threads", [0, 1, 2, 7])
def test_several_games_in_one_pool(num_threads):
    games = ["pong", "breakout", "seaquest"]
    env = cypool.make("Pong-v5", num_envs=3, num_threads=num_threads, seed=1, full_action_space=True,
                      env_options=[{"task": game} for game in games])
    alone = [cypool.make("Pong-v5", seed=1 + i, full_action_space=True, task=game) for i, game in enumerate(games)]
    obs, _ = env.reset()
    assert all((obs[i] == one.reset()[0][0]).all() for i, one in enumerate(alone))
    random = np.random.default_rng(0)
    for _ in range(50):
        actions = random.integers(0, 18, 3)
        obs, reward, *_ = env.step(actions)
        for i, one in enumerate(alone):
            want = one.step(actions[i])
            assert (obs[i] == want[0][0]).all() and reward[i] == want[1][0]


def test_options_per_environment_are_checked():
    with pytest.raises(ValueError, match="^env_options: expected the same action .* env 1 has Discrete"):
        cypool.make("Pong-v5", num_envs=2, env_options=[{}, {"task": "seaquest"}])
    with pytest.raises(ValueError, match="^env_options: expected the same observation"):
        cypool.make("Pong-v5", num_envs=2, env_options=[{}, {"img_width": 80}])
    with pytest.raises(ValueError, match="^env_options: expected a dict for each of 2"):
        cypool.make("Pong-v5", num_envs=2, env_options=[{}])
    with pytest.raises(TypeError, match="^env_options: expected a dict for each of 2 envs, got 5"):
        cypool.make("Pong-v5", num_envs=2, env_options=5)
    with pytest.raises(ValueError, match=r"^env_options\[1\]: frame_skp: not an option"):
        cypool.make("Pong-v5", num_envs=2, env_options=[{}, {"frame_skp": 3}])


@pytest.mark.parametrize("make", [cypool.make, envpool.make_gymnasium])
@pytest.mark.parametrize("own", [{}, {"env_options": [{}, {}, {}]}])
def test_a_copy_has_what_chance_chose(make, own):
    # a map, which load asks for
    env = make("FrozenLake-v1", num_envs=3, map_name=None, seed=[7, 5, 6], **own)
    first, _ = env.reset()
    state = env.save()
    twin = pickle.loads(pickle.dumps(env))
    assert (twin.reset()[0] == first).all()
    for a, b in zip(twin.save().rows, state.rows, strict=True):
        assert a["rng"] == b["rng"] and a["options"] == b["options"]
    twin.load(state)
    assert len({row["options"]["desc"] for row in state.rows}) == (3 if own else 1)


@pytest.mark.parametrize("make", [cypool.make, envpool.make_gymnasium])
def test_what_was_passed_may_change_afterwards(make):
    options = [{"g": 1.0}, {"g": 2.0}]
    env = make("Pendulum-v1", num_envs=2, env_options=options)
    options[0]["g"] = 5.0
    env.reset()
    copy.deepcopy(env).load(env.save())
    for given in (iter([{"g": 3.0}, {}]), ({"g": g} for g in (3.0, 10.0))):
        twin = pickle.loads(pickle.dumps(make("Pendulum-v1", num_envs=2, env_options=given)))
        assert [each["g"] for each in twin.recipe["env_options"]] == [3.0, 10.0]


def test_affinity_may_be_given_once():
    cpu = min(os.sched_getaffinity(0))
    env = cypool.make("CartPole-v1", num_envs=2, num_threads=2, thread_affinity=iter([cpu]))
    assert copy.deepcopy(env).recipe["thread_affinity"] == [cpu]


@pytest.mark.families("minigrid")
def test_an_option_called_debug_is_not_taken_for_the_argument():
    env = cypool.make("BabyAI-OpenDoorDebug-v0", num_envs=2, num_threads=0)
    obs, _ = env.reset(seed=4)
    twin = copy.deepcopy(env)
    assert "debug" not in env.recipe and [type(each) for each in twin._pool.environments()] == [
        type(each) for each in env._pool.environments()]
    # it copies environments of the one to those of the other
    result = cypool.TreeSearch(env, simulations=9).run("constant")
    assert (result.visits.sum(axis=1) == 9).all() and twin.env_spec.options["debug"]


@pytest.mark.parametrize("make", [cypool.make, envpool.make_gymnasium])
def test_a_recipe_is_a_copy_that_cannot_be_changed(make):
    env = make("CartPole-v1", num_envs=2, env_options=[{"sutton_barto_reward": True}, {}])
    for change in (lambda recipe: recipe.update(id="Acrobot-v1"), lambda recipe: recipe.pop("env_options"),
                   lambda recipe: recipe.__setitem__("id", "Acrobot-v1")):
        with pytest.raises(TypeError, match="cannot change a dict in a spec or recipe"):
            change(env.recipe)
    with pytest.raises(AttributeError):
        env.recipe = {}
    env.recipe["env_options"][0]["sutton_barto_reward"] = False
    env.recipe["env_options"].clear()
    dict.clear(env.recipe)
    twin = pickle.loads(pickle.dumps(env))
    assert twin.recipe == env.recipe and twin.recipe["env_options"][0]["sutton_barto_reward"]
    assert pickle.loads(pickle.dumps(env.recipe)) == env.recipe == copy.deepcopy(env.recipe)
