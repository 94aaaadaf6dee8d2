"""Compares `ReplayBuffer` with the buffers of Stable-Baselines3, Tianshou, TorchRL and cpprb, in turn in one run.

    python benchmarks/replay.py
    python benchmarks/replay.py --table storing --rounds 125

Prints microseconds on one thread: for a sample of 256 stacks and the observations after them; with `--table priority`,
for a sample by priority and an update of the priorities; with `--table storing`, for a step of some Pong environments,
and for one that is stored. Missing libraries are left out. All store the same steps of Pong. `memcpy` copies as many
bytes as a sample has, from as much memory as the ring has.
"""
import sys

import numpy as np
from measuring import parser, repeated, show_candidates, take_turns

import cypool

NUM, BATCH = 8, 256


def filled(rows, **kwargs):
    env = cypool.make("Pong-v5", num_envs=NUM, num_threads=1, seed=0)
    env.action_space.seed(0)
    # a row for the first stack of an episode, and for its last observation
    buffer = cypool.ReplayBuffer(env, rows + rows // 20 + 100 * NUM, seed=0, **kwargs)
    buffer.reset()
    while len(buffer) < rows:
        buffer.step(env.action_space.sample())
    return buffer


def rows_of(buffer):
    """Yields the stored steps, eight at a time."""
    index = np.sort(buffer.indices())
    for k in range(0, len(index) // NUM * NUM, NUM):
        yield buffer.gather(index[k:k + NUM])


def sb3_buffer(buffer, rows):
    from gymnasium import spaces
    from stable_baselines3.common.buffers import ReplayBuffer

    made = ReplayBuffer(rows, spaces.Box(0, 255, (4, 84, 84), np.uint8), spaces.Discrete(6), "cpu", NUM)
    for row in rows_of(buffer):
        made.add(row.obs, row.next_obs, row.action, row.reward, row.terminated | row.truncated, [{}] * NUM)
    return lambda: made.sample(BATCH)


def tianshou_buffer(buffer, rows, prioritized=False):
    from tianshou.data import Batch, PrioritizedVectorReplayBuffer, VectorReplayBuffer

    # frames once, as its documentation advises for Atari
    options = {"stack_num": 4, "save_only_last_obs": True, "ignore_obs_next": True}
    if prioritized:
        made = PrioritizedVectorReplayBuffer(rows, NUM, alpha=0.6, beta=0.4, **options)
    else:
        made = VectorReplayBuffer(rows, NUM, **options)
    for row in rows_of(buffer):
        made.add(Batch(obs=row.obs, act=row.action, rew=row.reward, terminated=row.terminated, truncated=row.truncated,
                       obs_next=row.next_obs, info=Batch()))

    def sample():
        batch, index = made.sample(BATCH)
        if prioritized:
            made.update_weight(index, np.abs(batch.rew) + 0.1)
        return batch.obs, batch.obs_next

    return sample


def torchrl_buffer(buffer, rows):
    import torch
    from tensordict import TensorDict
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer

    made = TensorDictReplayBuffer(storage=LazyTensorStorage(rows), batch_size=BATCH)
    names = "obs", "action", "reward", "next_obs", "terminated", "truncated"
    for row in rows_of(buffer):
        made.extend(TensorDict({name: torch.from_numpy(getattr(row, name).copy()) for name in names}, batch_size=[NUM]))
    return made.sample


def cpprb_buffer(buffer, rows):
    from cpprb import PrioritizedReplayBuffer

    made = PrioritizedReplayBuffer(rows, {"obs": {"shape": (4, 84, 84), "dtype": np.uint8}, "act": {"dtype": np.int64},
                                          "rew": {}, "next_obs": {"shape": (4, 84, 84), "dtype": np.uint8}, "done": {}},
                                   alpha=0.6)
    for row in rows_of(buffer):
        made.add(obs=row.obs, act=row.action, rew=row.reward, next_obs=row.next_obs, done=row.terminated)

    def sample():
        batch = made.sample(BATCH, beta=0.4)
        made.update_priorities(batch["indexes"], np.abs(batch["rew"][:, 0]) + 0.1)
        return batch

    return sample


def copier(buffer):
    source = np.ones(buffer.nbytes, np.uint8)
    sample = buffer.sample(BATCH)
    size = sample.obs.nbytes + sample.next_obs.nbytes
    target, at = np.zeros(size, np.uint8), [0]

    def copy():
        # another place each time, as a sample is
        at[0] = (at[0] + size) % (len(source) - size)
        target[:] = source[at[0]:at[0] + size]

    return copy


def prioritized(rows):
    buffer = filled(rows, alpha=0.6)

    def sample():
        batch = buffer.sample(BATCH, beta=0.4)
        buffer.update_priorities(batch.index, np.abs(batch.reward) + 0.1)
        return batch

    return sample


def uniform(arguments):
    """Yields names, and functions that sample."""
    buffer = filled(arguments.rows)
    yield "cypool", lambda: buffer.sample(BATCH)
    yield "memcpy", copier(buffer)
    yield from peers(buffer, arguments.rows, {
        "Stable-Baselines3": sb3_buffer, "Tianshou, frames once": tianshou_buffer, "TorchRL": torchrl_buffer})


def by_priority(arguments):
    """Yields the same for samples by priority, followed by an update of the priorities."""
    yield "cypool", prioritized(arguments.rows)
    yield from peers(filled(arguments.rows), arguments.rows, {
        "cpprb": cpprb_buffer, "Tianshou": lambda *parts: tianshou_buffer(*parts, True)})


def peers(buffer, rows, makers):
    for name, make in makers.items():
        try:
            yield name, make(buffer, rows)
        except ImportError as error:
            print(f"without {name}: {error}", file=sys.stderr)


def storing(arguments):
    """Yields functions that step and that store the step."""
    num_envs = arguments.num_envs
    env = cypool.make("Pong-v5", num_envs=num_envs, num_threads=1, seed=0)
    # so small that all of it was written to: the system takes its time for memory once only
    stored = cypool.ReplayBuffer(cypool.make("Pong-v5", num_envs=num_envs, num_threads=1, seed=0), 300 * num_envs)
    actions = np.zeros(num_envs, np.int64)
    env.reset()
    stored.reset()
    for _ in range(310):
        env.step(actions)
        stored.step(actions)
    yield "step", lambda: env.step(actions)
    yield "step, stored", lambda: stored.step(actions)


def main():
    made = parser(__doc__, rounds=15, num_envs=8, seconds=0.0)
    made.add_argument("--table", choices=["uniform", "priority", "storing"], default="uniform")
    made.add_argument("--rows", type=int, default=10_000)
    arguments = made.parse_args()
    calls = {"uniform": uniform, "priority": by_priority, "storing": storing}[arguments.table](arguments)
    times = 160 // arguments.num_envs if arguments.table == "storing" else 4
    candidates = {name: repeated(call, times) for name, call in calls}
    show_candidates(take_turns(candidates, arguments.rounds), next(iter(candidates)))


if __name__ == "__main__":
    main()
