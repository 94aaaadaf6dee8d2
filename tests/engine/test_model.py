"""Random calls in any order, against a plain Python model of what a pool has to do."""
import copy
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from weights import slow

import cypool

# which environments are free, and which calls succeed, depends on which thread is fast; what hypothesis draws and which
# rules it may run must not: there, pools are known by num_envs, mode and batch_size only

GO, RAISE, TERMINATE, TRUNCATE = 0, 1, 6, 7
MODES = ["NextStep", "SameStep", "Disabled"]
PICKS = st.lists(st.integers(0, 8), min_size=1, max_size=9)
ANY = st.integers(0, 999)


class Model:
    """One walker/Trouble-v0 as the engine should drive it."""

    def __init__(self):
        self.count = None       # None: never reset
        self.needs_reset = True

    def step(self, action, mode):
        """Returns the row that should come: count, reward, terminated, truncated, elapsed, whether it fails."""
        if self.needs_reset:
            return self.reset()
        self.count += 1
        reward, elapsed = self.count, self.count
        if action == RAISE:
            self.needs_reset = True
            return 0, 0, False, True, elapsed, True
        terminated, truncated = action == TERMINATE, action == TRUNCATE
        if terminated or truncated:
            if mode == "SameStep":
                self.count = 0
                return 0, reward, terminated, truncated, 0, False
            self.needs_reset = True
        return self.count, reward, terminated, truncated, elapsed, False

    def reset(self):
        self.count, self.needs_reset = 0, False
        return 0, 0, False, False, 0, False


