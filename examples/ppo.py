"""PPO in one file, in four variants: pip install torch "cypool[atari]", then python examples/ppo.py atari

    python examples/ppo.py atari --env-id Pong-v5
    python examples/ppo.py async          # Atari with an asynchronous pool
    python examples/ppo.py continuous --env-id HalfCheetah-v5 --gamma 0.99 --total-timesteps 500000
    python examples/ppo.py pixels         # the DeepMind Control Suite, from images: pip install "cypool[dm-control]"

`python examples/ppo.py atari --help` lists the settings. The mean return of the last 20 episodes is printed, and
written to a CSV file with steps and seconds.
"""
import argparse
import csv
import random
import time
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal

import cypool

ALL = {"seed": 1, "device": "cuda" if torch.cuda.is_available() else "cpu", "csv": "ppo.csv", "gae_lambda": 0.95,
       "vf_coef": 0.5, "max_grad_norm": 0.5}
ATARI = {**ALL, "env_id": "Pong-v5", "total_timesteps": 10_000_000, "learning_rate": 2.5e-4, "num_envs": 8,
         "num_steps": 128, "num_minibatches": 4, "update_epochs": 4, "gamma": 0.99, "clip_coef": 0.1, "ent_coef": 0.01}
VARIANTS = {
    "atari": ATARI,
    # the network acts for `batch_size` environments while the others step
    "async": {**ATARI, "num_envs": 16, "batch_size": 8},
    "continuous": {**ALL, "env_id": "Pendulum-v1", "total_timesteps": 1_000_000, "learning_rate": 1e-3, "num_envs": 16,
                   "num_steps": 128, "num_minibatches": 16, "update_epochs": 10, "gamma": 0.95, "clip_coef": 0.2,
                   "ent_coef": 0.0},
    # with software rendering, most of the time goes into rendering: 230 steps per second on two cores. Each step
    # repeats its action
    "pixels": {**ALL, "env_id": "dm_control/cartpole-balance-v0", "total_timesteps": 50_000, "learning_rate": 7e-4,
               "num_envs": 16, "num_steps": 32, "num_minibatches": 4, "update_epochs": 6, "gamma": 0.97,
               "clip_coef": 0.2, "ent_coef": 0.0, "action_repeat": 8},
}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    variants = parser.add_subparsers(dest="variant", required=True)
    for variant, settings in VARIANTS.items():
        added = variants.add_parser(variant)
        for name, default in settings.items():
            added.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default,
                               help=f"default: {default}")
    return parser.parse_args()


def make_pool(args):
    # the step that ends an episode also starts the next, so every row is a transition
    settings = {"num_envs": args.num_envs, "seed": args.seed, "autoreset_mode": "SameStep", "episode_statistics": True}
    if args.variant == "continuous":
        pool = cypool.make(args.env_id, normalize_obs=True, normalize_reward=True, **settings)
        pool.gamma = args.gamma
        return pool
    if args.variant == "pixels":
        return cypool.make(args.env_id, from_pixels=True, width=84, height=84, camera_id=0, frame_stack=3,
                           action_repeat=args.action_repeat, shadows=False, **settings)
    if args.variant == "async":
        settings["batch_size"] = args.batch_size
    return cypool.make(args.env_id, episodic_life=True, reward_clip=True, **settings)


def layer(module, std=2**0.5):
    nn.init.orthogonal_(module.weight, std)
    nn.init.zeros_(module.bias)
    return module


class AtariAgent(nn.Module):
    """Policy and value for (n, 4, 84, 84) frames."""

    def __init__(self, num_actions):
        super().__init__()
        self.body = nn.Sequential(
            layer(nn.Conv2d(4, 32, 8, stride=4)), nn.ReLU(), layer(nn.Conv2d(32, 64, 4, stride=2)), nn.ReLU(),
            layer(nn.Conv2d(64, 64, 3)), nn.ReLU(), nn.Flatten(), layer(nn.Linear(64 * 7 * 7, 512)), nn.ReLU())
        self.actor = layer(nn.Linear(512, num_actions), 0.01)
        self.critic = layer(nn.Linear(512, 1), 1.0)

    def forward(self, obs):
        hidden = self.body(obs / 255)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


class PixelAgent(nn.Module):
    """Policy and value for (n, 84, 84, 9) pixels."""

    def __init__(self, num_actions):
        super().__init__()
        self.body = nn.Sequential(
            layer(nn.Conv2d(9, 16, 8, stride=4)), nn.ReLU(), layer(nn.Conv2d(16, 32, 4, stride=2)), nn.ReLU(),
            nn.Flatten(), layer(nn.Linear(32 * 9 * 9, 128)), nn.ReLU())
        self.mean = layer(nn.Linear(128, num_actions), 0.01)
        self.log_std = nn.Parameter(torch.full((num_actions,), -0.5))
        self.critic = layer(nn.Linear(128, 1), 1.0)

    def forward(self, obs):
        hidden = self.body(obs.permute(0, 3, 1, 2) / 255 - 0.5)
        return Independent(Normal(self.mean(hidden), self.log_std.exp()), 1), self.critic(hidden).squeeze(-1)


