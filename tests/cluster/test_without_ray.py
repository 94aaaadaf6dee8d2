"""cypool.cluster without Ray: distributions, policies, strategies, the worker in this process. Ray: test_cluster.py."""
import dataclasses
import math
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pool_arguments import THREADS

import cypool
from cypool.cluster import (
    APS,
    Always,
    Categorical,
    ClusterEnv,
    DiagonalGaussian,
    Every,
    MLPPolicy,
    Never,
    Rollout,
    distribution_of,
    session,
)
from cypool.cluster.rollout import assembled, joined_infos
from cypool.cluster.worker import Worker, _blank
from cypool.spec import Array, Discrete

pytestmark = pytest.mark.families("atari")
NUM = 6


def test_without_ray_it_says_what_to_install(run_forked):
    done = run_forked("""
import sys
sys.modules["ray"] = None
from cypool.cluster import ClusterEnv, MLPPolicy
assert MLPPolicy("CartPole-v1").distribution.n == 2
try:
    ClusterEnv("CartPole-v1", 1, 1)
except ImportError as error:
    print(error)
""")
    assert (done.stderr, done.stdout) == ("", 'cypool.cluster needs Ray: pip install "cypool[cluster]"\n')


def test_a_ray_that_does_not_start_says_what_to_do(monkeypatch):
    calls = []

    def init(**arguments):
        calls.append(arguments)
        if len(calls) != 5:
            raise error

    monkeypatch.setattr(os, "environ", {"RAY_worker_register_timeout_seconds": "7"})
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=init))
    # what Ray raises where its processes take too long
    error = Exception("The current node timed out during startup")
    with pytest.raises(RuntimeError, match="run the program again.* Ray's error: The current node timed out") as caught:
        session.enter(None, {"object_store_memory": 1}, 89.5)
    assert caught.value.__cause__ is error and [each["object_store_memory"] for each in calls] == [1, 1]
    # as patient as the caller, unless the user set it
    assert os.environ["RAY_gcs_server_port_wait_time_s"] == "90"
    assert os.environ["RAY_worker_register_timeout_seconds"] == "7"
    error = ValueError("object_store_memory")
    with pytest.raises(ValueError, match="^object_store_memory$"):
        session.enter(None, {}, 1)
    # a slow start is not the end: the second attempt finds Ray in memory
    error = TimeoutError("Timed out waiting for file")
    session._init(sys.modules["ray"], True, {})
    assert len(calls) == 5 and not session.ends_with_one_less()


def test_importing_it_loads_neither_ray_nor_torch(run_forked):
    done = run_forked("import cypool.cluster, sys; print(*sys.modules)")
    assert done.stderr == "" and not {"ray", "torch"} & set(done.stdout.split())


logits = st.lists(st.lists(st.floats(-30, 30, width=32), min_size=4, max_size=4), min_size=2, max_size=2)


@given(logits)
def test_kl_of_categoricals_is_its_definition(rows):
    old, new = np.array(rows, np.float32)
    p, q = (np.exp(x.astype(np.float64) - x.max()) for x in (old, new))
    p, q = p / p.sum(), q / q.sum()
    expected = math.fsum(a * (math.log(a) - math.log(b)) for a, b in zip(p, q, strict=True))
    found = Categorical(4).kl(old[None], new[None])
    assert found.shape == (1,) and found[0] >= 0
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    # in double precision: in single, 3 more is not the same for all of them
    exact = old[None].astype(np.float64)
    assert Categorical(4).kl(exact, exact + 3) <= 1e-12


def test_kl_of_categoricals_with_excluded_choices():
    kl = Categorical(3).kl
    excluded, all_three = np.float32([[0, 0, -np.inf]]), np.float32([[0, 0, 0]])
    np.testing.assert_allclose(kl(excluded, all_three), math.log(3 / 2))
    assert kl(all_three, excluded) == np.inf
    assert kl(excluded, excluded) == 0


@pytest.mark.parametrize("seed", range(3))
def test_density_and_kl_of_gaussians_are_integrals(seed):
    rng = np.random.default_rng(seed)
    normal = DiagonalGaussian(())
    old, new = rng.uniform(-1, 1, (2, 1, 2)).astype(np.float32)
    x = np.linspace(-40, 40, 400_001)
    p, q = (normal.logp(np.repeat(params, len(x), 0), x) for params in (old, new))
    assert normal.kl(old, old) == 0
    np.testing.assert_allclose(np.trapezoid(np.exp(p), x), 1, rtol=1e-9)
    np.testing.assert_allclose(np.trapezoid(np.exp(p) * (p - q), x), normal.kl(old, new)[0], rtol=1e-9)


