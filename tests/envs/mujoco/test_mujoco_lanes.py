"""Lanes against mj_step: every number is compared bit by bit."""
import contextlib
import ctypes
import importlib
import re
import shutil
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from comparing import assert_same
from markers import EXHAUSTIVE, exhaustive
from receiving import started

import cypool
from cypool.envs.shared.lanes import mujoco_lanes
from cypool.envs.shared.lanes.mujoco_lanes import check_machine, make_lanes
from cypool.envs.shared.mujoco.mujoco_common import load_model

mujoco = pytest.importorskip("mujoco")
try:
    check_machine()
except ValueError as refusal:
    pytest.skip(f"lanes: {refusal}", allow_module_level=True)

ROBOTS = ["half_cheetah.xml", "hopper.xml", "walker2d.xml", "walker2d_v5.xml", "ant.xml", "humanoid.xml",
          "humanoidstandup.xml", "inverted_pendulum.xml", "inverted_double_pendulum.xml"]
IDS = [f"{name}-v{version}" for name in (
    "HalfCheetah", "Hopper", "Walker2d", "Ant", "Humanoid", "HumanoidStandup", "InvertedPendulum",
    "InvertedDoublePendulum", "Reacher", "Pusher", "Swimmer") for version in (4, 5)]
TASKS = [pytest.param(f"dm_control/{task}-v0", marks=pytest.mark.families("dm_control"))
         for task in ("cheetah-run", "walker-run", "hopper-hop", "humanoid-walk", "humanoid-run_pure_state",
                      "acrobot-swingup", "cartpole-three_poles", "pendulum-swingup", "point_mass-easy", "quadruped-run",
                      "reacher-hard", "stacker-stack_2", "manipulator-insert_ball", "finger-spin", "finger-turn_hard",
                      "swimmer-swimmer6", "ball_in_cup-catch", "fish-swim", "lqr-lqr_2_1")]
MAZES = [pytest.param(f"AntMaze_{name}", marks=pytest.mark.families("robotics"))
         for name in ("UMaze-v5", "Large-v4", "Medium-v3")]
# by ids: MuJoCo's steps in one of ours, and how many thousands of them are compared; ten millions in sum
LONG = {"HalfCheetah-v5": (5, 2000), "HalfCheetah-v4": (5, 500), "Hopper-v5": (4, 700), "Walker2d-v5": (4, 700),
        "Walker2d-v4": (4, 300), "Ant-v5": (5, 500), "Ant-v4": (5, 200), "Humanoid-v5": (5, 300),
        "HumanoidStandup-v5": (5, 200), "InvertedPendulum-v5": (2, 1000), "InvertedDoublePendulum-v5": (5, 1000),
        "dm_control/cheetah-run-v0": (1, 1000), "dm_control/walker-run-v0": (10, 800),
        "dm_control/hopper-hop-v0": (4, 300), "dm_control/humanoid-walk-v0": (5, 200),
        "dm_control/quadruped-run-v0": (4, 200), "dm_control/acrobot-swingup-v0": (1, 300),
        "AntMaze_UMaze-v5": (5, 300), "AntMaze_Large-v4": (5, 200)}
# a body that floats, spheres and capsules that touch each other and a plane
SPIDER = """
<mujoco>
  <option timestep="0.004" {option}/>
  <default><geom friction="0.7" condim="{condim}" margin="0.003"/></default>
  <worldbody>
    <geom type="plane" size="9 9 9" {plane}/>
    {walls}
    <body pos="0 0 0.6">
      <freejoint/>
      <geom type="sphere" size="0.2"/>
      <body pos="0.2 0 0">
        <joint axis="0 1 0" range="-80 80" limited="true" damping="0.4" armature="0.02"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/>
        <body pos="0.3 0 0">
          <joint axis="0 1 1" pos="0.01 0 0" stiffness="2"/>
          <geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.05"/>
          <geom size="0.06" pos="0.3 0.1 0"/>
        </body>
      </body>
      <body pos="0.2 0.12 0">
        <joint axis="0 0 1" range="-70 70" limited="true"/>
        <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.05"/>
      </body>
    </body>
  </worldbody>
  <actuator>{actuators}</actuator>
</mujoco>
"""
MOTOR = '<motor joint="knee" gear="9" ctrllimited="true" ctrlrange="-1 1"/>'


