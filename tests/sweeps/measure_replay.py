"""Measures `ReplayBuffer` next to the buffers of Stable-Baselines3, Tianshou, TorchRL and cpprb, in turn in one run.

    python tests/sweeps/measure_replay.py [--rounds 15] [--rows 10000] [--storing]

Prints the medians of CPU time, on one thread, and of the ratios within a round. Libraries that are not there are left
out. All have the same steps of Pong. `memcpy` copies as many bytes as a sample has, from as much memory as the ring's.
"""
import argparse
import time
from functools import partial

import numpy as np

import cypool

NUM, BATCH = 8, 256


def filled(rows, **kwargs):
    env = cypool.make("Pong-v5", num_envs=NUM, num_threads=1, seed=0)
    env.action_space.seed(0)
    # a row for the first stack of an episode, and for its last observation
    buffer = cypool.ReplayBuffer(env, rows + rows // 20, seed=0, **kwargs)
    buffer.reset()
    while len(buffer) < rows:
        buffer.step(env.action_space.sample())
    return buffer


def rows_of(buffer):
    """Yields what was stored: eight steps at a time, as arrays."""
    index = np.sort(buffer.indices())
    for k in range(0, len(index) // NUM * NUM, NUM):
        sample = buffer.gather(index[k:k + NUM])
        yield sample.obs, sample.action, sample.reward, sample.next_obs, sample.terminated, sample.truncated


def sb3_buffer(buffer, rows):
    from gymnasium import spaces
    from stable_baselines3.common.buffers import ReplayBuffer

    made = ReplayBuffer(rows, spaces.Box(0, 255, (4, 84, 84), np.uint8), spaces.Discrete(6), "cpu", NUM)
    for obs, action, reward, next_obs, terminated, truncated in rows_of(buffer):
        made.add(obs, next_obs, action, reward, terminated | truncated, [{}] * NUM)
    return lambda: made.sample(BATCH)


def tianshou_buffer(buffer, rows, prioritized=False):
    from tianshou.data import Batch, PrioritizedVectorReplayBuffer, VectorReplayBuffer

    # frames once, as its documentation advises for Atari
    options = {"stack_num": 4, "save_only_last_obs": True, "ignore_obs_next": True}
    if prioritized:
        made = PrioritizedVectorReplayBuffer(rows, NUM, alpha=0.6, beta=0.4, **options)
    else:
        made = VectorReplayBuffer(rows, NUM, **options)
    for obs, action, reward, next_obs, terminated, truncated in rows_of(buffer):
        made.add(Batch(obs=obs, act=action, rew=reward, terminated=terminated, truncated=truncated, obs_next=next_obs,
                       info=Batch()))

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
    for obs, action, reward, next_obs, terminated, truncated in rows_of(buffer):
        names = ("obs", "action", "reward", "next_obs", "terminated", "truncated")
        values = obs, action, reward, next_obs, terminated, truncated
        made.extend(TensorDict({name: torch.from_numpy(part.copy()) for name, part in zip(names, values, strict=True)},
                               batch_size=[NUM]))
    return made.sample


def cpprb_buffer(buffer, rows):
    from cpprb import PrioritizedReplayBuffer

    made = PrioritizedReplayBuffer(rows, {"obs": {"shape": (4, 84, 84), "dtype": np.uint8}, "act": {"dtype": np.int64},
                                          "rew": {}, "next_obs": {"shape": (4, 84, 84), "dtype": np.uint8}, "done": {}},
                                   alpha=0.6)
    for obs, action, reward, next_obs, terminated, _ in rows_of(buffer):
        made.add(obs=obs, act=action, rew=reward, next_obs=next_obs, done=terminated)

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


def measure(calls, rounds, repeat):
    """Prints a table of functions; the first one is compared with the others."""
    taken = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            begun = time.process_time()
            for _ in range(repeat):
                call()
            taken[name].append((time.process_time() - begun) / repeat * 1e3)
    own = np.array(next(iter(taken.values())))
    print("| | ms of CPU | times that of the first |\n| --- | --- | --- |")
    for name, times in taken.items():
        print(f"| {name} | {np.median(times):.3f} | {np.median(np.array(times) / own):.2f} |")


def measure_storing(rounds):
    for num_envs in (8, 64):
        print(f"\nA step of {num_envs} environments of Pong, and one that is stored:\n")
        env = cypool.make("Pong-v5", num_envs=num_envs, num_threads=1, seed=0)
        # so small that all of it was written to: the system takes its time for memory once only
        stored = cypool.ReplayBuffer(env, 300 * num_envs)
        stored.reset()
        actions = np.zeros(num_envs, np.int64)
        for _ in range(310):
            stored.step(actions)
        measure({"step": partial(env.step, actions), "step, stored": partial(stored.step, actions)}, 5 * rounds,
                160 // num_envs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--storing", action="store_true", help="measure only what storing takes")
    args = parser.parse_args()
    if args.storing:
        measure_storing(args.rounds)
        return
    buffer = filled(args.rows)
    calls = {"cypool": lambda: buffer.sample(BATCH), "memcpy": copier(buffer)}
    by_priority = {"cypool, by priority": prioritized(args.rows)}
    peers = [(calls, "Stable-Baselines3", sb3_buffer), (calls, "Tianshou, frames once", tianshou_buffer),
             (calls, "TorchRL", torchrl_buffer), (by_priority, "cpprb, by priority", cpprb_buffer),
             (by_priority, "Tianshou, by priority", lambda *parts: tianshou_buffer(*parts, True))]
    for table, name, make in peers:
        try:
            table[name] = make(buffer, args.rows)
        except ImportError as error:
            print(f"{name}: {error}")
    print(f"A sample of {BATCH} stacks, and what followed:\n")
    measure(calls, args.rounds, 4)
    print("\nThe same by priority, and an update of the priorities:\n")
    measure(by_priority, args.rounds, 4)
    measure_storing(args.rounds)


if __name__ == "__main__":
    main()
