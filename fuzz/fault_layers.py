"""Layers whose calls `fuzz_faults.py` interrupts: pools with everything that observes them, and plain Python models of
these.

All environments are counters. An observation has the last three counts, each with the action that led to it, so a row
identifies its step. A step adds 1, a reset adds 3, and the reward is the action. No two actions of a case are equal.
"""
import itertools
import os
import re
import tempfile
from contextlib import suppress

import gymnasium
import numpy as np
import tests_path  # noqa: F401
from gymnasium import spaces
from interrupting import counting_id

import cypool
from cypool.compat import envpool, envpool_legacy

# documented messages of a call at the wrong time, as it may come after one that was broken off
UNTIMELY = re.compile("in flight|nothing is pending|never reset|first reset must|is over: reset|no batch was "
                      "received|expected existing rows|no row|with rows, got an empty|are waiting|"
                      r"after each recv\(\)")
_bases = itertools.count(1)


class Counting(gymnasium.Env):
    """The same environment in Python."""

    observation_space = spaces.Box(-np.inf, np.inf, (3, 2), np.float32)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, faults):
        faults.pass_by()
        self.faults, self.fails = faults, False
        self.frames = np.zeros((3, 2), np.float32)
        self.frames[2, 0] = 1000 * (next(_bases) % 10_000)

    def push(self, action):
        self.frames = np.concatenate([self.frames[1:], [[self.frames[2, 0] + 1, action]]]).astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.faults.pass_by()
        if self.fails:
            self.fails = False
            raise OSError("no reset today")
        for _ in range(3):
            self.push(0)
        return self.frames, {}

    def step(self, action):
        self.faults.pass_by()
        self.push(action[0])
        self.fails = action[0] == 1
        if action[0] == -1:
            raise ValueError("raised in step")
        self.faults.pass_by()
        return self.frames, float(action[0]), bool(action[0] < 0 or action[0] == 1), False, {}


class Wrong(AssertionError):
    """Something is not as it should be."""


