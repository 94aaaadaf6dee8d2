"""Craftax next to craftax with jit and vmap, with its automatic reset and without: random actions, resets included."""
import time

import jax
import numpy as np
from measuring import Table, chosen, pool_steps

import cypool
from cypool.envs.craftax.reference import package_env, static_of

DEFAULTS = {"num_envs": 256, "seconds": 2.0}
IDS = ("Craftax-Classic-Symbolic-v1", "Craftax-Symbolic-v1", "Craftax-Classic-Pixels-v1", "Craftax-Pixels-v1")


def theirs(id, num_envs, auto_reset):
    """Returns a candidate: steps of the package, which without automatic reset plays on after an end."""
    game, static = static_of(cypool.make_spec(id).options)
    env = package_env(game, cypool.make_spec(id).options["obs_type"], auto_reset, static)
    params, key = env.default_params, jax.random.PRNGKey(0)
    step = jax.jit(jax.vmap(lambda key, state, action: env.step(key, state, action, params)))
    reset = jax.jit(jax.vmap(lambda key: env.reset(key, params)))
    state = [reset(jax.random.split(key, num_envs))[1]]
    actions = np.random.default_rng(0).integers(0, env.num_actions, (16, num_envs)).astype(np.int32)
    keys = jax.random.split(key, num_envs)

    def run():
        begin, num_steps = time.process_time(), 4
        for k in range(num_steps):
            obs, state[0], *_ = step(keys, state[0], actions[k])
        jax.block_until_ready(obs)
        return num_envs * num_steps, time.process_time() - begin

    return run


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        yield f"`{id}`", {"cypool": pool_steps(id, arguments.num_envs, arguments.num_threads),
                          "auto-reset": theirs(id, arguments.num_envs, True),
                          "no auto-reset": theirs(id, arguments.num_envs, False)}


TABLES = {"steps": Table(rows, ("cypool", "auto-reset", "no auto-reset"),
                         (("auto-reset", "cypool"), ("no auto-reset", "cypool")))}
