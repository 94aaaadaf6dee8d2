"""Lanes against mj_step after a change of each attribute that a model in lanes may have: equal, or refused."""
import contextlib
import re
import warnings
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
import pytest
from fuzz_mujoco_lanes import outcome
from markers import exhaustive, often_exhaustive

from cypool.envs.shared.lanes.mujoco_lanes import check_machine

try:
    check_machine()
except ValueError as refusal:
    pytest.skip(f"lanes: {refusal}", allow_module_level=True)

# a robot on a rail, or one that floats, among geoms of the world that it touches
MODEL = """
<mujoco>
  <compiler angle="radian"/><option timestep="0.004" integrator="{integrator}" solver="{solver}"><flag/></option>
  <size/><statistic/>
  <worldbody>
    <geom type="plane" size="9 9 9"/>
    <geom type="box" size="0.5 0.1 0.3" pos="0 0.4 0.2"/>
    <geom name="bar" type="capsule" fromto="0.5 -0.9 0.2 0.7 0.9 0.6" size="0.1" solmix="2"/>
    <geom size="0.3" pos="-0.6 0 0.2" euler="1 1 1"/>
    <site pos="0 0 0.1" size="0.2"/>
    <body name="root" pos="0 0 0.5">{root}
      <geom type="capsule" fromto="-0.2 0 0 0.2 0 0.1" size="0.1"/>
      <geom name="ball" size="0.15" pos="0 0 -0.1" margin="0.01" friction="0.5"/>
      <site name="touched" size="0.3" pos="0 0 -0.1"/>
      <body name="arm" pos="0.25 0 0" euler="0 0.3 0">
        <site name="other" pos="0.1 0 0.05" euler="0.2 0.3 0"/>
        <joint name="first" axis="0 1 0.2" range="-0.8 0.8" damping="0.2" stiffness="2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05" condim="1"/>
        <body name="hand" pos="0.3 0 0">
          <inertial mass="0.3" pos="0.1 0 0" diaginertia="0.002 0.003 0.004"/>
          <joint name="second" axis="0 0 1" pos="-0.02 0 0" range="-0.5 0.7" armature="0.02"/>
          <geom name="tip" size="0.07" pos="0.1 0 0" solref="0.01 0.8" solimp="0.8 0.9 0.02 0.4 2"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality/><contact><exclude body1="root" body2="hand"/><pair geom1="ball" geom2="bar" margin="0.1"/></contact>
  <tendon><fixed name="string"><joint joint="first" coef="1"/><joint joint="second" coef="-0.5"/></fixed></tendon>
  <actuator>
    <general name="push" joint="first" gear="3" ctrllimited="true" ctrlrange="-0.5 0.7"/>
    <general joint="second" gainprm="2"/>
  </actuator>
  <sensor><touch site="touched"/><subtreelinvel body="arm"/></sensor>
</mujoco>
"""
MODELS = {
    "floating": MODEL.format(integrator="Euler", solver="Newton", root="<freejoint/>"),
    "sliding": MODEL.format(integrator="RK4", solver="PGS", root='<joint type="slide" axis="1 0 0"/>'
                            '<joint type="slide" axis="0 0 1" range="-0.6 0.1" limited="true"/>'),
}

DIRECTIONS = {"axisangle": "0 0 1 0.5", "euler": "0.1 0 0|0 0 1e-9|3.14159265 0 0", "quat": "0 1 0 0|1 0 0.1 0",
              "xyaxes": "0 1 0 -1 0 0", "zaxis": "1 0 1"}
SOLREF = "0.1 0.5|1e-9 1|1e9 1|0.02 0|0 0|-100 -10|-0.001 -0.1|-1e-9 -1e-9|-100 1|0.02 -1|nan 1"
SOLIMP = ("0.5 0.9|0 1 0.01|0.9 0.9|0.9 0.5|0.9 0.95 0|0.9 0.95 -1|0.9 0.95 1e9|0.9 0.95 0.01 0 2|0.9 0.95 0.01 1 2|"
          "0.1 0.9 0.05 0.3 1|0.1 0.9 0.05 0.3 3|-1 2 0.1 -1 0")
