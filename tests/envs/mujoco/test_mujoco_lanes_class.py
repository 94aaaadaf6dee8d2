"""Lanes against mj_step for what models of legged robots have: every number is compared bit by bit."""
import numpy as np
import pytest
from markers import often_exhaustive

import cypool
from cypool.envs.shared.lanes.mujoco_lanes import check_machine, make_lanes
from cypool.envs.shared.mujoco.mujoco_common import load_model
from cypool.mujoco import Batch

try:
    check_machine()
except ValueError as refusal:
    pytest.skip(f"lanes: {refusal}", allow_module_level=True)

# a trunk on four legs of two joints each
LEG = """
<body name="hip{k}" pos="{x} {y} 0">
  <joint name="hip{k}" axis="1 0 0" range="-0.9 0.9"/>
  <geom name="thigh{k}" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03"/>
  <body name="knee{k}" pos="0 0 -0.2" {knee}>
    <joint name="knee{k}" axis="0 1 0" range="-1.2 1" {joint}/>
    <geom name="shin{k}" type="capsule" fromto="0 0 0 0 0 -0.18" size="0.02"/>
    <geom name="foot{k}" pos="0 0 -0.2" {foot}/>{toe}
  </body>
</body>"""
ROBOT = """
<mujoco>
  <compiler angle="radian"/><option timestep="0.004" {option}><flag {flag}/></option>
  <default>
    <geom friction="0.8 0.02 0.01" {geom}/><joint armature="0.01" damping="0.3" {joints}/>
    <position kp="30" {servo}/>
  </default>
  <asset>
    <mesh name="rock" vertex="0.05 0 0 -0.04 0.03 0 -0.03 -0.04 0.01 0 0 0.05 0.01 0.02 -0.04"/>
    <hfield name="hills" nrow="5" ncol="5" size="3 3 0.2 0.1"
            elevation="0 1 0 2 0 1 0 0 1 0 0 1 2 0 1 1 0 0 1 0 0 2 0 1 0"/>
  </asset>
  <worldbody>
    <geom name="floor" {floor}/><site name="ground" pos="1 0 2" euler="0.2 0.1 0.3"/>{world}
    <body name="trunk" pos="0 0 0.42"><freejoint/>
      <geom name="trunk" {trunk}/><site name="imu" pos="0.1 0 0.05" euler="0.1 0.2 0.3"/>{legs}
    </body>
  </worldbody>
  <contact>{contact}</contact>
  <tendon>
    <fixed name="pair" {tendon}><joint joint="knee0" coef="1.2"/><joint joint="hip1" coef="-0.7"/></fixed>
    <fixed name="one" {tendon}><joint joint="knee3" coef="-2"/></fixed>
    <fixed name="all">{coefs}</fixed>{strings}
  </tendon>
  <actuator>{actuators}</actuator>
  <sensor>
    <gyro site="imu"/><accelerometer site="imu"/><velocimeter site="imu"/><jointpos joint="knee0"/>
    <jointvel joint="hip1"/><jointactuatorfrc joint="hip0"/><framequat objtype="site" objname="imu"/>
    <framezaxis objtype="xbody" objname="trunk"/><framelinvel objtype="body" objname="knee2"/>
    <framepos objtype="xbody" objname="knee3" reftype="site" refname="imu"/>
    <force site="imu"/><torque site="imu"/><touch site="imu"/><actuatorfrc actuator="position_hip0"/>
    <framelinacc objtype="site" objname="imu"/><frameangacc objtype="geom" objname="foot1"/>
    <framelinvel objtype="geom" objname="foot1" reftype="xbody" refname="knee3"/>
    <frameangvel objtype="body" objname="knee2" reftype="site" refname="imu"/>
    <framequat objtype="geom" objname="foot1" reftype="body" refname="knee3"/>
    <subtreecom body="trunk"/><subtreelinvel body="hip2"/><subtreeangmom body="trunk"/>
    <accelerometer site="ground"/><framelinacc objtype="xbody" objname="world"/>
    <jointlimitpos joint="knee1"/><jointlimitvel joint="knee1"/><jointlimitfrc joint="knee1"/>{sensors}
  </sensor>
</mujoco>"""
COEFS = "".join(f'<joint joint="{kind}{k}" coef="{k - 1.7}"/>' for kind in ("knee", "hip") for k in (2, 0, 1, 3))
SERVOS = "".join(f'<{kind} name="{kind}_{kind_of}{k}" joint="{kind_of}{k}" {{servo}}/>' for k in range(4)
                 for kind, kind_of in (("position", "hip"), ("position", "knee"), ("velocity", "hip")))


