"""MuJoCo's robots against Gymnasium's for 2,000 steps each; fuzz/sweep_parity.py takes as many as you like."""
import pytest
from markers import often_exhaustive

import cypool
from cypool.testing import check_parity

pytestmark = pytest.mark.slow

NAMES = ["Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum", "InvertedPendulum",
         "Pusher", "Reacher", "Swimmer", "Walker2d"]
# Gymnasium's own Pusher-v4 does not run with the MuJoCo of today
ROBOTS = [f"{name}-v{version}" for name in NAMES for version in (4, 5) if (name, version) != ("Pusher", 4)]


@pytest.mark.parametrize("id", often_exhaustive(ROBOTS, 3))
def test_equals_gymnasium(id, tmp_path, monkeypatch):
    # the reference writes a log to the current folder
    monkeypatch.chdir(tmp_path)
    action_dtype = "float64" if id.endswith("4") else "float32"
    print(check_parity(id, num_envs=1, num_steps=2_000, seeds=[0], action_dtype=action_dtype))


def test_all_are_here():
    known = {id for id in cypool.list_all_envs() if id.split("-")[0] in NAMES}
    assert known == {*ROBOTS, "Pusher-v4"}
