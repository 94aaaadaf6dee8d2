"""Gymnasium-Robotics: its bits, its options, goal rewards, states, the package."""
import pickle
import zlib
from importlib.util import find_spec

import gymnasium
import numpy as np
import pytest
from family_tests import change_file, continues, frees_models, imports_nothing, needs, refuses
from markers import often_exhaustive, slow
from receiving import started
from state_edits import with_numbers

import cypool
from cypool.adapters.single import SingleEnv
from cypool.envs.shared.mujoco.assets import asset_path as gymnasium_path
from cypool.registration.registry import known_entries, resolve
from cypool.state import State
from cypool.testing import check_parity

if find_spec("gymnasium_robotics") is None or find_spec("pettingzoo") is None:
    pytest.skip("gymnasium-robotics is not installed", allow_module_level=True)

import mujoco

from cypool.envs.robotics import mazes
from cypool.envs.robotics.models import asset_path
from cypool.envs.robotics.reference import load, make
from cypool.envs.robotics.tables import HAND_QPOS, KITCHEN_TASKS

# of each class one, with either reward
IDS = ["FetchReachDense-v4", "FetchPush-v4", "FetchSlideDense-v4", "FetchPickAndPlace-v4", "HandReach-v3",
       "HandManipulateBlockRotateParallelDense-v1", "HandManipulateEgg_BooleanTouchSensors-v1",
       "HandManipulatePenRotate_ContinuousTouchSensorsDense-v1", "PointMaze_Open_Diverse_GRDense-v3",
       "AntMaze_UMaze-v3", "AntMaze_Medium_Diverse_G-v4", "AntMaze_LargeDense-v5", "AdroitHandDoor-v1",
       "AdroitHandHammer-v1", "AdroitHandPenSparse-v1", "AdroitHandRelocate-v1", "FrankaKitchen-v1"]
GOALS = ["FetchPush-v4", "FetchPushDense-v4", "HandReach-v3", "HandReachDense-v3", "HandManipulateBlock-v1",
         "HandManipulateBlockDense-v1", "HandManipulateBlockRotateZDense-v1", "HandManipulatePenDense-v1",
         "PointMaze_UMaze-v3", "PointMaze_UMazeDense-v3", "AntMaze_UMaze-v5"]
OWN = [entry for entry in known_entries() if entry.entry_point.startswith("cypool.envs.robotics.")]


def test_ids_are_those_of_the_package():
    load()
    theirs = {id: spec for id, spec in gymnasium.registry.items() for entry_point in [str(spec.entry_point)]
              if entry_point.startswith("gymnasium_robotics.envs.") and ":MujocoPy" not in entry_point
              and ".envs.mujoco." not in entry_point}
    assert len(OWN) == 153 and {entry.id for entry in OWN} == set(theirs)
    for entry in OWN:
        options = dict(theirs[entry.id].kwargs)
        if "maze_map" in options:
            options["maze_map"] = tuple(map(tuple, options["maze_map"]))
        assert entry.max_episode_steps == theirs[entry.id].max_episode_steps
        assert options.items() <= entry.options.items(), entry.id
    with pytest.raises(ValueError, match="no environment 'FetchReach-v1': gymnasium-robotics implements it with"):
        cypool.make_spec("FetchReach-v1")


@pytest.mark.parametrize("id, dtype", [
    *((id, "float32") for id in IDS), *often_exhaustive([(id, "float64") for id in IDS], 4)])
def test_parity(id, dtype):
    check_parity(id, num_envs=1, num_steps=25, seeds=[2], num_threads=0, max_episode_steps=20, action_dtype=dtype)


@pytest.mark.parametrize("mode", ["SameStep", *slow("NextStep", "Disabled")])
def test_modes_and_threads(mode):
    parity = check_parity("PointMaze_Open-v3", num_envs=3, num_steps=60, seeds=[4], autoreset_mode=mode, num_threads=2,
                          max_episode_steps=15)
    assert parity.num_episodes == 12 if mode == "SameStep" else parity.num_episodes > 8
    check_parity("FetchReach-v4", num_envs=6, num_steps=12, seeds=[4], autoreset_mode=mode, num_threads=5,
                 max_episode_steps=5)