def test_gaussians_of_several_dimensions_add_up():
    rng = np.random.default_rng(0)
    whole, part = DiagonalGaussian((2, 3)), DiagonalGaussian((1,))
    old, new = rng.standard_normal((2, 5, 12)).astype(np.float32)
    actions = rng.standard_normal((5, 2, 3)).astype(np.float32)
    columns = [np.ascontiguousarray(old[:, [k, k + 6]]) for k in range(6)]
    np.testing.assert_allclose(whole.kl(old, new), sum(
        part.kl(column, new[:, [k, k + 6]]) for k, column in enumerate(columns)), rtol=1e-12)
    np.testing.assert_allclose(whole.logp(old, actions), sum(
        part.logp(column, actions.reshape(5, 6)[:, k:k + 1]) for k, column in enumerate(columns)), rtol=1e-12)
    drawn = whole.sample(old, rng)
    assert drawn.shape == (5, 2, 3) and drawn.dtype == np.float32


def test_samples_have_the_probabilities_of_their_parameters():
    rng, rows = np.random.default_rng(0), 200_000
    params = np.log(np.float32([0.5, 0.3, 0.2])) + 1
    counts = np.bincount(Categorical(3).sample(np.tile(params, (rows, 1)), rng), minlength=3)
    np.testing.assert_allclose(counts / rows, [0.5, 0.3, 0.2], atol=0.005)
    np.testing.assert_allclose(np.exp(Categorical(3).logp(np.tile(params, (3, 1)), [0, 1, 2])), [0.5, 0.3, 0.2],
                               rtol=1e-6)
    drawn = DiagonalGaussian((1,)).sample(np.tile(np.float32([2, math.log(3)]), (rows, 1)), rng)
    np.testing.assert_allclose([drawn.mean(), drawn.std()], [2, 3], atol=0.03)


def test_which_distribution_fits():
    assert distribution_of(Discrete(5)).num_parameters == 5
    assert distribution_of(Array((2, 3), np.float32)).num_parameters == 12
    with pytest.raises(ValueError, match="^action: expected a Discrete or an Array of floats"):
        distribution_of(Array((2,), np.int32))


def test_strategies():
    def known(kl):
        return lambda: kl

    def not_asked():
        raise AssertionError

    assert [Always().due(lag, not_asked) for lag in (1, 2, 9)] == [True] * 3
    assert [Every(3).due(lag, not_asked) for lag in (1, 2, 3, 9)] == [False, False, True, True]
    assert [Never().due(lag, not_asked) for lag in (1, 9)] == [False] * 2
    for where in ("learner", "worker"):
        aps = APS(0.5, where, max_lag=4)
        assert [aps.due(1, known(kl)) for kl in (0, 0.49, 0.5, np.inf, np.nan, None)] == [False] * 2 + [True] * 4
        assert [aps.due(lag, known(0)) for lag in (3, 4, 5)] == [False, True, True]
        assert [APS(0, where).due(1, known(kl)) for kl in (0, 1, np.nan, None)] == [True] * 4
        assert [APS(np.inf, where).due(1, known(kl)) for kl in (0, 1, np.inf, np.nan, None)] == [False] * 5


@pytest.mark.parametrize(("make", "name"), [
    (lambda: APS(-0.1), "kl_threshold"), (lambda: APS(np.nan), "kl_threshold"), (lambda: APS("0.1"), "kl_threshold"),
    (lambda: APS(0, "here"), "where"), (lambda: APS(0, max_lag=0), "max_lag"), (lambda: APS(0, sample=0.5), "sample"),
    (lambda: Every(0), "k"), (lambda: Every(1.5), "k"), (lambda: Categorical(0), "n"),
    (lambda: DiagonalGaussian((0,)), "shape"), (lambda: MLPPolicy("CartPole-v1", hidden=(0,)), "hidden"),
    (lambda: MLPPolicy("CartPole-v1", seed=-1), "seed"), (lambda: MLPPolicy("CartPole-v1", scale=None), "scale"),
    (lambda: MLPPolicy("Blackjack-v1"), "env"),
])
def test_bad_values(make, name):
    with pytest.raises((TypeError, ValueError), match=f"^{name}: expected"):
        make()


