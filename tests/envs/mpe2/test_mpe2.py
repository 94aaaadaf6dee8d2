"""MPE2: mpe2's bits; pictures; states; options; the package."""
import importlib
import warnings
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from family_tests import assert_edits_are_harmless, continues, imports_nothing, refuses
from markers import often_exhaustive, often_slow, slow
from pool_arguments import MODES
from receiving import started, stepped
from saving import bits
from state_edits import edited, number_in, with_own

import cypool
from cypool.envs.mpe2.ids import CLASSES
from cypool.testing import ParityError, check_env, check_parity

mpe2 = pytest.importorskip("mpe2")
from envs.mpe2.play import NUMBERS, VARIANTS, players  # noqa: E402

from cypool.envs.mpe2.reference import Reference, References  # noqa: E402

# pettingzoo's, at its import
pytestmark = pytest.mark.filterwarnings("ignore")
SPREAD, TAG, TREASURE = "mpe2/simple_spread-v3", "mpe2/simple_tag-v3", "mpe2/collect_treasure-v1"
KINDS = [{}, NUMBERS]
ALL = [(id, options) for id, variants in VARIANTS.items() for options in variants]


def made(id, num_envs=1, **options):
    return cypool.make(id, **{"num_envs": num_envs, "num_threads": 0, "seed": 3, **options})


def played(id, num_steps, **options):
    return stepped(started(made(id, **options)), num_steps)


@pytest.mark.parametrize("id, mode", [
    *((id, mode) for k, id in enumerate(CLASSES) for mode in MODES[:1 if k else 3]),
    *slow(*((id, mode) for id in list(CLASSES)[1:] for mode in MODES[1:]))])
def test_parity(id, mode):
    for seed, options in enumerate(KINDS):
        with players(seed):
            parity = check_parity(f"mpe2/{id}", num_envs=2, num_steps=20, seeds=[seed], autoreset_mode=mode,
                                  num_threads=2 * seed, max_cycles=8, **options)
        assert parity.num_episodes >= 4


@pytest.mark.parametrize("id, options", often_slow([each for each in ALL if each[1] not in KINDS], 2))
def test_parity_with_options(id, options):
    with players(1):
        check_parity(f"mpe2/{id}", num_envs=1, num_steps=15, seeds=[5], num_threads=0, **options)


@pytest.mark.slow
@pytest.mark.parametrize("id, options", often_exhaustive(ALL, 5))
def test_parity_for_long(id, options):
    for mode in MODES:
        with players(2):
            check_parity(f"mpe2/{id}", num_envs=2, num_steps=45, seeds=[1], autoreset_mode=mode, **options)


def test_parity_finds_a_difference_of_one_agent(monkeypatch):
    forget = References._forget

    def differ(self):
        forget(self)
        self.envs[1].columns["agent"]["reward"][0] = 1e-300

    monkeypatch.setattr(References, "_forget", differ)
    with pytest.raises(ParityError, match="info reward"):
        check_parity(TAG, num_envs=2, num_steps=1)


def test_an_episode_that_ends_by_success():
    with players(4):
        parity = check_parity("mpe2/simple_line-v1", num_envs=2, num_steps=300, seeds=[0], N=2, max_cycles=60,
                              terminate_on_success=True, **NUMBERS)
    assert 0 < parity.num_terminated < parity.num_episodes


def test_pushes_that_hardly_push():
    """Those of agents at rest are equal, too: far below the precision of observations."""
    env, theirs = made(TAG), importlib.import_module("mpe2.simple_tag_v3").parallel_env()
    rng, weak = np.random.default_rng(0), 0
    for seed in range(8):
        env.reset(seed=seed)
        theirs.reset(seed=seed)
        for _ in range(5):
            # along one axis, or not at all
            choices = rng.choice(3, 4, p=[0.8, 0.1, 0.1])
            env.step({"adversary": choices[None, :3], "agent": choices[None, 3:]})
            theirs.step(dict(zip(theirs.agents, choices.tolist(), strict=True)))
        state = env.save()
        for k, agent in enumerate(theirs.unwrapped.world.agents):
            for axis, wanted in zip("xy", agent.state.p_vel, strict=True):
                assert number_in(state, f"velocity[{k}].{axis}") == wanted
                weak += 0 < abs(wanted) < 1e-40
    assert weak > 5