# boxes into which the robot falls, of which two are alike
WALLS = """<geom type="box" size="0.5 0.1 0.3" pos="0 0.4 0.2"/><geom type="box" size="0.5 0.1 0.3" pos="0 -0.5 0.2"/>
           <geom type="box" size="0.1 0.6 0.3" pos="0.9 0 0.2" friction="0.2"/>"""


def own_robot(tmp_path, option="", condim=3, plane="", walls=""):
    """Returns the path of a robot of nine degrees of freedom."""
    path = tmp_path / "spider.xml"
    text = SPIDER.replace("<joint axis", '<joint name="knee" axis', 1)
    path.write_text(text.format(option=option, condim=condim, plane=plane, walls=walls, actuators=MOTOR))
    return str(path)


def make_both(env_id, num_envs=7, **options):
    """Returns a pool that uses lanes, and one that does not, both after a reset."""
    return [started(cypool.make(env_id, num_envs=num_envs, seed=5, physics=physics, **options))
            for physics in ("lanes", "mj_step")]


def random_actions(pool, rng):
    space = pool.single_action_space
    return rng.uniform(space.low, space.high, (pool.num_envs, *space.shape)).astype(space.dtype)


def move_states(source, target):
    """Loads the states of a pool into another, and checks that they were the same."""
    states = source.save()
    assert [row["own"] for row in states.rows] == [row["own"] for row in target.save().rows]
    target.load(states)


def step_both(pools, rng, num_steps=1):
    for _ in range(num_steps):
        actions = random_actions(pools[0], rng)
        assert_same(*(pool.step(actions) for pool in pools))


@pytest.mark.parametrize("xml_file", ROBOTS)
@pytest.mark.parametrize(("noise", "ends_with_step1"), [(0.1, False), (1.0, True), *exhaustive((0.005, True))])
def test_lanes_of_a_robot_have_the_bits_of_mj_step(xml_file, noise, ends_with_step1):
    lanes = make_lanes(load_model(xml_file))
    before = lanes.num_compared()
    assert lanes.compare(300, 100, 11, noise, 1.5, ends_with_step1) == ""
    # where a person falls into the ground, there are more rows than lanes have room for
    assert lanes.num_compared() - before > 1500


@pytest.mark.parametrize("option", [
    "", 'integrator="RK4"', 'solver="PGS"', 'solver="PGS" integrator="RK4"',
    'gravity="0.3 0 -9" tolerance="1e-4" iterations="3"',
])
@pytest.mark.parametrize("condim", [1, 3])
def test_lanes_of_an_own_robot_have_the_bits_of_mj_step(tmp_path, option, condim):
    lanes = make_lanes(load_model(own_robot(tmp_path, option, condim)))
    assert lanes.compare(300, 60, 3, 0.3, 1) == ""


@pytest.mark.parametrize("condim", [1, 3])
def test_lanes_of_a_robot_between_walls_have_the_bits_of_mj_step(tmp_path, condim):
    lanes = make_lanes(load_model(own_robot(tmp_path, condim=condim, walls=WALLS)))
    for noise in (0.1, 0.5):
        before = lanes.num_compared()
        assert lanes.compare(300, 60, 3, noise, 1) == ""
        assert lanes.num_compared() - before > 1500


@pytest.mark.parametrize(("option", "reason"), [
    ('density="1.2" integrator="implicitfast"', "fluid"),
    ('cone="elliptic" solver="PGS"', "cone"), ('solver="CG"', "solver"),
    ('integrator="implicit"', "integrator"), ('jacobian="sparse"', "sparse"),
])
def test_lanes_refuse_a_model_outside_of_their_class(tmp_path, option, reason):
    with pytest.raises(ValueError, match=reason):
        make_lanes(load_model(own_robot(tmp_path, option)))