@pytest.mark.parametrize(("id", "options"), [
    ("PointMaze_UMaze-v3", {"reset_target": True}),
    ("PointMaze_UMaze-v3", {"continuing_task": False, "reward_type": "dense"}),
    ("PointMaze_UMaze-v3", {"maze_map": [[1, 1, 1, 1], [1, "r", "g", 1], [1, 1, 1, 1]]}),
    ("PointMaze_UMaze-v3", {"maze_map": [[1, 1, 1, 1], [1, "r", 0, 1], [1, 1, 1, 1]], "reset_target": True}),
    ("AntMaze_UMaze-v4", {"use_contact_forces": True, "healthy_z_range": (0.3, 0.6)}),
    ("AntMaze_UMaze-v5", {"frame_skip": 3, "ctrl_cost_weight": 0.1, "include_cfrc_ext_in_observation": False}),
    ("AntMaze_UMaze-v3", {"continuing_task": False}),
    ("HandReach-v3", {"distance_threshold": 0.05}),
    ("HandManipulateBlock-v1", {"target_position": "fixed", "distance_threshold": 0.3, "rotation_threshold": 3.0}),
    ("HandManipulateEgg-v1", {"ignore_z_target_rotation": True, "randomize_initial_position": False}),
    ("HandManipulateBlock-v1", {"randomize_initial_rotation": False, "reward_type": "dense"}),
    ("HandManipulatePen-v1", {"rotation_threshold": 3.0, "randomize_initial_position": False}),
    ("HandManipulatePenRotateDense-v1", {"randomize_initial_position": False}),
    ("HandManipulatePen_ContinuousTouchSensors-v1", {"rotation_threshold": 3.0}),
    ("HandManipulateBlock_BooleanTouchSensors-v1", {"touch_get_obs": "log"}),
    ("HandReach-v3", {"initial_qpos": {"robot0:FFJ3": 0.2, "robot0:THJ0": -1}}),
    ("HandReach-v3", {"initial_qpos": {}}),
    ("FrankaKitchen-v1", {"tasks_to_complete": ["kettle", "microwave"], "robot_noise_ratio": 0.0}),
    ("FrankaKitchen-v1", {"remove_task_when_completed": False, "terminate_on_tasks_completed": False,
                          "object_noise_ratio": 0.1}),
])
def test_options(id, options):
    given = {name: value for name, value in options.items() if name != "touch_get_obs"}
    if given != options:
        # an id with touch sensors, whose option the reference has
        reference, env = make(id, **options), cypool.make(id, num_envs=1, num_threads=0, seed=3, **options)
        obs, _ = reference.reset(seed=3)
        assert obs["observation"].tobytes() == env.reset()[0]["observation"].tobytes()
        for action in np.random.default_rng(0).uniform(-1, 1, (20, 20)).astype(np.float32):
            assert reference.step(action)[0]["observation"].tobytes() == env.step([action])[0]["observation"].tobytes()
        return
    check_parity(id, num_envs=1, num_steps=30, seeds=[1], num_threads=0, max_episode_steps=20, **options)


def test_an_ant_of_the_user(tmp_path):
    with open(gymnasium_path("ant.xml")) as file:
        text = file.read()
    path = tmp_path / "ant.xml"
    # other motors, and a control with another range
    own = text.replace('gear="150"', 'gear="90"').replace('size="0.25"', 'size="0.3"')
    own = own.replace('ctrlrange="-1.0 1.0" joint="ankle_4"', 'ctrlrange="-0.5 0.7" joint="ankle_4"')
    path.write_text(own)
    check_parity("AntMaze_UMaze-v5", num_envs=1, num_steps=25, seeds=[2], num_threads=0, max_episode_steps=20,
                 xml_file=str(path), main_body="front_left_leg")
    assert cypool.make_spec("AntMaze_UMaze-v5", xml_file=str(path)).action.high.min() == np.float32(0.7)
    cls, spec = resolve("AntMaze_UMaze-v5", None, {"xml_file": str(path)})
    path.write_text(own.replace('ctrlrange="-0.5', 'ctrlrange="-0.4'))
    with pytest.raises(ValueError, match="xml_file: .*ant.xml has changed since its spec was made"):
        cls(spec, 0)
    for content, message in (
            ("<mujoco><worldbody>", "xml_file: MuJoCo cannot read .*ant.xml: XML parse error"),
            ("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>", "xml_file: expected a robot with joints"),
            (text.replace('name="floor"', 'name="block_0_0"'), "xml_file: with walls added, .*block_0_0")):
        path.write_text(content)
        with pytest.raises(ValueError, match=message):
            cypool.make_spec("AntMaze_UMaze-v5", xml_file=str(path))
    for given, error, message in (
            ({"xml_file": "pendulum"}, ValueError, "xml_file: expected a path"),
            ({"xml_file": 3}, TypeError, "xml_file: expected a str"),
            ({"xml_file": "inverted_pendulum.xml"}, ValueError, "xml_file: expected a robot that"),
            ({"main_body": "tail"}, ValueError, "main_body: "), ({"main_body": 99}, ValueError, "main_body: ")):
        with pytest.raises(error, match=message):
            cypool.make_spec("AntMaze_UMaze-v5", **given)


