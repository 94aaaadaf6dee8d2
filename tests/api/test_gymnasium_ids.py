"""`gymnasium.make_vec("cypool/...")`, `gymnasium.make`: whichever of the two packages is imported first."""
import copy

import gymnasium
import gymnasium.wrappers.vector as wrappers
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector.utils import batch_space
from markers import slow
from waiting import attempts

import cypool
from cypool.registration.registry import entry_of, register_again

pytestmark = pytest.mark.families("atari", "dm_control", "minigrid", "mpe2", "mujoco", "robotics")


@pytest.mark.families("atari")
def test_all_environments_have_an_id(walker):
    # those of ale_py are its own, and a benchmark of several is not one that Gymnasium makes
    ids = [id for id in cypool.list_all_envs() if not id.startswith("ALE/") and entry_of(id).expand is None]
    expected = {id if "/" in id else f"cypool/{id}" for id in ids}
    assert expected <= set(gymnasium.registry) and "cypool/Pong-v5" in expected and "walker/Walk-v0" in expected
    assert gymnasium.spec("cypool/Pong-v5").vector_entry_point == "cypool.adapters.single:make_vector"


@pytest.mark.parametrize("id", ["Pong-v5", "CartPole-v1", "walker/Walk-v0"])
@pytest.mark.parametrize("mode", [None, "vector_entry_point"])
def test_make_vec_equals_make(walker, id, mode):
    name = id if "/" in id else f"cypool/{id}"
    with gymnasium.make_vec(name, num_envs=3, vectorization_mode=mode, seed=5, num_threads=2) as env:
        own = cypool.make(id, num_envs=3, seed=5)
        assert type(env) is type(own) and env.spec.id == name and env.env_spec == own.env_spec
        assert env.reset()[0].tobytes() == own.reset()[0].tobytes()
        for t in range(50):
            for got, want in zip(env.step([t % 2] * 3)[:4], own.step([t % 2] * 3)[:4], strict=True):
                assert got.tobytes() == want.tobytes()


def test_options_are_passed():
    env = gymnasium.make_vec("cypool/Pong-v5", num_envs=4, batch_size=2, num_threads=2, frame_skip=2, stack_num=1,
                             img_height=40, img_width=40, max_episode_steps=9, autoreset_mode="SameStep")
    assert env.single_observation_space.shape == (1, 40, 40) and env.is_async and env.num_threads == 2
    assert env.env_spec.max_episode_steps == 9 and env.env_spec.options["frame_skip"] == 2
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    assert gymnasium.make_vec("cypool/CartPole-v1").num_envs == 1
    with pytest.raises(ValueError, match="^frame_skp: not an option of Pong-v5"):
        gymnasium.make_vec("cypool/Pong-v5", frame_skp=2)


def test_from_its_spec():
    spec = gymnasium.spec("cypool/CartPole-v1")
    env = gymnasium.make_vec(spec, num_envs=2, seed=1)
    again = gymnasium.make_vec(env.spec)
    assert again.num_envs == 2 and again.reset()[0].tobytes() == env.reset()[0].tobytes()
    assert spec == gymnasium.spec("cypool/CartPole-v1")


@pytest.mark.parametrize("wrap", [wrappers.RecordEpisodeStatistics, wrappers.NormalizeObservation])
def test_wrappers(wrap):
    env = wrap(gymnasium.make_vec("cypool/CartPole-v1", num_envs=4))
    env.reset()
    for _ in range(30):
        obs, *_ = env.step(env.action_space.sample())
    assert len(obs) == 4 and env.unwrapped.spec.id == "cypool/CartPole-v1"
    assert copy.deepcopy(env.unwrapped).num_envs == 4


@pytest.mark.parametrize("call", [
    lambda: gymnasium.make_vec("cypool/CartPole-v1", wrappers=[gymnasium.wrappers.TimeAwareObservation]),
    lambda: gymnasium.make_vec("cypool/CartPole-v1", vector_kwargs={"copy": False}),
], ids=["wrappers", "vector_kwargs"])
def test_what_gymnasium_refuses_it_says_itself(call):
    with pytest.raises(gymnasium.error.Error, match="entry.point|kwargs"):
        call()


