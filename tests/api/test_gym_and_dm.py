"""The gym and dm apis: the same data as the Gymnasium api, in the layout of their APIs."""
import functools
from dataclasses import replace

import dm_env
import gymnasium
import numpy as np
import pytest
from episode_returns import RecordEpisodeStatistics
from markers import slow
from pool_arguments import THREADS
from receiving import started

import cypool
from cypool.api.dm import DmPool, dm_spec_of
from cypool.api.gym import GymPool
from cypool.spec import Array

pytestmark = pytest.mark.families("atari")
FIRST, MID, LAST = (int(kind) for kind in (dm_env.StepType.FIRST, dm_env.StepType.MID, dm_env.StepType.LAST))
FACES = ["gym", "dm"]
NUM = 5
# id: options, the actions to draw from (Trouble: go, terminate, truncate), steps
GAMES = {
    "CartPole-v1": ({"max_episode_steps": 25}, (0, 1), 150),
    "Breakout-v5": ({"episodic_life": True, "max_episode_steps": 80}, (0, 1, 2, 3), 120),
    "walker/Trouble-v0": ({"max_episode_steps": 4}, (0, 0, 0, 6, 7), 100),
}


def flat(obs, info, **arrays):
    """All arrays of a batch, by name."""
    parts = obs if isinstance(obs, dict) else {"": obs}
    return {**arrays, **{f"obs.{key}": part for key, part in parts.items()},
            **{f"info.{key}": part for key, part in info.items()}}


def taken(env_type, batch):
    """All arrays of a api's batch, by name."""
    if env_type == "gym":
        obs, reward, done, info = batch
        return flat(obs, info, reward=reward, done=done)
    assert isinstance(batch, dm_env.TimeStep)
    obs, *_ = batch.observation
    info = {key: values for key, values in batch.observation._asdict().items() if key != "obs"}
    return flat(obs, info, reward=batch.reward, discount=batch.discount, step_type=batch.step_type)


@functools.cache
def played(id):
    """The actions, and the result that each api has to return, a dict of arrays with NUM rows for each step."""
    options, choices, num_steps = GAMES[id]
    actions = np.random.default_rng(7).choice(choices, (num_steps, NUM))
    env = cypool.make(id, num_envs=NUM, num_threads=1, seed=3, **options)
    obs, info = env.reset()
    no = np.zeros(NUM, bool)
    steps = [(obs, np.zeros(NUM), no, no, info), *map(env.step, actions)]
    expected = {"gym": [], "dm": []}
    over = ~no
    for obs, reward, terminated, truncated, info in steps:
        ended = terminated | truncated
        expected["gym"].append(flat(obs, {**info, "TimeLimit.truncated": truncated & ~terminated},
                                    reward=reward.astype(np.float32), done=ended))
        step_type = np.where(ended, LAST, np.where(over, FIRST, MID)).astype(np.int32)
        expected["dm"].append(flat(obs, info, reward=reward, step_type=step_type,
                                   discount=np.where(terminated, 0.0, 1.0)))
        over = ended
    return actions, expected


@pytest.mark.parametrize("num_threads", [0, 2, *slow(*(count for count in THREADS if count not in (0, 2)))])
@pytest.mark.parametrize("batch_size", [NUM, 2])
@pytest.mark.parametrize("id", GAMES)
@pytest.mark.parametrize("env_type", FACES)
def test_the_same_data_as_gymnasium(walker, env_type, id, batch_size, num_threads):
    actions, expected = played(id)
    options, _, num_steps = GAMES[id]
    env = cypool.make(id, env_type, num_envs=NUM, batch_size=batch_size, num_threads=num_threads, seed=3, **options)
    env.async_reset()
    at = np.zeros(NUM, int)
    while True:
        got = taken(env_type, env.recv())
        ids = got["info.env_id"]
        assert ids.tolist() == list(range(NUM)) or batch_size < NUM
        assert got.keys() == expected[env_type][0].keys()
        for name, values in got.items():
            want = np.stack([expected[env_type][at[i]][name][i] for i in ids])
            assert values.tobytes() == want.tobytes() and values.dtype == want.dtype, (name, at)
        if at.max() == num_steps:
            break
        env.send(actions[at[ids], ids], ids)
        at[ids] += 1


