"""`cypool.MLP` chooses as NumPy and torch do, to float32's rounding; a rollout and a loop give the same bits."""
import copy
import itertools
import math
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from comparing import assert_same
from raising import Raising
from receiving import started

import cypool

pytestmark = pytest.mark.families("box2d", "mpe2", "mujoco")
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
        assert rollout.next_obs[t].tobytes() == obs.tobytes() and rollout.reward[t].tobytes() == reward.tobytes()


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("hidden", [(), (64,), (40, 7), (65, 130, 16)], ids=str)
@pytest.mark.parametrize("output", ["identity", "gaussian"])
def test_all_instructions_that_round_once_give_the_same_bits(output, hidden, activation):
    spec = cypool.make_spec("Swimmer-v5")
    options = {"output": output, "activation": activation, "value": layers(8, *hidden, 1, seed=4)}
    obs = np.random.default_rng(1).normal(0, 3, (203, 8))
    obs[0, :4] = np.nan, np.inf, -np.inf, -0.0

    def choose(k, rows):
        mlp = cypool.MLP(spec, *layers(8, *hidden, 4 if output == "gaussian" else 2, seed=3), **options)
        mlp._network.use_simd(mlp._network.simd[:k + 1][-1])
        return [part for part in mlp.choose(obs[:rows]) if part is not None]

    results = [choose(k, 203) for k in range(3)]
    for k, rows in itertools.product(range(3), (1, 7, 12, 30)):
        # nor does it matter how many rows come together
        for few, many in zip(choose(k, rows), results[k], strict=True):
            assert few.tobytes() == many[:rows].tobytes()
    for plain, once, more in zip(*results, strict=True):
        assert once.tobytes() == more.tobytes()
        np.testing.assert_allclose(plain, once, rtol=1e-4, atol=1e-4)


@pytest.mark.large_packages
def test_mlp_has_the_same_actions_as_torch():
    import torch

    linear = torch.nn.Linear
    network = torch.nn.Sequential(linear(4, 32), torch.nn.Tanh(), linear(32, 32), torch.nn.Tanh(), linear(32, 2))
    parts = [part for part in network if isinstance(part, linear)]
    env = started(cypool.make("CartPole-v1", num_envs=16, seed=0))
    mlp = cypool.MLP(env.env_spec, [part.weight for part in parts], [part.bias for part in parts])
    rollout = env.rollout(100, policy=mlp)
    with torch.no_grad():
        last = network(torch.from_numpy(rollout.obs)).numpy()
    chosen = np.take_along_axis(last, rollout.action[..., None], -1)[..., 0]
    np.testing.assert_allclose(chosen, last.max(axis=-1), rtol=1e-5, atol=1e-6)


@pytest.mark.large_packages
@pytest.mark.parametrize("kind", ["Tanh", "ReLU"])
def test_mlp_of_a_module_has_its_layers_and_activation(kind):
    from torch.nn import Flatten, Linear, Sequential, Tanh, modules

    spec, activation = cypool.make_spec("CartPole-v1"), getattr(modules, kind)
    obs = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    network = Sequential(Flatten(), Sequential(Linear(4, 16), activation()), Linear(16, 8, bias=False), activation(),
                         Linear(8, 2))
    critic = Sequential(Linear(4, 16), activation(), Linear(16, 1))
    linear = [network[1][0], network[2], network[4]]
    arrays = [each.weight for each in linear], [linear[0].bias, np.zeros(8), linear[2].bias]
    of_critic = [critic[0].weight, critic[2].weight], [critic[0].bias, critic[2].bias]
    options = {"output": "categorical", "seed": 3}
    one = cypool.MLP(spec, network, value=critic, **options)
    two = cypool.MLP(spec, *arrays, activation=kind.lower(), value=of_critic, **options)
    for left, right in zip(one.choose(obs), two.choose(obs), strict=True):
        assert left is right is None or (left == right).all()
    one.update(network, value=of_critic)
    assert (one.values(obs) == two.values(obs)).all()
    with pytest.raises(ValueError, match="^biases: expected None with a module .which contains the biases"):
        cypool.MLP(spec, network, arrays[1])
    other = Sequential(Linear(4, 8), Tanh() if kind == "ReLU" else modules.ReLU(), Linear(8, 1))
    with pytest.raises(ValueError, match=f"^value: expected .* layers with {kind} between them.* after layer 1$"):
        cypool.MLP(spec, network, value=other)
    with pytest.raises(ValueError, match="^weights: expected a torch.nn.Sequential"):
        cypool.MLP(spec, network, activation="tanh" if kind == "ReLU" else "relu")