def test_lanes_of_a_contact_that_moves_nothing_have_the_bits_of_mj_step(tmp_path):
    path = tmp_path / "top.xml"
    path.write_text("""<mujoco><worldbody><geom type="plane" size="9 9 9"/><body pos="0 0 0.1"><geom size="0.2"/>
        <joint name="spin" axis="0 0 1"/><body pos="0.5 0 1"><geom size="0.1"/><joint axis="0 1 1" pos="0 0 1"/></body>
        </body></worldbody><actuator><motor joint="spin"/></actuator></mujoco>""")
    lanes = make_lanes(load_model(str(path)))
    for noise in (0, 0.1, 1):
        assert lanes.compare(200, 20, 1, noise, 1) == ""


# light bodies on hinges: position, axis, mass, inertia, where the centre of mass is, and whether there is a ball
CHAINS = {
    # the ball lies where it turns, so its contact moves nothing and costs all but the same at any acceleration
    "turntable": [("0 0 0.05", "0 0 1", 0.015, 1e-13, 0.0007, True),
                  ("0.1 0 0.1", "1 1 0", 1.5e-6, 3.7e-9, 0.027, False),
                  ("0.1 0 0.1", "1 0 0", 2e-5, 6.4e-11, 0.065, True)],
    # the second body turns back as far as the first, so it is not turned at all
    "opposite": [("0 0 0.5", "1 0 0", 5e-12, 3e-13, 0.002, False), ("0.01 0 0.003", "1 0 0", 2.5e-8, 5e-10, 0.2, True)],
}


@pytest.mark.parametrize("name", CHAINS)
def test_lanes_of_light_bodies_have_the_bits_of_mj_step(tmp_path, name):
    bodies, ball, path = "", '<geom size="0.1"/>', tmp_path / "chain.xml"
    for number, (pos, axis, mass, inertia, center, has_ball) in reversed([*enumerate(CHAINS[name])]):
        inertial = f'<inertial pos="{center} 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'
        bodies = (f'<body pos="{pos}"><joint name="j{number}" axis="{axis}"/>{inertial}'
                  f'{ball if has_ball else ""}{bodies}</body>')
    path.write_text(f"""<mujoco><worldbody><geom type="plane" size="9 9 9"/>{bodies}</worldbody>
        <actuator><motor joint="j0" gear="1e-6"/></actuator></mujoco>""")
    lanes = make_lanes(load_model(str(path)))
    for noise in (0.001, 0.03, 0.3):
        assert lanes.compare(200, 20, 1, noise, 1) == ""


def test_lanes_refuse_a_model_with_too_many_contacts_to_compare(tmp_path):
    path = tmp_path / "buried.xml"
    spheres = "".join(f'<geom size="0.1" pos="0 {k / 5} 0"/>' for k in range(82))
    path.write_text(f"""<mujoco><worldbody><geom type="plane" size="9 9 9"/><body pos="0 0 -5">{spheres}
        <joint name="spin" axis="0 0 1"/></body></worldbody><actuator><motor joint="spin"/></actuator></mujoco>""")
    with pytest.raises(ValueError, match="only 0 of its first steps could be compared"):
        make_lanes(load_model(str(path)))


def test_random_models_are_equal_or_refused():
    program = Path(__file__).parents[3] / "fuzz" / "fuzz_mujoco_lanes.py"
    done = subprocess.run([sys.executable, program, "--cases", "80", "--steps", "30"], capture_output=True, text=True,
                          timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) equal$", done.stdout, re.MULTILINE)[1]) >= 10, done.stdout


@pytest.mark.parametrize(("parts", "reason"), [
    ({"walls": '<geom type="box" size="1 1 1" pos="99 0 0" solref="-10 -1" solmix="0.0001"/>'}, "solref"),
    ({"walls": '<geom type="box" size="1 1 1"/>' * 257}, "too many boxes"),
])
def test_lanes_refuse_contacts_outside_of_their_class(tmp_path, parts, reason):
    with pytest.raises(ValueError, match=reason):
        make_lanes(load_model(own_robot(tmp_path, **parts)))


