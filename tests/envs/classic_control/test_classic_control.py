"""Classic control equals Gymnasium's, bit for bit."""
import math
import os

import gymnasium
import numpy as np
import pytest
from family_tests import playing, refuses
from gymnasium.envs.classic_control import PendulumEnv
from markers import exhaustive, often_slow, slow
from pool_arguments import MODES
from receiving import started

import cypool
from cypool.testing import check_parity

IDS = ["CartPole-v0", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1"]


def swing_up(obs):
    return np.where(obs[:, 2:] >= 0, np.float32(1.9), np.float32(-2))


# policies that reach states that random actions do not: limits of speed and place, the goals, the time limits
GOOD = {"CartPole-v1": lambda obs: (obs[:, 2] + 0.3 * obs[:, 3] > 0).astype(np.int64),
        "MountainCar-v0": lambda obs: np.where(obs[:, 1] >= 0, 2, 0),
        "MountainCarContinuous-v0": lambda obs: np.where(obs[:, 1:] >= 0, np.float32(1), np.float32(-1)),
        "Pendulum-v1": swing_up, "Acrobot-v1": lambda obs: np.where(obs[:, 5] >= 0, 2, 0)}


def play_well(id, random):
    """Has `check_parity` do so, but for one step in twenty without a push."""
    return playing(lambda reference, _: GOOD[id](reference._observations) * (random.random() >= 0.05))


@pytest.mark.parametrize("mode, num_steps", [
    (MODES[0], 1000), *slow((MODES[1], 5000)), *exhaustive((MODES[0], 5000), (MODES[2], 5000))])
@pytest.mark.parametrize("id", GOOD)
def test_random_actions_equal_gymnasium(id, mode, num_steps):
    report = check_parity(id, num_envs=1, num_steps=num_steps, seeds=(0, 1, 7, 1234, 123_456_789), autoreset_mode=mode)
    assert report.num_episodes >= num_steps // 250


@pytest.mark.parametrize("num_threads", [5, *slow(0, 1, 2)])
@pytest.mark.parametrize("id", IDS)
def test_threads_change_nothing(id, num_threads):
    check_parity(id, num_envs=7, num_steps=300, seeds=(5,), num_threads=num_threads)


@pytest.mark.parametrize("seed", [0, *slow(1, 2, 3, 4)])
@pytest.mark.parametrize("id", GOOD)
def test_good_actions_equal_gymnasium(id, seed):
    with play_well(id, np.random.default_rng(seed)):
        parity = check_parity(id, num_envs=2, num_steps=2200, seeds=[seed])
    truncated = parity.num_episodes - parity.num_terminated
    assert truncated if id in ("CartPole-v1", "Pendulum-v1") else parity.num_terminated


@pytest.mark.parametrize("id", ["MountainCarContinuous-v0", "Pendulum-v1"])
def test_actions_of_another_dtype_are_taken_as_float32(id):
    env = started(cypool.make(id, num_envs=3, seed=1))
    reference = gymnasium.make_vec(id, num_envs=3, vectorization_mode="sync")
    reference.reset(seed=1)
    random = np.random.default_rng(0)
    for _ in range(1000):
        actions = random.uniform(-1, 1, (3, 1))
        obs, reward, *_ = env.step(actions)
        expected, expected_reward, *_ = reference.step(actions.astype(np.float32))
        assert obs.tobytes() == expected.tobytes() and reward.tobytes() == expected_reward.tobytes()
    for action in ([[1]] * 3, [[-1]] * 3, [[0]] * 3):
        obs, *_ = env.step(action)
        assert obs.tobytes() == reference.step(np.array(action, np.float32))[0].tobytes()


@pytest.mark.parametrize(("id", "options"), [
    ("CartPole-v1", {"sutton_barto_reward": True}),
    ("MountainCar-v0", {"goal_velocity": 0.03}),
    ("MountainCarContinuous-v0", {"goal_velocity": 0.03}),
    # between the limit in single and in double precision
    ("MountainCarContinuous-v0", {"goal_velocity": 0.0700000001}),
    ("MountainCarContinuous-v0", {"goal_velocity": 0.07}),
    ("MountainCarContinuous-v0", {"goal_velocity": -1}),
    ("Pendulum-v1", {"g": 9.81}),
    ("Pendulum-v1", {"g": 0}),
    ("Pendulum-v1", {"g": -30.5}),
])
def test_options_equal_gymnasium(id, options):
    check_parity(id, num_envs=2, num_steps=300, max_episode_steps=100, **options)
    with play_well(id, np.random.default_rng(2)):
        check_parity(id, num_envs=2, num_steps=500, seeds=[2], **options)


test_wrong_options = refuses([
    ("MountainCar-v0", {"goal_velocity": "fast"}, TypeError, "goal_velocity"),
    ("MountainCar-v0", {"goal_velocity": math.nan}, ValueError, "goal_velocity"),
    ("Pendulum-v1", {"g": math.inf}, ValueError, "g"),
    ("Pendulum-v1", {"g": None}, TypeError, "g"),
    ("Pendulum-v1", {"version": 2}, ValueError, "version"),
    ("Acrobot-v1", {"g": 9.8}, ValueError, "g"),
])


def test_pendulum_v0_goes_on_before_the_limit():
    class Old(PendulumEnv):
        def step(self, u):
            theta, velocity = self.state
            faster = velocity + (15.0 * np.sin(theta) + 3.0 * u[0]) * self.dt
            _, reward, *_ = super().step(u)
            self.state = np.array([theta + faster * self.dt, self.state[1]])
            return self._get_obs(), reward, False, False, {}

    env = cypool.make("Pendulum-v0", num_envs=1, seed=4)
    reference = Old()
    obs, _ = env.reset()
    assert obs[0].tobytes() == reference.reset(seed=4)[0].tobytes()
    limited = 0
    for _ in range(200):
        action = swing_up(obs)
        obs, reward, *_ = env.step(action)
        expected, expected_reward, *_ = reference.step(action[0])
        assert obs[0].tobytes() == expected.tobytes() and reward[0] == expected_reward
        limited += abs(obs[0, 2]) == 8
    assert limited


@pytest.fixture
def no_window(monkeypatch):
    monkeypatch.setitem(os.environ, "SDL_VIDEODRIVER", "dummy")


@pytest.mark.parametrize("id", often_slow(IDS, 2))
def test_pictures_equal_gymnasium(id, no_window):
    env = started(cypool.make(id, num_envs=2, seed=3))
    reference = gymnasium.make_vec(id.replace("Pole-v0", "Pole-v1"), num_envs=2, vectorization_mode="sync",
                                   render_mode="rgb_array")
    reference.reset(seed=3)
    env.action_space.seed(3)
    pictures = set()
    for _ in range(40):
        frames, expected = env.render(), reference.render()
        for frame, want in zip(frames, expected, strict=True):
            assert frame.dtype == np.uint8 and frame.shape == want.shape and (frame == want).all()
        pictures.add(frames[0].tobytes())
        actions = env.action_space.sample()
        env.step(actions)
        reference.step(actions)
    assert len(pictures) > 10
    assert env.render([1]).shape == (1, *frames[0].shape)
    assert env.metadata["render_fps"] == reference.metadata["render_fps"]
    reference.close()


def test_pictures_need_pygame(run_forked):
    done = run_forked("import sys; sys.modules['pygame'] = None\n"
                      "import cypool; e = cypool.make('Acrobot-v1'); e.reset(); e.step([0]); e.render()")
    assert "ImportError" in done.stderr and "pip install pygame" in done.stderr


@pytest.mark.parametrize("id", [*IDS, "Pendulum-v0"])
def test_limits_of_the_ids(id):
    of_reference = gymnasium.spec(id.replace("Pendulum-v0", "Pendulum-v1"))
    assert cypool.make_spec(id).max_episode_steps == of_reference.max_episode_steps
    assert cypool.make_spec(id, max_episode_steps=7).max_episode_steps == 7


def test_reseeding_starts_the_same_episodes():
    env = cypool.make("CartPole-v1", num_envs=3, seed=11)
    first, _ = env.reset()
    second, _ = env.reset()
    assert not (first == second).any()
    again, _ = env.reset(seed=11)
    assert again.tobytes() == first.tobytes()
    each, _ = env.reset(seed=[13, None, 11])
    assert each[0].tobytes() == first[2].tobytes() and each[2].tobytes() == first[0].tobytes()


def test_termination_on_the_last_allowed_step_is_told():
    # both facts are true there; one must not hide the other
    env = started(cypool.make("CartPole-v1", num_envs=1, seed=0))
    steps = 0
    terminated = np.array([False])
    while not terminated[0]:
        assert steps < 500
        *_, terminated, truncated, _ = env.step([1])
        steps += 1
    env = started(cypool.make("CartPole-v1", num_envs=1, seed=0, max_episode_steps=steps))
    for _ in range(steps):
        *_, terminated, truncated, _ = env.step([1])
    assert terminated[0] and truncated[0]
