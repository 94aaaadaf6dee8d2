"""Meta-World: its bits, its options, goals, states, errors, the package."""
import pickle
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import pytest
from family_tests import change_file, continues, equals, frees_models, imports_nothing, needs, refuses
from markers import exhaustive, slow
from receiving import started
from state_edits import with_numbers

import cypool
from cypool.registration.registry import known_entries
from cypool.testing import check_env, check_parity

if find_spec("metaworld") is None:
    pytest.skip("metaworld is not installed", allow_module_level=True)

from cypool.envs.metaworld.models import model_path
from cypool.envs.metaworld.reference import load, make
from cypool.envs.metaworld.tasks import TASKS, draw_goals

OWN = [entry for entry in known_entries() if entry.entry_point.startswith("cypool.envs.metaworld.")]
# this release has another reward of the task, and no camera "corner4"
IS_3_0 = version("metaworld") == "3.0.0"
CHANGED = "button-press-topdown-wall-v3"


def tasks(*names):
    """Returns parameters for tasks, without one that the installed package has otherwise."""
    return [pytest.param(name, marks=[pytest.mark.skip(reason="metaworld 3.0.0 has another reward")]
                         if IS_3_0 and name == CHANGED else []) for name in names]


def test_tasks_are_those_of_the_package():
    load()
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS

    assert list(TASKS) == list(ALL_V3_ENVIRONMENTS)
    assert {entry.id for entry in OWN if entry.id.endswith("-v3")} >= {f"Meta-World/{task}" for task in TASKS}
    for name in list(TASKS)[::7]:
        theirs, task = ALL_V3_ENVIRONMENTS[name](), TASKS[name]
        for ours, space in ((task.draws, theirs._random_reset_space), (task.goals, theirs.goal_space)):
            assert ours == (tuple(space.low), tuple(space.high))
        assert task.hand == tuple(map(float, theirs.hand_init_pos))
        assert task.mocap == (tuple(theirs.mocap_low), tuple(theirs.mocap_high))
        assert theirs.model_name == model_path(task.file)
        theirs.close()


def test_model_of_the_package_that_is_not_as_known_is_refused(monkeypatch, tmp_path):
    change_file(monkeypatch, tmp_path, "metaworld", "assets/sawyer_xyz/sawyer_drawer.xml", lambda text: "\n".join(
        line for line in text.splitlines() if 'joint="l_close"' not in line))
    with pytest.raises(ValueError, match="sawyer_drawer.xml: expected the package's model, with nu 2, got one "
                                         "with nu 1: reinstall"):
        cypool.make("Meta-World/drawer-open-v3")


@pytest.mark.parametrize("task", [
    each if k % 5 == 0 else pytest.param(*each.values, marks=[*each.marks, pytest.mark.slow])
    for k, each in enumerate(tasks(*TASKS))])
def test_parity(task):
    """Played by a policy, and by one with noise."""
    check_parity(f"Meta-World/{task}", num_envs=2, num_steps=24, seeds=[2], num_threads=0, max_episode_steps=21)


@pytest.mark.slow
@pytest.mark.parametrize("task", [
    *tasks("pick-place-v3"),
    *exhaustive("box-close-v3", "soccer-v3", "peg-insert-side-v3", "stick-pull-v3", "shelf-place-v3",
                "coffee-pull-v3", "bin-picking-v3")])
def test_whole_episodes(task):
    parity = check_parity(f"Meta-World/{task}", num_envs=3, num_steps=520, seeds=[1], num_threads=0, num_goals=1,
                          action_dtype="float64", terminate_on_success=True)
    assert parity.num_terminated


# of each kind one, and those that are like no other
FIRST = ["assembly-v3", "bin-picking-v3", "hammer-v3", "stick-pull-v3"]


@pytest.mark.parametrize("task", [*FIRST, *exhaustive(*(task for task in TASKS if task not in FIRST))])
def test_first_rewards(task):
    check_parity(f"Meta-World/{task}", num_envs=2, num_steps=24, seeds=[2], num_threads=0, max_episode_steps=21,
                 reward_function_version="v1")


@pytest.mark.slow
@pytest.mark.parametrize("task", exhaustive("pick-place-v3", "box-close-v3", "stick-push-v3", "disassemble-v3"))
def test_whole_episodes_with_first_rewards(task):
    check_parity(f"Meta-World/{task}", num_envs=3, num_steps=510, seeds=[1], num_threads=0, num_goals=1,
                 action_dtype="float64", reward_function_version="v1")