def robot(tmp_path, option="", flag="", geom="", joints="", joint="", servo="", knee="", foot='size="0.03"', toe="",
          tendon="", floor='type="plane" size="9 9 9"', world="",
          trunk='type="capsule" size="0.08 0.2" euler="0 1.57 0"', contact="", actuators=SERVOS, sensors="",
          strings=""):
    """Returns the path of a robot with more attributes of its elements, and other actuators."""
    legs = "".join(LEG.format(k=k, x=(k // 2 - 0.5) * 0.4, y=(k % 2 - 0.5) * 0.3, joint=joint, foot=foot,
                              toe=toe.format(k=k), knee=knee)
                   for k in range(4))
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT.format(option=option, flag=flag, geom=geom, joints=joints, servo="", floor=floor, world=world,
                                 trunk=trunk, tendon=tendon, legs=legs, contact=contact, coefs=COEFS, strings=strings,
                                 sensors=sensors, actuators=actuators.format(servo=servo)))
    return str(path)


def check_equal(path, least=1000):
    """Checks that lanes step a model, with the bits of mj_step."""
    lanes = make_lanes(load_model(path))
    before = lanes.num_compared()
    for noise, ends_with_step1 in ((0, False), (0.1, True), (0.6, False)):
        assert lanes.compare(90, 30, 5, noise, 1.5, ends_with_step1) == ""
    assert lanes.num_compared() - before > least


PAIRS = ('<pair geom1="floor" geom2="foot0" condim="4" friction="1.2 0.3 0.1 0.02 0.03" margin="0.01"/>'
         '<pair geom1="shin1" geom2="thigh0" solref="0.03 0.8" solimp="0.7 0.9 0.02"/>'
         '<pair geom1="foot3" geom2="floor" condim="6" friction="0.5 0.5 0.2 0.1 0.1"/>')
MOTORS = ('<motor tendon="pair" gear="3" {servo}/><motor name="all" tendon="all" gear="-2" {servo}/>'
          '<motor name="one" tendon="one" {servo}/>')
OF_MOTORS = "".join(f'<actuator{kind} actuator="{name}"/>' for kind in ("pos", "vel", "frc") for name in ("all", "one"))


def filters(more=""):
    """Returns actuators with activations, and the servos."""
    kinds = (("filter", 0.03), ("filterexact", 0.02), ("integrator", 1), ("filterexact", 0.2))
    return SERVOS + "".join(f'<general joint="knee{k}" dyntype="{kind}" dynprm="{time}" gear="3" {more}/>'
                            for k, (kind, time) in enumerate(kinds))


def strings(*given):
    """Returns tendons through sites, of each: its sites, and attributes."""
    return "".join(f'<spatial name="string{k}" {more}>' + "".join(
        f'<pulley divisor="{site}"/>' if site.isdigit() else f'<site site="{site}"/>' for site in sites.split())
        + "</spatial>" for k, (sites, more) in enumerate(given))


SITES = '<site name="toe{k}" pos="0.01 0.02 -0.2"/>'
OF_STRINGS = "".join(f'<tendon{kind} tendon="string{k}"/>' for kind in ("pos", "vel") for k in range(2)) + (
    '<actuatorvel actuator="pull"/><tendonpos tendon="all"/>')
