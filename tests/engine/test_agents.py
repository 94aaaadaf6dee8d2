"""Several agents in one environment: rewards, ends and masks of each, as a model in Python has them."""
import copy
import pickle

import numpy as np
import pytest
from pool_arguments import THREADS
from receiving import started

import cypool
from cypool.compat import envpool
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.wrappers.wrappers import Guarded

pytestmark = pytest.mark.families("mpe2")
GROUPS = {"red": 3, "blue": 2}
ALL = 5


class Crowd:
    """The environment `walker/Crowd-v0`, and the engine's rules about agents, in Python."""

    def __init__(self, seed, leave=True, turns=False, kill=0.1, limit=30):
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.leave, self.turns, self.kill, self.limit = leave, turns, kill, limit
        self.over = True

    def look(self):
        self.shown = np.array([self.rng.random() for _ in range(ALL)])

    def reset(self):
        self.alive, self.turn = np.ones(ALL, bool), np.ones(ALL, bool)
        self.acted, self.present = np.zeros(ALL, bool), np.zeros(ALL, bool)
        if self.leave:
            self.alive[-1] = False
        if self.turns:
            self.turn[[1, 3]] = False
        self.returns, self.lengths, self.length, self.over = np.zeros(ALL), np.zeros(ALL, int), 0, False
        self.look()
        return self.row()

    def step(self, choices, pushes):
        self.length += 1
        self.present, self.acted = self.alive.copy(), self.alive & self.turn
        reward, terminated, truncated = np.zeros(ALL), np.zeros(ALL, bool), np.zeros(ALL, bool)
        for k in np.flatnonzero(self.acted):
            reward[k] = self.rng.random() + (choices[k] if k < 3 else float(pushes[k - 3, 0]))
            if self.leave and self.rng.random() < self.kill:
                terminated[k] = True
            elif self.leave and self.rng.random() < self.kill / 2:
                truncated[k] = True
        if self.leave and not self.alive[-1] and self.length == 3:
            self.alive[-1] = True
        all_end = not self.leave and self.rng.random() < self.kill
        if self.turns:
            self.turn = ~self.turn
        self.look()
        terminated |= all_end & self.alive
        at_limit = self.length >= self.limit
        truncated |= at_limit & self.alive & ~terminated
        self.alive &= ~(terminated | truncated)
        self.returns += reward
        self.lengths += self.acted
        ends = not self.alive.any()
        flags = (all_end, at_limit) if all_end or at_limit else (ends and not truncated.any(), ends and truncated.any())
        self.over = any(flags)
        return self.row(reward, terminated, truncated, *flags)

    def row(self, reward=None, terminated=None, truncated=None, *flags):
        """The row of a step, or of none."""
        nobody = np.zeros(ALL, bool)
        seen = (self.present | self.alive)[:, None]
        red = np.where(seen[:3], self.shown[:3, None] + np.arange(3), 0)
        blue = np.where(seen[3:], self.shown[3:, None] - np.arange(4), 0).reshape(2, 2, 2)
        stepped = reward is not None
        columns = {"reward": reward if stepped else np.zeros(ALL), "terminated": terminated if stepped else nobody,
                   "truncated": truncated if stepped else nobody, "acted": self.acted if stepped else nobody,
                   "alive": self.alive.copy()}
        total = 0.0
        for each in columns["reward"]:
            total += each
        return {"red": red, "blue": blue, "total": total, "flags": flags or (False, False), "columns": columns,
                "state": self.shown}


def of_groups(values):
    return {"red": values[:3], "blue": values[3:]}


def check(i, row, obs, reward, terminated, truncated, info, leave=True):
    for group in GROUPS:
        assert obs[group][i].tobytes() == row[group].tobytes(), group
        for name, values in row["columns"].items():
            if name in ("acted", "alive") and not leave:
                assert name not in info["agents"][group]
                continue
            assert info["agents"][group][name][i].tolist() == of_groups(values)[group].tolist(), (group, name)
    assert reward[i] == row["total"] and (terminated[i], truncated[i]) == row["flags"]


def choose(rng, num_envs):
    return {"red": rng.integers(3, size=(num_envs, 3)),
            "blue": rng.uniform(-1, 1, (num_envs, 2, 2)).astype(np.float32)}


