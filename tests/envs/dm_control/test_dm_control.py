"""The DeepMind Control Suite equals dm_control, byte for byte, in both APIs; states, models and files are checked."""
import gc
import importlib.machinery
import importlib.util

import numpy as np
import pytest
from family_tests import change_file, continues, equals, frees_models, needs, refuses
from markers import slow

pytest.importorskip("dm_control", reason="dm_control is not installed: it needs Python before 3.13")
from dm_control.rl.control import PhysicsError
from receiving import started

import cypool
from cypool.envs.dm_control import models, specs
from cypool.envs.dm_control.reference import load
from cypool.envs.dm_control.tasks import DOMAINS, envpool_id
from cypool.registration.registry import entry_of, resolve
from cypool.testing import check_env, check_parity

TASKS = [(domain, task) for domain in DOMAINS for task in DOMAINS[domain].tasks]


def id_of(domain, task):
    return f"dm_control/{domain}-{task}-v0"


def equal_parts(ours, theirs, row=0):
    """Whether a row equals an observation of dm_control: names, their order, shapes and bytes."""
    return list(ours) == list(theirs) and all(
        ours[name][row].shape == np.shape(part) and ours[name][row].tobytes() == np.asarray(part).tobytes()
        for name, part in theirs.items())


# ---- equality with dm_control


def test_all_tasks_are_there():
    from dm_control import suite

    assert set(suite.ALL_TASKS) == set(TASKS) and len(TASKS) == 51
    assert all({id_of(*each), envpool_id(*each)} <= set(cypool.list_all_envs()) for each in TASKS)


@pytest.mark.parametrize(("domain", "task"), [
    each if each[1] == DOMAINS[each[0]].tasks[0] else slow(each)[0]
    for each in TASKS if each[0] != "dog" or each[1] == "fetch"])
def test_equals_dm_control(domain, task):
    id = id_of(domain, task)
    assert entry_of(id).reference == "cypool.envs.dm_control.reference:make_reference"
    # episodes of 15 steps
    timestep = load(domain, task, 0).control_timestep()
    parity = check_parity(id, num_envs=1, num_steps=38, seeds=(3,), num_threads=0, time_limit=15 * timestep)
    assert parity.num_episodes == 2


test_dogs_equal_dm_control = equals(
    slow(*((id_of("dog", task), {}) for task in ("stand", "walk", "trot", "run"))), num_envs=1, num_steps=40,
    seeds=(3,), num_threads=0, time_limit=0.3)


@pytest.mark.parametrize("mode", ["SameStep", *slow("NextStep", "Disabled")])
@pytest.mark.parametrize("num_threads", [5, *slow(0, 2)])
def test_in_all_modes(mode, num_threads):
    parity = check_parity("CartpoleBalance-v1", num_envs=3, num_steps=60, seeds=(0, 5), num_threads=num_threads,
                          autoreset_mode=mode, time_limit=0.2)
    assert parity.num_episodes >= 12


test_options = equals([
    ("CartpoleSwingup-v1", {"n_sub_steps": 3}),
    ("CartpoleSwingup-v1", {"control_timestep": 0.04}),
    ("WalkerWalk-v1", {"control_timestep": 0.01}),
    ("HopperHop-v1", {"n_sub_steps": 1}),
    ("WalkerRun-v1", {"legacy_step": False}),
    ("AcrobotSwingup-v1", {"legacy_step": False}),
    ("FingerTurnHard-v1", {"flat_observation": True}),
    ("FishSwim-v1", {"flat_observation": True, "time_limit": 0.5}),
    ("ManipulatorBringBall-v1", {"fully_observable": False}),
    ("StackerStack2-v1", {"fully_observable": False, "flat_observation": True}),
    # 2.5 steps: the third is the last
    ("PendulumSwingup-v1", {"time_limit": 0.05}),
    ("PendulumSwingup-v1", {"time_limit": float("inf")}),
    ("ReacherEasy-v1", {"action_dtype": "float32"}),
    ("WalkerWalk-v1", {"action_repeat": 2}),
    # ten steps: three, three, three and one
    ("PendulumSwingup-v1", {"action_repeat": 3, "time_limit": 0.2}),
    ("LqrLqr21-v1", {"action_repeat": 4}),
], num_envs=1, num_steps=30, seeds=(1,), num_threads=0)