@pytest.mark.parametrize("mode", ["SameStep", *slow("NextStep", "Disabled")])
def test_modes_and_threads(mode):
    parity = check_parity("Meta-World/reach-v3", num_envs=4, num_steps=90, seeds=[4], autoreset_mode=mode,
                          num_threads=3, max_episode_steps=60, terminate_on_success=True, num_goals=2)
    assert 0 < parity.num_terminated < parity.num_episodes


test_options = equals([
    ("Meta-World/push-v3", {"partially_observable": True, "action_dtype": "float64"}),
    ("Meta-World/hammer-v3", {"use_one_hot": True, "task_index": 3, "num_tasks": 5}),
    ("Meta-World/door-open-v3", {"recurrent_info_in_obs": True}),
    ("Meta-World/reach-v3", {"recurrent_info_in_obs": True, "use_one_hot": True, "num_tasks": 2,
                             "terminate_on_success": True, "normalize_reward_in_recurrent_info": False}),
    ("Meta-World/soccer-v3", {"task_select": "fresh"}),
    ("Meta-World/window-close-v3", {"task_select": "pseudorandom", "sample_tasks_on_reset": True, "num_goals": 3}),
    ("Meta-World/lever-pull-v3", {"sample_tasks_on_reset": False}),
    # its first rewards are float32
    ("Meta-World/dial-turn-v3", {"reward_normalization_method": "exponential", "reward_alpha": 0.01}),
    ("Meta-World/peg-insert-side-v3", {"reward_normalization_method": "exponential", "normalize_observations": True,
                                       "action_dtype": "float64"}),
    *slow(
        ("Meta-World/plate-slide-v3", {"use_one_hot": True, "obs_dtype": "float64"}),
        ("Meta-World/sweep-into-v3", {"task_select": "fresh", "action_dtype": "float64"}),
        ("Meta-World/assembly-v3", {"task_select": "pseudorandom", "num_goals": 3}),
        ("Meta-World/push-v3", {"reward_normalization_method": "gymnasium", "terminate_on_success": True}),
        ("Meta-World/reach-v3", {"normalize_observations": True, "use_one_hot": True, "num_tasks": 2,
                                 "recurrent_info_in_obs": True})),
    # beyond the bounds to which an observed goal is clipped
    ("Meta-World/reach-v3", {"goals": [[0.05, 0.62, 0.02, 0.2, 0.9, 0.4], [0, 0.65, 0.02, 0, 0.85, 0.1]]}),
], num_envs=2, num_steps=30, seeds=[1], num_threads=0, max_episode_steps=11)


def test_frames_pictures_and_dtypes_of_observations():
    obs, _ = cypool.make("Meta-World/push-v3", seed=1).reset()
    stacked, _ = cypool.make("Meta-World/push-v3", seed=1, frame_stack=3, obs_dtype="float32").reset()
    assert obs.dtype == np.float64 and stacked.tobytes() == np.repeat(obs.astype(np.float32), 3, 0).tobytes()
    assert cypool.make_spec("Meta-World/push-v3", recurrent_info_in_obs=True).observation.dtype == np.float32


def test_space_is_that_of_the_package_but_for_the_goal():
    for hidden in (False, True):
        env = cypool.make("Meta-World/reach-v3", partially_observable=hidden)
        theirs = make(env.env_spec, 0).env.observation_space
        assert (env.single_observation_space.low[:36] == theirs.low[:36]).all()
        assert (env.single_observation_space.high[:36] == theirs.high[:36]).all()
        # which they have at zero, also where it is not
        assert (np.abs(env.single_observation_space.high[36:]) == (0 if hidden else np.inf)).all()
        obs, _ = env.reset(seed=3)
        assert env.observation_space.contains(obs)


@pytest.mark.parametrize(("task", "options"), slow(
    ("drawer-open-v3", {}),
    ("sweep-v3", {"task_select": "pseudorandom", "num_goals": 2, "recurrent_info_in_obs": True}),
    ("hammer-v3", {"task_select": "fresh", "terminate_on_success": True})))
def test_contract(task, options):
    check_env(f"Meta-World/{task}", max_episode_steps=9, **options)


def test_names_of_envpool():
    ids = [entry.id for entry in OWN if entry.id.startswith("MetaWorld/")]
    assert len(ids) == 50 and "MetaWorld/ButtonPressTopdownWall-v3" in ids
    check_parity("MetaWorld/PickOutOfHole-v3", num_envs=2, num_steps=20, seeds=[1], num_threads=0, max_episode_steps=9)


def test_goals_of_a_task_are_the_package_s():
    metaworld = load()
    for task, seed in (("door-open-v3", 4), ("box-close-v3", 0)):
        theirs = [tuple(pickle.loads(each.data)["rand_vec"]) for each in metaworld.MT1(task, seed=seed).train_tasks]
        assert list(draw_goals([task], seed, 50)[task]) == theirs