@pytest.mark.parametrize("wall", [
    '<geom type="capsule" fromto="2.5 -3 0.1 2.5 3 0.8" size="0.2"/>',
    '<geom type="sphere" pos="3 0 0.5" euler="20 40 60" size="0.5"/>',
    '<geom type="box" pos="3 0 0.5" size="0.5 3 0.5"/>',
    '<geom type="box" pos="3 0 0.5" size="0.5 3 0.5" euler="0 0 9"/>',
    '<geom type="box" pos="3 0 0.5" size="0.5 3 0.5" solref="-10 -1" solmix="0.0001"/>',
    '<geom type="capsule" fromto="2.5 -3 0.1 2.5 3 0.8" size="0.2" solref="-0.001 -0.1"/>',
])
def test_pool_whose_robots_fall_into_a_far_wall_steps_as_one_by_mj_step(tmp_path, wall):
    # the comparison at first use does not reach it
    path = own_robot(tmp_path, option='gravity="6 0 -9.81"', walls=wall)
    pools = make_both("HalfCheetah-v5", xml_file=path, frame_skip=4)
    step_both(pools, np.random.default_rng(7), 150)


@pytest.mark.parametrize("env_id", [*exhaustive(*IDS[::2]), *IDS[1::2], *TASKS, *MAZES])
@pytest.mark.parametrize("num_threads", [2, *exhaustive(0)])
def test_pool_in_lanes_steps_as_one_by_mj_step(env_id, num_threads):
    with make_both(env_id, num_threads=num_threads)[0] as lanes, make_both(env_id)[1] as mj_step:
        step_both((lanes, mj_step), np.random.default_rng(0), 60)


# the CPU may have vectors for four or for eight
@pytest.mark.parametrize("num_envs", [1, 2, 4, 5, 8, 9, 17])
def test_pool_of_any_size_in_lanes_steps_as_one_by_mj_step(num_envs):
    pools = make_both("Hopper-v5", num_envs, num_threads=0)
    step_both(pools, np.random.default_rng(num_envs), 40)


def test_pool_of_different_frame_skips_steps_as_one_by_mj_step():
    pools = make_both("HalfCheetah-v5", 4, env_options=[{"frame_skip": 1 + k % 2} for k in range(4)])
    step_both(pools, np.random.default_rng(6), 5)


def long_run(env_id):
    families = [family for name, family in (("dm_control/", "dm_control"), ("AntMaze", "robotics")) if name in env_id]
    return pytest.param(env_id, marks=[*EXHAUSTIVE, *map(pytest.mark.families, families)])


@pytest.mark.parametrize("num_threads", [0, 1, 2, 3])
@pytest.mark.parametrize("env_id", list(map(long_run, LONG)))
def test_long_runs_in_lanes_have_the_bits_of_mj_step(env_id, num_threads):
    frames, thousands = LONG[env_id]
    options = {"num_envs": 32, "max_episode_steps": 70, "autoreset_mode": ["NextStep", "SameStep"][num_threads % 2]}
    pools = make_both(env_id, num_threads=num_threads, **options)
    space, rng = pools[0].single_action_space, np.random.default_rng(num_threads)
    scale, shape = np.minimum(space.high, 2), (32, *space.shape)
    # steps of MuJoCo in sum of all thread counts
    num_rounds = -(-thousands * 1000 // (4 * 32 * frames * 150))
    for number in range(num_rounds):
        for pool in pools:
            pool.reset(seed=number)
        phase, speed = rng.uniform(0, 6.3, shape), rng.uniform(0.05, 0.9, shape)
        for t in range(150):
            # random, swinging, none
            swing = scale * np.sin(phase + speed * t)
            actions = [rng.uniform(-scale, scale, shape), swing, np.zeros(shape)][number % 3]
            assert_same(*(pool.step(actions.astype(space.dtype)) for pool in pools))
            if t % 50 == 49:
                move_states(*pools[::1 if t == 49 else -1])


@pytest.mark.parametrize("autoreset_mode", ["NextStep", "SameStep"])
def test_pool_in_lanes_resets_as_one_by_mj_step(autoreset_mode):
    pools = make_both("Hopper-v5", 21, autoreset_mode=autoreset_mode, max_episode_steps=13)
    step_both(pools, np.random.default_rng(1), 60)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Humanoid-v5", "InvertedDoublePendulum-v4", *TASKS,
                                    *MAZES])