@pytest.mark.parametrize(("domain", "task"), [("walker", "walk"), ("lqr", "lqr_2_1"), ("finger", "turn_easy")])
def test_dm_api(domain, task):
    env, reference = cypool.make(id_of(domain, task), "dm", seed=4, num_threads=0), load(domain, task, 4)
    specs, their_specs = env.observation_spec().obs, reference.observation_spec()
    assert [(name, spec.shape, spec.dtype) for name, spec in specs.items()] == [
        (name, spec.shape, spec.dtype) for name, spec in their_specs.items()]
    action, their_action = env.action_spec(), reference.action_spec()
    assert (action.shape, action.dtype) == (their_action.shape, their_action.dtype)
    assert (action.minimum == their_action.minimum).all() and (action.maximum == their_action.maximum).all()
    assert env.reward_spec() == reference.reward_spec() and env.discount_spec() == reference.discount_spec()
    ours, theirs = env.reset(), reference.reset()
    actions = np.random.default_rng(0).uniform(-1, 1, (30, *action.shape))
    for k in range(30):
        assert ours.step_type[0] == theirs.step_type
        assert equal_parts(ours.observation.obs, theirs.observation)
        if not theirs.first():
            assert (ours.reward[0], ours.discount[0]) == (theirs.reward, theirs.discount)
        ours, theirs = env.step(actions[k:k + 1]), reference.step(actions[k])


def test_the_linear_system_ends_at_rest():
    env, reference = cypool.make("LqrLqr21-v1", "dm", seed=0, num_threads=0), load("lqr", "lqr_2_1", 0)
    assert env.env_spec.max_episode_steps is None
    env.reset(), reference.reset()
    for _ in range(8000):
        # brakes
        state = np.concatenate([reference.physics.position(), reference.physics.velocity()])
        action = -np.array([4.0]) * state[2] - state[0]
        ours, theirs = env.step(action[None]), reference.step(action)
        assert ours.last()[0] == theirs.last() and ours.discount[0] == theirs.discount
        if theirs.last():
            break
    assert theirs.last() and theirs.discount == 0
    assert env.step(action[None]).first()[0]


def test_a_repeated_action_stops_where_the_episode_ends():
    options = {"action_repeat": 6, "seed": 0, "num_threads": 0}
    env, reference = cypool.make("LqrLqr21-v1", "dm", **options), load("lqr", "lqr_2_1", 0, action_repeat=6)
    env.reset(), reference.reset()
    for _ in range(1500):
        state = np.concatenate([reference.physics.position(), reference.physics.velocity()])
        action = -np.array([4.0]) * state[2] - state[0]
        ours, theirs = env.step(action[None]), reference.step(action)
        assert ours.last()[0] == theirs.last() and ours.reward[0] == theirs.reward
        assert equal_parts(ours.observation.obs, theirs.observation)
        if theirs.last():
            break
    assert theirs.last() and theirs.discount == 0


def test_a_limit_of_the_user_counts_repeated_actions():
    assert cypool.make_spec("PendulumSwingup-v1", action_repeat=3).max_episode_steps == 334
    env = cypool.make("PendulumSwingup-v1", seed=0, num_threads=0, action_repeat=3, max_episode_steps=2)
    single = cypool.make("PendulumSwingup-v1", seed=0, num_threads=0)
    env.reset(), single.reset()
    for last in (False, True):
        obs, reward, _, truncated, _ = env.step(np.ones((1, 1)))
        results = [single.step(np.ones((1, 1))) for _ in range(3)]
        assert truncated[0] == last and reward[0] == sum(result[1][0] for result in results)
        assert obs["velocity"].tobytes() == results[-1][0]["velocity"].tobytes()