def test_success_in_the_last_step_is_no_success():
    """mpe2 looks at the steps first; the limit of a pool does not."""
    with players(4):
        parity = check_parity(SPREAD, num_envs=3, num_steps=100, seeds=[0], N=1, max_cycles=6,
                              terminate_on_success=True, **NUMBERS)
    assert parity.num_episodes > 0
    with players(4):
        check_parity(SPREAD, num_envs=3, num_steps=100, seeds=[0], N=1, max_cycles=60, max_episode_steps=6,
                     terminate_on_success=True, **NUMBERS)


@pytest.mark.parametrize("id", CLASSES)
def test_agents_have_mpe2s_names_and_order(id):
    for options in VARIANTS[id]:
        spec = cypool.make_spec(f"mpe2/{id}", **options)
        theirs = Reference(id.replace("-", "_"), spec.options, spec.max_episode_steps)
        assert spec.agent_names == theirs.env.possible_agents
        for name, agents in theirs.agents.items():
            shape = theirs.env.observation_space(agents[0]).shape
            assert spec.agents[name].observation.shape == shape


def test_the_state_is_mpe2s():
    for id in (SPREAD, TAG):
        env = started(made(id, num_envs=2))
        spec = env.env_spec
        theirs = Reference(id.removeprefix("mpe2/").replace("-", "_"), spec.options, spec.max_episode_steps)
        theirs.reset(seed=3)
        assert env.state()[0].tobytes() == theirs.env.state().tobytes()


@pytest.mark.parametrize("options", KINDS, ids=["discrete", "continuous"])
@pytest.mark.parametrize("id", CLASSES)
def test_parallel_env(id, options):
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    with warnings.catch_warnings(action="error"):
        parallel_api_test(cypool.parallel_env(f"mpe2/{id}", **options), num_cycles=60)
        parallel_seed_test(lambda: cypool.parallel_env(f"mpe2/{id}", **options), num_cycles=10)


def test_all_ways_of_stepping_are_one():
    """Together, by threads, alone in an asynchronous pool, and behind the wrapper of `debug`."""
    for id, options in (("mpe2/simple_world_comm-v3", {}), (TREASURE, NUMBERS)):
        made_by = [{}, {"num_threads": 3}, {"debug": True}, {"batch_size": 1}]
        envs = [made(id, num_envs=4, max_cycles=5, **each, **options) for each in made_by]
        for env in envs:
            env.reset()
        for _ in range(3):
            envs[-1].recv()
        for _ in range(12):
            actions = envs[0].action_space.sample()
            rows = [sorted_rows(env, actions) for env in envs]
            assert rows[0] == rows[1] == rows[2] == rows[3]


def sorted_rows(env, actions):
    """Steps all environments once; returns the row of each."""
    rows = {}
    batches = [env.step(actions)] if not env.is_async else [
        env.step({name: part[[i]] for name, part in actions.items()}, [i]) for i in range(env.num_envs)]
    for obs, reward, terminated, truncated, info in batches:
        for k, i in enumerate(info["env_id"].tolist()):
            agents = {name: {key: column[k] for key, column in group.items()}
                      for name, group in info["agents"].items()}
            rows[i] = bits({"obs": {name: part[k] for name, part in obs.items()}, "agents": agents,
                            "ends": (reward[k], terminated[k], truncated[k])})
    return rows


def test_the_contract():
    for id in (SPREAD, TREASURE):
        assert check_env(id, num_envs=2, num_steps=20).passed


@pytest.mark.parametrize("options", KINDS, ids=["discrete", "continuous"])
@pytest.mark.parametrize("id", CLASSES)
def test_pictures(id, options):
    options = {**options, "dynamic_rescaling": not options}
    env = made(f"mpe2/{id}", **options)
    spec = env.env_spec
    theirs = Reference(id.replace("-", "_"), spec.options, spec.max_episode_steps, "rgb_array")
    obs, _ = env.reset()
    theirs.reset(seed=3)
    env.action_space.seed(1)
    for _ in range(3):
        picture = env.render()[0]
        assert picture.shape == (700, 700, 3) and np.array_equal(picture, theirs.render())
        for _ in range(4):
            action = env.action_space.sample()
            env.step(action)
            theirs.step({name: part[0] for name, part in action.items()} if isinstance(action, dict) else action[0])


