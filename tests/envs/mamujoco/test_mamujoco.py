"""MaMuJoCo: gymnasium-robotics' bits; groups; lanes; models; states; options."""
import itertools

import numpy as np
import pytest
from envs.mamujoco.variants import CONFIGURATIONS, variants
from family_tests import continues, equals, imports_nothing, pettingzoo_accepts, refuses
from markers import often_exhaustive, often_slow
from pool_arguments import MODES
from receiving import started

import cypool
from cypool.testing import check_parity

pytestmark = pytest.mark.families("mamujoco")
CHEETAH, PENDULUM, SEGMENTS = "MaMuJoCo/HalfCheetah-v1", "MaMuJoCo/InvertedPendulum-v1", "MaMuJoCo/ManySegmentAnt-v1"

# every robot; differences that only a robot of several segments shows, two joints away, or at a high speed
SHOWN = {"ManySegmentAnt": "2x3", "ManySegmentSwimmer": "3x2"}
QUICK = [(id, options) for id, options in variants((1,)) if options["agent_conf"] in (None, SHOWN.get(
    id.split("/")[1].split("-")[0], CONFIGURATIONS.get(id.split("/")[1].split("-")[0], (None,))[0]))]
QUICK += [("MaMuJoCo/Humanoid-v1", {"agent_obsk": 2}), ("MaMuJoCo/ManySegmentAnt-3x1-v1", {"agent_obsk": 2}),
          ("MaMuJoCo/Hopper-v1", {"terminate_when_unhealthy": False, "reset_noise_scale": 15})]
test_parity = equals(QUICK, least=2, num_envs=1, num_steps=40, seeds=[3], num_threads=0, max_episode_steps=15)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo in the reference writes a log to the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("id, options", often_exhaustive(list(itertools.chain(variants((0, 2, 3)))), 4))
def test_parity_of_all_depths(id, options):
    check_parity(id, num_envs=1, num_steps=40, seeds=[4], num_threads=0, max_episode_steps=15, **options)


@pytest.mark.parametrize("id, mode", often_slow(list(itertools.product(
    ("MaMuJoCo/Hopper-v1", "MaMuJoCo/Ant-4x2-v1", "MaMuJoCo/Humanoid-v1", "MaMuJoCo/CoupledHalfCheetah-v1"),
    MODES)), 3))
def test_parity_in_all_modes(id, mode):
    check_parity(id, num_envs=3, num_steps=60, seeds=[0], num_threads=2, autoreset_mode=mode, max_episode_steps=25)


def test_options_of_robots_are_theirs():
    report = check_parity("MaMuJoCo/Walker2d-v1", num_envs=1, num_steps=62, seeds=[0], num_threads=0, frame_skip=2,
                          ctrl_cost_weight=0.5, terminate_when_unhealthy=False, max_episode_steps=30)
    assert report.num_episodes == 2 and not report.num_terminated


@pytest.mark.parametrize("robot, count", [
    ("ManySegmentAnt", 1), ("ManySegmentAnt", 4), ("ManySegmentSwimmer", 2), ("ManySegmentSwimmer", 7)])
def test_models_are_those_of_the_package(robot, count, tmp_path):
    pytest.importorskip("jinja2")
    mujoco = pytest.importorskip("mujoco")
    from cypool.envs.mamujoco.reference import _package
    from cypool.envs.mamujoco.segments import text_of

    _package()
    from gymnasium_robotics.envs.multiagent_mujoco import many_segment_ant, many_segment_swimmer

    path = tmp_path / "robot.xml"
    module = many_segment_ant if robot == "ManySegmentAnt" else many_segment_swimmer
    module.gen_asset(n_segs=count, asset_path=str(path))
    ours = mujoco.MjModel.from_xml_string(text_of(robot, count).decode())
    theirs = mujoco.MjModel.from_xml_path(str(path))
    compared = 0
    for name in dir(theirs):
        if isinstance(getattr(theirs, name), np.ndarray) and name != "paths":
            assert np.array_equal(getattr(ours, name), getattr(theirs, name), equal_nan=True), name
            compared += 1
    assert compared > 100


def test_agents_of_a_group_need_not_be_neighbours():
    groups = cypool.make_spec("MaMuJoCo/Hopper-v1").agents
    assert {name: group.names for name, group in groups.items()} == {
        "agent": ("agent_0", "agent_2"), "agent_2": ("agent_1",)}
    env = cypool.parallel_env("MaMuJoCo/Hopper-v1")
    env.reset(seed=0)
    assert env.possible_agents == ["agent_0", "agent_2", "agent_1"]
    assert [env.observation_space(f"agent_{k}").shape for k in range(3)] == [(8,), (9,), (8,)]


def test_all_agents_have_the_reward_of_the_robot():
    with started(cypool.make(CHEETAH, num_envs=2, num_threads=0, seed=0)) as env:
        env.action_space.seed(0)
        _, reward, *_, info = env.step(env.action_space.sample())
    assert (info["agents"]["agent"]["reward"] == reward[:, None]).all() and (reward != 0).all()


