"""Compares lanes with mj_step on random models, inside and just outside of the class that lanes can step.

    python fuzz/fuzz_mujoco_lanes.py --cases 500 --seed 0

Each model is stepped from random states, with and without mj_step1 at the end. Results are equal, or lanes refuse the
model. Exits with 1 if a number differs, even if the comparison at first use finds it, because then the class is too
large.
"""
import argparse
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from cypool.envs.shared.lanes.mujoco_lanes import make_lanes
from cypool.envs.shared.mujoco.mujoco_common import load_model

MOST_DEPTH = 4


class Writer:
    """Writes a random model as XML. Each feature outside of the class has a small probability."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.num_bodies = self.num_joints = self.num_sites = 0
        self.hinges, self.limited, self.geoms, self.tendons = [], [], [], []
        self.has_mocap = self.r.random() < 0.15
        self.has_strings = self.r.random() < 0.2
        # of the lengths, of a robot that is small or large
        self.scale = self.r.choice([1] * 8 + [0.01, 10])
        # round ones let geoms just touch, and bodies be parallel
        self.is_round = self.r.random() < 0.2
        # how many of the robot's geoms are neither spheres nor capsules
        self.others = self.r.choice([0, 0, 0.2, 0.8])

    def model(self):
        r = self.r
        option = {"timestep": r.choice([0.002, 0.005, 0.01]), "solver": r.choice(["Newton", "Newton", "PGS"]),
                  "integrator": r.choice(["Euler", "RK4", "implicitfast"])}
        self.sometimes(option, 0.3, gravity=self.numbers(3, -9.81, 3))
        self.sometimes(option, 0.2, iterations=r.choice([0, 1, 3, 50]))
        self.sometimes(option, 0.2, tolerance=r.choice([-1, 0, 1e-4, 1e-10]))
        self.sometimes(option, 0.1, ls_iterations=r.choice([0, 1, 2, 7]))
        self.sometimes(option, 0.1, ls_tolerance=r.choice([-1, 0, 1e-4, 1]))
        self.sometimes(option, 0.05, timestep=r.choice([1e-5, 0.03]))
        self.sometimes(option, 0.3, cone="elliptic")
        self.sometimes(option, 0.2, impratio=r.choice([0.3, 2, 100]))
        self.sometimes(option, 0.2, density=r.choice([0, 1.2, 1000]), viscosity=r.choice([0, 0.1, 3, -1]),
                       wind=self.numbers(3, -2, 2))
        self.sometimes(option, 0.2, noslip_iterations=r.choice([1, 3, 20]), noslip_tolerance=r.choice([0, 1e-6, 1e-3]))
        # without a meaning here
        self.sometimes(option, 0.1, magnetic="1 2 3", o_margin=0.1, o_solref="-9 -9",
                       o_solimp="0.1 0.2 0.3 0.4 5", o_friction="2 2 2 2 2", ccd_iterations=1, ccd_tolerance=1,
                       sleep_tolerance=9, sdf_iterations=1, sdf_initpoints=1)
        # outside of the class
        self.sometimes(option, 0.015, actuatorgroupdisable=r.choice(["1", "2 3"]))
        self.sometimes(option, 0.015, jacobian="sparse")
        self.sometimes(option, 0.015, integrator="implicit")
        self.sometimes(option, 0.015, solver="CG")
        flag = self.element("flag", **self.flags())
        num_robots, num_things = r.choice([1, 1, 1, 2, 3]), r.choice([0, 0, 0, 1, 3])
        if num_robots + num_things > 1 and not self.rare():
            option.update(solver="Newton", integrator=r.choice(["Euler", "RK4"]))
        if "cone" in option and not self.rare():
            option.update(solver="Newton")
            option.pop("noslip_iterations", None)
        if "density" in option and not self.rare():
            option.update(integrator=r.choice(["Euler", "RK4"]))
        bodies = "".join(self.body(1, r.random() < 0.4) for _ in range(num_robots))
        bodies += "".join(self.thing() for _ in range(num_things))
        if not self.hinges:
            bodies += self.element("body", self.joint("hinge") + self.geom(), pos="3 0 1")
        if self.has_mocap:
            bodies += self.element("body", self.geom(), name="mocap", mocap="true", pos=self.lengths(3, -0.5, 0.5))
        # one of the world
        site = self.site() if r.random() < (0.5 if self.has_strings else 0.05) else ""
        tendon = self.tendon()
        controls = "".join(self.motor() for _ in range(r.randint(1, 4)))
        return (f"<mujoco><compiler angle=\"radian\" {self.attributes(self.compiler())}/>"
                f"<option {self.attributes(option)}>{flag}</option>"
                f"<default><geom {self.attributes(self.contact())}/></default>"
                f"{self.assets()}<worldbody>{self.floor()}{self.walls()}{site}{bodies}</worldbody>"
                f"<actuator>{controls}</actuator>{tendon}{self.equality()}{self.sensor()}{self.exclusion()}"
                "</mujoco>")

    def flags(self):
        r, given = self.r, {}
        parts = """constraint contact equality frictionloss limit spring damper gravity clampctrl warmstart filterparent
                   actuation refsafe midphase eulerdamp autoreset nativeccd multiccd""".split()
        for name in r.sample(parts, r.choice([0, 0, 0, 1, 2])):
            given[name] = "disable"
        self.sometimes(given, 0.05, **{r.choice(["energy", "invdiscrete"]): "enable"})
        # outside of the class
        self.sometimes(given, 0.01, **r.choice([
            {"island": "disable"}, {"sensor": "disable"}, {"fwdinv": "enable"}, {"sleep": "enable"},
            {"override": "enable"}, {"diagexact": "enable"}]))
        return given

    def compiler(self):
        return {"inertiafromgeom": self.r.choice(["true", "auto"])}

    def floor(self):
        r, given = self.r, {"size": "9 9 9", "pos": self.lengths(3, -0.3, 0.3)}
        self.sometimes(given, 0.2, euler=self.numbers(3, -0.3, 0.3))
        self.own_contact(given)
        if r.random() < 0.1:
            return self.element("geom", type="hfield", hfield="hills", **{**given, "size": "1 1 1"})
        return "" if r.random() < 0.1 else self.element("geom", type="plane", **given)

    def assets(self):
        """Returns a mesh and a height field."""
        corners = "".join(self.lengths(3, -0.1, 0.1) + " " for _ in range(self.r.randint(4, 9)))
        size = f"{self.lengths(2, 1, 2)} {self.lengths(2, 0.1, 0.3)}"
        hills = self.element("hfield", name="hills", nrow=6, ncol=7, size=size, elevation=self.numbers(42, 0, 1))
        return self.element("asset", self.element("mesh", name="stone", vertex=corners) + hills)

    def shape(self, others):
        """Returns the type of a geom and its size or mesh."""
        r = self.r
        if r.random() > others:
            return {"type": r.choices(["sphere", "capsule"], [2, 3])[0]}
        kind = r.choice(["box", "box", "ellipsoid", "cylinder", "mesh"])
        return {"type": kind, "mesh": "stone"} if kind == "mesh" else {"type": kind}

    def walls(self):
        """Returns world geoms near the robot: boxes, and rods and balls in any direction."""
        r, walls = self.r, []
        for _ in range(r.choice([0, 0, 0, 1, 3, 8])):
            given = {**self.shape(0.6), "pos": self.lengths(3, -1, 1), "size": self.lengths(3, 0.05, 0.5)}
            self.sometimes(given, 0.3 if given["type"] == "box" else 0.7, euler=self.numbers(3, -2, 2))
            if given["type"] == "capsule" and r.random() < 0.4:
                given = {"type": "capsule", "fromto": self.lengths(6, -1, 1), "size": self.lengths(1, 0.03, 0.3)}
            self.own_contact(given)
            walls.append(self.element("geom", **given))
        return "".join(walls)

    def contact(self):
        r = self.r
        given = {"condim": r.choice([1, 3, 3, 3, 4, 6]), "friction": self.numbers(3, 0.1, 1.5)}
        self.sometimes(given, 0.3, margin=self.lengths(1, 0, 0.02))
        self.sometimes(given, 0.3, solref=self.solref())
        self.sometimes(given, 0.3, solimp=self.solimp())
        self.sometimes(given, 0.015, gap=self.lengths(1, -0.01, 0.01))
        return given

    def own_contact(self, given):
        """Adds attributes in which a geom may differ from most geoms of the model."""
        r = self.r
        self.sometimes(given, 0.2, contype=r.choice([0, 1, 2]), conaffinity=r.choice([0, 1, 2]))
        self.sometimes(given, 0.2, friction=self.numbers(3, r.choice([-1, 0.1]), 1.5))
        self.sometimes(given, 0.2, solmix=10 ** r.uniform(-5, 5))
        self.sometimes(given, 0.1, solref=self.solref())
        self.sometimes(given, 0.1, solimp=self.solimp())
        self.sometimes(given, 0.1, condim=r.choice([1, 3, 4, 6]))
        self.sometimes(given, 0.1, priority=r.choice([-1, 1]))
        self.sometimes(given, 0.1, margin=self.lengths(1, -0.01, 0.05))
        self.sometimes(given, 0.001, gap=self.lengths(1, -0.01, 0.01))
        self.sometimes(given, 0.001, solmix=r.choice([-1, 0, 1e-16]))

    def solref(self):
        r = self.r
        # mostly as a time and a ratio; else as a stiffness and a damping, or as a mixture, of which MuJoCo warns
        if r.random() < 0.98:
            return f"{10 ** r.uniform(-4, 0):.5g} {r.uniform(0.1, 3):.5g}"
        signs = r.choice([(-1, -1), (-1, -1), (-1, -1), (-1, 1), (1, -1), (0, 0)])
        return " ".join(f"{sign * 10 ** r.uniform(-3, 3):.5g}" for sign in signs)

    def solimp(self):
        r = self.r
        numbers = [r.uniform(-0.1, 1.1), r.uniform(-0.1, 1.1), r.choice([0, 1, 1, 1]) * 10 ** r.uniform(-4, 0),
                   r.uniform(-0.1, 1.1), r.choice([0, 1, *[2] * 30, 3])]
        return " ".join(f"{number:.5g}" for number in numbers[:r.choice([2, 3, 5])])

    def body(self, depth, is_free):
        r, name = self.r, f"b{self.num_bodies}"
        self.num_bodies += 1
        if is_free:
            joints = self.element("freejoint")
        elif r.random() < 0.08:
            joints = self.joint("ball")
        else:
            joints = "".join(self.joint() for _ in range(r.choice([0, 1, 1, 1, 2, 3])))
        parts = joints + "".join(self.geom() for _ in range(r.choice([1, 1, 1, 2, 3])))
        if r.random() < (0.7 if self.has_strings else 0.2):
            parts += self.site()
        if depth < MOST_DEPTH:
            parts += "".join(self.body(depth + 1, False) for _ in range(r.choice([0, 1, 1, 2, 3])))
        place = f"{self.num_bodies % 3 * 0.2} 0 {self.lengths(1, 0, 1)}"
        given = {"name": name, "pos": self.lengths(3, -0.3, 0.3) if depth > 1 else place}
        self.sometimes(given, 0.3, euler=self.numbers(3, -1, 1))
        self.sometimes(given, 0.1, gravcomp=r.uniform(-0.1, 2))
        return self.element("body", parts, **given)

    def thing(self):
        """Returns a body without children; most such bodies have constant inertia."""
        kinds = self.r.choice([(), ("slide",), ("slide", "slide"), ("hinge",), (None, None)])
        joints = "".join(map(self.joint, kinds)) if self.r.random() < 0.5 else "<freejoint/>"
        geom = self.element("geom", **self.shape(self.others), size=self.lengths(3, 0.03, 0.15))
        return self.element("body", joints + geom, pos=self.lengths(3, -0.3, 0.5))

    def site(self):
        given = {"name": f"s{self.num_sites}", "pos": self.lengths(3, -0.2, 0.2), "size": self.lengths(1, 0.02, 0.3)}
        self.num_sites += 1
        self.sometimes(given, 0.1, type=self.r.choice(["box", "capsule"]), size=self.lengths(3, 0.02, 0.3))
        return self.element("site", **given)

    def joint(self, kind=None):
        r = self.r
        kind = kind or r.choices(["hinge", "slide"], [4, 1])[0]
        given = {"type": kind, "name": f"j{self.num_joints}"}
        self.num_joints += 1
        if kind != "ball":
            self.hinges.append(given["name"])
            given["axis"] = r.choice(["1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", self.numbers(3, -1, 1)])
            self.sometimes(given, 0.001, axis="-0 -0 1")
            self.sometimes(given, 0.5, limited="true", range=f"{r.uniform(-1, -0.01)} {r.uniform(0.01, 1)}")
            # both limits at once
            self.sometimes(given, 0.02, limited="true", range="0.1 0.1001", margin=0.3)
            self.limited += [given["name"]] * ("limited" in given)
            self.sometimes(given, 0.2, stiffness=r.uniform(-1, 20))
            self.sometimes(given, 0.1, springref=r.uniform(-1, 1))
            self.sometimes(given, 0.1, ref=r.uniform(-1, 1))
            self.sometimes(given, 0.02, springdamper="0.1 1")
            self.sometimes(given, 0.2, solreflimit=self.solref())
            self.sometimes(given, 0.2, solimplimit=self.solimp())
            self.sometimes(given, 0.1, actuatorfrclimited="true", actuatorfrcrange=self.range(2))
            self.sometimes(given, 0.1, actuatorgravcomp="true")
            self.sometimes(given, 0.001, stiffness="1 2 3")
        self.sometimes(given, 0.4, damping=r.uniform(-0.03, 3))
        self.sometimes(given, 0.4, armature=r.uniform(0, 0.5))
        self.sometimes(given, 0.3, pos=self.lengths(3, -0.1, 0.1))
        self.sometimes(given, 0.1, margin=r.uniform(-0.05, 0.1))
        self.sometimes(given, 0.1, solreffriction=self.solref(), solimpfriction=self.solimp())
        self.sometimes(given, 0.2, frictionloss=10 ** r.uniform(-3, 1))
        self.sometimes(given, 0.001, damping="1 2 3")
        return self.element("joint", **given)

    def geom(self):
        r = self.r
        given = self.shape(self.others)
        given["size"] = self.lengths(3, 0.03, 0.15)
        self.sometimes(given, 0.5, pos=self.lengths(3, -0.2, 0.2))
        self.sometimes(given, 0.3, euler=self.numbers(3, -2, 2))
        if given["type"] == "capsule" and r.random() < 0.4:
            given = {"type": "capsule", "fromto": self.lengths(6, -0.3, 0.3), "size": self.lengths(1, 0.03, 0.1)}
        given["name"] = f"g{len(self.geoms)}"
        self.geoms.append(given["name"])
        self.own_contact(given)
        self.sometimes(given, 0.2, density=10 ** r.uniform(0, 4))
        self.sometimes(given, 0.005, fluidshape="ellipsoid")
        return self.element("geom", **given)

    def motor(self):
        r = self.r
        given = {"gear": r.uniform(-10, 50), "group": r.choice([0, 0, 1, 3])}
        at = {"tendon": r.choice(self.tendons)} if self.tendons and r.random() < 0.5 else {
            "joint": r.choice(self.hinges)}
        given.update(at)
        # at several joints, others are soon unstable
        self.sometimes(given, "tendon" in at, gear=r.uniform(-2, 2))
        self.sometimes(given, 0.1, gear=self.numbers(6, -5, 5))
        self.sometimes(given, 0.7, ctrllimited="true", ctrlrange="-1 0.7")
        self.sometimes(given, 0.1, ctrllimited="true", ctrlrange=f"0.1 {r.uniform(0.1, 0.2)}")
        self.sometimes(given, 0.2, forcelimited="true", forcerange=self.range(3))
        self.sometimes(given, 0.004, damping=1)
        self.sometimes(given, 0.004, armature=1)
        self.sometimes(given, 0.004, nsample=2, delay=0.01)
        if self.rare():
            return self.element("damper", **at, ctrlrange="0 1")
        if r.random() < 0.3:
            gains = {"kp": r.uniform(0, 50), "kv": r.uniform(0, 3)} if r.random() < 0.7 else {"kv": r.uniform(0, 3)}
            self.sometimes(gains, 0.2 * ("kp" in gains), timeconst=r.choice([0, 0.03]))
            return self.element("position" if "kp" in gains else "velocity", **gains, **given)
        if r.random() < 0.3:
            given.update(dyntype=r.choice(["integrator", "filter", "filterexact"]))
            given.update(dynprm=r.choice([0, 0.001, 0.03, 1]), gear=r.uniform(-5, 5))
            self.sometimes(given, 0.5, actlimited="true", actrange=self.range(1))
            self.sometimes(given, 0.3, actearly="true")
            self.sometimes(given, 0.004, actdim=2)
        if r.random() < 0.1 or "dyntype" in given:
            return self.element("general", biastype=r.choice(["affine", "affine", "none"]),
                                biasprm=self.numbers(3, -3, 3), **given)
        if r.random() < 0.1:
            return self.element("general", gainprm=f"{r.uniform(-3, 3)} 4 5", biasprm="1 2 3", dynprm="4 5 6", **given)
        return self.element("motor", **given)

    def tendon(self):
        r, tendons = self.r, ""
        for _ in range(r.choice([1, 2, 3]) if self.has_strings else r.choice([0, 0, 1])):
            is_spatial = self.num_sites > 1 and r.random() < (0.9 if self.has_strings else 0.2)
            tendons += self.string() if is_spatial else self.fixed_tendon()
        return self.element("tendon", tendons) if tendons else ""

    def fixed_tendon(self):
        r, given = self.r, {}
        joints = r.sample(self.hinges, min(len(self.hinges), r.choice([1, 2, 3, 5, 8])))
        parts = "".join(self.element("joint", joint=name, coef=r.uniform(-2, 2)) for name in joints)
        self.sometimes(given, 0.3, limited="true", range=self.range(2))
        self.sometimes(given, 0.3, stiffness=r.uniform(0, 20), springlength=r.choice(["-1", self.range(1)]))
        return self.own_tendon("fixed", parts, given)

    def string(self):
        """Returns a tendon through sites, with branches."""
        r, given, branches = self.r, {}, []
        for _ in range(r.choice([1, 1, 2, 3])):
            sites = r.sample(range(self.num_sites), min(self.num_sites, r.choice([2, 2, 3, 5])))
            branches.append("".join(self.element("site", site=f"s{k}") for k in sites))
            if self.geoms and self.rare():
                branches[-1] = branches[-1].replace("/>", f'/><geom geom="{r.choice(self.geoms)}"/>', 1)
        parts = branches[0] + "".join(self.element("pulley", divisor=r.uniform(0.5, 3)) + each for each in branches[1:])
        range_ = f"{self.lengths(1, 0, 0.5)} {self.lengths(1, 0.5, 1.5)}"
        self.sometimes(given, 0.6, limited="true", range=range_)
        self.sometimes(given, 0.3, stiffness=r.uniform(0, 20), springlength=r.choice(["-1", range_]))
        return self.own_tendon("spatial", parts, given)

    def own_tendon(self, kind, parts, given):
        r = self.r
        self.sometimes(given, 0.2, solreflimit=self.solref(), solimplimit=self.solimp(), margin=r.uniform(0, 0.3))
        # outside of the class; of the springs some are felt only far away
        self.sometimes(given, 0.1, **r.choice([
            {"stiffness": 1}, {"stiffness": "0 2"}, {"stiffness": "0 0 3", "springlength": "-2 2"}, {"damping": 1},
            {"damping": "0 2 3"}, {"frictionloss": 1}, {"armature": 1}, {"limited": "true", "range": "-2 2"},
            {"actuatorfrcrange": "-1 1"}]))
        self.tendons.append(f"t{len(self.tendons)}")
        return self.element(kind, parts, name=self.tendons[-1], **given)

    def equality(self):
        """Returns constraints of joints, tendons, bodies and sites."""
        r, parts = self.r, ""
        bodies = [f"b{k}" for k in range(self.num_bodies)] + ["world"] + ["mocap"] * self.has_mocap * 3
        for _ in range(r.choice([0, 0, 0, 1, 1, 3])):
            given = {}
            self.sometimes(given, 0.3, solref=self.solref())
            self.sometimes(given, 0.3, solimp=self.solimp())
            self.sometimes(given, 0.05, active="false")
            kind = r.choice(["joint", "tendon", "connect", "weld", "weld"])
            if kind in ("joint", "tendon"):
                names = self.hinges if kind == "joint" else self.tendons
                if not names:
                    continue
                given[f"{kind}1"] = r.choice(names)
                self.sometimes(given, 0.7, **{f"{kind}2": r.choice(names)})
                self.sometimes(given, 0.5, polycoef=self.numbers(r.choice([1, 2, 2, 5]), -1, 1))
            elif self.num_sites > 1 and r.random() < 0.3:
                given["site1"], given["site2"] = (f"s{k}" for k in r.sample(range(self.num_sites), 2))
            else:
                given["body1"], given["body2"] = r.sample(bodies, 2)
                if kind == "connect" or r.random() < 0.3:
                    given["anchor"] = self.lengths(3, -0.2, 0.2)
                if kind == "weld":
                    self.sometimes(given, 0.3, relpose=f"{self.lengths(3, -0.3, 0.3)} {self.numbers(4, -1, 1)}")
            if kind == "weld":
                self.sometimes(given, 0.5, torquescale=r.choice([0, r.uniform(0, 2)]))
            parts += self.element(kind, **given)
        return self.element("equality", parts)

    def sensor(self):
        r = self.r
        given = {"body": r.choice(["b0", "b0", f"b{r.randrange(self.num_bodies)}", "world"])}
        self.sometimes(given, 0.1, cutoff=0.5)
        self.sometimes(given, 0.1, noise=0.5)
        parts = self.element("subtreelinvel", **given) if r.random() < 0.5 else ""
        more = {}
        self.sometimes(more, 0.05, cutoff=0.5)
        parts += "".join(self.element("touch", site=f"s{k}", **more) for k in range(min(self.num_sites, 5)))
        for _ in range(r.choice([0, 0, 1, 3, 8])):
            parts += self.any_sensor()
        return self.element("sensor", parts)

    def any_sensor(self):
        r = self.r
        frames = [(of, f"b{r.randrange(self.num_bodies)}") for of in ("body", "xbody")]
        frames += [("site", f"s{r.randrange(self.num_sites)}")] * 2 if self.num_sites else [("xbody", "world")]
        frames += [("geom", name) for name in self.geoms]
        kind = r.choice(["jointpos", "jointvel", "jointactuatorfrc", "jointlimitpos", "jointlimitvel", "jointlimitfrc",
                         "gyro", "velocimeter", "accelerometer", "force", "torque", "subtreecom", "subtreelinvel",
                         "subtreeangmom", "tendonpos", "tendonvel", *["frame"] * 5])
        if kind.startswith("joint"):
            joints = self.limited if "limit" in kind else self.hinges
            return self.element(kind, joint=r.choice(joints)) if joints else ""
        if kind.startswith("tendon"):
            return self.element(kind, tendon=r.choice(self.tendons)) if self.tendons else ""
        if kind.startswith("subtree"):
            return self.element(kind, body=f"b{r.randrange(self.num_bodies)}")
        if kind != "frame":
            return self.element(kind, site=f"s{r.randrange(self.num_sites)}") if self.num_sites else ""
        (of, name), (other, base), given = r.choice(frames), r.choice(frames), {}
        what = r.choice(["pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel", "linacc", "angacc"])
        self.sometimes(given, 0 if what.endswith("acc") else 0.3, reftype=other, refname=base)
        return self.element(f"frame{what}", objtype=of, objname=name, **given)

    def exclusion(self):
        """Returns bodies that do not touch, or a pair of geoms that may."""
        r, parts = self.r, ""
        if self.num_bodies > 1 and r.random() < 0.3:
            first, second = r.sample(range(self.num_bodies), 2)
            parts += self.element("exclude", body1=f"b{first}", body2=r.choice([f"b{second}", "world"]))
        for _ in range(r.choice([0, 0, 0, 0, 1, 3])):
            if len(self.geoms) < 2:
                break
            first, second = r.sample(self.geoms, 2)
            given = {"geom1": first, "geom2": second}
            self.sometimes(given, 0.5, condim=r.choice([1, 3, 4, 6]))
            self.sometimes(given, 0.5, friction=self.numbers(5, r.choice([-1, 0.1]), 1.5))
            self.sometimes(given, 0.3, margin=self.lengths(1, -0.01, 0.05))
            self.sometimes(given, 0.3, solref=self.solref(), solimp=self.solimp())
            self.sometimes(given, 0.05, solreffriction=self.solref())
            self.sometimes(given, 0.01, gap=self.lengths(1, -0.01, 0.01))
            parts += self.element("pair", **given)
        return self.element("contact", parts)

    def range(self, most):
        return f"{self.r.uniform(-most, 0):.5g} {self.r.uniform(0, most):.5g}"

    def rare(self):
        return self.r.random() < 0.02

    def sometimes(self, given, probability, **more):
        if self.r.random() < probability:
            given.update(more)

    def numbers(self, count, low, high):
        return " ".join(f"{self.r.uniform(low, high):.5g}" for _ in range(count))

    def lengths(self, count, low, high):
        step = 0.05 if self.is_round and high - low > 0.1 else 1e-9
        drawn = (max(round(self.r.uniform(low, high) / step) * step, low) for _ in range(count))
        return " ".join(f"{length * self.scale:.8g}" for length in drawn)

    def attributes(self, given):
        return " ".join(f'{name}="{value}"' for name, value in given.items())

    def element(self, name, inner="", /, **given):
        return f"<{name} {self.attributes(given)}>{inner}</{name}>"


def outcome(path, seed, steps):
    """Returns the outcome for a model, and a description of the difference, or ""."""
    try:
        model = load_model(str(path))
    except ValueError as error:
        return f"no model: {str(error).partition('Error: ')[2][:60]}", ""
    try:
        lanes = make_lanes(model)
    except ValueError as refusal:
        text = str(refusal)
        if text.startswith("differs"):
            return "different at first use", text
        return "refused: " + re.sub(r'"[^"]*"|\b\d[\d.e+-]*', "N", text), ""
    before = lanes.num_compared()
    # first as the model itself is, where numbers may be zero and geoms just touch
    for noise, ctrl in ((0, 0), (0, 1), (0.01, 1), (0.3, 1), (1.5, 1)):
        ends_with_step1 = noise in (0, 0.3)
        try:
            differing = (lanes.compare(steps, 50, seed, noise, ctrl, ends_with_step1)
                         or lanes.compare(steps // 5, 10, seed, noise, ctrl, ends_with_step1, frames=5))
        # where mj_step steps, lanes do not
        except RuntimeError:
            return "equal until MuJoCo warns", ""
        if differing:
            return "different", differing
    return ("equal" if lanes.num_compared() - before > steps else "equal, mostly by mj_step"), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500, help="number of models")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first model; the others follow")
    parser.add_argument("--steps", type=int, default=100, help="steps of each of seven environments, five times")
    parser.add_argument("--keep", type=Path, help="folder in which to keep models that differ")
    given = parser.parse_args()
    counts, wrong = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.xml")
        for seed in range(given.seed, given.seed + given.cases):
            text = Writer(seed).model()
            path.write_text(text)
            with warnings.catch_warnings(action="ignore"):
                kind, differing = outcome(path, seed, given.steps)
            counts[kind] += 1
            if not differing:
                continue
            wrong.append(seed)
            print(f"seed {seed}: {kind}: {differing}", flush=True)
            if given.keep:
                Path(given.keep, f"{seed}.xml").write_text(text)
    for kind, count in counts.most_common():
        print(f"{count:6d} {kind}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