@pytest.mark.large_packages
def test_mlp_of_a_module_that_computes_something_else_is_refused():
    from torch import nn

    class Own(nn.Module):
        pass

    spec = cypool.make_spec("CartPole-v1")
    for layers_of, got in [
            ([nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)], "GELU after layer 1"),
            ([nn.Linear(4, 8), nn.Linear(8, 2)], "Linear after layer 1"),
            ([nn.Tanh(), nn.Linear(4, 2)], "Tanh before layer 0"),
            ([nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)], "ReLU after layer 2"),
            ([nn.Linear(4, 8), nn.Tanh(), nn.Dropout(), nn.Linear(8, 2)], "Dropout after layer 1"),
            ([nn.Linear(4, 2), nn.Tanh()], "Sequential"), ([], "Sequential"), ([Own()], "Own before layer 0")]:
        with pytest.raises(ValueError, match=rf"^weights: expected a torch.nn.Sequential .*{got}"):
            cypool.MLP(spec, nn.Sequential(*layers_of))
    with pytest.raises(TypeError, match="^biases: expected an array for each layer, or a module as weights"):
        cypool.MLP(spec, [np.zeros((2, 4))])


@pytest.mark.large_packages
@pytest.mark.parametrize("name", ["categorical", "gaussian", "tanh_gaussian"])
def test_log_probabilities_are_torchs(name):
    import torch
    from torch import distributions

    torch.manual_seed(0)
    linear = torch.nn.Linear
    id, sizes, options = DRAWING[name]
    between = torch.nn.ReLU if options.get("activation") == "relu" else torch.nn.Tanh
    policy, value = (torch.nn.Sequential(*[part for n, m in itertools.pairwise(each) for part in
                                           (linear(n, m), between())][:-1]) for each in (sizes, (sizes[0], 64, 64, 1)))
    with started(cypool.make(id, num_envs=64, seed=0)) as env:
        (weights, biases), values = (([part.weight for part in each[::2]], [part.bias for part in each[::2]])
                                     for each in (policy, value))
        mlp = cypool.MLP(env.env_spec, weights, biases, value=values, **options)
        rollout = env.rollout(32, policy=mlp)
        # without a copy
        tensors = {key: torch.from_numpy(part) for key, part in parts_of(rollout).items()}
        for key, tensor in tensors.items():
            assert tensor.data_ptr() == parts_of(rollout)[key].ctypes.data and tensor.is_contiguous()
        with torch.no_grad():
            obs = torch.from_numpy(rollout.obs).double()
            last, values = policy.double()(obs), value.double()(obs).squeeze(-1)
        raw = tensors["action"] if name == "categorical" else tensors["raw_action"].double()
        if name == "categorical":
            found = distributions.Categorical(logits=last)
            entropy = found.entropy()
        else:
            count = raw.shape[-1]
            log_std = torch.tensor(options["log_std"]).double() if "log_std" in options else last[..., count:]
            found = distributions.Independent(distributions.Normal(last[..., :count], log_std.exp()), 1)
            entropy = found.entropy()
        log_prob = found.log_prob(raw)
        if name == "tanh_gaussian":
            scale = distributions.AffineTransform(0, 2)
            for transform, x in ((distributions.TanhTransform(), raw), (scale, raw.tanh())):
                log_prob = log_prob - transform.log_abs_det_jacobian(x, transform(x)).sum(-1)
            torch.testing.assert_close(tensors["action"].double(), scale(raw.tanh()), rtol=0, atol=1e-6)
            entropy = -log_prob
        for key, wanted in (("log_prob", log_prob), ("entropy", entropy), ("value", values)):
            torch.testing.assert_close(tensors[key].double(), wanted, rtol=1e-6, atol=1e-6)


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
    obs = np.ones((1, 4), np.float32)
    obs[0, 3] = np.nan
    with_nan = [np.array([[1, 1, 1, 0], [0, 0, 0, 1]])], [np.zeros(2)]
    assert cypool.MLP(spec, *with_nan)(obs).tolist() == [0]
    # nothing can be drawn without valid probabilities
    drawing = cypool.MLP(spec, [np.zeros((2, 4))], [np.full(2, -np.inf)], output="categorical")
    assert drawing(np.ones((1, 4), np.float32)).tolist() == [-1]
    env = started(cypool.make("CartPole-v1", num_envs=3))
    with pytest.raises(cypool.EnvError, match=r"policy: expected actions in \[0, 1\], got -1"):
        env.rollout(2, policy=drawing)
    # an action that is NaN is found where it is checked
    env = started(cypool.make("Pendulum-v1", num_envs=2))
    bad = cypool.MLP(env.env_spec, [np.zeros((2, 3)), np.array([[1, -1]])], [np.full(2, np.inf), np.zeros(1)],
                     activation="relu")
    with pytest.raises(cypool.EnvError, match=r"policy: expected actions in \[-2.0, 2.0\], got nan"):
        env.rollout(3, policy=bad)
    beyond = cypool.MLP(env.env_spec, [np.zeros((1, 3))], [np.array([2.5])], output="identity")
    with pytest.raises(cypool.EnvError, match=r"policy: expected actions in \[-2.0, 2.0\], got 2.5"):
        env.rollout(3, policy=beyond)


