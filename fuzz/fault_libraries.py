"""More layers whose calls `fuzz_faults.py` interrupts: adapters, tree searches, buffers filled by libraries."""
import zlib
from types import SimpleNamespace

import numpy as np
from fault_layers import Hosted, Layer, Normalized, Pools, check_frames, check_steps, counting_id, expect

import cypool


class Walks:
    """Steps of counters, as a library makes them."""

    def __init__(self, num_envs):
        self.frames = np.zeros((num_envs, 3, 2), np.float32)
        self.frames[:, 2, 0] = 10_000 * np.arange(num_envs)
        self.reset(range(num_envs))

    def push(self, i, action):
        self.frames[i] = np.concatenate([self.frames[i, 1:], [[self.frames[i, 2, 0] + 1, action]]])

    def reset(self, ids):
        for i in ids:
            for _ in range(3):
                self.push(i, 0)

    def step(self, actions):
        """Returns (obs, action, reward, next_obs, terminated)."""
        obs = self.frames.copy()
        for i, (action,) in enumerate(actions):
            self.push(i, action)
        after, ended = self.frames.copy(), actions[:, 0] < 0
        self.reset(np.flatnonzero(ended))
        return SimpleNamespace(obs=obs, action=actions, reward=actions[:, 0].copy(), next_obs=after, terminated=ended,
                               truncated=np.zeros(len(ended), bool))