@pytest.mark.filterwarnings("ignore:.*(infinity|symmetric and normalized)")
@pytest.mark.parametrize("id", ["cypool/CartPole-v1", "cypool/Pendulum-v1", "cypool/FrozenLake-v1", "cypool/Pong-v5",
                                "cypool/MiniGrid-Empty-5x5-v0", "walker/Walk-v0"])
def test_single_environments_pass_gymnasiums_check(walker, id):
    env = gymnasium.make(id, disable_env_checker=True)
    check_env(env.unwrapped, skip_render_check=not env.metadata["render_modes"])


@pytest.mark.parametrize("id", ["CartPole-v1", "MountainCarContinuous-v0", "FrozenLake-v1"])
def test_a_single_environment_has_gymnasiums_episodes(id):
    ours, theirs = gymnasium.make(f"cypool/{id}", max_episode_steps=30), gymnasium.make(id, max_episode_steps=30)
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    assert str(ours).replace("UnlimitedEnv", type(theirs.unwrapped).__name__).replace("cypool/", "") == str(theirs)
    theirs.action_space.seed(0)
    for seed in (3, None, np.int64(7)):
        obs, info = ours.reset(seed=seed)
        assert (obs == theirs.reset(seed=seed if seed is None else int(seed))[0]).all() and info["env_id"] == 0
        for _ in attempts():
            action = theirs.action_space.sample()
            got, want = ours.step(action), theirs.step(action)
            assert (got[0] == want[0]).all() and got[1:4] == want[1:4]
            if want[2] or want[3]:
                break


def test_the_limit_of_a_single_environment_is_that_of_make():
    # the pendulum never falls: its own limit is 200
    for limit, steps in ((None, 200), (9, 9), (250, 250)):
        env = gymnasium.make("cypool/Pendulum-v1", max_episode_steps=limit)
        env.reset(seed=0)
        assert [env.step(np.zeros(1, np.float32))[3] for _ in range(steps)] == [False] * (steps - 1) + [True]
    env = gymnasium.make("cypool/Pendulum-v1", max_episode_steps=-1)
    env.reset(seed=0)
    assert not any(env.step(np.zeros(1, np.float32))[3] for _ in range(300))
    # a limit that depends on options is the environment's
    env = gymnasium.make("cypool/MiniGrid-Empty-5x5-v0")
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(100)] == [False] * 99 + [True]


def test_options_seeds_and_errors_of_a_single_environment():
    env = gymnasium.make("cypool/FrozenLake-v1", is_slippery=False, map_name="8x8")
    assert env.unwrapped.pool.env_spec.options["is_slippery"] is False and env.observation_space.n == 64
    with pytest.raises(ValueError, match="^is_slipery: not an option of FrozenLake-v1"):
        gymnasium.make("cypool/FrozenLake-v1", is_slipery=False)
    for name, value in (("num_envs", 3), ("batch_size", 1), ("env_type", "gym"), ("autoreset_mode", "SameStep")):
        with pytest.raises(TypeError, match=f"^{name}: expected no argument .*, got {value!r}: use"):
            gymnasium.make("cypool/FrozenLake-v1", **{name: value})
    with pytest.raises(ValueError, match="^seed: expected"):
        env.reset(seed=-1)
    with pytest.raises(TypeError, match="^seed: expected"):
        env.reset(seed="a")
    # wrappers draw from a stream that is seeded, and not the same number each time
    draws = []
    for _ in range(2):
        env.reset(seed=5)
        draws.append(env.np_random.random(3).tolist())
    assert draws[0] == draws[1] and len(set(draws[0])) == 3 and env.unwrapped.np_random_seed == 5
    assert gymnasium.make("cypool/FrozenLake-v1", seed=6).unwrapped.np_random_seed == 6
    env = gymnasium.make("cypool/FrozenLake-v1", is_slippery=False).unwrapped
    env.reset(seed=0)
    # down and to the right is a hole
    assert [env.step(action)[2] for action in (1, 2)] == [False, True]
    with pytest.raises(RuntimeError, match="is over: reset it first"):
        env.step(0)


def test_pictures_of_a_single_environment():
    pytest.importorskip("pygame")
    env = gymnasium.make("cypool/CartPole-v1", render_mode="rgb_array_list")
    env.reset(seed=0)
    env.step(0)
    assert [frame.shape for frame in env.render()] == [(400, 600, 3)] * 2


