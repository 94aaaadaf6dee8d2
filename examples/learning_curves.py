r"""Runs the same PPO on environments from different libraries, and compares returns and times.

    pip install torch matplotlib, and the packages to compare: envpool, gymnasium[atari], gymnasium[mujoco], dm_control
    python examples/learning_curves.py --env-id CartPole-v1 --total-timesteps 100000 --seeds 0 1 2
    python examples/learning_curves.py --env-id dm_control/cartpole-swingup-v0 --candidates cypool dm_control
    python examples/learning_curves.py --env-id MiniGrid-DoorKey-8x8-v0 --total-timesteps 1000000 --num-envs 64
    python examples/learning_curves.py --env-id LunarLander-v3 --num-steps 256 --num-envs 16 --update-epochs 4 \
        --num-minibatches 32 --gamma 0.995 --learning-rate 1e-3 --entropy 0.01 --normalize --total-timesteps 400000

    python examples/learning_curves.py --draw docs/data/learning_cartpole.csv docs/data/learning_cartpole_fast.csv \
        --env-id CartPole-v1

It writes a CSV file, which begins with the command, the machine and the versions and has a row for each rollout, and
next to it a plot of return over steps and over seconds. Candidates take turns, seed by seed; with the same seed,
candidates with identical episodes learn identically, row for row. With --draw, it does not train, and only plots the
curves from such files or from those of ppo_fast.py.
"""
import argparse
import csv
import math
import platform
import sys
import time
from collections import deque
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers.utils import RunningMeanStd
from torch import nn
from torch.distributions import Categorical, Normal