class Pools(RuleBasedStateMachine):
    """Drives one pool and its model."""

    env = None

    @initialize(num_envs=st.integers(1, 9), share=st.integers(1, 9), num_threads=st.sampled_from([0, 1, 2, 7]),
                mode=st.sampled_from(MODES))
    def make(self, num_envs, share, num_threads, mode):
        self.mode, self.batch_size = mode, min(num_envs, share)
        self.env = cypool.make("walker/Trouble-v0", num_envs=num_envs, batch_size=self.batch_size,
                               num_threads=num_threads, autoreset_mode=mode)
        self.is_async = self.batch_size < num_envs
        self.models = [Model() for _ in range(num_envs)]
        self.saved = []         # states, and copies of the models of each row
        self.expected = {}      # env id -> the row to come, in the order of send
        self.last = []

    def teardown(self):
        if self.env is not None:
            self.env.close()

    @invariant()
    def pending_agrees(self):
        if self.env is not None:
            assert self.env._pool.num_pending == len(self.expected)

    def why_not(self, ids, purpose="step"):
        """The error that the pool should raise for a send, "reset", "load" or "save" of these ids; or None."""
        n = len(self.models)
        if len(ids) == 0 or any(not 0 <= i < n for i in ids) or len(set(ids)) < len(ids):
            return ValueError
        if self.expected and (not self.is_async or any(i in self.expected for i in ids)):
            return RuntimeError
        if purpose in ("step", "save") and any(self.models[i].count is None for i in ids):
            return RuntimeError
        if purpose == "step" and self.mode == "Disabled" and any(self.models[i].needs_reset for i in ids):
            return RuntimeError
        return None

    @rule(data=st.data())
    def send(self, data):
        ids = data.draw(st.lists(st.integers(-1, len(self.models)), max_size=10))
        actions = data.draw(st.lists(st.sampled_from([GO, RAISE, TERMINATE, TRUNCATE]),
                                     min_size=len(ids), max_size=len(ids)))
        error = self.why_not(ids)
        if error:
            with pytest.raises(error):
                self.env.send(np.array(actions, np.int64), ids)
            return
        self.env.send(actions, ids)
        for i, action in zip(ids, actions, strict=True):
            self.expected[i] = self.models[i].step(action, self.mode)
        self.last = []

    @rule()
    def send_without_ids(self):
        ids = self.last if self.is_async else range(len(self.models))
        error = RuntimeError if self.is_async and not self.last else self.why_not(ids)
        if error:
            with pytest.raises((error, ValueError)):
                self.env.send(np.zeros(max(1, len(ids)), np.int64))
            return
        self.env.send(np.zeros(len(ids), np.int64))
        for i in ids:
            self.expected[i] = self.models[i].step(GO, self.mode)
        self.last = []

    @rule(data=st.data())
    def send_resets(self, data):
        ids = data.draw(st.lists(st.integers(0, len(self.models)), max_size=5))
        error = self.why_not(ids, "reset")
        if error:
            with pytest.raises(error):
                self.env.async_reset(ids)
            return
        self.env.async_reset(ids)
        for i in ids:
            self.expected[i] = self.models[i].reset()
        self.last = []

    @rule()
    def recv(self):
        if not self.expected:
            with pytest.raises(RuntimeError):
                self.env.recv()
            return
        failed = {}
        try:
            batch = self.env.recv()
        except cypool.EnvError as error:
            batch, failed = error.batch, error.causes
        self.check(batch, failed)

    def check(self, batch, failed):
        obs, reward, terminated, truncated, info = batch
        ids = info["env_id"].tolist()
        assert len(set(ids)) == len(ids) == min(len(self.expected), self.batch_size)
        if not self.is_async:
            assert ids == list(self.expected)
        for row, i in enumerate(ids):
            count, want_reward, ends, cut, elapsed, fails = self.expected.pop(i)
            assert (i in failed) == fails
            assert (obs["count"][row, 0], reward[row], terminated[row], truncated[row]) == (
                count, want_reward, ends, cut)
            assert info["elapsed_step"][row] == elapsed
            if self.mode == "SameStep" and (ends or cut):
                assert info["final_obs"][row]["count"][0] == (0 if fails else want_reward)
        self.last = ids

    def free(self, started):
        """The environments that are not in flight, all or those that were reset."""
        if self.expected and not self.is_async:
            return []
        return [i for i, model in enumerate(self.models)
                if i not in self.expected and not (started and model.count is None)]

    def some(self, picks, started):
        """Those of the free environments, if any, that some numbers choose."""
        free = self.free(started)
        return list(dict.fromkeys(free[pick % len(free)] for pick in picks if free))

    @rule(picks=PICKS)
    def save(self, picks):
        ids = self.some(picks, started=True)
        if ids:
            self.keep(ids, self.env.save(ids))

    @rule(data=st.data())
    def save_anything(self, data):
        n = len(self.models)
        ids = data.draw(st.none() | st.lists(st.integers(-1, n), max_size=5))
        named = range(n) if ids is None else ids
        error = self.why_not(named, "save")
        if error:
            with pytest.raises(error):
                self.env.save(ids)
            return
        self.keep(named, self.env.save(ids))

    def keep(self, ids, state):
        models = [copy.copy(self.models[i]) for i in ids]
        assert state.env_id.tolist() == list(ids)
        assert state.needs_reset.tolist() == [model.needs_reset for model in models]
        self.saved.append((pickle.loads(pickle.dumps(state)), models))

    @rule(which=ANY, picks=PICKS)
    def load(self, which, picks):
        ids = self.some(picks, started=False)
        if not self.saved or not ids:
            return
        state, models = self.saved[which % len(self.saved)]
        rows = [pick % len(state) for pick in picks[: len(ids)]]
        self.loaded(ids, [models[row] for row in rows], self.env.load(state[rows], ids))

    @rule(data=st.data(), which=ANY, picks=st.lists(ANY, max_size=6))
    def load_anything(self, data, which, picks):
        n = len(self.models)
        # to where they were, to as many others, or to nonsense
        ids = data.draw(st.none() | st.permutations(range(n)).map(lambda ids: ids[: len(picks)])
                        | st.lists(st.integers(-1, n), max_size=6))
        if not self.saved:
            return
        state, models = self.saved[which % len(self.saved)]
        rows = [pick % len(state) for pick in picks]
        named = state.env_id[rows].tolist() if ids is None else ids
        error = self.why_not(named, "load") or (ValueError if len(named) != len(rows) else None)
        if error:
            with pytest.raises(error):
                self.env.load(state[rows], ids)
            return
        self.loaded(named, [models[row] for row in rows], self.env.load(state[rows], ids))

    def loaded(self, ids, models, result):
        obs, info = result
        for i, model in zip(ids, models, strict=True):
            self.models[i] = copy.copy(model)
        counts = [model.count for model in models]
        assert info["env_id"].tolist() == ids and info["elapsed_step"].tolist() == counts
        assert obs["count"].tolist() == [[count, -count] for count in counts]

    @rule(picks=PICKS, which=ANY)
    def copy(self, picks, which):
        targets, sources = self.some(picks, started=False), self.free(started=True)
        sources = [i for i in sources if i not in targets]
        if targets and sources:
            source = sources[which % len(sources)]
            self.env.copy(source, targets)
            for i in targets:
                self.models[i] = copy.copy(self.models[source])

    @rule(data=st.data())
    def copy_anything(self, data):
        n = len(self.models)
        sources = data.draw(st.lists(st.integers(-1, n), max_size=4))
        targets = data.draw(st.lists(st.integers(-1, n), max_size=4))
        errors = {self.why_not(targets, "load"), *(self.why_not([i], "save") for i in sources)} - {None}
        if errors or set(sources) & set(targets) or len(sources) not in (1, len(targets)):
            with pytest.raises(tuple({ValueError, *errors})):
                self.env.copy(sources, targets)
            return
        self.env.copy(sources, targets)
        for i, source in zip(targets, sources if len(sources) > 1 else sources * len(targets), strict=True):
            self.models[i] = copy.copy(self.models[source])

    @precondition(lambda self: self.env is not None and not self.is_async)
    @rule(data=st.data())
    def rollout(self, data):
        n = len(self.models)
        action = st.sampled_from([GO, GO, RAISE, TERMINATE, TRUNCATE])
        actions = data.draw(st.lists(st.lists(action, min_size=n, max_size=n), min_size=1, max_size=4))
        error = self.why_not(range(n))
        if error:
            with pytest.raises(error):
                self.env.rollout(actions)
            return
        failed, steps = {}, {}
        try:
            rollout = self.env.rollout(actions)
        except cypool.EnvError as error:
            rollout, failed, steps = error.batch, error.causes, error.steps
        want_steps = {}
        for t in range(len(actions)):
            for i, model in enumerate(self.models):
                row = model.count, 0, False, False, model.count, False
                # with Disabled it stays where its episode ended
                if not (t > 0 and self.mode == "Disabled" and model.needs_reset):
                    row = model.step(actions[t][i], self.mode)
                assert (rollout.obs["count"][t, i, 0], rollout.reward[t, i], rollout.terminated[t, i],
                        rollout.truncated[t, i], rollout.info["elapsed_step"][t, i]) == row[:5]
                if row[5]:
                    want_steps.setdefault(i, t)
        assert steps == want_steps and failed.keys() == want_steps.keys()

    @rule()
    def reset_all(self):
        obs, info = self.env.reset()
        self.expected = {i: model.reset() for i, model in enumerate(self.models)}
        rows = len(info["env_id"])
        self.check((obs, np.zeros(rows), np.zeros(rows, bool), np.zeros(rows, bool), info), {})

    @precondition(lambda self: self.env is not None and not self.is_async)
    @rule(data=st.data())
    def reset_mask(self, data):
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(self.models), max_size=len(self.models))))
        if not mask.all() and any(model.count is None for model in self.models):
            with pytest.raises(RuntimeError):
                self.env.reset(options={"reset_mask": mask})
            # whatever was in flight was thrown away before
            self.expected = {}
            return
        obs, _ = self.env.reset(options={"reset_mask": mask})
        self.expected = {}
        for i in np.flatnonzero(mask):
            self.models[i].reset()
        assert obs["count"][mask, 0].tolist() == [0] * mask.sum()


@pytest.mark.usefixtures("walker")
@pytest.mark.parametrize("examples", [100, *slow(300)])
def test_any_order_of_calls(examples):
    run_state_machine_as_test(Pools, settings=settings(
        max_examples=examples, stateful_step_count=40, deadline=None, database=None,
        suppress_health_check=list(HealthCheck)))