@pytest.mark.parametrize("env_type", FACES)
def test_step_and_reset_are_the_same_as_send_and_recv(env_type):
    actions, expected = played("CartPole-v1")
    env = cypool.make("CartPole-v1", env_type, num_envs=NUM, num_threads=2, seed=3, max_episode_steps=25)
    first = env.reset()
    first = first if env_type == "gym" else first.observation.obs
    assert first.tobytes() == expected[env_type][0]["obs."].tobytes()
    for t in range(50):
        # the second half in another order
        ids = None if t < 25 else np.array([3, 1, 0, 4, 2])
        got = taken(env_type, env.step(actions[t] if ids is None else actions[t][ids], ids))
        for name, values in got.items():
            want = expected[env_type][t + 1][name]
            assert values.tobytes() == (want if ids is None else want[ids]).tobytes()


def test_the_game_tables_have_all_cases(walker):
    for id in GAMES:
        steps = played(id)[1]["dm"]
        kinds, discounts = (np.stack([step[name] for step in steps]) for name in ("step_type", "discount"))
        assert {FIRST, MID, LAST} == set(kinds.flat)
        assert set(discounts[kinds == LAST]) == {0.0, 1.0} and (discounts[kinds != LAST] == 1).all()
        rewards = np.stack([step["reward"] for step in steps])
        assert (rewards[kinds == FIRST] == 0).all()


@pytest.mark.parametrize("num_threads", THREADS)
def test_a_time_limit_is_no_termination(walker, num_threads):
    from walker.trouble import GO, TERMINATE, TRUNCATE

    # the limit cuts; it comes with a termination; it is not reached
    rows = [[GO, GO], [GO, TERMINATE], [TERMINATE, GO], [TRUNCATE, GO]]
    gym, dm = (cypool.make("walker/Trouble-v0", env_type, num_envs=4, num_threads=num_threads, max_episode_steps=2)
               for env_type in FACES)
    gym.reset()
    assert dm.reset().first().all()
    first, second = np.array(rows).T
    _, _, done, info = gym.step(first)
    assert done.tolist() == [False, False, True, True]
    assert info["TimeLimit.truncated"].tolist() == [False, False, False, True]
    _, reward, done, info = gym.step(second)
    assert done.tolist() == [True, True, False, False] and reward.tolist() == [2, 2, 0, 0]
    assert info["TimeLimit.truncated"].tolist() == [True, False, False, False]
    assert done.dtype == info["TimeLimit.truncated"].dtype == bool and reward.dtype == np.float32
    step = dm.step(first)
    assert step.discount.tolist() == [1, 1, 0, 1] and step.step_type.tolist() == [MID, MID, LAST, LAST]
    step = dm.step(second)
    assert step.discount.tolist() == [1, 0, 1, 1] and step.step_type.tolist() == [LAST, LAST, FIRST, FIRST]
    assert step.last().tolist() == [True, True, False, False] and step.first().tolist() == [False, False, True, True]
    assert not step.mid().any() and step.reward.tolist() == [2, 2, 0, 0]
    assert step.step_type.dtype == np.int32 and step.reward.dtype == step.discount.dtype == np.float64


@pytest.mark.parametrize("batch_size", [3, 2])
def test_a_lost_life_ends_an_episode_though_the_game_goes_on(batch_size):
    env = cypool.make("Breakout-v5", "dm", num_envs=3, batch_size=batch_size, seed=0, episodic_life=True)
    step = env.reset()
    over, continued = np.ones(3, bool), 0
    for t in range(400):
        ids = step.observation.env_id
        assert (step.first() == over[ids]).all()
        continued += (step.first() & (step.observation.elapsed_step > 0)).sum()
        over[ids] = step.last()
        step = env.step(np.full(len(ids), 1 + t % 3))
    assert continued > 3