def test_weights_that_are_nan():
    spec = cypool.make_spec("CartPole-v1")
    good = layers(4, 8, 2), layers(4, 8, 1)
    for which, k in itertools.product(range(2), range(2)):
        for network, name in ((0, ("weights", "biases")[which]), (1, "value")):
            bad = layers(4, 8, 2), layers(4, 8, 1)
            bad[network][which][k].flat[1 % bad[network][which][k].size] = np.nan
            with pytest.raises(ValueError, match=f"{name}: expected numbers, got NaN in layer {k}"):
                cypool.MLP(spec, *bad[0], value=bad[1])
            mlp = cypool.MLP(spec, *good[0], value=good[1])
            with pytest.raises(ValueError, match=f"{name}: expected numbers, got NaN in layer {k}"):
                mlp.update(*bad[0], value=bad[1])


def test_update_without_a_part_that_the_mlp_has_is_refused():
    spec = cypool.make_spec("Pendulum-v1")
    mlp = cypool.MLP(spec, *layers(3, 8, 1), output="gaussian", log_std=[0], value=layers(3, 8, 1))
    obs = np.ones((2, 3), np.float32)
    before = mlp.values(obs)
    for missing, given in (("value", {"log_std": [0]}), ("log_std", {"value": layers(3, 8, 1, seed=1)})):
        with pytest.raises(ValueError, match=f"{missing}: expected a value, as when the MLP was created"):
            mlp.update(*layers(3, 8, 1), **given)
    assert (mlp.values(obs) == before).all()


def test_an_mlp_is_not_copied():
    mlp = cypool.MLP(cypool.make_spec("CartPole-v1"), *layers(4, 8, 2))
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="an MLP cannot be pickled or copied: create a new one from its weights"):
            way(mlp)


def test_mlp_in_pools_of_python():
    for env in (cypool.make("gymnasium:CartPole-v1", num_envs=2, num_workers=1, seed=1),
                cypool.make("CartPole-v1", num_envs=2, seed=1, reward_hook=lambda batch: batch.reward)):
        obs, _ = env.reset()
        mlp = cypool.MLP(env.env_spec, *layers(4, 8, 2))
        rollout = env.rollout(5, policy=mlp)
        assert_same(rollout.obs[0], obs)
        assert (rollout.action == mlp(rollout.obs.reshape(-1, 4)).reshape(5, 2)).all()
        env.close()


def test_clipped_actions_are_within_bounds_of_double_precision():
    array = cypool.spec.Array
    # 0.1 in single precision is more
    spec = cypool.spec.EnvSpec(id="narrow", observation=array((1,), np.float64, -1, 1),
                               action=array((2,), np.float64, -0.1, 0.1))
    for output in ("clip", "tanh"):
        actions = cypool.MLP(spec, [np.array([[20.0], [-20.0]])], [np.zeros(2)], output=output)(np.ones((1, 1)))
        assert actions.tolist() == [[0.1, -0.1]]


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
    for each, output in ((spec, "clip"), (box, "argmax"), (box, 3), (spec, "gaussian"), (box, "categorical")):
        with pytest.raises(ValueError, match="output: expected one of"):
            cypool.MLP(each, weights, biases, output=output)
    for bad, error in ((3, TypeError), ([], ValueError), (weights[:1], ValueError), (weights[::-1], ValueError),
                       ([np.zeros(4), np.zeros(2)], ValueError), ([object(), object()], ValueError),
                       ([weights[0], np.zeros((2, 7))], ValueError), ([np.zeros((8, 0)), weights[1]], ValueError),
                       ([np.zeros((8, 3)), weights[1]], ValueError), ([Raising(), weights[1]], TypeError)):
        with pytest.raises(error, match="weights"):
            cypool.MLP(spec, bad, biases)
    with pytest.raises(ValueError, match="weights: expected 2 outputs from the last layer, to match the action, got 3"):
        cypool.MLP(spec, *layers(4, 8, 3))
    with pytest.raises(ValueError, match="biases: expected arrays of numbers with 1 axes"):
        cypool.MLP(spec, weights, [np.zeros((8, 1)), np.zeros(2)])
    mlp = cypool.MLP(spec, weights, biases)
    for bad in (np.zeros(4, np.float32), np.zeros((2, 5), np.float32), np.zeros((2, 4)), np.float32(1), [object()]):
        with pytest.raises(ValueError, match="observation: expected float32 of shape"):
            mlp(bad)
    assert mlp(np.zeros((0, 4), np.float32)).shape == (0,)
    env = started(cypool.make("Pendulum-v1", num_envs=2))
    with pytest.raises(ValueError, match="policy: expected an MLP for Array.*, got one for"):
        env.rollout(3, policy=mlp)
    with pytest.raises(ValueError, match="output: 'tanh_gaussian' needs an action with finite bounds"):
        cypool.MLP(bounded(-np.inf, np.inf), *layers(1, 3), output="tanh_gaussian")
    for output, high in itertools.product(("tanh", "tanh_gaussian"), (1e300, np.inf)):
        with pytest.raises(ValueError, match=f"output: '{output}' needs an action with finite bounds"):
            cypool.MLP(bounded(-1, high, np.float64), *layers(1, 3), output=output)
    for output, high in itertools.product(("tanh", "tanh_gaussian"), (1.0, 1 + 1e-9)):
        with pytest.raises(ValueError, match=f"output: '{output}' needs bounds that differ in float32"):
            cypool.MLP(bounded(1.0, high, np.float64), *layers(1, 3), output=output)