def test_mlp_policy():
    policy = MLPPolicy("CartPole-v1", hidden=(5, 3), seed=1)
    obs = np.random.default_rng(0).standard_normal((7, 4)).astype(np.float32)
    w = policy.get_weights()
    assert {name: array.shape for name, array in w.items()} == {
        "w0": (4, 5), "b0": (5,), "w1": (5, 3), "b1": (3,), "w2": (3, 2), "b2": (2,)}
    expected = np.tanh(np.tanh(obs @ w["w0"] + w["b0"]) @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]
    assert (policy(obs)["params"] == expected).all()
    other = MLPPolicy("CartPole-v1", hidden=(5, 3), seed=2)
    assert not (other(obs)["params"] == expected).all()
    for array in w.values():
        array.flags.writeable = False
    other.set_weights(w)
    assert (other(obs)["params"] == expected).all()
    other.get_weights()["w0"][:] = 0
    assert (other(obs)["params"] == expected).all()


def test_mlp_policy_for_other_spaces():
    continuous = MLPPolicy("Pendulum-v1", hidden=())
    continuous.set_weights({**continuous.get_weights(), "log_std": [-2]})
    params = continuous(np.zeros((4, 3), np.float32))["params"]
    assert params.shape == (4, 2) and (params[:, 1] == -2).all()
    one_hot = MLPPolicy("FrozenLake-v1", hidden=())
    assert (one_hot(np.array([3, 0]))["params"] == one_hot.get_weights()["w0"][[3, 0]]).all()
    pictures = MLPPolicy("Pong-v5", hidden=(), scale=1 / 255)
    white = pictures(np.full((1, 4, 84, 84), 255, np.uint8))["params"]
    np.testing.assert_allclose(white[0], pictures.get_weights()["w0"].sum(0), atol=1e-5)


def started(id="CartPole-v1", mode="NextStep", policy=None, num_threads=1, **kwargs):
    recipe = {"id": id, "num_envs": NUM, "seed": list(range(NUM)), "autoreset_mode": mode, "num_threads": num_threads,
              "episode_statistics": True}
    worker = Worker()
    life, _ = worker.start(recipe, MLPPolicy(id) if policy is None else policy, **kwargs)
    return worker, life, cypool.make(**recipe)


def rolled(worker, life, spec, num_steps, **kwargs):
    """Returns a worker's rollout as the learner assembles it."""
    part = worker.rollout(life, num_steps, **kwargs)
    arrays = {key: array.copy() for key, array in part["arrays"].items()}
    return assembled(spec, arrays, [(0, part)], np.full(NUM, part["version"]), np.full(NUM, part["kl"]))


@pytest.mark.parametrize("num_threads", THREADS)
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1"])
def test_rollouts_are_what_the_pool_says_to_their_actions(id, mode, num_threads):
    worker, life, pool = started(id, mode, num_threads=num_threads, infos=("elapsed_step",))
    obs = np.concatenate(worker.reset(life)["obs"])
    assert (obs == pool.reset()[0]).all()
    over, ends, episodes = np.zeros(NUM, bool), 0, 0
    for num_steps in (70, 150, 150, 1):
        rollout = rolled(worker, life, pool.env_spec, num_steps)
        assert len(rollout) == num_steps
        assert mode == "SameStep" or rollout.final_obs is None
        finals = {(t, n): k for k, (t, n) in enumerate(zip(rollout.final_step, rollout.final_env, strict=True))}
        assert list(finals) == sorted(finals)
        episode_rows = {} if rollout.episodes is None else {
            (t, n): k for k, (t, n) in enumerate(zip(rollout.episodes["step"], rollout.episodes["env"], strict=True))}
        for t in range(num_steps):
            assert (rollout.obs[t] == obs).all() and (rollout.valid[t] == ~over).all()
            taken = rollout.action[t]
            assert id == "CartPole-v1" or (taken == np.clip(rollout.raw_action[t], -2, 2)).all()
            obs, reward, terminated, truncated, info = pool.step(taken)
            assert (rollout.reward[t] == reward).all()
            assert (rollout.terminated[t] == terminated).all() and (rollout.truncated[t] == truncated).all()
            assert (rollout.info["elapsed_step"][t] == info["elapsed_step"]).all()
            ended = terminated | truncated
            for n in np.flatnonzero(ended):
                assert rollout.episodes["r"][episode_rows[t, n]] == info["episode"]["r"][n]
                assert rollout.episodes["l"][episode_rows[t, n]] == info["episode"]["l"][n]
                if mode == "SameStep":
                    assert (rollout.final_obs[finals[t, n]] == info["final_obs"][n]).all()
            ends, episodes = ends + ended.sum(), episodes + sum(step == t for step, _ in episode_rows)
            over = ended if mode == "NextStep" else over
        assert len(finals) == (rollout.terminated | rollout.truncated).sum() * (mode == "SameStep")
        assert (rollout.last_obs == obs).all()
        policy = MLPPolicy(id)
        expected = np.stack([policy(each)["params"] for each in rollout.obs])
        assert (rollout.params == expected).all() and rollout.params.dtype == np.float32
        drawn = rollout.action if id == "CartPole-v1" else rollout.raw_action
        flat = drawn.reshape(num_steps * NUM, *drawn.shape[2:])
        log_prob = policy.distribution.logp(expected.reshape(num_steps * NUM, -1), flat).astype(np.float32)
        assert (rollout.log_prob.ravel() == log_prob).all()
    assert ends == episodes > 0


