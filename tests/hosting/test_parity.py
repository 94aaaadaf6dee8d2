"""Pools of Python environments equal Gymnasium's vector environments in each mode, with each kind of workers."""
import copy
import pickle
from functools import partial

import gymnasium
import numpy as np
import pytest
from comparing import assert_same
from engine.threads import assert_trajectories
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from hosting.environments import GO, Trouble
from hosting.hosts import HERE, HOSTS, PROCESS, PROCESSES, THREADS, compare
from markers import slow
from pool_arguments import MODES
from receiving import started
from waiting import attempts

import cypool


class Teller(gymnasium.Env):
    """Reports all sorts of infos, now and then; its actions and observations have every possible shape."""

    observation_space = spaces.Dict({
        "box": spaces.Box(-1, 1, (2, 3), np.float32),
        "which": spaces.Discrete(5, start=-2),
        "many": spaces.MultiDiscrete([3, 4]),
        "bits": spaces.MultiBinary(4),
        "bytes": spaces.Box(0, 255, (7,), np.uint8),
    })
    action_space = spaces.MultiDiscrete([3, 5])

    def __init__(self, length=7):
        self.length = length
        # others have the same object, and may sample at the same time
        self.observation_space = copy.deepcopy(self.observation_space)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.observe(), {"began": True, "options": str(options)}

    def observe(self):
        self.observation_space.seed(int(self.np_random.integers(1000)))
        return self.observation_space.sample()

    def step(self, action):
        assert action.dtype == np.int64 and action.shape == (2,)
        self.steps += 1
        info = {"env_id": 77}
        if self.np_random.random() < 0.5:
            info |= {"number": self.steps, "text": "x" * self.steps, "array": np.arange(3.0) * action[1],
                     "deep": {"er": {"bit": bool(action[0])}, "small": np.float32(0.5)}, "none": None}
        ended = self.steps == self.length
        return self.observe(), np.float32(action.sum()), ended, self.steps > 3 and not ended, info


@pytest.mark.parametrize("mode, host", [
    (MODES[0], HERE), (MODES[0], {"num_workers": 3}), *((mode, THREADS) for mode in MODES),
    *slow((MODES[0], PROCESS), *((mode, host) for mode in MODES[1:] for host in (HERE, PROCESS, {"num_workers": 3})))])
def test_equals_gymnasium(mode, host):
    env = cypool.make("gymnasium:CartPole-v1", num_envs=5, **host, autoreset_mode=mode)
    compare(env, SyncVectorEnv([partial(gymnasium.make, "CartPole-v1")] * 5, autoreset_mode=mode), 120)
    env = cypool.from_factories([Teller, partial(Teller, 3)] * 2, **host, autoreset_mode=mode)
    compare(env, SyncVectorEnv([Teller, partial(Teller, 3)] * 2, autoreset_mode=mode), 40)


@pytest.mark.parametrize("mode", [MODES[0], *slow(*MODES[1:])])
def test_equals_asynchronous_gymnasium(mode):
    env = cypool.make("gymnasium:CartPole-v1", num_envs=2, autoreset_mode=mode)
    # a fork would inherit our threads, of which newer Pythons warn
    reference = AsyncVectorEnv([partial(gymnasium.make, "CartPole-v1")] * 2, autoreset_mode=mode, context="spawn")
    compare(env, reference, 80)


@pytest.mark.parametrize("host", HOSTS)
def test_asynchronous_trajectories_equal_synchronous_ones(host):
    length, num_envs = 60, 5
    actions = np.random.default_rng(0).integers(0, 2, (num_envs, length))
    reference = started(cypool.make("CartPole-v1", num_envs=num_envs, seed=9))
    expected = [reference.step(actions[:, t]) for t in range(length)]
    with cypool.make("gymnasium:CartPole-v1", num_envs=num_envs, batch_size=2, **host, seed=9) as env:
        assert_trajectories(env, actions, expected)


def test_options_limits_and_statistics_apply():
    env = cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, max_episode_steps=5, episode_statistics=True,
                      env_options=[{"sutton_barto_reward": True}, {}])
    assert env.env_spec.max_episode_steps == 5 and env.num_threads == 1
    obs, _ = env.reset(seed=1, options={"low": 0.0, "high": 0.0})
    assert not obs.any()
    for t in range(5):
        _, reward, terminated, truncated, info = env.step([t % 2] * 2)
    assert reward.tolist() == [0, 1] and truncated.all() and not terminated.any()
    assert info["episode"]["l"].tolist() == [5, 5] and info["episode"]["r"].tolist() == [0, 5]
    assert env.step([0, 0])[0].any()
    copy = pickle.loads(pickle.dumps(env))
    assert copy.num_threads == 1 and copy.env_spec == env.env_spec
    copy.close()
    env.close()
    with cypool.from_factories([Trouble] * 2, max_episode_steps=3, autoreset_mode="SameStep", num_workers=2) as env:
        env.reset()
        for _ in range(3):
            obs, _, _, truncated, info = env.step([GO, GO])
        assert truncated.all() and obs[:, 0].tolist() == [0, 0]
        assert [each.tolist() for each in info["final_obs"]] == [[3, 0], [3, 0]]
        assert info["final_info"]["elapsed_step"].tolist() == [3, 3]
        with pickle.loads(pickle.dumps(env)) as copy:
            assert copy.num_envs == 2 and copy.env_spec.max_episode_steps == 3


@pytest.mark.parametrize("host", [PROCESSES, THREADS])
def test_other_apis_step_hosted_environments(host):
    with cypool.make("gymnasium:CartPole-v1", "gym", num_envs=2, **host, seed=3) as env:
        with cypool.make("CartPole-v1", "gym", num_envs=2, seed=3) as reference:
            assert_same(env.reset(), reference.reset())
            for t in range(40):
                assert_same(env.step([t % 2] * 2), reference.step([t % 2] * 2))
    with cypool.from_factories([Teller] * 2, "dm", **host) as env:
        assert env.reset().first().all()
        for _ in attempts():
            if env.step(np.ones((2, 2), np.int64)).last().any():
                break


def test_out_is_filled_by_workers():
    with cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=2, seed=3) as env:
        buffers = env.rollout_buffers(10)
        env.reset()
        for t in range(10):
            env.step([0, 1], out=buffers[t])
        assert buffers.next_obs.any(axis=2).all()
