"""EnvPool's ids of MiniGrid and BabyAI: cypool has them under the same names."""
import envpool
import pytest

import cypool

pytestmark = pytest.mark.large_packages


def test_ids_of_envpool():
    theirs = [id for id in envpool.list_all_envs() if id.startswith(("MiniGrid-", "BabyAI-"))]
    assert len(theirs) == 177
    for id in theirs:
        # minigrid's wheel lacks the patterns of these
        if "-WFC-" not in id:
            assert cypool.make_spec(id).id == id
