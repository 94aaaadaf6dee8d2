"""`cypool.testing.check_env` passes correct environments, and finds errors in others; `debug=True` watches rows."""
import sys

import numpy as np
import pytest
from cases import CASES
from markers import EXHAUSTIVE, slow

import cypool
from cypool.envs import FAMILIES
from cypool.envs.family import matches
from cypool.testing import ContractError, check_env

pytestmark = pytest.mark.families("atari", "mujoco", "vizdoom")


def contract_cases():
    """All quick ids; by default the first of each family, as the tests of a family compare each class.

    CI runs half of the others.
    """
    cases = []
    for family in FAMILIES:
        entries = family.entries(CASES[family.name].quick_ids)
        quick = [entry.id for entry in entries if not matches(entry.id, CASES[family.name].slow_ids)]
        for number, entry in enumerate(entries):
            marks = [] if entry.id in quick[:1] else [pytest.mark.slow] if number % 2 else EXHAUSTIVE
            cases.append(pytest.param(family, entry, id=entry.id, marks=marks))
    return cases


# there are more in test_contract_all.py
@pytest.mark.parametrize("family, entry", contract_cases())
def test_our_own(family, entry):
    if not family.is_installed:
        pytest.skip(f"{family.needs} is not installed")
    options = family.of_class(CASES[family.name].contract_options, entry.entry_point, {})
    report = check_env(entry.id, num_steps=24, **options)
    assert len(report.passed) == 8 and report.skipped == () and report.num_episodes >= 9


@pytest.mark.families("box2d")
def test_many_at_once():
    assert check_env("LunarLander-v3", num_envs=20, gravity=-9.5).options["gravity"] == -9.5


@pytest.mark.parametrize(("id", "options"), [
    ("InvertedPendulum-v4", {"frame_stack": 2}), ("Breakout-v5", {"episodic_life": True, "obs_type": "ram"}),
    *slow(("Pong-v5", {}), ("ALE/Breakout-v5", {"ram": True})),
])
def test_those_that_take_longer(id, options):
    report = check_env(id, num_envs=2, num_steps=15, **options)
    assert len(report.passed) == 8 and report.num_episodes > 2


@pytest.mark.slow
def test_doom_whose_actions_are_dicts():
    # a living reward of -1, which is no error
    report = check_env("VizdoomDeathmatch-v1", num_envs=2, num_steps=10, frame_skip=1,
                       config={"screen_resolution": "RES_160X120", "living_reward": -1})
    assert report.skipped == ("save and load: not implemented",) and len(report.passed) == 6 and report.num_episodes > 2


def test_a_report_says_what_holds(walker):
    report = check_env("walker/Walk-v0", num_steps=50, limit=4)
    assert report.options == {"limit": 4, "max_episode_steps": 10} and report.num_envs == 3
    text = str(report)
    assert text.startswith("walker/Walk-v0, limit=4, max_episode_steps=10 follows the contract, in runs of 3 envs x 50")
    assert text.count("passed: ") == 8 and "skipped" not in text
    assert "skipped: runs without the GIL" in str(check_env("walker/Walk-v0", num_steps=20, without_gil=False))


def test_what_cannot_be_saved_is_left_out(walker):
    report = check_env("walker/Bare-v0", num_steps=20)
    assert report.skipped == ("save and load: not implemented",) and len(report.passed) == 6


def test_what_fails_says_so(walker):
    # its actions make it raise
    with pytest.raises(cypool.EnvError):
        check_env("walker/Trouble-v0", num_steps=20)


FAULTS = [
    ("too long", "env 0: RowError: Careless.observe, observation steps: expected 6 bytes, as describe specifies for "
                 r"int16, \(3,\); observe wrote at least 8"),
    ("too short", "observation steps: .*observe did not write byte 4"),
    ("too early", "observation steps: .*observe wrote before the start, at -2"),
    ("in info", r"info steps: expected 8 bytes, as describe specifies for float32, \(2,\); observe wrote at least 16"),
    ("fickle", "observation steps: .*observe wrote a different byte when called again"),
    ("outside", r"observation steps \[ 9 -1  9\] is not in Array"),
    ("unstacked", "observation steps is declared as a stack of 3 frames, but does not begin with the last frames"),
    ("endless", "env 0: RowError: Careless.step, reward: expected a finite number, got nan"),
    ("unsteady", "observation steps is .* after reset.seed. of the same pool, but was"),
    ("forgetful", "observation steps is .* after load into"),
    ("beyond", r"Careless.observe, obs_row.out, 2.: expected 0 to 1, because describe specifies 2 observations"),
    ("before", r"Careless.observe, obs_row.out, -1.: expected 0 to 1, because describe specifies 2 observations"),
    ("no such info", r"Careless.observe, info_row.out, 1.: expected 0 to 0, because describe specifies 1 infos"),
    ("half copied", "env 1: value 0 of its state is 0 after copy from env 0, whose value is 1"),
    ("unchecked", "load accepted a state with an extra value, instead of raising"),
    ("untimely", "observation steps is .* in autoreset mode Disabled"),
]


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_faults_are_found(walker, fault, message):
    with pytest.raises(ContractError, match=f"(?s)^walker/Careless-v0: .*{message}"):
        check_env("walker/Careless-v0", fault=fault)