def expect(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def check_frames(frames, what):
    expect((np.diff(frames[..., 0], axis=-1) == 1).all(), what, "has no frames of one episode:", frames.tolist())


def check_steps(obs, action, reward, next_obs, what, factor=1):
    """Checks transitions, one per row, as a buffer stores them."""
    for frames in (obs, next_obs):
        check_frames(frames, what)
    joined = (obs[:, 1:] == next_obs[:, :2]).all() and (action.reshape(-1) == next_obs[:, 2, 1]).all() and (
        np.asarray(reward).reshape(-1) == factor * next_obs[:, 2, 1]).all()
    expect(joined, what, "has a transition that was none:", obs.tolist(), action.tolist(), reward, next_obs.tolist())


class Layer:
    """A layer, and calls to it.

    Args:
        r: Random numbers.
        faults: Interrupts calls: `faults.around(call)`.
    """

    weight = 1
    # a package
    needs = ""

    def __init__(self, r, faults):
        self.r, self.faults, self.serial, self.is_dirty = r, faults, 0, False

    def action(self):
        self.serial += 1
        value = (self.serial % 16_000 + 1) / 16_384
        kind = self.r.random()
        if kind < 0.1:
            return self.r.choice([-1.0, 1.0]) if kind < 0.02 and self.may_fail else -value
        return value

    may_fail = True

    def actions(self, count):
        return np.array([[self.action()] for _ in range(count)], np.float32)

    def call(self, text, function, *args):
        """Makes a call, which may be interrupted. Returns the result in a list, or None if there is none."""
        self.faults.log(text)
        may_refuse = self.is_dirty or self.num_pending()
        try:
            return [self.faults.around(text.split("(")[0], lambda: function(*args))]
        except cypool.EnvError:
            raise
        except BaseException as error:
            if self.faults.is_own(error):
                self.faults.log("  interrupted")
                self.lost()
            elif may_refuse and type(error) in (RuntimeError, ValueError) and UNTIMELY.search(str(error)):
                self.faults.log(f"  {error}")
            else:
                raise
        return None

    def insist(self, text, function):
        """Makes a call until one is not interrupted; returns its result."""
        while not (made := self.call(text, function)):
            self.faults.forget()
        return made[0]

    env = None

    def num_pending(self):
        pool = getattr(self.env, "pool", self.env)
        return 0 if pool is None else pool._pool.num_pending

    def lost(self):
        """A call was interrupted, so its effect is unknown."""
        self.is_dirty = True

    def run(self):
        for _ in range(self.r.randrange(3, 14)):
            self.r.choice(self.calls())()
        self.works()
        self.close()

    def close(self):
        self.call("close", self.closed.close)
        self.closed.close()


# ---- pools, with all that observes them

class Pools(Layer):
    """A pool with any API, with hooks, and with a history or a replay buffer."""

    weight = 12
    apis = ("gymnasium", "gymnasium", "gymnasium", "gym", "dm", "envpool", "envpool_legacy", "envpool_dm")

    def __init__(self, r, faults):
        super().__init__(r, faults)
        self.api, self.n = r.choice(self.apis), r.randrange(1, 4)
        self.mode = r.choice(["NextStep", "SameStep", "Disabled"]) if self.api == "gymnasium" else "NextStep"
        self.is_async = self.n > 1 and r.random() < 0.25
        self.factor, self.sign = 1, 1
        self.ended, self.counts, self.sent = [None] * self.n, [None] * self.n, [set() for _ in range(self.n)]
        self.ids, self.saved = list(range(self.n)), None
        self.through = self.env = self.closed = self.insist(f"make {self.api} {self.mode} of {self.n}", self.make)
        self.history = self.buffer = None
        if self.api != "envpool" and not self.is_async and not self.is_hosted and r.random() < 0.3:
            self.begin()
            self.history = cypool.history(self.env, r.choice([1, 3, 1000]))
        elif r.random() < 0.5:
            self.make_buffer()
        if r.random() < 0.5 or self.history is not None:
            self.begin()
        else:
            # the first one may be broken off, too
            self.is_dirty = True
            self.reset()

    is_hosted = False

    def make(self):
        r = self.r
        self.factor = self.sign = 1
        given = {"num_envs": self.n, "batch_size": self.n - 1 if self.is_async else None, "seed": r.randrange(9)}
        if "envpool" in self.api:
            given = {**given, "batch_size": given["batch_size"] or self.n, "num_threads": r.randrange(4)}
            module = envpool_legacy if self.api == "envpool_legacy" else envpool
            return module.make(counting_id(), "dm" if self.api == "envpool_dm" else
                               "gym" if self.api == "envpool_legacy" else "gymnasium", **given)
        if r.random() < self.faults.hooks:
            given["reward_hook"], self.factor = self.reward_hook, 2
        if r.random() < self.faults.hooks:
            given["observation_hook"], self.sign = self.observation_hook, -1
        if self.api == "gymnasium":
            given["autoreset_mode"] = self.mode
        if self.api != "dm":
            given["episode_statistics"] = r.random() < 0.3
        return cypool.make(counting_id(), self.api, num_threads=r.randrange(4), **given)

    def reward_hook(self, batch):
        self.faults.pass_by()
        return 2 * batch.action[:, 0]

    def observation_hook(self, obs):
        self.faults.pass_by()
        return -obs

    def make_buffer(self):
        r, env = self.r, self.env
        self.length = r.choice([None, None, 3])
        self.n_step = r.choice([1, 1, 2, 3]) if self.length is None else 1
        self.alpha = r.choice([0.0, 0.6])
        self.folder = tempfile.TemporaryDirectory()
        self.given = {"capacity": r.choice([30 * self.n, 2000]), "n_step": self.n_step, "gamma": 0.5,
                      "sequence_length": self.length, "alpha": self.alpha, "seed": 1}
        if r.random() < 0.2:
            self.given["path"] = os.path.join(self.folder.name, "rows")
        self.through = self.buffer = self.insist(f"ReplayBuffer({self.given})",
                                                 lambda: cypool.ReplayBuffer(env, **self.given))

    def lost(self):
        super().lost()
        self.counts, self.ended = [None] * self.n, [None] * self.n

    def begin(self):
        """Resets all environments without interruption."""
        self.is_dirty = False
        self.sent, self.counts = [set() for _ in range(self.n)], [None] * self.n
        self.faults.log("reset")
        for _ in range(3):
            try:
                if self.is_async:
                    self.through.async_reset()
                    self.take(self.through.recv())
                else:
                    self.take(self.through.reset(), whole=True)
                break
            except cypool.EnvError as error:
                self.take_error(error)
                while self.num_pending():
                    try:
                        self.take(self.through.recv())
                    except cypool.EnvError as more:
                        self.take_error(more)
        else:
            expect(False, "three resets failed")

    # ---- rows

    def rows(self, batch, whole):
        """Returns env ids, observations, rewards, end flags and last observations from a batch of any API."""
        final, every = {}, np.arange(self.n)
        if self.api in ("dm", "envpool_dm"):
            seen = batch.observation
            return seen.env_id, seen.obs, batch.reward, batch.last(), final
        if self.api in ("gym", "envpool_legacy"):
            if not isinstance(batch, tuple):
                return (every if whole else None), batch, np.zeros(len(batch)), np.zeros(len(batch), bool), final
            obs, reward, ended, info = batch
            return info["env_id"], obs, reward, ended, final
        obs, info = batch[0], batch[-1]
        if len(batch) == 2:
            return info["env_id"], obs, np.zeros(len(obs)), np.zeros(len(obs), bool), final
        if "_final_obs" in info:
            final = {int(info["env_id"][k]): info["final_obs"][k] for k in np.flatnonzero(info["_final_obs"])}
        return info["env_id"], obs, batch[1], batch[2] | batch[3], final

    def take(self, batch, failed=(), whole=False, steps=()):
        """Checks and records a batch. Rows in `steps` come from a step."""
        ids, obs, reward, ended, final = self.rows(batch, whole)
        if ids is None:
            return
        self.ids = ids.tolist()
        for k, i in enumerate(self.ids):
            if i in failed:
                self.counts[i], self.ended[i] = None, None
                continue
            frames, action = self.sign * obs[k], self.sign * float(obs[k][2, 1])
            if self.is_hosted and self.counts[i] is None and not frames.any():
                # no reset of it has gone well yet, and it is only observed
                continue
            check_frames(frames, "a batch")
            now, before = float(frames[2, 0]), self.counts[i]
            if i in final:
                last = self.sign * final[i]
                check_frames(last, "final_obs")
                expect(float(last[2, 1]) in self.sent[i], "final_obs is of", last.tolist(), "not of", self.sent[i])
                expect(reward[k] == self.factor * float(last[2, 1]), "reward", reward[k], "of", last.tolist())
                expect(before is None or last[2, 0] == before + 1, "final_obs", last.tolist(), "after", before)
                before = float(last[2, 0])
            elif reward[k] != 0:
                expect(reward[k] == self.factor * action, "reward", reward[k], "of", frames.tolist())
                expect(action in self.sent[i], "a row of", action, "not of", self.sent[i])
            expect(before is None or now - before in (0, 1, 3) or self.is_hosted, "count", now, "after", before)
            expect(i not in steps or reward[k] != 0, "a step has done nothing:", frames.tolist())
            self.counts[i], self.ended[i] = now, bool(ended[k]) and not final

    def check_causes(self, error):
        for cause in error.causes.values():
            own = self.faults.is_own(cause) or "it raised" in str(cause)
            expect(own or str(cause) in ("raised in step", "no reset today"), "cause", repr(cause))

    def take_error(self, error):
        self.check_causes(error)
        self.take(error.batch, error.causes)

    def received(self, text, function, *args, whole=False, steps=()):
        # of environments that it does not know, or that begin an episode, the model expects no more
        steps = {i for i in steps if self.counts[i] is not None and self.ended[i] is False and not self.num_pending()}
        try:
            got = self.call(text, function, *args)
        except cypool.EnvError as error:
            self.faults.log(f"  {error}")
            self.take_error(error)
            return False
        if got:
            self.take(got[0], whole=whole, steps=steps)
        return bool(got)

    def note_sent(self, ids, actions):
        for i, action in zip(ids, actions, strict=True):
            self.sent[i].add(float(action[0]))

    # ---- calls

    def calls(self):
        some = [self.step, self.step, self.step, self.reset, self.send, self.receive]
        if not self.is_hosted:
            some += [self.load, self.copy]
        if not self.is_async:
            some += [self.step_some, self.reset_some, self.rollout]
        if self.history is not None:
            some += [self.seek, self.repeat, self.save_history] * 2
        if self.buffer is not None:
            some += [self.sample, self.sample, self.save_buffer, self.check_buffer]
        return some

    def someone(self):
        """Returns the pool or the buffer: calls of the pool bypass the buffer."""
        return self.through if self.r.random() < 0.9 else self.env

    def over(self):
        """Resets the environments that wait for a reset in mode Disabled."""
        if self.mode == "Disabled":
            self.is_dirty = True

    def step(self):
        ids = self.ids if self.is_async else list(range(self.n))
        actions = self.actions(len(ids))
        self.over()
        self.note_sent(ids, actions)
        self.received(f"step({actions.tolist()})", self.someone().step, actions,
                      np.array(ids, np.int32) if self.is_async else None, steps=() if self.is_async else ids)

    def step_some(self):
        ids = self.r.sample(range(self.n), self.r.randrange(1, self.n + 1))
        actions = self.actions(len(ids))
        self.over()
        self.note_sent(ids, actions)
        self.received(f"step({actions.tolist()}, {ids})", self.someone().step, actions, ids, steps=ids)

    def send(self):
        if self.num_pending() and not self.is_async:
            return
        ids = self.ids if self.is_async else list(range(self.n))
        actions = self.actions(len(ids))
        self.over()
        self.note_sent(ids, actions)
        # in an asynchronous pool they may be in flight
        self.is_dirty = self.is_dirty or self.is_async
        self.call(f"send({actions.tolist()})", self.someone().send, actions, np.array(ids, np.int32))
        if self.r.random() < 0.7:
            self.receive()

    def receive(self):
        if self.num_pending():
            self.received("recv", self.someone().recv)

    def reset(self):
        if self.is_async:
            self.call("async_reset", self.someone().async_reset)
            self.counts = [None] * self.n
            self.receive()
            return
        if self.num_pending():
            # steps in flight are thrown away
            self.counts = [None] * self.n
        if self.r.random() < 0.2 and self.mode == "Disabled":
            mask = np.array([self.r.random() < 0.5 for _ in range(self.n)])
            self.received(f"reset(mask {mask})", lambda: self.someone().reset(options={"reset_mask": mask}),
                          whole=True)
            return
        self.received("reset", self.someone().reset, whole=True)

    def reset_some(self):
        ids = self.r.sample(range(self.n), self.r.randrange(1, self.n + 1))
        if self.api in ("gym", "envpool_legacy"):
            # the batch does not say whose rows these are
            self.counts = [None] * self.n
        self.received(f"reset({ids})", self.someone().reset, ids)

    def load(self):
        if self.num_pending():
            return
        if self.saved is None or self.r.random() < 0.3:
            saved = self.call("save", self.env.save)
            self.saved = saved[0] if saved else None
            return
        self.counts = [None] * self.n
        got = self.call("load", self.env.load, self.saved)
        if got:
            seen = got[0][0] if isinstance(got[0], tuple) and len(got[0]) == 2 else None
            for state, frames in zip(self.saved.rows, () if seen is None else seen, strict=False):
                expect(state["own"][4] == self.sign * frames[2, 0], "load shows", frames, "of", state["own"])

    def copy(self):
        if self.num_pending() or self.n == 1:
            return
        self.counts = [None] * self.n
        self.call("copy", self.env.copy, 0, [1])

    def rollout(self):
        if self.num_pending():
            return
        num_steps = self.r.choice([1, 2, 3, 4, 200])
        policy, self.is_dirty = None, self.is_dirty or self.mode == "Disabled"
        given = np.array([self.actions(self.n) for _ in range(num_steps)])
        if self.r.random() < 0.5:
            left = iter(given)

            def policy(obs):
                self.faults.pass_by()
                return next(left)
        wanted = num_steps if policy else given
        for actions in given:
            self.note_sent(range(self.n), actions)
        try:
            got = self.call(f"rollout({given[:5].tolist()}, {policy})", lambda: self.env.rollout(wanted, policy=policy))
        except cypool.EnvError as error:
            self.check_causes(error)
            got = [error.batch]
        self.counts = [None] * self.n
        if got:
            made = got[0]
            for t in range(min(num_steps, 5)):
                for i in range(self.n):
                    frames, reward = self.sign * made.next_obs[t][i], made.reward[t, i]
                    if not made.truncated[t, i] or frames.any():
                        check_frames(frames, "a rollout")
                    if reward != 0:
                        expect(reward == self.factor * given[t, i, 0], "reward", reward, "of", given[t, i])

    # ---- the history

    def seek(self):
        history = self.history
        if self.num_pending():
            return
        step = self.r.randrange(len(history) + 1)
        got = self.call(f"seek({step}) of {len(history)}", history.seek, step)
        if got:
            self.counts = [None] * self.n
        if self.r.random() < 0.5:
            self.check_history()

    def check_history(self):
        """Repeats the whole history, and seeks, without interruption."""
        history, env = self.history, self.env
        if env._pool.num_pending:
            return
        self.faults.log("check_history")
        before = self.state_now()
        self.visit_all()
        expect(self.state_now() == before, "repeat left the pool elsewhere")
        expect(0 <= history.position <= len(history), "position", history.position)
        if history.position == len(history):
            for step in {self.r.randrange(len(history) + 1) for _ in "12"}:
                history.seek(step)
            history.seek(len(history))
            expect(self.state_now() == before, "seek to the end is not where the pool was")
        self.counts = [None] * self.n

    def state_now(self):
        return [row["own"] for row in self.env.save().rows]

    def visit_all(self, around=lambda: None):
        counts = {}

        def begin(obs, info):
            around()
            for i, frames in zip(info["env_id"].tolist(), obs, strict=True):
                counts[i] = self.sign * frames[2, 0]

        def visit(made):
            around()
            obs, reward, _, truncated, info = made.batch
            for k, i in enumerate(info["env_id"].tolist()):
                if not obs[k].any() and truncated[k]:
                    counts[i] = None
                    continue
                now = self.sign * obs[k][2, 0]
                check_frames(self.sign * obs[k], "a history")
                last = self.sign * info["final"][0][k] if "final" in info and reward[k] != 0 else None
                before = counts[i]
                if last is not None and last.any():
                    before = None if before is None else before + 1
                expect(before is None or now - before in (0, 1, 3), "a history has", now, "after", before)
                counts[i] = now

        self.history.repeat(begin, visit)

    def repeat(self):
        if not self.num_pending():
            self.call("repeat", self.visit_all, self.faults.pass_by)

    def save_history(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "history")
            if self.call("save history", self.history.save, path) and not self.num_pending():
                self.history.close()
                before = self.state_now() if self.history.position == len(self.history) else None
                self.history = cypool.load_history(path, self.env)
                expect(before is None or self.state_now() == before, "load_history leads elsewhere")
                self.counts = [None] * self.n

    # ---- the replay buffer

    def sample(self):
        self.is_dirty = self.is_dirty or len(self.buffer) == 0
        got = self.call("sample", self.buffer.sample, self.r.choice([1, 7]))
        if got:
            self.check_sample(got[0])
            if self.alpha and self.r.random() < 0.5:
                self.call("update_priorities", self.buffer.update_priorities, got[0].index,
                          np.full(len(got[0].index), 0.5))

    def save_buffer(self):
        path = os.path.join(self.folder.name, "saved")
        if self.r.random() < 0.5:
            self.call("save buffer", self.buffer.save, path)
        elif os.path.exists(path):
            self.call("load buffer", self.buffer.load, path)
        self.check_buffer()

    def check_buffer(self):
        self.faults.log("check_buffer")
        index = self.buffer.indices()
        expect(len(index) == len(self.buffer) and self.buffer.has(index).all() if len(index) else True, "indices")
        if len(index):
            self.check_sample(self.buffer.gather(index))
            self.check_sample(self.buffer.sample(5))
            if self.alpha:
                expect((self.buffer.priorities(index) > 0).all(), "priorities")

    def check_sample(self, sample):
        obs, action, reward = self.sign * sample.obs, sample.action, sample.reward
        check_frames(obs, "a sample")
        if self.length is not None:
            for k, t in itertools.product(range(len(obs)), range(self.length - 1)):
                if not (sample.is_last[k, t] or sample.is_first[k, t + 1]):
                    check_steps(obs[k, t:t + 1], action[k, t], reward[k, t], obs[k, t + 1:t + 2], "a sequence",
                                self.factor)
            return
        next_obs = self.sign * sample.next_obs
        if self.n_step == 1:
            check_steps(obs, action, reward, next_obs, "a sample", self.factor)
            return
        check_frames(next_obs, "a sample")
        made = (next_obs[:, 2, 0] - obs[:, 2, 0]).astype(int)
        expect(((made >= 1) & (made <= self.n_step)).all(), "steps of a sample:", made)
        for k, count in enumerate(made):
            given = next_obs[k, 3 - count:, 1]
            expect(action[k, 0] == given[0], "a sample has action", action[k], "of", given)
            total = self.factor * sum(0.5**j * value for j, value in enumerate(given))
            expect(abs(reward[k] - total) < 1e-5, "a sample has", reward[k], "of", given)

    # ---- the end

    def works(self):
        """In the end, the layer works as if nothing had happened."""
        self.begin()
        self.may_fail = False
        buffer = self.buffer
        num = len(buffer) if buffer is not None else 0
        for _ in range(2):
            ids = self.ids if self.is_async else list(range(self.n))
            actions = np.abs(self.actions(len(ids)))
            self.note_sent(ids, actions)
            try:
                self.take(self.through.step(actions, np.array(ids, np.int32)))
            except cypool.EnvError as error:
                # an asynchronous pool has one that was reset in the beginning still in flight
                expect(self.is_async, error)
                self.take_error(error)
                self.begin()
            expect(not self.is_async or self.num_pending() == 1, "pending")
        if buffer is not None and not self.is_async and self.length is None and self.given["capacity"] == 2000:
            expect(len(buffer) == min(num + 2 * self.n, len(buffer)), "the buffer has", len(buffer), "after", num)
        if buffer is not None:
            self.check_buffer()
        if self.history is not None:
            self.check_history()

    def close(self):
        if self.buffer is not None:
            self.call("close the buffer", self.buffer.close)
            self.buffer.close()
            if "path" in self.given:
                # a file that is still locked, or damaged, cannot be opened
                again = cypool.ReplayBuffer(self.env, **self.given)
                self.buffer = again
                self.check_buffer()
                again.close()
            self.folder.cleanup()
        if self.history is not None:
            self.call("close the history", self.history.close)
        super().close()


class Hosted(Pools):
    """Environments in Python: in the caller, in threads, and occasionally in processes."""

    weight = 4
    apis = ("gymnasium", "gymnasium", "gym", "dm")
    is_hosted = True

    def make(self):
        r, faults = self.r, self.faults
        given = {"autoreset_mode": self.mode} if self.api == "gymnasium" else {}
        workers = r.choice([{"num_workers": 0}] * 2 + [{"workers": "threads", "num_workers": k} for k in (1, 2)])
        if self.is_async:
            given["batch_size"] = self.n - 1
        return cypool.from_factories([lambda: Counting(faults) for _ in range(self.n)], self.api, seed=1,
                                     max_episode_steps=9, **given, **workers)


class Normalized(Layer):
    """A pool that normalizes."""

    weight = 2

    def __init__(self, r, faults):
        super().__init__(r, faults)
        self.n = r.randrange(1, 4)
        self.env = self.closed = cypool.make(
            counting_id(), num_envs=self.n, num_threads=r.randrange(4), seed=1, normalize_obs=True,
            normalize_reward=True, autoreset_mode=r.choice(["NextStep", "SameStep"]))
        self.env.reset()

    def calls(self):
        return [self.step] * 6 + [self.reset, self.load, self.statistics]

    def check(self, obs, reward=None, actions=None):
        moments = self.env.normalization()
        raw = obs * np.sqrt(moments["obs"]["var"] + 1e-8) + moments["obs"]["mean"]
        expect((np.abs(np.diff(raw[..., 0], axis=-1) - 1) < 0.3).all(), "normalized observations of", raw.tolist())
        if reward is not None:
            raw = reward * np.sqrt(moments["reward"]["var"] + 1e-8)
            expect((np.isclose(raw, actions[:, 0], 1e-5) | (raw == 0)).all(), "normalized rewards of", raw, actions)

    def step(self):
        actions = self.actions(self.n)
        with suppress(cypool.EnvError):
            got = self.call("step", self.env.step, actions)
            if got:
                self.check(got[0][0], got[0][1], actions)

    def reset(self):
        with suppress(cypool.EnvError):
            got = self.call("reset", self.env.reset)
            if got:
                self.check(got[0][0])

    def load(self):
        if not self.num_pending():
            state = self.env.save()
            self.call("load", self.env.load, state)

    def statistics(self):
        self.call("load_normalization", lambda: self.env.load_normalization(self.env.normalization()))

    def works(self):
        for _ in range(3):
            with suppress(cypool.EnvError):
                self.env.reset()
                break
        actions = np.abs(self.actions(self.n)) / 2
        obs, reward, *_ = self.env.step(actions)
        self.check(obs, reward, actions)