DELAY = {"delay": "0.01", "interp": "linear", "nsample": "2"}
# by elements and their attributes: values, between bars
CHANGES = {
    "option": {
        "actuatorgroupdisable": "0|3", "ccd_iterations": "1", "ccd_tolerance": "1|-1", "cone": "elliptic",
        "density": "1|-1", "gravity": "0 0 0|3 2 9|0 0 -1e6", "impratio": "0|2|-1",
        "integrator": "RK4|implicit|implicitfast|discrete|Euler",
        "iterations": "0|1|2|-1", "jacobian": "dense|sparse", "ls_iterations": "0|1|2|-1", "ls_tolerance": "0|1|-1",
        "magnetic": "1 2 3", "noslip_iterations": "1|20|-1", "noslip_tolerance": "1", "o_friction": "9 9 9 9 9",
        "o_margin": "1", "o_solimp": "0 1 1", "o_solref": "-9 -9", "sdf_initpoints": "1", "sdf_iterations": "1",
        "sleep_tolerance": "9", "solver": "PGS|Newton|CG", "timestep": "0.02|1e-6|0.3|0|-0.001",
        "tolerance": "0|1e-3|1|-1", "viscosity": "1|-1", "wind": "9 9 9"},
    "option/flag": dict.fromkeys("""actuation autoreset clampctrl constraint contact damper diagexact energy equality
        eulerdamp filterparent frictionloss fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd
        override refsafe sensor sleep speculative spring warmstart""".split(), "enable|disable"),
    "compiler": {
        "alignfree": "true", "angle": "degree", "autolimits": "false", "balanceinertia": "true", "boundinertia": "0.1",
        "boundmass": "3", "coordinate": "local", "eulerseq": "zyx", "fusestatic": "true", "inertiafromgeom": "true",
        "inertiagrouprange": "0 0", "settotalmass": "5", "saveinertial": "true"},
    "size": {"memory": "-1|16K|18K|20K|22K|24K|26K|28K|30K|34K|1M", "nconmax": "0|1|5", "njmax": "0|1|5",
             "nstack": "1000|20000", "nuserdata": "3", "nkey": "2"},
    "statistic": {"meaninertia": "9|1e-9", "center": "1 1 1", "extent": "1", "meanmass": "1", "meansize": "1"},
    "body/geom": {
        "adhesion": "0|1|-1", "conaffinity": "0|2|-1", "contype": "0|2|-1", "condim": "1|3|4|6", "density": "10|1e5",
        "mass": "0.1|100|1e-9", "shellinertia": "true", "fluidcoef": "1 1 1 1 1", "fluidshape": "ellipsoid",
        "friction": "0 0 0|-1 -1 -1|2 1 1|1e6 1 1|1e-6", "gap": "0.01|-0.01", "margin": "0.05|-0.05|1|-1|nan",
        "pos": "0.1 0.2 0.3|0 0 0", "priority": "1|-1", "size": "0.2 0.3 0.1|0.001 0.001 0.001", "solimp": SOLIMP,
        "solmix": "0.01|1e9|0|-1|1e-15|1e-16", "solref": SOLREF, "surfacevel": "1 0 0 0 0 0",
        "fromto": "0 0 0 0.1 0.2 0.3",
        "type": "plane|sphere|capsule|box|ellipsoid|cylinder", "group": "3", **DIRECTIONS},
    "body/joint": {
        "actuatorfrclimited": "true|false", "actuatorfrcrange": "-0.1 0.1", "actuatorgravcomp": "true",
        "armature": "0|0.5|1e3", "axis": "-1 0 0|0.3 -0.4 0.5|-0 0 1", "damping": "0|-0.1|-1e3|10|1 2|1 0 3|0 2 3",
        "frictionloss": "0.1", "limited": "true|false", "margin": "0.5|-0.5|9", "pos": "0.1 0.2 0.3|0 0 0",
        "range": "-0.1 0.1|0.5 0.6|-1e9 1e9|0.1 0.1001", "ref": "0.5|-9", "solimpfriction": "0 1",
        "solimplimit": SOLIMP,
        "solreffriction": "-9 -9", "solreflimit": SOLREF, "springdamper": "0.1 1", "springref": "0.5|-9|1e6",
        "springyield": "0.1", "stiffness": "0|5|-5|1 2|0 0 3", "type": "hinge|slide|ball", "group": "3"},
    "body": {"gravcomp": "0|0.5|-1", "mocap": "true", "pos": "0.1 0.2 0.3", "simple": "true|false", "sleep": "never",
             "fuse": "true", **DIRECTIONS},
    "body/freejoint": {"align": "true|false", "group": "3"},
    "body/inertial": {"mass": "9|1e-6|1e-14", "pos": "0 0 0|0.3 0.2 0.1", "diaginertia": "1 1 1|1e-14 1e-14 1e-14",
                 "fullinertia": "0.02 0.03 0.04 0.001 0 0", **DIRECTIONS},
    "body/site": {"fromto": "0 0 0 0.1 0.2 0.3", "pos": "0.1 0.2 0.3", "size": "0.05|1 2 3", "group": "3",
             "type": "capsule|box|ellipsoid", **DIRECTIONS},
    "actuator/general": {
        "actdim": "1", "actearly": "true", "actlimited": "true", "actrange": "-1 1", "armature": "0.5",
        "biasprm": "1 2 3",
        "biastype": "none|affine|muscle", "body": "root", "cranklength": "0.1", "cranksite": "touched",
        "ctrllimited": "true|false", "ctrlrange": "-0.1 0.1|0.1 0.2", "damping": "1", "dynprm": "3 2 1",
        "ffrange": "-1 1", "dyntype": "none|integrator|filter|filterexact|muscle",
        "forcelimited": "true|false", "forcerange": "-0.1 0.1",
        "gainprm": "0|-3|1e4|1 2 3", "gaintype": "fixed|affine|muscle", "gear": "0|-5|1 2 3 4 5 6|1e5", "group": "3",
        "inheritrange": "1", "input": "pos|vel", "jointinparent": "first", "lengthrange": "-1 1", "refsite": "touched",
        "site": "touched", "slidersite": "touched", "tendon": "string", "velrange": "-1 1", **DELAY},
    "tendon/fixed": {
        "actuatorfrclimited": "true", "actuatorfrcrange": "-0.1 0.1", "armature": "0.1", "damping": "1|0 2|0 0 3",
        "frictionloss": "0.1", "limited": "true", "margin": "0.5", "range": "-0.1 0.1|-99 99", "solimpfriction": "0 1",
        "solimplimit": "0 1", "solreffriction": "-9 -9", "solreflimit": "-9 -9", "springlength": "0.1|-99 99",
        "springyield": "0.1", "stiffness": "1|0 2|0 0 3", "group": "3"},
    "tendon/fixed/joint": {"coef": "0|-3|1e5", "joint": "second"},
    "sensor/touch": {"cutoff": "0.5", "interval": "0.01", "noise": "9", **DELAY},
    "sensor/subtreelinvel": {"body": "world|root|hand", "cutoff": "0.5", "interval": "0.01", "noise": "9", **DELAY},
    "contact/pair": {
        "adhesion": "0|1|-1", "condim": "1|3|4|6", "friction": "0 0 0 0 0|2 1 0.1 0.2 0.3|-1 -1 -1 -1 -1",
        "gap": "0.01|-0.01", "geom1": "bar|tip", "geom2": "ball|tip", "margin": "0.05|-0.05|1|-1|nan", "solimp": SOLIMP,
        "solref": SOLREF, "solreffriction": "0.1 0.5|-9 -9"},
    "contact/exclude": {"body1": "arm|world", "body2": "arm|world"},
}
# of names, files and pictures, or of other features
WITHOUT_MEANING = set("""name joint site class childclass user material rgba mesh hfield fitscale width assetdir meshdir
    texturedir strippath discardvisual usethread conflict fitaabb passthrough savecanonical savecompiled nuser_actuator
    nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor nuser_site nuser_tendon castshadow""".split())