@pytest.mark.parametrize("robot", ["HalfCheetah", "Hopper", "Walker2d", "Ant"])
def test_lanes_have_the_bits_of_mj_step(robot):
    pools = [cypool.make(f"MaMuJoCo/{robot}-v1", num_envs=5, num_threads=0, seed=2, physics=physics)
             for physics in ("lanes", "mj_step")]
    pools[0].action_space.seed(0)
    actions = [pools[0].action_space.sample() for _ in range(60)]

    def flat(obs):
        return b"".join(part.tobytes() for part in obs.values()) if isinstance(obs, dict) else obs.tobytes()

    for env in pools:
        env.reset()
    for action in actions:
        (one, *ends, info), (other, *other_ends, other_info) = (env.step(action) for env in pools)
        assert flat(one) == flat(other) and info["state"].tobytes() == other_info["state"].tobytes()
        assert all((a == b).all() for a, b in zip(ends, other_ends, strict=True))


test_states_continue = continues([
    (CHEETAH, "NextStep", {}), ("MaMuJoCo/Ant-4x2-v1", "SameStep", {}),
    ("MaMuJoCo/CoupledHalfCheetah-v1", "Disabled", {}),
    ("MaMuJoCo/Reacher-v1", "NextStep", {"agent_obsk": None})], before=7, after=40, max_episode_steps=20)


def test_a_copy_observes_what_its_source_does():
    with started(cypool.make("MaMuJoCo/CoupledHalfCheetah-v1", num_envs=2, num_threads=0, seed=0)) as env:
        env.action_space.seed(0)
        env.step(env.action_space.sample())
        env.copy(0, [1])
        obs, *_, info = env.step(np.repeat(env.action_space.sample()[:1], 2, 0))
    assert (obs[0] == obs[1]).all() and (info["state"][0] == info["state"][1]).all()


@pytest.mark.parametrize("id, message", [
    ("MaMuJoCo/Ant-3x1-v1", "agent_conf: expected one of '2x4', '2x4d', '4x2', got '3x1'"),
    ("MaMuJoCo/InvertedPendulum-2x1-v1", "agent_conf: expected None for InvertedPendulum .which cannot be split., got"),
    ("MaMuJoCo/ManySegmentSwimmer-1x1-v1", "agent_conf: expected the number of agents and .* '2x3', with 2 to 64"),
    ("MaMuJoCo/ManySegmentAnt-65x1-v1", "agent_conf: expected the number of agents and .* '2x3', with 1 to 64"),
    ("MaMuJoCo/Spider-v1", "MaMuJoCo/Spider-v1")])
def test_ids_without_an_environment_are_refused(id, message):
    with pytest.raises(ValueError, match=message):
        cypool.make(id)


test_bad_options_are_refused = refuses([
    ({"agent_conf": 6}, ValueError, "agent_conf: expected one of '2x3', '6x1', got 6"),
    ({"agent_obsk": -1}, ValueError, "agent_obsk: expected 0 to 100, got -1"),
    ({"agent_obsk": "all"}, TypeError, "agent_obsk: expected an int, got 'all'"),
    ({"local_categories": ["qpos"]}, TypeError, r"local_categories\[0\]: expected a list of categories, got 'qpos'"),
    ({"local_categories": [["qpos"]]}, ValueError, "local_categories: expected 2 lists, one for each depth, got"),
    ({"local_categories": [["qpos"], ["mass"]]}, ValueError,
     r"local_categories\[1\]\[0\]: expected one of 'qpos', 'qvel', got 'mass'"),
    ({"global_categories": "qpos"}, TypeError, "global_categories: expected a list of categories, got 'qpos'"),
    ({"global_categories": ["cvel"]}, ValueError,
     r"global_categories\[0\]: expected one of 'qpos', 'qvel', got 'cvel'"),
    ({"local_categories": [[], []], "global_categories": []}, ValueError,
     "local_categories: expected categories that let each agent observe something, got"),
    ({"xml_file": "ant.xml"}, ValueError, "xml_file: expected a robot with 6 motors, got 8 in"),
    ({"frame_stack": 2}, ValueError, "frame_stack: not an option"),
    ({"action_dtype": "float64"}, ValueError, "action_dtype: not an option"),
    ({"reset_noise_scale": -1}, ValueError, "reset_noise_scale: expected 0 to")], CHEETAH)

test_bad_segments_are_refused = refuses([
    ({"agent_conf": None}, TypeError, "agent_conf: expected a str such as '2x3', got None"),
    ({"agent_conf": "2x"}, ValueError, "agent_conf: expected the number of agents and .* '2x3', with 1 to 64"),
    ({"xml_file": "ant.xml"}, ValueError, "xml_file: not an option")], SEGMENTS)

test_nothing_is_imported = imports_nothing(
    [(CHEETAH, {}, False), (SEGMENTS, {}, False)], ["gymnasium_robotics", "pettingzoo", "jinja2"])

test_parallel_env_passes_the_test_of_pettingzoo = pettingzoo_accepts("MaMuJoCo/Hopper-v1")
