"""Random calls in any order, against a plain Python model of a pool."""
import copy
import functools
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
from markers import exhaustive, slow

import cypool

# which environments are free, and which calls succeed, depends on which thread is fast; hypothesis' draws and the
# rules that it may run must not: there, pools are known by num_envs, mode and batch_size only

GO, RAISE, TERMINATE, TRUNCATE = 0, 1, 6, 7
STEP, START, NO_STEP = range(3)     # the kind of a row
# API and autoreset mode
FACES = [*((face, mode) for face in ("gymnasium", "normalized") for mode in ("NextStep", "SameStep", "Disabled")),
         ("dm", "NextStep")]
ACTIONS = st.sampled_from([GO, GO, RAISE, TERMINATE, TRUNCATE])
JUNK = [None, -1, 0, 2**40, 1.5, True, "x", [], {}, np.zeros(3), np.zeros((0, 2), np.int32), object(), int, ()]
PICKS = st.lists(st.integers(0, 8), min_size=1, max_size=9)
ANY = st.integers(0, 999)


class Model:
    """One walker/Trouble-v0 as the engine should drive it."""

    def __init__(self):
        self.count = None       # None: never reset
        self.needs_reset = True

    def step(self, action, mode):
        """Returns the expected row: count, reward, terminated, truncated, elapsed, kind."""
        if self.needs_reset:
            return self.reset()
        self.count += 1
        reward, elapsed = self.count, self.count
        if action == RAISE:
            self.needs_reset = True
            return 0, 0, False, True, elapsed, NO_STEP
        terminated, truncated = action == TERMINATE, action == TRUNCATE
        if terminated or truncated:
            if mode == "SameStep":
                self.count = 0
                return 0, reward, terminated, truncated, 0, STEP
            self.needs_reset = True
        return self.count, reward, terminated, truncated, elapsed, STEP

    def reset(self):
        self.count, self.needs_reset = 0, False
        return 0, 0, False, False, 0, START


class Normal:
    """The rewards of a pool, as `normalize_reward` should scale them."""

    def __init__(self, num_envs):
        self.mean, self.var, self.count = 0.0, 1.0, 1e-4
        self.returns = np.zeros(num_envs)

    def scale(self, ids, rows, mode):
        """Returns the rewards of a batch, given the rows that its environments should have."""
        rewards = np.array([reward for _, reward, *_ in rows], float)
        moved = [k for k, row in enumerate(rows) if row[5] == STEP]
        for k in moved:
            self.returns[ids[k]] = self.returns[ids[k]] * 0.99 * (not rows[k][2]) + rewards[k]
        if moved:
            new = self.returns[[ids[k] for k in moved]]
            # one after the other: NumPy adds eight numbers in another order
            mean = np.add.accumulate(new)[-1] / len(new)
            var = np.add.accumulate((new - mean) ** 2)[-1] / len(new)
            apart, total = mean - self.mean, self.count + len(new)
            self.mean += apart * (len(new) / total)
            self.var = (self.var * self.count + var * len(new)
                        + apart**2 * (self.count * len(new) / total)) / total
            self.count = total
        if mode == "SameStep":
            self.returns[[i for i, row in zip(ids, rows, strict=True) if row[2] or row[3]]] = 0
        return rewards / np.sqrt(self.var + 1e-8)