# more elements, by where they are
FREE_BODY = '<body pos="3 0 2"><freejoint/><geom size="0.1"/></body>'
ELEMENTS = {
    "worldbody": [FREE_BODY, '<body pos="0 0.3 0.3"><geom size="0.2"/></body>',
                  '<body mocap="true"><geom size="0.2"/></body>',
                  '<geom type="cylinder" size="0.2 0.2"/>', '<geom type="box" size="1 1 1" euler="0 0 1e-5"/>',
                  '<geom type="plane" size="1 1 1" euler="1e-5 0 0"/>', '<camera/>', '<light/>',
                  '<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 2" dim="2" mass="1"/>'],
    "body": ['<geom type="box" size="0.1 0.1 0.1"/>', '<geom type="ellipsoid" size="0.1 0.2 0.1"/>',
             '<body><geom size="0.1"/></body>', '<geom type="cylinder" size="1 1" contype="0" conaffinity="0"/>',
             '<body><joint type="ball"/><geom size="0.1"/></body>', '<site/>'],
    "contact": ['<pair geom1="bar" geom2="ball"/>', '<pair geom1="ball" geom2="tip" margin="0.1"/>',
                '<pair geom1="ball" geom2="tip" margin="0.1" solref="-9 -9"/>'],
    "tendon": [f'<spatial {more}><site site="touched"/><site site="other"/></spatial>' for more in (
        "", 'range="0 0.1" limited="true"', 'range="0.3 9" margin="0.1" limited="true"', 'stiffness="9"', 'damping="1"',
        'stiffness="9" springlength="0.1 0.2"', 'stiffness="0 2"', 'frictionloss="0.1"', 'armature="0.1"')],
    "equality": ['<joint joint1="first" joint2="second"/>', '<connect body1="root" body2="hand" anchor="0 0 0"/>',
                 '<weld body1="root" body2="hand"/>', '<tendon tendon1="string"/>',
                 '<joint joint1="first" active="false"/>', '<joint joint1="second" polycoef="0.1 1 2 3 4"/>',
                 '<connect body1="arm" body2="hand" anchor="0 0 0"/>', '<connect site1="touched" site2="other"/>',
                 '<connect body1="arm" anchor="0.1 0.2 0.3" solref="0.1 0.5" solimp="0.1 0.9 0.5 0.3 1"/>',
                 '<weld body1="hand" torquescale="0"/>', '<weld site1="touched" site2="other" torquescale="0.3"/>',
                 '<weld body1="world" body2="hand" relpose="0.1 0 0 1 1 0 0" solref="-100 -10"/>',
                 '<joint joint1="first" joint2="second" polycoef="0.1 0.5 2 3 4"/>'],
    "actuator": [f'<{kind} {more} {at}/>' for kind, more in (
        ("motor", ""), ("position", 'kp="3"'), ("velocity", 'kv="3"'), ("intvelocity", 'kp="1" actrange="-1 1"'),
        ("damper", 'ctrlrange="0 1"'), ("cylinder", ""), ("muscle", 'lengthrange="-1 1"'), ("pid", 'kp="1"'),
        ("dcmotor", 'motorconst="1" resistance="1"')) for at in ('joint="first"', 'tendon="string"')] + [
        f'<general {at} dyntype="{kind}" dynprm="{time}" {more}/>' for at in ('joint="first"', 'tendon="string"')
        for kind in ("filter", "filterexact", "integrator") for time in (0, 0.1)
        for more in ("", 'actrange="-0.1 0.2" gear="-2"', 'actearly="true" actrange="-0.1 0.2"')] + [
            '<general joint="second" dyntype="filter" actdim="2"/>', '<adhesion body="root" ctrlrange="0 1"/>'],
    "sensor": ['<touch site="other"/>', '<subtreelinvel body="hand"/>', '<gyro site="other"/>', '<clock/>',
               '<framepos objtype="body" objname="hand" reftype="site" refname="other"/>',
               '<rangefinder site="other"/>', '<accelerometer site="other"/>', '<gyro site="other" cutoff="0.1"/>',
               '<velocimeter site="touched"/>', '<jointpos joint="first"/>', '<jointvel joint="second"/>',
               '<jointactuatorfrc joint="first"/>', '<tendonpos tendon="string"/>', '<tendonvel tendon="string"/>',
               '<actuatorpos actuator="push"/>', '<actuatorvel actuator="push"/>', '<actuatorfrc actuator="push"/>',
               '<subtreecom body="arm"/>', '<subtreeangmom body="root"/>'] + [
        f'<frame{kind} objtype="{of}" objname="{name}" {reference}/>'
        for kind in ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel")
        for of, name in (("site", "other"), ("xbody", "hand"), ("body", "hand"), ("geom", "tip"), ("body", "world"))
        for reference in ("", 'reftype="site" refname="touched"', 'reftype="body" refname="arm"')] + [
        '<framelinacc objtype="site" objname="other"/>', '<frameangacc objtype="xbody" objname="hand"/>'],
}




