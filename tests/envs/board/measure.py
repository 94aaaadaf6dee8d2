"""Board games next to OpenSpiel and pgx: random legal actions, with observations and masks; resets included."""
import importlib.util

import numpy as np
from measuring import Table, chosen, steps_of

import cypool

DEFAULTS = {"num_envs": 1024}
IDS = {"board/tic_tac_toe-v0": {}, "board/connect_four-v0": {}, "board/othello-v0": {}, "board/breakthrough-v0": {},
       "board/hex-v0": {}, "board/go-v0": {"board_size": 9}, "board/backgammon-v0": {}, "board/2048-v0": {}}
STEPS = 64


def rollout(id, num_envs, num_threads, **options):
    """Returns a candidate: a rollout with a policy that draws legal actions."""
    env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0, **options)
    env.reset()
    policy, buffers = cypool.RandomPolicy(env.env_spec), env.rollout_buffers(STEPS)

    def run():
        env.rollout(STEPS, policy=policy, out=buffers)
        return STEPS * num_envs

    return run


def loop(id, num_envs, num_threads, **options):
    """Returns a candidate: draws legal actions, then steps; in Python."""
    env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0, **options)
    return steps_of(env, range(20), step=lambda _: env.step(env.sample_legal()))


def theirs(id, options):
    """Returns a candidate: plays with OpenSpiel's own states."""
    import pyspiel

    game = pyspiel.load_game(id.removeprefix("board/").removesuffix("-v0"), options)
    random = np.random.default_rng(0)
    state = game.new_initial_state()

    def run():
        nonlocal state
        num_steps = 0
        for _ in range(100):
            if state.is_terminal():
                state = game.new_initial_state()
                continue
            if state.is_chance_node():
                outcomes, p = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(random.choice(outcomes, p=p))
                continue
            state.observation_tensor()
            legal = state.legal_actions()
            state.apply_action(legal[int(random.random() * len(legal))])
            num_steps += 1
        return num_steps

    return run


def of_pgx(id, num_envs):
    """Returns a candidate: a batch of pgx's on the CPU, which resets by itself; None without pgx or the game."""
    name = id.removeprefix("board/").removesuffix("-v0").replace("go", "go_9x9")
    if importlib.util.find_spec("pgx") is None or name == "breakthrough":
        return None
    import jax
    import pgx
    from pgx.experimental import auto_reset

    game = pgx.make(name)
    step = auto_reset(game.step, game.init)

    @jax.jit
    @jax.vmap
    def advance(state, key):
        drawing, stepping = jax.random.split(key)
        return step(state, jax.random.categorical(drawing, jax.numpy.log(state.legal_action_mask)), stepping)

    keys = jax.random.split(jax.random.PRNGKey(0), (20, num_envs))
    states = jax.jit(jax.vmap(game.init))(keys[0])

    def run():
        nonlocal states
        for each in keys:
            states = advance(states, each)
        jax.block_until_ready(states)
        return len(keys) * num_envs

    return run


def rows(arguments):
    for id in chosen(IDS, arguments.patterns):
        given = id, arguments.num_envs, arguments.num_threads
        name = f"`{id}`" + "".join(f", {key} {value}" for key, value in IDS[id].items())
        yield name, {"OpenSpiel": theirs(id, IDS[id]), "loop": loop(*given, **IDS[id]),
                     "rollout": rollout(*given, **IDS[id]), "pgx": of_pgx(id, arguments.num_envs)}


TABLES = {"steps": Table(rows, ("rollout", "loop", "OpenSpiel", "pgx"), (("OpenSpiel", "loop"), ("pgx", "loop")))}
