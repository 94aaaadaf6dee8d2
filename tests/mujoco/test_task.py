"""Tasks: pools of them against Gymnasium's vector environments of the same rules, one environment after another."""
import copy
import pickle

import gymnasium
import numpy as np
import pytest
from receiving import started

import cypool

mujoco = pytest.importorskip("mujoco")
from cypool.mujoco import Task  # noqa: E402

pytestmark = pytest.mark.families("mujoco")
XML = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <light pos="0 0 3"/>
    <body name="cart" pos="0 0 1">
      <joint name="slide" type="slide" axis="1 0 0" damping="1" limited="true" range="-1 1"/>
      <geom type="capsule" fromto="-.1 0 0 .1 0 0" size=".05" mass="1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0"/>
        <geom name="pole" type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".1"/>
        <site name="tip" pos="0 0 .6"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="10" ctrlrange="-1 1" ctrllimited="true"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/><jointvel name="speed" joint="hinge"/></sensor>
</mujoco>"""


class Pole(Task):
    """Keeps a pole upright."""

    model = XML
    frame_skip = 2
    max_episode_steps = 12

    def __init__(self, width=0.2):
        self.width = width

    def setup(self, sim):
        self.tip = sim.site("tip").xpos
        self.count = self.add_state((), np.int64)
        self.before = self.add_state(1, np.float32)

    def reset(self, sim, ids, rng):
        sim.reset(ids)
        sim.qpos[ids, 1] = rng.uniform(-self.width, self.width)
        sim.qvel[ids] = rng.normal(0, 0.5, 2)
        self.count[ids] = rng.integers(5)
        self.before[ids] = 0

    def act(self, sim, action):
        sim.ctrl[:] = 0.5 * action

    def observe(self, sim):
        return np.concatenate([sim.qpos, sim.qvel, sim.sensor("angle", "speed"), self.tip, self.before], 1)

    def reward(self, sim, action):
        self.count += 1
        change = np.sum((action - self.before) ** 2, 1)
        self.before[:] = action
        return self.tip[:, 2] - change

    def terminated(self, sim):
        return np.abs(sim.qpos[:, 1]) > 0.4

    def info(self, sim):
        return {"count": self.count, "place": sim.qpos[:, :1]}


class PoleEnv(gymnasium.Env):
    """The same rules for one environment."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (10,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(XML)
        self.data = mujoco.MjData(self.model)
        self.before = np.zeros(1, np.float32)

    def observed(self):
        d = self.data
        obs = np.concatenate([d.qpos, d.qvel, d.sensordata, d.site("tip").xpos, self.before])
        return obs.astype(np.float32), {"count": self.count, "place": d.qpos[:1].copy()}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[1] = self.np_random.uniform(-0.2, 0.2)
        self.data.qvel[:] = self.np_random.normal(0, 0.5, 2)
        self.count = self.np_random.integers(5)
        self.before[:] = 0
        mujoco.mj_forward(self.model, self.data)
        return self.observed()

    def step(self, action):
        self.data.ctrl[:] = 0.5 * action
        mujoco.mj_step(self.model, self.data, 2)
        self.count += 1
        change = np.sum((action - self.before) ** 2)
        self.before[:] = action
        reward = self.data.site("tip").xpos[2] - change
        obs, info = self.observed()
        return obs, reward, abs(self.data.qpos[1]) > 0.4, False, info


def actions(steps, num_envs, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (steps, num_envs, 1)).astype(np.float32)


