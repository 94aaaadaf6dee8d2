"""EnvPool's names of Meta-World's tasks: there are all, with its spaces and infos."""
from importlib.util import find_spec

import numpy as np
import pytest

import cypool

pytestmark = pytest.mark.large_packages

if find_spec("metaworld") is None:
    pytest.skip("metaworld is not installed", allow_module_level=True)


def test_names_spaces_and_infos():
    envpool = pytest.importorskip("envpool")
    theirs = {id for id in envpool.list_all_envs() if id.startswith("MetaWorld/")}
    assert len(theirs) == 50 and theirs == {id for id in cypool.list_all_envs() if id.startswith("MetaWorld/")}
    other = envpool.make_gymnasium("MetaWorld/Reach-v3", num_envs=2, num_threads=1, seed=0)
    env = cypool.make("MetaWorld/Reach-v3", num_envs=2, num_threads=0, seed=0)
    assert env.single_action_space == other.action_space
    (obs, info), (their_obs, their_info) = env.reset(), other.reset()
    # another MuJoCo and another goal: elements that do not depend on them are the same
    assert obs.dtype == their_obs.dtype and obs.shape == their_obs.shape
    assert (obs[:, 36:] == 0).all() and (their_obs[:, 36:] == 0).all()
    np.testing.assert_allclose(obs[:, :4], their_obs[:, :4], atol=1e-3)
    assert set(info) >= set(their_info) - {"players", "task_id"}
