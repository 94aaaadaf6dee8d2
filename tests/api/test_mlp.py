"""`cypool.MLP` chooses what NumPy and torch choose, to float32's rounding; a rollout and a loop have the same bits."""
import itertools

import numpy as np
import pytest

import cypool

ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


def layers(*sizes, seed=0):
    rng = np.random.default_rng(seed)
    weights = [rng.normal(0, 1 / np.sqrt(n), (m, n)).astype(np.float32) for n, m in itertools.pairwise(sizes)]
    return weights, [rng.normal(0, 0.3, m).astype(np.float32) for m in sizes[1:]]


def forward(obs, weights, biases, activation):
    """The last layer, in double precision."""
    x = obs.reshape(len(obs), -1).astype(np.float32).astype(np.float64)
    for k, (w, b) in enumerate(zip(weights, biases, strict=True)):
        x = x @ w.T.astype(np.float64) + b
        if k + 1 < len(weights):
            x = ACTIVATIONS[activation](x)
    return x


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("id, sizes, options", [
    ("CartPole-v1", (4, 64, 64, 2), {}), ("CartPole-v1", (4, 2), {}), ("Pendulum-v1", (3, 33, 1), {"output": "tanh"}),
    ("Swimmer-v5", (8, 40, 7, 2), {}), ("walker/Walk-v0", (1, 3, 3), {})], ids=str)
def test_mlp_equals_numpy(walker, id, sizes, options, activation, num_threads):
    env, twin = (cypool.make(id, num_envs=5, num_threads=num_threads, seed=1) for _ in range(2))
    weights, biases = layers(*sizes)
    mlp = cypool.MLP(env.env_spec, weights, biases, activation=activation, **options)
    (obs, _), _ = env.reset(), twin.reset()
    rollout = env.rollout(40, policy=mlp)
    for t in range(40):
        actions = mlp(obs)
        last = forward(obs, weights, biases, activation)
        if sizes[-1] > 1 and actions.ndim == 1:
            chosen = np.take_along_axis(last, actions[:, None], 1)[:, 0]
            np.testing.assert_allclose(chosen, last.max(axis=1), rtol=1e-5, atol=1e-6)
        else:
            low, high = env.env_spec.action.low, env.env_spec.action.high
            want = np.clip(last, low, high) if not options else low + (np.tanh(last) + 1) / 2 * (high - low)
            np.testing.assert_allclose(actions, want, rtol=1e-5, atol=2e-6)
            assert actions.dtype == env.env_spec.action.dtype and (actions >= low).all() and (actions <= high).all()
        assert rollout.action[t].tobytes() == actions.tobytes() and rollout.action.dtype == actions.dtype
        obs, reward, *_ = twin.step(actions)
        assert rollout.obs[t].tobytes() == obs.tobytes() and rollout.reward[t].tobytes() == reward.tobytes()


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("hidden", [(), (64,), (40, 7), (65, 130, 16)], ids=str)
def test_all_instructions_give_the_same_bits(hidden, activation):
    spec = cypool.make_spec("Swimmer-v5")
    mlp = cypool.MLP(spec, *layers(8, *hidden, 2, seed=3), activation=activation, output="identity")
    obs = np.random.default_rng(1).normal(0, 3, (200, 8))
    obs[0, :4] = np.nan, np.inf, -np.inf, -0.0
    results = set()
    for name in mlp._network.simd:
        mlp._network.use_simd(name)
        results.add(mlp(obs).tobytes())
    assert len(results) == 1


