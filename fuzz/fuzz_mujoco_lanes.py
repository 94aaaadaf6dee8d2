"""Compares lanes with mj_step on random models: of the class that lanes step, and just outside of it.

    python fuzz/fuzz_mujoco_lanes.py --cases 500 --seed 0

Each model is stepped from random states, with and without mj_step1 at the end. It is equal, or lanes refuse it. Ends
with 1 if a number differs; also where the comparison at first use finds that, because then the class is too large.
"""
import argparse
import random
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from cypool.envs.mujoco_common.mujoco_common import load_model
from cypool.envs.mujoco_lanes.mujoco_lanes import make_lanes

MOST_DEPTH = 4


class Writer:
    """Writes a random model as XML. Features outside of the class have a small probability each."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.num_bodies = self.num_joints = self.num_sites = 0
        self.hinges = []

    def model(self):
        r = self.r
        option = {"timestep": r.choice([0.002, 0.005, 0.01]), "solver": r.choice(["Newton", "Newton", "PGS"]),
                  "integrator": r.choice(["Euler", "RK4"])}
        self.sometimes(option, 0.3, gravity=self.numbers(3, -9.81, 3))
        self.sometimes(option, 0.2, iterations=r.choice([1, 3, 50]))
        self.sometimes(option, 0.2, tolerance=r.choice([0, 1e-4, 1e-10]))
        self.sometimes(option, 0.1, ls_iterations=r.choice([1, 2, 7]))
        # outside of the class
        self.sometimes(option, 0.015, density=1.2)
        self.sometimes(option, 0.015, cone="elliptic")
        self.sometimes(option, 0.015, impratio=2)
        self.sometimes(option, 0.015, jacobian="sparse")
        self.sometimes(option, 0.015, noslip_iterations=2)
        self.sometimes(option, 0.015, integrator="implicitfast")
        self.sometimes(option, 0.015, solver="CG")
        flag = f"<flag {r.choice(['contact', 'limit', 'gravity', 'warmstart'])}=\"disable\"/>" if self.rare() else ""
        bodies = "".join(self.body(1, r.random() < 0.4) for _ in range(2 if self.rare() else 1))
        if not self.hinges:
            bodies += self.element("body", self.joint("hinge") + self.geom(), pos="3 0 1")
        controls = "".join(self.motor() for _ in range(r.randint(1, 4)))
        return (f"<mujoco><compiler angle=\"radian\" {self.attributes(self.compiler())}/>"
                f"<option {self.attributes(option)}>{flag}</option>"
                f"<default><geom {self.attributes(self.contact())}/></default>"
                f"<worldbody>{self.floor()}{self.walls()}{bodies}</worldbody><actuator>{controls}</actuator>"
                f"{self.tendon()}{self.sensor()}</mujoco>")

    def compiler(self):
        return {"inertiafromgeom": self.r.choice(["true", "auto"])}

    def floor(self):
        r, given = self.r, {"size": "9 9 9", "pos": self.numbers(3, -0.3, 0.3)}
        self.sometimes(given, 0.05, euler="0.1 0 0")
        return "" if r.random() < 0.1 else self.element("geom", type="plane", **given)

    def walls(self):
        r, walls = self.r, []
        for _ in range(r.choice([0, 0, 0, 1, 3, 8])):
            given = {"pos": self.numbers(3, -1, 1), "size": self.numbers(3, 0.05, 0.5)}
            self.sometimes(given, 0.02, euler="0 0 1")
            self.sometimes(given, 0.1, friction=self.numbers(3, 0.1, 1.5))
            self.sometimes(given, 0.1, contype=r.choice([0, 1, 2]), conaffinity=r.choice([0, 1, 2]))
            walls.append(self.element("geom", type="box", **given))
        return "".join(walls)

    def contact(self):
        r = self.r
        given = {"condim": r.choice([1, 3, 3]), "friction": self.numbers(3, 0.1, 1.5)}
        self.sometimes(given, 0.3, margin=r.uniform(0, 0.02))
        self.sometimes(given, 0.3, solref=f"{r.uniform(0.001, 0.05)} {r.uniform(0.3, 2)}")
        self.sometimes(given, 0.3, solimp=f"{r.uniform(0, 1)} {r.uniform(0, 1)} {r.uniform(0, 0.02)}")
        self.sometimes(given, 0.1, solimp=f"0.8 0.95 0.01 {r.uniform(0.1, 0.9)} {r.choice([1, 2, 2, 2, 3])}")
        self.sometimes(given, 0.015, condim=4)
        self.sometimes(given, 0.015, solref="-900 -30")
        self.sometimes(given, 0.015, gap=0.001)
        return given

    def body(self, depth, is_free):
        r, name = self.r, f"b{self.num_bodies}"
        self.num_bodies += 1
        joints = self.element("freejoint") if is_free else "".join(
            self.joint() for _ in range(r.choice([0, 1, 1, 1, 2, 3])))
        parts = joints + "".join(self.geom() for _ in range(r.choice([1, 1, 1, 2, 3])))
        if r.random() < 0.2:
            parts += self.element("site", name=f"s{self.num_sites}", pos=self.numbers(3, -0.2, 0.2),
                                  size=r.uniform(0.02, 0.3))
            self.num_sites += 1
        if depth < MOST_DEPTH:
            parts += "".join(self.body(depth + 1, False) for _ in range(r.choice([0, 1, 1, 2, 3])))
        given = {"name": name, "pos": self.numbers(3, -0.3, 0.3) if depth > 1 else f"0 0 {r.uniform(0, 1)}"}
        self.sometimes(given, 0.3, euler=self.numbers(3, -1, 1))
        self.sometimes(given, 0.004, gravcomp=0.5)
        return self.element("body", parts, **given)

    def joint(self, kind=None):
        r = self.r
        kind = kind or r.choices(["hinge", "slide", "ball"], [80, 19.5, 0.5])[0]
        given = {"type": kind, "name": f"j{self.num_joints}"}
        self.num_joints += 1
        if kind != "ball":
            self.hinges.append(given["name"])
            given["axis"] = r.choice(["1 0 0", "0 1 0", "0 0 1", self.numbers(3, 0.1, 1)])
            self.sometimes(given, 0.5, limited="true", range=f"{r.uniform(-1, -0.01)} {r.uniform(0.01, 1)}")
            self.sometimes(given, 0.2, stiffness=r.uniform(0, 20))
            self.sometimes(given, 0.1, springref=r.uniform(-1, 1))
            self.sometimes(given, 0.1, ref=r.uniform(-1, 1))
        self.sometimes(given, 0.4, damping=r.uniform(0, 3))
        self.sometimes(given, 0.4, armature=r.uniform(0, 0.5))
        self.sometimes(given, 0.3, pos=self.numbers(3, -0.1, 0.1))
        self.sometimes(given, 0.1, margin=r.uniform(0, 0.1))
        self.sometimes(given, 0.004, frictionloss=0.1)
        return self.element("joint", **given)

    def geom(self):
        r = self.r
        given = {"type": r.choices(["sphere", "capsule", "box", "ellipsoid"], [40, 59, 0.5, 0.5])[0]}
        given["size"] = self.numbers(3, 0.03, 0.15)
        self.sometimes(given, 0.5, pos=self.numbers(3, -0.2, 0.2))
        self.sometimes(given, 0.3, euler=self.numbers(3, -2, 2))
        if given["type"] == "capsule" and r.random() < 0.4:
            given = {"type": "capsule", "fromto": self.numbers(6, -0.3, 0.3), "size": r.uniform(0.03, 0.1)}
        self.sometimes(given, 0.2, contype=r.choice([0, 1, 2]), conaffinity=r.choice([0, 1, 2]))
        self.sometimes(given, 0.2, friction=self.numbers(3, 0.1, 1.5))
        self.sometimes(given, 0.2, solmix=r.uniform(0.1, 3))
        self.sometimes(given, 0.2, density=r.uniform(10, 3000))
        self.sometimes(given, 0.003, priority=1)
        return self.element("geom", **given)

    def motor(self):
        r = self.r
        given = {"joint": r.choice(self.hinges), "gear": r.uniform(1, 50)}
        self.sometimes(given, 0.7, ctrllimited="true", ctrlrange="-1 0.7")
        self.sometimes(given, 0.01, forcelimited="true", forcerange="-1 1")
        if self.rare():
            return self.element("position", joint=given["joint"], kp=3)
        return self.element("motor", **given)

    def tendon(self):
        r = self.r
        if r.random() < 0.7:
            return ""
        joints = r.sample(self.hinges, min(len(self.hinges), r.randint(1, 3)))
        parts = "".join(self.element("joint", joint=name, coef=r.uniform(-2, 2)) for name in joints)
        given = {}
        self.sometimes(given, 0.1, stiffness=1)
        return self.element("tendon", self.element("fixed", parts, **given))

    def sensor(self):
        parts = self.element("subtreelinvel", body="b0") if self.r.random() < 0.5 else ""
        parts += "".join(self.element("touch", site=f"s{k}") for k in range(min(self.num_sites, 4)))
        return self.element("sensor", parts)

    def rare(self):
        return self.r.random() < 0.02

    def sometimes(self, given, probability, **more):
        if self.r.random() < probability:
            given.update(more)

    def numbers(self, count, low, high):
        return " ".join(f"{self.r.uniform(low, high):.5g}" for _ in range(count))

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
        return f"refused: {text.partition(',')[0]}", ""
    before = lanes.num_compared()
    for noise, ends_with_step1 in ((0.01, False), (0.3, True), (1.5, False)):
        try:
            differing = lanes.compare(steps, 50, seed, noise, 1, ends_with_step1)
        # where mj_step steps, lanes do not
        except RuntimeError:
            return "equal until MuJoCo warns", ""
        if differing:
            return "different", differing
    return ("equal" if lanes.num_compared() - before > steps else "equal, mostly by mj_step"), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500, help="how many models")
    parser.add_argument("--seed", type=int, default=0, help="of the first; the others count up")
    parser.add_argument("--steps", type=int, default=100, help="of mj_step, of each of seven environments, three times")
    parser.add_argument("--keep", type=Path, help="a folder for the models that differ")
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