def at(actions, i):
    return actions["red"][i], actions["blue"][i]


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("options", [{}, {"leave": False}, {"turns": True}, {"kill": 0.9},
                                     {"turns": True, "kill": 0.5}], ids=str)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_rows_are_those_of_the_model(walker, mode, options, num_threads):
    leave = options.get("leave", True) or options.get("turns", False)
    rng, count = np.random.default_rng(1), 4
    with cypool.make("walker/Crowd-v0", num_envs=count, num_threads=num_threads, seed=5, autoreset_mode=mode,
                     episode_statistics=True, **options) as env:
        models = [Crowd(5 + i, **options) for i in range(count)]
        obs, info = env.reset()
        for i, model in enumerate(models):
            check(i, model.reset(), obs, np.zeros(count), [False] * count, [False] * count, info, leave)
        ended_episodes = 0
        for _ in range(90):
            actions = choose(rng, count)
            obs, reward, terminated, truncated, info = env.step(actions)
            over = terminated | truncated
            for i, model in enumerate(models):
                if model.over:
                    check(i, model.reset(), obs, reward, terminated, truncated, info, leave)
                    continue
                row = model.step(*at(actions, i))
                if mode == "SameStep" and model.over:
                    final = info["final_obs"][i]
                    assert all(final[group].tobytes() == row[group].tobytes() for group in GROUPS)
                if model.over:
                    ended_episodes += 1
                    episode = info["episode"]["agents"]
                    for group in GROUPS:
                        assert episode[group]["r"][i].tolist() == of_groups(model.returns)[group].tolist()
                        assert episode[group]["l"][i].tolist() == of_groups(model.lengths)[group].tolist()
                if mode == "SameStep" and model.over:
                    fresh = model.reset()
                    # rewards and ends are of the step; who is alive, and observations, are of the next episode
                    row["columns"]["alive"] = fresh["columns"]["alive"]
                    row.update(red=fresh["red"], blue=fresh["blue"])
                check(i, row, obs, reward, terminated, truncated, info, leave)
            if mode == "Disabled" and over.any():
                obs, info = env.reset(options={"reset_mask": over})
                for i, model in enumerate(models):
                    if over[i]:
                        check(i, model.reset(), obs, np.zeros(count), [False] * count, [False] * count, info, leave)
        assert ended_episodes > 10


@pytest.mark.parametrize("num_threads", THREADS)
def test_rows_of_an_asynchronous_pool_are_those_of_the_model(walker, num_threads):
    rng, count = np.random.default_rng(2), 6
    env = cypool.make("walker/Crowd-v0", num_envs=count, batch_size=2, num_threads=num_threads, seed=0, kill=0.5)
    models = [Crowd(i, kill=0.5) for i in range(count)]
    env.async_reset()
    sent = {}
    for _ in range(150):
        batch = env.recv()
        ids = batch[-1]["env_id"].tolist()
        for row, i in enumerate(ids):
            made = models[i].reset() if models[i].over else models[i].step(*sent[i])
            check(row, made, *batch)
        actions = choose(rng, len(ids))
        sent.update({i: at(actions, row) for row, i in enumerate(ids)})
        env.send(actions)


def test_actions_of_absent_agents_are_not_read(walker):
    env = cypool.make("walker/Crowd-v0", num_envs=3, seed=0, num_threads=0, kill=0.4)
    same = cypool.make("walker/Crowd-v0", num_envs=3, seed=0, num_threads=0, kill=0.4)
    rng = np.random.default_rng(3)
    _, info = env.reset()
    same.reset()
    over = np.zeros(3, bool)
    absent = 0
    for _ in range(100):
        actions = choose(rng, 3)
        wild = {group: part.copy() for group, part in actions.items()}
        for group in GROUPS:
            gone = ~info["agents"][group]["alive"] | over[:, None]
            absent += gone.sum()
            wild[group][gone] = -(2**40) if group == "red" else np.nan
        batch, other = env.step(wild), same.step(actions)
        assert pickle.dumps(batch) == pickle.dumps(other)
        info, over = batch[-1], batch[2] | batch[3]
    assert absent > 100