def attributes_of_the_schema():
    """Returns the names of the attributes of all elements, by the path of each."""
    found, path = {}, []
    for line in mujoco.mj_printSchema(False, True).splitlines():
        if begin := re.match(r"( *)(?:\(world\))?(\w+) \([!*?R]\)(.*)", line):
            indent, name, line = begin.groups()
            path = [*path[:len(indent) // 3], name]
        found.setdefault("/".join(path[1:]), set()).update(line.split())
    return found


def find(root, path):
    """Returns the elements of a path, in which `body` stands for any depth."""
    if path.startswith("body"):
        return list(root.find("worldbody").iter(path.rpartition("/")[2]))
    return root.findall(path)


def changed(text, path, attribute, value, which):
    """Returns a model with another value in one of the elements, or in all: `which` is None."""
    root = ElementTree.fromstring(text)
    found = find(root, path)
    for each in found if which is None else [found[which % len(found)]]:
        given = each.attrib
        # what excludes it, or what it needs
        if attribute in (*DIRECTIONS, "pos", "type", "size") and given.pop("fromto", None):
            given["size"] = "0.1 0.2 0.1"
        if attribute in DIRECTIONS:
            given.pop("euler", None)
        if attribute in ("body", "site", "tendon", "jointinparent", "slidersite") and path == "actuator/general":
            del given["joint"]
        if attribute in DELAY:
            given["nsample"] = "2"
        given[attribute] = value
    return ElementTree.tostring(root, "unicode")


def extended(text, path, snippet):
    root = ElementTree.fromstring(text)
    (root.find("worldbody/body") if path == "body" else root.find(path)).append(ElementTree.fromstring(snippet))
    return ElementTree.tostring(root, "unicode")


def check(tmp_path, texts):
    """Checks that each model is equal in lanes, or refused. Returns the outcomes."""
    kinds, path = set(), tmp_path / "model.xml"
    for seed, text in enumerate(texts):
        path.write_text(text)
        kind, differing = outcome(path, seed, 30)
        assert not differing, f"{kind}: {differing}\n{text}"
        kinds.add(kind.partition(":")[0])
    return kinds


@pytest.mark.parametrize("name", MODELS)
def test_models_of_these_tests_are_equal_in_lanes(tmp_path, name):
    assert check(tmp_path, [MODELS[name]]) == {"equal"}


def test_changes_are_of_all_attributes():
    schema = attributes_of_the_schema()
    assert {path: schema[path] - changes.keys() - WITHOUT_MEANING for path, changes in CHANGES.items()} == {
        path: set() for path in CHANGES}


def arrays(text):
    """Returns the numbers of a model by their names, but for those of pictures."""
    model = mujoco.MjModel.from_xml_string(text)
    of_elements = re.compile("(qpos|body|jnt|dof|geom|site|tendon|wrap|exclude|pair|actuator|sensor)"
                             "_?(?!.*(user|matid|dataid|rgba|plugin))")
    return {name: np.array(getattr(of, name)).tobytes() for of, names in (
        (model, filter(of_elements.match, dir(model))), (model.opt, dir(model.opt)))
            for name in names if not callable(getattr(of, name)) and name[0] != "_"}


@pytest.mark.slow
def test_changes_reach_all_arrays_of_a_model():
    missing = set()
    for text in MODELS.values():
        before = arrays(text)
        missing |= before.keys()
        texts = [changed(text, path, name, value, which) for path, changes in CHANGES.items()
                 for name, values in changes.items() for value in values.split("|") for which in (None, 0, 1)
                 if find(ElementTree.fromstring(text), path)]
        texts += [extended(text, path, each) for path, all_of in ELEMENTS.items() for each in all_of]
        for each in texts:
            with contextlib.suppress(ValueError):
                missing -= {name for name, value in arrays(each).items() if value != before[name]}
    assert missing == set()


@pytest.mark.parametrize("which", [None, *exhaustive(0, 1, 2, 3, 4)])
@pytest.mark.parametrize(("path", "attribute"), often_exhaustive(
    [(path, name) for path, changes in CHANGES.items() for name in changes], 3))
@pytest.mark.parametrize("name", ["floating", *exhaustive("sliding")])
def test_change_of_an_attribute_is_equal_in_lanes_or_refused(tmp_path, name, path, attribute, which):
    values = CHANGES[path][attribute].split("|")
    if not find(ElementTree.fromstring(MODELS[name]), path):
        pytest.skip("expected such an element")
    with warnings.catch_warnings(action="ignore"):
        check(tmp_path, [changed(MODELS[name], path, attribute, value, which) for value in values])


@pytest.mark.parametrize(("path", "snippet"), often_exhaustive(
    [(path, each) for path, all_of in ELEMENTS.items() for each in all_of], 3))
@pytest.mark.parametrize("name", MODELS)
def test_one_more_element_is_equal_in_lanes_or_refused(tmp_path, name, path, snippet):
    with warnings.catch_warnings(action="ignore"):
        kinds = check(tmp_path, [extended(MODELS[name], path, snippet)])
    assert "no model" not in kinds