@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_task_equals_gymnasium_environments_of_the_same_rules(mode, num_threads):
    reference = gymnasium.vector.SyncVectorEnv(
        [lambda: gymnasium.wrappers.TimeLimit(PoleEnv(), 12)] * 7, autoreset_mode=gymnasium.vector.AutoresetMode(mode))
    with cypool.make(Pole, num_envs=7, num_threads=num_threads, autoreset_mode=mode) as env:
        assert env.single_observation_space == PoleEnv.observation_space
        assert env.single_action_space == PoleEnv.action_space
        (obs, info), (expected, expected_info) = env.reset(seed=3), reference.reset(seed=3)
        ends, masked = 0, False
        for t, action in enumerate(actions(80, 7)):
            assert np.array_equal(obs, expected), t
            # Gymnasium's infos of environments that were not reset are zero
            for name in ("count", "place") if not masked else ():
                assert np.array_equal(info[name], expected_info[name]), (t, name)
            obs, *results, info = env.step(action)
            expected, *expected_results, expected_info = reference.step(action)
            for result, other in zip(results, expected_results, strict=True):
                assert np.array_equal(result, other), t
            ended = results[1] | results[2]
            ends += ended.sum()
            if mode == "SameStep":
                for i in np.flatnonzero(ended):
                    assert np.array_equal(info["final_obs"][i], expected_info["final_obs"][i]), t
                    assert info["final_info"]["count"][i] == expected_info["final_info"]["count"][i]
            masked = mode == "Disabled" and ended.any()
            if masked:
                obs, info = env.reset(options={"reset_mask": ended})
                expected, expected_info = reference.reset(options={"reset_mask": ended})
        assert ends > 40
        assert env.spec is None


def test_task_rows_do_not_depend_on_the_number_of_environments():
    rows = []
    for num_envs in (3, 8):
        with started(cypool.make(Pole, num_envs=num_envs, seed=5)) as env:
            rows.append([env.step(action[:num_envs])[0][:3] for action in actions(40, 8)])
    assert np.array_equal(*rows)


def test_task_without_lanes_has_the_same_rows():
    class Without(Pole):
        physics = "mj_step"

    with cypool.make(Pole, num_envs=9, seed=5) as env, cypool.make(Without, num_envs=9, seed=5) as other:
        assert other.stepped_by == 'mj_step: physics="mj_step"'
        assert np.array_equal(env.reset()[0], other.reset()[0])
        for action in actions(40, 9):
            for one, two in zip(env.step(action)[:4], other.step(action)[:4], strict=True):
                assert np.array_equal(one, two)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_task_counts_its_episodes(mode):
    with cypool.make(Pole, num_envs=4, autoreset_mode=mode, episode_statistics=True) as env:
        env.reset(seed=0)
        for action in actions(20, 4):
            *_, terminated, truncated, info = env.step(action)
            ended = terminated | truncated
            if mode == "Disabled" and ended.any():
                env.reset(options={"reset_mask": ended})
            if ended.any() and mode == "NextStep":
                assert (info["episode"]["l"][ended] > 0).all()


def test_task_states_are_saved_loaded_and_copied():
    with cypool.make(Pole, num_envs=4, seed=1) as env, cypool.make(Pole, num_envs=4, seed=9) as other:
        env.reset()
        other.reset()
        for action in actions(9, 4):
            env.step(action)
        state = pickle.loads(pickle.dumps(env.save()))
        other.load(state)
        env.load(state)
        for action in actions(30, 4, 1):
            for one, two in zip(env.step(action)[:4], other.step(action)[:4], strict=True):
                assert np.array_equal(one, two)
        env.copy([0], [3])
        obs, *_ = env.step(np.zeros((4, 1), np.float32))
        assert np.array_equal(obs[0], obs[3])


@pytest.mark.parametrize("edit", [
    lambda own: ({**own[0], "data.qpos": b"1234"}, own[1]), lambda own: ({"data.qpos": own[0]["data.qpos"]}, own[1]),
    lambda own: ({**own[0], "model.nothing": b""}, own[1]), lambda own: ({**own[0], 3: b""}, own[1]),
    lambda own: (own[0], 1), lambda own: own[0], lambda own: None,
    lambda own: ({**own[0], "task.0": "x" * 8}, own[1])])
def test_task_state_with_wrong_parts_is_refused(edit):
    with started(cypool.make(Pole, num_envs=2, seed=1)) as env:
        state = env.save()
        state.rows[1]["own"] = edit(state.rows[1]["own"])
        with pytest.raises(ValueError, match="state: expected rows returned by save"):
            env.load(state)


def test_task_pool_is_made_again_from_its_pickle():
    with cypool.make(Pole, num_envs=3, seed=2, width=0.1, max_episode_steps=5) as env:
        made = pickle.loads(pickle.dumps(env))
        deep = copy.deepcopy(env)
        expected, _ = env.reset()
        for each in (made, deep):
            assert np.array_equal(each.reset()[0], expected)
            assert each.env_spec.max_episode_steps == 5
            each.close()