def test_an_action_of_an_agent_that_acts_is_checked(walker):
    env = started(cypool.make("walker/Crowd-v0", num_envs=2, seed=0))
    good = choose(np.random.default_rng(0), 2)
    for group, value in (("red", 3), ("red", -1), ("blue", np.nan), ("blue", 1.5)):
        bad = {name: part.copy() for name, part in good.items()}
        bad[group][1, 0] = value
        with pytest.raises(ValueError, match="actions: expected"):
            env.step(bad)
    for bad in (good["red"], {"red": good["red"]}, {**good, "green": good["red"]}, {**good, "red": good["red"][:1]},
                {**good, "red": good["red"][:, :2]}, {**good, "blue": good["blue"][..., :1]}, {**good, "red": None},
                {**good, "red": np.zeros((2, 3))}, {**good, "red": np.zeros((0, 3), int)}, [good, good], None):
        with pytest.raises((ValueError, TypeError), match="actions"):
            env.step(bad)
    env.step({"red": good["red"].reshape(6), "blue": good["blue"].reshape(4, 2)})
    env.step({"red": good["red"].tolist(), "blue": good["blue"].astype(np.float64)})


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("num_threads", (0, 2))
def test_states_have_who_is_alive(walker, mode, num_threads):
    rng = np.random.default_rng(4)
    options = {"num_envs": 3, "num_threads": num_threads, "autoreset_mode": mode, "kill": 0.4, "turns": True,
               "episode_statistics": True}
    env = started(cypool.make("walker/Crowd-v0", seed=0, **options))
    other = cypool.make("walker/Crowd-v0", seed=9, **options)
    for _ in range(30):
        state = env.save()
        copied = pickle.loads(pickle.dumps(state))
        actions = [choose(rng, 3) for _ in range(4)]
        outcomes = []
        for pool in (env, other):
            shown = pool.load(copied)
            outcomes.append([pickle.dumps(shown[0])])
            for each in actions:
                if mode == "Disabled" and not pool._pool.acting().any(1).all():
                    break
                *batch, info = pool.step(each)
                info.pop("episode", None)
                outcomes[-1].append(pickle.dumps((batch, info)))
                if mode == "Disabled" and (batch[2] | batch[3]).any():
                    pool.reset(options={"reset_mask": batch[2] | batch[3]})
        assert outcomes[0] == outcomes[1]
        env.copy([0], [1])
        a, b = env.save([0, 1]).rows
        assert {**a, "episode_ns": 0} == {**b, "episode_ns": 0}


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_calls_gives_rows_of_the_models(walker, mode, num_threads, seed):
    """Steps of some, resets, states and copies, against the models."""
    rng, count = np.random.default_rng(seed), 5
    options = {"kill": 0.3, "turns": bool(seed % 2)}
    env = cypool.make("walker/Crowd-v0", num_envs=count, num_threads=num_threads, seed=0, autoreset_mode=mode,
                      **options)
    models = [Crowd(i, **options) for i in range(count)]
    none = np.zeros(count), [False] * count, [False] * count

    obs, info = env.reset()
    for i, model in enumerate(models):
        check(i, model.reset(), obs, *none, info)
    saved = None
    for _ in range(120):
        ids = rng.permutation(count)[:rng.integers(1, count + 1)]
        what = rng.choice(["step", "step", "step", "step", "reset", "mask", "save", "load", "copy"])
        if what == "step":
            if mode == "Disabled":
                ids = np.array([i for i in ids if not models[i].over], int)
            if not len(ids):
                continue
            actions = choose(rng, len(ids))
            batch = env.step(actions, ids)
            for k, i in enumerate(ids):
                if models[i].over:
                    check(k, models[i].reset(), *batch)
                    continue
                row = models[i].step(*at(actions, k))
                if mode == "SameStep" and models[i].over:
                    fresh = models[i].reset()
                    row["columns"]["alive"] = fresh["columns"]["alive"]
                    row.update(red=fresh["red"], blue=fresh["blue"])
                check(k, row, *batch)
        elif what == "reset":
            seeds = None if rng.random() < 0.5 else rng.integers(1000, size=len(ids)).tolist()
            obs, info = env.reset(ids, seed=seeds)
            for k, i in enumerate(ids):
                if seeds is not None:
                    models[i].rng = np.random.Generator(np.random.PCG64(seeds[k]))
                check(k, models[i].reset(), obs, *none, info)
        elif what == "mask":
            mask = rng.random(count) < 0.3
            obs, info = env.reset(options={"reset_mask": mask})
            for i, model in enumerate(models):
                check(i, model.reset() if mask[i] else model.row(), obs, *none, info)
        elif what == "save":
            saved = env.save(ids), [copy.deepcopy(models[i]) for i in ids]
        elif what == "load" and saved is not None:
            targets = rng.permutation(count)[:len(saved[1])]
            obs, info = env.load(saved[0], targets)
            for k, i in enumerate(targets):
                models[i] = copy.deepcopy(saved[1][k])
                check(k, models[i].row(), obs, *none, info)
        elif what == "copy" and len(ids) > 1:
            env.copy(int(ids[0]), ids[1:])
            for i in ids[1:]:
                models[i] = copy.deepcopy(models[ids[0]])


