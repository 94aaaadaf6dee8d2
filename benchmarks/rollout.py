"""Compares `rollout` with a loop over `step` and, for robots, with `mujoco.rollout`.

    python benchmarks/rollout.py
    python benchmarks/rollout.py --table copies
    python benchmarks/rollout.py --table policy

Prints microseconds for a step of all environments, with one thread and with two. "last" returns only the last
observation, and mujoco.rollout computes only states, without observations and rewards. `--table copies` measures `copy`
to one environment, and `load` of a saved state. `--table policy` compares rollouts with `cypool.MLP` to loops over
`step` with the same networks in torch, which choose actions or draw them.
"""
import itertools
import math
from functools import partial

import numpy as np
from measuring import Table, chosen, parser, random_actions, repeated, show

import cypool

RUNS = [("CartPole-v1", 1, 128), ("CartPole-v1", 64, 128), ("CartPole-v1", 1024, 128), ("Pong-v5", 16, 64),
        ("Ant-v5", 64, 32), ("HalfCheetah-v5", 64, 32), ("Humanoid-v5", 64, 32)]


def peer_of(env, num_threads, steps):
    """Returns a function in which `mujoco.rollout` takes as many steps of the same model, or None."""
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


def counted(steps, call, *args, **kwargs):
    """Returns a candidate: a call that takes this many steps."""
    return repeated(partial(call, *args, **kwargs), steps=steps)


def prepared(runs, arguments, count=1):
    """Yields for each run its label, its other parts, a number of threads, and pools that have been reset."""
    for id, num_envs, *rest in runs:
        for num_threads in (1, 2) if chosen([id], arguments.patterns) else ():
            envs = [cypool.make(id, num_envs=num_envs, num_threads=num_threads, seed=0) for _ in range(count)]
            for env in envs:
                env.reset()
            label = f"{id}, {num_envs}" + "".join(f" x {steps}" for steps in rest)
            yield f"{label}, {num_threads} threads", *rest, num_threads, *envs


def rollouts(arguments):
    for label, steps, num_threads, env in prepared(RUNS, arguments):
        actions = random_actions(env.single_action_space, steps, env.num_envs)
        peer = peer_of(env, num_threads, steps)

        def loop(env=env, actions=actions):
            for each in actions:
                env.step(each)

        yield label, {"rollout": counted(steps, env.rollout, actions), "loop": counted(steps, loop),
                      "last": counted(steps, env.rollout, actions, observe="last"),
                      "mujoco.rollout": counted(steps, peer) if peer else None}


COPIES = [("CartPole-v1", 1024), ("Taxi-v4", 1024), ("MiniGrid-DoorKey-8x8-v0", 64), ("Pong-v5", 64),
          ("MontezumaRevenge-v5", 64), ("Ant-v5", 64), ("Humanoid-v5", 64), ("dm_control/cheetah-run-v0", 64),
          ("LunarLander-v3", 64)]


def copies(arguments):
    for label, _, env in prepared(COPIES, arguments):
        targets, state = np.arange(1, env.num_envs), env.save([0])
        yield label, {"copy": counted(len(targets), env.copy, 0, targets), "load": counted(1, env.load, state, [0])}


POLICIES = [("CartPole-v1", 1, 128), ("CartPole-v1", 8, 128), ("CartPole-v1", 64, 64), ("CartPole-v1", 1024, 32),
            ("CartPole-v1", 4096, 16), ("Pendulum-v1", 1024, 32), ("Ant-v5", 64, 16)]


class TorchLoop:
    """A loop over `step` with torch networks, with as few calls as possible and without `torch.distributions`."""

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
        """Chooses or draws actions, and computes the data for a learner if there is a value network."""
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


def policies(arguments):
    """Networks have two hidden layers of 64."""
    import torch

    for label, steps, num_threads, *envs in prepared(POLICIES, arguments, 4):
        torch.set_num_threads(num_threads)
        space = envs[0].single_action_space
        sizes = [math.prod(envs[0].single_observation_space.shape), 64, 64]
        outputs = math.prod(space.shape) if space.shape else int(space.n)
        networks = [torch.nn.Sequential(*[part for n, m in itertools.pairwise([*sizes, last])
                                          for part in (torch.nn.Linear(n, m), torch.nn.Tanh())][:-1])
                    for last in (outputs, 1)]
        policy, value = ([[part.weight for part in each[::2]], [part.bias for part in each[::2]]] for each in networks)
        drawn = {"output": "gaussian", "log_std": np.zeros(outputs)} if space.shape else {"output": "categorical"}
        chooses = cypool.MLP(envs[0].env_spec, *policy)
        draws = cypool.MLP(envs[0].env_spec, *policy, value=value, **drawn)
        yield label, {"chooses": counted(steps, envs[1].rollout, steps, policy=chooses),
                      "torch chooses": counted(steps, TorchLoop(envs[0], networks[0], None, steps).run),
                      "draws": counted(steps, envs[3].rollout, steps, policy=draws),
                      "torch draws": counted(steps, TorchLoop(envs[2], *networks, steps).run)}


if __name__ == "__main__":
    show({"steps": Table(rollouts, ("rollout", "loop", "last", "mujoco.rollout"),
                         (("loop", "rollout"), ("loop", "last"), ("mujoco.rollout", "rollout")), ("wall",)),
          "copies": Table(copies, ("copy", "load"), clocks=("wall",)),
          "policy": Table(policies, ("chooses", "torch chooses", "draws", "torch draws"),
                          (("torch chooses", "chooses"), ("torch draws", "draws")), ("wall", "CPU"))},
         parser(__doc__, rounds=15, seconds=0.0))
