"""Measures `copy`, and `rollout` against a loop over `step` and `mujoco.rollout` for robots, in turn in one run.

    python tests/sweeps/measure_rollout.py [--rounds 15] [--copies | --policy]

mujoco.rollout computes states only: no observations, no rewards. With --copies only `copy` is measured, with --policy
only rollouts with `cypool.MLP`, against loops over `step` with the same networks in torch.
"""
import argparse
import itertools
import math
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


POLICIES = [("CartPole-v1", 1, 128), ("CartPole-v1", 8, 128), ("CartPole-v1", 64, 64), ("CartPole-v1", 1024, 32),
            ("CartPole-v1", 4096, 16), ("Pendulum-v1", 1024, 32), ("Ant-v5", 64, 16)]


class TorchLoop:
    """A loop over `step` with networks of torch: as few calls as it takes, and no `torch.distributions`."""

    def __init__(self, env, policy, value, steps):
        self.env, self.policy, self.value, self.steps = env, policy, value, steps
        self.space = env.single_action_space
        self.obs = env.reset()[0]

    def run(self):
        import torch

        with torch.inference_mode():
            for _ in range(self.steps):
                action = self.act(torch.from_numpy(self.obs).float()).numpy()
                if self.space.shape:
                    action = np.clip(action, self.space.low, self.space.high)
                self.obs = self.env.step(action)[0]

    def act(self, obs):
        """Chooses, or draws, and computes what a learner needs, if there is a value network."""
        import torch

        last = self.policy(obs)
        if self.value is None:
            return last if self.space.shape else last.argmax(-1)
        self.value(obs).squeeze(-1)
        if self.space.shape:
            z = torch.randn_like(last)
            (-0.5 * z * z - 0.9189385).sum(-1)
            return last + z
        log_prob = last.log_softmax(-1)
        action = torch.multinomial(log_prob.exp(), 1)
        log_prob.gather(-1, action), (log_prob * log_prob.exp()).sum(-1)
        return action.squeeze(-1)


def measure_policies(rounds):
    """Prints what a step costs with networks of two hidden layers of 64 that choose, or draw, the actions."""
    import torch

    print("| id | envs | threads | us per step of all: torch, chooses | rollout | torch / rollout | and in CPU time | "
          "torch, draws | rollout | torch / rollout | and in CPU time |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for id, num_envs, steps in POLICIES:
        for num_threads in (1, 2):
            torch.set_num_threads(num_threads)
            envs = [cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0) for _ in range(4)]
            space = envs[0].single_action_space
            sizes = [math.prod(envs[0].single_observation_space.shape), 64, 64]
            outputs = math.prod(space.shape) if space.shape else int(space.n)
            networks = [torch.nn.Sequential(*[part for n, m in itertools.pairwise([*sizes, last])
                                              for part in (torch.nn.Linear(n, m), torch.nn.Tanh())][:-1])
                        for last in (outputs, 1)]
            policy, value = ([[part.weight for part in each[::2]], [part.bias for part in each[::2]]]
                             for each in networks)
            drawn = {"output": "gaussian", "log_std": np.zeros(outputs)} if space.shape else {"output": "categorical"}
            chooses = cypool.MLP(envs[0].env_spec, *policy)
            draws = cypool.MLP(envs[0].env_spec, *policy, value=value, **drawn)
            for env in envs:
                env.reset()
            candidates = [TorchLoop(envs[0], networks[0], None, steps).run,
                          partial(envs[1].rollout, steps, policy=chooses),
                          TorchLoop(envs[2], *networks, steps).run, partial(envs[3].rollout, steps, policy=draws)]
            taken = np.zeros((rounds + 1, len(candidates), 2))
            for row in taken:
                for k, candidate in enumerate(candidates):
                    begun = time.perf_counter(), time.process_time()
                    candidate()
                    row[k] = time.perf_counter() - begun[0], time.process_time() - begun[1]
            # the first round warms up
            wall, cpu = np.moveaxis(taken[1:], -1, 0)
            cells = []
            for k in (0, 2):
                cells += [f"{np.median(wall[:, k + j]) / steps * 1e6:.1f}" for j in (0, 1)]
                cells += [f"{np.median(each[:, k] / each[:, k + 1]):.2f}" for each in (wall, cpu)]
            print(f"| {id} | {num_envs} | {num_threads} | {' | '.join(cells)} |", flush=True)
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
