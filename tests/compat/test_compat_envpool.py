"""cypool.compat.envpool against results recorded from EnvPool 1.2.5, and against the Gymnasium api."""
import pickle

import dm_env
import gymnasium
import numpy as np
import pytest
from episode_returns import RecordEpisodeStatistics
from pool_arguments import THREADS

import cypool
import cypool.compat.envpool as envpool

pytestmark = pytest.mark.families("atari", "dm_control", "minigrid", "mpe2")

# as EnvPool 1.2.5 prints them
SPACES = {
    "CartPole-v1": ("Box([-4.8               -inf -0.41887903        -inf], "
                    "[4.8               inf 0.41887903        inf], (4,), float32)", "Discrete(2)"),
    "Pong-v5": ("Box(0, 255, (4, 84, 84), uint8)", "Discrete(6)"),
    "Blackjack-v1": ("Box(0, 31, (3,), int32)", "Discrete(2)"),
    "NChain-v0": ("Discrete(5)", "Discrete(2)"),
    "Catch-v0": ("Box(0.0, 1.0, (10, 5), float32)", "Discrete(3)"),
}
OBS = {"CartPole-v1": ("float32", (4,)), "Pong-v5": ("uint8", (4, 84, 84)), "Blackjack-v1": ("int32", (3,)),
       "NChain-v0": ("int32", ()), "Catch-v0": ("float32", (10, 5))}
INFO = {id: {} for id in SPACES} | {
    "Pong-v5": {"lives": "int32", "reward": "float32", "terminated": "int32", "ram": "uint8"}}
CONFIG = {"num_envs": 3, "batch_size": 3, "num_threads": 0, "max_num_players": 1, "thread_affinity_offset": -1,
          "seed": 42, "env_seed": [], "gym_reset_return_info": True}
ATARI = {"max_episode_steps": 27000, "stack_num": 4, "frame_skip": 4, "noop_max": 30, "episodic_life": False,
         "reward_clip": False, "use_fire_reset": True, "img_height": 84, "img_width": 84, "task": "pong",
         "full_action_space": False, "repeat_action_probability": 0.0, "gray_scale": True, "mode": -1, "difficulty": -1,
         "use_inter_area_resize": True}
OWN = {
    "CartPole-v1": {"max_episode_steps": 500, "reward_threshold": 475.0},
    "Pong-v5": ATARI,
    "Blackjack-v1": {"max_episode_steps": 2**31 - 1, "natural": False, "sab": True},
    "NChain-v0": {"max_episode_steps": 1000},
    "Catch-v0": {"max_episode_steps": 2**31 - 1, "height": 10, "width": 5},
}


def dtypes(info):
    return {key: dtypes(value) if isinstance(value, dict) else value.dtype.name for key, value in info.items()}


def check_rows(id, obs, info, rows, **arrays):
    """Shapes and dtypes of a batch as EnvPool has them."""
    dtype, shape = OBS[id]
    assert (obs.dtype.name, obs.shape) == (dtype, (rows, *shape)) and obs.flags.writeable
    assert dtypes(info) == {"env_id": "int32", "players": {"env_id": "int32"}, "elapsed_step": "int32", **INFO[id]}
    assert all(len(info[key]) == rows for key in info.keys() - {"players"})
    assert info["players"]["env_id"].tolist() == info["env_id"].tolist()
    for dtype, array in arrays.items():
        assert array.dtype.name == dtype and array.shape == (rows,)


@pytest.mark.parametrize("id", SPACES)
@pytest.mark.parametrize("make", [envpool.make_gymnasium, envpool.make_gym,
                                  lambda id, **kwargs: envpool.make(task_id=id, env_type="gym", **kwargs)])