class ContinuousAgent(nn.Module):
    """Policy and value for (n, num_obs) numbers."""

    def __init__(self, num_obs, num_actions):
        super().__init__()

        def net(out, std):
            return nn.Sequential(layer(nn.Linear(num_obs, 64)), nn.Tanh(), layer(nn.Linear(64, 64)), nn.Tanh(),
                                 layer(nn.Linear(64, out), std))

        self.mean = net(num_actions, 0.01)
        self.log_std = nn.Parameter(torch.zeros(num_actions))
        self.critic = net(1, 1.0)

    def forward(self, obs):
        return Independent(Normal(self.mean(obs), self.log_std.exp()), 1), self.critic(obs).squeeze(-1)


class Observations:
    """The observations of a rollout, with the methods of `rollout_buffers(..., frames="once")`."""

    def __init__(self, shape, space, device):
        dtype = torch.uint8 if space.dtype == np.uint8 else torch.float32
        self.rows = torch.zeros(*shape, *space.shape, dtype=dtype, device=device)

    def begin(self, obs):
        self.at, self.rows[0] = 0, obs

    def add(self, obs):
        self.at += 1
        if self.at < len(self.rows):
            self.rows[self.at] = obs

    def stacks(self, index):
        return self.rows.flatten(0, 1)[index]


class Rollout:
    """Steps all environments with the agent, `num_steps` times, and keeps what the update needs."""

    def __init__(self, args, agent):
        self.args, self.agent, self.device = args, agent, torch.device(args.device)
        self.shape = shape = (args.num_steps, args.num_envs)
        self.logprobs, self.rewards, self.values, self.ends = (torch.zeros(shape, device=self.device) for _ in range(4))
        self.episodes, self.returns = deque(maxlen=20), np.zeros(args.num_envs)

    def begin(self, pool):
        self.envs, space = pool.torch(self.device), pool.single_action_space
        self.is_discrete = hasattr(space, "n")
        if self.is_discrete:
            self.actions = torch.zeros(self.shape, dtype=torch.int64, device=self.device)
            # stores each frame once, on the device
            self.obs = self.envs.rollout_buffers(self.args.num_steps, frames="once")
        else:
            self.actions = torch.zeros(*self.shape, *space.shape, device=self.device)
            self.low, self.high = (torch.tensor(bound, device=self.device) for bound in (space.low, space.high))
            self.obs = Observations(self.shape, self.seen(pool.single_observation_space), self.device)
        self.next_obs = self.seen(self.envs.reset()[0])

    def seen(self, obs):
        return obs["pixels"] if self.args.variant == "pixels" else obs

    def to_env(self, action):
        if self.is_discrete:
            return action
        # relative to the middle of the action space, in units of half its width, and clipped to its bounds
        return ((self.low + self.high) / 2 + action * (self.high - self.low) / 2).clamp(self.low, self.high)

    def count_episodes(self, info, ids):
        """Adds the returns of finished episodes. If each episode is one life, a game ends with the last life."""
        ended, final = info["_episode"], info["final_info"]
        self.returns[ids[ended]] += info["episode"]["r"][ended]
        over = ids[ended & (final["lives"] == 0) if "lives" in final else ended]
        self.episodes.extend(self.returns[over].tolist())
        self.returns[over] = 0

    @torch.no_grad()
    def collect(self):
        obs, scale = self.next_obs, 1
        if self.args.variant == "pixels":
            # take a mean, which does not depend on how often an action is repeated; values are then at most 1, and
            # their loss does not dominate the policy's
            scale = (1 - self.args.gamma) / self.args.action_repeat
        self.obs.begin(obs)
        for t in range(self.args.num_steps):
            policy, self.values[t] = self.agent(obs)
            self.actions[t] = policy.sample()
            self.logprobs[t] = policy.log_prob(self.actions[t])
            obs, reward, terminated, truncated, info = self.envs.step(self.to_env(self.actions[t]))
            obs = self.seen(obs)
            self.obs.add(obs)
            self.rewards[t], self.ends[t] = reward * scale, terminated | truncated
            if "_final_obs" in info:
                # a time limit is not a real end: add the value of the last observation
                cut = truncated & ~terminated
                if cut.any():
                    beyond = self.agent(self.seen(info["final_obs"])[cut[info["_final_obs"]]])[1]
                    self.rewards[t, cut] += self.args.gamma * beyond
                self.count_episodes(info, np.arange(self.args.num_envs))
        self.next_obs = obs


