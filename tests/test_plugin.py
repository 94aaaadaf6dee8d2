"""A package outside the tree adds environments: it builds, runs, and refuses to run with another ABI."""
import numpy as np
import pytest

import cypool


def test_walk_of_another_package(walker):
    env = cypool.make("walker/Walk-v0", num_envs=3, num_threads=2, seed=5, limit=2)
    obs, info = env.reset()
    assert obs.shape == (3, 1) and (np.abs(obs) <= 0.5).all()
    # the stream of NumPy's generator
    start = [np.random.Generator(np.random.PCG64(5 + i)).uniform(-0.5, 0.5) for i in range(3)]
    assert (obs[:, 0] == np.array(start, np.float32)).all()
    obs, reward, terminated, truncated, info = env.step([2, 1, 0])
    after = np.array(start) + [1, 0, -1]
    assert (obs[:, 0] == after.astype(np.float32)).all()
    assert (reward == np.abs(after)).all()
    assert info["visits"].tolist() == [1, 1, 1]
    assert not truncated.any() and (terminated == (np.abs(after) >= 2)).all()


def test_the_step_limit_is_the_engines(walker):
    env = cypool.make("walker/Walk-v0", num_envs=2, num_threads=0, seed=0)
    env.reset()
    for step in range(1, 20):
        *_, truncated, info = env.step([1, 1])
        assert not truncated.any() and info["elapsed_step"].tolist() == [step] * 2
    *_, terminated, truncated, info = env.step([1, 1])
    assert truncated.all() and not terminated.any() and info["elapsed_step"].tolist() == [20] * 2


def test_another_abi_is_an_import_error(run_python):
    done = run_python("import cypool.env; cypool.env.ABI += 1; import walker.walk")
    assert done.returncode == 1
    assert "ImportError: built for cypool ABI" in done.stderr


@pytest.mark.parametrize("first", ["walker.walk", "cypool"])
def test_either_may_be_imported_first(run_python, first):
    done = run_python(f"import {first}, walker, cypool; e = cypool.make('walker/Walk-v0'); e.reset(); print('ok')")
    assert done.stdout == "ok\n" and done.stderr == ""
