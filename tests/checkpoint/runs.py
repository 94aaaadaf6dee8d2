"""Training runs that are interrupted: each is made, makes steps, and has a digest of all that it saw."""
import hashlib

import numpy as np

import cypool


class Run:
    """A run of an agent in NumPy: a pool with a replay buffer, a history and a policy, and a pool that normalizes.

    Args:
        id, options: Of the environments.
        buffer: Arguments of the replay buffer.
    """

    def __init__(self, id="CartPole-v1", options=(), **buffer):
        self.env = cypool.make(id, num_envs=4, num_threads=1, seed=0, **dict(options))
        self.buffer = cypool.ReplayBuffer(self.env, 600, seed=1, **buffer)
        self.alpha = buffer.get("alpha", 0)
        self.normalized = cypool.make("Pendulum-v1", num_envs=3, seed=2, normalize_obs=True, normalize_reward=True)
        self.rng = np.random.default_rng(3)
        self.policy = cypool.MLP(self.env.env_spec, *self.layers(self.drawn()), output="categorical", seed=4)
        self.weights, self.speed = self.drawn(), np.zeros((2, 4))
        self.history = None
        self.digest = hashlib.sha256()

    def drawn(self):
        return self.rng.normal(size=(2, 4))

    def layers(self, weights):
        return [weights], [np.zeros(2)]

    def begin(self):
        self.obs, _ = self.buffer.reset()
        self.history = cypool.history(self.env, every=40)
        self.normalized.action_space.seed(5)
        self.normalized.reset()

    def step(self):
        self.policy.update(*self.layers(self.weights))
        self.obs, reward, *_ = self.buffer.step(self.policy(self.obs))
        seen, scaled, *_ = self.normalized.step(self.normalized.action_space.sample())
        for array in (self.obs, reward, seen, scaled):
            self.digest.update(array.tobytes())
        if len(self.buffer) < 40:
            return
        batch = self.buffer.sample(16)
        obs, action, reward, next_obs, discount = (
            batch.obs, batch.action, batch.reward, batch.next_obs, batch.discount)
        if next_obs is None:
            obs, next_obs = obs[:, 0], obs[:, 1]
            action, reward, discount = action[:, 0], reward[:, 0], discount[:, 0]
        values = obs @ self.weights.T
        errors = reward + discount * (next_obs @ self.weights.T).max(1) - values[np.arange(16), action]
        self.speed *= 0.9
        steps = 1e-3 * np.clip(errors, -1, 1)[:, None] * obs
        np.add.at(self.speed, action, steps + 1e-6 * self.rng.normal(size=(16, 4)))
        self.weights = self.weights + self.speed
        for array in (batch.index, batch.weight, batch.is_first, errors, self.weights):
            self.digest.update(array.tobytes())
        if self.alpha:
            self.buffer.update_priorities(batch.index, abs(errors))

    def steps(self, count):
        for _ in range(count):
            self.step()
        return self.digest.hexdigest()

    def parts(self):
        return {"env": self.env, "buffer": self.buffer, "policy": self.policy, "normalized": self.normalized,
                "rng": self.rng}

    def save(self, path):
        cypool.save_checkpoint(path, **self.parts(), history=self.history, weights=self.weights, speed=self.speed)
        # what follows is compared
        self.digest = hashlib.sha256()

    def load(self, path):
        saved = cypool.load_checkpoint(path, **self.parts())
        self.weights, self.speed, self.history = saved["weights"], saved["speed"], saved["history"]
        self.obs, _ = saved["env"]
        self.digest = hashlib.sha256()

    def end(self):
        """Returns the digest, with a state that the history puts the pool back to, from before the checkpoint."""
        self.history.seek(len(self.history) // 4)
        rows = [{**row, "episode_ns": 0} for row in self.env.save().rows]
        self.digest.update(repr((len(self.history), rows)).encode())
        return self.digest.hexdigest()


class TorchRun:
    """DQN in torch, with a policy that explores by torch's generator."""

    def __init__(self):
        import torch

        self.torch = torch
        torch.manual_seed(0)
        self.env = cypool.make("CartPole-v1", num_envs=4, seed=0, autoreset_mode="SameStep")
        self.buffer = cypool.ReplayBuffer(self.env, 1000, n_step=3, alpha=0.5, seed=1)
        make = torch.nn.Sequential
        self.network, self.target = (make(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
                                     for _ in "12")
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-3)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 100, 0.9)
        self.count = 0
        self.digest = hashlib.sha256()

    def begin(self):
        self.obs, _ = self.buffer.reset()

    def step(self):
        torch = self.torch
        if self.count % 50 == 0:
            self.target.load_state_dict(self.network.state_dict())
        with torch.no_grad():
            greedy = self.network(torch.from_numpy(self.obs)).argmax(1)
        explores = torch.rand(4) < 0.2
        action = torch.where(explores, torch.randint(2, (4,)), greedy).numpy()
        self.obs, *_ = self.buffer.step(action)
        self.count += 1
        self.digest.update(self.obs.tobytes())
        if len(self.buffer) < 40:
            return
        batch = self.buffer.sample(32)
        obs, next_obs, discount = map(torch.from_numpy, (batch.obs, batch.next_obs, batch.discount))
        with torch.no_grad():
            wanted = torch.from_numpy(batch.reward) + discount * self.target(next_obs).max(1).values
        errors = wanted - self.network(obs)[torch.arange(32), torch.from_numpy(batch.action)]
        loss = (torch.from_numpy(batch.weight) * errors.square()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.buffer.update_priorities(batch.index, errors.detach().abs().numpy())
        self.digest.update(loss.detach().numpy().tobytes())

    def steps(self, count):
        for _ in range(count):
            self.step()
        return self.digest.hexdigest()

    def parts(self):
        return {"env": self.env, "buffer": self.buffer, "network": self.network, "target": self.target,
                "optimizer": self.optimizer, "scheduler": self.scheduler, "torch": self.torch.default_generator}

    def save(self, path):
        cypool.save_checkpoint(path, **self.parts(), count=self.count)
        self.digest = hashlib.sha256()

    def load(self, path):
        saved = cypool.load_checkpoint(path, **self.parts())
        self.count, (self.obs, _) = saved["count"], saved["env"]
        self.digest = hashlib.sha256()

    def end(self):
        for tensor in self.network.state_dict().values():
            self.digest.update(tensor.numpy().tobytes())
        return self.digest.hexdigest()
