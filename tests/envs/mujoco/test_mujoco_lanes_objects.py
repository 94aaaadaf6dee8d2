"""Lanes against mj_step for arms and what they move: several trees, and what joins them; all numbers bit by bit."""
import pytest
from envs.mujoco.test_mujoco_lanes_class import check_equal, strings

from cypool.envs.shared.lanes.mujoco_lanes import make_lanes
from cypool.envs.shared.mujoco.mujoco_common import load_model

SCENE = """
<mujoco>
  <compiler angle="radian"/><option timestep="0.004" {option}><flag {flag}/></option>
  <default><geom friction="0.8 0.02 0.01" {geom}/></default>
  <worldbody>
    <geom type="plane" size="3 3 1"/><site name="roof" pos="0.1 0.05 0.8"/>
    <body name="table" pos="0.3 0 0.1"><geom type="box" size="0.4 0.4 0.02"/></body>
    <body name="upper" pos="0 0 0.3">
      <joint name="shoulder" axis="0 0 1" damping="0.2" {joint}/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/><site name="arm" pos="0.1 0 0.02"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" axis="0 1 0" range="-1 1" limited="true" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/><site name="tip" pos="0.3 0 0" size="0.05"/>
      </body>
    </body>
    {things}
  </worldbody>
  {more}
  <actuator><motor joint="shoulder" gear="3"/><motor joint="elbow" gear="3"/></actuator>
  <sensor>
    <touch site="tip"/><subtreelinvel body="upper"/><subtreeangmom body="world"/><subtreecom body="thing1"/>
    <framelinacc objtype="xbody" objname="thing1"/>
    <framepos objtype="xbody" objname="thing0" reftype="site" refname="tip"/>
  </sensor>
</mujoco>"""
SHAPES = ('size="0.08"', 'type="capsule" size="0.05 0.06"', 'type="box" size="0.07 0.05 0.06"',
          'type="cylinder" size="0.05 0.06"', 'type="ellipsoid" size="0.05 0.06 0.07"')
SLIDES = ('<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0" armature="0.1" damping="0.1"/>'
          '<joint type="slide" axis="0 0 1"/>')


def things(count, joint="<freejoint/>", place="", more=""):
    """Returns bodies that fall on the table, on the arm, and on each other."""
    return "".join(f'<body name="thing{k}" pos="{0.15 * (k % 3)} {0.14 * (k // 3)} {0.25 + 0.1 * (k % 2)}">'
                   f'{joint.format(k=k)}<geom {SHAPES[k % 5]} {place}/>{more.format(k=k)}</body>' for k in range(count))


def coupled(constraints):
    return f"<equality>{constraints}</equality>"


THINGS = things(4)
STRINGS = ('<tendon><fixed name="string"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="-0.5"/></fixed>'
           '<fixed name="rope"><joint joint="elbow" coef="2"/></fixed></tendon>')
MOCAP = '<body name="mocap" mocap="true" pos="0.3 0.1 0.4"><geom size="0.02" {more}/></body>'


def scene(tmp_path, things=THINGS, option="", flag="", geom="", joint="", more=""):
    path = tmp_path / "scene.xml"
    path.write_text(SCENE.format(things=things, option=option, flag=flag, geom=geom, joint=joint, more=more))
    return str(path)


HOOKS = things(2, more='<site name="hook{k}" pos="0.03 0.02 0.05"/>')
LOOSE = 'range="0.1 0.6" limited="true" margin="0.02"'


def tied(*given, more=""):
    return {"things": HOOKS, "more": f"<tendon>{strings(*given)}</tendon>{more}"}