def test_success_and_what_follows():
    # the reference is brought to a goal, and so is a state
    id = "PointMaze_UMaze-v3"
    for options in ({}, {"reset_target": True}, {"continuing_task": False}):
        reference = make(id, **options)
        env = cypool.make(id, num_envs=1, num_threads=0, seed=5, **options)
        reference.reset(seed=5), env.reset()
        state = env.save()
        info, goal, achieved, desired, episode, written = state.rows[0]["own"][4]
        goal = reference.unwrapped.goal = reference.unwrapped.data.qpos[:2] + [0.1, -0.2]
        edited = with_numbers(state, (info, tuple(goal.tolist()), achieved, desired, episode, written))
        env.load(edited)
        for action in np.random.default_rng(1).uniform(-1, 1, (20, 2)).astype(np.float32):
            obs, reward, terminated, truncated, info = reference.step(action)
            ours = env.step([action])
            for name in obs:
                assert obs[name].tobytes() == ours[0][name].tobytes()
            assert (reward, terminated) == (ours[1][0], ours[2][0]) and info["success"] == ours[4]["success"][0]
            if terminated:
                break
        assert terminated != options.get("continuing_task", True)


@pytest.mark.parametrize("id", ["PointMaze_Large-v3", "AntMaze_UMaze-v3", "AntMaze_Medium_Diverse_G-v4",
                                "AntMaze_UMaze-v5"])
def test_cells_of_resets(id):
    reference, env = make(id), cypool.make(id, num_envs=1, num_threads=0, seed=3)
    rows = cypool.make_spec(id).options["maze_map"]
    cells = [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell != 1]
    reference.reset(seed=3), env.reset()
    random = np.random.default_rng(0)
    for names in (("goal_cell",), ("reset_cell",), ("goal_cell", "reset_cell"), (), ("reset_cell", "goal_cell")):
        options = {name: np.array(cells[random.integers(len(cells))]) for name in names}
        theirs, ours = reference.reset(options=options or None)[0], env.reset(options=options or None)[0]
        for action in random.uniform(-1, 1, (4, *reference.action_space.shape)).astype(np.float32):
            for name in theirs:
                assert theirs[name].tobytes() == ours[name].tobytes(), (names, name)
            theirs, ours = reference.step(action)[0], env.step([action])[0]


@pytest.mark.parametrize(("id", "names"), [
    ("AdroitHandDoor-v1", ()), ("AdroitHandHammer-v1", ("qpos", "qvel", "board_pos")), ("AdroitHandPen-v1", ()),
    ("AdroitHandRelocate-v1", ("qpos", "qvel", "obj_pos", "target_pos"))])
def test_initial_state_of_resets(id, names):
    reference, env = make(id), cypool.make(id, num_envs=2, num_threads=0, seed=3)
    reference.reset(seed=11)
    for action in np.random.default_rng(2).uniform(-1, 1, (5, *reference.action_space.shape)):
        reference.step(action.astype(np.float32))
    state = reference.unwrapped.get_env_state()
    # some references refuse parts of the state that they return
    state = {name: state[name] for name in names or state}
    reference.reset(seed=3), env.reset()
    for options in ({"initial_state_dict": state}, None):
        theirs, ours = reference.reset(options=options)[0], env.reset(options=options)[0]
        for action in np.random.default_rng(3).uniform(-1, 1, (5, *reference.action_space.shape)).astype(np.float32):
            assert theirs.tobytes() == ours[0].tobytes()
            theirs, reward, *_ = reference.step(action)
            ours, rewards, *_ = env.step([action] * 2)
            assert reward == rewards[0]
    for changed, error, message in (
            ({"qpos": state["qpos"][1:]}, TypeError, "initial_state_dict: expected qpos to contain"),
            ({"qvel": state["qvel"] * np.nan}, ValueError, "initial_state_dict: expected finite numbers in qvel"),
            ({"more": state["qvel"]}, ValueError, "initial_state_dict: expected a dict with qpos, qvel")):
        with pytest.raises(error, match=message):
            env.reset(options={"initial_state_dict": {**state, **changed}})
    with pytest.raises(ValueError, match="options: expected initial_state_dict or reset_mask, got"):
        env.reset(options={"goal_cell": (1, 1)})
    # a state that MuJoCo cannot simulate is an EnvError, or has some result
    hostile = {name: np.full_like(part, 1e200) for name, part in state.items()}
    try:
        env.reset(options={"initial_state_dict": hostile})
        env.step(env.action_space.sample())
    except cypool.EnvError:
        pass
    env.reset(), env.step(env.action_space.sample())


