"""Compares tree searches of cypool, mctx with pgx, and OpenSpiel's bots: simulations per second on one core.

    pip install open_spiel pgx mctx
    taskset -c 0 python benchmarks/tree_search.py --ranges

All search from the first position with empty trees, on one thread; times are CPU times. Networks are two perceptrons
with two layers of 128, for logits and the value. "Constant": each position has the value 0. OpenSpiel's C++ bot only
supports random games when created from Python; mctx has no random games.
"""
import os
from importlib.util import find_spec
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from measuring import Table, chosen, parser, repeated, show

import cypool

# JAX reads them when it is imported
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")


class Row(NamedTuple):
    """A search that packages are compared in."""
    id: str
    options: dict  # of OpenSpiel's game, too
    evaluator: str
    simulations: int = 200
    algorithm: str = "puct"
    num_trees: int = 256  # that cypool and mctx search at once
    pgx: str | None = None  # the name of the game there


FOUR = "board/connect_four-v0"
ROWS = {
    "connect four, constant": Row(FOUR, {}, "constant", pgx="connect_four"),
    "connect four, random games": Row(FOUR, {}, "rollout"),
    "connect four, network, PUCT of 200": Row(FOUR, {}, "network", pgx="connect_four"),
    "connect four, network, Gumbel of 32": Row(FOUR, {}, "network", 32, "gumbel", pgx="connect_four"),
    "Go 9x9, constant": Row("board/go-v0", {"board_size": 9}, "constant", num_trees=16, pgx="go_9x9"),
    "OpenSpiel's connect four, random games": Row("openspiel/connect_four-v0", {}, "rollout", num_trees=16),
    "OpenSpiel's Go 9x9, random games": Row("openspiel/go-v0", {"board_size": 9}, "rollout", num_trees=4),
    "OpenSpiel's chess, random games": Row("openspiel/chess-v0", {}, "rollout", num_trees=4),
}


def layers(num_inputs, num_outputs, seed=0):
    """Returns weights and biases."""
    random, sizes = np.random.default_rng(seed), [num_inputs, 128, 128, num_outputs]
    weights = [random.normal(size=(m, n)).astype(np.float32) / np.sqrt(n) for n, m in pairwise(sizes)]
    return weights, [np.zeros(m, np.float32) for m in sizes[1:]]


def ours(row, leaves=1):
    """Returns a candidate that searches with cypool's trees."""
    env = cypool.make(row.id, num_envs=row.num_trees, num_threads=0, seed=0, autoreset_mode="Disabled", **row.options)
    env.reset()
    search = cypool.TreeSearch(env, simulations=row.simulations, algorithm=row.algorithm, leaves=leaves)
    evaluate = row.evaluator
    if evaluate == "network":
        num_inputs = int(np.prod(env.env_spec.observation.shape))
        evaluate = cypool.MLP(env.env_spec, *layers(num_inputs, env.env_spec.action.n), activation="relu",
                              output="categorical", value=layers(num_inputs, 1, seed=1))
    return repeated(lambda: search.run(evaluate), steps=row.num_trees * row.simulations)


def with_mctx(row):
    """Returns a candidate that searches with mctx in pgx's games; None if they are missing."""
    if row.pgx is None or find_spec("mctx") is None or find_spec("pgx") is None:
        return None
    import jax
    import mctx
    import pgx
    from jax import numpy as jnp

    env = pgx.make(row.pgx)
    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), row.num_trees))
    num_inputs = int(np.prod(env.observation_shape))
    network = layers(num_inputs, env.num_actions), layers(num_inputs, 1, seed=1)

    def perceptron(part, x):
        for weight, bias in zip(*part, strict=True):
            # the inputs are positive
            x = jax.nn.relu(x) @ weight.T + bias
        return x

    def evaluate(params, state):
        logits, value = jnp.zeros((row.num_trees, env.num_actions)), jnp.zeros(row.num_trees)
        if row.evaluator == "network":
            x = state.observation.reshape(row.num_trees, -1).astype(jnp.float32)
            logits, value = perceptron(params[0], x), perceptron(params[1], x)[:, 0]
        return jnp.where(state.legal_action_mask, logits, jnp.finfo(jnp.float32).min), value

    def recurrent(params, _, action, state):
        player = state.current_player
        state = jax.vmap(env.step)(state, action)
        logits, value = evaluate(params, state)
        reward, is_open = state.rewards[jnp.arange(row.num_trees), player], 1.0 - state.terminated
        return mctx.RecurrentFnOutput(
            reward=reward, discount=-is_open, prior_logits=logits, value=is_open * value), state

    policy = mctx.gumbel_muzero_policy if row.algorithm == "gumbel" else mctx.muzero_policy

    @jax.jit
    def search(params, key, state):
        logits, value = evaluate(params, state)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        return policy(params, key, root, recurrent, row.simulations, ~state.legal_action_mask).action_weights
    return repeated(lambda: search(network, jax.random.PRNGKey(0), start).block_until_ready(),
                    steps=row.num_trees * row.simulations)


def bots(row):
    """Returns the candidates: OpenSpiel's C++ and Python bots, as far as available."""
    if row.evaluator == "network" or find_spec("pyspiel") is None:
        return {}
    import pyspiel
    from open_spiel.python.algorithms import mcts

    game = pyspiel.load_game(row.id.split("/")[1].removesuffix("-v0"), row.options)

    class Constant:
        evaluate = staticmethod(lambda state: np.zeros(2))
        prior = staticmethod(lambda state: [(a, 1 / len(state.legal_actions())) for a in state.legal_actions()])

    evaluator = Constant() if row.evaluator == "constant" else mcts.RandomRolloutEvaluator()
    made = {"OpenSpiel, Python": mcts.MCTSBot(game, 2**0.5, row.simulations, evaluator, solve=False)}
    if row.evaluator == "rollout":
        evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
        made["OpenSpiel, C++"] = pyspiel.MCTSBot(game, evaluator, 2**0.5, row.simulations, 1000, False, 0, False)
    return {name: repeated(lambda bot=bot: bot.step(game.new_initial_state()), steps=row.simulations)
            for name, bot in made.items()}


def rows(arguments):
    for name, row in ((name, ROWS[name]) for name in chosen(ROWS, arguments.patterns)):
        yield name, {"cypool": ours(row), "16 leaves": ours(row, 16) if row.evaluator == "network" else None,
                     "mctx": with_mctx(row), **bots(row)}


if __name__ == "__main__":
    show({"simulations": Table(rows, ("cypool", "16 leaves", "mctx", "OpenSpiel, C++", "OpenSpiel, Python"))},
         parser(__doc__, per_second=True))
