"""highway-env: the package's bits; pictures; states; options."""
import pickle

import numpy as np
import pytest
from family_tests import assert_edits_are_harmless, continues, imports_nothing, refuses
from markers import often_slow, slow
from pool_arguments import MODES
from receiving import started, stepped
from state_edits import edited, with_own

import cypool
from cypool.envs.highway.ids import ENVPOOL, IDS
from cypool.testing import check_env, check_parity

pytest.importorskip("highway_env")
from envs.highway.play import BOX, GRAY, KIN, LIDAR, VARIANTS, group, players

from cypool.envs.highway.reference import _make

pytestmark = pytest.mark.filterwarnings("ignore")
FAST, CROSSING, PARKING = "highway-fast-v0", "intersection-multi-agent-v0", "parking-v0"
ALL = [(id, options) for id, variants in VARIANTS.items() for options in variants]


def made(id, num_envs=1, **options):
    return cypool.make(id, **{"num_envs": num_envs, "num_threads": 0, "seed": 3, **options})


def played(id, num_steps, **options):
    return stepped(started(made(id, **options)), num_steps)


@pytest.mark.parametrize("id, options", often_slow(ALL, 6, [(f"{name}-v0", {}) for name in (
    "two-way", "u-turn", "lane-keeping", "racetrack-large")]))
def test_parity(id, options):
    number = ALL.index((id, options))
    with players(number):
        check_parity(id, num_envs=1, num_steps=6 if id == "highway-v0" else 12, seeds=[number], num_threads=0,
                     autoreset_mode=MODES[number % 3], **options)


def test_parity_through_resets():
    for id, mode in (("merge-v0", "SameStep"), ("racetrack-v0", "Disabled"), ("two-way-v0", "NextStep")):
        with players(1):
            parity = check_parity(id, num_envs=2, num_steps=25, seeds=[1], autoreset_mode=mode, num_threads=2)
        assert parity.num_terminated > 0


@pytest.mark.parametrize("id", ["ParkingActionRepeat-v0", *slow("IntersectionMultiAgent-v1", "UTurn-v0")])
def test_an_id_of_envpool_equals_highway_env(id):
    check_parity(id, num_envs=1, num_steps=12, seeds=[0], num_threads=0)
    env, same = started(made(id)), started(made(ENVPOOL[id]))
    assert np.array_equal(env.render(), same.render())


def test_parity_of_an_int_weight_without_a_sign_of_zero():
    # agents that arrive off the road
    check_parity("intersection-v1", num_envs=2, num_steps=15, seeds=[0], num_threads=0, arrived_reward=-1)


@pytest.mark.parametrize("id", [CROSSING, "racetrack-v0"])
def test_contract(id):
    assert check_env(id, num_envs=2, num_steps=20).passed


def test_rewards_of_goals_are_those_of_steps():
    # versions of NumPy differ in one of 1,300
    env = started(made(PARKING, num_envs=64))
    env.action_space.seed(0)
    for _ in range(200):
        obs, reward, *_, info = env.step(env.action_space.sample())
        # a crash costs more, and a reset has no reward
        rows = (reward < 0) & ~info["crashed"]
        # of a batch, NumPy adds in another order, here as in highway-env
        own = map(env.env_spec.goals.compute_reward, obs["achieved_goal"][rows], obs["desired_goal"][rows])
        assert list(own) == reward[rows].tolist()


PICTURES = [(id, {}) for id in IDS if id != "highway-v0"]
PICTURES.insert(1, (FAST, {"observation": LIDAR, "screen_width": 300, "screen_height": 200, "scaling": 3.5,
                           "centering_position": [0.5, 0.5]}))


@pytest.mark.parametrize("id, options", often_slow(PICTURES, 6))
def test_pictures(id, options):
    env = made(id, **options)
    env.reset(seed=3)
    theirs = _make(id, options, None)
    theirs.env.unwrapped.render_mode = "rgb_array"
    theirs.reset(seed=3)
    env.action_space.seed(1)
    for _ in range(2):
        assert np.array_equal(env.render()[0], theirs.render())
        action = env.action_space.sample()
        env.step(action)
        theirs.step(action[0])


def test_from_pixels_observes_what_render_draws():
    env = made("parking-v0", num_envs=2, from_pixels=True, screen_width=90)
    obs, _ = env.reset()
    assert obs.shape == (2, 300, 90, 3) and np.array_equal(obs, env.render())
    obs, *_ = env.step(env.action_space.sample())
    assert np.array_equal(obs, env.render())


CHANGED = {"lanes_count": 5, "vehicles_count": 7, "duration": 3, "normalize_reward": False}


