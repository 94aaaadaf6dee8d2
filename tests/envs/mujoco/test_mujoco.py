"""MuJoCo's robots equal Gymnasium's, byte for byte; and their additional features."""
import json
import pickle
import re
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest
from family_tests import continues, equals, frees_models, refuses
from gymnasium.wrappers import FrameStackObservation
from markers import often_slow, slow
from receiving import started

import cypool
from cypool.envs.shared.mujoco import assets
from cypool.envs.shared.mujoco.specs import info_of
from cypool.envs.shared.packages import mujoco_version
from cypool.registration.registry import entry_of, resolve
from cypool.testing import check_parity

VERSION = mujoco_version.find()[1]

ROBOTS = ["Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum", "InvertedPendulum",
          "Pusher", "Reacher", "Swimmer", "Walker2d"]
IDS = [f"{robot}-{version}" for robot in ROBOTS for version in ("v4", "v5")]
WITH_REFERENCE = [id for id in IDS if id != "Pusher-v4"]

# each with another value than the default for every option of Gymnasium's constructor
SEEN = {"exclude_current_positions_from_observation": False}
UPRIGHT = {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.03, "healthy_reward": 0.4, "healthy_z_range": (0.9, 1.3),
           "healthy_angle_range": (-0.1, 0.15), "reset_noise_scale": 0.02, **SEEN}