def test_wrong_cells():
    env = started(cypool.make("PointMaze_UMaze-v3", num_envs=2, num_threads=0, seed=3))
    for cell, error, message in (
            ((0, 0), ValueError, "goal_cell: expected a cell that is not a wall"),
            ((-1, 1), ValueError, "goal_cell: expected 0 to 4, got -1"),
            ((1, 5), ValueError, "goal_cell: expected 0 to 4, got 5"),
            ((1.0, 1), TypeError, "goal_cell: expected an int"),
            ((1, float("nan")), TypeError, "goal_cell: expected an int"), (3, TypeError, "goal_cell: expected a row"),
            ([[1, 1], [1, 2]], TypeError, "goal_cell: expected a row and a column"), ("11", TypeError, "goal_cell: ")):
        with pytest.raises(error, match=message):
            env.reset(options={"goal_cell": cell})
    # the only start is where the goal is: the reference looks for another one for ever
    env = cypool.make("PointMaze_Open_Diverse_G-v3", num_envs=1, num_threads=0, seed=3)
    with pytest.raises(cypool.EnvError, match="expected a start far from the goal"):
        env.reset(options={"goal_cell": (1, 1)})
    env.reset()


def test_options_of_a_reset_are_taken_back_if_another_maze_refuses():
    maps = [[[1, 1, 1, 1], [1, first, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]] for first in (0, 1)]
    env, other = (started(cypool.make("PointMaze_UMaze-v3", num_envs=2, num_threads=0, seed=3, env_options=[
        {"maze_map": maze_map} for maze_map in maps])) for _ in range(2))
    with pytest.raises(ValueError, match="goal_cell: expected a cell that is not a wall"):
        env.reset(options={"goal_cell": (1, 1)})
    assert env.reset()[0]["desired_goal"].tobytes() == other.reset()[0]["desired_goal"].tobytes()


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_each_environment_has_options_of_its_own(num_threads):
    given = [{"goal_cell": (1, 1)}, None, {"reset_cell": np.array([3, 1])}, {"goal_cell": (1, 3), "reset_cell": (3, 3)}]
    env = cypool.make("PointMaze_UMaze-v3", num_envs=4, num_threads=num_threads, seed=3)
    alone = [cypool.make("PointMaze_UMaze-v3", num_envs=1, num_threads=0, seed=3 + i) for i in range(4)]
    for options in ([None] * 4, given, tuple(given[::-1])):
        obs, _ = env.reset(options=options)
        for i, single in enumerate(alone):
            own, _ = single.reset(options=options[i])
            assert all(obs[name][i].tobytes() == own[name][0].tobytes() for name in obs), (options, i)
    # those that are named, in their order; the options of one are wrong, and nothing was reset
    with pytest.raises(ValueError, match="goal_cell: expected a cell that is not a wall"):
        env.reset(env_id=[2, 0], options=[{"goal_cell": (1, 1)}, {"goal_cell": (0, 0)}])
    obs, _ = env.reset(env_id=[2, 0], options=[{"goal_cell": (1, 1)}, None])
    for row, i, options in ((0, 2, {"goal_cell": (1, 1)}), (1, 0, None)):
        own, _ = alone[i].reset(options=options)
        assert all(obs[name][row].tobytes() == own[name][0].tobytes() for name in obs)


def test_states_of_adroit_that_differ():
    env = started(cypool.make("AdroitHandPen-v1", num_envs=3, num_threads=0, seed=3))
    reference = make("AdroitHandPen-v1")
    states = []
    for seed in (5, 6):
        reference.reset(seed=seed)
        states.append({"initial_state_dict": reference.unwrapped.get_env_state()})
    obs, _ = env.reset(options=[states[0], None, states[1]])
    for i, options in ((0, states[0]), (2, states[1])):
        reference.reset(seed=3 + i)
        assert reference.reset(options=options)[0].tobytes() == obs[i].tobytes()