def test_states_of_a_pool_in_lanes_are_those_of_mj_step(env_id):
    rng = np.random.default_rng(2)
    pools = make_both(env_id)
    for _ in range(4):
        step_both(pools, rng, 3)
        move_states(pools[1], pools[0])
        step_both(pools, rng, 3)
        move_states(*pools)
    step_both(pools, rng, 3)


def cost_of(model, data, acceleration):
    """Returns what Newton's method minimizes: a warm start that costs more than the smooth acceleration is not used."""
    residual, change, cost = np.zeros(data.nefc), np.zeros(model.nv), np.zeros(1)
    mujoco.mj_mulJacVec(model, data, residual, acceleration)
    mujoco.mj_constraintUpdate(model, data, residual - data.efc_aref, cost, 0)
    mujoco.mj_mulM(model, data, change, acceleration - data.qacc_smooth)
    return cost[0] + 0.5 * np.dot(change, acceleration - data.qacc_smooth)


def test_warm_starts_that_cost_as_much_as_cold_ones_are_used_as_by_mj_step(tmp_path):
    # without iterations, the start is the result
    path, rng = own_robot(tmp_path, 'iterations="0"'), np.random.default_rng(6)
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    pools = make_both("HalfCheetah-v5", 64, xml_file=path, frame_skip=1)
    num_ties = 0
    for _ in range(60):
        mujoco.mj_resetData(model, data)
        data.qpos[:] += rng.normal(0, 0.1, model.nq)
        data.qpos[2] -= 0.4
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        smooth, direction = data.qacc_smooth.copy(), rng.normal(size=model.nv)
        cold = cost_of(model, data, smooth)
        near, far = 1e-4, 1e4
        if data.nefc == 0 or cost_of(model, data, smooth + near * direction) > cold:
            continue
        for _ in range(80):
            middle = (near + far) / 2
            if cost_of(model, data, smooth + middle * direction) > cold:
                far = middle
            else:
                near = middle
        num_ties += 1
        starts = [smooth + near * (1 + 5e-16 * (k - 32)) * direction for k in range(64)]

        def begin(number, edited, starts=starts):
            edited.qpos[:], edited.qvel[:], edited.qacc_warmstart[:] = data.qpos, data.qvel, starts[number]

        for pool in pools:
            edit_states(pool, path, begin)
        got, expected = (pool.step(np.zeros((64, 1), np.float32))[0] for pool in pools)
        assert np.array_equal(got, expected)
    assert num_ties > 20


def test_copies_in_a_pool_in_lanes_have_the_state_of_mj_step():
    rng = np.random.default_rng(3)
    pools = make_both("Walker2d-v5")
    step_both(pools, rng, 5)
    for pool in pools:
        pool.copy([0, 0], [3, 4])
    move_states(*pools)
    step_both(pools, rng, 5)


@contextlib.contextmanager
def arithmetic(rounding=0, flushes=False):
    """Sets how this thread rounds, and whether it takes subnormal numbers for zeros."""
    libm, before = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 8)()
    libm.fegetenv(before)
    changed = (ctypes.c_uint32 * 8)(*before)
    # MXCSR
    changed[7] = changed[7] & ~0x6000 | rounding << 13 | 0x8040 * flushes
    libm.fesetenv(changed)
    try:
        yield
    finally:
        libm.fesetenv(before)


@contextlib.contextmanager
def c_callback(name, kind, function):
    """Sets a callback of MuJoCo to a function of C's kind."""
    library = ctypes.CDLL(next(Path(mujoco.__file__).parent.glob("libmujoco.so*")))
    place = ctypes.c_void_p.in_dll(library, name)
    held = kind(function)
    place.value = ctypes.cast(held, ctypes.c_void_p).value
    try:
        yield
    finally:
        place.value = None