class Added(Layer):
    """Replay buffers with added steps: `ReplayBuffer.add`, and the buffers of libraries."""

    weight = 3
    may_fail = False

    def __init__(self, r, faults):
        super().__init__(r, faults)
        self.n, self.size = r.randrange(1, 4), r.choice([12, 60])
        self.env = self.closed = cypool.make(counting_id(), num_envs=self.n, num_threads=r.randrange(4),
                                             autoreset_mode="SameStep")
        self.walks, self.last = Walks(self.n), None
        self.make()

    def make(self):
        self.buffer = cypool.ReplayBuffer(self.env, 20 * self.n * self.size, gamma=0.5)

    def calls(self):
        return [self.add] * 6 + [self.sample] * 3

    def add(self):
        # a library may repeat a call that was broken off, or not
        if self.last is None or self.r.random() < 0.5:
            self.last = self.walks.step(self.actions(self.n))
        if self.call(f"add({self.last})", self.put, self.last):
            self.last = None

    def put(self, step):
        self.buffer.add(step.obs, step.action, step.reward, step.next_obs, step.terminated, step.truncated)

    def sample(self):
        self.is_dirty = self.is_dirty or self.serial == 0
        got = self.call("sample", self.drawn_if_any)
        if got:
            check_steps(*got[0], type(self).__name__)

    def drawn_if_any(self):
        if not self.num_rows():
            raise RuntimeError("no row")
        return self.drawn()

    def num_rows(self):
        return len(self.buffer)

    def drawn(self):
        sample = self.buffer.sample(16)
        return sample.obs, sample.action, sample.reward, sample.next_obs

    def works(self):
        self.last = None
        for _ in range(self.size // self.n + 2):
            self.put(self.walks.step(self.actions(self.n)))
        check_steps(*self.drawn(), f"{type(self).__name__} in the end")


class AddedToSB3(Added):
    needs = "stable_baselines3"

    def make(self):
        from cypool.adapters.sb3 import SB3VecEnv
        from cypool.adapters.sb3_replay import SB3ReplayBuffer
        env = SB3VecEnv(self.env)
        self.buffer = SB3ReplayBuffer(self.size, env.observation_space, env.action_space, "cpu", self.n, env=env,
                                      spare=2.0)

    def put(self, step):
        self.buffer.add(step.obs, step.next_obs, step.action, step.reward, step.terminated, [{}] * self.n)

    def num_rows(self):
        return self.buffer.size()

    def drawn(self):
        sample = self.buffer.sample(16)
        return (sample.observations.numpy(), sample.actions.numpy(), sample.rewards.numpy(),
                sample.next_observations.numpy())


class AddedToTianshou(Added):
    needs = "tianshou"

    def make(self):
        from cypool.adapters.tianshou import PoolVectorEnv
        from cypool.adapters.tianshou_replay import FrameReplayBuffer
        self.buffer = FrameReplayBuffer(PoolVectorEnv(self.env), self.size, spare=2.0)

    def put(self, step):
        from tianshou.data import Batch
        self.buffer.add(Batch(obs=step.obs, act=step.action, rew=step.reward, terminated=step.terminated,
                              truncated=step.truncated, obs_next=step.next_obs, info=Batch()))

    def drawn(self):
        sample, _ = self.buffer.sample(16)
        return sample.obs, sample.act, sample.rew, sample.obs_next


class AddedToTorchRL(Added):
    needs = "torchrl"

    def make(self):
        from torchrl.data import TensorDictReplayBuffer

        from cypool.adapters.torchrl import PoolEnv
        from cypool.adapters.torchrl_replay import FrameStorage
        self.size = self.size // self.n * self.n
        self.buffer = TensorDictReplayBuffer(storage=FrameStorage(PoolEnv(self.env), self.size, spare=2.0),
                                             batch_size=16)

    def put(self, step):
        import torch
        from tensordict import TensorDict
        flag = {key: torch.from_numpy(getattr(step, key))[:, None] for key in ("terminated", "truncated")}
        self.buffer.extend(TensorDict({
            "observation": torch.from_numpy(step.obs), "action": torch.from_numpy(step.action),
            "next": TensorDict({"observation": torch.from_numpy(step.next_obs), **flag, "done": flag["terminated"],
                                "reward": torch.from_numpy(step.reward)[:, None]}, [self.n])}, [self.n]))

    def drawn(self):
        sample = self.buffer.sample()
        after = sample["next"]
        return tuple(part.numpy() for part in (
            sample["observation"], sample["action"], after["reward"], after["observation"]))


class Frames(Layer):
    """`FrameBuffers`: observations that store each frame once."""

    def __init__(self, r, faults):
        super().__init__(r, faults)
        self.n = 2
        self.env = self.closed = cypool.make(counting_id(), num_envs=2)
        self.buffers = self.env.rollout_buffers(6, "once")
        # the rows that exist, or that may exist after a begin that was broken off
        self.walks, self.rows, self.maybe = Walks(2), None, []

    may_fail = False

    def calls(self):
        return [self.add] * 5 + [self.begin, self.check]

    def begin(self):
        self.walks.step(self.actions(2))
        self.maybe += [[self.walks.frames.copy()]] if self.rows is None else [self.rows, [self.walks.frames.copy()]]
        self.rows = None
        if self.call("begin", self.buffers.begin, self.walks.frames):
            self.rows, self.maybe = self.maybe[-1], []
        self.check()

    def add(self):
        if self.rows is None or len(self.rows) > 6:
            return
        self.walks.step(self.actions(2))
        got, length = self.call("add", self.buffers.add, self.walks.frames), len(self.buffers)
        if got or length > len(self.rows):
            self.rows.append(self.walks.frames.copy())

    def check(self):
        if self.rows is not None:
            expect(np.array_equal(self.buffers.stacks(), self.rows), "stacks")
        elif len(self.buffers):
            # one that was broken off has done all, or nothing
            found = self.buffers.stacks()
            expect(any(np.array_equal(found, rows) for rows in self.maybe), "stacks after an interrupted begin")

    def works(self):
        self.buffers.begin(self.walks.frames)
        self.buffers.add(self.walks.frames)
        expect(np.array_equal(self.buffers.stacks(), [self.walks.frames] * 2), "stacks in the end")


# ---- adapters

class Adapted(Layer):
    """A pool as a library's vector environment; this class uses PyTorch tensors."""

    needs = "torch"

    def __init__(self, r, faults):
        super().__init__(r, faults)
        self.n = r.randrange(1, 4)
        self.counts = None
        pool = cypool.make(counting_id(), num_envs=self.n, num_threads=r.randrange(4), seed=1,
                           autoreset_mode="SameStep")
        self.env = self.closed = self.adapter(pool)
        self.begin()

    may_fail = False

    def adapter(self, pool):
        return pool.torch()

    def calls(self):
        return [self.step] * 6 + [self.reset]

    def lost(self):
        super().lost()
        self.counts = None

    def begin(self):
        self.is_dirty = False
        self.take(self.reset_all())

    def take(self, obs):
        obs = np.asarray(obs)
        check_frames(obs, type(self).__name__)
        if self.counts is not None:
            expect(np.isin(obs[:, 2, 0] - self.counts, [1, 3, 4]).all(), "counts", obs[:, 2, 0], "after", self.counts)
        self.counts = obs[:, 2, 0].copy()

    def reset(self):
        self.counts = None
        got = self.call("reset", self.reset_all)
        if got:
            self.take(got[0])

    def step(self):
        actions = self.actions(self.n)
        got = self.call(f"step({actions.tolist()})", self.step_all, actions)
        if got:
            obs, reward = got[0]
            expect((np.asarray(reward).reshape(-1) == actions[:, 0]).all(), "rewards", reward, "of", actions.tolist())
            self.take(obs)

    def reset_all(self):
        return self.env.reset()[0]

    def step_all(self, actions):
        return self.env.step(actions)[:2]

    def works(self):
        self.begin()
        actions = np.abs(self.actions(self.n)) / 2
        obs, reward = self.step_all(actions)
        expect((np.asarray(reward).reshape(-1) == actions[:, 0]).all(), "rewards", reward, "of", actions.tolist())
        self.take(obs)


class AdaptedToSB3(Adapted):
    needs = "stable_baselines3"

    def adapter(self, pool):
        from cypool.adapters.sb3 import SB3VecEnv
        return SB3VecEnv(pool)

    def reset_all(self):
        return self.env.reset()


class AdaptedToTianshou(Adapted):
    """Resets ended environments itself, so the first observation has to be the one that the next step continues."""
    needs = "tianshou"

    def adapter(self, pool):
        from cypool.adapters.tianshou import PoolVectorEnv
        return PoolVectorEnv(pool)

    def step_all(self, actions):
        obs, reward, terminated, truncated, _ = self.env.step(actions)
        self.ended = np.flatnonzero(terminated | truncated)
        return obs, reward

    ended = ()

    def step(self):
        super().step()
        if len(self.ended):
            got = self.call(f"reset({self.ended})", self.env.reset, self.ended)
            if got:
                first = got[0][0]
                check_frames(first, "a first observation")
                expect((first[:, 2, 1] == 0).all(), "a first observation is", first.tolist())
                if self.counts is not None:
                    expect((first[:, 2, 0] - self.counts[self.ended] == 3).all(), "first", first.tolist(), self.counts)
                    self.counts[self.ended] = first[:, 2, 0]
                self.ended = ()


class AdaptedToTorchRL(Adapted):
    needs = "torchrl"

    def adapter(self, pool):
        from cypool.adapters.torchrl import PoolEnv
        return PoolEnv(pool)

    def reset_all(self):
        return self.env.reset()["observation"]

    def step_all(self, actions):
        import torch
        from tensordict import TensorDict
        given = TensorDict({"action": torch.from_numpy(actions)}, [self.n])
        after, following = self.env.step_and_maybe_reset(given)
        self.following = following
        return after["next", "observation"], after["next", "reward"]

    def step(self):
        self.following = None
        super().step()
        if self.following is not None and self.counts is not None:
            first = self.following["observation"].numpy()
            check_frames(first, "what follows")
            expect(np.isin(first[:, 2, 0] - self.counts, [0, 3]).all(), "what follows", first.tolist(), self.counts)
            self.counts = first[:, 2, 0].copy()


class Trees(Layer):
    """Tree searches of connect four, and the same searches without interruption."""

    weight = 3

    def __init__(self, r, faults):
        super().__init__(r, faults)
        self.n = r.randrange(1, 4)
        self.env = self.closed = cypool.make("board/connect_four-v0", num_envs=self.n, num_threads=r.randrange(4),
                                             seed=r.randrange(99))
        self.env.reset()
        self.given = {"simulations": r.choice([3, 20, 60]), "leaves": r.choice([1, 1, 4]),
                      "algorithm": r.choice(["puct", "gumbel"])}
        # whether the search knows where the environments are
        self.is_told = False
        self.evaluator = r.choice(["constant", "rollout", self.evaluate, self.evaluate])
        self.search = self.insist(f"TreeSearch({self.given})", lambda: cypool.TreeSearch(self.env, **self.given))

    def evaluate(self, obs, mask):
        self.faults.pass_by()
        values = np.float32([zlib.crc32(row.tobytes()) % 999 / 999 - 0.5 for row in obs])
        return mask * values[:, None], values

    def calls(self):
        return [self.run_search] * 3 + [self.by_parts] * 3 + [self.step, self.step, self.reset, self.finish]

    def finish(self):
        self.call("result", self.search.result)

    def run_search(self):
        got = self.call("run", self.search.run, self.evaluator)
        self.is_told = bool(got)
        if got:
            self.check(got[0])

    def by_parts(self):
        self.is_told = bool(self.call("begin", self.search.begin))
        for _ in range(self.r.randrange(1, 9)):
            got = self.call("recv", self.search.recv)
            if not got or got[0] is None:
                break
            self.call("send", self.search.send, *self.evaluate(got[0].obs, got[0].action_mask))

    def step(self):
        if self.num_pending():
            return
        actions = self.env.sample_legal()
        got = self.call(f"step({actions.tolist()})", self.env.step, actions)
        if got and self.is_told and self.r.random() < 0.7:
            self.is_told = bool(self.call(f"advance({actions.tolist()})", self.search.advance, actions))
        else:
            self.is_told = False

    def reset(self):
        self.is_told = False
        self.call("reset", self.env.reset)

    def check(self, result):
        expect(((result.visits > 0) <= np.isfinite(result.q)).all(), "q", result.q, "of", result.visits)

    def works(self):
        self.is_dirty = False
        self.env.reset()
        # the first one may begin with parts of trees
        self.check(self.search.run(self.evaluator))
        result = self.search.run(self.evaluate)
        self.check(result)
        with cypool.TreeSearch(self.env, **self.given) as fresh:
            for name, ours, theirs in zip(result._fields, result, fresh.run(self.evaluate), strict=True):
                expect(np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"), name, ours, "not", theirs)

    def close(self):
        self.call("close the search", self.search.close)
        self.search.close()
        super().close()


LAYERS = [Pools, Hosted, Normalized, Trees, Added, Frames, Adapted, AdaptedToSB3, AdaptedToTianshou, AdaptedToTorchRL,
          AddedToSB3, AddedToTianshou, AddedToTorchRL]