def test_an_invalid_state_is_an_error():
    # its forces have hardly any limit
    env, reference = cypool.make("LqrLqr21-v1", num_envs=2, seed=0, num_threads=0), load("lqr", "lqr_2_1", 0)
    env.reset(), reference.reset()
    actions, kind = np.zeros((2, 1)), None
    for _ in range(3000):
        # swings higher and higher
        actions[0] = 1e10 if reference.physics.velocity()[0] >= 0 else -1e10
        try:
            reference.step(actions[0])
        except PhysicsError as error:
            kind = str(error).split()[-1]
            break
        env.step(actions)
    assert kind in ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC")
    with pytest.raises(cypool.EnvError, match=f"env 0: RuntimeError: .*invalid state: {kind}") as caught:
        env.step(actions)
    assert caught.value.causes.keys() == {0}
    for _ in range(3):
        obs, *_ = env.step(np.zeros((2, 1)))
    assert np.isfinite(obs["velocity"]).all()


# ---- ours


@pytest.mark.slow
@pytest.mark.parametrize("id", ["CheetahRun-v1", "SwimmerSwimmer6-v1", "LqrLqr62-v1", "ManipulatorInsertPeg-v1"])
def test_keeps_the_contract(id):
    assert len(check_env(id, num_envs=2, num_steps=20).passed) == 8


test_a_loaded_state_goes_on_the_same_way = continues([
    (id, "NextStep", options) for id, options in [
        ("WalkerWalk-v1", {}), ("WalkerWalk-v1", {"legacy_step": False}), ("AcrobotSwingup-v1", {}),
        ("ReacherHard-v1", {"frame_stack": 3, "flat_observation": True}), ("LqrLqr21-v1", {}), ("PointMassHard-v1", {}),
        ("HopperHop-v1", {"randomize": {"body_mass": (0.8, 1.2), "geom_friction": (0.5, 2)}}),
        ("CheetahRun-v1", {"action_repeat": 3}), ("StackerStack2-v1", {}),
        ("FingerTurnEasy-v1", {"randomize": {"site_pos": ("add", -0.01, 0.01)}})]],
    before=7, after=12, max_episode_steps=10)