@pytest.mark.large_packages
def test_mlp_has_the_same_actions_as_torch():
    import torch

    linear = torch.nn.Linear
    network = torch.nn.Sequential(linear(4, 32), torch.nn.Tanh(), linear(32, 32), torch.nn.Tanh(), linear(32, 2))
    parts = [part for part in network if isinstance(part, linear)]
    env = cypool.make("CartPole-v1", num_envs=16, seed=0)
    env.reset()
    mlp = cypool.MLP(env.env_spec, [part.weight for part in parts], [part.bias for part in parts])
    rollout = env.rollout(100, policy=mlp)
    with torch.no_grad():
        last = network(torch.from_numpy(rollout.obs[:-1])).numpy()
    chosen = np.take_along_axis(last, rollout.action[1:, :, None], -1)[..., 0]
    np.testing.assert_allclose(chosen, last.max(axis=-1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("values", [np.linspace(-12, 12, 4001), np.geomspace(1e-38, 1, 500), [0.0, -0.0, 1e30, -1e30]])
def test_tanh_is_exact_to_float32_rounding(values):
    spec = cypool.make_spec("Pendulum-v1")
    one = np.ones((1, 1), np.float32)
    zero = np.zeros(1, np.float32)
    mlp = cypool.MLP(spec, [np.array([[1, 0, 0]]), one], [zero, zero])
    obs = np.zeros((len(values), 3), np.float32)
    obs[:, 0] = values
    want = np.tanh(obs[:, 0].astype(np.float64))
    np.testing.assert_allclose(mlp(obs)[:, 0], want, rtol=4e-7, atol=0)


def test_mlp_with_nan_and_ties():
    spec = cypool.make_spec("CartPole-v1")
    mlp = cypool.MLP(spec, [np.zeros((2, 4))], [np.zeros(2)])
    assert mlp(np.ones((3, 4), np.float32)).tolist() == [0, 0, 0]
    with_nan = cypool.MLP(spec, [np.zeros((2, 4))], [np.array([1, np.nan])])
    assert with_nan(np.ones((1, 4), np.float32)).tolist() == [1]
    # an action that is NaN is found where it is checked
    env = cypool.make("Pendulum-v1", num_envs=2)
    env.reset()
    for activation in ("tanh", "relu"):
        weights = [np.full((1, 3), np.nan), np.ones((1, 1))]
        bad = cypool.MLP(env.env_spec, weights, [np.zeros(1)] * 2, activation=activation)
        with pytest.raises(cypool.EnvError, match=r"policy: expected actions in \[-2.0, 2.0\], got nan"):
            env.rollout(3, policy=bad)
    beyond = cypool.MLP(env.env_spec, [np.zeros((1, 3))], [np.array([2.5])], output="identity")
    with pytest.raises(cypool.EnvError, match=r"policy: expected actions in \[-2.0, 2.0\], got 2.5"):
        env.rollout(3, policy=beyond)


def test_mlp_in_pools_of_python():
    for env in (cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, seed=1),
                cypool.make("CartPole-v1", num_envs=2, seed=1, reward_hook=lambda batch: batch.reward)):
        obs, _ = env.reset()
        mlp = cypool.MLP(env.env_spec, *layers(4, 8, 2))
        rollout = env.rollout(5, policy=mlp)
        assert (rollout.action[0] == mlp(obs)).all() and (rollout.action[1:] == mlp(rollout.obs[:-1].reshape(-1, 4))
                                                          .reshape(4, 2)).all()
        env.close()


class Raising:
    """Raises whatever it is asked."""

    def __getattr__(self, name):
        raise ArithmeticError("on purpose")


def test_bad_mlps():
    spec, box = cypool.make_spec("CartPole-v1"), cypool.make_spec("Pendulum-v1")
    weights, biases = layers(4, 8, 2)
    for bad in (None, "CartPole-v1"):
        with pytest.raises(TypeError, match="spec: expected an EnvSpec"):
            cypool.MLP(bad, weights, biases)
    with pytest.raises(ValueError, match="spec: expected an observation that is one array of"):
        cypool.MLP(cypool.make_spec("FrozenLake-v1"), weights, biases)
    with pytest.raises(ValueError, match="activation: expected one of"):
        cypool.MLP(spec, weights, biases, activation="gelu")
    for each, output in ((spec, "clip"), (box, "argmax"), (box, 3)):
        with pytest.raises(ValueError, match="output: expected one of"):
            cypool.MLP(each, weights, biases, output=output)
    for bad, error in ((3, TypeError), ([], ValueError), (weights[:1], ValueError), (weights[::-1], ValueError),
                       ([np.zeros(4), np.zeros(2)], ValueError), ([object(), object()], ValueError),
                       ([weights[0], np.zeros((2, 7))], ValueError), ([np.zeros((8, 0)), weights[1]], ValueError),
                       ([np.zeros((8, 3)), weights[1]], ValueError), ([Raising(), weights[1]], TypeError)):
        with pytest.raises(error, match="weights"):
            cypool.MLP(spec, bad, biases)
    with pytest.raises(ValueError, match="weights: expected 2 outputs of the last layer, as the action has, got 3"):
        cypool.MLP(spec, *layers(4, 8, 3))
    with pytest.raises(ValueError, match="biases: expected arrays of numbers with 1 axes"):
        cypool.MLP(spec, weights, [np.zeros((8, 1)), np.zeros(2)])
    mlp = cypool.MLP(spec, weights, biases)
    for bad in (np.zeros(4, np.float32), np.zeros((2, 5), np.float32), np.zeros((2, 4)), np.float32(1), [object()]):
        with pytest.raises(ValueError, match="observation: expected float32 of shape"):
            mlp(bad)
    assert mlp(np.zeros((0, 4), np.float32)).shape == (0,)
    env = cypool.make("Pendulum-v1", num_envs=2)
    env.reset()
    with pytest.raises(ValueError, match="policy: expected one for Array.*, got an MLP for"):
        env.rollout(3, policy=mlp)