FEATURES = {
    "strings": {
        "toe": SITES, "world": '<site name="far"/>', "sensors": OF_STRINGS,
        "actuators": SERVOS + '<motor name="pull" tendon="string0"/>',
        "strings": strings(
            ("ground imu toe1", 'range="0.9 1.9" limited="true" solreflimit="0.03 0.8" margin="0.05" stiffness="3"'),
            ("toe0 toe2 2 toe3 imu ground 3 toe3 toe2", 'stiffness="20" springlength="0.3 0.6"'),
            ("toe0 toe3", 'range="0.3 0.5" limited="true"'), ("ground far", 'range="1 2" limited="true"'))},
    "servos": {},
    "force limits of actuators": {"servo": 'forcerange="-2 1.5"'},
    "force limits of joints": {"joint": 'actuatorfrcrange="-1 2"'},
    "gravity that spares knees": {"knee": 'gravcomp="0.7"'},
    "gravity that actuators make up for": {"knee": 'gravcomp="1.2"', "joint": 'actuatorgravcomp="true"'},
    "bias of any kind": {"actuators": '<general joint="knee0" biastype="affine" gainprm="3" biasprm="0.4 -7 -0.2" '
                                      'gear="-2"/>' + SERVOS},
    "motors of tendons": {"actuators": MOTORS + SERVOS, "sensors": OF_MOTORS},
    "activations": {"actuators": filters()},
    "activations with limits": {"actuators": filters('actrange="-0.4 0.3"')},
    "early activations": {"actuators": filters('actearly="true" actrange="-0.4 0.3" ctrlrange="-0.5 1.2" '
                                               'forcerange="-2 1"')},
    "activations of servos": {"actuators": SERVOS + '<position joint="knee0" kp="9" timeconst="0.04"/><intvelocity '
                              'joint="hip1" kp="9" actrange="-0.3 0.3"/><general tendon="pair" biastype="none" '
                              'dyntype="filter" dynprm="0.03" actearly="true"/>'},
    "motors of tendons with springs and limits": {
        "actuators": MOTORS + SERVOS, "sensors": OF_MOTORS, "servo": 'forcerange="-0.4 0.7" ctrlrange="-0.8 0.7"',
        "tendon": 'range="-0.2 0.3" stiffness="20"'},
    "friction of joints": {"joints": 'frictionloss="0.3" solreffriction="0.05 0.7" solimpfriction="0.4 0.8"'},
    "friction of some joints": {"joint": 'frictionloss="0.7" solimpfriction="0.8 0.8"'},
    "little friction of joints": {"joints": 'frictionloss="1e-4"'},
    "priority": {"foot": 'size="0.03" priority="1" condim="3" friction="0.5" solref="0.015 0.9"', "geom": 'condim="1"'},
    "priority of the floor": {"floor": 'type="plane" size="9 9 9" priority="2" condim="1"'},
    **{f"condim {n}": {"geom": f'condim="{n}"'} for n in (1, 4, 6)},
    "condims of feet": {"foot": 'size="0.03" priority="1" condim="6"', "geom": 'condim="1"'},
    **{f"feet that are a {name}": {"foot": foot} for name, foot in (
        ("box", 'type="box" size="0.06 0.03 0.02"'), ("cylinder", 'type="cylinder" size="0.03 0.02"'),
        ("ellipsoid", 'type="ellipsoid" size="0.05 0.03 0.02"'), ("mesh", 'type="mesh" mesh="rock"'))},
    "a trunk that is a box": {"trunk": 'type="box" size="0.25 0.1 0.05" pos="0 0 0.02"', "geom": 'margin="0.01"'},
    "a slanted floor": {"floor": 'type="plane" size="9 9 9" euler="0.2 -0.1 0.3"'},
    "hills": {"floor": 'type="hfield" hfield="hills"', "foot": 'type="box" size="0.06 0.03 0.02"'},
    "hills and balls": {"floor": 'type="hfield" hfield="hills"'},
    "stairs": {"world": '<geom type="box" size="0.3 0.5 0.1" pos="0.4 0 0" euler="0 0 0.1"/><geom type="box" '
                        'size="0.3 0.5 0.1" pos="-0.3 0 0.05"/><geom type="cylinder" size="0.2 0.1" pos="0 0.4 0"/>',
               "foot": 'type="cylinder" size="0.03 0.02"'},
    "toes on ball joints": {"toe": '<body pos="0.02 0.01 -0.2"><joint name="toe{k}" type="ball" pos="0 0 0.01" '
                                   'frictionloss="0.001"/><geom size="0.02" pos="0.03 0 0"/></body>',
                            "sensors": '<ballquat joint="toe1"/><ballangvel joint="toe2"/>'},
    "springs of tendons": {"tendon": 'stiffness="20" springlength="-0.1 0.05"'},
    "limits of tendons": {"tendon": 'range="-0.2 0.3" limited="true" solreflimit="0.03 0.8" margin="0.05"'},
    "a rock": {"world": '<geom type="mesh" mesh="rock" pos="0.2 0.1 0.1"/>'},
    "pairs": {"contact": PAIRS},
    "pairs only": {"contact": PAIRS, "geom": 'contype="0" conaffinity="0"'},
    **{f"without {name}": {"flag": f'{name}="disable"', "joints": 'frictionloss="0.1" stiffness="2"'} for name in (
        "constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "gravity", "clampctrl",
        "warmstart", "filterparent", "actuation", "refsafe", "midphase", "eulerdamp", "autoreset",
        "nativeccd", "multiccd")},
    **{f"with {name}": {"flag": f'{name}="enable"'} for name in ("energy", "invdiscrete")},
}