def test_damaged_states_are_refused(walker):
    env = started(cypool.make("walker/Crowd-v0", num_envs=1, seed=0, turns=True))
    for key, value in (("agents", None), ("agents", {}), ("alive", [True] * 4), ("alive", [1] * 5),
                       ("present", "x" * 5), ("turn", None), ("episode_return", ["a"] * 5),
                       ("episode_length", [-1] * 5), ("episode_length", [2**40] * 5), ("alive", (True,) * 5)):
        state = pickle.loads(pickle.dumps(env.save()))
        if key == "agents":
            state.rows[0]["agents"] = value
        else:
            state.rows[0]["agents"][key] = value
        with pytest.raises(ValueError, match="state: expected rows"):
            env.load(state)
    plain = started(cypool.make("CartPole-v1", seed=0))
    state = plain.save()
    assert state.rows[0]["agents"] is None
    state.rows[0]["agents"] = {"alive": [True]}
    with pytest.raises(ValueError, match="agents"):
        plain.load(state)


@pytest.mark.parametrize("num_threads", THREADS)
def test_environment_that_raises_ends_for_all_its_agents(walker, num_threads):
    env = started(cypool.make("walker/Crowd-v0", num_envs=5, seed=0, num_threads=num_threads, raises=True,
                              autoreset_mode="SameStep"))
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(200):
        try:
            env.step(choose(rng, 5))
        except cypool.EnvError as error:
            obs, reward, _, truncated, info = error.batch
            for i in error.causes:
                failures += 1
                assert reward[i] == 0 and truncated[i]
                for group in GROUPS:
                    columns = {name: part[i] for name, part in info["agents"][group].items()}
                    assert not obs[group][i].any() and not columns["reward"].any() and not columns["alive"].any()
                    assert (columns["truncated"] == columns["acted"]).all()  # no turns: who is there acts
    assert failures > 20


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_rollouts_are_steps(walker, mode):
    rng = np.random.default_rng(6)
    options = {"num_envs": 3, "seed": 0, "autoreset_mode": mode, "kill": 0.3, "num_threads": 2}
    env, other = (started(cypool.make("walker/Crowd-v0", **options)) for _ in range(2))
    each = [choose(rng, 3) for _ in range(20)]
    buffers = env.rollout({group: np.stack([actions[group] for actions in each]) for group in GROUPS})
    out = other.rollout_buffers(20)
    other.rollout({group: np.stack([actions[group] for actions in each]) for group in GROUPS}, out=out)
    again = started(cypool.make("walker/Crowd-v0", **options))
    over = np.zeros(3, bool)
    for t, actions in enumerate(each):
        ids = np.flatnonzero(~over)
        if not len(ids):
            break
        obs, reward, _, _, info = again.step({group: part[ids] for group, part in actions.items()}, ids)
        for group in GROUPS:
            for got in (buffers, out):
                assert got.next_obs[group][t, ids].tobytes() == obs[group].tobytes()
                for name, values in info["agents"][group].items():
                    assert got.info["agents"][group][name][t, ids].tolist() == values.tolist()
        assert buffers.reward[t, ids].tolist() == reward.tolist()
        if mode == "Disabled":
            over |= buffers.terminated[t] | buffers.truncated[t]