def bounded(low, high, dtype=np.float32):
    """The spec of an environment whose action has three numbers with these bounds."""
    array = cypool.spec.Array
    return cypool.spec.EnvSpec(id="bounded", observation=array((1,), np.float32, -1, 1),
                               action=array((3,), dtype, low, high))


@pytest.mark.parametrize("output", ["gaussian", "tanh_gaussian"])
def test_deviations_at_the_edge(output):
    spec, zero = bounded(-1, 1), ([np.zeros((3, 1))], [np.array([0.5, -0.5, 0])])
    for bad in (80.1, -80.1, 1e30, -1000):
        with pytest.raises(ValueError, match="log_std: expected 3 numbers from -80 to 80, one for each component"):
            cypool.MLP(spec, *zero, output=output, log_std=[0, bad, 0])
    obs, log_std = np.zeros((500, 1), np.float32), np.array([-80, 80, 0])
    mlp = cypool.MLP(spec, *zero, output=output, log_std=log_std)
    choice = mlp.choose(obs)
    z = (choice.raw_action.astype(np.float64) - zero[1][0]) / np.exp(log_std.astype(np.float64))
    wanted = (-0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi)).sum(axis=1)
    if output == "tanh_gaussian":
        size = abs(choice.raw_action.astype(np.float64))
        wanted -= (2 * (math.log(2) - size - np.log1p(np.exp(-2 * size)))).sum(axis=1)
    np.testing.assert_allclose(choice.log_prob, wanted, rtol=1e-5, atol=1e-4)
    assert (abs(choice.action) <= 1).all() and np.isfinite(choice.entropy).all()
    # where the network says them, or an infinite mean, nothing is drawn
    for bias in ([0, 0, 0, 0, 80.5, 0], [0, 0, 0, 0, -80.5, 0], [0, 0, 0, 0, np.inf, 0], [0, np.inf, 0, 0, 0, 0]):
        choice = cypool.MLP(spec, [np.zeros((6, 1))], [np.array(bias)], output=output).choose(obs)
        assert np.isnan(choice.log_prob).all() and np.isnan(choice.action[:, 1]).all()
        assert np.isnan(choice.raw_action[:, 1]).all() and np.isfinite(choice.action[:, [0, 2]]).all()


def test_no_two_rollouts_have_the_same_numbers():
    spec = cypool.make_spec("CartPole-v1")
    obs = np.zeros((64, 4), np.float32)
    mlp, twin = (cypool.MLP(spec, [np.zeros((2, 4))], [np.zeros(2)], output="categorical") for _ in range(2))
    # a race only where Python has no GIL
    with ThreadPoolExecutor(4) as threads:
        found = [future.result().tobytes() for future in [threads.submit(mlp, obs) for _ in range(200)]]
    assert sorted(found) == sorted(twin(obs).tobytes() for _ in range(200)) and len(set(found)) == 200