def test_unknown_ids():
    with pytest.raises(gymnasium.error.Error, match="Pung.*in namespace cypool"):
        gymnasium.make_vec("cypool/Pung-v5")
    with pytest.raises(gymnasium.error.Error):
        gymnasium.make_vec("cypool/Pong-v99")


MAKE = """
env = gymnasium.make_vec("cypool/CartPole-v1", num_envs=2)
assert type(env).__name__ == "GymnasiumPool" and env.reset()[0].shape == (2, 4)
print("ok")
"""


@pytest.mark.parametrize("imports", [
    "import cypool, gymnasium",
    "import gymnasium, cypool",
    "import cypool; from gymnasium import spaces; import gymnasium",
    *slow(
        "import cypool, gymnasium.vector",
        "import cypool; cypool.make('CartPole-v1'); import gymnasium",
        "import gymnasium; import cypool.compat.envpool",
        "import importlib, cypool; gymnasium = importlib.import_module('gymnasium')",
        # only looked for
        "import importlib.util, cypool; assert importlib.util.find_spec('gymnasium'); import gymnasium",
    ),
    "import importlib, cypool, gymnasium; importlib.reload(gymnasium)",
    # found at the second attempt
    "import sys, cypool; path = list(sys.path); sys.path[:] = []; sys.path_importer_cache.clear()\n"
    "try: import gymnasium\nexcept ModuleNotFoundError: sys.path[:] = path\nimport gymnasium",
    # first from another thread
    "import threading, cypool\ndef load(): import gymnasium\nt = threading.Thread(target=load); t.start(); t.join()\n"
    "import gymnasium",
])
def test_in_either_order(run_python, imports):
    done = run_python(f"{imports}\n{MAKE}")
    assert (done.stdout, done.stderr) == ("ok\n", "")


@pytest.mark.parametrize("read, expected", [
    ("'cypool/CartPole-v1' in gymnasium.registry", "True"),
    ("gymnasium.envs.registration.registry['cypool/CartPole-v1'].id", "cypool/CartPole-v1"),
    ("alias.get('cypool/CartPole-v1').id", "cypool/CartPole-v1"),
    ("gymnasium.spec('cypool/CartPole-v1').max_episode_steps", "500"),
    ("len(gymnasium.registry) > plain", "True"),
    ("'cypool/CartPole-v1' in list(gymnasium.registry)", "True"),
    ("'cypool/CartPole-v1' in {**gymnasium.registry}", "True"),
    ("'cypool/CartPole-v1' in dict(gymnasium.registry)", "True"),
    ("'cypool/CartPole-v1' in copy.deepcopy(gymnasium.registry)", "True"),
    ("'cypool/CartPole-v1' in (gymnasium.registry | {})", "True"),
    ("'cypool/CartPole-v1' in [spec.id for spec in gymnasium.registry.values()]", "True"),
    ("'cypool/CartPole-v1' in repr(gymnasium.registry)", "True"),
])
def test_gymnasiums_registry_is_filled_when_it_is_read(run_python, read, expected):
    done = run_python(f"""
import copy, sys, gymnasium
alias = gymnasium.registry
registry = alias
plain = len(registry)
import cypool
assert "cypool.envs" not in sys.modules
alias = sys.modules["__main__"].registry
print({read})
assert "cypool.envs" in sys.modules
cypool.register("Late-v0", "walker.walk:Walk")
print("cypool/Late-v0" in gymnasium.registry, gymnasium.registry is gymnasium.envs.registration.registry)
""")
    assert (done.stdout, done.stderr) == (f"{expected}\nTrue True\n", "")


def test_cypool_alone_does_not_import_gymnasium(run_python):
    done = run_python("""
import sys, cypool
cypool.list_all_envs()
cypool.register("mine/Walk-v0", "walker.walk:Walk")
import json, email
print("gymnasium" in sys.modules, "numpy" in sys.modules)
""")
    assert (done.stdout, done.stderr) == ("False False\n", "")


@pytest.mark.parametrize("imports", [
    "import walker, gymnasium", "import gymnasium, walker",
    *slow("import cypool, gymnasium, walker", "import gymnasium, cypool, walker"),
])
def test_plugins(run_python, imports):
    done = run_python(f"""
{imports}
import cypool
cypool.register("Own-v3", "walker.walk:Walk", limit=2)
env = gymnasium.make_vec("walker/Walk-v0", num_envs=2, limit=5)
assert env.env_spec.options["limit"] == 5
assert gymnasium.make_vec("cypool/Own-v3", num_envs=2).env_spec.options["limit"] == 2
print("ok")
""")
    assert (done.stdout, done.stderr) == ("ok\n", "")