def test_search_sums_the_rewards_of_agents(walker):
    env = started(cypool.make("walker/Crowd-v0", num_envs=4, seed=0, autoreset_mode="Disabled", leave=False, kill=0.0))
    rng = np.random.default_rng(7)
    actions = {"red": rng.integers(3, size=(6, 5, 3)), "blue": np.zeros((6, 5, 2, 2), np.float32)}
    result = env.search(env.save([0]), actions)
    assert np.allclose(result.reward - actions["red"].sum((1, 2)), result.reward[0] - actions["red"][0].sum())
    assert (result.length == 5).all()


def test_parts_within_groups_equal_plain_observations(walker):
    env = cypool.make("walker/Crowd-v0", num_envs=3, seed=0, parts=True, autoreset_mode="SameStep", kill=0.5)
    plain = cypool.make("walker/Crowd-v0", num_envs=3, seed=0, autoreset_mode="SameStep", kill=0.5)
    assert [name for name, _ in env.env_spec.observations] == ["red", ("blue", "place"), ("blue", "mood")]
    obs, _ = env.reset()
    plain.reset()
    rng = np.random.default_rng(8)
    for _ in range(20):
        actions = choose(rng, 3)
        obs, *_, info = env.step(actions)
        wanted, *_, other = plain.step(actions)
        assert obs["blue"]["place"].tobytes() == wanted["blue"].tobytes()
        assert (obs["blue"]["mood"] == (wanted["blue"][:, :, 0, 0] * 4).astype(int)).all()
        assert env.observation_space.contains(obs)
        for i in np.flatnonzero(info.get("_final_obs", ())):
            assert info["final_obs"][i]["blue"]["place"].tobytes() == other["final_obs"][i]["blue"].tobytes()
    out = tuple(env.rollout_buffers(1)[0])
    env.step(actions, out=out)
    with pytest.raises(TypeError, match="out: expected a dict"):
        env.step(actions, out=({"red": out[0]["red"], "blue": out[0]["red"]}, *out[1:]))


@pytest.mark.parametrize("state", ["observations", "own", None])
def test_the_state_of_a_central_critic(walker, state):
    env = cypool.make("walker/Crowd-v0", num_envs=3, seed=0, state=state, kill=0.4)
    if state is None:
        env.reset()
        with pytest.raises(NotImplementedError, match="state"):
            env.state()
        return
    with pytest.raises(RuntimeError, match="reset"):
        env.state()
    obs, info = env.reset()
    for _ in range(10):
        if state == "own":
            assert env.state() is info["state"] and env.state().shape == (3, 5)
        else:
            wanted = np.concatenate([obs["red"].reshape(3, -1), obs["blue"].reshape(3, -1)], 1)
            assert env.state().tobytes() == wanted.tobytes()
        obs, *_, info = env.step(choose(np.random.default_rng(0), 3))


def test_views_by_agent_share_memory(walker):
    env = cypool.make("walker/Crowd-v0", num_envs=3, seed=0, parts=True)
    obs, info = env.reset()
    views = env.by_agent(obs)
    assert list(views) == ["red_0", "red_1", "red_2", "blue_0", "blue_1"] == env.env_spec.agent_names
    assert np.shares_memory(views["red_1"], obs["red"]) and (views["red_1"] == obs["red"][:, 1]).all()
    assert np.shares_memory(views["blue_1"]["place"], obs["blue"]["place"])
    rows = obs["red"].reshape(9, 3)
    assert np.shares_memory(rows, obs["red"])
    alive = env.by_agent({group: columns["alive"] for group, columns in info["agents"].items()})
    assert alive["blue_1"].tolist() == [False] * 3
    for bad in (obs["red"], {"red": obs["red"]}, {**obs, "blue": 3}, {**obs, "red": obs["red"][:, :2]}, None):
        with pytest.raises((TypeError, ValueError), match="values"):
            env.by_agent(bad)
    with pytest.raises(ValueError, match="several agents"):
        cypool.make("CartPole-v1").by_agent(np.zeros((1, 4)))


