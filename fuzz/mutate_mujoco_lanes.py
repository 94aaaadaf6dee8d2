"""Puts errors into lanes, one after another, and prints which check notices them: no wrong row may get out before.

    python fuzz/mutate_mujoco_lanes.py [NAME ...] [--folder FOLDER]

Each error is compiled in a copy of this tree, in eight seconds, and robots are stepped in lanes and by mj_step. For
each robot it prints: refused, if the comparison at first use notices; noticed, if a later comparison does before the
row is returned; equal, if no result changes; WRONG ROW and its step. Exits with 1 if there is a wrong row.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LANES = Path("cypool/envs/shared/lanes")
# by name: a header, what it has, and the error
MUTANTS = {
    "nothing": ("lanes.h", "", ""),
    "dot": ("spatial.h", "sum = (s0 + s2) + (s1 + s3);", "sum = (s0 + s1) + (s2 + s3);"),
    "null_rotation": ("spatial.h", "choose(null, all(k % 4 == 0), r[k])", "choose(null, all(k % 4 == 0) * -1.0, r[k])"),
    "clamp": ("actuation.h", "ctrl = clip(ctrl, all(a.low), all(a.high));", "ctrl = max(ctrl, all(a.low));"),
    "force_limit": ("actuation.h", "force = clip(force, all(a.lowest_force), all(a.highest_force));",
                    "force = max(force, all(a.lowest_force));"),
    "held": ("actuation.h", "(force <= a.lowest_force) | (force >= a.highest_force)", "force <= a.lowest_force"),
    "gravcomp": ("smooth.h", "(gravity[k] * scale)", "gravity[k] * scale"),
    "dual_chain": ("gauss_seidel.h", "chains |= m.dofs[__builtin_ctzll(left)].chain", "chains |= left & -left"),
    "hessian_pair": ("newton.h", "(row[j] + J[j] * scaled) + next[j] * next_scaled",
                     "row[j] + (J[j] * scaled + next[j] * next_scaled)"),
    "com": ("smooth.h", "moment[b][k] * inverse_mass", "moment[b][k] / (1 / inverse_mass)"),
    "simple": ("smooth.h", "own_or(d, m.own_of_dof(k), dof.armature);\n            continue;",
               "own_or(d, m.own_of_dof(k), dof.armature) * 1.0000000000000002;\n            continue;"),
    "islands_joined": ("islands.h", "if (!(islands[i] & trees)) {", "if (islands[i] != trees) {"),
    "islands_start": ("islands.h", "warm + 0.5 * dot(force, step, n) > smooth", "warm + dot(force, step, n) > smooth"),
    "arms": ("constraint.h", "arms[IS_GENERAL ? p.negative_dofs >> dof & 1 : 0]", "arms[0]"),
    "weld_bias": ("equality.h", "if (e.num_rows > 1) aref = aref - bias[r];", "if (r > 2) aref = aref - bias[r];"),
    "weld_turn": ("equality.h", "const Real number = 0.5 * corrected[1 + i] * e.torque_scale;",
                  "const Real number = corrected[1 + i] * (0.5000000000000001 * e.torque_scale);"),
    "weld_force": ("equality.h", "torque[k] = twist[k] - torque[k];", "torque[k] = twist[k] * 0.5 - torque[k];"),
    "couple": ("equality.h", "c[3] * x * x * x", "c[3] * (x * x * x)"),
    "cone_bottom": ("cone.h", "(mu * N + T <= 0.0)", "(mu * N + T <= 1e-9)"),
    "cone_factor": ("cone.h", "where(~is_deficient, (H[i][j] - dot(H[i], H[j], j)) * inverse)",
                    "(H[i][j] - dot(H[i], H[j], j)) * inverse"),
    "cone_leaves": ("cone.h", "-0.5 * Dm * r0 * r0", "-0.5 * Dm * (r0 * r0)"),
    "cone_search": ("cone.h", "0.5 * Dm * moved * (2 * r0 + moved)", "0.5 * Dm * (moved * (2 * r0 + moved))"),
    # with MuJoCo 4, without an effect before
    "cone_force_4": ("cone.h", "-normal * (at.U[j] / at.T) * c.friction", "-normal / at.T * at.U[j] * c.friction"),
    "cone_hessian_4": ("cone.h", "is_mujoco_4 ? mu * (N / T) : mu * N / T", "mu * N / T"),
    "cone_grows_4": ("cone.h", "step * (start + U[j])", "step * (2 * start + step)"),
    "cone_bends_4": ("cone.h", "-((N / T - mu) * (mu * across))", "-((N / T - mu) * mu * across)"),
    "impratio": ("constraint.h", "sqrt(R / m.impratio / R)", "sqrt(1 / m.impratio)"),
    "spring": ("smooth.h", "where(length < t.spring_low, t.stiffness * (t.spring_low - length))", "all(0)"),
    "rk4_sum": ("integrate.h", "v = v + d.stage_vel[stage][k] * B[stage];",
                "v = d.stage_vel[stage][k] * B[stage] + v * 1.0000000000000002;"),
    "pack_dof": ("packing.h", "rows[l]->is_negative ? -1 : 1", "-1"),
    "impedance_order": ("equality.h", "1 - b * (rest * rest)", "1 - (b * rest) * rest"),
    "impedance_full": ("equality.h", "    r = choose(x >= 1.0, all(s.high), r);\n", ""),
    "impedance_rising": ("equality.h", "a * (x * x)", "(a * x) * x"),
    "limit_aref": ("constraint.h", "j.limit.stiffness * impedance * (dist - j.margin)",
                   "j.limit.stiffness * (impedance * (dist - j.margin))"),
    "limit_upper": ("constraint.h", "is_upper ? -d.qvel[j.dof] :", "is_upper ? d.qvel[j.dof] * -1.0000000000000002 :"),
    "tendon_upper": ("constraint.h", "is_upper ? t.high - length : -(t.low - length);",
                     "is_upper ? (t.high - length) * 1.0000000000000002 : -(t.low - length);"),
    "tendon_moment": ("actuation.h", "(d.tendon_J[t.first_number + j] * gear) * force",
                      "d.tendon_J[t.first_number + j] * (gear * force)"),
    "string_sum": ("smooth.h", "sum = sum + (moves[1][k] - moves[0][k]) * way[k];",
                   "sum = sum + (moves[1][k] * way[k] - moves[0][k] * way[k]);"),
    "string_pulley": ("smooth.h", "normalize(way) / s.divisor", "normalize(way) * (1 / s.divisor)"),
    "string_tension": ("contact_forces.h", "way[i] * (tension / s.divisor)", "way[i] * tension / s.divisor"),
    "act_exact": ("actuation.h", "speed * a.time * a.share", "speed * (a.time * a.share)"),
    "act_high": ("actuation.h", "clip(act, all(a.lowest_act), all(a.highest_act))", "max(act, all(a.lowest_act))"),
    "act_early": ("actuation.h", "return a.is_early ? next_act(m, d, actuator, speed) : d.act[a.act];",
                  "return d.act[a.act];"),
    "friction_R": ("constraint.h", "R = 2 * mu * mu * R;", "R = 2 * mu * (mu * R);"),
    "free_pivot": ("free_body.h", "is_most[i] = size > most;", "is_most[i] = size > 2 * most;"),
    "free_turn": ("free_body.h",
                  "multiply_matrices(product, transposed, C);\n    multiply_matrices(torque, product, R);",
                  "multiply_matrices(product, C, R);\n    multiply_matrices(torque, transposed, product);"),
    "tangent": ("collision.h", "(normal[1] < 0.5) & (normal[1] > -0.5)", "(normal[1] < 0.4) & (normal[1] > -0.4)"),
    "tangent_given": ("collision.h", "choose(is_given, given[k], tangent[k])", "tangent[k]"),
    "plane_pos": ("collision.h", "pos[2] = pos[2] + (-dist / 2 - p.radius2);",
                  "pos[2] = (pos[2] - dist / 2) - p.radius2;"),
    "plane_ends": ("collision.h", "end ? center[k] - p.length2 * axis[k] : center[k] + p.length2 * axis[k]",
                   "end ? center[k] + p.length2 * axis[k] : center[k] - p.length2 * axis[k]"),
    "sphere_capsule_clip": ("collision.h", "choose(x > p.length2, all(p.length2), x))", "x)"),
    "round_pos": ("collision.h", "pos[k] = normal[k] * depth + center1[k];",
                  "pos[k] = center1[k] + normal[k] * p.radius1 + normal[k] * (dist / 2);"),
    "exact_second": ("collision.h", "for (int c = 0; c < num_contacts; ++c)",
                     "for (int c = 0; c < std::min(num_contacts, 1); ++c)"),
    "exact_third": ("collision.h", "for (int c = 0; c < num_contacts; ++c)",
                    "for (int c = 0; c < std::min(num_contacts, 2); ++c)"),
    "capsules_missed": ("collision.h", "p.margin + p.radius1 + p.radius2 + CLEARANCE",
                        "p.margin + p.radius1 + p.radius2 - 1e-3"),
    "near_missed": ("collision.h", "dot3(diff, diff) <= p.bound * p.bound;\n    if (!any(near)) return;",
                    "dot3(diff, diff) <= p.bound * p.bound * 0.5;\n    if (!any(near)) return;"),
    "box_apart": ("collision.h", "m.geoms[box].size[k] + margin + CLEARANCE", "m.geoms[box].size[k] - 0.01"),
    "plane_apart": ("collision.h", "reach_along(m, d, p.place2, normal) + (p.margin + CLEARANCE)",
                    "reach_along(m, d, p.place2, normal) * 0.5"),
    "box_second_pair": ("collision.h", "abs(center[k] - box.center[k]) <= reach[k] + box.half[k]);",
                        "abs(center[k] - box.center[k]) <= reach[k] * 0.7 + box.half[k]);"),
    "bounds_small": ("collision.h", "reach = all(g.box_half[k] + clearance);", "reach = all(g.box_half[k] * 0.8);"),
    "far_is_certain": ("constraint.h", "d.bad = d.bad | (active & (least_dist > p.certain));", ""),
    "all_are_found": ("collision.h", "is_found(m, d, p, l, contacts[l][c]) ?", "true ?"),
    "continued_qvel": ("batch.h", "put(d.qvel, state.qvel, m_.nv, l);\n            put(d.warmstart, state",
                       "put(d.warmstart, state"),
    "continued_warmstart": ("batch.h", "put(d.warmstart, state.warmstart, m_.nv, l);\n            put(d.act",
                            "put(d.act"),
    "continued_inputs": ("record.h", "put_inputs(other.ctrl);\n        if (is_last", "if (is_last"),
    "continued_result": ("batch.h", "d.with_result |= is_last << first;", ""),
    "cfrc_of_many": ("contact_forces.h", "        const Real* const frame = contact.frame;\n        Real push",
                     "        if (c > 5) break;\n        const Real* const frame = contact.frame;\n        Real push"),
    "jacobian_sign": ("constraint.h", "along + first * -friction[0]",
                      "along + first * (-friction[0] * 1.0000000000000002)"),
    "roll_sign": ("constraint.h", "along + turning * -friction[i - 1]", "along + turning * friction[i - 1]"),
    "cfrc_order": ("contact_forces.h", "frame[k] * along + frame[3 + k] * first + frame[6 + k] * second",
                   "frame[k] * along + (frame[3 + k] * first + frame[6 + k] * second)"),
    "cholsolve": ("newton.h", "            x[i] = sum / H[i * (n + 1)];\n        }\n        for (int i = n - 1",
                  "            x[i] = sum * (1 / H[i * (n + 1)]);\n        }\n        for (int i = n - 1"),
    "always_warm": ("newton.h", "warm_cost > cost(m, p, smooth) : ~none()", "none() : ~none()"),
    "warm_cost": ("newton.h", "cost(m, p, warm) + 0.5 * dot(force, step, n)", "cost(m, p, warm) + dot(force, step, n)"),
    "flat": ("newton.h", "            running = running & ~near;\n            if (!any(running)) return;",
             "            if (!any(running)) return;"),
    "search_best": ("line_search.h", "each.cost < best->cost", "each.cost > best->cost"),
    "search_narrow": ("line_search.h", "end.slope > 0 && each.slope > 0 && end.slope > each.slope",
                      "end.slope > 0 && each.slope > 0 && end.slope < each.slope"),
    "search_one_sided": ("line_search.h", "low_.slope * direction_ <= -tolerance_",
                         "low_.slope * direction_ <= -2 * tolerance_"),
    "search_middle": ("line_search.h", "0.5 * (low_.alpha + high_.alpha)", "0.49 * low_.alpha + 0.51 * high_.alpha"),
    "search_tolerance": ("newton.h", "(m.tolerance * m.search_tolerance) * length / scale",
                         "(m.tolerance * m.search_tolerance) * length"),
    "row_removed": ("newton.h", "*column = (*column + signed_s * x[i]) * inverse;",
                    "*column = choose(sign < 0.0, *column * inverse + signed_s * inverse * x[i], "
                    "(*column + signed_s * x[i]) * inverse);"),
    "row_added": ("newton.h", "*column = (*column + signed_s * x[i]) * inverse;",
                  "*column = choose(sign > 0.0, *column * inverse + signed_s * inverse * x[i], "
                  "(*column + signed_s * x[i]) * inverse);"),
    "factor_lost": ("newton.h", "lost = lost | bad;", ""),
    "iteration_end": ("newton.h", "(improvement < m.tolerance), level", "(improvement < 100 * m.tolerance), level"),
    "stuck": ("newton.h", "choose(both_stick, 0.5 * D * (x - start) * (x + start), change)", "change"),
    "slips": ("newton.h", "choose(both_low, force * (start - x), change)", "change"),
    "friction_along": ("newton.h", "x[m.frictions[friction].dof]", "x[m.frictions[friction].dof] * 1.0000000000000002"),
    "friction_high": ("problem.h", "choose(is_high, -most, -D * residual)", "-D * residual"),
    "pgs_order": ("gauss_seidel.h", "order_[draw() % static_cast<uint32_t>(r + 1)]",
                  "order_[(draw() >> 1) % static_cast<uint32_t>(r + 1)]"),
    "pgs_scale": ("gauss_seidel.h", "const Real scale = 1 / trace;", "const Real scale = n / trace;"),
    "pgs_momentum": ("gauss_seidel.h", "(count - 1) / (count + 2)", "(count - 1) / (count + 3)"),
    "pgs_restart": ("gauss_seidel.h", "count = choose(along < 0.0, all(0), count + 1);", "count = count + 1;"),
    "pgs_worse": ("gauss_seidel.h", "most_worse = 1e-10", "most_worse = 1e300"),
    "pgs_warm": ("gauss_seidel.h", "0.5 * dot(p.force, Af, num_rows) > 0.0", "dot(p.force, Af, num_rows) > 0.0"),
}
# robots, and how many steps
ROBOTS = (("HalfCheetah-v5", 400), ("Walker2d-v5", 300), ("Ant-v5", 300), ("Humanoid-v5", 200),
          ("HumanoidStandup-v5", 60), ("InvertedDoublePendulum-v5", 100), ("dm_control/walker-run-v0", 150),
          ("dm_control/hopper-hop-v0", 200), ("AntMaze_UMaze-v5", 200), ("own robot", 400), ("own robot on hills", 200),
          ("own scene", 300), ("own scene with cones", 300), ("own scene, implicit", 200),
          ("hopping robot", 150), ("FetchPush-v4", 40), ("HandManipulateBlock-v1", 30))
# hops on twelve feet, which have more rows than lanes have room for when all are on the ground: mj_step takes these of
# the steps of a call, and lanes continue
FEET = "".join(f'<geom type="box" size="0.04 0.03 0.03" pos="{x} {y} -0.06"/>'
               for x in (-0.3, -0.1, 0.1, 0.3) for y in (-0.1, 0, 0.1))
HOPPING = f"""
<mujoco>
  <compiler angle="radian"/><option timestep="0.004"/>
  <default><geom condim="6" friction="0.8 0.02 0.01"/><general ctrlrange="-1 1"/></default>
  <worldbody>
    <geom type="plane" size="9 9 9"/>
    <body pos="0 0 0.12"><freejoint/>
      <geom type="box" size="0.35 0.15 0.03"/>{FEET}
      <body><joint name="leg" type="slide" axis="0 0 1" range="-0.15 0.02" damping="3"/>
        <geom type="capsule" fromto="0 0.05 -0.06 0 0.05 0" size="0.03"/>
      </body>
      <body pos="0 0 0.08"><joint name="arm" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03" condim="1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="leg" gear="-300"/><motor joint="arm" gear="4"/></actuator>
