"""Meta-World's benchmarks: pools of several tasks, their goals, and how agents are evaluated."""
import json
import pickle
import warnings
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from markers import often_exhaustive, slow
from pool_arguments import MODES

import cypool
from cypool.testing import check_parity
from cypool.tools.cli import main

if find_spec("metaworld") is None:
    pytest.skip("metaworld is not installed", allow_module_level=True)

from cypool.envs.metaworld.benchmarks import TASK_SETS
from cypool.envs.metaworld.evaluation import change, evaluate, evaluate_meta_learning, task_names
from cypool.envs.metaworld.reference import load, make
from cypool.envs.metaworld.tasks import TASKS, draw_goals
from cypool.registration.registry import expand, resolve


def test_task_sets_are_the_package_s():
    load()
    from metaworld import env_dict

    for name, tasks in TASK_SETS.items():
        benchmark, _, split = name.partition("-")
        theirs = getattr(env_dict, f"{benchmark}_V3")
        assert list(tasks) == list(theirs[split] if split else theirs), name


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize(("benchmark", "test_seed"), [("MT50", None), ("ML10", 4), ("ML1", 5), ("ML45", 4)])
def test_goals_are_the_package_s(benchmark, test_seed):
    metaworld = load()
    arguments = ["door-open-v3"] if benchmark == "ML1" else []
    theirs = getattr(metaworld, benchmark)(*arguments, seed=4)
    for classes, tasks, seed in ((theirs.train_classes, theirs.train_tasks, 4),
                                 (theirs.test_classes, theirs.test_tasks, test_seed)):
        if seed is not None:
            goals = draw_goals(list(classes), seed, 50)
            ours = [(name, goal) for name in goals for goal in goals[name]]
            assert ours == [(each.env_name, tuple(pickle.loads(each.data)["rand_vec"])) for each in tasks]


@pytest.mark.parametrize(("id", "num_envs", "options"), [
    ("Meta-World/MT10", 10, {"use_one_hot": True, "terminate_on_success": True}),
    ("Meta-World/MT1", 2, {"env_name": "hammer-v3", "num_goals": 3}),
    ("Meta-World/ML1-train", 5, {"env_name": "push-v3", "recurrent_info_in_obs": True}),
    ("Meta-World/custom-mt-envs", 4, {"envs_list": ["soccer-v3", "reach-v3"], "use_one_hot": True}),
    ("Meta-World/custom-ml-envs", 2, {"train_envs": ["soccer-v3", "door-open-v3"], "test_envs": ["reach-v3"]}),
    *slow(("Meta-World/ML10-test", 10, {}), ("Meta-World/ML1-test", 2, {"total_tasks_per_cls": 4}),
          ("Meta-World/MT25", 25, {}), ("Meta-World/ML10-train", 20, {}), ("Meta-World/ML45-test", 5, {})),
])
def test_parity(id, num_envs, options):
    if version("metaworld") == "3.0.0" and "button-press-topdown-wall-v3" in TASK_SETS.get(id.partition("/")[2], ()):
        pytest.skip("metaworld 3.0.0 has another reward")
    check_parity(id, num_envs=num_envs, num_steps=14, seeds=[3], num_threads=0, max_episode_steps=12,
                 autoreset_mode="SameStep", **options)


@pytest.mark.slow
@pytest.mark.parametrize("mode", often_exhaustive(MODES, 3))
def test_modes(mode):
    parity = check_parity("Meta-World/MT10", num_envs=10, num_steps=300, seeds=[0], autoreset_mode=mode,
                          terminate_on_success=True, max_episode_steps=200, num_threads=3)
    assert parity.num_terminated