def test_hooks_in_c_change_rewards_and_observations_of_groups(walker):
    from walker.agents import functions

    options = {"num_envs": 3, "seed": 0, "kill": 0.4}
    plain = cypool.make("walker/Crowd-v0", **options)
    doubled = cypool.make("walker/Crowd-v0", reward_hook=functions()["double_rewards"], debug=True, **options)
    total = cypool.make("walker/Crowd-v0", reward_hook=functions()["set_total"], **options)
    small = {"red": Array((1,), np.float64), "blue": Array((1,), np.float64)}
    seen = cypool.make("walker/Crowd-v0", observation_hook=(functions()["first_numbers"], small), **options)
    assert seen.single_observation_space["red"].shape == (3, 1)
    pools = plain, doubled, total, seen
    starts = [pool.reset() for pool in pools]
    assert (starts[3][0]["red"] == starts[0][0]["red"][:, :, :1]).all()
    over = np.zeros(3, bool)
    for _ in range(40):
        actions = choose(np.random.default_rng(0), 3)
        a, b, c, d = (pool.step(actions) for pool in pools)
        for group in GROUPS:
            assert (2 * a[-1]["agents"][group]["reward"] == b[-1]["agents"][group]["reward"]).all()
            assert (a[-1]["agents"][group]["alive"] == c[-1]["agents"][group]["alive"]).all()
        assert np.allclose(2 * a[1], b[1]) and (c[1][~over] == 105).all() and (c[1][over] == 0).all()
        assert (d[0]["red"] == a[0]["red"][:, :, :1]).all()
        assert (d[0]["blue"] == a[0]["blue"][:, :, 0, :1]).all()
        over = a[2] | a[3]
    with pytest.raises(ValueError, match="observation_hook: observation: expected one observation for each group"):
        cypool.make("walker/Crowd-v0", observation_hook=(functions()["first_numbers"], Array((1,), np.float64)))


def test_hooks_in_python_see_each_group(walker):
    def reward(batch):
        assert set(batch.action) == {"red", "blue"} and batch.action["blue"].shape == (3, 2, 2)
        return batch.action["red"].sum(1)

    def observed(obs):
        return {group: part.reshape(*part.shape[:2], -1)[..., :1] for group, part in obs.items()}

    small = {"red": Array((1,), np.float64), "blue": Array((1,), np.float64)}
    env = started(cypool.make("walker/Crowd-v0", num_envs=3, seed=0, leave=False, kill=0.0, reward_hook=reward,
                              observation_hook=(observed, small), autoreset_mode="SameStep"))
    for _ in range(40):
        actions = choose(np.random.default_rng(0), 3)
        obs, rewards, *_ = env.step(actions)
        assert obs["blue"].shape == (3, 2, 1) and (rewards == actions["red"].sum(1)).all()
    bad = cypool.make("walker/Crowd-v0", observation_hook=(lambda obs: {"red": obs["red"]}, small))
    with pytest.raises(ValueError, match="observation_hook: expected"):
        bad.reset()


def test_policy_in_c_acts_for_living_agents(walker):
    from walker.agents import functions

    env = started(cypool.make("walker/Crowd-v0", num_envs=3, seed=0, kill=0.2, num_threads=2))
    made = env.rollout(50, policy=functions()["alive_choose_two"])
    alive = np.concatenate([np.ones((1, 3, 3), bool), made.info["agents"]["red"]["alive"][:-1]])
    assert (made.action["red"] == 2 * alive).all() and not alive.all()


def test_policy_in_python_may_choose_nonsense_for_absent_agents(walker):
    options = {"num_envs": 3, "seed": 0, "kill": 0.5, "autoreset_mode": "Disabled"}
    env = started(cypool.make("walker/Crowd-v0", **options))

    def policy(obs):
        # nonsense for agents that have left
        red = np.where(obs["red"][..., 0] == 0, 7, 1)
        blue = np.where(obs["blue"][..., 0, :1] == 0, np.nan, 0.5) * np.ones(2)
        return {"red": red, "blue": blue}

    made = env.rollout(40, policy=policy)
    assert not np.isnan(made.action["blue"]).any() and set(np.unique(made.action["red"])) <= {0, 1}