@pytest.mark.parametrize("imports", ["import gymnasium, cypool", "import cypool"])
def test_names_that_gymnasium_has_or_does_not_take(run_python, imports):
    done = run_python(f"""
{imports}
import sys
if "gymnasium" in sys.modules:
    gymnasium.register("taken/Walk-v0", "somewhere:else")
    gymnasium.register("unversioned/Walk", "somewhere:else")
for id in ("taken/Walk-v0", "unversioned/Walk-v0", "dotted.name/Walk-v0"):
    cypool.register(id, "walker.walk:Walk")
    cypool.make(id).reset()
import gymnasium
if "gymnasium, cypool" in {imports!r}:
    assert gymnasium.spec("taken/Walk-v0").entry_point == "somewhere:else"
assert "cypool/CartPole-v1" in gymnasium.registry
print("ok")
""")
    assert (done.stdout, done.stderr) == ("ok\n", "")


def test_without_gymnasium(run_python, tmp_path):
    for block in ("import sys; sys.modules['gymnasium'] = None; import cypool",
                  "import sys, cypool; sys.modules['gymnasium'] = None",
                  "import sys, cypool; sys.path[:] = []; sys.path_importer_cache.clear()"):
        done = run_python(f"""
{block}
cypool.register("mine/Walk-v0", "walker.walk:Walk")
try:
    import gymnasium
except ModuleNotFoundError as error:
    print(error.name)
""")
        assert (done.stdout, done.stderr) == ("gymnasium\n", "")
    # a folder of that name, no package
    (tmp_path / "gymnasium").mkdir()
    done = run_python(f"""
import sys, cypool
sys.path[:] = [{str(tmp_path)!r}]
sys.path_importer_cache.clear()
import gymnasium
print(gymnasium.__file__)
""")
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_seeds_of_numpy():
    env = gymnasium.make_vec("cypool/CartPole-v1", num_envs=2)
    assert env.reset(seed=np.int64(3))[0].tobytes() == cypool.make("CartPole-v1", num_envs=2).reset(seed=3)[0].tobytes()


@pytest.mark.families("atari")
def test_the_ids_of_ale_py_stay_its_own(run_python):
    done = run_python("""
import gymnasium, cypool
assert "ALE/Pong-v5" in cypool.list_all_envs() and "ALE/Pong-v5" not in gymnasium.registry
import ale_py
gymnasium.register_envs(ale_py)
assert gymnasium.spec("ALE/Pong-v5").entry_point == "ale_py.env:AtariEnv"
assert cypool.make("ALE/Pong-v5").env_spec.id == "ALE/Pong-v5"
""")
    assert done.returncode == 0 and "Overriding" not in done.stderr, done.stderr


def test_specs_tell_limits_and_thresholds(walker):
    rows = [(id, gymnasium.spec(id), gymnasium.spec(f"cypool/{id}")) for id in (
        "CartPole-v0", "CartPole-v1", "Acrobot-v1", "MountainCarContinuous-v0", "Pendulum-v1", "FrozenLake8x8-v1",
        "Blackjack-v1", "Ant-v5", "Reacher-v4")]
    for id, theirs, ours in rows:
        assert ours.max_episode_steps == theirs.max_episode_steps, id
        assert ours.reward_threshold == theirs.reward_threshold, id
    assert gymnasium.spec("cypool/CartPole-v1").max_episode_steps == 500
    assert gymnasium.spec("cypool/CartPole-v1").reward_threshold == 475.0
    # the limit depends on options
    assert gymnasium.spec("cypool/Pong-v5").max_episode_steps is None