def test_results_do_not_depend_on_how_steps_are_asked_for():
    whole, halves, single = (started()[:2] for _ in "123")
    spec = cypool.make_spec("CartPole-v1")
    for worker, life in (whole, halves, single):
        worker.reset(life, [3] * NUM)
    want = rolled(*whole, spec, 80)
    first, second = rolled(*halves, spec, 30), rolled(*halves, spec, 50)
    assert (np.concatenate([first.obs, second.obs]) == want.obs).all()
    assert (np.concatenate([first.valid, second.valid]) == want.valid).all()
    for t in range(80):
        part = single[0].step(single[1], None)
        assert (part["chosen"]["action"] == want.action[t]).all()
        assert (part["chosen"]["log_prob"] == want.log_prob[t]).all()
        assert (part["reward"] == want.reward[t]).all() and part["version"] == 0


def test_a_reset_with_seeds_begins_the_same_again():
    worker, life, pool = started()
    seen = []
    for _ in range(2):
        worker.reset(life, [7] * NUM)
        seen.append(rolled(worker, life, pool.env_spec, 40))
    assert (seen[0].action == seen[1].action).all() and (seen[0].obs == seen[1].obs).all()
    worker.reset(life)
    assert not (rolled(worker, life, pool.env_spec, 40).action == seen[0].action).all()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("id", ["CartPole-v1", "walker/Trouble-v0"])
def test_going_on_for_one_that_died(id, mode, walker):
    """A rollout and steps report the same: truncated at the last observation, then new episodes."""
    spec = cypool.make_spec(id)
    policy = Center(spec)
    pool = cypool.make(id, num_envs=NUM, seed=[9] * NUM, autoreset_mode=mode)
    fresh = spec.unpack(pool.reset()[0])
    parts = [np.full((NUM, *part.shape), 3, part.dtype) for _, part in spec.observations]
    for part in parts:
        part.flags.writeable = False
    worker, life, _ = started(id, mode, policy)
    rollout = rolled(worker, life, spec, 5, lost=(parts, [9] * NUM))
    stepping, life, _ = started(id, mode, policy)
    steps = [stepping.step(life, None, lost=(parts, [9] * NUM)), *(stepping.step(life, None) for _ in range(4))]
    cut = 2 if mode == "NextStep" else 1
    seen = spec.unpack(rollout.obs)
    for k, part in enumerate(parts):
        assert (seen[k][:cut] == part).all() and (seen[k][cut] == fresh[k]).all()
        for t in range(4):
            assert (seen[k][t + 1] == steps[t]["obs"][k]).all()
    assert rollout.truncated[0].all() and not rollout.truncated[1:].any() and not rollout.terminated.any()
    assert not rollout.reward[:cut].any()
    assert not rollout.valid[:cut].any() and rollout.valid[cut:].all()
    for t, step in enumerate(steps):
        assert (step["truncated"] == rollout.truncated[t]).all() and (step["reward"] == rollout.reward[t]).all()
        assert step["info"]["env_id"].tolist() == list(range(NUM))
    assert [step["info"]["elapsed_step"].tolist() for step in steps][cut - 1:] == [[t] * NUM for t in range(6 - cut)]
    if mode == "SameStep":
        assert rollout.final_step.tolist() == [0] * NUM and rollout.final_env.tolist() == list(range(NUM))
        for part, final in zip(parts, spec.unpack(rollout.final_obs), strict=True):
            assert (part == final).all()
        assert steps[0]["info"]["_final_obs"].all()
    else:
        assert rollout.final_obs is None