def test_network_for_a_group_chooses_for_each_agent(walker):
    env = cypool.make("walker/Herd-v0", num_envs=3, seed=0, num_threads=0)
    rng = np.random.default_rng(0)
    weights, biases = [rng.normal(size=(8, 3)), rng.normal(size=(4, 8))], [rng.normal(size=8), rng.normal(size=4)]
    network = cypool.MLP(env.env_spec, weights, biases)
    obs, _ = env.reset()
    same = started(cypool.make("walker/Herd-v0", num_envs=3, seed=0, num_threads=2))
    made = same.rollout(20, policy=network)
    for t in range(20):
        actions = network(obs)
        assert actions.shape == (3, 5) and (made.action[t] == actions).all()
        obs, *_ = env.step(actions)
        assert (made.next_obs[t] == obs).all()
    flat = network(obs.reshape(15, 3))
    assert (flat == network(obs).reshape(15)).all()
    with pytest.raises(ValueError, match="one group"):
        cypool.MLP(cypool.make_spec("walker/Crowd-v0"), weights, biases)


@pytest.mark.parametrize("num_threads", THREADS)
def test_environments_that_all_fail_to_step_together_have_a_cause_each(walker, num_threads):
    env = cypool.make("walker/Herd-v0", together=True, fails=True, num_envs=40, num_threads=num_threads)
    for _ in range(3):
        env.reset(seed=0)
        actions = env.action_space.sample()
        with pytest.raises(cypool.EnvError) as caught:
            env.step(actions)
        assert {i: str(cause) for i, cause in caught.value.causes.items()} == dict.fromkeys(range(40), "herd")
        # each begins an episode
        env.step(actions)


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_environments_stepped_together_equal_single_ones(walker, mode, num_threads):
    options = {"num_envs": 70, "seed": 0, "num_threads": num_threads, "autoreset_mode": mode,
               "episode_statistics": True}
    env, other = cypool.make("walker/Herd-v0", together=True, **options), cypool.make("walker/Herd-v0", **options)
    rng = np.random.default_rng(0)

    def comparable(batch):
        *rest, info = batch
        info.get("episode", {}).pop("t", None)
        return pickle.dumps((rest, info))

    assert pickle.dumps(env.reset()) == pickle.dumps(other.reset())
    ended = 0
    for _ in range(60):
        actions = rng.integers(4, size=(70, 5))
        one, two = env.step(actions), other.step(actions)
        over = one[2] | one[3]
        ended += over.sum()
        assert comparable(one) == comparable(two)
        if mode == "Disabled" and over.any():
            for pool in (env, other):
                pool.reset(options={"reset_mask": over})
    assert ended > 50


def test_environments_of_a_pool_have_the_same_agents(walker):
    for name, value in (("leave", False), ("turns", True)):
        with pytest.raises(ValueError, match="env_options: expected the same .* in all environments"):
            cypool.make("walker/Crowd-v0", num_envs=2, env_options=[{}, {name: value}])


def test_wrong_groups_are_refused():
    one = Array((1,), np.float32)
    for bad in ({"count": 0}, {"count": True}, {"count": 1.5}, {"observation": 3}, {"observation": {}},
                {"observation": {1: one}}, {"action": None}, {"names": ("a",)}, {"names": ("a", "a")},
                {"names": ["a", "b"]}):
        with pytest.raises((TypeError, ValueError), match=next(iter(bad))):
            Group(**{"count": 2, "observation": one, "action": Discrete(2), **bad})
    group = Group(2, one, Discrete(2))
    for bad in ({"agents": {"": group}}, {"agents": {"a": 3}}, {"agents": [group]}, {"agents": {}},
                {"agents": {}, "turns": True}, {"agents": {"a": group}, "state": 3},
                {"agents": {"a": group}, "observation": one},
                {"agents": {"a": group}, "state": one, "info": {"state": Array((2,), np.int32)}},
                {"agents": {"a": Group(1, one, Discrete(2), ("x",)), "b": Group(1, one, Discrete(2), ("x",))}}):
        with pytest.raises((TypeError, ValueError), match="expected"):
            EnvSpec(**bad)