@pytest.mark.slow
def test_vectors_are_those_that_gymnasium_makes():
    """The whole of `gymnasium.make_vec`, goals that it draws itself included: seeds are the same for all."""
    metaworld = load()
    metaworld._N_GOALS = 3
    try:
        theirs = gymnasium.make_vec("Meta-World/MT10", vector_strategy="sync", seed=7)
    finally:
        metaworld._N_GOALS = 50
    ours = cypool.make("Meta-World/MT10", seed=7, autoreset_mode="SameStep", num_goals=3)
    assert ours.num_envs == theirs.num_envs == 10
    assert (ours.reset()[0] == theirs.reset(seed=99)[0]).all()
    for actions in np.random.default_rng(0).uniform(-1, 1, (501, 10, 4)).astype(np.float32):
        mine, other = ours.step(actions), theirs.step(actions)
        for a, b in zip(mine[:4], other[:4], strict=True):
            assert a.tobytes() == b.tobytes()
    theirs.close()


def test_how_many_there_are():
    with cypool.make("Meta-World/ML10-test", num_threads=0) as env:
        assert env.num_envs == 5
        env.reset()
        assert task_names(env) == list(TASK_SETS["ML10-test"])
    with cypool.make("Meta-World/ML10-test", num_envs=10, seed=1) as env:
        env.reset()
        assert task_names(env)[:4] == ["drawer-open-v3"] * 2 + ["door-close-v3"] * 2
        assert env.np_random_seed == (1,) * 10
        rows = env.save().rows
        assert not set(rows[0]["options"]["goals"]) & set(rows[1]["options"]["goals"])
    # with several environments for a task, the further ones have other seeds
    assert expand("Meta-World/MT10", 30, 5, {}).seeds[:4] == [5, 6, 7, 5]
    assert {each["task"] for each in expand("Meta-World/MT50", None, 0, {}).options} == set(TASKS)
    assert len(expand("Meta-World/ML45-train", None, 0, {}).options) == 45
    assert cypool.make_spec("Meta-World/MT10", use_one_hot=True).observation.shape == (49,)


def test_splits_have_other_goals():
    """As registered, the package's ML1-train makes the test split."""
    train, test = (expand(f"Meta-World/ML1-{split}", None, 4, {"env_name": "push-v3"}).options[0]
                   for split in ("train", "test"))
    assert train["goals"] == draw_goals(["push-v3"], 4, 50)["push-v3"]
    assert test["goals"] == draw_goals(["push-v3"], 5, 50)["push-v3"]
    assert not train["terminate_on_success"] and test["terminate_on_success"] and train["partially_observable"]


@pytest.mark.parametrize("hidden", [False, True])
def test_one_goal_that_stays(hidden):
    load()
    name = "goal_hidden" if hidden else "goal_observable"
    env = cypool.make(f"Meta-World/{name}", num_envs=2, num_threads=0, seed=4, env_name="drawer-close-v3")
    # Gymnasium's checks do not like that the goal is outside its space
    theirs = [gymnasium.make(f"Meta-World/{name}", env_name="drawer-close-v3", seed=4 + i, disable_env_checker=True)
              for i in range(2)]
    for _ in range(2):
        obs, _ = env.reset()
        assert all((own.reset()[0] == obs[i]).all() for i, own in enumerate(theirs))
        for actions in np.random.default_rng(0).uniform(-1, 1, (5, 2, 4)).astype(np.float32):
            obs, reward, *_ = env.step(actions)
            for i, own in enumerate(theirs):
                their_obs, their_reward, *_ = own.step(actions[i])
                assert (their_obs == obs[i]).all() and their_reward == reward[i]
    assert not obs[:, 36:].any() if hidden else obs[:, 36:].any(axis=1).all()
    for own in theirs:
        own.close()
    spec = cypool.make_spec(f"Meta-World/{name}", env_name=f"reach-v3-{name.replace('_', '-')}")
    assert spec.options["task"] == "reach-v3" and len(spec.options["goals"]) == 1


def test_a_pool_can_be_pickled():
    env = cypool.make("Meta-World/custom-mt-envs", envs_list=["reach-v3", "push-v3"], num_threads=0, num_goals=2,
                      use_one_hot=True)
    again = pickle.loads(pickle.dumps(env))
    assert again.num_envs == 2 and (again.reset()[0] == env.reset()[0]).all()