def test_config_of_a_reset_is_that_of_all_episodes_after_it():
    env, theirs = made(FAST, max_episode_steps=1000), _make(FAST, {}, None)
    for seed, config in ((1, None), (2, CHANGED), (3, None), (4, {"lanes_count": 2})):
        options = config and {"config": config}
        pairs = [(env.reset(seed=seed, options=options)[0][0], theirs.reset(seed=seed, options=options)[0])]
        for _ in range(3):
            obs, reward, terminated, truncated, _ = env.step([3])
            own = theirs.step(3)
            pairs += [(obs[0], own[0]), (reward[0], own[1]), (terminated[0], own[2]), (truncated[0], own[3])]
        for ours, expected in pairs:
            assert np.array_equal(ours, expected)


def test_config_of_a_reset_is_saved_and_copied():
    env, other, third = (made(FAST) for _ in range(3))
    env.reset(options={"config": CHANGED})
    other.reset()
    third.reset()
    saved = env.save()
    other.load(saved)
    third.load(third.save())
    for _ in range(6):
        for ours, theirs in zip(env.step([3])[:4], other.step([3])[:4], strict=True):
            assert np.array_equal(ours, theirs)
    assert np.array_equal(env.render()[0], other.render()[0])
    # a state of the id's own options brings these back
    other.load(third.save())
    assert np.array_equal(other.step([1])[0], third.step([1])[0])


class Broken(dict):
    def keys(self):
        raise RuntimeError("broken")

    __iter__ = keys


ARRAYS = [np.arange(3)] * 3


@pytest.mark.parametrize("config, message", [
    ({"observation": {"type": ["a"]}}, r"config\['observation'\]\['type'\]: expected one of"),
    ({"manual_control": np.array([0, 0])}, r"config\['manual_control'\]: expected one of"),
    (Broken(lanes_count=2), "config: expected a dict.*: broken"),
    ({"lanes_count": 0}, r"config\['lanes_count'\]: expected 1 to 40"), ({"lanes": 2}, "config: expected keys from"),
    ({"observation": KIN}, "config: expected no changes"), (5, "config: expected a dict"),
    ({"manual_control": True}, r"config\['manual_control'\]: expected one of")])
def test_wrong_configs_are_refused_and_change_nothing(config, message):
    env, other = made(FAST), made(FAST)
    for pool in (env, other):
        pool.reset(seed=1)
    with pytest.raises((TypeError, ValueError), match=message):
        env.reset(options={"config": config})
    with pytest.raises(ValueError, match="options: expected config"):
        env.reset(options={"lanes_count": 3})
    assert np.array_equal(env.reset(seed=5)[0], other.reset(seed=5)[0])


@pytest.mark.parametrize("change", [{"reward_weights": [1, 0, 0, 0, 0, 0]}, {"success_goal_reward": 0.2}])
def test_other_goals_than_those_of_compute_reward_are_refused(change):
    env = made(PARKING)
    env.reset(options={"config": {"reward_weights": [1, 0.3, 0, 0, 0.02, 0.02], "collision_reward": -3}})
    with pytest.raises(ValueError, match="config: expected unchanged reward_weights and success_goal_reward"):
        env.reset(options={"config": change})
    with pytest.raises(ValueError, match="env_options: expected the same goals in all environments"):
        made(PARKING, num_envs=2, env_options=[change, {}])
    # which no goals depend on
    observation = {"type": "KinematicsGoal", "features": ["x", "y"], "scales": [1, 1]}
    made(PARKING, num_envs=2, observation=observation, env_options=[change, {}]).reset(options={"config": change})


@pytest.mark.parametrize("config", [b"5", b"{", b"\xff", b'{"lanes": 3}', b'{"observation": 5}', 5])
def test_configs_of_states_are_checked(config):
    env = played(FAST, 2)
    state = env.save()
    with pytest.raises(ValueError, match="state: "):
        env.load(with_own(state, (state.rows[0]["own"][0], config)))


test_states_go_on = continues([(id, "NextStep", {}) for id in (
    FAST, "intersection-v0", CROSSING, PARKING, "racetrack-v0", "lane-keeping-v0", "roundabout-v0")],
    before=5, after=12, least=0, max_episode_steps=9)


@pytest.mark.parametrize("id, options", [
    ("merge-v0", {}), (CROSSING, {}), ("parking-parked-v0", {}), ("lane-keeping-v0", {}),
    ("roundabout-v0", {"observation": {"type": "TimeToCollision"}}),
    ("highway-fast-v0", {"observation": {"type": "LidarObservation"}, "action": BOX, "vehicles_count": 5})])
def test_edited_states(id, options):
    assert_edits_are_harmless(lambda: played(id, 4, **options), 80, 4)