@pytest.mark.parametrize("id", GOALS)
def test_rewards_of_goals(id):
    reference = make(id).unwrapped
    env = cypool.make(id, num_envs=2, num_threads=0)
    size = env.single_observation_space["desired_goal"].shape[0]
    random = np.random.default_rng(7)
    desired = random.standard_normal((64, size))
    # some of them near
    achieved = desired + random.standard_normal((64, size)) * 10.0 ** random.uniform(-4, 0, (64, 1))
    if size == 7:
        for goals in achieved, desired:
            goals[:, 3:] /= np.linalg.norm(goals[:, 3:], axis=1)[:, None]
    theirs = reference.compute_reward(achieved, desired, {})
    ours = env.compute_reward(achieved, desired, [{}] * 64)
    assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes() and len(np.unique(ours)) > 1
    assert env.compute_reward(achieved.reshape(4, 16, size), desired.reshape(4, 16, size)).tobytes() == ours.tobytes()
    one = reference.compute_reward(achieved[3], desired[3], {})
    assert env.compute_reward(achieved[3], desired[3], {}) == one and np.ndim(one) == 0
    for k in range(4):
        assert env.compute_terminated(achieved[k], desired[k], {}) == reference.compute_terminated(
            achieved[k], desired[k], {})
    assert env.compute_truncated(achieved, desired).tolist() == [False] * 64
    if "Pen" not in id:
        single = np.float32(achieved), np.float32(desired)
        assert env.compute_reward(*single).tobytes() == reference.compute_reward(*single, {}).tobytes()
        assert env.compute_reward(achieved[:0], desired[:0]).shape == (0,)


def bits(numbers):
    """Returns the bytes of numbers; a NaN may have any sign in IEEE 754."""
    return np.where(np.isnan(numbers), np.nan, numbers).tobytes()


@pytest.mark.parametrize("id", ["HandManipulatePen-v1", "HandManipulatePenRotateDense-v1"])
def test_rewards_of_special_rotations_of_pens(id):
    reference = make(id).unwrapped
    env = cypool.make(id, num_threads=0)
    # more than are computed at once
    random, half = np.random.default_rng(7), np.sqrt(0.5)
    desired = random.standard_normal((200, 7))
    achieved = desired + random.standard_normal((200, 7)) * 10.0 ** random.uniform(-4, 0, (200, 1))
    # where Euler angles are not unique, or nearly so, no rotations, and numbers beyond all
    achieved[2:9, 3:] = [[half, 0, half, 0], [half, 0, -half, 0], [0.5, 0.5, 0.5, -0.5], [0, 0, 0, 0], [1e-9, 0, 0, 0],
                         [np.nan, 0, 0, 1], [1e200, 1, 0, 0]]
    achieved[9:40, 3:] = [half, 0, half, 0] + random.standard_normal((31, 4)) * 10.0 ** -np.arange(31)[:, None]
    desired[2, 3:] = [half, 0, half, 0]
    with np.errstate(all="ignore"):
        for n in (200, 65, 64, 3):
            theirs = reference.compute_reward(achieved[:n], desired[:n], {})
            assert bits(env.compute_reward(achieved[:n], desired[:n])) == bits(theirs)
        for k in range(40):
            theirs = reference.compute_reward(achieved[k], desired[k], {})
            assert bits(env.compute_reward(achieved[k], desired[k])) == bits(theirs)
        theirs = reference.compute_reward(np.float32(achieved), np.float32(desired), {})
        assert bits(env.compute_reward(np.float32(achieved), np.float32(desired))) == bits(theirs)
        # not contiguous
        theirs = reference.compute_reward(achieved[::2], desired[::2], {})
        assert bits(env.compute_reward(achieved[::2], desired[::2])) == bits(theirs)


def test_rewards_of_tasks():
    """Where tasks are not removed, the kitchen's rewards follow from its goals."""
    options = {"tasks_to_complete": ["kettle", "light switch", "microwave"], "remove_task_when_completed": False}
    reference = make("FrankaKitchen-v1", **options).unwrapped
    env = started(cypool.make("FrankaKitchen-v1", num_threads=0, **options))
    random, desired = np.random.default_rng(7), np.concatenate([reference.goal[task] for task in reference.goal])
    desired = np.tile(desired, (40, 1))
    achieved = desired + random.standard_normal(desired.shape) * random.uniform(0, 0.4, (40, 1))

    def parts(goal):
        return {task: goal[first:first + size] for task, first, size in (
            ("kettle", 0, 7), ("light switch", 7, 2), ("microwave", 9, 1))}

    theirs = [reference.compute_reward(parts(one), parts(other), {})
              for one, other in zip(achieved, desired, strict=True)]
    ours = env.compute_reward(achieved, desired)
    assert ours.tolist() == theirs and set(theirs) == {0, 1, 2, 3}
    assert env.compute_reward(achieved.reshape(2, 4, 5, -1), desired.reshape(2, 4, 5, -1)).shape == (2, 4, 5)
    one = env.compute_reward(achieved[3], desired[3], {})
    assert one == theirs[3] and np.ndim(one) == 0
    assert env.compute_reward(achieved[:0], desired[:0]).shape == (0,)
    with pytest.raises(NotImplementedError, match="^compute_terminated: in the kitchen, termination"):
        env.compute_terminated(achieved, desired)