@pytest.mark.parametrize(("id", "options", "error", "message"), [
    ("MT10", {"num_envs": 12}, ValueError, "^num_envs: expected a multiple of 10, the number of tasks, got 12"),
    ("MT10", {"num_envs": 0}, ValueError, "^num_envs: expected"),
    ("MT10", {"seed": 2**32}, ValueError, "^seed: expected"),
    ("MT10", {"seed": "3"}, TypeError, "^seed: expected"),
    ("MT10", {"seed": [3]}, ValueError, "^seed: expected one seed for each of 10 envs"),
    ("MT10", {"num_goals": 0}, ValueError, "^num_goals: expected"),
    ("MT10", {"num_tasks": 3, "use_one_hot": True}, ValueError, "^task_index: expected"),
    ("MT10", {"task": "reach"}, ValueError, "^task: expected"),
    ("MT10", {"env_name": "reach-v3"}, ValueError, "^env_name: not an option of Meta-World/MT10"),
    ("MT10", {"env_options": [{}]}, ValueError, "^env_options: expected a dict for each of 10 envs"),
    ("MT1", {"env_name": "reach"}, ValueError, "^env_name: expected"),
    ("goal_hidden", {"env_name": "reach"}, ValueError, "^env_name: expected"),
    ("goal_hidden", {"seed": -1}, ValueError, "^seed: expected"),
    ("ML1-train", {"num_envs": 20}, ValueError, "^num_envs: expected .* divide the number of goals, 50, got"),
    ("ML1-train", {"total_tasks_per_cls": 51}, ValueError, "^total_tasks_per_cls: expected"),
    ("custom-mt-envs", {"envs_list": None}, TypeError, "^envs_list: expected a sequence of task names"),
    ("custom-mt-envs", {"envs_list": []}, ValueError, "^envs_list: expected one or more unique tasks"),
    ("custom-mt-envs", {"envs_list": ["reach-v3"] * 2}, ValueError, "^envs_list: expected one or more unique tasks"),
    ("custom-ml-envs", {"train_envs": ["reach-v3"], "test_envs": ["reach-v3"]}, ValueError, "^test_envs: "),
    ("custom-ml-envs", {"train_envs": ["reach-v3"], "test_envs": ["push-v3"], "split": "all"}, ValueError,
     "^split: expected"),
])
def test_wrong_options(id, options, error, message):
    with pytest.raises(error, match=message):
        cypool.make(f"Meta-World/{id}", **options)


@pytest.mark.parametrize("id", ["goal_hidden", "goal_observable", "MT1"])
def test_env_name_that_cannot_be_printed_is_named(id):
    class Unprintable:
        def __repr__(self):
            raise OSError("no")

    with pytest.raises(ValueError, match="^env_name: expected one of .*, got a value of type Unprintable that cannot"):
        cypool.make(f"Meta-World/{id}", env_name=Unprintable())


