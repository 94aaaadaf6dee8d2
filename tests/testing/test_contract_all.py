"""`check_env` over every fourth Atari game, and some of Doom. All ids: `fuzz/sweep_contract.py`."""
import pytest
from markers import exhaustive, often_exhaustive

import cypool
from cypool.testing import check_env

pytestmark = [pytest.mark.slow, pytest.mark.families("vizdoom")]

ALL_IDS = cypool.list_all_envs()
GAMES = sorted(id.removeprefix("ALE/").removesuffix("-v5") for id in ALL_IDS if id.startswith("ALE/"))
IDS = {game: [id for id in ALL_IDS
              if id.removeprefix("ALE/").split("-")[0] in (game, f"{game}NoFrameskip")]
       for game in GAMES}


@pytest.mark.parametrize("number", often_exhaustive(range(0, len(GAMES), 4), 3), ids=GAMES[::4])
def test_atari(number):
    ids = IDS[GAMES[number]]
    report = check_env(ids[number % len(ids)], num_envs=2, num_steps=10)
    assert len(report.passed) == 8 and report.skipped == ()


@pytest.mark.parametrize(("id", "options"), [
    ("HealthGathering-v1", {"screen_resolution": "RES_160X120"}),
    *exhaustive(
        ("VizdoomTakeCover-MultiBinary-v1", {"frame_skip": 4}),
        ("Deathmatch-v1", {"use_combined_action": True, "stack_num": 2}),
        ("VizdoomBasic-v1", {}),
        # its automap continues from episode to episode
        ("VizdoomFreedoom2MAP01-S3-v0", {"config": {"automap_buffer_enabled": False, "labels_buffer_enabled": True}}),
    ),
])
def test_doom(id, options):
    report = check_env(id, num_envs=2, num_steps=10, **options)
    assert len(report.passed) == 6 and report.skipped == ("save and load: not implemented",)