def test_gymnasium(make, id):
    env = make(id, num_envs=3)
    assert isinstance(env, gymnasium.vector.VectorEnv) and isinstance(env, gymnasium.Env)
    assert isinstance(env, envpool.EnvPool) and isinstance(env, envpool.GymnasiumEnvPool)
    assert (str(env.observation_space), str(env.action_space)) == SPACES[id]
    assert env.single_observation_space == env.spec.observation_space == env.observation_space
    assert env.single_action_space == env.spec.gymnasium_action_space == env.action_space
    with pytest.raises(TypeError):
        env.action_space[0]
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP and env.render_mode is None
    assert len(env) == env.num_envs == 3 and not env.is_async and env.is_vector_env
    assert env.all_env_ids.dtype == np.int32 and env.all_env_ids.tolist() == [0, 1, 2]

    obs, reward, terminated, truncated, info = env.step(np.ones(3, int))
    check_rows(id, obs, info, 3, float32=reward)
    assert not reward.any() and not info["elapsed_step"].any(), "the first step is a reset"
    obs, reward, terminated, truncated, info = env.step(np.ones(3, int))
    check_rows(id, obs, info, 3, float32=reward, bool=terminated)
    assert truncated.dtype == np.bool_ and info["elapsed_step"].tolist() == [1, 1, 1]
    obs, info = env.reset()
    check_rows(id, obs, info, 3)
    obs, info = env.reset(np.array([1]))
    check_rows(id, obs, info, 1)
    obs, reward, _, _, info = env.step([1, 1], np.array([2, 0]))
    check_rows(id, obs, info, 2, float32=reward)
    assert info["env_id"].tolist() == [2, 0]
    obs, info = env.reset(np.array([], np.int64))
    check_rows(id, obs, info, 0)
    obs, info = env.reset(options={"reset_mask": [False, True, True]})
    check_rows(id, obs, info, 2)
    assert info["env_id"].tolist() == [1, 2]
    env.async_reset()
    with pytest.raises(TypeError, match="reset: expected True or False"):
        env.recv(reset=np.zeros(2))
    # and the batch is still there
    assert len(env.recv(reset=True)) == 2
    env.send({"action": np.ones(3, np.int32), "env_id": env.all_env_ids, "players": {"env_id": env.all_env_ids}})
    assert len(env.recv()) == 5
    env.close()
    with pytest.raises(cypool.ClosedError):
        env.step([1, 1, 1])


@pytest.mark.parametrize("id", SPACES)
def test_config_and_spec(id):
    env = envpool.make_gymnasium(id, num_envs=3)
    expected = CONFIG | OWN[id]
    spec = envpool.make_spec(id, num_envs=3)
    for config in env.config, env.spec.config._asdict(), spec.config._asdict():
        assert expected.items() <= config.items()
    assert spec.reward_threshold == (475.0 if id == "CartPole-v1" else None)
    assert repr(spec).startswith("EnvSpec(num_envs=3, batch_size=3, ")
    assert spec.observation_spec()._fields == ("env_id", "players", "obs", *INFO[id])
    assert spec.observation_spec().obs.shape == OBS[id][1]
    assert spec.action_spec().num_values == env.action_space.n


def test_ram_is_told_unless_one_says_otherwise():
    env = envpool.make_gymnasium("Pong-v5", num_envs=2, use_inter_area_resize=False)
    plain = cypool.make("Pong-v5", num_envs=2, seed=42, ram=True, use_inter_area_resize=False)
    (obs, info), (want, infos) = env.reset(), plain.reset()
    assert np.array_equal(obs, want)
    assert info["ram"].shape == (2, 128) and np.array_equal(info["ram"], infos["ram"])
    assert "ram" not in envpool.make_gymnasium("Pong-v5", ram=False).reset()[1]


def test_choices_in_dicts_are_int32():
    env = envpool.make_gymnasium("MiniGrid-Empty-5x5-v0", num_envs=2)
    plain = cypool.make("MiniGrid-Empty-5x5-v0", num_envs=2, seed=42)
    for (obs, *_), (want, *_) in (env.reset(), plain.reset()), (env.step([0, 1]), plain.step([0, 1])):
        assert (obs["direction"].dtype, obs["image"].dtype) == (np.int32, np.uint8)
        assert obs["direction"].tolist() == want["direction"].tolist()
    with envpool.make_dm("MiniGrid-Empty-5x5-v0") as env:
        env.observation_spec().direction.validate(env.reset().observation.direction[0])