def test_pictures_of_treasures_that_were_picked_up():
    with players(3):
        check_parity(TREASURE, num_envs=1, num_steps=1)
    env = made(TREASURE, num_treasures=30, num_deposits=3, max_cycles=200)
    spec = env.env_spec
    theirs = Reference("collect_treasure_v1", spec.options, spec.max_episode_steps, "rgb_array")
    env.reset()
    theirs.reset(seed=3)
    env.action_space.seed(1)
    seen = set()
    for _ in range(60):
        action = env.action_space.sample()
        env.step(action)
        theirs.step({name: part[0] for name, part in action.items()})
        holding = [agent.holding is not None for agent in theirs.env.unwrapped.world.agents]
        gone = [not mark.alive for mark in theirs.env.unwrapped.world.landmarks]
        if (any(holding), any(gone)) not in seen:
            seen.add((any(holding), any(gone)))
            assert np.array_equal(env.render()[0], theirs.render())
    assert {(True, True), (True, False)} <= seen


def test_an_environment_that_was_never_reset():
    env = played(SPREAD, 1)
    env.load(with_own(env.save(), (b"\0",)))
    with pytest.raises(RuntimeError, match="render: expected a reset first"):
        env.render()
    # all are on one spot
    assert np.isnan(env.step([[0, 1, 2]])[0]).any()


test_states_go_on = continues([(id, "NextStep", {}) for id in (
    SPREAD, "mpe2/simple_crypto-v3", "mpe2/simple_line-v1", TREASURE)], before=7, after=15, max_cycles=10)


def test_a_copy_outlives_its_source():
    """A copy keeps its own scenario, as that of a pool ends with it."""
    env, source = (started(made(SPREAD, N=5)) for _ in range(2))
    env.load(source.save())
    source.close()
    del source
    for k in range(70):
        # other scenarios take the memory of those that are freed
        made(SPREAD, N=5, max_cycles=k + 1).close()
    for _ in range(30):
        env.step(env.action_space.sample())


@pytest.mark.parametrize("id", ["mpe2/simple_world_comm-v3", "mpe2/simple_line-v1", TREASURE])
def test_edited_states(id):
    assert_edits_are_harmless(lambda: played(id, 5), 60, 4)


def test_a_goal_where_none_is_chosen():
    """The painter would take it as the kind of a treasure, of which there may be fewer."""
    env = played(TREASURE, 2)
    for name in ("goal", "key"):
        with pytest.raises(ValueError, match=f"{name}: expected 0 to 0, got 1"):
            env.load(edited(env.save(), {name: 1}))


def test_agents_on_one_spot():
    """There is no direction to push them in: numbers become NaN, as in mpe2, and nothing else happens."""
    for id, options in ((SPREAD, {"num_agent_neighbors": 2, "num_landmark_neighbors": 3}),
                        ("mpe2/simple_formation-v1", {"terminate_on_success": True})):
        env = played(id, 2, N=4, **options)
        spot = {f"position[{k}].{axis}": 0.5 for k in range(3) for axis in "xy"}
        env.load(edited(env.save(), spot))
        for _ in range(3):
            obs, *_ = env.step(env.action_space.sample())
        assert np.isnan(obs).any()
        with pytest.raises(ValueError, match=r"position\[0\].x: expected -1e\+09 to 1e\+09, got -?nan"):
            env.load(env.save())


def test_mutated_states():
    random = np.random.default_rng(1)
    env = played(TREASURE, 9)
    state = env.save()
    own, stream = state.rows[0]["own"]
    loaded = 0
    for k in range(1000):
        changed = np.frombuffer(own, np.uint8).copy()
        places = random.integers(len(changed), size=1 + k % 3)
        changed[places] = random.choice([0, 1, 2, 5, 6, 63, 64, 127, 128, 255], len(places))
        try:
            env.load(with_own(state, (changed.tobytes(), stream)))
        except ValueError:
            continue
        loaded += 1
        for _ in range(3):
            env.step(env.action_space.sample())
    assert 100 < loaded < 1000


@pytest.mark.parametrize("own, message", [
    ((), "state: expected 1 values, got 0"), (None, "state: expected a tuple, got None"),
    (("text",), r"state\[0\]: expected bytes"), ((b"",), "ready: expected 1 more bytes"),
    ((b"\0\0",), "end: expected no more bytes"),
])
def test_refused_states(own, message):
    env = played(SPREAD, 3)
    with pytest.raises(ValueError, match=message):
        env.load(with_own(env.save(), own))


def test_refused_streams():
    env = played(TREASURE, 3)
    state = env.save()
    own, stream = state.rows[0]["own"]
    for wrong in (None, {}, {**stream, "bit_generator": "MT19937"}, {**stream, "state": {"state": -1, "inc": 1}}):
        with pytest.raises(ValueError, match=r"state\[1\]"):
            env.load(with_own(state, (own, wrong)))
    for wrong in (None, (own,), 5):
        with pytest.raises(ValueError, match="state: expected a tuple of 2 values, got"):
            env.load(with_own(state, wrong))
    env.load(state)


