"""`cypool.testing.check_parity` passes equal environments, and finds differences."""
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from cases import CASES
from markers import EXHAUSTIVE
from pool_arguments import MODES

import cypool
from cypool.envs import FAMILIES
from cypool.envs.family import matches
from cypool.testing import ParityError, check_parity


def test_a_report_says_what_was_compared():
    report = check_parity("CartPole-v1", num_envs=3, num_steps=200, seeds=[4, 5], sutton_barto_reward=True)
    assert (report.id, report.num_envs, report.num_steps, report.seeds) == ("CartPole-v1", 3, 200, (4, 5))
    assert report.num_episodes == report.num_terminated > 10
    text = str(report)
    for part in ("CartPole-v1", "Gymnasium 1.", "2 seeds x 3 envs x 200 steps", "sutton_barto_reward=True", "NextStep"):
        assert part in text


@pytest.mark.parametrize("mode", MODES)
def test_an_environment_outside_the_tree(walker, mode):
    report = check_parity("walker/Pretender-nothing-v0", num_steps=450, seeds=(3,), autoreset_mode=mode)
    assert report.num_episodes == 8 and report.num_terminated == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("fault", "step", "env_id", "key"), [
    ("space", 0, None, "single_observation_space"),
    ("start", 0, 1, "observation"),
    ("reward", 50, 2, "reward"),
    ("end", 30, 1, "terminated"),
    # nothing else shows it
    ("stream", 150, 3, "random stream"),
])
def test_the_first_difference_is_named(walker, fault, step, env_id, key, mode):
    with pytest.raises(ParityError) as caught:
        check_parity(f"walker/Pretender-{fault}-v0", num_steps=150, seeds=(8, 9), autoreset_mode=mode)
    error = caught.value
    # in SameStep an episode that ends shows the next one
    expected = "observation" if (fault, mode) == ("end", "SameStep") else key
    assert (error.id, error.seed, error.step, error.env_id) == (f"walker/Pretender-{fault}-v0", 8, step, env_id)
    assert error.key == expected
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is ParityError and str(copy) == str(error) and copy.key == expected
    for part in (f"step {step}", f"{expected} is {error.ours!r}", f"{error.reference!r}"):
        assert part in str(error)


def test_wrong_physics_are_found(walker):
    with pytest.raises(ParityError, match="Pretender-gravity-v0, seed 0, step .*, env .: observation is") as caught:
        check_parity("walker/Pretender-gravity-v0")
    ours, theirs = caught.value.ours, caught.value.reference
    assert ours.shape == theirs.shape == (2,) and 0 < np.abs(ours - theirs).max() < 1e-6


def test_final_observations_and_infos_are_compared(walker):
    # the first step of an episode that ends with it: only final_obs shows its result
    with pytest.raises(ParityError) as caught:
        check_parity("walker/Pretender-gravity-v0", autoreset_mode="SameStep", num_steps=3000, max_episode_steps=1)
    assert caught.value.key == "info final_obs" and caught.value.ours.shape == (2,) and caught.value.env_id in range(4)


def parity_cases():
    """All quick ids in all modes; by default the first of each family in one mode, and CartPole in the others.

    CI runs each id in one mode, in turn. The tests of a family compare each class.
    """
    cases = []
    for family in FAMILIES:
        entries = [each for each in family.entries(CASES[family.name].quick_ids) if each.reference is not None]
        quick = [entry.id for entry in entries if not matches(entry.id, CASES[family.name].slow_ids)]
        for number, entry in enumerate(entries):
            for k, mode in enumerate(MODES):
                is_default = (entry.id in quick[:1] and k == 0) or entry.id == "CartPole-v1"
                marks = [pytest.mark.slow] if (number + 4 * k) % 9 == 0 else EXHAUSTIVE
                cases.append(pytest.param(family, entry.id, mode, id=f"{entry.id}-{mode}",
                                          marks=[] if is_default else marks))
    return cases


@pytest.mark.parametrize("family, id, mode", parity_cases())
def test_everything_that_has_a_reference_equals_it(family, id, mode, tmp_path, monkeypatch):
    for package in filter(None, (family.package, family.reference_package)):
        pytest.importorskip(package, reason=f"{package} is not installed")
    # MuJoCo in the reference writes a log to the current folder
    monkeypatch.chdir(tmp_path)
    short = CASES[family.name].short_episode
    report = check_parity(id, num_envs=3, num_steps=60, seeds=(5,), autoreset_mode=mode, **short)
    assert report.num_episodes >= 6


@pytest.mark.parametrize("options", [
    {"map_name": None}, {"map_name": "8x8"}, {"desc": ["SFF", "HFG"], "success_rate": 0.6},
    {"map_name": None, "is_slippery": False, "reward_schedule": (2, -1, -0.5)},
])
def test_maps_of_lakes_also_those_of_chance(options):
    report = check_parity("FrozenLake-v1", num_steps=150, seeds=(1, 2), **options)
    assert report.options == options and report.num_episodes > 0


def test_what_has_no_reference_says_so():
    with pytest.raises(ValueError, match="^id: expected an id registered with a reference.*'Catch-v0'") as caught:
        check_parity("Catch-v0")
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match="no environment 'Pongo-v5'"):
        check_parity("Pongo-v5")


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"num_steps": 0}, ValueError, "num_steps"),
    ({"num_steps": 1.5}, TypeError, "num_steps"),
    ({"seeds": ()}, ValueError, "seeds"),
    ({"seeds": (-1,)}, ValueError, "seeds"),
    ({"num_envs": 0}, ValueError, "num_envs"),
    ({"autoreset_mode": "Never"}, ValueError, "autoreset_mode"),
    ({"gravity": 3}, ValueError, "gravity: not an option of CartPole-v1"),
    ({"seeds": 5}, TypeError, "seeds: expected a sequence of ints, got 5"),
    ({"batch_size": 2}, ValueError, "batch_size: not an option of CartPole-v1, but an argument of cypool.make"),
    ({"env_type": "gym"}, ValueError, "env_type: not an option of CartPole-v1, but an argument of cypool.make"),
])
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        check_parity("CartPole-v1", **arguments)


@pytest.mark.parametrize("reference", ["CartPole-v1", "gymnasium:", "dm_control/cartpole", "a-b:c", 3])
def test_wrong_references(reference):
    with pytest.raises(ValueError, match="reference: expected 'gymnasium:<id>', 'module:function' or None"):
        cypool.register("x/Y-v0", "a.b:C", reference=reference)


def test_it_is_there_for_the_asking(run_forked):
    done = run_forked("import cypool, sys; print('cypool.testing' in sys.modules);"
                      "print(cypool.testing.check_parity('MountainCar-v0', num_steps=10))")
    assert done.stdout.startswith("False\nMountainCar-v0, NextStep, matches MountainCar-v0 of Gymnasium")
    assert done.stderr == ""


@pytest.mark.parametrize(("function", "message"), [
    (lambda ours, seed: None, "to be a function of the pool, the seed and the options, got <function .* too many"),
    (None, "to be a function of the pool, the seed and the options, got None"),
    (lambda ours, seed, options: 3, "to return a vector environment and its name, got 3")])
def test_references_of_the_wrong_kind(function, message, monkeypatch):
    from cypool.testing import parity

    monkeypatch.setattr(parity.importlib, "import_module", lambda name: SimpleNamespace(make_reference=function))
    with pytest.raises(TypeError, match=f"^reference: expected a.b:make_reference {message}"):
        parity._make_reference("a.b:make_reference", None, 0, {}, {})