def test_a_reset_is_not_held_up_by_what_was_left_to_tell():
    worker, life, pool = started()
    obs, _ = pool.reset()
    assert worker.step(life, [0] * NUM, lost=([obs], [1] * NUM))["truncated"].all()
    worker.reset(life)
    part = worker.step(life, [0] * NUM)
    assert part["reward"].tolist() == [1] * NUM and part["info"]["elapsed_step"].tolist() == [1] * NUM


class Center:
    """Does the same whatever it sees: choice 0, or nothing."""

    def __init__(self, spec):
        self.distribution = distribution_of(spec.action)

    def get_weights(self):
        return {}

    def set_weights(self, weights):
        pass

    def __call__(self, obs):
        params = np.full((NUM, self.distribution.num_parameters), -np.inf, np.float32)
        if isinstance(self.distribution, Categorical):
            params[:, 0] = 0
        else:
            params[:, :self.distribution.size] = 0
        return {"params": params, "noticed": np.arange(NUM)}


def test_what_else_a_policy_says_is_in_rollouts():
    worker, life, pool = started(policy=Center(cypool.make_spec("CartPole-v1")))
    worker.reset(life)
    assert rolled(worker, life, pool.env_spec, 3).extras["noticed"].tolist() == [list(range(NUM))] * 3
    assert worker.step(life, None)["chosen"]["noticed"].tolist() == list(range(NUM))


def test_calls_for_another_life_are_not_answered():
    worker, life, _ = started()
    worker.reset(life)
    for call in (worker.reset, lambda life: worker.step(life, [0] * NUM), lambda life: worker.rollout(life, 5)):
        assert call(life) is not None
        assert call("another") is None
    assert Worker().rollout(life, 5) is None


@pytest.mark.parametrize("id", ["CartPole-v1", "Pendulum-v1"])
@pytest.mark.parametrize("threshold", [0, 0.05, np.inf])
def test_a_worker_that_decides_itself(id, threshold):
    def policy(seed, sharpness):
        policy = MLPPolicy(id, seed=seed)
        weights = policy.get_weights()
        policy.set_weights({**weights, "w2": weights["w2"] * sharpness})
        return policy

    mine, newest = policy(0, 1), None
    worker, life, pool = started(id, policy=mine, sync=APS(threshold, "worker"))
    obs = np.concatenate(worker.reset(life)["obs"])
    version = used = taken = kept = 0
    # near and far from the first; 0: there are no new weights, and it checks again those that it has not taken
    for sharpness in (1, 2, 0, 200, 0, 200, 1, 0, 2, 0):
        news = {}
        if sharpness:
            version += 1
            newest = policy(version, sharpness)
            news = {"version": version, "weights": newest.get_weights()}
        kl = mine.distribution.kl(mine(obs)["params"], newest(obs)["params"]).mean()
        rollout = rolled(worker, life, pool.env_spec, 9, **news)
        if used == version:
            assert np.isnan(rollout.kl).all()
        elif threshold < np.inf:
            assert (rollout.kl == kl).all()
        if used < version:
            if threshold <= kl < np.inf and threshold < np.inf:
                used, mine, taken = version, newest, taken + 1
            else:
                kept += 1
        assert (rollout.version == used).all()
        assert (rollout.params[0] == mine(obs)["params"]).all()
        obs = rollout.last_obs
    assert (taken, kept) == {0: (6, 0), np.inf: (0, 10)}.get(threshold, (taken, kept)) and taken + kept >= 6
    assert threshold != 0.05 or (taken and kept)


def test_weights_that_are_sent_are_taken():
    worker, life, pool = started()
    worker.reset(life)
    weights = MLPPolicy("CartPole-v1", seed=8).get_weights()
    rollout = rolled(worker, life, pool.env_spec, 4, version=5, weights=weights)
    assert (rollout.version == 5).all() and np.isnan(rollout.kl).all()
    assert (rollout.params[0] == MLPPolicy("CartPole-v1", seed=8)(rollout.obs[0])["params"]).all()
    assert (rolled(worker, life, pool.env_spec, 4).version == 5).all()