def test_rewards_of_goals_in_steps():
    env = SingleEnv("PointMaze_UMaze-v3", continuing_task=False, seed=0)
    env.reset()
    obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
    goals = obs["achieved_goal"], obs["desired_goal"], info
    assert env.compute_reward(*goals) == reward and env.compute_terminated(*goals) == terminated
    assert not env.compute_truncated(*goals)
    place = obs["achieved_goal"]
    assert env.compute_reward(place, place, {}) == 1 and env.compute_terminated(place, place, {})


@pytest.mark.parametrize(("achieved", "desired", "error", "message"), [
    (np.zeros((4, 2)), np.zeros((4, 3)), ValueError, "^achieved_goal: expected goals with 3 numbers"),
    (np.zeros((4, 3)), np.zeros((5, 3)), ValueError, r"^desired_goal: expected the shape of achieved_goal, \(4, 3\)"),
    (np.zeros((4, 3)), 3.0, ValueError, "^desired_goal: expected goals with 3 numbers"),
    ("far", np.zeros(3), TypeError, "^achieved_goal: expected an array of numbers"),
    ([[1, 2, 3], [4]], np.zeros(3), TypeError, "^achieved_goal: expected an array of goals"),
    (np.zeros(3, object), np.zeros(3), TypeError, "^achieved_goal: expected an array of numbers"),
])
def test_wrong_goals(achieved, desired, error, message):
    env = cypool.make("FetchReach-v4")
    for method in env.compute_reward, env.compute_terminated, env.compute_truncated:
        with pytest.raises(error, match=message):
            method(achieved, desired)


def test_what_has_no_such_goals():
    for id in ("AdroitHandPen-v1", "CartPole-v1", "FrankaKitchen-v1"):
        with pytest.raises(NotImplementedError, match=f"^compute_reward: {id} has no goals"):
            cypool.make(id).compute_reward(np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="^achieved_goal: expected one goal, or three or more"):
        cypool.make("HandManipulatePen-v1").compute_reward(np.ones((2, 7)), np.ones((2, 7)))


test_wrong_options = refuses([
    ("FetchReach-v4", {"reward_type": "none"}, ValueError, "reward_type: expected"),
    ("FetchReach-v4", {"n_substeps": 3}, ValueError, "n_substeps: not an option"),
    ("HandManipulateBlock-v1", {"target_rotation": "ignore"}, ValueError, "target_rotation: expected"),
    ("HandManipulateBlock-v1", {"target_position": 3}, (TypeError, ValueError), "target_position: expected"),
    ("HandManipulateBlock-v1", {"distance_threshold": np.nan}, ValueError, "distance_threshold: expected"),
    ("HandManipulateBlock-v1", {"touch_get_obs": "off"}, ValueError, "touch_get_obs: expected"),
    ("HandReach-v3", {"distance_threshold": "1"}, TypeError, "distance_threshold: expected"),
    ("HandReach-v3", {"initial_qpos": [0.1]}, TypeError, "initial_qpos: expected a dict from joint"),
    ("HandReach-v3", {"initial_qpos": {"FFJ3": 0.1}}, ValueError, "initial_qpos: expected joints in the model, got"),
    ("HandReach-v3", {"initial_qpos": {3: 0.1}}, ValueError, "initial_qpos: expected joints in the model, got 3"),
    ("HandReach-v3", {"initial_qpos": {"robot0:FFJ3": np.nan}}, ValueError, "initial_qpos: expected"),
    ("HandReach-v3", {"initial_qpos": {"robot0:FFJ3": [0.1]}}, TypeError, "initial_qpos: expected"),
    ("PointMaze_UMaze-v3", {"maze_map": "111"}, TypeError, "maze_map: expected a list of rows"),
    ("PointMaze_UMaze-v3", {"maze_map": []}, ValueError, "maze_map: expected 1 to 100 rows"),
    ("PointMaze_UMaze-v3", {"maze_map": [[]]}, ValueError, "maze_map: expected rows of 1 to 100"),
    ("PointMaze_UMaze-v3", {"maze_map": [[0, 0], [0]]}, ValueError, "maze_map: expected 1 to 100 rows of the same"),
    ("PointMaze_UMaze-v3", {"maze_map": [[0] * 101]}, ValueError, "maze_map: expected rows of 1 to 100"),
    ("PointMaze_UMaze-v3", {"maze_map": [[0, 2]]}, ValueError, "maze_map: expected cells"),
    ("PointMaze_UMaze-v3", {"maze_map": [[0, np.nan]]}, ValueError, "maze_map: expected cells"),
    ("PointMaze_UMaze-v3", {"maze_map": [[0, "x"]]}, ValueError, "maze_map: expected cells"),
    ("PointMaze_UMaze-v3", {"maze_map": [[1, 1]]}, ValueError, "maze_map: expected at least one goal cell"),
    ("PointMaze_UMaze-v3", {"maze_map": [["g", 1]]}, ValueError, "maze_map: expected at least one goal cell"),
    # the reference looks for a start for ever
    ("PointMaze_UMaze-v3", {"maze_map": [[1, 0, 1]]}, ValueError, "maze_map: expected each goal to have a start"),
    ("PointMaze_UMaze-v3", {"maze_map": [["c", "g"]]}, ValueError, "maze_map: expected each goal to have a start"),
    ("AntMaze_UMaze-v5", {"frame_skip": 0}, ValueError, "frame_skip: expected"),
    ("AntMaze_UMaze-v5", {"healthy_z_range": 1}, TypeError, "healthy_z_range: expected"),
    ("FrankaKitchen-v1", {"tasks_to_complete": []}, TypeError, "tasks_to_complete: expected"),
    ("FrankaKitchen-v1", {"tasks_to_complete": ["kettle"] * 2}, ValueError, ".*: expected each task once"),
    ("FrankaKitchen-v1", {"tasks_to_complete": ["kettles"]}, ValueError, "tasks_to_complete: expected"),
    ("FrankaKitchen-v1", {"robot_noise_ratio": np.inf}, ValueError, "robot_noise_ratio: expected"),
])