FEATURES = {
    "things on strings": tied(("roof hook0", LOOSE), ("hook0 arm hook1", LOOSE), ("arm tip", LOOSE)),
    "things on springs": tied(("roof hook0", 'stiffness="30"'), ("hook0 hook1", 'stiffness="9" springlength="0.1 0.2"'),
                              ("tip roof 2 arm hook1 3 hook0 roof", f'stiffness="20" {LOOSE}')),
    "things on motors": tied(("roof arm hook0", LOOSE), ("hook0 tip", ""), more='<actuator><motor tendon="string0" '
                             'gear="3"/><motor tendon="string1"/><motor tendon="string0" gear="-2"/></actuator>'
                             '<sensor><force site="hook0"/><torque site="tip"/><tendonvel tendon="string0"/></sensor>'),
    "strings that follow each other": tied(("roof hook0", LOOSE), ("hook1 tip", 'stiffness="3"'), ("arm tip", ""),
                                           ("tip roof", ""), more=coupled(
        '<tendon tendon1="string0" tendon2="string1" polycoef="0.1 0.7 0 0 0"/><tendon tendon1="string1" '
        'polycoef="0.1" solref="0.1 1"/><tendon tendon1="string2" tendon2="string3" polycoef="0 0.2 0.3 0 0"/>')),
    "things": {},
    "balls": {"things": things(2)},
    "many things": {"things": things(9)},
    "things whose weight is not in their middle": {"things": things(4, place='pos="0.01 0.02 0.03"')},
    "things that slide": {"things": things(4, SLIDES)},
    "things on hinges": {"things": things(4, '<joint axis="0.2 1 0" pos="0 0 0.1" damping="0.1"/>')},
    "things with friction": {"things": things(3, SLIDES.replace('1 0 0"', '1 0 0" frictionloss="0.2"')),
                             "joint": 'frictionloss="0.1"'},
    "balls on balls": {"things": things(3, '<joint type="ball" pos="0 0.1 0.1"/>')},
    **{f"condim {n}": {"geom": f'condim="{n}"'} for n in (1, 4, 6)},
    "no warm start": {"flag": 'warmstart="disable"'},
    "a joint that follows another": {"more": coupled('<joint joint1="shoulder" joint2="elbow" '
                                                     'polycoef="0.1 0.5 0.2 -0.1 0.3" solref="0.05 1"/>')},
    "a joint that is held": {"more": coupled('<joint joint1="shoulder" polycoef="0.1 0.5" solimp="0.8 0.95 0.2"/>')},
    "tendons that follow each other": {"more": STRINGS + coupled(
        '<tendon tendon1="string" tendon2="rope" polycoef="0 1 0.3 0 0"/><tendon tendon1="string" active="false"/>')},
    "a thing in the hand": {"more": coupled('<connect body1="lower" body2="thing1" anchor="0.3 0 0"/>')},
    "things that are welded": {"more": coupled('<weld body1="lower" body2="thing0" torquescale="0.7"/>'
                                               '<weld body1="thing1" body2="thing2" solref="0.1 1"/>')},
    "a thing on a string": {"more": coupled('<connect body1="thing2" anchor="0 0 0.4"/>')},
    "a hand that is welded to the world": {"more": coupled('<weld body1="lower" relpose="0.2 0.1 0.3 1 0.1 0.2 0"/>')},
    "sites that are held": {"things": things(2, more='<site name="corner{k}" pos="0.05 0.05 0" euler="0.1 0.2 0.3"/>'),
                            "more": coupled('<weld site1="corner0" site2="corner1" solimp="0.9 0.95 0.3"/>'
                                            '<connect site1="corner1" site2="tip"/>')},
    "a margin": {"geom": 'margin="0.02"'},
    "a margin and things of two shapes": {"things": things(4, more='<geom type="box" size="0.02 0.03 0.1"/>'),
                                          "geom": 'margin="0.004"'},
    "boxes that are far apart for a contact": {"things": things(4, more='<geom type="box" size="0.02 0.03 0.1"/>'),
                                               "geom": 'margin="0.06"'},
    "impratio": {"option": 'impratio="7"', "geom": 'condim="4"'},
    **{f"a hand that follows a mocap body, {name}": {"things": MOCAP.format(more=more) + things(2),
                                                     "more": coupled(weld)}
       for name, more, weld in (("closely", "", '<weld body1="mocap" body2="lower" solref="0.02 1"/>'),
                                ("loosely", 'contype="0" conaffinity="0"',
                                 '<weld body1="lower" body2="mocap" solimp="0.5 0.95 0.3" torquescale="0.1"/>'))},
}


@pytest.mark.parametrize("option", ["", 'integrator="RK4"', 'iterations="2"', 'noslip_iterations="20"',
                                    'density="20" viscosity="0.1" wind="0 1 0.3"'])
@pytest.mark.parametrize("name", FEATURES)
def test_lanes_of_an_arm_and_things_have_the_bits_of_mj_step(tmp_path, name, option):
    check_equal(scene(tmp_path, **{"option": option, **FEATURES[name]}))


@pytest.mark.parametrize("option", ["", 'integrator="RK4"'])
@pytest.mark.parametrize("ends_with_step1", [False, True])
def test_lanes_continue_after_a_step_that_mj_step_takes(tmp_path, option, ends_with_step1):
    # with more rows of constraints than lanes have
    lanes = make_lanes(load_model(scene(tmp_path, things(9), option, geom='condim="6"')))
    assert lanes.compare(60, 12, 5, 0.2, 1.5, ends_with_step1, frames=7) == ""
    # in some steps of some of the twelve environments
    assert 0 < lanes.num_by_mujoco() < 12 * 60 * 7 / 2