@pytest.mark.parametrize("id, edit, message", [
    ("merge-v0", {"vehicle[0].kind": 3}, r"vehicle\[0\].kind: expected a kind that fits this vehicle, got 3"),
    ("merge-v0", {"vehicle[0].agent": -1}, "vehicle.*: expected"),
    (PARKING, {"vehicle[0].goal": 99}, r"vehicle\[0\].goal: expected an object, got 99")])
def test_refused_states(id, edit, message):
    env = played(id, 2)
    with pytest.raises(ValueError, match=message):
        env.load(edited(env.save(), edit))


def test_copy_outlives_its_source():
    env, source = started(made(FAST)), started(made(FAST))
    env.load(source.save())
    source.close()
    del source
    for _ in range(30):
        env.step(env.action_space.sample())


TTC = {"type": "TimeToCollision"}
test_refused_options = refuses([
    (FAST, {"lanes_count": 0}, "lanes_count: expected 1 to 40, got 0"),
    (FAST, {"centering_position": np.broadcast_to(np.float32(0), (10**12, 1))},
     r"centering_position: expected a list of numbers, got an array of shape \(1000000000000, 1\)"),
    (FAST, {"centering_position": np.zeros((2, 2))}, "centering_position: expected a list of numbers, got an array"),
    (FAST, {"vehicles_count": 10**6}, "vehicles_count: expected 0 to 1000, got 1000000"),
    (FAST, {"duration": float("nan")}, "duration: expected 0 to"),
    (FAST, {"initial_lane_id": 3}, "initial_lane_id: expected at most 2, .*, got 3"),
    (FAST, {"collision_reward": None}, "collision_reward: expected a number, got None"),
    (FAST, {"policy_frequency": 6}, "policy_frequency: expected at most simulation_frequency, got 6 and 5"),
    (FAST, {"reward_speed_range": [30, 20]}, "reward_speed_range: expected two increasing numbers"),
    (FAST, {"other_vehicles_type": "Other"}, "other_vehicles_type: expected"),
    (FAST, {"observation": 5}, "observation: expected a dict with a type, got 5"),
    (FAST, {"observation": {"type": "Other"}}, r"observation\['type'\]: expected one of 'Kinematics'"),
    (FAST, {"observation": {"type": "Kinematics", "cells": 5}}, "observation: expected only features"),
    (FAST, {"observation": {**KIN, "features": ["x", "w"]}}, r"observation\['features'\]: expected 1 to 16 of"),
    (FAST, {"observation": {**KIN, "vehicles_count": 1}}, r"observation\['vehicles_count'\]: expected 2 to 1000"),
    (FAST, {"observation": {"type": "OccupancyGrid", "grid_step": [0, 1]}}, r"observation\['grid_step'\]: expected"),
    (FAST, {"observation": {"type": "OccupancyGrid", "grid_step": [0.01, 0.01]}}, r"observation\['grid_size'\]"),
    (FAST, {"observation": {**GRAY, "observation_shape": [5, 64]}}, r"observation\['observation_shape'\]: expected 8"),
    (FAST, {"observation": {"type": "TupleObservation", "observation_configs": []}}, "observation.*: expected 1 to 8"),
    (FAST, {"observation": {"type": "TupleObservation", "observation_configs": [TTC, {"type": "x"}]}},
     r"observation\['observation_configs'\]\[1\]\['type'\]: expected one of"),
    (FAST, {"observation": {"type": "TupleObservation", "observation_configs": [TTC]}, "action": BOX}, "action: exp"),
    (PARKING, {"observation": {"type": "TupleObservation", "observation_configs": [{"type": "KinematicsGoal"}]}},
     "observation: expected single-array observations"),
    (CROSSING, {"from_pixels": True}, "from_pixels: expected one agent"),
    (FAST, {"config": {"lanes_count": 0}}, r"config\['lanes_count'\]: expected 1 to 40, got 0"),
    (FAST, {"config": {"lanes": 5}}, r"config: expected keys from \['action', 'centering_p"),
    (FAST, {"config": [5]}, "config: expected a dict"),
    (FAST, {"config": Broken(lanes_count=2)}, "config: expected a dict.*: broken"),
    (FAST, {"config": {"manual_control": np.array([0, 0])}}, r"config\['manual_control'\]: expected one of"),
    (FAST, {"observation": Broken(type="Kinematics")}, "observation: expected a dict with a type.*: broken"),
    (FAST, {"observation": {"type": ["Kinematics"]}}, r"observation\['type'\]: expected one of"),
    (FAST, {"observation": {**KIN, "features": ARRAYS}}, r"observation\['features'\]: expected a list of features"),
    ("lane-keeping-v0", {"observation": {"type": "AttributesObservation", "attributes": 5}},
     r"observation\['attributes'\]: expected \['state', 'derivative', 'reference_state'\], got 5"),
    ("lane-keeping-v0", {"observation": {"type": "AttributesObservation", "attributes": ARRAYS}},
     r"observation\['attributes'\]: expected \['state'"),
    ("exit-v0", {"lanes_count": 1}, "lanes_count: expected at least 2 with Exit and other vehicles, got 1"),
    ("merge-v0", {"collision_reward": 0.8}, "collision_reward . merging_speed_reward: expected a value other"),
    ("merge-generic-v0", {"config": {"collision_reward": 1, "merging_speed_reward": -1, "high_speed_reward": 0,
                                     "right_lane_reward": 0}}, "collision_reward . merging_speed_reward: expected"),
    (FAST, {"observation": TTC, "action": BOX}, "action: expected DiscreteMetaAction with Highway"),
    (FAST, {"action": {**BOX, "longitudinal": False, "lateral": False}}, "action: expected longitudinal, lateral or"),
    (FAST, {"action": {"type": "DiscreteMetaAction", "target_speeds": [20]}}, r"action\['target_speeds'\]: expected"),
    (FAST, {"action": {"type": "DiscreteMetaAction", "target_speeds": [25, 20]}},
     r"action\['target_speeds'\]: expected the last speed to be greater"),
    (FAST, {"observation": group(KIN, BOX, 2)["observation"]}, "observation: expected both MultiAgentObservation and"),
    ("merge-v0", {"action": BOX}, "action: expected one axis with Merge"),
    ("racetrack-v0", {"action": {"type": "DiscreteMetaAction"}}, "action: expected ContinuousAction or Discrete"),
    ("racetrack-v0", group(KIN, BOX, 2), "observation: expected one agent in Racetrack"),
    ("racetrack-oval-v0", {"no_lanes": 0}, "no_lanes: expected 1 to 30, got 0"),
    ("merge-generic-v0", {"after_merge_length": 80}, "after_merge_length: expected 90 to"),
    ("lane-keeping-v0", {"observation": KIN}, "observation: expected AttributesObservation for LaneKeeping, and"),
    ("parking-v0", {"reward_weights": [1]}, "reward_weights: expected 6 to 6 numbers"),
    ("intersection-v0", {"destination": "o4"}, "destination: expected"),
])