</mujoco>"""


def own_robots():
    """Yields names and options of robots of one's own, which have most features of the class."""
    import tests_path  # noqa: F401
    from envs.mujoco.test_mujoco_lanes_class import MOTORS, filters, robot, strings
    from envs.mujoco.test_mujoco_lanes_objects import LOOSE, coupled, scene, things

    features = {
        "option": 'integrator="implicitfast"', "knee": 'gravcomp="0.5"', "servo": 'forcerange="-3 2"',
        "geom": 'condim="6"', "joints": 'frictionloss="0.2"',
        "trunk": 'type="box" size="0.25 0.1 0.05" priority="1" condim="3"',
        "tendon": 'range="-0.2 0.3" limited="true" stiffness="9" springlength="-0.1 0.1"',
        "actuators": MOTORS + filters('actrange="-0.4 0.3" actearly="true"'),
        "toe": '<body pos="0.02 0.01 -0.2"><joint type="ball" pos="0 0 0.01" frictionloss="0.001"/>'
               '<geom size="0.02" pos="0.03 0 0"/></body>'}
    hills = {"floor": 'type="hfield" hfield="hills"', "foot": 'type="box" size="0.06 0.03 0.02"'}
    for name, more in (("own robot", features), ("own robot on hills", hills)):
        folder = Path(tempfile.mkdtemp())
        yield name, {"xml_file": robot(folder, **more), "frame_skip": 4, "forward_reward_weight": 0}
    held = {"more": coupled('<weld body1="thing0" body2="thing1" torquescale="0.7" solimp="0.8 0.95 0.05 0.3 2"/>'
                            '<joint joint1="shoulder" joint2="elbow" polycoef="0.1 0.5 0.2 -0.1 0.3"/>')
            + f"<tendon>{strings(('roof tip 3 arm roof', LOOSE), ('arm tip', LOOSE))}</tendon>"}
    # two bodies move alone, whose mass is far from their frames
    far = {"things": things(4, place='pos="0.9 0.8 0.7"')}
    for name, option, more in (("own scene", 'impratio="3"', {}),
                               ("own scene with cones", 'cone="elliptic" impratio="3"', {}),
                               ("own scene, implicit", 'integrator="implicitfast"', far)):
        yield name, {"xml_file": scene(Path(tempfile.mkdtemp()), option=option, **held, **more), "frame_skip": 4,
                     "forward_reward_weight": 0}
    hopping = Path(tempfile.mkdtemp(), "robot.xml")
    hopping.write_text(HOPPING)
    yield "hopping robot", {"xml_file": str(hopping), "frame_skip": 4, "forward_reward_weight": 0}