import cypool


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="CartPole-v1")
    parser.add_argument("--candidates", nargs="+", choices=CANDIDATES, default=["cypool", "gymnasium-sync"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--total-timesteps", type=int, default=100_000)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--num-steps", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--update-epochs", type=int, default=4)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--entropy", type=float, default=0.01, help="weight of the policy's entropy")
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--image-size", type=int, default=84, help="size of Atari images; below 84, a smaller network")
    parser.add_argument("--normalize", action="store_true", help="normalize observations and rewards")
    parser.add_argument("--torch-threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", default="learning_curves.csv")
    parser.add_argument("--draw", nargs="+", metavar="CSV", help="only draw the curves from these files")
    return parser.parse_args()


def is_atari(id):
    return "lives" in cypool.make_spec(id).info


def is_grid(id):
    return id.startswith(("MiniGrid-", "BabyAI-"))


def is_dm_control(id):
    return id.startswith("dm_control/")


def pool_options(args, **options):
    size = args.image_size
    if is_dm_control(args.env_id):
        return {"flat_observation": True}
    if is_grid(args.env_id):
        return {"obs_type": "onehot", "image_only": True}
    return {"reward_clip": True, "img_height": size, "img_width": size, **options} if is_atari(args.env_id) else {}


def make_cypool(preset, **options):
    def make(args, seed):
        return cypool.make(args.env_id, num_envs=args.num_envs, seed=seed,
                           **pool_options(args, preset=preset, **options))

    return make


def make_envpool(args, seed):
    import envpool

    return envpool.make_gymnasium(args.env_id, num_envs=args.num_envs, seed=seed, **pool_options(args))


def gymnasium_env(args):
    if is_grid(args.env_id):
        from minigrid.wrappers import ImgObsWrapper, OneHotPartialObsWrapper

        return ImgObsWrapper(OneHotPartialObsWrapper(gymnasium.make(args.env_id)))
    if not is_atari(args.env_id):
        return gymnasium.make(args.env_id)
    import ale_py
    from gymnasium.wrappers import AtariPreprocessing, ClipReward, FrameStackObservation

    gymnasium.register_envs(ale_py)
    env = gymnasium.make(f"ALE/{args.env_id}", frameskip=1, repeat_action_probability=0.0)
    return FrameStackObservation(ClipReward(AtariPreprocessing(env, screen_size=args.image_size), -1, 1), 4)


def make_gymnasium(vector):
    def make(args, seed):
        return vector([lambda: gymnasium_env(args) for _ in range(args.num_envs)])

    return make


class DmControl:
    """dm_control's own environments, stepped in sequence; the step after an end resets, as in dm_control."""

    def __init__(self, args, seed):
        from dm_control import suite

        domain, task = args.env_id.removeprefix("dm_control/").removesuffix("-v0").split("-")
        self.envs = [suite.load(domain, task, {"random": seed + k}, {"flat_observation": True})
                     for k in range(args.num_envs)]

    def reset(self):
        return np.stack([env.reset().observation["observations"] for env in self.envs]), {}

    def step(self, actions):
        results = [env.step(action) for env, action in zip(self.envs, actions, strict=True)]
        reward = np.array([result.reward or 0.0 for result in results])
        terminated, truncated = (np.array([result.last() and result.discount == discount for result in results])
                                 for discount in (0, 1))
        return np.stack([result.observation["observations"] for result in results]), reward, terminated, truncated, {}

    def close(self):
        for env in self.envs:
            env.close()


# Atari games begin and end as in Gymnasium, or as in EnvPool
CANDIDATES = {"cypool": make_cypool("gymnasium", repeat_action_probability=0.0),
              "cypool-as-envpool": make_cypool("envpool"), "envpool": make_envpool,
              "gymnasium-sync": make_gymnasium(SyncVectorEnv), "gymnasium-async": make_gymnasium(AsyncVectorEnv),
              "dm_control": DmControl}


def layer(module, std=2**0.5):
    nn.init.orthogonal_(module.weight, std)
    nn.init.zeros_(module.bias)
    return module


def image_body(size):
    """The network of Mnih et al. (2015) for 84 x 84; for smaller images, a small one, ten times as fast at 42 x 42."""
    if size == 84:
        layers, width = [(4, 32, 8, 4), (32, 64, 4, 2), (64, 64, 3, 1)], 512
    else:
        layers, width = [(4, 16, 4, 2), (16, 32, 4, 2), (32, 32, 3, 2)], 256
    parts = []
    for sizes in layers:
        parts += [layer(nn.Conv2d(*sizes)), nn.ReLU()]
        size = (size - sizes[2]) // sizes[3] + 1
    return nn.Sequential(*parts, nn.Flatten(), layer(nn.Linear(layers[-1][1] * size**2, width)), nn.ReLU()), width


class Agent(nn.Module):
    """Policy and value of observations; images are normalized by the mean and deviation of the first ones."""

    def __init__(self, args, first_obs):
        super().__init__()
        own = pool_options(args) if is_grid(args.env_id) or is_dm_control(args.env_id) else {}
        spec = cypool.make_spec(args.env_id, **own)
        self.is_image, self.is_discrete = is_atari(args.env_id), hasattr(spec.action, "n")
        num_outputs = spec.action.n if self.is_discrete else spec.action.shape[0]
        if self.is_image:
            self.mean, self.std = float(first_obs[:, -1].mean()), float(first_obs[:, -1].std())
            self.body, width = image_body(args.image_size)
            self.actor, self.critic = layer(nn.Linear(width, num_outputs), 0.01), layer(nn.Linear(width, 1), 1.0)
        else:
            self.body = nn.Flatten()
            self.actor, self.critic = (
                nn.Sequential(layer(nn.Linear(math.prod(spec.observation.shape), 64)), nn.Tanh(),
                              layer(nn.Linear(64, 64)), nn.Tanh(), layer(nn.Linear(64, outputs), std))
                for outputs, std in ((num_outputs, 0.01), (1, 1.0)))
        self.log_std = nn.Parameter(torch.zeros(num_outputs))

    def forward(self, obs):
        hidden = self.body((obs - self.mean) / self.std if self.is_image else obs.float())
        out = self.actor(hidden)
        policy = Categorical(logits=out) if self.is_discrete else Normal(out, self.log_std.exp())
        return policy, self.critic(hidden).squeeze(-1)


class Normalizer:
    """Normalizes observations and rewards if `args.normalize` is set, in the same way for all candidates."""

    def __init__(self, args, obs_shape):
        self.is_on, self.gamma = args.normalize, args.gamma
        self.obs, self.returns = RunningMeanStd(shape=obs_shape), RunningMeanStd()
        self.going = np.zeros(args.num_envs)

    def observation(self, obs):
        if not self.is_on:
            return obs
        self.obs.update(obs)
        return np.clip((obs - self.obs.mean) / np.sqrt(self.obs.var + 1e-8), -10, 10).astype(np.float32)

    def reward(self, reward, over):
        if not self.is_on:
            return reward
        self.going = self.going * self.gamma + reward
        self.returns.update(self.going)
        self.going[over] = 0
        return np.clip(reward / np.sqrt(self.returns.var + 1e-8), -10, 10)


def logprob(policy, action):
    found = policy.log_prob(action)
    return found.sum(-1) if found.ndim > 1 else found


def learn(args, candidate, seed):
    """Yields (steps, seconds, seconds in environments, mean return of the last 20 episodes) after each rollout."""
    np.random.seed(seed)
    torch.manual_seed(seed)
    envs = CANDIDATES[candidate](args, seed)
    space = cypool.make_spec(args.env_id).action
    episodes, returns = deque(maxlen=20), np.zeros(args.num_envs)
    began, in_envs = time.perf_counter(), 0.0
    # only Gymnasium's environments take the seed here; the others already have it
    first_obs = envs.reset(**({"seed": seed} if "gymnasium" in candidate else {}))[0]
    # this layout makes convolutions faster on a CPU
    agent = Agent(args, first_obs).to(args.device, memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    normalizer = Normalizer(args, first_obs.shape[1:])
    obs = torch.from_numpy(normalizer.observation(first_obs)).to(args.device)
    was_over = np.zeros(args.num_envs, bool)
    rollout_size = args.num_steps * args.num_envs
    num_updates = args.total_timesteps // rollout_size
    for update in range(num_updates):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - update / num_updates)
        steps = []
        for _ in range(args.num_steps):
            with torch.no_grad():
                policy, value = agent(obs)
            action = policy.sample()
            chosen = action.cpu().numpy()
            if not agent.is_discrete:
                middle, half = (space.low + space.high) / 2, (space.high - space.low) / 2
                chosen = np.clip(middle + half * chosen, space.low, space.high).astype(space.dtype)
            start = time.perf_counter()
            next_obs, reward, terminated, truncated, _ = envs.step(chosen)
            in_envs += time.perf_counter() - start
            over = terminated | truncated
            returns += reward
            episodes.extend(returns[over].tolist())
            returns[over] = 0
            following = torch.from_numpy(normalizer.observation(next_obs)).to(args.device)
            rewards = torch.from_numpy(np.asarray(normalizer.reward(reward, over), np.float32)).to(args.device)
            # a time limit is not a real end: add the value of the last observation
            cut = torch.from_numpy(truncated & ~terminated).to(args.device)
            if cut.any():
                with torch.no_grad():
                    rewards[cut] += args.gamma * agent(following[cut])[1]
            # the step after an end returns the next episode's first observation, and is not a transition
            steps.append((obs, action, logprob(policy, action), value, rewards, torch.from_numpy(over).to(args.device),
                          torch.from_numpy(~was_over).to(args.device)))
            obs, was_over = following, over
        b_obs, actions, logprobs, values, rewards, ends, real = map(torch.stack, zip(*steps, strict=True))
        with torch.no_grad():
            coming = agent(obs)[1]
        advantages, last = torch.zeros_like(rewards), torch.zeros_like(coming)
        for t in reversed(range(args.num_steps)):
            going = (~ends[t]).float()
            delta = rewards[t] + args.gamma * coming * going - values[t]
            advantages[t] = last = delta + args.gamma * 0.95 * going * last
            coming = values[t]
        flat = [part.flatten(0, 1)[real.flatten()]
                for part in (b_obs, actions, logprobs, advantages, advantages + values)]
        for _ in range(args.update_epochs):
            for rows in torch.randperm(len(flat[0]), device=args.device).chunk(args.num_minibatches):
                some_obs, some_actions, some_logprobs, some_advantages, some_returns = (part[rows] for part in flat)
                policy, value = agent(some_obs)
                ratio = (logprob(policy, some_actions) - some_logprobs).exp()
                some_advantages = (some_advantages - some_advantages.mean()) / (some_advantages.std() + 1e-8)
                gain = torch.min(some_advantages * ratio, some_advantages * ratio.clamp(0.8, 1.2)).mean()
                loss = 0.5 * ((value - some_returns) ** 2).mean() - gain - args.entropy * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        yield ((update + 1) * rollout_size, time.perf_counter() - began, in_envs,
               np.mean(episodes) if episodes else float("nan"))
    envs.close()


def versions():
    found = [f"{platform.platform()}, {platform.machine()}, python {platform.python_version()}"]
    for name in ("cypool", "envpool", "gymnasium", "ale-py", "mujoco", "dm_control", "numpy", "torch"):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


def draw(rows, args):
    """Plots return over steps and over seconds, with a line for each candidate and seed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True)
    seeds = sorted({row[1] for row in rows})
    for k, candidate in enumerate(dict.fromkeys(row[0] for row in rows)):
        for seed in seeds:
            own = [row for row in rows if row[0] == candidate and row[1] == seed]
            for axis, column in zip(axes, (2, 3), strict=True):
                axis.plot([row[column] for row in own], [row[5] for row in own], f"C{k}", alpha=0.7,
                          linestyle=["-", "--", ":", "-."][k % 4], label=candidate if seed == seeds[0] else None)
    axes[0].set(xlabel="steps", ylabel=f"return in {args.env_id}")
    axes[1].set(xlabel="seconds")
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(Path(args.out).with_suffix(".png"), dpi=100)


def read(path):
    """Returns the rows of a CSV file for `draw`. Files of ppo_fast.py do not name a candidate."""
    with open(path, newline="") as file:
        table = csv.DictReader(line for line in file if not line.startswith("#"))
        return [(row.get("candidate", "ppo_fast"), int(row["seed"]), int(row["step"]), float(row["seconds"]), None,
                 float(row["return"])) for row in table]


def main():
    args = parse_args()
    if args.draw:
        draw([row for path in args.draw for row in read(path)], args)
        return
    args.total_timesteps -= args.total_timesteps % (args.num_steps * args.num_envs)
    torch.set_num_threads(args.torch_threads)
    rows = []
    for k, seed in enumerate(args.seeds):
        # alternate the order, in case the machine gets slower or faster
        for candidate in args.candidates[::-1] if k % 2 else args.candidates:
            tenth = 0
            for steps, seconds, in_envs, mean in learn(args, candidate, seed):
                rows.append((candidate, seed, steps, seconds, in_envs, mean))
                if steps * 10 // args.total_timesteps > tenth:
                    tenth = steps * 10 // args.total_timesteps
                    print(f"{candidate}, seed {seed}: return {mean:.2f} after {steps:,} steps and {seconds:.1f} s, "
                          f"{in_envs:.1f} s of them in environments", flush=True)
    with open(args.out, "w", newline="") as file:
        file.write(f"# {' '.join(['python', *sys.argv])}\n# {versions()}\n")
        table = csv.writer(file)
        table.writerow(["candidate", "seed", "step", "seconds", "seconds_in_envs", "return"])
        for candidate, seed, steps, seconds, in_envs, mean in rows:
            table.writerow([candidate, seed, steps, f"{seconds:.2f}", f"{in_envs:.2f}", f"{mean:.3f}"])
    draw(rows, args)


if __name__ == "__main__":
    main()
