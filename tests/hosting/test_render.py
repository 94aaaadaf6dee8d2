"""Pictures of Python environments, with and without Gymnasium's classes."""

import gymnasium
import numpy as np
import pytest
from hosting.environments import Bare
from hosting.hosts import HERE, PROCESSES, THREADS
from receiving import started

import cypool
from cypool.hosting.spaces import attribute_of


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_render_equals_gymnasium(host):
    env = cypool.make("gymnasium:CartPole-v1", num_envs=2, **host, render_mode="rgb_array")
    reference = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    assert env.metadata["render_fps"] == 50 and env.render_mode == "rgb_array"
    env.reset(seed=3)
    reference.reset(seed=3)
    assert env.render()[0].tobytes() == reference.render().tobytes()
    assert env.render([1]).shape == (1, 400, 600, 3)
    # infos and observations are as before
    assert env.step([0, 0])[0][0].tobytes() == reference.step(0)[0].tobytes()
    env.close()
    reference.close()
    with started(cypool.make("gymnasium:CartPole-v1", num_workers=0)) as env:
        with pytest.raises(NotImplementedError, match="render_mode='rgb_array'"):
            env.render([0])


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_texts_equal_gymnasium(host):
    env = cypool.make("gymnasium:FrozenLake-v1", num_envs=2, **host, render_mode="ansi")
    reference = gymnasium.make("FrozenLake-v1", render_mode="ansi")
    assert env.render_mode == "ansi" and env.metadata["render_modes"] == ["ansi"]
    env.reset(seed=3)
    reference.reset(seed=3)
    assert env.render() == (reference.render(),) * 2 == env.render([1, 0])
    env.close()


class Drawn(Bare):
    render_mode = "rgb_array"


class Undrawn(Bare):
    render_mode = "rgb_array"
    render = gymnasium.Env.render


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_render_before_the_first_reset(host):
    with cypool.from_factories([Drawn] * 2, **host) as env:
        assert [picture.shape for picture in env.render()] == [(2, 2, 3)] * 2
        with pytest.raises(RuntimeError, match="never reset"):
            env.step([0, 0])
        env.reset()
        env.step([0, 0])
        assert env.render([1]).max() == 1
    with cypool.make("gymnasium:CartPole-v1", **host, render_mode="rgb_array") as env:
        # that one cannot, and says so
        with pytest.raises(gymnasium.error.ResetNeeded, match="Cannot call `env.render"):
            env.render([0])


def test_environment_without_render_is_named():
    with started(cypool.from_factories([Undrawn], num_workers=1)) as env:
        with pytest.raises(NotImplementedError, match="^render: not supported by env 0"):
            env.render([0])


class Blank(Drawn):
    """Draws nothing."""

    def render(self):
        return None


def test_picture_that_is_none_is_named():
    with started(cypool.from_factories([Blank], workers="threads")) as env:
        with pytest.raises(TypeError, match="^render: expected an array for each image, got None"):
            env.render([0])


class Quacking:
    """Derives from no class of Gymnasium's: spaces, `reset` and `step` are all that it has."""

    observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.zeros(3, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.full(3, self.steps / 10, np.float32), 1.0, self.steps >= 4, False, {"action": action}


class QuackingInColour(Quacking):
    render_mode = "rgb_array"

    def render(self):
        return np.full((2, 2, 3), self.steps, np.uint8)


@pytest.mark.parametrize("host", [HERE, PROCESSES, THREADS])
def test_environment_that_is_none_of_gymnasiums_is_stepped_and_closed(host, capfd):
    with cypool.from_factories([QuackingInColour, Quacking], **host) as env:
        env.reset(seed=3)
        for t in range(1, 5):
            obs, reward, terminated, _, info = env.step([0, 1])
            assert (obs == np.float32(t / 10)).all() and reward.tolist() == [1, 1] and info["action"].tolist() == [0, 1]
        assert terminated.all() and env.render([0])[0].max() == 4
        assert env.env_spec.render_fps == 30 and env.env_spec.max_episode_steps is None
        assert env._pool.ask(None, attribute_of, "steps") == [4, 4]
    assert capfd.readouterr() == ("", "")