def test_an_environment_around_another_is_made_once(walker):
    from walker.agents import Crowd

    spec = cypool.make_spec("walker/Crowd-v0")
    first, second = Crowd(spec, 0), Crowd(spec, 0)
    outer = Guarded(spec, 0, first)
    with pytest.raises(RuntimeError, match="already initialized"):
        outer.__init__(spec, 0, second)
    del outer, first, second


@pytest.mark.parametrize("env_type", ["gym", "dm"])
def test_other_faces_say_what_to_use(walker, env_type):
    with pytest.raises(ValueError, match="env_type: expected 'gymnasium'.*walker/Crowd-v0"):
        cypool.make("walker/Crowd-v0", env_type=env_type)
    with pytest.raises(ValueError, match="normalize_obs"):
        cypool.make("walker/Crowd-v0", normalize_reward=True)


def test_dm_has_one_group_that_stays(walker):
    options = {"num_envs": 3, "seed": 0, "leave": False}
    env, other = (cypool.make("walker/Herd-v0", env_type, **options) for env_type in ("dm", "gymnasium"))
    spec = env.observation_spec()
    assert env.action_spec().shape == (5,) and set(spec.agents["cow"]) == {"reward", "terminated", "truncated"}
    seen, info = env.reset().observation, other.reset()[1]
    for _ in range(40):
        for name, each in info["agents"]["cow"].items():
            assert (seen.agents["cow"][name] == each).all()
            assert (each.shape[1:], each.dtype) == (spec.agents["cow"][name].shape, spec.agents["cow"][name].dtype)
        step = env.step(np.ones((3, 5), int))
        obs, reward, terminated, truncated, info = other.step(np.ones((3, 5), int))
        seen = step.observation
        assert (seen.obs == obs).all() and (step.reward == reward).all()
        assert (step.last() == terminated | truncated).all()


@pytest.mark.parametrize("leave", [False, True])
def test_batch_without_rows_has_the_columns_of_agents(walker, leave):
    env = envpool.make_gymnasium("walker/Crowd-v0", num_envs=3, leave=leave)
    agents = env.reset()[1]["agents"]
    none = env.reset(np.zeros(0, int))[1]["agents"]
    assert none.keys() == agents.keys()
    for name, columns in agents.items():
        assert none[name].keys() == columns.keys()
        for key, column in columns.items():
            assert (none[name][key].shape, none[name][key].dtype) == ((0, *column.shape[1:]), column.dtype)


def test_random_calls_step_or_raise(walker):
    """Whatever a user passes is an error or a step."""
    rng = np.random.default_rng(0)
    env = started(cypool.make("walker/Crowd-v0", num_envs=4, seed=0, turns=True, kill=0.3, num_threads=2))
    steps = 0
    for _ in range(1000):
        actions = choose(rng, 4)
        for group in GROUPS:
            if rng.random() < 0.3:
                part = actions[group]
                actions[group] = [None, part[:3], part.reshape(-1), part[:, :1], part * 1e9, part.astype(object), "x",
                                  np.full(part.shape, np.nan), part.T, np.broadcast_to(part[:1], part.shape),
                                  part[::-1], part.astype("S8"), []][rng.integers(13)]
        try:
            env.step(actions, None if rng.random() < 0.8 else [0, 5])
            steps += 1
        except (TypeError, ValueError):
            pass
    assert steps > 100
    env.step(choose(rng, 4))


@pytest.mark.parametrize("policy", [None, lambda obs: np.zeros((2, 3), int)])
def test_state_after_a_rollout_is_that_of_its_last_step(policy):
    env, twin = (started(cypool.make("mpe2/simple_spread-v3", num_envs=2, seed=0)) for _ in "12")
    for _ in range(4):
        twin.step(np.zeros((2, 3), int))
    env.rollout(np.zeros((4, 2, 3), int)) if policy is None else env.rollout(4, policy=policy)
    assert env.state().tobytes() == twin.state().tobytes()
    env.rollout(np.zeros((2, 2, 3), int), observe="last")
    with pytest.raises(TimeoutError):
        env.rollout(np.zeros((2, 2, 3), int), timeout=0)
    with pytest.raises(RuntimeError, match="no batch has been received"):
        env.state()