@pytest.mark.parametrize("arguments", [
    {"id": "CartPole-v1"},
    {"id": "CartPole-v1", "batch_size": 2, "max_episode_steps": 7, "autoreset_mode": "SameStep"},
    {"id": "FrozenLake-v1", "is_slippery": False, "episode_statistics": True},
    {"id": "ALE/Pong-v5", "obs_type": "ram"},
    {"id": "Pendulum-v1", "normalize_obs": True, "env_options": [{"g": g} for g in (9.0, 10.0, 11.0)]},
])
def test_a_pools_spec_makes_the_same(arguments):
    own = cypool.make(**arguments, num_envs=3, num_threads=1)
    spec = own.spec
    assert spec is own.spec and spec.max_episode_steps == own.env_spec.max_episode_steps
    again = gymnasium.make_vec(spec)
    assert again.recipe == {**own.recipe, "seed": again.recipe["seed"], "num_threads": again.num_threads}
    assert spec.name == arguments["id"].rpartition("/")[2].partition("-")[0]
    own.spec = None
    assert own.spec == spec


def test_specs_of_what_gymnasium_makes():
    env = cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=0, max_episode_steps=9, sutton_barto_reward=True)
    theirs = gymnasium.make("CartPole-v1", max_episode_steps=9, sutton_barto_reward=True).spec
    assert (env.spec.id, env.spec.kwargs) == ("CartPole-v1", {"sutton_barto_reward": True})
    assert env.spec.max_episode_steps == 9 == theirs.max_episode_steps and env.spec.reward_threshold == 475.0
    env = cypool.from_factories([lambda: gymnasium.make("CartPole-v1", max_episode_steps=9)], num_workers=0)
    assert env.spec.id == "CartPole-v1" and env.spec.max_episode_steps == 9

    def unpicklable():
        env = gymnasium.make("CartPole-v1")
        env.spec.kwargs["hook"] = lambda: None
        return env

    assert cypool.from_factories([unpicklable], num_workers=0).spec is None


def test_limits_of_what_is_registered_once_more():
    for limit in (5, 6):
        register_again("Again-v0", "walker.walk:Walk", limit, {})
        assert gymnasium.spec("cypool/Again-v0").max_episode_steps == limit


def test_the_space_of_a_batch_is_made_when_it_is_asked_for():
    """It would take four times a batch's memory."""
    env = cypool.make("CartPole-v1", num_envs=3)
    assert "observation_space" not in vars(env)
    assert env.observation_space == batch_space(env.single_observation_space, 3)
    assert env.observation_space is env.observation_space
    env.observation_space = env.single_observation_space
    assert env.observation_space is env.single_observation_space


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec_of_gymnasiums_own_vectors_has_the_same_episodes(mode):
    ours = gymnasium.make_vec("cypool/CartPole-v1", num_envs=2)
    theirs = gymnasium.make_vec("cypool/CartPole-v1", num_envs=2, vectorization_mode=mode)
    assert (ours.reset(seed=3)[0] == theirs.reset(seed=3)[0]).all()
    for _ in range(40):
        assert (ours.step(np.zeros(2, int))[0] == theirs.step(np.zeros(2, int))[0]).all()


@pytest.mark.filterwarnings("ignore:.*(infinity|symmetric and normalized)")
def test_dicts_of_actions_step_a_single_environment():
    env = gymnasium.make("mpe2/simple_push-v3")
    env.reset(seed=0)
    assert isinstance(env.action_space, gymnasium.spaces.Dict)
    env.action_space.seed(0)
    obs, *_ = env.step(env.action_space.sample())
    assert obs in env.observation_space
    with pytest.raises(TypeError, match="^actions: expected a dict with keys "):
        env.step(0)


def test_parts_of_one_number_are_arrays_in_a_single_environment(recwarn):
    env = gymnasium.make("dm_control/humanoid-stand-v0")
    env.reset(seed=0)
    obs, *_ = env.step(env.action_space.sample())
    assert all(isinstance(part, np.ndarray) for part in obs.values())
    assert not [each for each in recwarn if "Casting input" in str(each.message)]


def test_only_environments_with_goals_have_methods_for_them():
    plain, with_goals = gymnasium.make("cypool/CartPole-v1"), gymnasium.make("cypool/FetchReach-v4")
    assert not hasattr(plain.unwrapped, "compute_reward")
    goal = np.zeros(3)
    assert with_goals.unwrapped.compute_reward(goal, goal, {}) == 0


def test_thresholds_and_pictures_a_second_are_those_of_the_references():
    assert gymnasium.spec("cypool/Pusher-v4").reward_threshold == gymnasium.spec("Pusher-v4").reward_threshold
    for id in ("ALE/Pong-v5", "PongNoFrameskip-v4", "Pong-v4"):
        assert cypool.make_spec(id).render_fps == 30
