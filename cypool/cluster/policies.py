"""Policies: weights in, parameters of a distribution over actions out.

A policy is any object that pickles and has

* `distribution`: the meaning of its parameters; see distributions.py.
* `get_weights()`: a dict of names to NumPy arrays. `set_weights(weights)` must copy such arrays, even read-only ones.
* `policy(obs)`, for observations with a leading axis of n rows: a dict with "params", (n, num_parameters), and
  anything else to include in rollouts, such as "value", (n, ...).

It runs on the workers, and with `APS(where="learner")` also on the learner.
"""
from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cypool.cluster.distributions import Distribution, distribution_of
from cypool.making.factory import from_factories, make
from cypool.registration.registry import is_gymnasium_id, make_spec
from cypool.spec import Discrete, EnvSpec
from cypool.util.arguments import check_float, check_int

# names that rollouts and infos use
RESERVED = ("obs", "next_obs", "last_obs", "action", "raw_action", "log_prob", "reward", "terminated", "truncated",
            "valid", "env_id", "elapsed_step", "policy_version", "kl")


class Policy(Protocol):
    """The object that chooses actions on the workers; see the module's docstring."""

    @property
    def distribution(self) -> Distribution: ...

    def get_weights(self) -> dict[str, NDArray[Any]]: ...

    def set_weights(self, weights: Mapping[str, NDArray[Any]], /) -> None: ...

    def __call__(self, obs: Any, /) -> Mapping[str, Any]: ...


def env_spec_of(source: Any, max_episode_steps: int | None = None, **options: Any) -> EnvSpec:
    """Returns the `EnvSpec` of an id, a task or the first of several functions; an `EnvSpec` is returned unchanged.

    A task or a Gymnasium environment is briefly created in this process.

    Raises:
        TypeError, ValueError: As in `cypool.make` and `cypool.from_factories`.
    """
    if isinstance(source, EnvSpec):
        return source
    if not is_gymnasium_id(source) and (isinstance(source, (str, bytes)) or not isinstance(source, Iterable)):
        # make_spec rejects other types
        return make_spec(source, max_episode_steps=max_episode_steps, **options)
    of_make = inspect.signature(make).parameters
    for name in options:
        if name in of_make or (not isinstance(source, str)
                               and name not in ("workers", "start_method", "worker_timeout")):
            raise ValueError(f"{name}: not an option of {source if isinstance(source, str) else 'env functions'}"
                             + ", but an argument of cypool.make" * (name in of_make))
    options |= {"max_episode_steps": max_episode_steps, "num_workers": 0}
    pool = make(source, **options) if isinstance(source, str) else from_factories(list(source)[:1], **options)
    with pool:
        result: EnvSpec = pool.env_spec
        return result


def evaluated(policy: Policy, obs: Any, rows: int) -> tuple[NDArray[np.float32], dict[str, NDArray[Any]]]:
    """Returns a policy's output for `rows` observations; see `checked`."""
    return checked(policy, policy(obs), rows)


def checked(policy: Policy, output: Any, rows: int) -> tuple[NDArray[np.float32], dict[str, NDArray[Any]]]:
    """Returns the parameters in a policy's output, as float32, and a dict of the rest.

    Raises:
        TypeError: The policy does not return a dict.
        ValueError: Parameters are missing, of the wrong shape, or NaN; or another array has the wrong number of rows.
    """
    if not isinstance(output, Mapping) or "params" not in output:
        raise TypeError(f"policy: expected the policy to return a dict with 'params', got {output!r}")
    others = {name: np.asarray(value) for name, value in output.items() if name != "params"}
    params = np.asarray(output["params"], np.float32)
    wanted = rows, policy.distribution.num_parameters
    if params.shape != wanted:
        raise ValueError(f"policy: expected params of shape {wanted}, got {params.shape}")
    if np.isnan(params).any():
        raise ValueError(f"policy: expected params without NaN, got {params[np.isnan(params).any(-1)][0]}")
    for name, value in others.items():
        if name in RESERVED:
            raise ValueError(f"policy: expected names that rollouts do not already use, got {name!r}")
        if value.shape[:1] != (rows,):
            raise ValueError(f"policy: expected {rows} rows of {name}, got shape {value.shape}")
    return params, others


def weights_of(source: Any) -> dict[str, NDArray[Any]]:
    """Returns weights as a dict of names to NumPy arrays.

    Args:
        source: A dict of arrays or tensors; or something with `get_weights` (a policy) or `state_dict` (a module).

    Raises:
        TypeError: `source` is not one of these.
    """
    for method in ("get_weights", "state_dict"):
        if hasattr(source, method):
            source = getattr(source, method)()
            break
    if not isinstance(source, Mapping):
        raise TypeError(f"weights: expected a dict of arrays, a policy or a module, got {type(source).__name__}")
    # a tensor may want a gradient, or be on another device
    return {name: np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
            for name, value in source.items()}