def test_task_object_serves_several_pools():
    task = Pole(0.1)
    with cypool.make(task, num_envs=2, seed=0) as one, cypool.make(task, num_envs=3, seed=0) as other:
        assert np.array_equal(one.reset()[0], other.reset()[0][:2])
    with pytest.raises(TypeError, match="width: expected no options with a task instance"):
        cypool.make(task, width=0.2)
    for name, hint in (("randomize", "to vary its model, call sim.expand in setup"), ("widht", "did you mean width."),
                       ("frame_skip", "to change it, make a subclass")):
        with pytest.raises(ValueError, match=rf"^{name}: not an option of Pole \({hint}\); options: width"):
            cypool.make(Pole, **{name: 1})
    assert cypool.make_spec(Pole).options == {"width": 0.2} and cypool.make_spec(Pole, width=3).options == {"width": 3}


def test_task_may_keep_the_actions():
    class Keeping(Pole):
        kept = ()

        def reward(self, sim, action):
            self.kept = (*self.kept, action)
            return 0

    with started(cypool.make(Keeping, num_envs=3)) as env:
        for action in actions(4, 3):
            env.step(action)
        assert np.array_equal(env.task.kept, actions(4, 3))


def test_task_with_parts_of_observations():
    class Parts(Pole):
        def observe(self, sim):
            return {"robot": sim.qpos, "tip": self.tip.astype(np.float32)}

    with cypool.make(Parts, num_envs=3) as env:
        obs, _ = env.reset(seed=0)
        assert set(obs) == {"robot", "tip"}
        assert obs["tip"].shape == (3, 3)
        assert env.single_observation_space["robot"].shape == (2,)


def test_task_render_shows_the_robot():
    class Seen(Pole):
        render_options = {"width": 64, "height": 48}

    with cypool.make(Seen, num_envs=2, render_mode="rgb_array") as env:
        env.reset(seed=0)
        try:
            pictures = env.render()
        except ImportError as error:
            pytest.skip(str(error))
        assert pictures[1].shape == (48, 64, 3)
        assert np.std(pictures[1]) > 5
        assert env.metadata["render_fps"] == 50


@pytest.mark.parametrize(("method", "result", "message"), [
    ("reward", lambda self, sim, action: np.zeros((3, 1)), r"Own.reward: expected numbers of shape \(3,\), got"),
    ("reward", lambda self, sim, action: ["a"] * 3, r"Own.reward: expected numbers of shape .*, got <U1"),
    ("reward", lambda self, sim, action: action.mean(), r"Own.reward: expected .* got float32 of shape \(\)"),
    ("terminated", lambda self, sim: np.zeros(2, bool), r"Own.terminated: expected bools of shape \(3,\)"),
    ("terminated", lambda self, sim: sim.qpos[:, 0], r"Own.terminated: expected bools of shape .*, got float64"),
    ("truncated", lambda self, sim: 1, r"Own.truncated: expected bools of shape .*, got int64"),
    ("act", lambda self, sim, action: sim.ctrl.__setitem__(slice(None), np.zeros((3, 4))), "could not broadcast"),
    ("act", lambda self, sim, action: 1 / 0, "division by zero"),
    ("terminated", lambda self, sim: sim.step(ids=[0, 0]), "ids: expected each id at most once"),
])
def test_task_method_that_fails_raises_from_step_and_the_pool_goes_on(method, result, message):
    Own = type("Own", (Pole,), {method: result})
    with cypool.make(Own, num_envs=3) as env:
        env.reset(seed=0)
        with pytest.raises((ValueError, ZeroDivisionError), match=message):
            env.step(actions(1, 3)[0])
        setattr(Own, method, getattr(Pole, method))
        env.reset(seed=0)
        env.step(actions(1, 3)[0])


@pytest.mark.parametrize(("changes", "message"), [
    ({"model": None}, "Own.model: expected a path"), ({"model": 3}, "model: expected a path"),
    ({"frame_skip": 0}, "Own.frame_skip: expected"), ({"max_episode_steps": 0}, "max_episode_steps: expected"),
    ({"observe": lambda self, sim: 3.0}, r"observe\(\): expected an array with 3 rows"),
    ({"info": lambda self, sim: {"x": np.zeros(2)}}, r"info\(\)\['x'\]: expected an array with 3 rows"),
    ({"action_space": gymnasium.spaces.Text(3)}, "Own.action_space: expected a gymnasium.spaces.Box"),
    ({"setup": lambda self, sim: self.add_state(3, "U3")}, "dtype: expected numbers or bools"),
    ({"observe": Task.observe}, "Own.observe: a task must define this method"),
])
def test_task_that_is_wrong_is_a_sentence(changes, message):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=message):
        cypool.make(type("Own", (Pole,), changes), num_envs=3)