@pytest.mark.parametrize(("name", "option"), often_exhaustive(
    [(name, option) for name in FEATURES
     for option in ("", 'integrator="RK4"', 'integrator="implicitfast"', 'solver="PGS"')], 3))
def test_lanes_of_a_legged_robot_have_the_bits_of_mj_step(tmp_path, name, option):
    check_equal(robot(tmp_path, **{"option": option, **FEATURES[name]}))


@pytest.mark.parametrize("option", ["", 'integrator="RK4"', 'noslip_iterations="5"'])
def test_lanes_of_servos_at_strings_have_the_bits_of_mj_step(tmp_path, option):
    servos = '<position name="pull" tendon="string0" kp="9" kv="0.3" gear="-1.5"/>'
    check_equal(robot(tmp_path, option=option, **{**FEATURES["strings"], "actuators": SERVOS + servos}))


@pytest.mark.parametrize("option", ["", 'integrator="RK4"'])
def test_lanes_of_servos_at_tendons_have_the_bits_of_mj_step(tmp_path, option):
    servos = ('<position name="all" tendon="all" kp="9" kv="0.3" gear="-1.5"/><velocity tendon="pair" kv="0.2"/>'
              '<general name="one" tendon="one" biastype="affine" biasprm="0.4 -7 -0.2" forcerange="-1 2" gear="0.3"/>')
    check_equal(robot(tmp_path, option=option, actuators=servos + SERVOS, sensors=OF_MOTORS))


@pytest.mark.parametrize("option", ["", 'integrator="RK4"', 'solver="PGS"'])
@pytest.mark.parametrize("fluid", ['density="900" viscosity="0.1"', 'viscosity="2" wind="1 -2 0.5"', 'density="1.2"',
                                   'density="1000" wind="0 0 1"', 'density="-1" viscosity="-1"'])
def test_lanes_of_a_robot_in_a_fluid_have_the_bits_of_mj_step(tmp_path, option, fluid):
    check_equal(robot(tmp_path, option=f"{option} {fluid}", knee='gravcomp="0.7"'))


@pytest.mark.parametrize("option", ["", 'integrator="RK4"', 'integrator="implicitfast"', 'solver="PGS"',
                                    'iterations="1" noslip_tolerance="1e-2"', 'impratio="3"'])
@pytest.mark.parametrize("name", [f"condim {n}" for n in (1, 4, 6)] + ["servos", "friction of joints", "pairs",
                                                                       "limits of tendons", "stairs"])
def test_lanes_without_slip_have_the_bits_of_mj_step(tmp_path, name, option):
    check_equal(robot(tmp_path, **{"option": f'noslip_iterations="5" {option}', **FEATURES[name]}))


def test_accelerations_of_bodies_that_slide_have_the_signs_of_mj_step_where_they_are_zero(tmp_path):
    path = tmp_path / "slider.xml"
    path.write_text("""<mujoco><worldbody><body><joint type="slide"/>
        <geom name="sliding" type="capsule" fromto="-0.1 -0.2 -0.2 0.1 0.2 0.2" size="0.04"/>
        <body><joint name="lever"/><geom size="0.1"/></body></body></worldbody>
        <actuator><motor joint="lever"/></actuator>
        <sensor><framelinacc objtype="geom" objname="sliding"/></sensor></mujoco>""")
    check_equal(str(path), least=100)