@pytest.mark.families("highway")
@pytest.mark.parametrize("env_type", ["gymnasium", "dm"])
def test_tuples_of_arrays_stay_tuples(env_type):
    parts = [{"type": "Kinematics"}, {"type": "OccupancyGrid"}]
    env = envpool.make("highway-v0", env_type, num_envs=2,
                       observation={"type": "TupleObservation", "observation_configs": parts})
    obs = env.reset().observation.obs if env_type == "dm" else env.reset()[0]
    assert [part.shape for part in obs] == [(2, 5, 5), (2, 4, 11, 11)]


@pytest.mark.parametrize("id", ["Catch-v0", "Breakout-v5"])
def test_render_has_the_size_and_the_environment_that_make_was_told(id):
    def drawn(*args, camera_id=None, **kwargs):
        env = pickle.loads(pickle.dumps(envpool.make_gymnasium(id, num_envs=2, **kwargs)))
        env.reset()
        env.step([1, 2])
        return env.render(*args, camera_id=camera_id)

    first, second = drawn(0), drawn(1)
    assert not np.array_equal(first, second)
    assert np.array_equal(drawn(), first) and np.array_equal(drawn(render_env_id=1), second)
    assert np.array_equal(drawn(render_width=-1, render_height=0, render_camera_id=3, camera_id=7), first)
    _, height, width, _ = first.shape
    assert np.array_equal(drawn(render_height=height // 2, render_width=width), first[:, ::2])
    assert np.array_equal(drawn(render_width=2 * width), first.repeat(2, 2))
    assert drawn([0, 1], render_width=7, render_height=9).shape == (2, 9, 7, 3)


def test_attributes_may_be_assigned():
    for legacy in True, False:
        env = envpool.make("CartPole-v1", "gym", num_envs=2, legacy=legacy)
        env.num_envs = 2
        env.single_action_space, env.single_observation_space = env.action_space, env.observation_space
        env.is_vector_env = True
        env.num_agents = 2
        env.spec.id = "other"
        assert env.spec.id == "other"


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("id", SPACES)
def test_the_same_data_as_gymnasium(id, num_threads):
    options = {"num_envs": 3, "max_episode_steps": 30}
    expected = cypool.make(id, seed=42, **options)
    envs = [envpool.make(id, kind, num_threads=num_threads, legacy=legacy, **options)
            for kind, legacy in [("gym", False), ("gym", True), ("dm", False)]]
    def beside(obs):
        return np.stack(obs, 1) if isinstance(obs, tuple) else obs

    obs = beside(expected.reset()[0])
    firsts = envs[0].reset()[0], envs[1].reset(), envs[2].reset().observation.obs
    assert all((first == obs).all() for first in firsts)
    rng = np.random.default_rng(3)
    for _ in range(80):
        actions = rng.integers(0, 2, 3)
        obs, reward, terminated, truncated, info = expected.step(actions)
        obs = beside(obs)
        new, old, dm = (env.step(actions) for env in envs)
        assert all((got == obs).all() for got in (new[0], old[0], dm.observation.obs))
        assert all((got == reward.astype(np.float32)).all() for got in (new[1], old[1], dm.reward))
        assert (new[2] == terminated).all() and (new[3] == truncated).all()
        assert (old[2] == terminated | truncated).all()
        assert (old[3]["TimeLimit.truncated"] == truncated & ~terminated).all()
        assert (dm.discount == 1 - terminated).all() and (dm.last() == terminated | truncated).all()
        for key, values in info.items():
            assert (new[4][key] == values).all() and (old[3][key] == values).all()


@pytest.mark.parametrize("id", SPACES)
def test_dm(id):
    env = envpool.make_dm(id, num_envs=3)
    assert isinstance(env, dm_env.Environment) and isinstance(env, envpool.DMEnvPool)
    assert isinstance(env, envpool.EnvPool)
    for step in env.reset(), env.step(np.ones(3, int)), env.step({"action": [1, 1, 1]}):
        assert isinstance(step, dm_env.TimeStep)
        assert (step.step_type.dtype, step.reward.dtype, step.discount.dtype) == (np.int32, np.float32, np.float32)
        assert step.observation._fields == env.observation_spec()._fields == ("env_id", "players", "obs", *INFO[id])
        assert step.observation.players.env_id.tolist() == [0, 1, 2]
        env.observation_spec().obs.validate(step.observation.obs[0])
        env.reward_spec().validate(step.reward[0])
    assert step.mid().all() or id == "Blackjack-v1"
    assert len(env.reset(np.array([], int)).reward) == 0


def test_legacy_loop():
    """The loop of CleanRL's scripts for EnvPool 0.6, with their RecordEpisodeStatistics."""
    num_envs = 2
    envs = envpool.make("Breakout-v5", env_type="gym", num_envs=num_envs, episodic_life=True, reward_clip=True, seed=1,
                        max_episode_steps=100, legacy=True)
    envs.num_envs = num_envs
    envs.single_action_space, envs.single_observation_space = envs.action_space, envs.observation_space
    envs = RecordEpisodeStatistics(envs)
    assert isinstance(envs.action_space, gymnasium.spaces.Discrete)
    obs = envs.reset()
    assert obs.shape == (num_envs, *envs.single_observation_space.shape)
    rng, dones, cut = np.random.default_rng(0), 0, 0
    for _ in range(250):
        obs, reward, done, info = envs.step(rng.integers(0, envs.single_action_space.n, num_envs))
        assert reward.dtype == np.float32 and reward.max() <= 1 and done.dtype == np.bool_
        dones += done.sum()
        cut += info["TimeLimit.truncated"].sum()
    assert dones > cut > 0
    envs.send(np.zeros(num_envs, int))
    assert len(envs.recv()) == 4


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("started", ["reset", "async_reset", "send", "step"])
def test_async(num_threads, started):
    env = envpool.make_gymnasium("CartPole-v1", num_envs=5, batch_size=2, num_threads=num_threads)
    assert env.is_async and env.config["batch_size"] == 2
    if started == "reset":
        obs, info = env.reset()
    elif started == "step":
        obs, _, _, _, info = env.step(np.ones(5, int))
    else:
        env.async_reset() if started == "async_reset" else env.send(np.ones(5, int), env.all_env_ids)
        obs, _, _, _, info = env.recv()
    check_rows("CartPole-v1", obs, info, 2)
    steps, batches = np.zeros(5, int), 0
    # one whose thread has lost its core comes later
    while batches < 60 or steps.min() == 0:
        batches += 1
        steps[info["env_id"]] += 1
        env.send(np.ones(2, int), info["env_id"])
        obs, reward, _, _, info = env.recv()
        check_rows("CartPole-v1", obs, info, 2, float32=reward)


def test_arguments():
    def first(**kwargs):
        return envpool.make_gymnasium("CartPole-v1", num_envs=2, **kwargs).reset()[0].tolist()

    assert first() == first(seed=42) == first(seed=[42, 43]) == first(env_seed=np.array([42, 43]))
    assert first() == first(batch_size=0, num_threads=0, max_num_players=1, thread_affinity_offset=-1, base_path="x",
                            gym_reset_return_info=True, render_mode=None, reward_threshold=3.0)
    assert first() == first(batch_size=None) == first(batch_size=2)
    assert first() != first(seed=7)
    env = envpool.make_gymnasium("CartPole-v1", num_envs=2, seed=(5, 6), num_threads=0, reward_threshold=3)
    assert (env.config["seed"], env.config["env_seed"], env.spec.reward_threshold) == (0, [5, 6], 3)
    assert env.num_threads >= 1, "0 means automatic"
    assert (env.reset(seed=9)[0] == env.reset(seed=9)[0]).all()
    with pytest.warns(UserWarning, match="seed"):
        env.seed(3)
    again = pickle.loads(pickle.dumps(env))
    assert type(again) is type(env) and again.config == env.config


@pytest.mark.parametrize(["kwargs", "message"], [
    ({"max_num_players": 2}, "max_num_players"),
    ({"thread_affinity_offset": -2}, "thread_affinity_offset"),
    ({"render_mode": "human"}, "render_mode"),
    ({"gym_reset_return_info": False}, "gym_reset_return_info"),
    ({"gym_reset_return_info": True, "legacy": True}, "gym_reset_return_info"),
    ({"batch_size": 3}, "batch_size"),
    ({"num_envs": 0}, "num_envs"),
    ({"seed": [1]}, "seed"),
    ({"seed": [1, 2], "env_seed": [1, 2]}, "env_seed"),
    ({"mode": 1}, "mode"),
    ({"sutton_barto": 1}, "sutton_barto_reward"),
    ({"env_type": "gim"}, "env_type"),
    ({"env_type": "dm", "legacy": True}, "env_type"),
    ({"task_id": "CartPol-v1"}, "CartPole-v1"),
    ({"render_width": 2**14}, "render_width: expected -1 to 8192"),
    ({"render_env_id": 2}, "render_env_id: expected 0 to 1, got 2"),
])
def test_wrong_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        envpool.make(**{"task_id": "CartPole-v1", "env_type": "gym", "num_envs": 2, **kwargs})


def test_wrong_calls():
    env = envpool.make_gymnasium("CartPole-v1", num_envs=3)
    for action, env_id, message in [([1, 1], None, "3 rows"), ([1, 1, 2], None, "row 2"), ([1], [3], "env_id"),
                                    ({"act": [1, 1, 1]}, None, "action"),
                                    (np.zeros(0, int), np.zeros(0, int), "with k from 1 to 3")]:
        with pytest.raises(ValueError, match=message):
            env.step(action, env_id)
    env.reset([0])
    with pytest.raises(RuntimeError, match="env 1 was never reset"):
        env.step([1, 1, 1])
    assert env.step([1, 1], [1, 2])[4]["elapsed_step"].tolist() == [0, 0]
    assert env.step([1, 1, 1])[4]["elapsed_step"].tolist() == [1, 1, 1]
    for options in {"mask": 1}, {"reset_mask": [True]}, {"reset_mask": np.zeros(3, bool)}:
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options=options)
    with pytest.raises(ValueError, match="no env_id"):
        env.reset([0], options={"reset_mask": np.ones(3, bool)})


def test_register(walker):
    envpool.register("compat/Walk-v0", "walker.walk:Walk", max_episode_steps=7)
    assert envpool.list_all_envs() == cypool.list_all_envs() and "compat/Walk-v0" in envpool.list_all_envs()
    assert envpool.make_spec("compat/Walk-v0").config.max_episode_steps == 7
    for args, kwargs in [(("A-v0", "path", "Spec", "DM", "Gym"), {}),
                         (("A-v0",), {"import_path": "path", "spec_cls": "Spec"})]:
        with pytest.raises(TypeError, match="'module:Class'"):
            envpool.register(*args, **kwargs)


def test_install_as_envpool(run_forked):
    run_forked("""
import cypool.compat.envpool as ours
ours.install_as_envpool()
ours.install_as_envpool()
import envpool, importlib.util
import envpool.python.envpool
from envpool.python.envpool import EnvPoolMixin
from envpool.python.protocol import EnvPool
assert envpool is ours and importlib.util.find_spec("envpool") is not None
env = envpool.make("CartPole-v1", env_type="gym", num_envs=2, gym_reset_return_info=True, max_num_players=1)
assert isinstance(env, envpool.python.envpool.EnvPoolMixin) and isinstance(env, EnvPool)
env.reset()
import envpool.registration
from envpool.registration import list_all_envs, registry
assert registry.list_all_envs() == list_all_envs() == envpool.registration.list_all_envs()
assert isinstance(registry.make("CartPole-v1", "gymnasium", num_envs=2), EnvPool)
assert registry.make_spec("CartPole-v1").action_space.n == 2 and registry.register is envpool.register
from envpool.python.protocol import DMEnvPool, EnvSpec, GymnasiumEnvPool
assert isinstance(envpool.registration.make_dm("CartPole-v1"), DMEnvPool) and DMEnvPool is envpool.DMEnvPool
names = {}
exec("from envpool import *", names)
assert names["DMEnvPool"] is DMEnvPool and names["registration"] is envpool.registration
""", check=True)
    run_forked("""
import sys, types
import cypool.compat.envpool as ours
sys.modules["envpool"] = types.ModuleType("envpool")
try:
    ours.install_as_envpool()
except RuntimeError as error:
    assert "already" in str(error)
else:
    raise AssertionError
""", check=True)


def test_without_dm_env_there_is_all_else(run_forked):
    run_forked("""
import sys
sys.modules["dm_env"] = None
names = {}
exec("from cypool.compat.envpool import *", names)
assert "make" in names and "DMEnvPool" not in names
names["make"]("CartPole-v1", "gymnasium").reset()
""", check=True)


@pytest.mark.parametrize("legacy", [False, True])
def test_the_legacy_modules_registry_makes_legacy_pools(run_forked, legacy):
    assert run_forked(f"""
import cypool.compat.envpool as ours
ours.install_as_envpool(legacy={legacy})
from envpool.registration import registry
print(type(registry.make("CartPole-v1", "gym")).__name__)
""", check=True).stdout.split() == ["LegacyEnvPool" if legacy else "GymnasiumEnvPool"]


@pytest.mark.parametrize("api", [envpool.make_gymnasium, envpool.make_dm])
def test_whole_numbers_in_floats_and_bools_are_discrete_actions(api):
    env, twin = (api("CartPole-v1", num_envs=3, seed=1) for _ in "12")
    env.reset()
    twin.reset()
    for dtype in (np.float64, np.float32, np.float16, np.bool_):
        for given in (np.array([0, 1, 1], dtype), {"action": np.array([0, 1, 1], dtype), "env_id": np.arange(3)}):
            got, want = env.step(given), twin.step(np.array([0, 1, 1]))
            seen = (got.observation.obs, want.observation.obs) if api is envpool.make_dm else (got[0], want[0])
            assert seen[0].tobytes() == seen[1].tobytes()
    with pytest.raises(ValueError, match="^actions: expected whole numbers, got 0.9"):
        env.step(np.array([0, 0.9, 1]))
    with pytest.raises(ValueError, match="^actions: expected at most 3 rows, got shape"):
        env.step(np.broadcast_to(np.float32(0), 10**12))


def test_bounds_of_dm_specs_are_scalars_where_all_elements_have_them():
    def bounds(spec):
        return spec.minimum.tolist(), spec.maximum.tolist()

    pendulum, pong = envpool.make_dm("Pendulum-v1"), envpool.make_dm("Pong-v5")
    assert bounds(pendulum.observation_spec().obs) == ([-1, -1, -8], [1, 1, 8])
    assert bounds(pendulum.action_spec()) == (-2, 2) == bounds(pendulum.spec.action_spec())
    assert bounds(pong.observation_spec().obs) == (0, 255) and pong.observation_spec().obs.shape == (4, 84, 84)
    assert bounds(pong.observation_spec().ram) == (0, 255) and pong.action_spec().num_values == 6


def test_the_parts_of_a_dict_are_fields_of_dm_observations():
    pytest.importorskip("dm_control")
    with envpool.make_dm("WalkerWalk-v1", num_envs=2, seed=1) as env:
        observed = env.reset().observation
        assert observed._fields == ("env_id", "players", "orientations", "height", "velocity")
        assert observed.orientations.shape == (2, 14) and observed.velocity.dtype == np.float64
        assert env.observation_spec()._fields == observed._fields
        assert env.observation_spec().height.shape == ()


def test_actions_of_groups_of_agents():
    """They are a dict, alone or with ids."""
    env = envpool.make_gymnasium("mpe2/simple_tag-v3", num_envs=2, seed=0)
    env.reset()
    groups = {"adversary": np.zeros((2, 3), int), "agent": np.zeros((2, 1), int)}
    assert env.step(groups)[0]["adversary"].shape == (2, 3, 16)
    env.step({"action": groups, "env_id": np.array([1, 0], np.int32)})
    with pytest.raises(ValueError, match="action: expected a dict with 'action' and 'env_id', got one with"):
        env.step({"adversary": groups["adversary"]})