def test_states_are_checked():
    env = started(cypool.make("PointMassHard-v1", seed=0))
    state = env.save()
    own = state.rows[0]["own"]
    key, pos, has_spare, spare, written, episode = own[4]
    for bad in (None, own[4][:-1], (key[:-1], *own[4][1:]), (key, 625, *own[4][2:]), (key, -1, *own[4][2:]),
                (key, pos, 1, *own[4][3:]), (key, pos, has_spare, np.nan, written, episode),
                (key, pos, has_spare, spare, written[:-8], episode), (*own[4][:5], (1.0,)),
                # MuJoCo's solver would take seconds for each attempt of a reset
                (key, pos, has_spare, spare, np.full(len(written) // 8, np.nan).tobytes(), episode)):
        row = {**state.rows[0], "own": (*own[:4], bad, *own[5:])}
        with pytest.raises(ValueError, match="^state: "):
            env.load(cypool.state.State(state.env_id, [row]))
    env.load(state)


def test_tasks_with_the_same_spaces_share_a_pool():
    tasks = ["stand", "walk", "run"]
    env = cypool.make("WalkerWalk-v1", num_envs=3, seed=[7, 7, 7], env_options=[{"task": task} for task in tasks])
    references = [load("walker", task, 7) for task in tasks]
    env.reset()
    for reference in references:
        reference.reset()
    actions = np.random.default_rng(1).uniform(-1, 1, (40, 6))
    for action in actions:
        _, reward, *_ = env.step(np.tile(action, (3, 1)))
        assert reward.tolist() == [reference.step(action).reward for reference in references]
    with pytest.raises(ValueError, match="env_options: expected the same observation in all environments"):
        cypool.make("FishSwim-v1", num_envs=2, env_options=[{"task": "swim"}, {"task": "upright"}])


def test_randomized_models_differ_and_stay_apart():
    env = cypool.make("CheetahRun-v1", num_envs=2, seed=[0, 0], env_options=[{}, {"randomize": {"body_mass": (2, 3)}}])
    env.reset()
    obs, *_ = env.step(np.ones((2, 6)))
    assert (obs["velocity"][0] != obs["velocity"][1]).any()
    again = started(cypool.make("CheetahRun-v1", seed=0))
    assert again.step(np.ones((1, 6)))[0]["velocity"].tobytes() == obs["velocity"][:1].tobytes()


def test_numbers_of_single_precision_are_rounded():
    double, single = (cypool.make("HopperHop-v1", seed=0, frame_stack=2, obs_dtype=dtype)
                      for dtype in ("float64", "float32"))
    a, b = double.reset()[0], single.reset()[0]
    assert b["position"].shape == (1, 2, 6) and b["position"].dtype == np.float32
    assert (a["position"].astype(np.float32) == b["position"]).all()


test_a_model_is_loaded_once_and_then_freed = frees_models([("dm_control/walker-walk-v0", 3)])


def test_models_that_are_files_are_what_dm_control_reads():
    assert "walker" in models._FILES and "cartpole" not in models._FILES
    for domain in models._FILES:
        text, files = models.domain_module(domain).get_model_and_assets()
        for task in DOMAINS[domain].tasks:
            assert models.text_of(domain, task) == (text, files)


def test_a_file_of_dm_control_that_cannot_be_read_is_an_error(monkeypatch, tmp_path):
    spec = importlib.machinery.ModuleSpec("dm_control", None, is_package=True)
    for folders in ([], [str(tmp_path)]):
        spec.submodule_search_locations = folders
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
        with pytest.raises(ImportError, match="dm_control has no suite/walker.xml") as raised:
            models.text_of("walker", "walk")
        assert raised.value.name == "dm_control"


def test_model_of_the_package_that_is_not_as_known_is_refused(monkeypatch, tmp_path):
    # no other one is in use
    cypool.make_spec("dm_control/pendulum-swingup-v0")
    gc.collect()
    change_file(monkeypatch, tmp_path, "dm_control", "suite/acrobot.xml", lambda text: text.replace(
        "</worldbody>", "<body><joint/><geom type='sphere' size='0.1'/></body></worldbody>"))
    with pytest.raises(ValueError, match="dm_control's model of acrobot-swingup: expected the package's model, "
                                         "with nq 2, nv 2, nbody 3, got one with nq 3, nv 3, nbody 4"):
        cypool.make("dm_control/acrobot-swingup-v0")
    monkeypatch.undo()
    cypool.make("dm_control/acrobot-swingup-v0").reset()


def test_a_model_is_shared():
    env = cypool.make("WalkerWalk-v1", num_envs=3)
    cls, _ = resolve("WalkerRun-v1", None, {})
    assert cls.__name__ == "Walker" and env.env_spec.max_episode_steps == 1000
    assert env.env_spec.render_fps == 40


test_bad_input = refuses([
    ("dm_control/walker-wlak-v0", {}, ValueError, r"id: .*did you mean .*dm_control/walker-walk-v0"),
    ("dm_control/wolker-walk-v0", {}, ValueError, r"id: .*did you mean .*dm_control/walker-walk-v0"),
    ("WalkerWalk-v1", {"task": "fly"}, ValueError, "task: expected one of 'stand', 'walk', 'run', got 'fly'"),
    ("WalkerWalk-v1", {"task": ["walk"]}, ValueError, "task: expected one of"),
    ("QuadrupedWalk-v1", {"task": np.array(["walk", "run"])}, ValueError, "task: expected one of"),
    ("WalkerWalk-v1", {"time_limit": 0}, ValueError, "time_limit"),
    ("WalkerWalk-v1", {"time_limit": "long"}, TypeError, "time_limit: expected a number"),
    ("WalkerWalk-v1", {"time_limit": 1e308}, ValueError, "time_limit: expected at most 53687091.1.*, got 1e.308"),
    ("WalkerWalk-v1", {"time_limit": 1e9}, ValueError, "time_limit: expected at most 53687091.1"),
    ("WalkerWalk-v1", {"time_limit": float("nan")}, ValueError, "time_limit: expected 1e-09 to inf, got nan"),
    ("WalkerWalk-v1", {"control_timestep": 1e6}, ValueError, "control_timestep: expected an integer"),
    ("WalkerWalk-v1", {"n_sub_steps": 1000, "action_repeat": 1001}, ValueError, "action_repeat: expected at most 1000"),
    ("WalkerWalk-v1", {"n_sub_steps": 0}, ValueError, "n_sub_steps"),
    ("WalkerWalk-v1", {"n_sub_steps": 2, "control_timestep": 0.01}, ValueError,
     "n_sub_steps: expected None with control_timestep"),
    ("WalkerWalk-v1", {"control_timestep": 0.003}, ValueError, r"control_timestep: .* time step \(0.0025"),
    ("WalkerWalk-v1", {"control_timestep": 0.001}, ValueError, r"control_timestep: .* time step \(0.0025"),
    ("WalkerWalk-v1", {"action_repeat": 0}, ValueError, "action_repeat"),
    ("WalkerWalk-v1", {"action_repeat": 2.5}, TypeError, "action_repeat"),
    ("WalkerWalk-v1", {"legacy_step": 1}, TypeError, "legacy_step: expected True or False"),
    ("WalkerWalk-v1", {"fully_observable": True}, ValueError, "fully_observable: not an option of WalkerWalk-v1"),
    ("StackerStack2-v1", {"fully_observable": 1}, TypeError, "fully_observable: expected True or False"),
    ("WalkerWalk-v1", {"frame_stack": 0}, ValueError, "frame_stack"),
    ("WalkerWalk-v1", {"camera_id": 9}, ValueError, "camera_id"),
    ("WalkerWalk-v1", {"camera_name": "up"}, ValueError, "camera_name: expected a camera"),
    ("WalkerWalk-v1", {"randomize": {"nose": (1, 2)}}, ValueError, "randomize: expected mjModel fields"),
    ("WalkerWalk-v1", {"randomize": {"geom_friction": (1.5, 0.5)}}, ValueError,
     r"randomize\[.geom_friction.\]: expected low to be no greater than high, got 1.5 and 0.5"),
    ("WalkerWalk-v1", {"seed": 2**32}, ValueError, "seed: expected at least 0 and at most 4294967295"),
])


def test_a_model_of_other_joints_is_an_error(monkeypatch):
    """No number of an observation is written behind its end."""
    text, files = models.text_of("ball_in_cup", "catch")
    body = b"<body><joint type='slide'/><geom size='0.1' pos='9 9 9'/></body>"
    text = text.replace(b"</worldbody>", body + b"</worldbody>")
    monkeypatch.setattr(specs, "text_of", lambda *_: (text, files))
    monkeypatch.setattr(specs, "_models", {})
    # nor by one that is as large as it should be
    monkeypatch.setattr(specs, "sizes_of", lambda *_: (5, 5, 2, 4, 0))
    env = cypool.make("BallInCupCatch-v1", num_threads=0)
    with pytest.raises(cypool.EnvError, match="get_obs: expected 8 numbers, got 5, then 5 that do not fit$"):
        env.reset()


def test_a_model_without_a_way_to_begin_is_an_error():
    env = cypool.make("BallInCupCatch-v1", num_threads=0, randomize={"geom_margin": ("add", 10, 10)})
    with pytest.raises(cypool.EnvError, match="expected a position without contacts, found none in 10000 attempts"):
        env.reset()


test_without_the_right_dm_control_there_is_one_clear_error_at_make = needs(
    "dm_control", "the DeepMind Control Suite needs dm_control 1.0.28 to 1.0.50, found {found}: "
    'pip install "cypool[dm-control]"', ["1.0.27"], "dm_control/walker-walk-v0")
