"""Pools that are saved and played on with, for the tests of states."""
import pickle

import numpy as np
from gymnasium.spaces import Dict, Discrete, MultiDiscrete
from receiving import started

import cypool

NUM = 5


class Player:
    """Plays on with a pool: each environment takes its actions, whichever comes first."""

    def __init__(self, env, mode):
        self.env, self.mode = env, mode
        self.needs_reset = np.ones(env.num_envs, bool)

    def begin(self, actions, ids):
        """Sends one action each; a reset where the pool leaves that to its user."""
        back = [i for i in ids if self.mode == "Disabled" and self.needs_reset[i]]
        go = [i for i in ids if i not in back]
        if go:
            self.env.send(together([actions[i] for i in go]), go)
            if back and not self.env.is_async:
                yield self.env.recv()
        if back:
            self.env.async_reset(back)
        yield self.env.recv()

    def play(self, actions):
        """Returns for each environment the rows that its actions, (num_envs, steps), lead to."""
        rows = [[] for _ in actions]
        num_steps = actions.shape[1]
        ready = range(len(actions))
        while ready or self.env._pool.num_pending:
            came = []
            batches = self.begin({i: actions[i, len(rows[i])] for i in ready}, ready) if ready else [self.env.recv()]
            for batch in batches:
                for i, row, ended in rows_of(batch):
                    rows[i].append(row)
                    self.needs_reset[i] = ended
                    came.append(i)
            ready = [i for i in came if len(rows[i]) < num_steps]
        return rows


def bits(part):
    """The bytes of a row; of all parts of it."""
    if isinstance(part, dict):
        return {key: bits(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return tuple(bits(value) for value in part)
    return np.asarray(part).tobytes()


def together(actions):
    """Actions of some environments as a pool takes them."""
    if not isinstance(actions[0], dict):
        return actions
    return {name: np.stack([each[name] for each in actions]) for name in actions[0]}


def rows_of(batch):
    """Yields env id, all that a batch says of it, and whether its episode has ended."""
    obs, reward, terminated, truncated, info = batch
    own = {key: values for key, values in info.items() if isinstance(values, np.ndarray) and values.dtype != object
           and not key.startswith("_") and key != "env_id"}
    for k, i in enumerate(info["env_id"].tolist()):
        ended = bool(terminated[k] or truncated[k])
        row = {"obs": bits(parts(obs, k)), "reward": reward[k], "terminated": bool(terminated[k]),
               "truncated": bool(truncated[k]), "info": bits({key: values[k] for key, values in own.items()})}
        if ended:
            row["episode"] = info["episode"]["r"][k], info["episode"]["l"][k]
            if "final_obs" in info:
                row["final"] = bits(info["final_obs"][k]), bits({
                    key: values[k] for key, values in info["final_info"].items() if not key.startswith("_")})
        yield i, row, ended


def parts(obs, k):
    """Row k of an observation."""
    if isinstance(obs, tuple):
        return tuple(part[k] for part in obs)
    return {key: part[k] for key, part in obs.items()} if isinstance(obs, dict) else obs[k]


def seen(obs, info):
    """The result of `load` or `reset`, as the obs and info of `rows_of`; by env id."""
    own = {key: values for key, values in info.items() if isinstance(values, np.ndarray) and key != "env_id"}
    return {int(i): (bits(parts(obs, k)), bits({key: values[k] for key, values in own.items()}))
            for k, i in enumerate(info["env_id"])}


def make(id, mode="NextStep", num_threads=0, batch_size=None, num_envs=NUM, seed=3, **options):
    return cypool.make(id, num_envs=num_envs, num_threads=num_threads, batch_size=batch_size, seed=seed,
                       autoreset_mode=mode, episode_statistics=True, **options)


def actions_for(env, num_steps, seed=0):
    """Actions, (num_envs, num_steps): of groups of agents each is a dict."""
    return actions_in(env.single_action_space, np.random.default_rng(seed), (env.num_envs, num_steps))


def actions_in(space, random, shape):
    if isinstance(space, Discrete):
        return random.integers(0, space.n, shape)
    if isinstance(space, MultiDiscrete):
        return random.integers(0, space.nvec, (*shape, *space.shape))
    if isinstance(space, Dict):
        groups = {name: actions_in(part, random, shape) for name, part in space.items()}
        actions = np.empty(shape, object)
        for at in np.ndindex(*shape):
            actions[at] = {name: part[at] for name, part in groups.items()}
        return actions
    return random.uniform(space.low, space.high, (*shape, *space.shape)).astype(space.dtype)


def assert_goes_on(id, mode, num_threads, batch_size, before, after, **options):
    """Saves in mid-game, continues, and repeats this: in the same pool, in another one from a pickle, and by copies."""
    env = started(make(id, mode, num_threads, batch_size, **options))
    player = Player(env, mode)
    player.needs_reset[:] = False
    last = [rows[-1] for rows in player.play(actions_for(env, before))]
    state = env.save()
    assert state.needs_reset.tolist() == (player.needs_reset & (mode != "SameStep")).tolist()
    packed = pickle.dumps(state)
    actions = actions_for(env, after, seed=1)
    want = player.play(actions)
    ends = sum("episode" in row for rows in want for row in rows)
    # the pool itself; one that has done something else; one that was never reset
    other = started(make(id, mode, num_threads, batch_size, **{**options, "seed": 99}))
    busy = Player(other, mode)
    busy.needs_reset[:] = False
    busy.play(actions_for(other, 3, seed=5))
    for pool in env, other, make(id, mode, 2, None, **options):
        saved = pickle.loads(packed)
        shown = seen(*pool.load(saved))
        assert shown == {i: (row["obs"], row["info"]) for i, row in enumerate(last)}
        again = Player(pool, mode)
        again.needs_reset = saved.needs_reset
        got = again.play(actions)
        for i in range(NUM):
            assert got[i] == want[i], (i, [a == b for a, b in zip(got[i], want[i], strict=True)].index(False))
        if pool is other:
            pool.load(saved)
            pool.copy(1, [0])
            again.needs_reset = saved.needs_reset[[1, *range(1, NUM)]]
            assert again.play(actions[[1, *range(1, NUM)]])[:2] == [want[1]] * 2
        # nothing of the saved state has changed meanwhile
        assert pickle.dumps(saved.rows) == pickle.dumps(pickle.loads(packed).rows)
        pool.close()
    assert pickle.dumps(state) == packed
    return ends