def test_torque_between_the_world_and_several_trees_is_left_to_mj_step():
    model = """<mujoco><worldbody><site name="ground" pos="1 2 3"/>
        <body pos="0 0 2"><joint name="lever"/><geom size="0.1" pos="0 0.2 0"/></body>
        <body pos="1 0 2"><freejoint/><geom size="0.1"/></body></worldbody>
        <actuator><motor joint="lever"/></actuator><sensor><torque site="ground"/></sensor></mujoco>"""
    batches = [Batch(model, 5, physics=physics) for physics in ("lanes", "mj_step")]
    for batch in batches:
        batch.qpos[:, 0] = np.arange(5)
        batch.forward()
        batch.step(3)
    assert np.array_equal(*(batch.sensordata for batch in batches))
    assert batches[0].stepped_by.startswith("lanes, then mj_step once more")
    assert all(batch.sensordata.any(axis=1).all() for batch in batches)


def test_lanes_of_shapes_for_which_mujoco_has_no_memory_leave_the_error_to_mj_step(tmp_path):
    path = tmp_path / "stone.xml"
    path.write_text("""<mujoco><size memory="1M"/><option timestep="0.01" ccd_iterations="100000"/><worldbody>
        <geom type="box" size="1 1 0.1"/><body pos="0 0 8"><joint name="lift" type="slide" axis="0 0 1"/>
        <joint axis="0 1 0"/><geom type="ellipsoid" size="0.3 0.2 0.1" pos="0.1 0.1 0"/></body></worldbody>
        <actuator><motor joint="lift"/></actuator></mujoco>""")
    errors = []
    for physics in ("lanes", "mj_step"):
        pool = cypool.make("HalfCheetah-v5", num_envs=5, seed=0, xml_file=str(path), frame_skip=1, physics=physics)
        assert (pool.stepped_by == "lanes") == (physics == "lanes")
        pool.reset()
        for step in range(300):
            try:
                pool.step(np.zeros((5, 1), np.float32))
            except RuntimeError as error:
                errors.append((step, str(error)))
                break
    assert len(errors) == 2 and errors[0] == errors[1]
    assert "out of memory" in errors[0][1]


@pytest.mark.parametrize("option", ["", 'integrator="RK4"'])
def test_activations_are_part_of_states(tmp_path, option):
    path = robot(tmp_path, option=option, **FEATURES["early activations"])
    batches = [Batch(path, 6, physics=physics) for physics in ("lanes", "mj_step")]
    assert batches[0].stepped_by.startswith("lanes")
    random = np.random.default_rng(0)
    for batch in batches:
        assert batch.act.shape == (6, 4)
    for step in range(20):
        ctrl, act = random.normal(size=batches[0].ctrl.shape), random.normal(size=(6, 4))
        for batch in batches:
            batch.ctrl[:] = ctrl
            if step % 5 == 0:
                batch.act[2:4] = act[2:4]
            if step % 7 == 6:
                batch.reset(np.arange(6) == step % 6)
            batch.step(3)
        for name in ("qpos", "qvel", "act", "act_dot", "actuator_force", "sensordata"):
            assert np.array_equal(*(getattr(batch, name) for batch in batches)), name
    assert batches[0].act.any()


def test_gears_and_gains_of_motors_at_tendons_and_with_activations_may_differ(tmp_path):
    path = robot(tmp_path, actuators=MOTORS + filters('actearly="true"'), sensors=OF_MOTORS)
    batches = [Batch(path, 6, physics=physics) for physics in ("lanes", "mj_step")]
    random = np.random.default_rng(0)
    for name in ("actuator_gear", "actuator_gainprm", "actuator_biasprm"):
        scale = random.uniform(0.8, 1.2, (6, 1, 1))
        for batch in batches:
            batch.expand(name)[:] *= scale
    for _ in range(10):
        ctrl = random.normal(size=batches[0].ctrl.shape)
        for batch in batches:
            batch.ctrl[:] = ctrl
            batch.step(2)
        for name in ("qpos", "qvel", "act", "actuator_force", "sensordata"):
            assert np.array_equal(*(getattr(batch, name) for batch in batches)), name
    assert batches[0].stepped_by == "lanes"