PERSON = {"ctrl_cost_weight": 0.3, "reset_noise_scale": 0.02, **SEEN}
NOT_SEEN = {f"include_{name}_in_observation": False for name in ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")}
OPTIONS = [
    ("Ant-v5", {"forward_reward_weight": 2.5, "ctrl_cost_weight": 0.3, "contact_cost_weight": 0.01, "main_body": 3,
                "healthy_reward": 0.4, "healthy_z_range": (0.4, 0.8), "contact_force_range": (-0.3, 0.2),
                "reset_noise_scale": 0.05, "frame_skip": 3, **SEEN}),
    ("Ant-v5", {"main_body": "front_left_leg", "terminate_when_unhealthy": False,
                "healthy_z_range": (0.5, 0.7), "include_cfrc_ext_in_observation": False}),
    ("Ant-v5", {"reset_noise_scale": 0, "xml_file": "ant.xml"}),
    ("Ant-v4", {"ctrl_cost_weight": 0.3, "use_contact_forces": True, "contact_cost_weight": 0.01, "healthy_reward": 0.4,
                "healthy_z_range": (0.4, 0.8), "contact_force_range": (-0.3, 0.2), "reset_noise_scale": 0.05, **SEEN}),
    ("Ant-v4", {"terminate_when_unhealthy": False, "healthy_z_range": (0.5, 0.7), "xml_file": "ant.xml"}),
    ("HalfCheetah-v5", {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.3, "reset_noise_scale": 0.3,
                        "frame_skip": 2, "xml_file": "half_cheetah.xml", **SEEN}),
    ("HalfCheetah-v4", {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.3, "reset_noise_scale": 0.3, **SEEN}),
    ("Hopper-v5", {**UPRIGHT, "healthy_state_range": (-3.0, 2.0), "frame_skip": 3, "xml_file": "hopper.xml"}),
    ("Hopper-v5", {"terminate_when_unhealthy": False, "healthy_state_range": (-3.0, 2.0)}),
    ("Hopper-v4", {**UPRIGHT, "healthy_state_range": (-3.0, 2.0)}),
    ("Hopper-v4", {"terminate_when_unhealthy": False, "healthy_state_range": (-3.0, 2.0)}),
    ("Walker2d-v5", {**UPRIGHT, "frame_skip": 3, "xml_file": "walker2d.xml"}),
    ("Walker2d-v5", {"terminate_when_unhealthy": False}),
    ("Walker2d-v4", UPRIGHT),
    ("Walker2d-v4", {"terminate_when_unhealthy": False}),
    ("Humanoid-v5", {**PERSON, "forward_reward_weight": 0.7, "contact_cost_weight": 1e-5, "healthy_reward": 0.4,
                     "contact_cost_range": (0.1, 3), "healthy_z_range": (1.2, 1.5), "frame_skip": 3,
                     "xml_file": "humanoid.xml"}),
    ("Humanoid-v5", {"terminate_when_unhealthy": False, **NOT_SEEN}),
    ("Humanoid-v5", {"include_cvel_in_observation": False, "include_cfrc_ext_in_observation": False}),
    ("Humanoid-v4", {**PERSON, "forward_reward_weight": 0.7, "healthy_reward": 0.4, "healthy_z_range": (1.2, 1.5)}),
    ("Humanoid-v4", {"terminate_when_unhealthy": False}),
    ("HumanoidStandup-v5", {**PERSON, "uph_cost_weight": 0.5, "impact_cost_weight": 1e-5, "impact_cost_range": (0.1, 3),
                            "frame_skip": 3, "xml_file": "humanoidstandup.xml"}),
    ("HumanoidStandup-v5", NOT_SEEN),
    ("InvertedDoublePendulum-v5", {"healthy_reward": 0.4, "reset_noise_scale": 0.2, "frame_skip": 3,
                                   "xml_file": "inverted_double_pendulum.xml"}),
    ("InvertedPendulum-v5", {"reset_noise_scale": 0.05, "frame_skip": 3, "xml_file": "inverted_pendulum.xml"}),
    ("Pusher-v5", {"reward_near_weight": 0.2, "reward_dist_weight": 0.7, "reward_control_weight": 0.03, "frame_skip": 3,
                   "xml_file": "pusher_v5.xml"}),
    ("Reacher-v5", {"reward_dist_weight": 0.7, "reward_control_weight": 0.03, "frame_skip": 3,
                    "xml_file": "reacher.xml"}),
    ("Swimmer-v5", {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.3, "reset_noise_scale": 0.3, "frame_skip": 2,
                    "xml_file": "swimmer.xml", **SEEN}),
    ("Swimmer-v4", {"forward_reward_weight": 0.7, "ctrl_cost_weight": 0.3, "reset_noise_scale": 0.3, **SEEN}),
]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """The reference writes a log to the current folder."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def asset(name):
    return (Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / name).read_text()


def rollout(env, actions):
    return [env.step(action) for action in actions]


def same(ours, theirs):
    """Whether two lists of results of `step` are the same bytes."""
    for (*batch, info), (*other, other_info) in zip(ours, theirs, strict=True):
        arrays = [*batch, *(info[name] for name in sorted(info))]
        others = [*other, *(other_info[name] for name in sorted(other_info))]
        if any(a.dtype != b.dtype or a.tobytes() != b.tobytes() for a, b in zip(arrays, others, strict=True)):
            return False
    return True


# ---- equality with Gymnasium


BY_DEFAULT = [id if id.endswith("v5") else slow(id)[0] for id in WITH_REFERENCE]


@pytest.mark.parametrize("id", BY_DEFAULT)
def test_equals_gymnasium(id):
    assert entry_of(id).reference == f"gymnasium:{id}"
    parity = check_parity(id, num_envs=2, num_steps=130, seeds=(7,), num_threads=2)
    assert parity.num_episodes or id.startswith(("HalfCheetah", "HumanoidStandup", "Swimmer"))


test_equals_gymnasium_with_actions_of_double_precision = equals(
    BY_DEFAULT, num_envs=1, num_steps=60, seeds=(3,), num_threads=0, action_dtype="float64")
test_options = equals([case if "v5" in case[0] else slow(case)[0] for case in OPTIONS], num_envs=2, num_steps=60,
                      seeds=(1,), num_threads=0)


@pytest.mark.parametrize("id", [id for id in WITH_REFERENCE if id.endswith("v5")])
def test_every_option_of_gymnasium_is_tested(id):
    entry = gymnasium.envs.registration.load_env_creator(gymnasium.spec(id).entry_point)
    names = set(entry.__init__.__annotations__) - {"default_camera_config"}
    assert names == set().union(*(options for other, options in OPTIONS if other == id))


test_equals_gymnasium_in_every_autoreset_mode = equals(
    [(id, {"autoreset_mode": mode}) for mode in ("NextStep", "SameStep", "Disabled")
     for id in ("Hopper-v5", "Reacher-v5")], num_envs=3, num_steps=120, seeds=(2,), num_threads=2)
test_a_time_limit_of_ones_own = equals([("Swimmer-v5", {"max_episode_steps": 13})], num_envs=2, num_steps=60,
                                       seeds=(0,))


def test_pusher_v4_equals_gymnasiums(monkeypatch):
    # which refuses MuJoCo 3 by its version
    monkeypatch.setattr(mujoco, "__version__", "2.3.7")
    with pytest.warns(DeprecationWarning, match="v4 is out of date"):
        theirs = gymnasium.make("Pusher-v4", disable_env_checker=True)
    ours = cypool.make("Pusher-v4", num_envs=1, seed=5)
    assert ours.single_observation_space == theirs.observation_space
    obs, _ = ours.reset()
    assert obs[0].tobytes() == theirs.reset(seed=5)[0].tobytes()
    theirs.action_space.seed(0)
    for step in range(1, 301):
        action = theirs.action_space.sample()
        obs, reward, _, truncated, info = ours.step(action[None])
        if step % 101 == 0:
            assert obs[0].tobytes() == theirs.reset()[0].tobytes()
            continue
        their_obs, their_reward, _, their_truncated, their_info = theirs.step(action)
        assert obs[0].tobytes() == their_obs.tobytes() and reward[0] == their_reward
        assert truncated[0] == their_truncated == (step % 101 == 100)
        for name, value in their_info.items():
            assert info[name].dtype == value.dtype and info[name][0] == value


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_results_do_not_depend_on_threads(num_threads):
    with cypool.make("Humanoid-v5", num_envs=6, num_threads=0, seed=1) as alone, \
            cypool.make("Humanoid-v5", num_envs=6, num_threads=num_threads, seed=1) as env:
        alone.action_space.seed(0)
        actions = [alone.action_space.sample() for _ in range(40)]
        assert alone.reset()[0].tobytes() == env.reset()[0].tobytes()
        assert same(rollout(alone, actions), rollout(env, actions))


# ---- robots of the user


@pytest.mark.parametrize("id, robot", [("Hopper-v5", "hopper.xml"), ("AntMaze_UMaze-v5", "ant.xml")])
def test_file_that_an_xml_file_includes_may_change(tmp_path, id, robot):
    if id.startswith("AntMaze"):
        pytest.importorskip("gymnasium_robotics", reason="gymnasium-robotics is not installed")
    text = asset(robot)
    actuator = re.search("<actuator>.*</actuator>", text, re.DOTALL)[0]
    own, included = tmp_path / "own.xml", tmp_path / "parts" / "muscles.xml"
    included.parent.mkdir()
    # walls are added to the text, so that a path has to be absolute
    own.write_text(text.replace(actuator, f'<include file="{included}"/>'))
    included.write_text(f"<mujoco>{actuator}</mujoco>")
    with cypool.make(id, xml_file=str(own), num_threads=0) as before:
        assert before.single_action_space.high.max() == 1
        weaker = re.sub(r'ctrlrange="-1(.0)? 1(.0)?"', 'ctrlrange="-0.5 0.5"', actuator)
        included.write_text(f"<mujoco>{weaker}</mujoco>")
        with cypool.make(id, xml_file=str(own), num_threads=0) as after:
            assert after.single_action_space.high.max() == 0.5


def test_stamps_are_of_all_files_that_a_model_names(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "robot.xml").write_text(
        '<mujoco><compiler meshdir="meshes"/><include file="parts.xml"/><include file="none.xml"/></mujoco>')
    (tmp_path / "parts.xml").write_text(
        """<mujoco><include file='robot.xml'/><asset><mesh name="a" file="a.stl"/></asset></mujoco>""")
    (tmp_path / "meshes" / "a.stl").write_bytes(b"")
    (tmp_path / "other.xml").write_text("")
    named = {path for path, _, _ in assets.stamps_of(str(tmp_path / "robot.xml"))}
    assert named == {str(tmp_path / name) for name in ("robot.xml", "parts.xml", "meshes/a.stl")}


def test_an_xml_file_of_the_users(tmp_path):
    text = asset("ant.xml").replace('gear="150"', 'gear="90"').replace('size="0.25"', 'size="0.3"')
    (tmp_path / "big_ant.xml").write_text(text)
    for id in ("Ant-v5", "Ant-v4"):
        parity = check_parity(id, num_envs=2, num_steps=150, seeds=(0,), xml_file=str(tmp_path / "big_ant.xml"))
        assert "big_ant" in str(parity)


def test_a_file_that_has_changed_is_read_again(tmp_path):
    path = tmp_path / "own.xml"
    path.write_text(asset("hopper.xml"))
    with cypool.make("Hopper-v5", xml_file=str(path), seed=0) as first:
        path.write_text(path.read_text().replace('timestep="0.002"', 'timestep="0.004" '))
        with cypool.make("Hopper-v5", xml_file=str(path), seed=0) as second:
            first.reset(), second.reset()
            first.action_space.seed(0)
            actions = [first.action_space.sample()]
            assert not same(rollout(first, actions), rollout(second, actions))


def test_a_file_that_has_changed_in_the_middle_of_make_is_an_error(tmp_path):
    path = tmp_path / "own.xml"
    path.write_text(asset("hopper.xml"))
    cls, spec = resolve("Hopper-v5", None, {"xml_file": str(path)})
    path.write_text(asset("walker2d.xml"))
    with pytest.raises(ValueError, match="xml_file: .*own.xml has changed since its spec was made"):
        cls(spec, 0)


@pytest.mark.skipif(tuple(map(int, VERSION.split("."))) < (3, 16, 0), reason="this MuJoCo has nothing to say of it")
def test_what_mujoco_says_of_a_file_is_a_warning(tmp_path, empty_folder, capfd):
    path = tmp_path / "own.xml"
    path.write_text(asset("half_cheetah.xml"))
    with pytest.warns(UserWarning, match="settotalmass"):
        cypool.make_spec("HalfCheetah-v5", xml_file=str(path))
    # no warning about Gymnasium's own files
    cypool.make_spec("HalfCheetah-v5")
    assert capfd.readouterr() == ("", "") and list(empty_folder.iterdir()) == []


def test_bad_files(tmp_path):
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody>")
    (tmp_path / "still.xml").write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    (tmp_path / "cart.xml").write_text(asset("inverted_pendulum.xml"))
    for id, name, message in [
        ("Ant-v5", "there_is_none.xml", "xml_file: expected a path .* or one of .*, got 'there_is_none.xml'"),
        ("Ant-v5", str(tmp_path), "xml_file: .* cannot be read: it is not a file"),
        ("Ant-v5", "/dev/zero", "xml_file: /dev/zero cannot be read: it is not a file"),
        ("Ant-v5", str(tmp_path / "broken.xml"), "xml_file: MuJoCo cannot read .*broken.xml: XML parse error"),
        ("Ant-v5", str(tmp_path / "still.xml"), "xml_file: expected a robot with joints and actuators"),
        ("Ant-v4", str(tmp_path / "cart.xml"), "xml_file: expected a robot that moves in space, with at least 3"),
        ("Hopper-v5", str(tmp_path / "cart.xml"), "xml_file: expected a robot whose position consists of"),
        ("Humanoid-v5", str(tmp_path / "cart.xml"), "xml_file: expected a robot that moves freely"),
        ("InvertedDoublePendulum-v5", str(tmp_path / "cart.xml"), "xml_file: expected a robot with a cart, two poles"),
        ("Reacher-v5", str(tmp_path / "cart.xml"), "xml_file: expected a robot with a body 'fingertip'"),
    ]:
        with pytest.raises(ValueError, match=message):
            cypool.make(id, xml_file=name)


# hinges one in the other, with a motor each; and the objects that classes look for by name
SMALL = """<mujoco><option timestep="0.01"/><worldbody>{}<body name="goal"/><site name="tip" size="0.1"/></worldbody>
<actuator>{}</actuator></mujoco>"""


@pytest.mark.parametrize("joints", [1, 2, 3])
@pytest.mark.parametrize("id", IDS)
def test_robots_with_other_joints(id, joints, tmp_path):
    """A file is refused, or the observation fits its joints: nothing is read or written elsewhere."""
    body = ""
    for name in ("torso", "fingertip", "target", "object", "tips_arm"):
        joint = f'<joint name="j{name}" type="hinge" axis="0 1 0"/>' if body.count("<joint") < joints else ""
        body = f'<body name="{name}" pos="0 0 0.1">{joint}<geom size="0.1"/>{body}</body>'
    motors = "".join(f'<motor joint="j{name}"/>' for name in ("torso", "fingertip", "target")[:joints])
    (tmp_path / "small.xml").write_text(SMALL.format(body, motors))
    try:
        env = cypool.make(id, num_envs=2, seed=0, num_threads=0, xml_file=str(tmp_path / "small.xml"))
    except ValueError as error:
        assert str(error).startswith("xml_file: expected a robot ")
        return
    env.reset()
    for _ in range(3):
        env.step(env.action_space.sample())
    assert joints >= (3 if id.startswith(("Ant", "Humanoid", "Hopper", "Walker", "InvertedDouble")) else
                      2 if id.startswith(("Inverted", "Swimmer")) else 1)
    assert not id.startswith(("Reacher", "Pusher", "Humanoid-v5", "HumanoidStandup-v5"))


def test_another_file_of_gymnasiums_is_an_error(monkeypatch):
    monkeypatch.setitem(assets.CHECKSUMS, "point.xml", "0")
    message = r"xml_file: expected Gymnasium 1.4's point.xml, but /.*/point.xml differs: pip install .gymnasium=="
    with pytest.raises(ValueError, match=f"^{message}"):
        cypool.make("HalfCheetah-v5", xml_file="point.xml")


@pytest.mark.parametrize(("id", "cameras"), [("Ant-v5", "'track'"), ("Humanoid-v5", "'track'"),
                                             ("HumanoidStandup-v5", "'track'"), ("Pusher-v5", "none with a name")])
def test_a_camera_that_is_not_there(id, cameras):
    for name in ("x", "", "track\0", "\ud800"):
        with pytest.raises(ValueError, match=rf"^camera_name: expected a camera in .*\.xml, which has {cameras}; got"):
            cypool.make(id, camera_name=name)


def test_names_that_nothing_can_have():
    for name in ("torso\0", "\ud800"):
        for options in ({"main_body": name}, {"xml_file": name}, {"randomize": {name: (1, 2)}},
                        {"randomize": {f"body_mass:{name}": (1, 2)}}):
            argument, = options
            with pytest.raises(ValueError, match=f"^({argument}|main_body: xml_file): expected "):
                cypool.make("Ant-v5", **options)


test_bad_options = refuses([
    ({"xml_file": 3}, TypeError, "xml_file: expected a str"),
    ({"frame_skip": 0}, ValueError, "frame_skip: expected 1 to"),
    ({"frame_skip": 2.0}, TypeError, "frame_skip: expected an int"),
    ({"ctrl_cost_weight": "much"}, TypeError, "ctrl_cost_weight: expected a number"),
    ({"ctrl_cost_weight": float("nan")}, ValueError, "ctrl_cost_weight: expected -inf to inf, got nan"),
    ({"healthy_reward": None}, TypeError, "healthy_reward: expected a number"),
    ({"healthy_z_range": 3}, TypeError, "healthy_z_range: expected two numbers"),
    ({"healthy_z_range": (1, 2, 3)}, TypeError, "healthy_z_range: expected two numbers"),
    ({"healthy_z_range": (1, "2")}, TypeError, "healthy_z_range: expected a number"),
    ({"reset_noise_scale": -1}, ValueError, "reset_noise_scale: expected 0 to"),
    ({"terminate_when_unhealthy": 1}, TypeError, "terminate_when_unhealthy: expected True or False"),
    ({"include_cfrc_ext_in_observation": None}, TypeError, "include_cfrc_ext_in_observation: expected True or False"),
    ({"main_body": "head"}, ValueError, ".*: expected a robot with a body 'head', found none in .*ant.xml"),
    ({"main_body": 99}, ValueError, "main_body: expected 0 to 13, got 99"),
    ({"obs_dtype": "float16"}, ValueError, "obs_dtype: expected one of 'float64', 'float32'"),
    ({"action_dtype": np.float32}, ValueError, "action_dtype: expected one of 'float32', 'float64'"),
    ({"frame_stack": 0}, ValueError, "frame_stack: expected 1 to 1024"),
    ({"healthy_angle_range": (0, 1)}, ValueError, "healthy_angle_range: not an option of Ant-v5"),
], "Ant-v5")


def test_bad_actions():
    env = started(cypool.make("Ant-v5", num_envs=2))
    for actions, error, message in [
        (np.full((2, 8), 1.5, np.float32), ValueError, r"actions: expected values in \[-1.0, 1.0\], got 1.5 in row 0"),
        (np.full((2, 8), np.nan, np.float32), ValueError, "actions: expected values"),
        (np.zeros((2, 7), np.float32), ValueError, "actions: expected shape"),
        (np.zeros((2, 8), np.complex64), TypeError, "actions: expected float32"),
    ]:
        with pytest.raises(error, match=message):
            env.step(actions)


# ---- when MuJoCo is in trouble


def unstable_robot(tmp_path):
    path = tmp_path / "wild.xml"
    text = asset("hopper.xml")
    path.write_text(text.replace('gear="200.0"', 'gear="1e5"').replace('timestep="0.002"', 'timestep="0.02"'))
    assert path.read_text().count("1e5") == 3 and 'timestep="0.02"' in path.read_text()
    return str(path)


def test_an_unstable_simulation_starts_over_as_in_gymnasium(tmp_path):
    options = {"xml_file": unstable_robot(tmp_path), "terminate_when_unhealthy": False}
    check_parity("Hopper-v5", num_envs=2, num_steps=60, seeds=(0, 1), **options)
    with started(cypool.make("Hopper-v5", num_envs=2, seed=0, **options)) as env:
        env.action_space.seed(0)
        unstable = [env.step(env.action_space.sample())[-1]["unstable"] for _ in range(60)]
        assert np.max(unstable) > 0 and np.min(unstable) == 0
    # with its own limits the episode ends as Gymnasium's does
    check_parity("Hopper-v5", num_envs=2, num_steps=60, seeds=(0, 1), xml_file=options["xml_file"])


def test_an_unstable_simulation_is_quiet(tmp_path, empty_folder, capfd):
    with cypool.make("Hopper-v5", seed=0, xml_file=unstable_robot(tmp_path), terminate_when_unhealthy=False) as env:
        env.reset()
        env.action_space.seed(0)
        assert sum(env.step(env.action_space.sample())[-1]["unstable"][0] for _ in range(60)) > 0
    assert capfd.readouterr() == ("", "") and list(empty_folder.iterdir()) == []


# several limbs on the ground at once are more than fits into so little memory
CROWD = """<mujoco><size memory="{memory}"/><option timestep="0.01"/><worldbody><geom type="plane" size="9 9 1"/>{balls}
</worldbody><actuator><motor joint="j0"/></actuator></mujoco>"""
BALL = '<body name="b{k}" pos="{x} 0 {z}"><joint name="j{k}" type="slide" axis="0 0 1"/><geom size="0.1"/></body>'


def crowd(tmp_path, memory):
    path = tmp_path / f"crowd{memory}.xml"
    # they land one after the other
    balls = "".join(BALL.format(k=k, x=k, z=0.11 + 0.02 * k) for k in range(40))
    path.write_text(CROWD.format(memory=memory, balls=balls))
    return str(path)


@pytest.mark.parametrize("memory", ["60k", "90k"])
def test_what_mujoco_cannot_do_is_the_error_of_that_env(tmp_path, empty_folder, capfd, memory):
    # Swimmer's rules fit any robot: they look at two positions
    small, large = crowd(tmp_path, memory), crowd(tmp_path, "1M")
    env = started(cypool.make("Swimmer-v5", num_envs=2, seed=0, env_options=[{"xml_file": small}, {"xml_file": large}]))
    well = started(cypool.make("Swimmer-v5", num_envs=1, seed=1, xml_file=large))
    zeros = np.zeros((2, 1), np.float32)
    failed = 0
    for _ in range(40):
        other = well.step(zeros[:1])
        try:
            batch = env.step(zeros)
        except cypool.EnvError as error:
            failed += 1
            assert list(error.causes) == [0] and str(error.__cause__).startswith("MuJoCo: ")
            batch = error.batch
        # the other one continues
        assert batch[0][1].tobytes() == other[0][0].tobytes()
    assert failed > 1
    assert capfd.readouterr() == ("", "") and list(empty_folder.iterdir()) == []


# ---- save and load


test_save_and_load = continues(often_slow([(id, "NextStep", {}) for id in IDS[::-1]], 2), before=10, after=12,
                               max_episode_steps=15)
test_save_and_load_with_everything = continues([("Ant-v5", "SameStep", {
    "frame_stack": 3, "obs_dtype": "float32", "randomize": {"body_mass": (0.5, 1.5), "geom_friction": (0.5, 1.5)},
    "max_episode_steps": 40})], before=25, after=50)


def test_a_state_of_other_options_is_refused():
    with cypool.make("Ant-v5") as env, cypool.make("Ant-v5", frame_stack=2) as other:
        env.reset(), other.reset()
        with pytest.raises(ValueError, match="state: expected a state of Ant-v5"):
            other.load(env.save())
        state = env.save()
        packed, *rest = state.rows[0]["own"]
        for own in ((packed[:-9], *rest), (packed, *rest[:-1]), (b"", *rest), (packed, *rest[:-1], [1.0])):
            state.rows[0]["own"] = own
            with pytest.raises(ValueError, match="state"):
                env.load(state)


# ---- the form of observations


def test_observations_of_single_precision_are_rounded():
    with cypool.make("Ant-v5", num_envs=2, seed=0) as env, \
            cypool.make("Ant-v5", num_envs=2, seed=0, obs_dtype="float32") as single:
        assert single.single_observation_space == gymnasium.spaces.Box(-np.inf, np.inf, (105,), np.float32)
        assert (env.reset()[0].astype(np.float32) == single.reset()[0]).all()
        for _ in range(60):
            actions = env.action_space.sample()
            obs, *rest = env.step(actions)
            rounded, *others = single.step(actions)
            assert obs.astype(np.float32).tobytes() == rounded.tobytes()
            assert same([(obs, *rest)], [(obs, *others)])


@pytest.mark.parametrize("frame_stack", [2, 4])
def test_frame_stack_is_that_of_gymnasiums_wrapper(frame_stack):
    theirs = FrameStackObservation(gymnasium.make("Hopper-v5"), frame_stack)
    with cypool.make("Hopper-v5", num_envs=1, seed=4, frame_stack=frame_stack) as env:
        assert env.single_observation_space == theirs.observation_space
        assert env.reset()[0][0].tobytes() == theirs.reset(seed=4)[0].tobytes()
        over = False
        theirs.action_space.seed(0)
        for _ in range(100):
            action = theirs.action_space.sample()
            if over:
                obs, over = theirs.reset()[0], False
            else:
                obs, _, terminated, truncated, _ = theirs.step(action)
                over = terminated or truncated
            assert env.step(action[None])[0][0].tobytes() == obs.tobytes()


# ---- domain randomization


def randomized_gymnasium(id, randomize, episodes, **options):
    """Returns observations and rewards of Gymnasium's environment, its model changed before each reset."""
    env = gymnasium.make(id, disable_env_checker=True, **options).unwrapped
    env.np_random = np.random.Generator(np.random.PCG64(11))
    base = {name: np.array(read_field(env.model, name)) for name in randomize}
    seen = []
    for actions in episodes:
        for name, (operation, low, high) in randomize.items():
            drawn = env.np_random.uniform(low, high, base[name].shape)
            read_field(env.model, name)[...] = {"scale": base[name] * drawn, "add": base[name] + drawn,
                                                "set": drawn}[operation]
        mujoco.mj_setConst(env.model, env.data)
        seen.append((env.reset()[0], 0.0))
        seen += [env.step(action)[:2] for action in actions]
    return seen


def read_field(model, name):
    field, _, owner = name.partition(":")
    if field.startswith("opt."):
        return getattr(model.opt, field[4:])
    array = getattr(model, field)
    if not owner:
        return array
    kind = {"body": model.body, "geom": model.geom, "jnt": model.joint}[field.partition("_")[0]]
    return array[kind(owner).id:][:1]


@pytest.mark.parametrize("id, randomize", [
    ("Ant-v5", {"geom_friction": ("scale", 0.2, 3.0)}),
    ("Ant-v5", {"body_mass": ("scale", 0.5, 1.5), "body_inertia": ("scale", 0.9, 1.1), "dof_damping": ("add", 0, 1)}),
    ("Humanoid-v5", {"body_mass:torso": ("set", 5.0, 12.0), "opt.gravity": ("add", -2, 2)}),
    ("Walker2d-v5", {"geom_friction:foot_geom": ("set", 0.1, 2.0), "jnt_range": ("scale", 0.5, 1.0),
                     "actuator_gear": ("scale", 0.5, 2.0), "dof_armature": ("scale", 0.5, 2.0)}),
    ("HalfCheetah-v5", {"body_pos": ("add", -0.01, 0.01), "geom_size": ("scale", 0.9, 1.1)}),
])
def test_randomized_models_are_those_of_mujoco(id, randomize):
    options = {} if id == "HalfCheetah-v5" else {"terminate_when_unhealthy": False}
    with cypool.make(id, seed=11, autoreset_mode="Disabled", randomize=randomize, **options) as env:
        env.single_action_space.seed(11)
        episodes = [[env.single_action_space.sample() for _ in range(12)] for _ in range(3)]
        seen = []
        for actions in episodes:
            seen.append((env.reset()[0][0], 0.0))
            for action in actions:
                obs, reward, *_ = env.step(action[None])
                seen.append((obs[0], reward[0]))
    for (obs, reward), (their_obs, their_reward) in zip(seen, randomized_gymnasium(id, randomize, episodes, **options),
                                                        strict=True):
        assert obs.tobytes() == their_obs.tobytes() and reward == their_reward


@pytest.mark.families("dm_control", "mamujoco", "metaworld", "robotics")
@pytest.mark.parametrize("id, package, field", [
    ("Ant-v5", "mujoco", "geom_friction"), ("dm_control/walker-walk-v0", "dm_control", "geom_friction"),
    ("FetchReach-v4", "gymnasium_robotics", "dof_damping"), ("Meta-World/reach-v3", "metaworld", "dof_damping"),
    ("MaMuJoCo/HalfCheetah-v1", "gymnasium_robotics", "geom_friction")])
def test_the_drawn_numbers_of_randomized_models_are_an_info(id, package, field):
    pytest.importorskip(package)
    randomize = {"opt.gravity": ("add", -0.5, 0.5), field: (0.5, 1.5)}
    with cypool.make(id, num_envs=2, seed=11, num_threads=0, randomize=randomize, randomize_info=True) as env:
        assert [*env.env_spec.info] == [*cypool.make_spec(id).info, "randomize"]
        drawn = env.reset()[1]["randomize"].copy()
        assert drawn.size > 8 and len(set(drawn.ravel())) == drawn.size
        assert (abs(drawn[:, :3]) <= 0.5).all() and (abs(drawn[:, 3:] - 1) <= 0.5).all()
        state = env.save()
        actions = env.action_space.sample()
        assert (env.step(actions)[-1]["randomize"] == drawn).all()
        assert (env.reset()[1]["randomize"] != drawn).all()
        env.load(state)
        assert (env.step(actions)[-1]["randomize"] == drawn).all()


def test_info_of_a_robot_with_a_name_of_ours_is_refused():
    with pytest.raises(ValueError, match="^info: expected names other than unstable, got 'unstable'"):
        info_of(None, {"unstable": "float64"}, {"randomize": None})


def test_each_env_varies_and_the_shared_model_does_not():
    options = {"randomize": {"body_mass": (0.5, 1.5)}}
    actions = np.zeros((3, 8), np.float32)
    with cypool.make("Ant-v5", num_envs=3, seed=[0, 0, 1], **options) as env, \
            cypool.make("Ant-v5", num_envs=1, seed=0) as plain, \
            cypool.make("Ant-v5", num_envs=1, seed=0) as later:
        plain.reset()
        before = rollout(plain, [actions[:1]] * 5)
        env.reset()
        *_, (obs, *_) = rollout(env, [actions] * 5)
        assert obs[0].tobytes() == obs[1].tobytes() != obs[2].tobytes()
        later.reset()
        assert same(before, rollout(later, [actions[:1]] * 5))


@pytest.mark.parametrize("randomize, error, message", [
    (["geom_friction"], TypeError, "randomize: expected a dict or None"),
    ({"geom_friction": 2}, TypeError, "randomize: expected field names with"),
    ({3: (1, 2)}, TypeError, "randomize: expected field names with"),
    ({"geom_friction": (2, 1)}, ValueError, r"randomize\['geom_friction'\]: expected low to be"),
    ({"geom_friction": ("double", 1, 2)}, ValueError, r"randomize\['geom_friction'\]: expected one of 'scale'"),
    ({"friction": (1, 2)}, ValueError, "randomize: expected mjModel fields, got 'friction' .did you mean"),
    # nothing is close: all of the model's own
    ({"kp": (1, 2)}, ValueError, "got 'kp'; these can vary: .*, body_mass, .*, geom_friction, .*opt.gravity"),
    ({"body_mas": (1, 2)}, ValueError, "randomize: .*, got 'body_mas' .did you mean body_mass"),
    ({"body_mass": (-2, -1)}, ValueError, "randomize.'body_mass'.: expected nonnegative values, got 'scale', -2"),
    ({"body_mass": ("set", -1, 1)}, ValueError, "randomize.'body_mass'.: expected nonnegative values"),
    ({"body_mass:torso": ("add", -50, 1)}, ValueError, "randomize.'body_mass:torso'.: expected nonnegative values"),
    ({"geom_type": (1, 2)}, ValueError, "randomize: expected a real-valued field"),
    ({"opt.timestep": (1, 2)}, ValueError, "randomize: expected a real-valued field other than the time step"),
    ({"tendon_stiffness": (1, 2)}, ValueError, "has no objects with a 'tendon_stiffness' field"),
    ({"geom_friction:head": (1, 2)}, ValueError, "randomize: expected .* type geom in .*ant.xml, got 'head'"),
    ({"opt.gravity:x": (1, 2)}, ValueError, "randomize: .* only for fields that start with body, jnt"),
])
def test_bad_randomize(randomize, error, message):
    with pytest.raises(error, match=message):
        cypool.make("Ant-v5", randomize=randomize)


# ---- a robot of another package


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
def test_a_robot_of_another_package(walker, num_threads):
    import walker.robot as robot

    model = mujoco.MjModel.from_xml_path(robot.XML)
    data = mujoco.MjData(model)
    with cypool.make("walker/Robot-v0", num_envs=2, num_threads=num_threads, seed=5) as env:
        obs, _ = env.reset()
        generator = np.random.Generator(np.random.PCG64(5))
        start = generator.uniform(-0.1, 0.1, 2), 0.01 * generator.standard_normal(2)
        assert obs[0].tobytes() == np.concatenate(start).tobytes()
        data.qpos[:], data.qvel[:] = start
        mujoco.mj_forward(model, data)
        ended = False
        env.action_space.seed(0)
        for _ in range(200):
            actions = np.sign(env.action_space.sample())
            obs, reward, terminated, truncated, info = env.step(actions)
            data.ctrl[:] = actions[0]
            mujoco.mj_step(model, data, 10)
            height = data.body("tip").xpos[2]
            assert obs[0].tobytes() == np.concatenate([data.qpos, data.qvel]).tobytes()
            assert reward[0] == height - np.float32(0.01) * np.sum(np.square(actions[0]))
            assert info["height"][0] == height and info["unstable"][0] == 0
            assert terminated[0] == (height > 0.9)
            if terminated[0]:
                ended = True
                break
        assert ended or truncated[0]


def test_a_robot_of_another_package_has_what_all_have(walker):
    options = {"frame_stack": 2, "obs_dtype": "float32", "randomize": {"body_mass": (0.5, 2)}, "goal": -0.9}
    with cypool.make("walker/Robot-v0", num_envs=3, seed=0, **options) as env, \
            cypool.make("walker/Robot-v0", num_envs=3, seed=1, **options) as other:
        obs, _ = env.reset()
        assert obs.shape == (3, 2, 4) and obs.dtype == np.float32
        env.action_space.seed(0)
        actions = [env.action_space.sample() for _ in range(50)]
        rollout(env, actions[:10])
        other.load(env.save())
        ours = rollout(env, actions[10:])
        assert same(ours, rollout(other, actions[10:]))
        assert any(batch[2].any() for batch in ours)


# ---- memory, copies, and MuJoCo itself

test_a_model_is_loaded_once_and_then_freed = frees_models([("Ant-v5", 3)])


def test_an_ant_is_small(run_python):
    done = run_python("""
import cypool, psutil
resident = lambda: psutil.Process().memory_info().rss
def stepped(num_envs):
    env = cypool.make("Ant-v5", num_envs=num_envs, num_threads=2)
    env.reset()
    for _ in range(60):
        env.step(env.action_space.sample())
    return env
first = stepped(2)
before = resident()
others = stepped(64)
print((resident() - before) / 64e6)
""")
    assert done.stderr == "" and float(done.stdout) < 0.4


def test_the_version_is_that_of_the_library():
    assert VERSION == mujoco.__version__ == mujoco.mj_versionString()


def test_a_copy_has_the_same_options(tmp_path):
    with cypool.make("Walker2d-v4", num_envs=2, seed=0, frame_stack=2, randomize={"body_mass": (0.9, 1.1)}) as env, \
            pickle.loads(pickle.dumps(env)) as copy:
        assert copy.env_spec.options == env.env_spec.options
        assert copy.reset()[0].tobytes() == env.reset()[0].tobytes()


def test_a_robot_without_memory_fails_and_goes_on_later(run_python, monkeypatch):
    # one heap for all threads, so that a thread has no memory left if the process has none
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    done = run_python("""
import ctypes
import re
import resource

import numpy as np

import cypool

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes, libc.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
taken, count, most = (ctypes.c_void_p * 100_000)(), 0, resource.getrlimit(resource.RLIMIT_DATA)[1]
failures = dict.fromkeys(("make", "reset", "step"), False)


def take_memory(spare):
    # all but this number of bytes, in one piece
    global count
    with open("/proc/self/status") as file:
        used = 1024 * int(re.search(r"VmData:\\s+(\\d+)", file.read())[1])
    resource.setrlimit(resource.RLIMIT_DATA, (used + spare, most))
    kept = libc.malloc(spare)
    for size in (1 << 22, 1 << 18, 1 << 14, 1 << 10):
        while count < len(taken) and (piece := libc.malloc(size)):
            taken[count] = piece
            count += 1
    libc.free(kept)


def give_back():
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    global count
    while count:
        count -= 1
        libc.free(taken[count])


def attempt(call):
    try:
        return call()
    # NumPy has a SystemError for some
    except (MemoryError, RuntimeError, ValueError, SystemError):
        failures[moment] = True


def make():
    return cypool.make("Ant-v5", num_envs=6, num_threads=3, seed=0, randomize={"body_mass": (0.9, 1.1)})


with make() as env:
    action = np.zeros(env.action_space.shape)
    begin, _ = env.reset(seed=0)
    want = env.step(action)[0]
for moment in failures:
    for spare in (1, 10_000, 100_000, 1_000_000, 8_000_000, 20_000_000):
        if moment == "make":
            take_memory(spare)
        env = attempt(make)
        if moment == "reset":
            take_memory(spare)
        if env is not None:
            # threads are new: it is their first call of MuJoCo
            attempt(env.reset)
            if moment == "step":
                take_memory(spare)
            for call in (lambda: env.step(action), lambda: env.load(env.save())):
                attempt(call)
            give_back()
            assert np.array_equal(env.reset(seed=0)[0], begin) and np.array_equal(env.step(action)[0], want)
            env.close()
        give_back()
assert all(failures.values()), failures
print("ok")
""")
    assert done.stdout == "ok\n", (done.returncode, done.stdout, done.stderr)


def test_timers_of_others_run_and_a_clock_is_not_called(run_forked):
    done = run_forked("""if True:
        import cypool, mujoco
        calls = []
        mujoco.set_mjcb_time(lambda: calls.append(1) or 0.0)
        env = cypool.make("InvertedPendulum-v5", num_envs=4, num_threads=2)
        env.reset()
        env.step(env.action_space.sample())
        print(len(calls))
        mujoco.set_mjcb_time(None)
        model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='1'/></body>"
                                               "</worldbody></mujoco>")
        def timer():
            data = mujoco.MjData(model)
            mujoco.mj_step(model, data)
            # which MuJoCo's bindings do not keep alive
            step = data.timer[mujoco.mjtTimer.mjTIMER_STEP]
            return step.number, step.duration > 0
        # in 3.3.0, None is no clock at all
        _, runs = timer()
        cypool.make("Reacher-v5", num_threads=0).reset()
        number, runs_now = timer()
        print(number, runs_now == runs)
    """)
    assert done.stdout.splitlines() == ["0", "1 True"], (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", ["egl", *slow("osmesa")])
def test_a_missing_opengl_is_not_missed_where_nothing_is_drawn(run_python, name):
    # the errors of PyOpenGL where it finds no library
    done = run_python(f"""
import os
import sys
from importlib.util import find_spec
os.environ["MUJOCO_GL"] = {name!r}

class Missing:
    def find_spec(self, module, path=None, target=None):
        if module == "OpenGL":
            raise AttributeError("'NoneType' object has no attribute 'glGetError'")

sys.meta_path.insert(0, Missing())
import cypool
for id in ("Ant-v5", "dm_control/lqr-lqr_2_1-v0")[:1 + (find_spec("dm_control") is not None)]:
    with cypool.make(id, seed=0) as env:
        env.reset()
print(os.environ["MUJOCO_GL"])
""")
    assert done.stdout.split() == [name], done.stderr


def test_values_beyond_the_type_of_a_field_are_refused():
    for values in (("add", 1e300, 1e300), ("set", -1e39, 0), ("scale", 1, 1e40)):
        with pytest.raises(ValueError, match=r"^randomize\['geom_rgba'\]: expected values that fit float32"):
            cypool.make("Ant-v5", randomize={"geom_rgba": values})


def test_options_survive_json():
    options = cypool.make_spec("Ant-v5", visual_options={1: True, 3: False}).options
    again = cypool.make_spec("Ant-v5", visual_options=json.loads(json.dumps(options["visual_options"]))).options
    assert again["visual_options"] == options["visual_options"] == {1: True, 3: False}