def step_all():
    """Steps all robots in lanes and by mj_step, and prints one word for each."""
    import numpy as np

    import cypool
    from cypool.envs.shared.lanes import mujoco_lanes

    def flat(values):
        values = values.values() if isinstance(values, dict) else [values]
        return b"".join(np.ascontiguousarray(each).tobytes() for each in values)

    own, words = dict(own_robots()), []
    for name, steps in ROBOTS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pools = [cypool.make("HalfCheetah-v5" if name in own else name, num_envs=12, num_threads=1, seed=5,
                                 physics=physics, **own.get(name, {})) for physics in ("lanes", "mj_step")]
            word = "equal" if pools[0].stepped_by.startswith("lanes") else "refused"
            for pool in pools:
                pool.reset()
            rng, space = np.random.default_rng(1), pools[0].single_action_space
            low, high = np.clip((space.low, space.high), -2, 2)
            for step in range(steps):
                # random, none, and as far as can be
                kind = step // 50 % 3
                action = rng.uniform(low, high, (12, *space.shape)) if kind == 0 else np.broadcast_to(
                    0 if kind == 1 else np.where(np.arange(space.shape[0]) % 2, high, low),
                    (12, *space.shape))
                lanes, expected = (pool.step(action.astype(space.dtype)) for pool in pools)
                if flat(lanes[0]) != flat(expected[0]) or flat(lanes[1]) != flat(expected[1]):
                    word = f"WRONG ROW at {step}"
                    break
        if word == "equal" and any("lanes and mj_step differ" in str(each.message) for each in caught):
            word = "noticed"
        mujoco_lanes._verdicts.clear()
        words.append(f"{name.split('/')[-1].split('-')[0]}: {word}")
    print("; ".join(words), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"errors (default: all): {', '.join(MUTANTS)}")
    parser.add_argument("--folder", type=Path, help="folder to compile in (default: a temporary one)")
    given = parser.parse_args()
    if given.names == ["-"]:
        return step_all()
    folder, wrong = given.folder or Path(tempfile.mkdtemp()), []
    # compiled modules, too
    for name in ("cypool", "include", "build_tools", "tests", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        source, target = ROOT / name, folder / name
        shutil.copytree(source, target, dirs_exist_ok=True) if source.is_dir() else shutil.copy(source, target)
    for name in given.names or MUTANTS:
        file, text, error = MUTANTS[name]
        original = (ROOT / LANES / file).read_text()
        if text not in original:
            raise SystemExit(f"{name}: {file} has no {text!r}")
        (folder / LANES / file).write_text(original.replace(text, error))
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        try:
            for command in ((sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"),
                            (sys.executable, Path(__file__).resolve(), "-")):
                done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
                if done.returncode:
                    raise SystemExit(f"{name}: {done.stderr}")
        finally:
            (folder / LANES / file).write_text(original)
        print(f"{name}: {done.stdout.strip()}", flush=True)
        if "WRONG" in done.stdout:
            wrong.append(name)
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