def test_a_seed_gives_the_goals_of_an_environment():
    env = cypool.make("Meta-World/reach-v3", num_envs=2, num_threads=0, seed=[5, 6])
    first, _ = env.reset()
    goals = draw_goals(["reach-v3"], 6, 50)["reach-v3"]
    assert tuple(first[1, 36:]) in {goal[3:] for goal in goals}
    again, _ = env.reset(seed=[6, 5])
    assert (again[0] == first[1]).all() and (again[1] == first[0]).all()


def test_a_goal_stays_without_sampling():
    env = cypool.make("Meta-World/reach-v3", num_threads=0, seed=5, sample_tasks_on_reset=False)
    first, _ = env.reset()
    assert all((env.reset()[0] == first).all() for _ in range(3))


test_states_and_copies = continues([
    ("Meta-World/pick-place-v3", "NextStep", {"task_select": "pseudorandom", "sample_tasks_on_reset": True,
                                              "num_goals": 3}),
    *slow(("Meta-World/basketball-v3", "SameStep", {"task_select": "fresh"}),
          ("Meta-World/push-v3", "NextStep", {"normalize_observations": True,
                                              "reward_normalization_method": "exponential"}),
          ("Meta-World/hammer-v3", "NextStep", {"reward_function_version": "v1",
                                                "reward_normalization_method": "gymnasium"}),
          ("Meta-World/bin-picking-v3", "Disabled", {"frame_stack": 2}),
          ("Meta-World/door-lock-v3", "SameStep", {"randomize": {"body_mass": (0.8, 1.2)}}))],
    before=7, after=9, num_threads=0, max_episode_steps=6)


@pytest.mark.parametrize("task", ["pick-place-v3", *slow("stick-push-v3", "push-back-v3")])
@pytest.mark.filterwarnings("ignore:Constant")
def test_what_a_step_computed_for_the_next_one_is_in_no_state(task):
    """While a thing is grasped, a step keeps a result for the next one; after a load it is computed again."""
    load()
    from metaworld.policies import ENV_POLICY_MAP

    policy = ENV_POLICY_MAP[task]()
    played, loaded = (cypool.make(f"Meta-World/{task}", num_envs=2, num_threads=0, seed=3) for _ in range(2))
    (obs, _), grasps = played.reset(), 0
    loaded.reset()
    for _ in range(90):
        action = np.clip([policy.get_action(each) for each in obs], -1, 1).astype(np.float32)
        loaded.load(played.save())
        obs, reward, _, _, info = played.step(action)
        theirs, their_reward, _, _, their_info = loaded.step(action)
        assert obs.tobytes() == theirs.tobytes() and reward.tobytes() == their_reward.tobytes()
        assert all(info[name].tobytes() == their_info[name].tobytes() for name in ("grasp_success", "unscaled_reward"))
        grasps += info["grasp_success"].sum()
    assert grasps >= 5