test_refused_options = refuses([
    (SPREAD, {"N": 0}, "N: expected 1 to 100, got 0"), (SPREAD, {"N": 101}, "N: expected 1 to 100, got 101"),
    (SPREAD, {"N": 2.0}, "N: expected an int, got 2.0"),
    (SPREAD, {"local_ratio": 1.5}, "local_ratio: expected 0 to 1, got 1.5"),
    (SPREAD, {"local_ratio": None}, "local_ratio: expected a number, got None"),
    (SPREAD, {"local_ratio": float("nan")}, "local_ratio: expected 0 to 1, got nan"),
    (SPREAD, {"max_cycles": 0}, "max_cycles: expected 1 to 1073741824, got 0"),
    (SPREAD, {"continuous_actions": 1}, "continuous_actions: expected True or False, got 1"),
    (SPREAD, {"curriculum_stage": 3}, "curriculum_stage: expected 0 to 2, got 3"),
    (SPREAD, {"num_agent_neighbors": -1}, "num_agent_neighbors: expected 0 to 100, got -1"),
    (SPREAD, {"terminate_on_success": None}, "terminate_on_success: expected True or False, got None"),
    (TAG, {"num_good": 0}, "num_good: expected 1 to 50, got 0"),
    (TAG, {"num_obstacles": -1}, "num_obstacles: expected 0 to 50, got -1"),
    ("mpe2/simple_world_comm-v3", {"num_food": 0}, "num_food: expected 1 to 50, got 0"),
    ("mpe2/simple_adversary-v3", {"num_agent_neighbors": 0, "num_landmark_neighbors": 0},
     "num_landmark_neighbors: expected at least 1 if num_agent_neighbors is 0 .agents in the group 'adversary'"),
    (TREASURE, {"num_deposits": 7}, "num_deposits: expected 1 to 6, got 7"),
    (SPREAD, {"num_good": 2}, "num_good"), ("mpe2/simple-v3", {"N": 2}, "N"),
])


def test_the_most_of_everything():
    """As many as there can be: nothing is written beyond memory."""
    most = [(SPREAD, {"N": 100}), (SPREAD, {"N": 100, "num_agent_neighbors": 100, "num_landmark_neighbors": 100}),
            (TAG, {"num_good": 50, "num_adversaries": 50, "num_obstacles": 50}),
            ("mpe2/simple_adversary-v3", {"N": 100, "num_agent_neighbors": 100}),
            ("mpe2/simple_world_comm-v3", {"num_good": 50, "num_adversaries": 50, "num_obstacles": 50, "num_food": 50,
                                           "num_forests": 50}),
            ("mpe2/simple_formation-v1", {"N": 100}), ("mpe2/simple_line-v1", {"N": 100}),
            (TREASURE, {"num_collectors": 50, "num_deposits": 6, "num_treasures": 100})]
    for id, options in most:
        for numbers in (False, True):
            played(id, 3, continuous_actions=numbers, **options).close()


def test_the_package_is_for_parity_and_pictures_only(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    env = played(SPREAD, 2)
    for found, message in ((missing, "needs mpe2 1.1.1, found none: pip install .cypool\\[mpe2\\]"),
                           (lambda _: "1.0.0", "needs mpe2 1.1.1, found 1.0.0")):
        monkeypatch.setattr("importlib.metadata.version", found)
        env.step(env.action_space.sample())
        with pytest.raises(ImportError, match=f"render {message}"):
            env.render()
        with pytest.raises(ImportError, match=f"check_parity {message}"):
            check_parity(SPREAD)


test_mpe2_is_not_imported = imports_nothing(
    [("mpe2/simple_tag-v3", {}, False)], ["mpe2", "pettingzoo", "pygame", "scipy"])


def test_stages_are_those_of_mpe2():
    """mpe2's own property says 0 for ever: the reference has the others from its table."""
    scenario = importlib.import_module("mpe2.simple_tag.simple_tag").Scenario
    assert [stage["prey_speed_factor"] for stage in scenario.CURRICULUM_STAGES] == [0.5, 0.75, 1.0]
    env = importlib.import_module("mpe2.simple_tag_v3").parallel_env(curriculum=True).unwrapped
    env.set_curriculum_stage(2)
    assert env.curriculum_stage == 0