def test_recipe_keeps_the_options_of_make():
    config = {"lanes_count": 2}
    envs = made(FAST, config=config), made(FAST, env_options=[{"config": config}])
    config["lanes_count"] = 5
    for env in envs:
        assert pickle.loads(pickle.dumps(env)).env_spec.options["lanes_count"] == 2


def test_config_with_numbers_of_numpy_is_taken():
    env = made(FAST, config={"duration": np.array(3), "lanes_count": np.int64(2), "collision_reward": np.float32(-1)})
    assert [env.env_spec.options[name] for name in ("duration", "lanes_count", "collision_reward")] == [3, 2, -1]
    env.reset(options={"config": {"duration": np.array(4.0)}})
    other = pickle.loads(pickle.dumps(env))
    other.reset()
    other.load(env.save())
    assert other.env_spec.options == env.env_spec.options


@pytest.mark.parametrize("id", IDS)
def test_config_of_highway_env_is_taken(id):
    config = {"duration": 3, **_make(id, {}, None).env.unwrapped.config}
    ours, configured = cypool.make_spec(id).options, cypool.make_spec(id, config=config).options
    # continuous actions have no target speeds
    assert {**configured, "action": None} == {**ours, "action": None}


@pytest.mark.parametrize("id", ["merge-v0", "two-way-v0"])
def test_duration_without_effect_is_that_of_highway_env(id):
    check_parity(id, num_envs=1, num_steps=12, seeds=[1], num_threads=0, config={"duration": 2})


def test_most_of_everything():
    for id, options in ((FAST, {"lanes_count": 40, "vehicles_count": 1000, "controlled_vehicles": 8}),
                        ("exit-v0", {"lanes_count": 40, "vehicles_count": 200}),
                        ("intersection-v0", {"initial_vehicle_count": 100, "controlled_vehicles": 8}),
                        ("parking-v0", {"controlled_vehicles": 6, "vehicles_count": 28}),
                        ("racetrack-oval-v0", {"no_lanes": 30, "other_vehicles": 1000, "controlled_vehicles": 8}),
                        ("roundabout-generic-v0", {"roundabout_lanes": 10, "vehicles_count": 1000}),
                        ("merge-generic-v0", {"lanes_count": 40, "vehicles_count": 1000})):
        played(id, 3, **options).close()


test_highway_env_is_not_imported = imports_nothing(
    [(FAST, {}, False)], ["highway_env", "pandas", "pygame"])