def test_states_are_checked():
    env = started(cypool.make("Meta-World/reach-v3", num_envs=1, num_threads=0, seed=0, task_select="pseudorandom",
                              num_goals=3))
    state = env.save()
    info, episode, goals, order, place, *flags, statistics, written = own = state.rows[0]["own"][4]
    bad = [None, own[:-1], (info[:-1], *own[1:]), (info, episode[1:], *own[2:]), (info, (1, *episode[1:]), *own[2:])]
    bad += [(info, episode, values, *own[3:]) for values in (goals[1:], (np.nan, *goals[1:]), None)]
    bad += [(*own[:3], values, *own[4:]) for values in ((0, 1), (0, 0, 1), (0, 1, 3), (0, 1, 2.0), None)]
    bad += [(*own[:4], value, *own[5:]) for value in (3, -2, -1, 0.0, "0")]
    bad += [(*own[:5], *flags[:-1], 1, statistics, written), (*own[:-1], None), (*own[:-1], written[1:])]
    bad += [(*own[:-2], values, written) for values in (None, statistics[1:], (np.nan, *statistics[1:]))]
    # mean, variance, count, sum, two types, count of observations
    bad += [(*own[:-2], (*statistics[:k], value, *statistics[k + 1:]), written)
            for k, value in ((1, -1.0), (2, 0.0), (4, 3.0), (5, 0.5), (6, -1.0))]
    bad += [(*own[:-1], np.full(len(written) // 8, np.nan).tobytes())]
    for values in bad:
        with pytest.raises((ValueError, TypeError), match="^state: "):
            env.load(with_numbers(state, values))
    env.load(state)


test_wrong_options = refuses([
    ({"task": "reach"}, ValueError, "task: expected"),
    ({"task": ["reach-v3"]}, (TypeError, ValueError), "task: expected"),
    ({"goals": []}, ValueError, "goals: expected 1 to 100000 goals of 6 finite numbers for reach-v3"),
    ({"goals": [[1, 2, 3]]}, ValueError, "goals: expected"),
    ({"goals": [[0, 0.6, 0, 0, 0.8, np.nan]]}, ValueError, "goals: expected .* got non-finite"),
    ({"goals": [[0] * 6, [0] * 5]}, (TypeError, ValueError), "goals: expected"),
    ({"goals": "all"}, TypeError, "goals: expected"),
    ({"goals": [["a"] * 6]}, TypeError, "goals: expected"),
    ({"num_goals": 0}, ValueError, "num_goals: expected"),
    ({"task_select": "fixed"}, ValueError, "task_select: expected"),
    ({"sample_tasks_on_reset": 1}, TypeError, "sample_tasks_on_reset: expected"),
    ({"partially_observable": "no"}, TypeError, "partially_observable: expected"),
    ({"use_one_hot": True, "task_index": 1}, ValueError, "task_index: expected"),
    ({"num_tasks": 0}, ValueError, "num_tasks: expected"),
    ({"obs_dtype": "float16"}, ValueError, "obs_dtype: expected"),
    ({"camera_name": "behind"}, ValueError, "camera_name: expected a camera in .* 'gripperPOV'"),
    ({"camera_id": 99}, ValueError, "camera_id: expected"),
    ({"default_camera_config": {"lookat": 1}}, TypeError, "default_camera_config"),
    ({"randomize": {"mass": (0, 1)}}, ValueError, "randomize: expected"),
    ({"reward_function_version": "v3"}, ValueError, "reward_function_version: expected"),
    ({"reward_normalization_method": "mean"}, ValueError, "reward_normalization_method: expected"),
    ({"reward_normalization_method": ["gymnasium"]}, (TypeError, ValueError), "reward_normalization_method: expected"),
    ({"reward_alpha": 1.5}, ValueError, "reward_alpha: expected"),
    ({"reward_alpha": float("nan")}, ValueError, "reward_alpha: expected"),
    ({"normalize_observations": 1}, TypeError, "normalize_observations: expected"),
    ({"normalize_observations": True, "from_pixels": True}, ValueError, "normalize_observations: expected False"),
], "Meta-World/reach-v3")


def test_wrong_seeds():
    with pytest.raises(ValueError, match="^seed: expected at least 0 and at most 4294967295"):
        cypool.make("Meta-World/reach-v3", seed=2**32)


def test_goals_that_are_nowhere_harm_nobody():
    # far away, so that nothing is where the task has it
    env = cypool.make("Meta-World/pick-place-v3", num_envs=2, num_threads=0, seed=0,
                      goals=[[1e200, 0, 0, 0, -1e300, 0], [1e9, 0.6, 0.02, 0.1, 0.8, 0.2]])
    try:
        env.reset()
        for _ in range(3):
            env.step(env.action_space.sample())
    except cypool.EnvError as error:
        assert "pick" not in str(error)


def test_a_state_without_a_reward_is_an_error():
    # the plate lies at the goal: with a margin below 0 the package raises an error, too
    goal = [[0.0, 0.6, 0.0, 0.0, 0.6, 0.0]]
    env = started(cypool.make("Meta-World/plate-slide-side-v3", num_threads=0, seed=0, goals=goal))
    with pytest.raises(cypool.EnvError, match="no reward for this state: a margin below 0"):
        env.step(np.zeros((1, 4), np.float32))
    theirs = make(env.env_spec, 0)
    theirs.reset()
    with pytest.raises(ValueError, match="margin"):
        theirs.step(np.zeros(4, np.float32))


test_other_releases_are_refused = needs(
    "metaworld", "Meta-World's tasks need metaworld 3.0.0 or 3.1.1, found {found}: pip install "
    '"cypool[metaworld]"', ["3.2.0"], "Meta-World/reach-v3")
test_the_package_is_not_imported = imports_nothing([("Meta-World/MT10", {}, False)], ["metaworld"])


test_models_are_shared_and_freed = frees_models([("Meta-World/coffee-pull-v3", 3), ("Meta-World/coffee-push-v3", 2)])


def test_specs_can_be_pickled():
    spec = cypool.make_spec("Meta-World/reach-v3", goals=np.ones((2, 6)))
    assert pickle.loads(pickle.dumps(spec)) == spec and spec.options["goals"] == ((1.0,) * 6,) * 2