@pytest.mark.parametrize(("fault", "message"), [
    ("half copied", "env 1: value 0 of its state is 0 after copy from env 0, whose value is 1"),
    ("forgetful", "observation steps is .* after copy from env 0, but was .* after loading the state"),
])
def test_faults_are_found_where_the_middle_of_the_run_begins_an_episode(walker, fault, message):
    with pytest.raises(ContractError, match=f"(?s){message}"):
        check_env("walker/Careless-v0", fault=fault, max_episode_steps=9)


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no GIL to take")
def test_what_takes_the_gil_is_found(walker):
    with pytest.raises(ContractError, match=r"a step or reset acquired the GIL, or took longer than \d+\.\d s"):
        check_env("walker/Careless-v0", fault="locked")
    assert len(check_env("walker/Careless-v0", fault="locked", without_gil=False).passed) == 7


def test_a_module_that_does_not_compare_its_abi_is_found(walker):
    id = cypool.compile("""
from libc.stdint cimport int64_t
from cypool.env cimport Env, Slot, obs_row
from cypool.spec import Discrete, EnvSpec

cdef class Forgotten(Env):
    @staticmethod
    def describe():
        return EnvSpec(observation=Discrete(2), action=Discrete(2))
    cdef int reset(self) except -1 nogil:
        return 0
    cdef int step(self, const void* action) except -1 nogil:
        return 0
    cdef int observe(self, const Slot* out) except -1 nogil:
        obs_row[int64_t](out, 0)[0] = 1
        return 0
""")
    with pytest.raises(ContractError, match=r"expected the module .* to check which .* call import_cypool\(\)"):
        check_env(id)


def test_none_of_these(walker):
    assert len(check_env("walker/Careless-v0").passed) == 8


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_debugging_changes_nothing(walker, mode, num_threads):
    def play(**arguments):
        with cypool.make("walker/Walk-v0", num_envs=4, seed=3, num_threads=num_threads, autoreset_mode=mode,
                         max_episode_steps=7, **arguments) as env:
            env.action_space.seed(1)
            obs, info = env.reset()
            rows = [obs.tobytes()]
            for _ in range(30):
                obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
                rows.append(b"".join(part.tobytes() for part in (obs, reward, terminated, truncated, info["visits"],
                                                                 info["elapsed_step"])))
                if mode == "Disabled" and (terminated | truncated).any():
                    env.reset(options={"reset_mask": terminated | truncated})
            state = env.save()
            rows.append(env.load(state)[0].tobytes())
            return rows

    assert play() == play(debug=True)


def test_only_the_env_that_errs_is_told_of(walker):
    faults = [{"fault": "none"}, {"fault": "too long"}, {"fault": "none"}]
    env = cypool.make("walker/Careless-v0", num_envs=3, debug=True, env_options=faults)
    with pytest.raises(cypool.EnvError, match="env 1: RowError: Careless.observe") as caught:
        env.reset()
    assert caught.value.causes.keys() == {1} and (caught.value.batch[0]["steps"] == 0).all()


def test_rewards_that_are_no_numbers(walker):
    faults = [{"fault": "none"}, {"fault": "endless"}]
    env = cypool.make("walker/Careless-v0", num_envs=2, debug=True, env_options=faults)
    env.reset()
    for _ in range(6):
        env.step([0, 1])
    with pytest.raises(cypool.EnvError, match="env 1: RowError: Careless.step, reward: expected a finite number"):
        env.step([0, 1])


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"num_envs": 1}, ValueError, "num_envs"), ({"num_steps": 3}, ValueError, "num_steps"),
    ({"seed": -1}, ValueError, "seed"), ({"without_gil": 1}, TypeError, "without_gil"),
    ({"gravity": 3}, ValueError, "gravity: not an option of CartPole-v1"),
])
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        check_env("CartPole-v1", **arguments)


def test_debug_is_a_bool():
    with pytest.raises(TypeError, match="debug: expected True or False, got 'yes'"):
        cypool.make("CartPole-v1", debug="yes")
    assert np.isfinite(cypool.make("CartPole-v1", debug=np.True_).reset()[0]).all()