def test_bad_arguments_of_what_draws():
    spec, box = cypool.make_spec("CartPole-v1"), cypool.make_spec("Pendulum-v1")
    weights, biases = layers(3, 8, 1)
    for bad in (-1, 2**63, 1.5, "1", None):
        with pytest.raises((TypeError, ValueError), match="seed: expected"):
            cypool.MLP(box, weights, biases, output="gaussian", log_std=[0], seed=bad)
    for bad in ([0, 0], [np.nan], [np.inf], [[0]], 0, "a", [object()], Raising()):
        with pytest.raises((TypeError, ValueError), match="log_std: expected"):
            cypool.MLP(box, weights, biases, output="gaussian", log_std=bad)
    with pytest.raises(ValueError, match="log_std: expected None with output='clip'"):
        cypool.MLP(box, weights, biases, log_std=[0])
    with pytest.raises(ValueError, match="log_std: expected None with output='categorical'"):
        cypool.MLP(spec, *layers(4, 2), output="categorical", log_std=[0, 0])
    with pytest.raises(ValueError, match="weights: expected 2 outputs from the last layer, for means and log"):
        cypool.MLP(box, weights, biases, output="gaussian")
    for bad in (3, "ab", [weights], (weights, biases, biases), (weights, 3), ([], []), layers(3, 8, 2), layers(4, 8, 1),
                (weights, [object(), object()]), Raising()):
        with pytest.raises((TypeError, ValueError), match="value: expected"):
            cypool.MLP(box, weights, biases, value=bad)
    mlp = cypool.MLP(box, weights, biases)
    with pytest.raises(ValueError, match="values: expected an MLP with value=, got one without"):
        mlp.values(np.zeros((1, 3), np.float32))
    with pytest.raises(RuntimeError, match="the MLP is already initialized"):
        mlp.__init__(box, weights, biases)
    for name, given in (("value", layers(3, 8, 1)), ("log_std", [0])):
        with pytest.raises(ValueError, match=f"{name}: expected None, as when the MLP was created"):
            mlp.update(weights, biases, **{name: given})
    mlp = cypool.MLP(box, weights, biases, output="gaussian", log_std=[0], value=layers(3, 8, 1))
    obs = np.ones((2, 3), np.float32)
    before = mlp.values(obs)
    others = {"log_std": [0], "value": layers(3, 8, 1)}
    for bad in ({"log_std": [0, 0]}, {"value": layers(3, 8, 2)}, {"value": 3}):
        with pytest.raises((TypeError, ValueError), match=f"{next(iter(bad))}: expected"):
            mlp.update(*layers(3, 8, 1, seed=5), **{**others, **bad})
    with pytest.raises(ValueError, match="weights: expected 1 outputs"):
        mlp.update(*layers(3, 8, 2), **others)
    assert (mlp.values(obs) == before).all()
    for call in (mlp, mlp.choose, mlp.values):
        with pytest.raises(ValueError, match="observation: expected float32 of shape"):
            call(np.zeros((2, 4), np.float32))


# outputs that draw: an environment's id, sizes of the layers, options
DRAWING = {"categorical": ("CartPole-v1", (4, 64, 64, 2), {"output": "categorical"}),
           "gaussian": ("Swimmer-v5", (8, 20, 2), {"output": "gaussian", "log_std": [-0.5, 0.2]}),
           "tanh_gaussian": ("Pendulum-v1", (3, 33, 2), {"output": "tanh_gaussian", "activation": "relu"})}


def drawing(name, spec, seed=0):
    """An MLP that draws, with a value network."""
    _, sizes, options = DRAWING[name]
    return cypool.MLP(spec, *layers(*sizes), value=layers(sizes[0], 16, 1, seed=1), seed=seed, **options)


def parts_of(result):
    """The arrays that a choice, or a rollout, has of a policy."""
    return {name: getattr(result, name) for name in cypool.Choice._fields if getattr(result, name) is not None}