@pytest.mark.parametrize("id", ["FetchPush-v4", "AdroitHandPen-v1", "FrankaKitchen-v1"])
def test_states_are_checked(id):
    env = started(cypool.make(id, num_envs=1, num_threads=0, seed=0))
    state = env.save()
    info, goal, achieved, desired, episode, written = own = state.rows[0]["own"][4]
    bad = [None, own[:-1], (info[:-1], *own[1:]), (info, goal + (1.0,), *own[2:]),
           (*own[:4], episode + (0.0,), written), (*own[:5], written + b"1"), (*own[:5], None), (info, None, *own[2:])]
    bad += [(info, (np.nan, *goal[1:]), *own[2:]), (info, goal, achieved, ("1", *goal[1:]), *own[4:])] if goal else []
    if written:
        bad.append((*own[:5], np.full(len(written) // 8, np.nan).tobytes()))
    if id.startswith("Franka"):
        bad += [(*own[:4], (*episode[:-2], *masks), written) for masks in ((128.0, 0.0), (0.5, 0.0), (0.0, -1.0))]
    for values in bad:
        with pytest.raises((ValueError, TypeError), match="^state: "):
            env.load(with_numbers(state, values))
    env.load(state)


def test_bits_of_tasks_are_those_chosen():
    env = started(cypool.make("FrankaKitchen-v1", num_envs=1, tasks_to_complete=["kettle"], seed=0))
    state = env.save()
    *own, episode, written = state.rows[0]["own"][4]
    with pytest.raises(ValueError, match="state: .*task bits"):
        env.load(with_numbers(state, (*own, (*episode[:-1], 1.0), written)))


@pytest.mark.parametrize(("id", "file", "old", "new", "expected"), [
    ("PointMaze_UMaze-v3", "point/point.xml",
     '<joint name="ball_y" type="slide" pos="0 0 0" axis="0 1 0"/>', "", "nq 2, nv 2, got one with nq 1, nv 1"),
    ("PointMaze_UMaze-v3", "point/point.xml", "</body>", "<body><geom size='1'/></body></body>",
     "nbody 2, got one with nbody 3"),
    ("HandReach-v3", "hand/reach.xml", "<include file=\"robot.xml\"></include>", """<include file="robot.xml"></include>
     <body><joint/><geom size="0.01"/></body>""", "nq 24, nv 24, nbody 28, got one with nq 25, nv 25, nbody 29"),
])
def test_model_of_the_package_that_is_not_as_known_is_refused(monkeypatch, tmp_path, id, file, old, new, expected):
    change_file(monkeypatch, tmp_path, "gymnasium_robotics", f"envs/assets/{file}",
                lambda text: text.replace(old, new).replace('joint="ball_y"', 'joint="ball_x"'))
    # the texts of mazes that were made before
    monkeypatch.setattr(mazes, "_packaged", mazes._packaged.__wrapped__)
    for _ in "12":
        with pytest.raises(ValueError, match=f"xml: expected the package's model, with {expected}: reinstall"):
            cypool.make(id)


@pytest.mark.parametrize(("old", "new"), [("<qpos28", "<other"), ("pos_bound", "bound"), ("</", "<")])
def test_limits_of_the_package_that_cannot_be_read_are_named(monkeypatch, tmp_path, old, new):
    change_file(monkeypatch, tmp_path, "gymnasium_robotics",
                "envs/assets/kitchen_franka/franka_assets/franka_config.xml", lambda text: text.replace(old, new))
    with pytest.raises(ImportError, match="expected limits for 29 joints in .*franka_config.xml"):
        cypool.make("FrankaKitchen-v1")


def test_options_of_ants_are_those_of_gymnasiums_robot_and_of_mazes():
    own = {*cypool.make_spec("Ant-v5").options, *cypool.make_spec("PointMaze_UMaze-v3").options, "main_body"}
    assert set(cypool.make_spec("AntMaze_UMaze-v5").options) <= own
    assert set(cypool.make_spec("AntMaze_UMaze-v4").options).isdisjoint({"xml_file", "frame_skip"})


def test_a_reset_of_a_state_that_cannot_end():
    # no reset removes the force at the object, and it falls from the palm each time
    env = started(cypool.make("HandManipulateBlock-v1", num_envs=1, num_threads=0, seed=0))
    env.load(pulled(env))
    with pytest.raises(cypool.EnvError, match="expected the object to stay on the palm"):
        env.reset()


def pulled(env):
    """Returns a state with a force that pulls the object down."""
    state = env.save()
    model = mujoco.MjModel.from_xml_path(asset_path("hand/manipulate_block.xml"))
    data = mujoco.MjData(model)
    row = state.rows[0]
    packed, *rest = row["own"]
    buffer = bytearray(zlib.decompress(packed))
    # the buffer begins with qpos
    first = data.xfrc_applied.ctypes.data - data.qpos.ctypes.data
    force = np.zeros((model.nbody, 6))
    force[model.body("object").id, 2] = -400
    buffer[first:first + force.nbytes] = force.tobytes()
    return State(state.env_id, [{**row, "own": (zlib.compress(bytes(buffer)), *rest)}])


test_a_loaded_state_goes_on_the_same_way = continues([
    ("FetchPickAndPlace-v4", "NextStep", {}), ("HandManipulateBlock_ContinuousTouchSensors-v1", "Disabled", {}),
    ("PointMaze_Open-v3", "SameStep", {"reset_target": True}), ("AdroitHandPen-v1", "NextStep", {}),
    ("FrankaKitchen-v1", "Disabled", {}), ("HandReach-v3", "NextStep", {}), ("AntMaze_UMaze-v5", "NextStep", {}),
    ("AdroitHandRelocate-v1", "NextStep", {})], before=6, after=8, max_episode_steps=7)


def test_actions_that_are_no_numbers():
    for id in ("FetchPush-v4", "HandReach-v3", "PointMaze_UMaze-v3", "AntMaze_UMaze-v5", "AdroitHandDoor-v1"):
        env = started(cypool.make(id, num_envs=1, num_threads=0, seed=0))
        for value in (np.nan, np.inf, -1e30):
            try:
                env.step(np.full((1, *env.single_action_space.shape), value))
            except (cypool.EnvError, ValueError):
                env.reset()


test_the_package_is_not_imported = imports_nothing([("FetchReach-v4", {}, False)], ["gymnasium_robotics"])
test_without_the_package = needs(
    "gymnasium-robotics", 'robots with goals need gymnasium-robotics 1.4.2, found {found}: '
    'pip install "cypool[robotics]"', ["1.4.1"], "FetchReach-v4")


def test_constants_are_those_of_the_package():
    load()
    from gymnasium_robotics.envs.franka_kitchen import kitchen_env
    from gymnasium_robotics.envs.shadow_dexterous_hand.reach import DEFAULT_INITIAL_QPOS
    from gymnasium_robotics.utils import rotations

    from cypool.envs.robotics import goals

    assert {f"robot0:{name}": value for name, value in HAND_QPOS.items()} == DEFAULT_INITIAL_QPOS
    assert list(KITCHEN_TASKS) == list(kitchen_env.OBS_ELEMENT_GOALS)
    for name, (first, goal) in KITCHEN_TASKS.items():
        assert list(goal) == kitchen_env.OBS_ELEMENT_GOALS[name].tolist()
        assert first == kitchen_env.OBS_ELEMENT_INDICES[name][0]
    parallel = np.array([rotations.euler2quat(each) for each in rotations.get_parallel_rotations()])
    assert goals.parallel_rotations().tobytes() == parallel.tobytes()


test_models_are_shared_and_freed = frees_models([("FetchReach-v4", 3)])


def test_specs_can_be_pickled():
    for id in ("FetchReach-v4", "HandManipulatePen-v1", "AntMaze_UMaze-v5", "FrankaKitchen-v1"):
        spec = cypool.make_spec(id)
        assert pickle.loads(pickle.dumps(spec)) == spec