@pytest.mark.parametrize("batch_size", [4, 2])
def test_explicit_resets_are_first_steps(batch_size):
    env = cypool.make("CartPole-v1", "dm", num_envs=4, batch_size=batch_size, num_threads=2, seed=0)
    for _ in range(3):
        assert env.reset().first().all()
        for _ in range(4 // batch_size - 1):
            assert env.recv().first().all()
        for ids in ([0, 1, 2, 3], [2, 3, 0, 1]):
            for k in range(0, 4, batch_size):
                assert env.step([0] * batch_size, ids[k:k + batch_size]).mid().all()
        step = env.reset([3, 1])
        assert step.first().all() and sorted(step.observation.env_id) == [1, 3]
        assert env.step([0, 0], [1, 2]).mid().all()
        env.async_reset([2])
        assert env.recv().step_type.tolist() == [FIRST]
        # in flight, then thrown away
        env.send([0, 0], [0, 1])
    assert env.reset(seed=0).observation.obs.shape == (batch_size, 4)


@pytest.mark.parametrize("batch_size", [4, 2])
def test_a_dm_step_before_the_first_reset_starts_episodes(batch_size):
    def made():
        return cypool.make("CartPole-v1", "dm", num_envs=4, batch_size=batch_size, num_threads=2, seed=0)

    env, want = made(), made().reset([0, 1, 2, 3])
    for action, env_id, error in (([0] * 3, None, "actions: expected 4 rows, got"), ([0, 0, 0, 2], None, "actions"),
                                  ([0], [4], "env_id"), ([0, 0], [1, 1], "env_id")):
        with pytest.raises(ValueError, match=error):
            env.step(action, env_id)
    step = env.step([0] * 4)
    assert step.first().all() and not step.reward.any() and step.observation.obs.shape == (batch_size, 4)
    assert batch_size < 4 or step.observation.obs.tobytes() == want.observation.obs.tobytes()
    env = made()
    env.send([1, 1], [3, 1])
    step = env.recv()
    assert step.first().all() and sorted(step.observation.env_id) == [1, 3]
    with pytest.raises(RuntimeError, match="env 0 was never reset"):
        env.step([0] * 4, [0, 1, 2, 3])
    assert env.step([0, 0], [0, 2]).first().all() and env.step([0, 0], [0, 3]).mid().all()


def test_seeds_of_a_reset():
    for env_type in FACES:
        env = cypool.make("CartPole-v1", env_type, num_envs=3, seed=5)
        first = env.reset()
        again = env.reset(seed=[5, 6, 7])
        some = env.reset([2, 0], seed=5)
        if env_type == "dm":
            first, again, some = (step.observation.obs for step in (first, again, some))
        assert first.tobytes() == again.tobytes() and some.tobytes() == first[[2, 0]].tobytes()


def test_a_script_of_cleanrl():
    envs = cypool.make("Breakout-v5", env_type="gym", num_envs=8, episodic_life=True, reward_clip=True, seed=1)
    envs.num_envs = 8
    envs.single_action_space = envs.action_space
    envs.single_observation_space = envs.observation_space
    envs.is_vector_env = True
    assert isinstance(envs, GymPool)
    envs = RecordEpisodeStatistics(envs)
    assert isinstance(envs.action_space, gymnasium.spaces.Discrete) and envs.single_action_space.n == 4
    stored = np.zeros((32, envs.num_envs, *envs.single_observation_space.shape), np.uint8)
    next_obs, next_done = envs.reset(), np.zeros(envs.num_envs)
    kept, returns = [], []
    for t in range(320):
        stored[t % 32] = next_obs
        next_obs[0] = 0
        action = np.random.default_rng(t).integers(0, envs.single_action_space.n, envs.num_envs)
        next_obs, reward, next_done, info = envs.step(action)
        kept.append(reward)
        for idx, d in enumerate(next_done):
            if d and info["lives"][idx] == 0:
                returns.append(info["r"][idx])
                assert info["terminated"][idx]
    assert np.stack(kept).max() == 1 and returns
    assert envs.metadata["render_modes"] == ["rgb_array"] and len(envs.env) == 8
    envs.close()


@pytest.mark.parametrize("env_type", FACES)
def test_attributes(env_type):
    env = cypool.make("CartPole-v1", env_type, num_envs=6, batch_size=4, num_threads=3)
    assert (env.num_envs, env.batch_size, env.is_async, env.num_threads, len(env)) == (6, 4, True, 3, 6)
    assert env.all_env_ids.tolist() == list(range(6)) and env.all_env_ids.dtype == np.int32
    assert env.env_spec.id == "CartPole-v1" and not env.closed
    assert repr(env) == f"{type(env).__name__}(CartPole-v1, num_envs=6, batch_size=4)"


def test_gym_spaces_are_of_a_single_env(walker):
    for id in ("CartPole-v1", "Pong-v5", "walker/Trouble-v0"):
        env, reference = cypool.make(id, "gym", num_envs=3), cypool.make(id, num_envs=3)
        assert env.observation_space == env.single_observation_space == reference.single_observation_space
        assert env.action_space == env.single_action_space == reference.single_action_space
        obs = env.reset()
        row = {key: part[0] for key, part in obs.items()} if isinstance(obs, dict) else obs[0]
        assert env.observation_space.contains(row)


@pytest.mark.parametrize("id", GAMES)
def test_dm_specs_fit_the_data(walker, id):
    actions, _ = played(id)
    env = cypool.make(id, "dm", num_envs=NUM, seed=3, **GAMES[id][0])
    assert isinstance(env, DmPool) and isinstance(env, dm_env.Environment)
    step = env.reset()
    assert step.observation._fields == env.observation_spec()._fields
    assert step.observation._fields == ("obs", "env_id", "elapsed_step", *env.env_spec.info)
    for t in range(60):
        for row in range(NUM):
            for spec, part in zip(env.observation_spec(), step.observation, strict=True):
                pairs = [(spec[key], part[key]) for key in part] if isinstance(part, dict) else [(spec, part)]
                for leaf, values in pairs:
                    leaf.validate(values[row])
            env.reward_spec().validate(step.reward[row])
            env.discount_spec().validate(step.discount[row])
            env.action_spec().validate(actions[t][row])
        step = env.step(actions[t])
    with pytest.raises(ValueError):
        env.action_spec().validate(np.int64(-1))


def test_info_names_that_are_no_identifiers():
    env = cypool.make("Breakout-v5", "dm")
    lives, *others = env.env_spec.info.items()
    odd = DmPool(env._pool, replace(env.env_spec, info={"number of-lives": lives[1], **dict(others)}), "NextStep")
    fields = ("obs", "env_id", "elapsed_step", "_3", *dict(others))
    step = odd.reset()
    assert step.observation._fields == odd.observation_spec()._fields == fields
    assert step.observation._3.tolist() == [5] and odd.observation_spec()._3.name == "number of-lives"


def test_specs_of_boxes():
    spec = dm_spec_of(Array((2,), np.float32, [-1, 0], [1, 2]), "action")
    assert isinstance(spec, dm_env.specs.BoundedArray) and (spec.shape, spec.dtype, spec.name) == ((2,), "f4", "action")
    assert spec.minimum.tolist() == [-1, 0] and spec.maximum.tolist() == [1, 2]
    dm_spec_of(Array((3,), bool), "flags").validate(np.array([True, False, True]))
    dm_spec_of(Array((), np.float64), "any").validate(np.float64(1e300))


@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize("env_type", FACES)
def test_the_batch_of_an_error_is_laid_out_too(walker, env_type, num_threads):
    from walker.trouble import FAIL_NEXT_RESET, GO, RAISE_STEP

    env = started(cypool.make("walker/Trouble-v0", env_type, num_envs=3, num_threads=num_threads))
    env.send([GO, RAISE_STEP, FAIL_NEXT_RESET])
    with pytest.raises(cypool.EnvError, match="^env 1: ") as caught:
        env.recv()
    got = taken(env_type, caught.value.batch)
    assert got["obs.count"][:, 0].tolist() == got["reward"].tolist() == [1, 0, 1]
    if env_type == "gym":
        assert got["done"].tolist() == [False, True, True]
        assert got["info.TimeLimit.truncated"].tolist() == [False, True, False]
    else:
        assert got["step_type"].tolist() == [MID, LAST, LAST] and got["discount"].tolist() == [1, 1, 0]
    # one resets, the other's reset fails, and its next step tries again
    with pytest.raises(cypool.EnvError, match="^env 2: OSError") as caught:
        env.step([GO] * 3)
    got = taken(env_type, caught.value.batch)
    if env_type == "gym":
        assert got["done"].tolist() == [False, False, True]
    else:
        assert got["step_type"].tolist() == [MID, FIRST, LAST] and got["discount"].tolist() == [1, 1, 1]
    got = taken(env_type, env.step([GO] * 3))
    assert got["info.elapsed_step"].tolist() == [3, 1, 0]
    assert env_type == "gym" or got["step_type"].tolist() == [MID, MID, FIRST]


@pytest.mark.parametrize("env_type", [None, 3, "", "Gym", "jax", "dm_env", ["gym"]])
def test_unknown_env_type(env_type):
    with pytest.raises(ValueError, match="^env_type: expected 'gymnasium', 'gym' or 'dm'"):
        cypool.make("CartPole-v1", env_type)


def test_autoreset_is_next_step_only():
    for env_type in ("gym", "dm"):
        for mode in ("NextStep", gymnasium.vector.AutoresetMode.NEXT_STEP):
            cypool.make("CartPole-v1", env_type, autoreset_mode=mode)
        for mode in ("SameStep", "Disabled", gymnasium.vector.AutoresetMode.SAME_STEP, "next_step", None, 1, []):
            with pytest.raises(ValueError, match="^autoreset_mode: expected one of 'NextStep' for env_type"):
                cypool.make("CartPole-v1", env_type, autoreset_mode=mode)


@pytest.mark.parametrize("batch_size", [4, 2])
@pytest.mark.parametrize("env_type", FACES)
def test_bad_input(env_type, batch_size):
    for options, kind in (({"num_envs": 0}, ValueError), ({"seed": "1"}, TypeError), ({"gravity": 3}, ValueError)):
        with pytest.raises(kind, match=f"^{next(iter(options))}"):
            cypool.make("CartPole-v1", env_type, **options)
    env = cypool.make("CartPole-v1", env_type, num_envs=4, batch_size=batch_size, num_threads=2)
    if env_type == "gym":
        with pytest.raises(RuntimeError, match="never reset"):
            env.step([0], [0])
    with pytest.raises(RuntimeError, match="nothing is pending"):
        env.recv()
    started(env)
    for call in (env.step, env.send):
        for actions, kind in (([0], ValueError), ([0, 2, 0, 0], ValueError), ([0.0] * 4, TypeError), (None, TypeError),
                              (np.zeros((4, 1), int), ValueError)):
            with pytest.raises(kind, match="^actions"):
                call(actions, [0, 1, 2, 3])
        for ids, kind in (([0, 4], ValueError), ([-1, 0], ValueError), ([1, 1], ValueError), ([0, 1.5], TypeError),
                          ([[0, 1]], ValueError), ([0, 2**40], ValueError)):
            with pytest.raises(kind, match="^env_id"):
                call([0, 0], ids)
    for call in (env.reset, env.async_reset):
        for ids, kind in (([4], ValueError), ([], ValueError), ([0.5], TypeError)):
            with pytest.raises(kind, match="^env_id"):
                call(ids)
        with pytest.raises(ValueError, match="^seed"):
            call(seed=-1)
    with pytest.raises(ValueError, match="^timeout"):
        env.recv(-1)
    # none of this has reset anything
    got = taken(env_type, env.step([0] * batch_size, range(batch_size)))
    assert got["info.elapsed_step"].tolist() == [1] * batch_size
    assert env_type == "gym" or (got["step_type"] == MID).all()


@pytest.mark.parametrize("env_type", FACES)
def test_names_of_arguments_are_those_of_the_libraries(env_type):
    # dm_env.Environment.step(action), gym.Env.step(action)
    def obs_of(batch):
        return batch[0].tobytes() if env_type == "gym" else batch.observation.obs.tobytes()

    env, twin = (started(cypool.make("CartPole-v1", env_type, num_envs=2, seed=1)) for _ in "12")
    for _ in range(5):
        assert obs_of(env.step(action=[0, 1])) == obs_of(twin.step([0, 1]))
        env.send(action=[1], env_id=[1])
        assert obs_of(env.recv()) == obs_of(twin.step([1], [1]))


@pytest.mark.parametrize("batch_size", [3, 2])
def test_seed_of_gym(batch_size):
    env = cypool.make("CartPole-v1", "gym", num_envs=3, batch_size=batch_size, num_threads=0)
    want = cypool.make("CartPole-v1", "gym", num_envs=3).reset(seed=[4, 5, 6])

    def all_of(obs):
        return np.concatenate([obs, env.recv()[0]]) if batch_size == 2 else obs

    assert env.seed(4) is None
    first = all_of(env.reset())
    assert first.tobytes() == want.tobytes()
    # once
    assert (all_of(env.reset()) != want).all()
    env.seed([4, 5, 6])
    assert env.reset([1]).tobytes() == want[1:2].tobytes()
    assert (env.reset([1]) != want[1]).all() and env.reset([2, 0]).tobytes() == want[[2, 0]].tobytes()
    # that of a reset goes before it
    env.seed(0)
    assert all_of(env.reset(seed=4)).tobytes() == want.tobytes() and (all_of(env.reset()) != want).all()
    env.seed(4)
    env.seed()
    assert (all_of(env.reset()) != want).all()
    env.seed(range(4, 7))
    for bad, kind in (("4", TypeError), ([1, 2], ValueError), (-1, ValueError)):
        with pytest.raises(kind, match="^seed: "):
            env.seed(bad)
    with pytest.raises(ValueError, match="^env_id"):
        env.reset([3])
    assert all_of(env.reset()).tobytes() == want.tobytes()


@pytest.mark.parametrize("env_type", FACES)
def test_close(env_type):
    with cypool.make("CartPole-v1", env_type, num_envs=4, num_threads=3) as env:
        env.reset()
    assert env.closed
    env.close()
    for call in (env.reset, env.async_reset, env.recv, lambda: env.step([0] * 4), lambda: env.send([0] * 4)):
        with pytest.raises(cypool.ClosedError):
            call()


def test_a_missing_library_is_named(run_forked):
    done = run_forked("import sys; sys.modules['dm_env'] = None; import cypool; cypool.make('CartPole-v1', 'gym')\n"
                      "cypool.make('CartPole-v1', 'dm')")
    assert 'ImportError: env_type "dm" needs dm_env: pip install "cypool[dm]"' in done.stderr


@pytest.mark.parametrize(("env_type", "unused"), [("dm", "gymnasium"), ("gym", "dm_env"), ("gymnasium", "dm_env")])
def test_a_face_imports_its_own_library_only(run_python, env_type, unused):
    done = run_python(f"import cypool, sys; cypool.make('CartPole-v1', '{env_type}').reset(); print(*sys.modules)")
    assert done.stderr == "" and unused not in done.stdout.split()