def edit_states(pool, path, edit):
    """Changes arrays of mjData in the states of a pool: `edit` gets the number of an environment and an MjData."""
    data = mujoco.MjData(mujoco.MjModel.from_xml_path(str(path)))
    # the first array of the buffer
    begin = data.qpos.ctypes.data
    states = pool.save()
    for number, row in enumerate(states.rows):
        packed, *rest = row["own"]
        buffer = bytearray(zlib.decompress(packed))
        names = ("qpos", "qvel", "qacc_warmstart")
        for name in names:
            array = getattr(data, name)
            at = array.ctypes.data - begin
            array[:] = np.frombuffer(buffer[at:at + array.nbytes])
        edit(number, data)
        for name in names:
            array = getattr(data, name)
            at = array.ctypes.data - begin
            buffer[at:at + array.nbytes] = array.tobytes()
        row["own"] = (zlib.compress(buffer, 1), *rest)
    pool.load(states)


def outcome(pool, actions):
    """Returns the results of a step, or the text of its error."""
    try:
        return pool.step(actions)[:4]
    except cypool.EnvError as error:
        return str(error)


def test_first_use_with_a_far_wall_that_mj_step_has_otherwise_is_refused(tmp_path):
    # only a robot that was moved there touches it
    path = own_robot(tmp_path, walls='<geom name="far" type="sphere" pos="40 30 0.5" size="0.5"/>')
    wall = mujoco.MjModel.from_xml_path(path).geom("far").id
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    with (c_callback("mjcb_contactfilter", kind, lambda m, d, geom1, geom2: wall in (geom1, geom2)),
          pytest.raises(ValueError, match="differs from mj_step in .* after geoms were moved until they touched")):
        make_lanes(load_model(path))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_state_whose_warmstart_is_not_finite_is_stepped_as_by_mj_step(value):
    rng = np.random.default_rng(8)
    pools = make_both("HumanoidStandup-v5")
    step_both(pools, rng, 20)

    def edit(number, data):
        data.qacc_warmstart[number] = value

    for pool in pools:
        edit_states(pool, load_model("humanoidstandup.xml").path, edit)
    step_both(pools, rng, 3)


# a robot without corners and one with, whose bodies have two geoms each: MuJoCo finds what they touch in trees of boxes
DROP = """<mujoco><option gravity="0 0 0"/><worldbody>
  <geom type="plane" size="9 9 9" pos="0 0 {floor}" {tilt}/>{wall}
  <body><freejoint/><geom {shape}/><geom size="0.05" pos="0 0 0.5"/>
    <body pos="0 0 0.8"><joint name="top" axis="0 1 0"/><geom size="0.05" pos="0 0 0.2"/></body></body></worldbody>
  <actuator><motor joint="top" ctrlrange="-1 1"/></actuator></mujoco>"""


@pytest.mark.parametrize("wall", ["", '<geom size="0.1" pos="5 5 5"/>'])
@pytest.mark.parametrize("tilt", ["", 'euler="12 -7 30"'])
@pytest.mark.parametrize("floor", [0, 0.18527634, -0.7])
@pytest.mark.parametrize("shape", ['size="0.1"', 'type="box" size="0.2 0.3 0.1"'])
def test_geoms_that_just_touch_a_plane_touch_it_as_by_mj_step(tmp_path, shape, floor, tilt, wall):
    path = tmp_path / "drop.xml"
    path.write_text(DROP.format(shape=shape, floor=floor, tilt=tilt, wall=wall))
    pools = make_both("HalfCheetah-v5", 40, xml_file=str(path), frame_skip=1)
    model = mujoco.MjModel.from_xml_path(str(path))
    first = mujoco.MjData(model)
    mujoco.mj_kinematics(model, first)
    plane = first.geom_xmat[0]

    def edit(number, data):
        # level on the plane, and up to a tenth of a millimetre in it
        rng = np.random.default_rng(number)
        normal, sideways, depth = plane[2::3], rng.normal(size=3), 10 ** rng.uniform(-11, -4)
        data.qpos[:3] = [0, 0, floor] + sideways + normal * (0.1 - depth - sideways @ normal)
        mujoco.mju_mat2Quat(data.qpos[3:7], plane)
        data.qpos[7] = data.qvel[:] = 0

    with warnings.catch_warnings(action="error"):
        for pool in pools:
            edit_states(pool, path, edit)
        step_both(pools, np.random.default_rng(0))