class MLPPolicy:
    """A multilayer perceptron in NumPy, with tanh between its layers.

    For continuous actions, the logarithm of the standard deviation is the weight "log_std", which does not depend on
    the observation.

    Args:
        env: An id or functions, as in `ClusterEnv`, or an `EnvSpec`. The observation is one `Array`, or a `Discrete`,
            which is one-hot encoded.
        hidden: Sizes of the hidden layers.
        seed: Random seed for the initial weights.
        scale: A factor for observations, such as 1 / 255 for pictures.

    Raises:
        TypeError, ValueError: The environment's observations are of another kind, or a value is out of range.
    """

    def __init__(self, env: Any, hidden: Sequence[int] = (64, 64), seed: int = 0, scale: float = 1.0):
        spec = env_spec_of(env)
        if isinstance(spec.observation, Mapping | tuple):
            raise ValueError(f"env: expected a single array as the observation, got {spec.observation!r}")
        self.distribution = distribution_of(spec.action)
        self._observation, self._scale = spec.observation, np.float32(check_float("scale", scale, -1e30, 1e30))
        rng = np.random.default_rng(check_int("seed", seed, 0, 2**63 - 1))
        is_gaussian = not isinstance(spec.action, Discrete)
        outputs = self.distribution.num_parameters // (1 + is_gaussian)
        inputs = self.features(np.zeros((1, *spec.observation.shape), spec.observation.dtype)).shape[1]
        sizes = [inputs, *(check_int("hidden", n, 1, 2**20) for n in hidden), outputs]
        self._layers = len(sizes) - 1
        self._weights = {}
        for k, (n, m) in enumerate(pairwise(sizes)):
            # a nearly uniform policy to begin with
            size = 0.01 if k == self._layers - 1 else 1
            self._weights[f"w{k}"] = (rng.standard_normal((n, m)) * (size / np.sqrt(n))).astype(np.float32)
            self._weights[f"b{k}"] = np.zeros(m, np.float32)
        if is_gaussian:
            self._weights["log_std"] = np.zeros(outputs, np.float32)

    def features(self, obs: Any) -> NDArray[np.float32]:
        """Returns the first layer's input, float32 (n, k); a subclass may extract something else from the
        observations."""
        if isinstance(self._observation, Discrete):
            result: NDArray[np.float32] = np.eye(self._observation.n, dtype=np.float32)[obs]
            return result
        result = obs.reshape(len(obs), -1).astype(np.float32) * self._scale
        return result

    def get_weights(self) -> dict[str, NDArray[Any]]:
        """Returns copies of the weights, by name."""
        return {name: value.copy() for name, value in self._weights.items()}

    def set_weights(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Copies weights, by name, into the policy."""
        self._weights = {name: np.array(weights[name], np.float32) for name in self._weights}

    def __call__(self, obs: Any) -> dict[str, NDArray[Any]]:
        x, w = self.features(obs), self._weights
        for k in range(self._layers):
            x = x @ w[f"w{k}"] + w[f"b{k}"]
            if k < self._layers - 1:
                x = np.tanh(x)
        if "log_std" in w:
            x = np.concatenate([x, np.broadcast_to(w["log_std"], x.shape)], 1)
        return {"params": x}


class TorchPolicy:
    """A torch module as a policy; its weights are its `state_dict`.

    Args:
        module: A module on the CPU. It is called with a tensor (or a dict or tuple of tensors) in the observation's own
            dtype, and returns the parameters, or a dict with "params" and others.
        distribution: The meaning of the parameters.
    """

    def __init__(self, module: Any, distribution: Distribution):
        self.module, self.distribution = module, distribution

    def get_weights(self) -> dict[str, NDArray[Any]]:
        """Returns the module's `state_dict` as arrays."""
        return weights_of(self.module)

    def set_weights(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Loads arrays as the module's `state_dict`."""
        import torch

        # a copy: arrays of the object store are read-only, and torch has no read-only tensors
        self.module.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})

    def __call__(self, obs: Any) -> dict[str, NDArray[Any]]:
        import torch

        with torch.inference_mode():
            output = self.module(_tensors(obs, torch))
        output = output if isinstance(output, Mapping) else {"params": output}
        return {name: value.numpy() for name, value in output.items()}


def _tensors(obs: Any, torch: Any) -> Any:
    if isinstance(obs, Mapping):
        return {name: torch.from_numpy(part) for name, part in obs.items()}
    if isinstance(obs, tuple):
        return tuple(torch.from_numpy(part) for part in obs)
    return torch.from_numpy(obs)