def test_after_an_environment_raised_it_goes_on(walker):
    RAISE_STEP = 1

    class Raising(Center):
        raises = True

        def __call__(self, obs):
            said = super().__call__(obs)
            if Raising.raises:
                said["params"] = np.roll(said["params"], RAISE_STEP, -1)
            return said

    spec = cypool.make_spec("walker/Trouble-v0")
    worker, life, pool = started("walker/Trouble-v0", policy=Raising(spec))
    worker.reset(life)
    with pytest.raises(cypool.EnvError):
        worker.rollout(life, 5)
    Raising.raises = False
    rollout = rolled(worker, life, spec, 3)
    # the row of the error was truncated, the next one starts an episode
    assert not rollout.valid[0].any() and rollout.valid[1:].all()


@pytest.mark.parametrize(("said", "error", "message"), [
    (np.zeros((2, 2)), TypeError, "the policy to return a dict with 'params'"),
    ({"value": np.zeros(2)}, TypeError, "the policy to return a dict with 'params'"),
    ({"params": np.zeros((2, 3))}, ValueError, r"params of shape \(2, 2\), got \(2, 3\)"),
    ({"params": np.zeros(2)}, ValueError, r"params of shape \(2, 2\), got \(2,\)"),
    ({"params": np.full((2, 2), np.nan)}, ValueError, "params without NaN"),
    ({"params": np.zeros((2, 2)), "value": np.zeros(3)}, ValueError, "2 rows of value"),
    ({"params": np.zeros((2, 2)), "value": 0.0}, ValueError, "2 rows of value"),
    ({"params": np.zeros((2, 2)), "reward": np.zeros(2)}, ValueError, "names that rollouts do not already use"),
])
def test_policies_that_say_something_else(said, error, message, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    class Bad(Center):
        def __call__(self, obs):
            return said

    with pytest.raises(error, match=f"^policy: expected {message}"):
        ClusterEnv("CartPole-v1", 1, 1, policy=Bad(cypool.make_spec("CartPole-v1")))


@pytest.mark.parametrize(("arguments", "name"), [
    ({"num_workers": 0}, "num_workers"), ({"num_workers": 1.5}, "num_workers"),
    ({"envs_per_worker": 0}, "envs_per_worker"),
    ({"id": "Pung-v5"}, "id"), ({"policy": 3}, "policy"),
    ({"policy": MLPPolicy("Acrobot-v1")}, "policy"), ({"policy": MLPPolicy("MountainCar-v0")}, "policy"),
    ({"sync": "always"}, "sync"), ({"sync": Always}, "sync"), ({"seed": -1}, "seed"), ({"seed": [1, 2, 3]}, "seed"),
    ({"autoreset_mode": "Disabled"}, "autoreset_mode"), ({"normalize_obs": 1}, "normalize_obs"),
    ({"normalize_reward": "yes"}, "normalize_reward"), ({"id": "Blackjack-v1", "normalize_obs": True}, "normalize_obs"),
     ({"infos": ("lives",)}, "infos"), ({"infos": "lives"}, "infos"),
    ({"infos": 3}, "infos"), ({"imports": 3}, "imports"), ({"imports": (3,)}, "imports"), ({"timeout": 0}, "timeout"),
    ({"timeout": "1"}, "timeout"), ({"timeout": math.nan}, "timeout"), ({"id": [Center] * 3}, "id"),
    ({"id": [Center, 3] * 2}, "id"), ({"id": 3}, "id"), ({"id": ()}, "id"), ({"id": "gymnasium:Pung-v5"}, "id"),
    ({"cpus_per_worker": 0}, "cpus_per_worker"), ({"cpus_per_worker": "1"}, "cpus_per_worker"),
    ({"num_threads": -1}, "num_threads"), ({"placement": "EVEN"}, "placement"),
    ({"start_timeout": "1"}, "start_timeout"),
    ({"start_timeout": -1}, "start_timeout"), ({"start_timeout": None}, "start_timeout"),
    ({"episode_statistics": 1}, "episode_statistics"),
    ({"max_episode_steps": 0}, "max_episode_steps"), ({"imports": "walker"}, "imports"), ({"ray_init": 3}, "ray_init"),
    ({"address": 6379}, "address"),
])
def test_bad_arguments_are_found_before_anything_is_started(arguments, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    arguments = {"id": "CartPole-v1", "num_workers": 2, "envs_per_worker": 2, **arguments}
    with pytest.raises((TypeError, ValueError), match=f"^{name}: (expected|no environment|Environment `Pung)"):
        ClusterEnv(**arguments)


@pytest.mark.parametrize("option", ["batch_size", "num_envs", "thread_pool", "env_options", "gravity"])
def test_options_that_a_cluster_has_not(option, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=f"^{option}: not an option of CartPole-v1"):
        ClusterEnv("CartPole-v1", 1, 1, **{option: 1})


@pytest.mark.parametrize(("source", "option"), [
    ("gymnasium:CartPole-v1", "batch_size"), ("gymnasium:CartPole-v1", "thread_pool"), ([Center], "batch_size"),
    ([Center], "gravity")])
def test_options_that_environments_of_gymnasium_have_not(source, option, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=f"^{option}: not an option of "):
        ClusterEnv(source, 1, 1, **{option: 1})


def test_infos_of_a_worker_that_died_are_blank():
    """Nested infos, as environments of Gymnasium have them."""
    infos = {"episode": {"r": np.ones(2), "_r": np.ones(2, bool)}, "note": np.array(["a", None], object),
            "_note": np.array([True, False])}
    blank = _blank(infos)
    assert blank["episode"]["r"].tolist() == [0, 0] and not blank["episode"]["_r"].any()
    assert blank["note"].tolist() == [None, None] and not blank["_note"].any()


def test_joining_infos():
    a = {"lives": np.array([1, 2]), "episode": {"r": np.array([0.0, 5.0])}, "_episode": np.array([False, True])}
    b = {"lives": np.array([3, 4])}
    c = {"lives": np.array([5, 6]), "final_obs": np.array([None, "end"], object)}
    joined = joined_infos([b, a, c], 2)
    assert joined["lives"].tolist() == [3, 4, 1, 2, 5, 6]
    assert joined["episode"]["r"].tolist() == [0, 0, 0, 5, 0, 0]
    assert joined["_episode"].tolist() == [False, False, False, True, False, False]
    assert joined["final_obs"].tolist() == [None] * 5 + ["end"]
    assert joined_infos([{}, {}], 2) == {}


def test_players_are_counted_through_all_workers():
    spec = dataclasses.replace(cypool.make_spec("CartPole-v1"), num_players=2)
    parts = [{"obs": [np.zeros((2, 4))],
              "info": {"env_id": np.arange(2), "players": {"env_id": np.repeat(np.arange(2), 2)}}} for _ in range(2)]
    _, info = ClusterEnv._joined(SimpleNamespace(env_spec=spec, envs_per_worker=2, _obs=None), parts)
    assert info["env_id"].tolist() == [0, 1, 2, 3]
    assert info["players"]["env_id"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_parts_of_several_workers_are_ordered():
    spec = cypool.make_spec("CartPole-v1")
    buffers = {("obs", 0): np.zeros((4, 4, 4), np.float32), **{("step", name): np.zeros((3, 4)) for name in (
        "raw_action", "params", "log_prob", "reward", "terminated", "truncated", "valid")}}

    def end(steps, envs):
        steps, envs = np.array(steps), np.array(envs)
        return {"final": [steps, envs, np.float32(10 * steps + envs)[:, None]],
                "episodes": {"r": steps * 1.0, "l": steps, "t": steps, "step": steps, "env": envs}}

    nothing = {"final": None, "episodes": None}
    ends = [(0, end([0, 2], [1, 0])), (2, end([0, 1], [0, 1])), (4, nothing)]
    rollout = assembled(spec, dict(buffers), ends, np.zeros(4), np.zeros(4))
    assert isinstance(rollout, Rollout)
    assert rollout.final_step.tolist() == rollout.episodes["step"].tolist() == [0, 0, 1, 2]
    assert rollout.final_env.tolist() == rollout.episodes["env"].tolist() == [1, 2, 3, 0]
    assert rollout.final_obs[:, 0].tolist() == [1, 0, 11, 20]
    rollout = assembled(spec, buffers, [(0, nothing)], np.zeros(4), np.zeros(4))
    assert rollout.final_step.tolist() == [] and rollout.final_obs is None and rollout.episodes is None