class Pools(RuleBasedStateMachine):
    """Drives one pool and its model; maybe next to another pool on the same threads."""

    env = threads = neighbour = None

    def __init__(self, face, mode, by_count):
        super().__init__()
        self.face, self.mode, self.by_count = face, mode, by_count

    @initialize(num_envs=st.integers(1, 9), share=st.just(9) | st.integers(1, 9),
                num_threads=st.sampled_from([0, 1, 2, 7]), shared=st.booleans(),
                started=st.sampled_from([True, True, True, False]))
    def make(self, num_envs, share, num_threads, shared, started):
        self.batch_size = min(num_envs, share)
        options = {"num_threads": num_threads}
        if shared:
            self.threads = cypool.ThreadPool(max(num_threads, 1))
            options = {"thread_pool": self.threads}
            self.neighbour = cypool.make("walker/Trouble-v0", num_envs=2, **options)
            self.neighbour.reset()
            self.neighbours_steps, self.neighbour_sent = 0, False
        self.env = cypool.make("walker/Trouble-v0", "dm" if self.face == "dm" else "gymnasium", num_envs=num_envs,
                               batch_size=self.batch_size, autoreset_mode=self.mode,
                               normalize_reward=self.face == "normalized", **options)
        self.normal = Normal(num_envs) if self.face == "normalized" else None
        self.is_async = self.batch_size < num_envs
        self.models = [Model() for _ in range(num_envs)]
        self.saved = []         # states, and copies of the models of each row
        self.expected = {}      # env id -> the row to come, in the order of send
        self.last = []
        if started:
            self.reset_all()

    def teardown(self):
        for each in (self.env, self.neighbour, self.threads):
            if each is not None:
                each.close()

    @invariant()
    def pending_agrees(self):
        if self.env is not None:
            assert self.env._pool.num_pending == len(self.expected)

    def why_not(self, ids, purpose="step"):
        """The error that the pool should raise for a "send", "step", "reset", "load" or "save" of these; or None."""
        n = len(self.models)
        if len(ids) == 0 or any(not 0 <= i < n for i in ids) or len(set(ids)) < len(ids):
            return ValueError
        if self.expected and (not self.is_async or any(i in self.expected for i in ids)):
            return RuntimeError
        fresh = [self.models[i].count is None for i in ids]
        # dm_env begins episodes then
        if purpose in ("send", "step", "save") and any(fresh) and not (
                purpose == "send" and self.face == "dm" and all(fresh)):
            return RuntimeError
        if purpose in ("send", "step") and self.mode == "Disabled" and any(self.models[i].needs_reset for i in ids):
            return RuntimeError
        return None

    @rule(data=st.data())
    def send(self, data):
        ids = data.draw(st.lists(st.integers(-1, len(self.models)), max_size=10))
        actions = data.draw(st.lists(st.sampled_from([GO, RAISE, TERMINATE, TRUNCATE]),
                                     min_size=len(ids), max_size=len(ids)))
        error = self.why_not(ids, "send")
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
        error = RuntimeError if self.is_async and not self.last else self.why_not(ids, "send")
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
            if self.normal:
                self.normal.returns[i] = 0
        self.last = []

    @precondition(lambda self: self.neighbour is not None)
    @rule()
    def step_the_neighbour(self):
        # rows in flight stay there while other rules run
        if not self.neighbour_sent:
            self.neighbour.send([GO, GO])
        else:
            self.neighbours_steps += 1
            assert self.neighbour.recv()[1].tolist() == [self.neighbours_steps] * 2
        self.neighbour_sent = not self.neighbour_sent

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

    def as_tuple(self, batch):
        """Returns a batch of any API as that of Gymnasium's, and the rows' step types or None."""
        if self.face != "dm":
            return (*batch, None)
        ended, terminated = batch.last(), batch.discount == 0
        obs, *_ = seen = batch.observation
        return obs, batch.reward, terminated, ended & ~terminated, seen._asdict(), batch.step_type.tolist()

    def check(self, batch, failed):
        obs, reward, terminated, truncated, info, step_types = self.as_tuple(batch)
        ids = info["env_id"].tolist()
        assert len(set(ids)) == len(ids) == min(len(self.expected), self.batch_size)
        if not self.is_async:
            assert ids == list(self.expected)
        rows = [self.expected.pop(i) for i in ids]
        scaled = self.normal.scale(ids, rows, self.mode).tolist() if self.normal else [row[1] for row in rows]
        for row, (i, (count, want_reward, ends, cut, elapsed, kind)) in enumerate(zip(ids, rows, strict=True)):
            assert (i in failed) == (kind == NO_STEP)
            assert (obs["count"][row, 0], reward[row], terminated[row], truncated[row]) == (
                count, scaled[row], ends, cut)
            assert info["elapsed_step"][row] == elapsed
            if self.mode == "SameStep" and (ends or cut):
                assert info["final_obs"][row]["count"][0] == (0 if kind == NO_STEP else want_reward)
            if step_types:
                assert step_types[row] == (2 if ends or cut else 0 if kind == START else 1)
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
        if self.face == "dm":
            assert result.step_type.tolist() == [1] * len(ids)
            obs, info = result.observation.obs, result.observation._asdict()
        else:
            obs, info = result
        for i, model in zip(ids, models, strict=True):
            self.models[i] = copy.copy(model)
        if self.normal:
            self.normal.returns[ids] = 0
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
            self.copied([source] * len(targets), targets)

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
        self.copied(sources if len(sources) > 1 else sources * len(targets), targets)

    def copied(self, sources, targets):
        for i, source in zip(targets, sources, strict=True):
            self.models[i] = copy.copy(self.models[source])
            if self.normal:
                self.normal.returns[i] = self.normal.returns[source]

    @precondition(lambda self: self.env is not None and self.face == "gymnasium" and not self.is_async)
    @rule(data=st.data(), rows=st.integers(0, 1))
    def step_to_arrays_of_ones_own(self, data, rows):
        n = len(self.models)
        ids = data.draw(st.permutations(range(n)).flatmap(lambda ids: st.integers(1, n).map(lambda k: ids[:k])))
        actions = data.draw(st.lists(ACTIONS, min_size=len(ids), max_size=len(ids)))
        # maybe with a row more than there should be
        out = tuple({key: np.zeros((len(ids) + rows, *each.shape[2:]), each.dtype) for key, each in part.items()}
                    if isinstance(part, dict) else np.zeros(len(ids) + rows, part.dtype)
                    for part in self.env.rollout_buffers(1)[0:1])
        error = self.why_not(ids) or (ValueError if rows else None)
        if error:
            with pytest.raises((error, ValueError)):
                self.env.step(actions, ids, out=out)
            return
        failed = {}
        try:
            batch = self.env.step(actions, ids, out=out)
        except cypool.EnvError as error:
            batch, failed = error.batch, error.causes
        assert all(batch[k] is out[k] for k in (1, 2, 3)) and all(batch[0][key] is out[0][key] for key in out[0])
        self.expected = {i: self.models[i].step(action, self.mode) for i, action in zip(ids, actions, strict=True)}
        self.check(batch, failed)

    @precondition(lambda self: self.env is not None and not self.is_async)
    @rule(data=st.data(), chosen_by=st.sampled_from(["user", "user", "C", "Python"]), with_out=st.booleans(),
          observe=st.sampled_from(["all", "all", "last", 2]))
    def rollout(self, data, chosen_by, with_out, observe):
        n = len(self.models)
        actions = np.array(data.draw(st.lists(st.lists(ACTIONS, min_size=n, max_size=n), min_size=1, max_size=4)))
        table = np.array(data.draw(st.lists(ACTIONS, min_size=4, max_size=4)))
        num_steps, arguments = len(actions), {"observe": observe}
        error = self.why_not(range(n))
        if chosen_by != "user":
            # by the last observation of an environment
            arguments["policy"] = cypool.Policy(self.by_count, parameters=table)
        if chosen_by == "Python":
            arguments["policy"] = lambda obs: table[obs["count"][:, 0].astype(int) % 4]
        if with_out:
            arguments["out"] = self.env.rollout_buffers(num_steps)
            error = error or (ValueError if observe != "all" and num_steps > 1 else None)
        given = actions if chosen_by == "user" else num_steps
        if error:
            with pytest.raises((error, ValueError)):
                self.env.rollout(given, **arguments)
            return
        failed, steps = {}, {}
        try:
            rollout = self.env.rollout(given, **arguments)
        except cypool.EnvError as error:
            rollout, failed, steps = error.batch, error.causes, error.steps
        assert rollout is arguments.get("out", rollout)
        every = {"all": 1, "last": num_steps}.get(observe, observe)
        observed = [t for t in range(num_steps) if t % every == every - 1 or t == num_steps - 1]
        assert len(rollout) == num_steps and len(rollout.next_obs["count"]) == len(observed)
        want_steps, shown, wanted = {}, [model.count for model in self.models], []
        for t in range(num_steps):
            wanted.append([])
            for i, model in enumerate(self.models):
                assert t % every or rollout.obs["count"][t // every, i, 0] == shown[i]
                row = model.count, 0, False, False, model.count, None
                # with Disabled it stays where its episode ended
                if not (t > 0 and self.mode == "Disabled" and model.needs_reset):
                    action = actions[t][i] if chosen_by == "user" else table[shown[i] % 4]
                    row = model.step(action, self.mode)
                    assert chosen_by == "user" or rollout.action[t, i] == action
                shown[i] = row[0]
                wanted[-1].append(row)
                assert (rollout.terminated[t, i], rollout.truncated[t, i],
                        rollout.info["elapsed_step"][t, i], rollout.valid[t, i]) == (*row[2:5], row[5] == STEP)
                if t in observed:
                    assert rollout.next_obs["count"][observed.index(t), i, 0] == row[0]
                if row[5] == NO_STEP:
                    want_steps.setdefault(i, t)
        rewards = [[row[1] for row in rows] for rows in wanted]
        if self.normal:
            rewards = [self.normal.scale(range(n), rows, self.mode).tolist() for rows in wanted]
        assert rollout.reward.tolist() == rewards
        assert steps == want_steps and failed.keys() == want_steps.keys()

    @rule(which=ANY, value=st.integers(0, len(JUNK) - 1), call=ANY)
    def assign_junk(self, which, value, call):
        env, n, value = self.env, len(self.models), JUNK[value]
        names = [name for name in sorted(vars(env)) if not name.startswith("_")]
        name, there = names[which % len(names)], dict(vars(env))
        statistics = env.normalization() if self.normal else None
        setattr(env, name, value)
        calls = [
            lambda: env.step([GO] * n), lambda: env.send([GO] * n), env.reset, env.async_reset, env.recv, env.save,
            lambda: env.rollout([[GO] * n] * 3), lambda: env.rollout([[GO]] * 3), lambda: env.rollout_buffers(2),
            lambda: env.rollout(2, policy=lambda obs: [GO] * n), lambda: env.load(env.save()), lambda: repr(env),
            lambda: env.copy([0], [n - 1]), lambda: env.step([GO] * n, out=env.rollout_buffers(1)[0])]
        try:
            calls[call % len(calls)]()
        except Exception:
            # whatever it says, the next rules find a pool that works
            pass
        vars(env).update(there)
        if statistics:
            env.load_normalization(statistics)
        self.reset_all()

    @rule(which=ANY, value=st.integers(0, len(JUNK) - 1))
    def assign_to_what_is_frozen(self, which, value):
        spec = self.env.env_spec
        owners = [(spec, "action"), (spec, "observation"), (spec, "max_episode_steps"), (spec.action, "n"),
                  (spec.observation["count"], "shape"), (spec.observation["count"], "dtype"), (self.env._pool, "spec"),
                  (self.env._pool, "num_envs"), (self.env._pool, "batch_size"), (self.env._pool, "is_async"),
                  (self.env, "env_spec")]
        owner, name = owners[which % len(owners)]
        with pytest.raises(AttributeError):
            setattr(owner, name, JUNK[value])

    @rule()
    def reset_all(self):
        batch = self.env.reset()
        if self.face != "dm":
            obs, info = batch
            rows = len(info["env_id"])
            batch = obs, np.zeros(rows), np.zeros(rows, bool), np.zeros(rows, bool), info
        self.expected = {i: model.reset() for i, model in enumerate(self.models)}
        if self.normal:
            self.normal.returns[:] = 0
        self.check(batch, {})

    @precondition(lambda self: self.env is not None and self.face != "dm" and not self.is_async)
    @rule(data=st.data())
    def reset_mask(self, data):
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(self.models), max_size=len(self.models))))
        if not mask.all() and any(model.count is None for model in self.models):
            with pytest.raises(RuntimeError):
                self.env.reset(options={"reset_mask": mask})
            return
        obs, _ = self.env.reset(options={"reset_mask": mask})
        self.expected = {}
        for i in np.flatnonzero(mask):
            self.models[i].reset()
            if self.normal:
                self.normal.returns[i] = 0
        assert obs["count"][mask, 0].tolist() == [0] * mask.sum()


@pytest.mark.parametrize("examples", [8, *slow(40), *exhaustive(100)])
@pytest.mark.parametrize(("face", "mode"), FACES)
def test_any_order_of_calls_gives_rows_of_the_model(walker, face, mode, examples):
    from walker import functions

    pools = functools.partial(Pools, face, mode, functions.__pyx_capi__["by_count"])
    run_state_machine_as_test(pools, settings=settings(
        max_examples=examples, stateful_step_count=40, deadline=None, database=None,
        suppress_health_check=list(HealthCheck)))


@pytest.mark.parametrize("mask", [[False, False], [True, False]])
def test_reset_mask_before_the_first_reset_is_refused_and_keeps_what_is_in_flight(walker, mask):
    with cypool.make("walker/Trouble-v0", num_envs=2) as env:
        env.async_reset([0])
        with pytest.raises(RuntimeError, match="never reset|the first reset must include all envs"):
            env.reset(options={"reset_mask": np.array(mask)})
        assert env.recv()[4]["env_id"].tolist() == [0]
        env.reset()
        env.step([GO, GO])