def test_task_arguments_that_do_not_fit_are_sentences():
    for arguments, message in (({"batch_size": 2}, "batch_size: expected 4"), ({"env_options": [{}] * 4}, "env_option"),
                               ({"debug": True}, "debug"), ({"unknown": 1}, "unknown"), ({"seed": -1}, "seed")):
        with pytest.raises((TypeError, ValueError), match=message):
            cypool.make(Pole, num_envs=4, **arguments)
    with started(cypool.make(Pole, num_envs=4)) as env:
        with pytest.raises(ValueError, match="env_id: expected all 4 environments"):
            env.step(np.zeros((2, 1), np.float32), env_id=[0, 1])
        with pytest.raises(ValueError, match="tasks have no other options"):
            env.reset(options={"width": 3})


def test_task_that_calls_its_own_pool_gets_an_error():
    class Calling(Pole):
        def reward(self, sim, action):
            with pytest.raises(RuntimeError, match="another call is using the pool"):
                self.env.step(action)
            with pytest.raises(RuntimeError, match="close"):
                self.env.close()
            return super().reward(sim, action)

    with cypool.make(Calling, num_envs=2) as env:
        env.reset(seed=0)
        env.task.env = env
        env.step(np.zeros((2, 1), np.float32))


def test_task_simulation_that_fails_costs_one_row():
    class Failing(Pole):
        def setup(self, sim):
            super().setup(sim)
            self.friction = sim.expand("geom_friction")

        def act(self, sim, action):
            super().act(sim, action)
            self.friction[1] = np.nan if action[1, 0] > 0.9 else 1

        def reset(self, sim, ids, rng):
            self.friction[ids] = 1
            super().reset(sim, ids, rng)

    with cypool.make(Failing, num_envs=3) as env:
        env.reset(seed=0)
        with pytest.raises(cypool.EnvError, match="env 1: RuntimeError: geom_friction") as raised:
            env.step(np.ones((3, 1), np.float32))
        obs, _, _, truncated, _ = raised.value.batch
        assert list(truncated) == [False, True, False]
        assert not obs[1].any()
        assert obs[0].any()
        env.step(np.zeros((3, 1), np.float32))


def test_task_generators_draw_the_numbers_of_numpy():
    drawn = {}

    class Drawing(Pole):
        def reset(self, sim, ids, rng):
            super().reset(sim, ids, rng)
            drawn.update(uniform=rng.uniform([0, 1], [1, 3], 2), normal=rng.normal(size=(2, 2)),
                         integers=rng.integers(2, 9, 3), random=rng.random(), row=rng[1].exponential(), size=len(rng))

    with cypool.make(Drawing, num_envs=3) as env:
        env.reset(seed=4)
        for i in range(3):
            rng = np.random.default_rng(4 + i)
            rng.uniform(), rng.normal(size=2), rng.integers(5)
            assert np.array_equal(drawn["uniform"][i], rng.uniform([0, 1], [1, 3]))
            assert np.array_equal(drawn["normal"][i], rng.normal(size=(2, 2)))
            assert np.array_equal(drawn["integers"][i], rng.integers(2, 9, 3))
            assert drawn["random"][i] == rng.random()
            if i == 1:
                assert drawn["row"] == rng.exponential()
        assert env.np_random_seed == (4, 5, 6)
        assert drawn["size"] == 3