class AsyncRollout(Rollout):
    """While the network acts for the environments that finished first, the others step.

    An environment that has completed its part of a rollout waits for the others, so each rollout uses a single policy.
    """

    def begin(self, pool):
        self.envs = pool
        self.actions = torch.zeros(self.shape, dtype=torch.int64, device=self.device)
        self.obs = Observations(self.shape, pool.single_observation_space, self.device)
        self.next_obs = torch.zeros_like(self.obs.rows[0])
        # how many steps of this rollout each has done; the very first row comes from a reset
        self.filled = np.full(self.args.num_envs, -1)
        pool.async_reset()

    def on_device(self, array):
        return torch.from_numpy(array).to(self.device)

    def act(self, ids, obs):
        at = self.on_device(self.filled[ids]), self.on_device(ids).long()
        policy, value = self.agent(obs)
        action = policy.sample()
        self.obs.rows[at], self.actions[at], self.values[at] = obs, action, value
        self.logprobs[at] = policy.log_prob(action)
        self.envs.send(action.cpu().numpy(), ids)

    @torch.no_grad()
    def collect(self):
        if (self.filled == self.args.num_steps).all():
            # continue from the last rollout with the new policy
            self.filled[:] = 0
            self.act(self.envs.all_env_ids, self.next_obs)
        while (self.filled < self.args.num_steps).any():
            obs, reward, terminated, truncated, info = self.envs.recv()
            ids, obs = info["env_id"], self.on_device(obs)
            self.next_obs[self.on_device(ids).long()] = obs
            stepped = self.filled[ids] >= 0
            before = self.on_device(self.filled[ids][stepped]), self.on_device(ids[stepped]).long()
            self.rewards[before] = self.on_device(reward[stepped]).float()
            self.ends[before] = self.on_device((terminated | truncated)[stepped]).float()
            if "_final_obs" in info:
                cut = np.flatnonzero(truncated & ~terminated)
                if cut.size:
                    beyond = self.agent(self.on_device(np.stack(info["final_obs"][cut])))[1]
                    at = self.on_device(self.filled[ids[cut]]), self.on_device(ids[cut]).long()
                    self.rewards[at] += self.args.gamma * beyond
                self.count_episodes(info, ids)
            self.filled[ids] += 1
            going = self.filled[ids] < self.args.num_steps
            if going.any():
                self.act(ids[going], obs[self.on_device(going)])


@torch.no_grad()
def advantages_of(rollout, args):
    """Returns generalized advantage estimates."""
    following = rollout.agent(rollout.next_obs)[1]
    advantages, last = torch.zeros_like(rollout.rewards), torch.zeros_like(following)
    for t in reversed(range(args.num_steps)):
        going = 1 - rollout.ends[t]
        delta = rollout.rewards[t] + args.gamma * following * going - rollout.values[t]
        advantages[t] = last = delta + args.gamma * args.gae_lambda * going * last
        following = rollout.values[t]
    return advantages


def update(rollout, optimizer, args):
    advantages, agent = advantages_of(rollout, args), rollout.agent
    flat = [array.flatten(0, 1) for array in (rollout.actions, rollout.logprobs, advantages,
                                              advantages + rollout.values, rollout.values)]
    for _ in range(args.update_epochs):
        for rows in torch.randperm(advantages.numel(), device=rollout.device).chunk(args.num_minibatches):
            actions, logprobs, b_advantages, returns, values = (array[rows] for array in flat)
            policy, value = agent(rollout.obs.stacks(rows))
            ratio = (policy.log_prob(actions) - logprobs).exp()
            b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
            clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
            policy_loss = -torch.min(b_advantages * ratio, b_advantages * clipped).mean()
            value_loss = (value - returns) ** 2
            if isinstance(agent, AtariAgent):
                near = values + (value - values).clamp(-args.clip_coef, args.clip_coef)
                value_loss = torch.max(value_loss, (near - returns) ** 2)
            loss = policy_loss - args.ent_coef * policy.entropy().mean() + args.vf_coef * 0.5 * value_loss.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()


def main():
    args = parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    pool = make_pool(args)
    if args.variant == "continuous":
        agent = ContinuousAgent(pool.single_observation_space.shape[0], pool.single_action_space.shape[0])
    elif args.variant == "pixels":
        agent = PixelAgent(pool.single_action_space.shape[0])
    else:
        agent = AtariAgent(pool.single_action_space.n)
    agent.to(args.device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    rollout = (AsyncRollout if args.variant == "async" else Rollout)(args, agent)
    batch_size = args.num_steps * args.num_envs
    num_updates = args.total_timesteps // batch_size

    with open(args.csv, "w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["step", "seconds", "return"])
        began = time.perf_counter()
        rollout.begin(pool)
        for k in range(num_updates):
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - k / num_updates)
            rollout.collect()
            update(rollout, optimizer, args)
            step, seconds = (k + 1) * batch_size, time.perf_counter() - began
            mean = np.mean(rollout.episodes) if rollout.episodes else float("nan")
            log.writerow([step, f"{seconds:.1f}", f"{mean:.2f}"])
            file.flush()
            print(f"step {step:,} of {args.total_timesteps:,}: return {mean:.2f}, {step / seconds:,.0f} steps/s",
                  flush=True)
    pool.close()


if __name__ == "__main__":
    main()