@pytest.mark.parametrize("timestep", [0.05, 0.5])
@pytest.mark.parametrize("noise", [3, 10, 40])
def test_lanes_of_a_body_that_turns_far_within_a_step_have_the_bits_of_mj_step(tmp_path, timestep, noise):
    # since MuJoCo 4, Runge-Kutta's stages have branches at 1.75 rad and at half a turn
    path = tmp_path / "top.xml"
    path.write_text(f"""<mujoco><option integrator="RK4" timestep="{timestep}"/><worldbody><body><freejoint/>
        <geom type="capsule" size="0.1 0.3"/>
        <body pos="0.3 0 0"><joint name="arm" axis="0 1 0"/><geom size="0.1"/></body>
        <body pos="-0.3 0.1 0"><joint type="ball" pos="0 0 0.1"/><geom size="0.1"/></body></body>
        </worldbody><actuator><motor joint="arm"/></actuator></mujoco>""")
    lanes = make_lanes(load_model(str(path)))
    before = lanes.num_compared()
    assert lanes.compare(60, 4, 1, noise, 1) == ""
    assert lanes.num_compared() - before > 200


@pytest.mark.parametrize(("changes", "reason"), [
    ({"joint": 'damping="-1"'}, 'joint "knee0" has a negative damping'),
    ({"joint": 'solimplimit="0.9 0.95 0.001 0.5 3"'}, 'joint "knee0" has a solimp whose power is neither 1 nor 2'),
    ({"joint": 'pos="-0 0 0.1"'}, 'joint "knee0" has a negative zero in its axis or pos'),
    ({"knee": 'gravcomp="-1"'}, 'body "knee0" has a negative gravcomp'),
    ({"actuators": SERVOS + '<motor name="push" site="imu"/>'}, 'actuator "push" does not act on a joint'),
    ({"actuators": SERVOS + '<position tendon="one" name="push"/>', "option": 'integrator="implicitfast"'},
     'actuator "push" has a bias and acts on a tendon'),
    ({"actuators": SERVOS + '<motor tendon="one"/>', "tendon": 'actuatorfrcrange="-1 1"'},
     'tendon "one" limits the forces of its actuators'),
    ({"strings": strings(("ground imu", 'damping="1"'))}, "tendon_damping is not zero"),
    ({"strings": '<spatial name="string"><site site="ground"/><geom geom="foot0"/><site site="imu"/></spatial>'},
     'tendon "string" wraps around a geom'),
    ({"actuators": SERVOS + '<muscle name="push" joint="knee0" lengthrange="-1 1"/>'}, 'actuator "push" has a dyntype'),
    ({"actuators": SERVOS + '<general joint="knee0" gaintype="affine"/>'}, "actuator 12 has a gaintype"),
    ({"floor": 'type="plane" size="9 9 9" solref="-100 -10"'}, 'geom "floor" has a solref that is not'),
    ({"option": 'density="1"', "foot": 'size="0.03" fluidshape="ellipsoid"'}, 'geom "foot0" is an ellipsoid in a'),
    ({"floor": 'type="plane" size="9 9 9" gap="0.1"'}, 'geom "floor" and geom "trunk" have a gap'),
])
def test_lanes_name_what_they_refuse(tmp_path, changes, reason):
    with pytest.raises(ValueError, match=reason):
        make_lanes(load_model(robot(tmp_path, **changes)))


def test_lanes_refuse_more_limits_than_they_have_rows(tmp_path):
    path, bodies = tmp_path / "snake.xml", ""
    for k in range(55):
        bodies = (f'<body pos="0.05 0 0.01"><joint name="j{k}" axis="0 1 {k % 2}" range="-1 1" frictionloss="0.1" '
                  f'damping="1"/><geom size="0.02" pos="0.01 0 0"/>{bodies}</body>')
    path.write_text(f"""<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody>
        <actuator><motor joint="j0"/></actuator></mujoco>""")
    with pytest.raises(ValueError, match="too many limits and frictions of joints|too large"):
        make_lanes(load_model(str(path)))