@pytest.mark.parametrize("rail", ["", '<joint name="rail" type="slide" axis="1 0 0"/>'])
def test_string_that_pulls_at_right_angles_to_a_rail_is_left_to_mj_step(tmp_path, rail):
    # MuJoCo looks for numbers in its row, and finds none of this rail
    path = tmp_path / "rails.xml"
    path.write_text(f"""<mujoco><worldbody>
        <body name="a"><joint name="a" type="slide" axis="0 1 0"/><geom size="0.1"/><site name="a"/></body>
        <body pos="1 0 0">{rail}<geom size="0.1"/><site name="b"/></body></worldbody>
        <tendon>{strings(("a b", 'range="0 0.9" limited="true"'))}</tendon>
        <actuator><motor joint="a"/></actuator></mujoco>""")
    lanes = make_lanes(load_model(str(path)))
    before = lanes.num_by_mujoco()
    assert lanes.compare(30, 10, 5, 0, 0, False) == ""
    assert lanes.num_by_mujoco() - before > 100
    assert lanes.compare(30, 10, 5, 0.1, 1, False) == ""


CONES = {
    **{f"condim {n}": {"geom": f'condim="{n}"'} for n in (1, 3, 4, 6)},
    "little friction": {"things": things(4, place='friction="0.05" priority="1"')},
    "condims of all kinds": {"things": things(2) + "".join(
        things(2, place=f'priority="{n}" condim="{n}"').replace("thing", f"other{n}") for n in (1, 4, 6))},
    "friction of joints": FEATURES["things with friction"],
    "a hand that follows a mocap body": FEATURES["a hand that follows a mocap body, closely"],
    "no warm start": FEATURES["no warm start"],
}


@pytest.mark.parametrize("option", ["", 'integrator="RK4"', 'impratio="10"', 'iterations="1"', 'iterations="0"'])
@pytest.mark.parametrize("name", CONES)
def test_lanes_of_elliptic_cones_have_the_bits_of_mj_step(tmp_path, name, option):
    check_equal(scene(tmp_path, **{"option": f'cone="elliptic" {option}', **CONES[name]}))


def test_lanes_know_that_mj_step_may_not_find_round_shapes_that_just_touch(tmp_path):
    walls = "".join(f'<geom type="capsule" fromto="{x} 0 -.05 {x} 0 .05" size=".008"/>' for x in (-0.03, 0.03))
    # their boxes are parallel
    balls = "".join(f'<body name="{name}{k}" pos="{0.3 * k} 2 1" euler="0 {0.1 + 0.17 * k} 0">{inner}</body>'
                    for k in range(8) for name, inner in (("cup", walls), ("thing", '<freejoint/><geom size=".022"/>')))
    check_equal(scene(tmp_path, balls, 'gravity="0 0 0"'))


IMPLICIT = {
    "slides": things(4, SLIDES),
    "free": THINGS,
    "turned": things(5, place='pos="0.04 0.02 0.03" euler="0.5 1 -0.4"'),
    "damped": things(4, '<joint type="free" damping="0.3" armature="0.02"/>', 'pos="0.01 0.02 0.03"'),
    "carrying a weight": things(3, more='<body pos="0 0 0.1"><geom size="0.03"/></body>'),
}


@pytest.mark.parametrize("name", IMPLICIT)
def test_lanes_of_things_have_the_bits_of_mj_step_with_implicitfast(tmp_path, name):
    check_equal(scene(tmp_path, IMPLICIT[name], 'integrator="implicitfast"'))


@pytest.mark.parametrize(("changes", "reason"), [
    ({"option": 'solver="PGS"'}, "several trees of bodies and the solver is PGS"),
    ({"option": 'noslip_iterations="1" cone="elliptic"'}, "elliptic"),
    ({"things": things(2, '<joint name="rail{k}" type="slide"/>'),
      "more": coupled('<joint joint1="shoulder" joint2="rail0" polycoef="0 1 1 0 0"/>')},
     "equality constraint 0 couples two trees"),
])
def test_lanes_refuse_scenes_outside_of_their_class(tmp_path, changes, reason):
    with pytest.raises(ValueError, match=reason):
        make_lanes(load_model(scene(tmp_path, **changes)))
