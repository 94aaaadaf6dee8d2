"""Times a step of all environments in code that JAX compiled, in NumPy, and through JAX's own callback.

    pip install ".[jax]" && python benchmarks/jax_calls.py

Compiled code is a `jax.lax.scan` over steps, first on the caller's thread, then on one of XLA's. Patterns match numbers
of environments.
"""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from measuring import Table, chosen, parser, repeated, show

import cypool


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
    return repeated(lambda: jax.block_until_ready(scan(handle, weights)), steps=num_steps)


def called_back(env):
    """Returns a `step` that returns only rewards."""
    def call(handle, actions):
        return handle, np.asarray(env.step(np.asarray(actions))[1], np.float32)

    shapes = jax.ShapeDtypeStruct((2,), np.int32), jax.ShapeDtypeStruct((env.num_envs,), np.float32)

    def step(handle, actions):
        handle, reward = io_callback(call, shapes, handle, actions)
        return handle, (None, reward)

    return step


def rows(arguments):
    for num_envs in map(int, chosen(["1", "64", "1024"], arguments.patterns)):
        envs = [cypool.make(arguments.env_id, num_envs=num_envs, num_threads=1, seed=0) for _ in range(4)]
        for env in envs:
            env.reset()
        actions = np.stack([envs[0].single_action_space.sample()] * num_envs)
        given, num_steps = jnp.asarray(actions), arguments.num_steps
        candidates = {"NumPy": repeated(partial(envs[0].step, actions), num_steps)}
        for name, env, busy in zip(("xla()", "xla(), XLA's thread"), envs[1:3], (False, True), strict=True):
            functions = env.xla()
            candidates[name] = compiled(functions.step, functions.handle, given, num_steps, busy)
        candidates["io_callback"] = compiled(called_back(envs[3]), jnp.zeros(2, jnp.int32), given, num_steps)
        yield f"{num_envs} {arguments.env_id}", candidates
        for env in envs:
            env.close()


if __name__ == "__main__":
    made = parser(__doc__, rounds=15, seconds=0.0)
    made.add_argument("--env-id", default="CartPole-v1")
    made.add_argument("--num-steps", type=int, default=1000, help="steps per call")
    show({"steps": Table(rows, ("NumPy", "xla()", "xla(), XLA's thread", "io_callback"), clocks=("wall",))}, made)
