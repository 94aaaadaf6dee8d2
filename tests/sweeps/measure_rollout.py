"""Measures `copy`, and `rollout` against a loop over `step` and `mujoco.rollout` for robots, in turn in one run.

    python tests/sweeps/measure_rollout.py [--rounds 15] [--copies | --policy]

mujoco.rollout computes states only: no observations, no rewards. With --copies only `copy` is measured, with --policy
only a rollout with `cypool.MLP`, against loops over `step` with the same network in NumPy, or with the MLP itself.
"""
import argparse
import itertools
import time
from functools import partial

import numpy as np

import cypool

RUNS = [("CartPole-v1", 1, 128), ("CartPole-v1", 64, 128), ("CartPole-v1", 1024, 128), ("Pong-v5", 16, 64),
        ("Ant-v5", 64, 32), ("HalfCheetah-v5", 64, 32), ("Humanoid-v5", 64, 32)]


def peer_of(env, num_threads, steps):
    """Returns a function that has `mujoco.rollout` make as many steps from the same model, or None."""
    if env.env_spec.id not in ("Ant-v5", "HalfCheetah-v5", "Humanoid-v5"):
        return None
    import gymnasium
    import mujoco
    from mujoco import rollout

    single = gymnasium.make(env.env_spec.id).unwrapped
    model = single.model
    data = [mujoco.MjData(model) for _ in range(num_threads)]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    first = np.zeros(size)
    mujoco.mj_getState(model, single.data, first, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.tile(first, (env.num_envs, 1))
    controls = np.random.default_rng(0).uniform(-0.4, 0.4, (env.num_envs, steps * single.frame_skip, model.nu))
    pool = rollout.Rollout(nthread=num_threads if num_threads > 1 else 0)
    return lambda: pool.rollout(model, data, states, controls)


COPIES = [("CartPole-v1", 1024), ("Taxi-v4", 1024), ("MiniGrid-DoorKey-8x8-v0", 64), ("Pong-v5", 64),
          ("MontezumaRevenge-v5", 64), ("Ant-v5", 64), ("Humanoid-v5", 64), ("dm_control/cheetah-run-v0", 64),
          ("LunarLander-v3", 64)]


def measure_copies(rounds):
    """Prints what a copy takes, and what `load` of a saved state does."""
    print("| id | us per copy, one thread | two threads | us per load |\n| --- | --- | --- | --- |")
    for id, num_envs in COPIES:
        taken = []
        for num_threads in (1, 2):
            env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0)
            env.reset()
            targets, state, copies, loads = np.arange(1, num_envs), env.save([0]), [], []
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                env.copy(0, targets)
                copied = time.perf_counter()
                env.load(state, [0])
                loads.append(time.perf_counter() - copied)
                copies.append((copied - begun) / len(targets))
            taken.append(np.median(copies[1:]) * 1e6)
            env.close()
        print(f"| {id} | {taken[0]:.3f} | {taken[1]:.3f} | {np.median(loads[1:]) * 1e6:.1f} |", flush=True)


POLICIES = [("CartPole-v1", 1, 128), ("CartPole-v1", 64, 128), ("CartPole-v1", 1024, 64), ("Ant-v5", 64, 16)]


def measure_policies(rounds):
    """Prints what a step costs with a network of two hidden layers of 64 that chooses the actions."""
    print("| id | envs | steps | threads | us per step of all, NumPy in a loop | rollout / NumPy | "
          "rollout / MLP in a loop |\n| --- | --- | --- | --- | --- | --- | --- |")
    for id, num_envs, steps in POLICIES:
        for num_threads in (1, 2):
            envs = [cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0) for _ in range(3)]
            env = envs[0]
            shown = [env.reset()[0] for env in envs]
            space, rng = env.single_action_space, np.random.default_rng(0)
            discrete = not space.shape
            sizes = [int(np.prod(env.single_observation_space.shape)), 64, 64, space.n if discrete else space.shape[0]]
            weights = [rng.normal(0, n ** -0.5, (m, n)).astype(np.float32) for n, m in itertools.pairwise(sizes)]
            biases = [np.zeros(m, np.float32) for m in sizes[1:]]
            mlp = cypool.MLP(env.env_spec, weights, biases)

            def in_numpy(obs, weights=weights, biases=biases, space=space, discrete=discrete):
                x = obs.astype(np.float32)
                for w, b in zip(weights[:-1], biases[:-1], strict=True):
                    x = np.tanh(x @ w.T + b)
                x = x @ weights[-1].T + biases[-1]
                return x.argmax(axis=1) if discrete else np.clip(x, space.low, space.high)

            def loop(k, policy, envs=envs, shown=shown, steps=steps):
                for _ in range(steps):
                    shown[k], *_ = envs[k].step(policy(shown[k]))

            candidates = {"numpy": partial(loop, 0, in_numpy), "mlp": partial(loop, 1, mlp),
                          "rollout": partial(envs[2].rollout, steps, policy=mlp)}
            taken = {name: [] for name in candidates}
            for _ in range(rounds + 1):
                for name, samples in taken.items():
                    begun = time.perf_counter()
                    candidates[name]()
                    samples.append(time.perf_counter() - begun)
            taken = {name: np.array(samples[1:]) for name, samples in taken.items()}
            print(f"| {id} | {num_envs} | {steps} | {num_threads} | {np.median(taken['numpy']) / steps * 1e6:.1f} | "
                  f"{np.median(taken['numpy'] / taken['rollout']):.2f} | "
                  f"{np.median(taken['mlp'] / taken['rollout']):.2f} |", flush=True)
            for env in envs:
                env.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="rounds, of which medians are taken")
    parser.add_argument("--copies", action="store_true", help="only measure copy")
    parser.add_argument("--policy", action="store_true", help="only measure rollouts with a policy")
    args = parser.parse_args()
    if args.policy:
        measure_policies(args.rounds)
        return
    measure_copies(args.rounds)
    if args.copies:
        return
    print("| id | envs | steps | threads | us per step of all, by step() | rollout / loop | last observation / loop | "
          "rollout / mujoco.rollout |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    for id, num_envs, steps in RUNS:
        for num_threads in (1, 2):
            env = cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0)
            env.reset()
            env.action_space.seed(0)
            actions = np.stack([env.action_space.sample() for _ in range(steps)])

            def loop(env=env, actions=actions):
                for each in actions:
                    env.step(each)

            candidates = {"loop": loop, "rollout": lambda env=env, actions=actions: env.rollout(actions),
                          "last": lambda env=env, actions=actions: env.rollout(actions, observe="last"),
                          "peer": peer_of(env, num_threads, steps)}
            taken = {name: [] for name, call in candidates.items() if call is not None}
            for _ in range(args.rounds + 1):
                for name, samples in taken.items():
                    begun = time.perf_counter()
                    candidates[name]()
                    samples.append(time.perf_counter() - begun)
            # the first round warms up
            taken = {name: np.array(samples[1:]) for name, samples in taken.items()}
            against = f"{np.median(taken['peer'] / taken['rollout']):.2f}" if "peer" in taken else ""
            print(f"| {id} | {num_envs} | {steps} | {num_threads} | {np.median(taken['loop']) / steps * 1e6:.1f} | "
                  f"{np.median(taken['loop'] / taken['rollout']):.2f} | "
                  f"{np.median(taken['loop'] / taken['last']):.2f} | {against} |", flush=True)
            env.close()


if __name__ == "__main__":
    main()