@pytest.mark.parametrize("autoreset_mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("name", DRAWING)
def test_what_is_drawn_does_not_depend_on_threads(name, autoreset_mode):
    options = {"num_envs": 37, "seed": 3, "autoreset_mode": autoreset_mode, "max_episode_steps": 15}
    results = []
    for num_threads in (0, 1, 2, 8):
        env = started(cypool.make(DRAWING[name][0], num_threads=num_threads, **options))
        mlp = drawing(name, env.env_spec)
        # the second one continues with the numbers of the first
        results.append([env.rollout(steps, policy=mlp) for steps in (1, 20)])
        env.close()
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            assert parts_of(one).keys() == parts_of(other).keys()
            for key, part in parts_of(one).items():
                assert part.tobytes() == parts_of(other)[key].tobytes()
            assert one.next_obs.tobytes() == other.next_obs.tobytes()
    if autoreset_mode == "Disabled":
        _, last = results[0]
        assert (last.log_prob[-1] == 0).all() and (last.value[-1] == 0).all() and (last.value[0] != 0).all()
        return
    # a loop gives the same bits
    with cypool.make(DRAWING[name][0], num_threads=1, **options) as twin:
        obs, _ = twin.reset()
        mlp = drawing(name, twin.env_spec)
        for rollout in results[0]:
            for t in range(len(rollout)):
                choice = mlp.choose(obs)
                for key, part in parts_of(choice).items():
                    assert part.tobytes() == parts_of(rollout)[key][t].tobytes(), key
                obs = twin.step(choice.action)[0]
                assert obs.tobytes() == rollout.next_obs[t].tobytes()


@pytest.mark.parametrize("id, sizes, options", [
    ("CartPole-v1", (4, 64, 64, 2), {"reward_hook": lambda batch: batch.reward}), ("LunarLander-v3", (8, 64, 4), {})],
                         ids=["hook", "kernel"])
@pytest.mark.parametrize("autoreset_mode", ["NextStep", "SameStep", "Disabled"])
def test_drawing_where_python_or_a_kernel_steps(autoreset_mode, id, sizes, options):
    def policy(env):
        return cypool.MLP(env.env_spec, *layers(*sizes), value=layers(sizes[0], 16, 1, seed=1), output="categorical")

    options = {"num_envs": 21, "seed": 3, "autoreset_mode": autoreset_mode, "max_episode_steps": 12, **options}
    rollouts = []
    for each in (options, {key: value for key, value in options.items() if key != "reward_hook"}):
        env = started(cypool.make(id, num_threads=1, **each))
        rollouts.append(env.rollout(25, policy=policy(env)))
        env.close()
    with cypool.make(id, num_threads=2, **options) as twin:
        obs, _ = twin.reset()
        mlp = policy(twin)
        for one, part in parts_of(rollouts[0]).items():
            assert part.tobytes() == parts_of(rollouts[1])[one].tobytes()
        if autoreset_mode != "Disabled":
            for t in range(25):
                choice = mlp.choose(obs)
                assert choice.log_prob.tobytes() == rollouts[0].log_prob[t].tobytes()
                obs = twin.step(choice.action)[0]
                assert obs.tobytes() == rollouts[0].next_obs[t].tobytes()


@pytest.mark.parametrize("id, seen, options", [("Pendulum-v1", 1, {}), ("LunarLander-v3", 2, {"continuous": True})])
def test_a_bad_action_fails_its_environment_alone(id, seen, options):
    # pendulums that lean to the right, and landers that drift there, are pushed beyond the bound, the others not
    pools = [cypool.make(id, num_envs=19, num_threads=2, seed=5, **options) for _ in range(2)]
    twin = pools[1]
    (obs, _), _ = pools[0].reset(), twin.reset()
    high = twin.single_action_space.high
    weights, biases = [np.eye(1, obs.shape[1], seen), np.array([[9.0], [0.0]])[:len(high)]], [np.zeros(1), 0 * high]
    mlp = cypool.MLP(twin.env_spec, weights, biases, activation="relu", output="identity")
    bad = np.flatnonzero(mlp(obs)[:, 0] > high[0])
    assert 0 < len(bad) < 19
    with pytest.raises(cypool.EnvError, match=r"got \d") as failed:
        pools[0].rollout(4, policy=mlp)
    assert set(bad) <= set(failed.value.causes)
    rollout, going = failed.value.batch, np.ones(19, bool)
    for t in range(4):
        actions = mlp(obs)
        going &= actions[:, 0] <= high[0]
        obs = twin.step(np.minimum(actions, high))[0]
        assert rollout.next_obs[t][going].tobytes() == obs[going].tobytes()
        assert {i for i, step in failed.value.steps.items() if step <= t} == set(np.flatnonzero(~going))


def philox(key, counter):
    """Philox4x32-10."""
    (a, b, c, d), low, high = counter, key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = q >> 32 ^ b ^ low, q & 0xFFFFFFFF, p >> 32 ^ d ^ high, p & 0xFFFFFFFF
        low, high = low + 0x9E3779B9 & 0xFFFFFFFF, high + 0xBB67AE85 & 0xFFFFFFFF
    return a, b, c, d


def test_the_numbers_are_those_of_philox():
    # the published answers
    assert philox(0, (0,) * 4) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox(2**64 - 1, (2**32 - 1,) * 4) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    seed = 0x123456789ABCDEF
    mlp = cypool.MLP(cypool.make_spec("CartPole-v1"), [np.zeros((2, 4))], [np.zeros(2)], output="categorical",
                     seed=seed)
    obs = np.zeros((50, 4), np.float32)
    for step in range(3):
        # of two equal ones the highest bit chooses
        assert mlp(obs).tolist() == [philox(seed, (row // 4, 0, step, 0))[row % 4] >> 31 for row in range(50)]


def test_categorical_draws_as_often_as_the_logits_say():
    logits = np.array([0.3, -1.0, 1.2, -np.inf])
    mlp = cypool.MLP(cypool.make_spec("LunarLander-v3"), [np.zeros((4, 8))], [logits], output="categorical", seed=7)
    chances = np.exp(logits) / np.exp(logits).sum()
    count = 40_000
    choices = [mlp.choose(np.zeros((count, 8), np.float32)) for _ in range(3)]
    for choice in choices:
        found = np.bincount(choice.action, minlength=4)
        assert found[3] == 0
        # 13.8: one of a thousand such sums is greater
        assert ((found - count * chances)[:3]**2 / (count * chances[:3])).sum() < 13.8
        np.testing.assert_allclose(choice.log_prob, np.log(chances[:3])[choice.action], atol=1e-6)
        np.testing.assert_allclose(choice.entropy, -(chances[:3] * np.log(chances[:3])).sum(), atol=1e-6)
    # steps, and neighbours, have nothing to do with each other
    for one, other in ((choices[0].action, choices[1].action), (choices[0].action[1:], choices[0].action[:-1])):
        pairs = Counter(zip(one.tolist(), other.tolist(), strict=True))
        wanted = len(one) * np.outer(chances[:3], chances[:3])
        # of nine pairs
        assert sum((pairs[i, j] - wanted[i, j])**2 / wanted[i, j] for i in range(3) for j in range(3)) < 26.1
    other_seed = cypool.MLP(cypool.make_spec("LunarLander-v3"), [np.zeros((4, 8))], [logits], output="categorical")
    assert (other_seed(np.zeros((count, 8), np.float32)) != choices[0].action).mean() > 0.4


@pytest.mark.parametrize("output", ["gaussian", "tanh_gaussian"])
def test_gaussians_have_their_moments(output):
    mean, log_std = np.array([0.5, -0.2]), np.array([-1.0, 0.3])
    mlp = cypool.MLP(cypool.make_spec("Swimmer-v5"), [np.zeros((2, 8))], [mean], output=output, log_std=log_std, seed=1)
    count = 100_000
    choices = [mlp.choose(np.zeros((count, 8))) for _ in range(2)]
    z = np.concatenate([(choice.raw_action - mean) / np.exp(log_std) for choice in choices], axis=1)
    # within four standard errors
    for power, moment, error in ((1, 0, 1), (2, 1, 2**0.5), (3, 0, 15**0.5), (4, 3, 96**0.5)):
        assert (abs((z**power).mean(axis=0) - moment) < 4 * error / count**0.5).all()
    correlation = np.corrcoef(z.T) - np.eye(4)
    assert (abs(correlation) < 4 / count**0.5).all() and 4 < abs(z).max() < 6
    # as many in each tenth
    edges = np.array([-1.2815516, -0.8416212, -0.5244005, -0.2533471, 0, 0.2533471, 0.5244005, 0.8416212, 1.2815516])
    found = np.bincount(np.searchsorted(edges, z[:, 0]), minlength=10)
    assert ((found - count / 10)**2 / (count / 10)).sum() < 27.9
    one = choices[0]
    raw = one.raw_action.astype(np.float64)
    wanted = (-0.5 * ((raw - mean) / np.exp(log_std))**2 - log_std - 0.5 * math.log(2 * math.pi)).sum(axis=1)
    if output == "gaussian":
        np.testing.assert_array_equal(one.action, np.clip(one.raw_action, -1, 1))
        np.testing.assert_allclose(one.entropy, (log_std + 0.5 * math.log(2 * math.pi * math.e)).sum(), atol=1e-6)
    else:
        np.testing.assert_allclose(one.action, np.tanh(raw), atol=3e-7)
        wanted -= (2 * (math.log(2) - abs(raw) - np.log1p(np.exp(-2 * abs(raw))))).sum(axis=1)
        assert (one.entropy == -one.log_prob).all()
    np.testing.assert_allclose(one.log_prob, wanted, atol=2e-6, rtol=1e-6)


@pytest.mark.parametrize("name", DRAWING)
def test_values_and_densities_are_those_of_formulas(name):
    id, sizes, options = DRAWING[name]
    spec = cypool.make_spec(id)
    rng = np.random.default_rng(2)
    obs = rng.normal(0, 1, (200, sizes[0])).astype(spec.observation.dtype)
    mlp = drawing(name, spec)
    choice = mlp.choose(obs)
    np.testing.assert_allclose(choice.value, forward(obs, *layers(sizes[0], 16, 1, seed=1),
                                                     options.get("activation", "tanh"))[:, 0], atol=1e-6, rtol=1e-6)
    assert choice.value.tobytes() == mlp.values(obs).tobytes()
    last = forward(obs, *layers(*sizes), options.get("activation", "tanh"))
    if name == "categorical":
        logs = last - np.log(np.exp(last).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(choice.log_prob, logs[np.arange(200), choice.action], atol=1e-6)
        np.testing.assert_allclose(choice.entropy, -(np.exp(logs) * logs).sum(axis=1), atol=1e-6)
        return
    count = spec.action.shape[0]
    mean, log_std = last[:, :count], np.array(options["log_std"]) if "log_std" in options else last[:, count:]
    z = (choice.raw_action - mean) / np.exp(log_std)
    wanted = (-0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi)).sum(axis=1)
    if name == "tanh_gaussian":
        # the density of the action, which is from -2 to 2
        wanted -= np.log(2 * (1 - np.tanh(choice.raw_action.astype(np.float64))**2)).sum(axis=1)
        np.testing.assert_allclose(choice.action, 2 * np.tanh(choice.raw_action), atol=1e-6)
    np.testing.assert_allclose(choice.log_prob, wanted, atol=1e-5)


def test_agents_draw_for_themselves(walker):
    env = cypool.make("walker/Herd-v0", num_envs=6, num_threads=2, seed=1, together=True)
    mlp, twin = (cypool.MLP(env.env_spec, [np.zeros((4, 3))], [np.zeros(4)], output="categorical") for _ in range(2))
    obs, _ = env.reset()
    rollout = env.rollout(20, policy=mlp)
    choice = twin.choose(obs)
    assert rollout.action.shape == rollout.log_prob.shape == (20, 6, 5) and choice.action.shape == (6, 5)
    assert (choice.action == rollout.action[0]).all() and (choice.log_prob == rollout.log_prob[0]).all()
    # each agent of each environment, in each step
    assert len({column.tobytes() for column in rollout.action.reshape(20, 30).T}) == 30
    assert len({step.tobytes() for step in rollout.action}) == 20


def test_update_and_the_numbers_that_follow():
    with started(cypool.make("CartPole-v1", num_envs=16, seed=0)) as env:
        mlp, other = (drawing("categorical", env.env_spec, seed=4) for _ in range(2))
        obs = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
        first = mlp(obs)
        weights, biases = layers(4, 64, 64, 2, seed=9)
        mlp.update(weights, biases, value=layers(4, 16, 1, seed=1))
        for each in weights:
            # a copy was made
            each[:] = np.nan
        second = mlp.choose(obs)
        assert np.isfinite(second.log_prob).all() and (first != second.action).any()
        assert (other.values(obs) == mlp.values(obs)).all()
        mlp.update(*layers(4, 64, 64, 2), value=layers(4, 3, 1, seed=5))
        assert (other.values(obs) != mlp.values(obs)).any()
        assert (other(obs) == first).all()
        other(obs)
        assert (other(obs) == mlp(obs)).all()


def test_a_group_of_one_agent_has_an_axis_of_agents():
    with cypool.make("mpe2/simple-v3", num_envs=5, seed=0, num_threads=0) as env:
        obs, _ = env.reset()
        rng = np.random.default_rng(0)
        network = [[rng.normal(size=(5, 4))], [np.zeros(5)]]
        mlp = cypool.MLP(env.env_spec, *network, output="categorical", value=([rng.normal(size=(1, 4))], [np.zeros(1)]))
        choice, rollout = mlp.choose(obs), env.rollout(7, policy=mlp)
        for name in ("action", "log_prob", "entropy", "value"):
            assert getattr(choice, name).shape == (5, 1) and getattr(rollout, name).shape == (7, 5, 1)


def test_an_mlp_that_overrides_its_call_is_asked_in_rollouts():
    class Stubborn(cypool.MLP):
        def __call__(self, observation):
            return np.zeros(len(observation), np.int64)

    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(2, 4)).astype(np.float32)], [np.array([0, 9], np.float32)]
    spec = cypool.make_spec("CartPole-v1")
    with started(cypool.make("CartPole-v1", num_envs=2, seed=0)) as env:
        assert (env.rollout(5, policy=cypool.MLP(spec, *weights)).action == 1).all()
        assert (env.rollout(5, policy=Stubborn(spec, *weights)).action == 0).all()


def test_observations_that_are_none_are_refused():
    class Raises:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("no array")

    mlp = cypool.MLP(cypool.make_spec("CartPole-v1"), [np.zeros((2, 4), np.float32)], [np.zeros(2, np.float32)])
    for bad in (range(10**12), Raises(), {"a": 1}):
        with pytest.raises((TypeError, ValueError), match="^observation: expected float32 of shape"):
            mlp(bad)
