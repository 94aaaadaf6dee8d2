"""PufferLib: cypool.adapters.pufferlib, where PufferLib is installed, as docs/how_to/training_libraries.md says."""
import os
import re
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from waiting import run_program

import cypool
from cypool.adapters.single import SingleEnv

pytestmark = [pytest.mark.large_packages, pytest.mark.filterwarnings("ignore::UserWarning"),
              pytest.mark.families("atari", "minigrid", "mpe2")]


@pytest.fixture(scope="module", autouse=True)
def elsewhere(tmp_path_factory):
    """Imports PufferLib in a temporary folder, as it makes a link there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("pufferlib"))
        pytest.importorskip("pufferlib.vector", reason="PufferLib is not installed")
        yield


@pytest.fixture
def adapter():
    from cypool.adapters import pufferlib

    return pufferlib


def steps_of(env, num_steps):
    """Returns observations, rewards, ends and truncations of steps: (num_steps, num_envs, ...)."""
    obs, _ = env.reset(seed=0)
    steps = []
    for _ in range(num_steps):
        results = env.step((obs[:, 2] > 0).astype(np.int32))
        obs = results[0]
        steps.append([np.array(part) for part in results[:4]])
    return [np.stack(part) for part in zip(*steps, strict=True)]


def test_buffers_are_filled_without_a_copy(adapter):
    # the memory of all environments of a PufferLib vector
    memory = {"observations": np.zeros((9, 4), np.float32), "rewards": np.zeros(9, np.float32),
              "terminals": np.zeros(9, np.bool_), "truncations": np.zeros(9, np.bool_),
              "masks": np.zeros(9, np.bool_), "actions": np.zeros(9, np.int32)}
    env = adapter.make("CartPole-v1", num_envs=3, max_episode_steps=15,
                       buf={name: part[3:6] for name, part in memory.items()})
    twin = cypool.make("CartPole-v1", num_envs=3, max_episode_steps=15, autoreset_mode="SameStep",
                       episode_statistics=True)
    # environment i has seed * num_envs + i
    want = twin.reset(seed=range(6, 9))[0]
    obs, infos = env.reset(seed=2)
    assert (obs == want).all() and infos == [] and memory["masks"].tolist() == [False] * 3 + [True] * 3 + [False] * 3
    assert np.shares_memory(env._out[0], memory["observations"]) and np.shares_memory(env._out[2], memory["terminals"])
    ends = 0
    for t in range(60):
        actions = np.array([t % 2, 1, 0], np.int32)
        _, _, _, _, infos = env.step(actions)
        want = twin.step(actions)
        for name, part in zip(("observations", "rewards", "terminals", "truncations"), want, strict=False):
            assert (memory[name][3:6] == part).all() and not memory[name][:3].any() and not memory[name][6:].any()
        ended = want[2] | want[3]
        assert bool(infos) == bool(ended.any())
        if infos:
            ends += int(ended.sum())
            episode = want[4]["episode"]
            assert infos == [{"episode_return": episode["r"][ended].tolist(),
                              "episode_length": episode["l"][ended].tolist()}]
    assert ends > 9
    env.close()


def test_episodes_are_those_of_pufferlibs_own_vector(adapter):
    import pufferlib.vector
    from pufferlib.emulation import GymnasiumPufferEnv

    def make(buf=None, seed=0):
        return GymnasiumPufferEnv(gymnasium.make("CartPole-v1", max_episode_steps=40), buf=buf, seed=seed)

    env = adapter.make("CartPole-v1", max_episode_steps=40)
    vector = pufferlib.vector.make(make, backend="Serial", num_envs=1)
    obs, reward, done, cut = steps_of(vector, 600)
    ours = steps_of(env, 500)
    over = (done | cut)[:, 0]
    # a reset is a separate step there, and here the observation of the step that ends an episode
    is_reset = np.roll(over, 1)
    obs[:-1][over[:-1]] = obs[1:][over[:-1]]
    for got, want in zip(ours, (obs, reward, done, cut), strict=True):
        assert (got == want[~is_reset][:500]).all()
    assert done.sum() > 3 and cut.sum() > 3
    env.close()
    vector.close()


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_several_pools_in_pufferlibs_vectors(adapter, backend):
    import pufferlib.vector

    workers = {"num_workers": 2, "overwork": True} if backend == "Multiprocessing" else {}
    env = pufferlib.vector.make(adapter.make, backend=backend, num_envs=2, env_args=["Pendulum-v1"],
                                env_kwargs={"num_envs": 3, "num_threads": 0, "max_episode_steps": 10}, **workers)
    pool = cypool.make("Pendulum-v1", num_envs=6, max_episode_steps=10, autoreset_mode="SameStep")
    obs, _ = env.reset(seed=4)
    # the environments of the second pool have the seeds after those of the first one
    assert (obs == pool.reset(seed=range(12, 18))[0]).all()
    for t in range(25):
        actions = np.full((6, 1), np.sin(t), np.float32)
        obs, reward, terminal, truncation, infos = env.step(actions)
        want = pool.step(actions)
        assert (obs == want[0]).all() and (reward == want[1].astype(np.float32)).all()
        assert (truncation == want[3]).all() and not terminal.any()
        assert len(infos) == (2 if truncation.any() else 0)
    env.close()
    pool.close()


def test_agents_are_rows(adapter):
    id = "mpe2/simple_spread-v3"
    env = adapter.make(id, num_envs=2, max_cycles=7)
    pool = cypool.make(id, num_envs=2, max_cycles=7, autoreset_mode="SameStep", episode_statistics=True)
    ((group, described),) = pool.env_spec.agents.items()
    rows = 2 * described.count
    assert env.num_agents == rows
    assert (env.reset(seed=1)[0] == pool.reset(seed=[2, 3])[0].reshape(rows, -1)).all()
    ends = 0
    for t in range(20):
        actions = (np.arange(rows) + t) % 5
        obs, reward, terminal, truncation, infos = env.step(actions.astype(np.int32))
        want = pool.step(actions.reshape(2, -1))
        columns = want[4]["agents"][group]
        assert (obs == want[0].reshape(rows, -1)).all()
        assert (reward == columns["reward"].reshape(-1).astype(np.float32)).all()
        assert (terminal == columns["terminated"].reshape(-1)).all()
        assert (truncation == columns["truncated"].reshape(-1)).all()
        if infos:
            ends += 1
            assert infos[0]["episode_return"] == want[4]["episode"]["agents"][group]["r"].reshape(-1).tolist()
    assert ends >= 2


def test_normalized_pools_are_copied(adapter):
    options = {"num_envs": 3, "normalize_obs": True, "normalize_reward": True}
    env, pool = adapter.make("Pendulum-v1", **options), cypool.make("Pendulum-v1", autoreset_mode="SameStep", **options)
    assert (env.reset(seed=0)[0] == pool.reset(seed=[0, 1, 2])[0]).all()
    for _ in range(5):
        actions = np.ones((3, 1), np.float32)
        got, want = env.step(actions), pool.step(actions)
        assert (got[0] == want[0]).all() and (got[1] == want[1].astype(np.float32)).all()


def test_what_is_refused(adapter):
    with pytest.raises(TypeError, match="env: expected an array as the observation"):
        adapter.make("MiniGrid-Empty-5x5-v0")
    with pytest.raises(TypeError, match="env_type: expected no argument .PufferLib always uses"):
        adapter.make("CartPole-v1", env_type="gym")
    with pytest.raises(ValueError, match="batch_size=num_envs"):
        adapter.make("CartPole-v1", num_envs=4, batch_size=2)
    env = adapter.make("CartPole-v1")
    with pytest.raises(TypeError, match="^seed: expected an int"):
        env.reset(seed="x")
    env.close()


def test_emulation_takes_single_environments():
    import pufferlib.vector
    from pufferlib.emulation import GymnasiumPufferEnv

    def make(buf=None, seed=0):
        return GymnasiumPufferEnv(SingleEnv("MiniGrid-Empty-5x5-v0"), buf=buf, seed=seed)

    env = pufferlib.vector.make(make, backend="Serial", num_envs=2)
    obs, _ = env.reset(seed=0)
    pool = cypool.make("MiniGrid-Empty-5x5-v0", num_envs=2)
    want = pool.reset(seed=0)[0]
    for _ in range(9):
        got = obs.view(env.driver_env.obs_dtype)
        for name, part in want.items():
            assert (got[name].reshape(part.shape) == part).all()
        obs, want = env.step(np.array([2, 1]))[0], pool.step([2, 1])[0]
    env.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("options, mean", [
    ([], 475),
    (["--env-id", "Pong-v5", "--image-size", "42", "--num-envs", "16", "--num-steps", "64", "--num-minibatches", "8",
      "--update-epochs", "4", "--learning-rate", "7e-4", "--gamma", "0.99", "--entropy", "0.01"], -17)],
    ids=["CartPole", "Pong"])
def test_pufferl_learns(tmp_path, options, mean):
    pytest.importorskip("pufferlib._C", reason="PufferLib was built without its trainer")
    example = Path(__file__).parents[2] / "examples" / "pufferlib_ppo.py"
    done = run_program(sys.executable, example, *options, "--stop-at", str(mean), "--total-timesteps", "600000",
                       check=True, timeout=1800, cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert float(re.findall(r"mean return (\S+)", done.stdout)[-1]) >= mean