def test_task_with_rollouts_replay_and_normalization():
    with cypool.make(Pole, num_envs=4, normalize_obs=True, normalize_reward=True) as env:
        env.reset(seed=0)
        rollout = env.rollout(actions(20, 4))
        assert np.isfinite(rollout.obs).all()
    with cypool.make(Pole, num_envs=4) as env:
        # adapters ask environments for attributes: they have those of the task
        assert env._pool.ask(None, getattr, "width") == [0.2] * 4
        buffer = cypool.ReplayBuffer(env, 100)
        buffer.reset(seed=0)
        for action in actions(20, 4):
            buffer.step(action)
        assert len(buffer.sample(8).reward) == 8


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_task_history_goes_back_to_any_step(mode, tmp_path):
    def run(env, first, rows):
        for t in range(first, 30):
            batch = env.step(actions(30, 4)[t])
            rows[t] = [np.copy(part) for part in batch[:4]]
            ended = batch[2] | batch[3]
            if mode == "Disabled" and ended.any():
                env.reset(options={"reset_mask": ended})

    with started(cypool.make(Pole, num_envs=4, seed=1, autoreset_mode=mode)) as env:
        rows = {}
        with cypool.history(env, every=7) as history:
            run(env, 0, rows)
            history.save(tmp_path / "history")
            for step in (9, 0, 29):
                history.seek(step)
                again = {}
                run(env, step, again)
                assert all(np.array_equal(one, two) for t in again for one, two in zip(again[t], rows[t], strict=True))


def test_task_search_tries_sequences_of_which_some_end_early():
    sequences = np.linspace(-1, 1, 6, dtype=np.float32)[:, None, None].repeat(40, 1)
    options = {"max_episode_steps": 40}
    with cypool.make(Pole, num_envs=4, seed=1, autoreset_mode="Disabled", **options) as env, \
            cypool.make(Pole, **options) as one:
        env.reset()
        state = env.save([0])
        found = env.search(state, sequences)
        assert len(set(found.length)) > 1
        one.reset()
        for sequence, total, length, obs in zip(sequences, found.reward, found.length, found.obs, strict=True):
            one.load(state)
            steps = [one.step(action[None]) for action in sequence[:length]]
            assert [bool(step[2] | step[3]) for step in steps] == [False] * (length - 1) + [True]
            assert np.isclose(sum(step[1][0] for step in steps), total, rtol=1e-12)
            assert np.array_equal(steps[-1][0][0], obs)


def test_task_in_a_cluster_is_made_by_its_workers():
    from cypool.cluster.policies import env_spec_of
    from cypool.cluster.worker import Worker

    worker = Worker()
    recipe = {"id": Pole, "num_envs": 3, "seed": [4, 5, 6], "autoreset_mode": "NextStep", "num_threads": 0,
              "max_episode_steps": 7, "width": 0.1}
    name, _ = worker.start(recipe, None)
    with cypool.make(Pole, num_envs=3, seed=4, max_episode_steps=7, width=0.1) as env:
        assert env_spec_of(Pole, max_episode_steps=7, width=0.1) == env.env_spec
        obs, _ = env.reset()
        assert np.array_equal(worker.reset(name)["obs"][0], obs)
        for action in actions(20, 3):
            assert np.array_equal(worker.step(name, action)["obs"][0], env.step(action)[0])


def test_task_where_it_cannot_be_used_is_a_sentence():
    cypool.register("mine/Pole-v0", f"{__name__}:Pole")
    with pytest.raises(TypeError, match=r"expected a cdef class .*; pass a task itself to cypool.make"):
        cypool.make("mine/Pole-v0")
    with cypool.make(Pole) as env, pytest.raises(ValueError, match="env: expected no tasks or Python environments, "
                                                                   "because they cannot be searched"):
        cypool.TreeSearch(env)


class MeanPole(Pole):
    """Its environments depend on each other."""

    def reward(self, sim, action):
        return super().reward(sim, action) - sim.qpos[:, 1].mean()


def test_task_is_described_and_checked_as_an_id_is():
    spec = cypool.make_spec(Pole, width=0.1, max_episode_steps=7)
    with cypool.make(Pole, width=0.1, max_episode_steps=7) as env:
        assert spec == env.env_spec
    assert cypool.make_spec(Pole(0.1)).observation == spec.observation
    found = str(cypool.testing.check_env(Pole, num_steps=30, width=0.1))
    assert "Pole, width=0.1, max_episode_steps=6 follows the contract" in found
    assert "do not depend on each other" in found
    with pytest.raises(cypool.testing.ContractError, match="MeanPole: env 0, event 1: reward is .* in a pool of one"):
        cypool.testing.check_env(MeanPole, num_steps=30)