# axes that are parallel, and a body that weighs nothing compared with the other one: the curvature of the line search
# is an error of rounding
GIMBAL = """<mujoco><compiler angle="radian"/><option timestep="0.002" gravity="0 0 0"/><worldbody>
  <body><joint name="a" axis="0 0 1" range="-0.5 0.5" limited="true"/>{light}
    <body euler="0 1 0"><joint axis="0 1 0"/>{light}
      <body><joint axis="0 0 1" range="-0.5 0.5" limited="true"/>
        <inertial pos="0 0 0" mass="1" diaginertia="1e5 1e5 1e5"/></body></body></body></worldbody>
  <actuator><motor joint="a"/></actuator></mujoco>"""


def test_warning_of_a_line_search_that_is_not_convex_is_an_error_in_lanes_too(tmp_path):
    path = tmp_path / "gimbal.xml"
    path.write_text(GIMBAL.format(light='<inertial pos="0 0 0" mass="1" diaginertia="1e-13 1e-13 1e-13"/>'))
    seeds = [1, 57, 58, 78, 142, 167]
    pools = make_both("HalfCheetah-v5", len(seeds), xml_file=str(path), frame_skip=1)
    make_lanes(load_model(str(path)))

    def edit(number, data):
        rng = np.random.default_rng(seeds[number])
        data.qpos[:] = -0.5 - rng.uniform(0, 0.01), -1, rng.choice([0.1, -0.5 - rng.uniform(0, 0.01), 0.501])
        data.qvel[:] = rng.normal(size=3)

    for pool in pools:
        edit_states(pool, path, edit)
    got, expected = (outcome(pool, np.zeros((len(seeds), 1), np.float32)) for pool in pools)
    assert "Linesearch objective is not convex" in expected
    assert_same(got, expected)


@pytest.mark.parametrize("rounding", [1, 2, 3])
def test_save_in_another_rounding_mode_does_not_change_the_environment(rounding):
    rng = np.random.default_rng(9)
    pools = make_both("Ant-v5", num_threads=1)
    step_both(pools, rng, 5)
    with warnings.catch_warnings(action="error"), arithmetic(rounding):
        saved = pools[0].save()
    assert [row["own"] for row in saved.rows] == [row["own"] for row in pools[1].save().rows]
    step_both(pools, rng, 5)


def test_steps_do_not_depend_on_the_arithmetic_of_the_caller(tmp_path):
    path, trajectories = own_robot(tmp_path, option='gravity="0 0 0"'), []

    def slow_down(number, data):
        data.qvel[:] = 1e-305 * (1 + number)

    for physics in ("lanes", "mj_step"):
        for given in ({}, {"flushes": True}, {"rounding": 1}):
            with arithmetic(**given):
                pool = cypool.make("HalfCheetah-v5", num_envs=4, num_threads=1, seed=0, xml_file=path, physics=physics)
            # so that velocities are subnormal numbers soon
            pool.reset()
            edit_states(pool, path, slow_down)
            with arithmetic(**given):
                steps = [pool.step(np.zeros((4, 1), np.float32))[0] for _ in range(20)]
            trajectories.append(np.stack(steps).tobytes())
    assert len(set(trajectories)) == 1


def test_save_that_fails_does_not_change_the_environment():
    rng = np.random.default_rng(10)
    pools = make_both("Ant-v5")
    step_both(pools, rng, 5)
    # which MuJoCo's Python package calls for simulations of its own only
    mujoco.set_mjcb_control(lambda model, data: None)
    try:
        with pytest.raises(mujoco.UnexpectedError):
            pools[0].save()
    finally:
        mujoco.set_mjcb_control(None)
    move_states(*pools)
    step_both(pools, rng, 5)


