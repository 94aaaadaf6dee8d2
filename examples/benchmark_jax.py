"""A pool in code that JAX compiled, in NumPy, and through JAX's own callback, in turn.

    pip install ".[jax]" && python examples/benchmark_jax.py

Microseconds of a step of all environments, medians of the rounds, in brackets their quartiles. Compiled code is a
`jax.lax.scan` over steps, first on the caller's thread, then on one of XLA's.
"""
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

import cypool


def in_numpy(env, actions, num_steps):
    def run():
        for _ in range(num_steps):
            env.step(actions)

    return run


def compiled(step, handle, actions, num_steps, busy=False):
    def advance(handle, _):
        handle, batch = step(handle, actions)
        return handle, batch[1].sum()

    @jax.jit
    def scan(handle, weights):
        if busy:
            # a product: JAX leaves such code to another thread
            handle = handle + (0 * (weights @ weights).sum()).astype(int)
        return jax.lax.scan(advance, handle, length=num_steps)

    weights = jnp.ones((10, 10))
    return lambda: jax.block_until_ready(scan(handle, weights))


def called_back(env):
    """Returns a `step` that brings rewards only."""
    def call(handle, actions):
        return handle, np.asarray(env.step(np.asarray(actions))[1], np.float32)

    shapes = jax.ShapeDtypeStruct((2,), np.int32), jax.ShapeDtypeStruct((env.num_envs,), np.float32)

    def step(handle, actions):
        handle, reward = io_callback(call, shapes, handle, actions)
        return handle, (None, reward)

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--num-envs", type=int, nargs="+", default=[1, 64, 1024])
    parser.add_argument("--num-steps", type=int, default=1000, help="of each sample")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    for num_envs in args.num_envs:
        envs = [cypool.make(args.env_id, num_envs=num_envs, num_threads=1, seed=0) for _ in range(4)]
        for env in envs:
            env.reset()
        functions = [env.xla() for env in envs[1:3]]
        actions = np.stack([envs[0].single_action_space.sample()] * num_envs)
        given = jnp.asarray(actions)
        runs = {"NumPy": in_numpy(envs[0], actions, args.num_steps)}
        for name, each, busy in zip(("xla()", "xla(), XLA's thread"), functions, (False, True), strict=True):
            runs[name] = compiled(each.step, each.handle, given, args.num_steps, busy)
        runs["io_callback"] = compiled(called_back(envs[3]), jnp.zeros(2, jnp.int32), given, args.num_steps)
        times = {name: [] for name in runs}
        for k in range(args.rounds + 1):
            for name in list(runs)[::-1] if k % 2 else runs:
                began = time.perf_counter()
                runs[name]()
                # the first round compiles
                if k:
                    times[name].append((time.perf_counter() - began) / args.num_steps * 1e6)
        for name, found in times.items():
            low, middle, high = np.quantile(found, [0.25, 0.5, 0.75])
            print(f"{num_envs:6} {args.env_id}  {name:20}{middle:8.1f} us ({low:.1f}..{high:.1f})")
        for env in envs:
            env.close()
    print(f"jax {jax.__version__}")


if __name__ == "__main__":
    main()
