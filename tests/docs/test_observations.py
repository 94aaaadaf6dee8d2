"""The tables of observations by index name the numbers that environments return."""
from pathlib import Path

import numpy as np
import pytest
from cases import CASES

import cypool
from cypool.envs import FAMILIES

TOLD = [(family, name) for family in FAMILIES for name in CASES[family.name].observations]


@pytest.fixture
def observations(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs_tools"))
    return __import__("observations")


@pytest.mark.parametrize("family, name", TOLD, ids=[f"{family.name}-{name}" for family, name in TOLD])
def test_a_table_has_a_row_for_each_number(observations, family, name):
    entries = [entry for entry in family.entries(("*",)) if entry.entry_point.endswith(f":{name}")]
    if not entries or not family.is_installed:
        pytest.skip(f"this build, or this machine, is without {name}")
    # the newest
    id = max(entries, key=lambda entry: (entry.id[-1], -len(entry.id))).id
    observed = cypool.make_spec(id).observation
    observed = observed["observation"] if isinstance(observed, dict) else observed
    rows = observations.rows_of(id, CASES[family.name].observations[name])
    assert (sum(row.numbers for row in rows),) == observed.shape
    text = observations.text(id, CASES[family.name].observations[name])
    assert all(row.meaning in text for row in rows)


@pytest.mark.families("mujoco")
@pytest.mark.parametrize("name", CASES["mujoco"].observations if "mujoco" in CASES else ())
def test_fields_of_robots_are_the_numbers_of_their_observations(observations, name):
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("mujoco")
    rows = observations.rows_of(f"{name}-v5", CASES["mujoco"].observations[name])
    theirs = gymnasium.make(f"{name}-v5")
    with cypool.make(f"{name}-v5", num_envs=1, seed=0) as env:
        obs, _ = env.reset()
        theirs.reset(seed=0)
        theirs.action_space.seed(0)
        for _ in range(3):
            action = theirs.action_space.sample()
            theirs.step(action)
            obs, *_ = env.step(action[None])
    data = theirs.unwrapped.data
    names = "qpos", "qvel", "qfrc_actuator", "qfrc_constraint", "cinert", "cvel", "cfrc_ext", "xpos"
    fields = {each: getattr(data, each) for each in names}
    at = 0
    for row in rows:
        if row.source:
            value = np.ravel(eval(row.source, {"sin": np.sin, "cos": np.cos, **fields}))
            found = obs[0, at:at + row.numbers]
            # some are clipped
            assert np.array_equal(found, value) or abs(found).max() in (1, 10), row
        at += row.numbers
    assert len({row.source for row in rows if row.source}) > 3