@pytest.mark.parametrize("name", ["control", "passive", "contactfilter"])
def test_pool_in_lanes_with_a_python_callback_steps_as_one_by_mj_step(name):
    rng = np.random.default_rng(11)
    pools = make_both("Ant-v5")
    step_both(pools, rng, 5)
    actions = random_actions(pools[0], rng)
    set_callback = getattr(mujoco, f"set_mjcb_{name}")
    set_callback(lambda *given: 0)
    try:
        got, expected = (outcome(pool, actions) for pool in pools)
    finally:
        set_callback(None)
    assert "wrapper" in expected
    assert_same(got, expected)
    step_both(pools, rng, 5)


def test_pool_in_lanes_with_a_callback_in_c_steps_as_one_by_mj_step():
    rng, calls = np.random.default_rng(12), []
    pools = make_both("Ant-v5", num_threads=1)
    step_both(pools, rng, 5)
    with c_callback("mjcb_control", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p),
                    lambda m, d: calls.append(m)):
        step_both(pools, rng, 5)
    # RK4 of Ant's five steps, four stages each, of both pools
    assert len(calls) >= 2 * 7 * 5 * 5
    step_both(pools, rng, 5)


def test_wrong_lanes_are_found_reported_once_and_not_used_any_more(tmp_path, walker):
    path = own_robot(tmp_path)
    rng = np.random.default_rng(4)
    pools = make_both("HalfCheetah-v5", xml_file=path, frame_skip=4, reset_noise_scale=0.25)
    # lanes have read the model before
    importlib.import_module("walker.robot").set_gravity(load_model(path), np.nextafter(-9.81, 0))
    with pytest.warns(UserWarning, match="lanes and mj_step differ in") as caught:
        # the first environment is checked at once, the others within a thousand of MuJoCo's steps
        for _ in range(260):
            for pool in pools:
                pool.step(random_actions(pools[0], rng))
    assert len(caught) == 1
    with warnings.catch_warnings(action="error"):
        for pool in pools:
            pool.reset(seed=1)
        step_both(pools, rng, 10)
    del pools, pool
    with pytest.raises(ValueError, match="differed from mj_step in"):
        make_lanes(load_model(path))


def test_wrong_lanes_cost_no_row_where_warnings_are_errors(tmp_path, walker, monkeypatch):
    path = own_robot(tmp_path, option='tolerance="1e-9"')
    pool = make_both("HalfCheetah-v5", xml_file=path, frame_skip=4, reset_noise_scale=0.25)[0]
    importlib.import_module("walker.robot").set_gravity(load_model(path), np.nextafter(-9.81, 0))
    reported, rng = [], np.random.default_rng(4)
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_value))
    with warnings.catch_warnings(action="error"):
        for _ in range(5):
            pool.step(random_actions(pool, rng))
    assert [type(each) for each in reported] == [UserWarning]


def test_model_that_is_loaded_again_is_not_compared_again(tmp_path):
    path = own_robot(tmp_path)
    for is_first in (True, False):
        assert (make_lanes(load_model(path)).num_compared() > 100) == is_first
    Path(path).write_text(Path(path).read_text().replace("0.004", "0.0041"))
    assert make_lanes(load_model(path)).num_compared() > 100


def test_physics_of_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="physics"):
        cypool.make("HalfCheetah-v5", num_envs=2, physics="fast")


@pytest.mark.skipif(shutil.which("objdump") is None, reason="expected objdump")
def test_lanes_are_compiled_without_fused_operations():
    listing = subprocess.run(["objdump", "-d", mujoco_lanes.__file__], stdout=subprocess.PIPE, text=True, check=True)
    assert "vmulpd" in listing.stdout
    assert "vfm" not in listing.stdout
    assert "vfnm" not in listing.stdout


@pytest.mark.skipif(shutil.which("objdump") is None, reason="expected objdump")
def test_only_eight_lanes_have_instructions_of_avx_512():
    # others run on each CPU: also what both have of C++'s library
    listing = subprocess.run(["objdump", "-dC", mujoco_lanes.__file__], stdout=subprocess.PIPE, text=True, check=True)
    of_avx_512 = re.compile(r"%(zmm|[xy]mm(1[6-9]|[23]\d)|k[0-7])")
    names = {block.partition("\n")[0] for block in listing.stdout.split("\n\n") if of_avx_512.search(block)}
    assert names
    assert all("cypool::lanes::eight::" in name for name in names)