def test_command_line(capsys):
    assert main(["info", "Meta-World/ML10-test", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["environments"] == list(TASK_SETS["ML10-test"])
    assert main(["info", "Meta-World/MT10"]) == 0
    assert "10 environments, or a multiple of that: reach-v3, push-v3" in " ".join(capsys.readouterr().out.split())
    assert main(["check", "Meta-World/ML1-test", "--num-envs", "2", "--num-steps", "10", "--seeds", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["holds"] and report["parity"]["num_envs"] == 2 and report["contract"] is None


# ---- evaluation


class Scripted:
    """An agent that plays by the package's policies, and adapts to nothing."""

    def __init__(self, tasks):
        load()
        from metaworld.policies import ENV_POLICY_MAP

        self.policies = [ENV_POLICY_MAP[task]() for task in tasks]
        self.told = []

    def eval_action(self, observations):
        # that actions will be clipped
        with warnings.catch_warnings(action="ignore"):
            actions = [policy.get_action(obs[:39]) for policy, obs in zip(self.policies, observations, strict=True)]
        return np.clip(actions, -1, 1).astype(np.float32)

    def reset(self, env_mask):
        self.told.append(env_mask.sum())

    def init(self):
        self.told.append("init")

    def adapt_action(self, observations):
        return self.eval_action(observations), {}

    def step(self, timestep):
        pass

    def adapt(self):
        self.told.append("adapt")


def vector(id, num_envs, seed, options):
    """Returns the package's vector for an id, as its evaluation takes it, with goals that are drawn here."""
    options = dict(options)
    limit = options.pop("max_episode_steps", None)
    expansion = expand(id, num_envs, seed, options)
    specs = [resolve(id, limit, each)[1] for each in expansion.options]

    def one(spec, seed):
        return make(spec, seed).env

    return SyncVectorEnv([partial(one, spec, seed) for spec, seed in zip(specs, expansion.seeds, strict=True)],
                         autoreset_mode=AutoresetMode.SAME_STEP)


def test_evaluation():
    options = {"envs_list": ["reach-v3", "drawer-close-v3"]}
    ours = cypool.make("Meta-World/custom-mt-envs", seed=2, autoreset_mode="SameStep", num_threads=0, **options)
    ours.reset()
    theirs = vector("Meta-World/custom-mt-envs", 2, 2, options)
    theirs.reset()
    from metaworld.evaluation import evaluation

    mine, other = Scripted(task_names(ours)), Scripted(task_names(ours))
    result = evaluate(mine, ours, 3)
    success, mean_return, rates, returns = evaluation(other, theirs, 3)
    assert (result.mean_success_rate, result.success_rate) == (success, rates) and mine.told == other.told
    assert result.mean_return == pytest.approx(mean_return, rel=1e-6)
    assert result.returns == {name: pytest.approx(values, rel=1e-6) for name, values in returns.items()}
    # episodes end as before
    assert not any(row["own"][4][5] for row in ours.save().rows)
    theirs.close()


def test_evaluation_of_meta_learning():
    # policies need the goal
    options = {"env_name": "reach-v3", "partially_observable": False, "max_episode_steps": 60}
    ours = cypool.make("Meta-World/ML1-test", num_envs=2, seed=2, autoreset_mode="SameStep", num_threads=0, **options)
    ours.reset()
    theirs = vector("Meta-World/ML1-test", 2, 2, options)
    from metaworld.evaluation import metalearning_evaluation

    mine, other = Scripted(["reach-v3"] * 2), Scripted(["reach-v3"] * 2)
    result = evaluate_meta_learning(mine, ours, num_evals=3, adaptation_episodes=2, evaluation_episodes=2)
    success, mean_return, rates = metalearning_evaluation(other, theirs, num_evals=3, adaptation_episodes=2,
                                                          evaluation_episodes=2)
    assert (result.mean_success_rate, result.success_rate) == (success, rates) and mine.told == other.told
    assert result.mean_return == pytest.approx(mean_return, rel=1e-6)
    theirs.close()


def test_changes():
    env = cypool.make("Meta-World/ML1-train", num_threads=0, seed=0)
    first, _ = env.reset()
    assert (env.reset()[0] == first).all()
    change(env, sample_tasks=True)
    # a goal that was never played is one that the next reset may have
    assert (env.reset()[0] == first).all()
    env.step(env.action_space.sample())
    change(env, sample_tasks=True)
    assert (env.reset()[0] != first).any()
    change(env, sample_tasks_on_reset=True)
    assert (env.reset()[0] != env.reset()[0]).any()


def test_what_cannot_be_evaluated():
    with pytest.raises(ValueError, match="^env: expected a pool with autoreset_mode='SameStep', got 'NextStep'"):
        evaluate(None, cypool.make("Meta-World/MT1"))
    with pytest.raises(ValueError, match="^env: expected a pool of Meta-World tasks, got 'CartPole-v1'"):
        evaluate(None, cypool.make("CartPole-v1", autoreset_mode="SameStep"))
    env = cypool.make("Meta-World/MT1", autoreset_mode="SameStep")
    with pytest.raises(RuntimeError, match="never reset"):
        evaluate(None, env)
    env.reset()
    with pytest.raises(ValueError, match="^num_episodes: expected"):
        evaluate(None, env, 0)
    with pytest.raises(ValueError, match="^num_evals: expected"):
        evaluate_meta_learning(None, env, 0)
