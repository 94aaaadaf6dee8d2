"""A multilayer perceptron as a policy, for rollouts."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cypool.policies import Policy
from cypool.policies.network import LOG_STD_LIMIT, POLICY, Network, NetworkCall, Steps
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_array, check_int, check_list, shown, shown_shape

# in the order of the enums
ACTIVATIONS = ["tanh", "relu"]
OUTPUTS = ["argmax", "identity", "clip", "tanh", "categorical", "gaussian", "tanh_gaussian"]
INPUTS = ["f4", "f8", "u1", "i4", "i8"]
# for actions that are Discrete, and for arrays
DISCRETE, CONTINUOUS = ["argmax", "categorical"], ["identity", "clip", "tanh", "gaussian", "tanh_gaussian"]
GAUSSIANS = ["gaussian", "tanh_gaussian"]


class Choice(NamedTuple):
    """The actions that an `MLP` chooses, and other outputs for a learner.

    Attributes:
        action: In the format of `step`.
        raw_action: float32, of the shape of the action: the numbers drawn, before clipping or squashing; None without a
            Gaussian.
        log_prob: float32: the log probability, or log density, of the drawn action; None if nothing is drawn.
        entropy: float32: the entropy of the distribution; None if nothing is drawn.
        value: float32; None without a value network.
    """

    action: NDArray[Any]
    raw_action: NDArray[Any] | None
    log_prob: NDArray[Any] | None
    entropy: NDArray[Any] | None
    value: NDArray[Any] | None


class MLP(Policy):
    """A multilayer perceptron that chooses or draws actions: a policy for `rollout`, and a function of observations.

    It computes in float32. `env.rollout(T, policy=mlp)` and a loop over `env.step(mlp(obs))` give bit-identical results
    with any number of threads; NumPy's and torch's results differ by rounding.

    Args:
        spec: The environments' spec: `env.env_spec` or `cypool.make_spec(id)`. The observation is one array of any
            shape; the action is Discrete, or an array of float32 or float64. With a group of agents, this applies to
            each agent, and the MLP chooses for all of them.
        weights: For each layer an array or a tensor of shape (outputs, inputs), as in `torch.nn.Linear`; copied. Or a
            `torch.nn.Sequential` of `Linear` layers with either `Tanh` or `ReLU` between them.
        biases: For each layer an array or a tensor, shape (outputs,). None with a module.
        activation: "tanh" or "relu", between layers. By default, the module's, or for arrays "tanh".
        output: How the last layer determines an action. For Discrete actions: "argmax"; or "categorical", which draws
            with the outputs as logits. Otherwise "identity"; "clip" to the action's bounds; "tanh", scaled from [-1, 1]
            to these bounds; or draws around the outputs: "gaussian", clipped to the bounds, or "tanh_gaussian", scaled
            to them by tanh. By default "argmax" or "clip".
        log_std: For Gaussians: the logarithms of the standard deviations, one per component of the action. If None, the
            last layer has twice as many outputs, and the second half provides them.
        value: Layers of a second network with the same observations and activation, and one output: a pair (weights,
            biases), or a module.
        seed: Seed for the random numbers, which depend on the seed, the environment, the agent and the number of steps
            that the MLP has taken. They do not affect the environments' random streams.

    Raises:
        TypeError, ValueError: An argument is invalid, or does not fit the others.
    """

    def __init__(self, spec: EnvSpec, weights: Any, biases: Iterable[Any] | None = None, *,
                 activation: Literal["tanh", "relu"] | None = None,
                 output: Literal["argmax", "categorical", "identity", "clip", "tanh", "gaussian",
                                 "tanh_gaussian"] | None = None,
                 log_std: ArrayLike | None = None, value: Any = None, seed: int = 0) -> None:
        if "_network" in self.__dict__:
            raise RuntimeError("the MLP is already initialized")
        if not isinstance(spec, EnvSpec):
            raise TypeError(f"spec: expected an EnvSpec, such as env.env_spec, got {shown(spec)}")
        observation, action = spec.observation, spec.action
        agents: tuple[int, ...] = ()
        if spec.agents:
            if len(spec.agents) > 1:
                raise ValueError(f"spec: expected one group of agents, got {list(spec.agents)}")
            (group,) = spec.agents.values()
            observation, action, agents = group.observation, group.action, (group.count,)
        if not isinstance(observation, Array) or f"{observation.dtype.kind}{observation.dtype.itemsize}" not in INPUTS:
            raise ValueError(f"spec: expected an observation that is one array of {', '.join(INPUTS)}, got "
                             f"{observation}")
        discrete = isinstance(action, Discrete)
        if not discrete and (not isinstance(action, Array) or action.dtype not in (np.float32, np.float64)):
            raise ValueError(f"spec: expected a Discrete action space or one array of floats, got {action}")
        if activation is not None and activation not in ACTIVATIONS:
            raise ValueError(f"activation: expected one of {ACTIVATIONS}, got {shown(activation)}")
        weights, biases, value, activation = _arrays(weights, biases, value, activation)
        output = ("argmax" if discrete else "clip") if output is None else output
        allowed = DISCRETE if discrete else CONTINUOUS
        if output not in allowed:
            raise ValueError(f"output: expected one of {allowed} for {action}, got {shown(output)}")
        if output in ("tanh", "tanh_gaussian"):
            # the scale is computed in float32
            with np.errstate(over="ignore"):
                low, high = action.low.astype(np.float32), action.high.astype(np.float32)
            if not (np.isfinite(low).all() and np.isfinite(high).all()):
                raise ValueError(f"output: {output!r} needs an action with finite bounds, got {action}")
            if not (low < high).all():
                raise ValueError(f"output: {output!r} needs bounds that differ in float32, got {action}")
        self._observation, self._action, self._agents = observation, action, agents
        self._activation, self._output, self._seed = activation or "tanh", output, check_int("seed", seed, 0, 2**63 - 1)
        self._fits = spec.observation, spec.action
        self._has_mask = spec.mask_column is not None
        self._state, self._steps, self._log_std, self._value = None, Steps(), None, None
        self._take(*self._made(weights, biases, log_std, value, self._seed))

    def update(self, weights: Any, biases: Iterable[Any] | None = None, *, log_std: ArrayLike | None = None,
               value: Any = None) -> None:
        """Sets new weights for the following calls and rollouts.

        Args:
            weights, biases, log_std, value: As in the constructor; the last two are required if the constructor
                received them.

        Raises:
            TypeError, ValueError: As in the constructor; or one of the last two is given only here or only there.
                Nothing has changed.
        """
        weights, biases, value, _ = _arrays(weights, biases, value, self._activation)
        self._check_parts(log_std, value)
        self._take(*self._made(weights, biases, log_std, value, self._seed))

    def _check_parts(self, log_std: Any, value: Any) -> None:
        """Raises a ValueError unless the parts that the MLP was created with are given."""
        # rollouts in other threads have no memory for others; and old ones are no part of the new network
        for name, given, own in (("log_std", log_std, self._log_std), ("value", value, self._value)):
            if (given is None) != (own is None):
                expected = "None" if own is None else "a value"
                raise ValueError(f"{name}: expected {expected}, as when the MLP was created, got {shown(given)}")

    def _made(self, weights: Any, biases: Any, log_std: Any, value: Any, seed: int) -> tuple[Any, ...]:
        """Returns a network of these layers, and the layers and parts that it consists of."""
        observation, action = self._observation, self._action
        discrete, num_inputs = isinstance(action, Discrete), math.prod(observation.shape)
        num_outputs = action.n if discrete else math.prod(action.shape)
        if log_std is not None:
            if self._output not in GAUSSIANS:
                raise ValueError(f"log_std: expected None with output={self._output!r}, got {shown(log_std)}")
            log_std = _numbers("log_std", log_std, 1)
            if log_std.shape != (num_outputs,) or not (abs(log_std) <= LOG_STD_LIMIT).all():
                raise ValueError(f"log_std: expected {num_outputs} numbers from {-LOG_STD_LIMIT} to {LOG_STD_LIMIT}, "
                                 f"one for each component of the action, got {shown(log_std.tolist())}")
        elif self._output in GAUSSIANS:
            num_outputs *= 2
        layers = _layers("weights", "biases", weights, biases)
        _check_ends("weights", layers, num_inputs, num_outputs, "to match the action"
                    if self._output not in GAUSSIANS or log_std is not None else "for means and log_std")
        value_layers = []
        if value is not None:
            pair = check_list("value", value, "a pair of weights and biases")
            if len(pair) != 2:
                raise ValueError(f"value: expected a pair of weights and biases, got {len(pair)} items")
            value_layers = _layers("value", "value", *pair)
            _check_ends("value", value_layers, num_inputs, 1, "for the value")
            value = [each[0] for each in value_layers], [each[1] for each in value_layers]
        low, high = ((), ()) if discrete else (action.low.reshape(-1), action.high.reshape(-1))
        network = Network(layers, value_layers, ACTIVATIONS.index(self._activation), OUTPUTS.index(self._output),
                           INPUTS.index(f"{observation.dtype.kind}{observation.dtype.itemsize}"), low, high,
                           () if log_std is None else log_std, action.dtype == np.float64, seed,
                           observation.dtype.itemsize * num_inputs, action.dtype.itemsize * math.prod(action.shape))
        return network, log_std, value, (layers, value_layers)

    def _take(self, network: Network, log_std: Any, value: Any, layers: Any) -> None:
        """Makes the next calls use the result of `_made`."""
        self._network, self._log_std, self._value, self._layers = network, log_std, value, layers

    def _to_checkpoint(self) -> dict[str, Any]:
        weights, biases = zip(*self._layers[0], strict=True)
        return {"activation": self._activation, "output": self._output, "weights": weights, "biases": biases,
                "log_std": self._log_std, "value": self._value, "seed": self._seed, "steps": self._steps.take(0)}

    def _from_checkpoint(self, saved: dict[str, Any]) -> Callable[[], None]:
        for name, own in (("activation", self._activation), ("output", self._output)):
            if saved[name] != own:
                raise ValueError(f"expected a policy with {name} {shown(saved[name])}, got one with {own!r}")
        seed, steps = check_int("seed", saved["seed"], 0, 2**63 - 1), steps_of(saved["steps"])
        self._check_parts(saved["log_std"], saved["value"])
        made = self._made(saved["weights"], saved["biases"], saved["log_std"], saved["value"], seed)

        def take() -> None:
            self._seed, self._steps = seed, steps
            self._take(*made)

        return take

    def _evaluator(self, num_rows: int) -> tuple[NetworkCall, NDArray[np.float32]]:
        """Returns a call of the network whose actions are logits, float32, and memory for the values that it writes."""
        if self._value is None:
            raise ValueError("evaluate: expected an MLP with value=, got one without")
        observation, infinite = self._observation, np.full(self._action.n, np.inf)
        network = Network(*self._layers, ACTIVATIONS.index(self._activation), OUTPUTS.index("identity"),
                          INPUTS.index(f"{observation.dtype.kind}{observation.dtype.itemsize}"), -infinite, infinite,
                          (), False, 0, observation.dtype.itemsize * math.prod(observation.shape), 4 * self._action.n)
        values = np.zeros(num_rows, np.float32)
        return NetworkCall(network, 1, 0, num_rows, None, None, None, values), values

    def __call__(self, observation: Any, action_mask: Any = None) -> NDArray[Any]:
        """Returns the actions for observations.

        Args:
            observation: Shape (k, *observation shape), in the spec's dtype; for a group of agents (k, agents, ...).
            action_mask: If the spec has `illegal`: `info["action_mask"]`, shape (k, actions). Actions with 0 are not
                chosen, unless all are 0.

        Returns:
            (k, *action shape), in the spec's dtype; for a group of agents (k, agents, ...).

        Raises:
            ValueError: The shape or dtype is wrong, or a required mask is missing.
        """
        return self.choose(observation, action_mask).action

    def choose(self, observation: Any, action_mask: Any = None) -> Choice:
        """Returns actions for observations, and values for a learner.

        Args:
            observation, action_mask: As in a call. Row k uses the random numbers of environment k.

        Returns:
            A `Choice` of arrays (k, ...); for a group of agents (k, agents, ...).

        Raises:
            ValueError: As in a call.
        """
        observation, rows = self._checked(observation)
        return _Rollout(self, 1, rows).choose(observation, self._checked_mask(action_mask, rows))

    def values(self, observation: Any) -> NDArray[Any]:
        """Returns the values of observations, float32. Nothing is drawn.

        Args:
            observation: As in a call.

        Returns:
            Shape (k,); for a group of agents (k, agents).

        Raises:
            ValueError: The shape or dtype of the observation is wrong, or there is no value network.
        """
        if self._value is None:
            raise ValueError("values: expected an MLP with value=, got one without")
        observation, rows = self._checked(observation)
        value = np.zeros(rows, np.float32)
        count = math.prod(rows)
        NetworkCall(self._network, 1, 0, count, None, None, None, value).choose(observation, None, None, 0, count)
        return value

    def _checked(self, observation: Any) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Returns C-contiguous observations and the shape of their rows."""
        shape, dtype = self._observation.shape, self._observation.dtype
        observation = check_array("observation", observation, f"{dtype} of shape {shown_shape('k', *shape)}")
        rows = observation.shape[:observation.ndim - len(shape)]
        if observation.shape[len(rows):] != shape or not 1 <= len(rows) <= 2 or observation.dtype != dtype:
            raise ValueError(f"observation: expected {dtype} of shape {shown_shape('k', *shape)}, got "
                             f"{observation.dtype} of shape {observation.shape}")
        return np.ascontiguousarray(observation), rows

    def _checked_mask(self, mask: Any, rows: tuple[int, ...]) -> NDArray[Any] | None:
        """Returns a C-contiguous mask for these rows; None where all actions are legal."""
        if not self._has_mask:
            if mask is not None:
                raise ValueError(f"action_mask: expected None (all actions are legal), got {shown(mask)}")
            return None
        return check_mask(mask, (*rows, self._action.n))

    def check(self, spec: EnvSpec, num_envs: int) -> None:
        """Raises a ValueError if the MLP's observations or actions differ from a pool's."""
        if (spec.observation, spec.action) != self._fits:
            raise ValueError(f"policy: expected an MLP for {spec.observation} and {spec.action}, got one for "
                             f"{self._fits[0]} and {self._fits[1]}")

    def __reduce__(self) -> NoReturn:
        raise TypeError("an MLP cannot be pickled or copied: create a new one from its weights")

    def _for_rollout(self) -> Any:
        """Returns the policy of one rollout, with the current weights."""
        if type(self).__call__ is not MLP.__call__ or type(self).choose is not MLP.choose:
            # a function in Python, which may call this one
            return self.__call__
        return _Rollout(self, None, ())


class _Rollout(Policy):
    """An `MLP` in one rollout, or in one call: with memory for its outputs next to the actions.

    Args:
        mlp: The `MLP`, which chooses.
        num_steps: Number of steps of the rollout; None: an argument of `_begin`.
        rows: The shape of a step: (num_envs,) or (num_envs, agents).
    """

    def __init__(self, mlp: MLP, num_steps: int | None, rows: tuple[int, ...]) -> None:
        self._mlp, self._network, self._state = mlp, mlp._network, None
        self._outputs: dict[str, NDArray[Any]] = {}
        self._step = 0
        if num_steps is not None:
            self._allocate(num_steps, rows)

    def check(self, spec: EnvSpec, num_envs: int) -> None:
        self._mlp.check(spec, num_envs)

    def _begin(self, num_steps: int, num_envs: int) -> None:
        """Allocates memory, and reserves random numbers that no other rollout uses."""
        self._allocate(num_steps, (num_envs, *self._mlp._agents))

    def _allocate(self, num_steps: int, rows: tuple[int, ...]) -> None:
        mlp = self._mlp
        shape = num_steps, *rows
        gaussian = mlp._output in GAUSSIANS
        if gaussian:
            self._outputs["raw_action"] = np.zeros((*shape, *mlp._action.shape), np.float32)
        if gaussian or mlp._output == "categorical":
            self._outputs["log_prob"] = np.zeros(shape, np.float32)
            self._outputs["entropy"] = np.zeros(shape, np.float32)
        if mlp._value is not None:
            self._outputs["value"] = np.zeros(shape, np.float32)
        self._rows = rows
        memory: list[Any] = [self._outputs.get(name) for name in Choice._fields[1:]]
        self._call = NetworkCall(self._network, math.prod(rows[1:]), mlp._steps.take(num_steps), math.prod(rows),
                                 *memory)
        self._many_address, self._parameters_address = POLICY, self._call.address

    def choose(self, observation: Any, mask: Any) -> Choice:
        """Returns a `Choice` for the next step, from checked observations and masks."""
        step, mlp = self._step, self._mlp
        actions = np.zeros((*self._rows, *mlp._action.shape), mlp._action.dtype)
        self._call.choose(observation, mask, actions, step, self._rows[0])
        self._step = step + 1
        return Choice(actions, *(self._outputs[name][step] if name in self._outputs else None
                                 for name in Choice._fields[1:]))

    def __call__(self, observation: Any, action_mask: Any = None) -> NDArray[Any]:
        checked, rows = self._mlp._checked(observation)
        return self.choose(checked, self._mlp._checked_mask(action_mask, rows)).action


def steps_of(count: Any) -> Steps:
    """Returns a count of steps that starts there."""
    steps = Steps()
    steps.take(check_int("steps", count, 0, 2**63 - 1))
    return steps


def check_mask(mask: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Returns a mask of legal actions, C-contiguous and of bytes."""
    array = check_array("action_mask", mask, f"int8 of shape {shape}, like info['action_mask']")
    if array.shape != shape or array.dtype not in (np.int8, np.uint8, np.bool_):
        raise ValueError(f"action_mask: expected int8 of shape {shape}, like info['action_mask'], got {array.dtype} of "
                         f"shape {array.shape}")
    return np.ascontiguousarray(array)


def _check_ends(name: str, layers: list[tuple[Any, Any]], num_inputs: int, num_outputs: int, why: str) -> None:
    """Raises a ValueError if the first or the last layer has another size."""
    for which, wanted, got in (("inputs to the first layer, to match the observation", num_inputs,
                                layers[0][0].shape[1]),
                               (f"outputs from the last layer, {why}", num_outputs,
                                layers[len(layers) - 1][0].shape[0])):
        if wanted != got:
            raise ValueError(f"{name}: expected {wanted} {which}, got {got}")


def _arrays(weights: Any, biases: Any, value: Any, activation: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the arrays that modules hold, and their activation; other arguments unchanged."""
    if _is_module(weights):
        if biases is not None:
            raise ValueError(f"biases: expected None with a module (which contains the biases), got {shown(biases)}")
        weights, biases, activation = _arrays_of("weights", weights, activation)
    elif biases is None:
        raise TypeError("biases: expected an array for each layer, or a module as weights, got None")
    if _is_module(value):
        *value, activation = _arrays_of("value", value, activation)
    return weights, biases, value, activation


def _is_module(given: Any) -> bool:
    return hasattr(type(given), "named_modules")


def _arrays_of(name: str, module: Any, activation: Any) -> tuple[list[Any], list[Any], Any]:
    """Returns weights, biases and activation of a module of torch.

    Args:
        activation: The expected activation; None: any.
    """
    weights: list[Any] = []
    biases = []
    after_layer = False
    for kind, layer in _layers_in(module):
        if kind == "Linear" and not after_layer:
            weights.append(layer.weight)
            biases.append(np.zeros(len(layer.weight)) if layer.bias is None else layer.bias)
        elif kind in ("Tanh", "ReLU") and after_layer and activation in (None, kind.lower()):
            activation = kind.lower()
        elif kind not in ("Flatten", "Identity") or weights:
            between = {None: "Tanh or with ReLU", "tanh": "Tanh", "relu": "ReLU"}[activation]
            raise ValueError(f"{name}: expected a torch.nn.Sequential of Linear layers with {between} between them, or "
                             f"arrays, got {kind} {'after' if weights else 'before'} layer {len(weights)}")
        after_layer = kind == "Linear"
    if not after_layer:
        raise ValueError(f"{name}: expected a torch.nn.Sequential that ends with a Linear layer, got {shown(module)}")
    return weights, biases, activation


def _layers_in(module: Any) -> Iterable[tuple[str, Any]]:
    """Yields what a module consists of, with names of kinds."""
    if type(module).__module__ == "torch.nn.modules.container" and type(module).__name__ == "Sequential":
        for inner in module:
            yield from _layers_in(inner)
    else:
        own = type(module).__module__.startswith("torch.nn.modules.")
        yield type(module).__name__ if own else f"{type(module).__module__}.{type(module).__name__}", module


def _layers(name: str, name_of_biases: str, weights: Any, biases: Any) -> list[tuple[Any, Any]]:
    """Returns a list of (weights, bias), checked: C-contiguous arrays of float32."""
    weights, biases = (
        [_numbers(each_name, each, ndim) for each in check_list(each_name, given, "an array for each layer")]
        for each_name, given, ndim in ((name, weights, 2), (name_of_biases, biases, 1)))
    if len(weights) != len(biases) or not weights:
        names = name if name == name_of_biases else f"{name}, {name_of_biases}"
        raise ValueError(f"{names}: expected weights and biases for each layer, got {len(weights)} and {len(biases)}")
    inputs = weights[0].shape[1]
    for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        if weight.shape != (len(bias), inputs) or weight.size == 0:
            raise ValueError(f"{name}: expected shape {(len(bias), inputs)} in layer {k}, which has {len(bias)} "
                             f"biases, got {weight.shape}")
        for each_name, array in ((name, weight), (name_of_biases, bias)):
            if np.isnan(array).any():
                raise ValueError(f"{each_name}: expected numbers, got NaN in layer {k}")
        inputs = len(bias)
    return list(zip(weights, biases, strict=True))


def _numbers(name: str, given: Any, ndim: int) -> NDArray[Any]:
    if hasattr(type(given), "detach"):
        # a tensor of torch, which may need gradients, and be on another device
        given = given.detach().cpu()
    array = check_array(name, given, f"arrays of numbers with {ndim} axes")
    if array.dtype.kind not in "fiu" or array.ndim != ndim:
        raise ValueError(f"{name}: expected arrays of numbers with {ndim} axes, got {array.dtype} of shape "
                         f"{array.shape}")
    return np.array(array, np.float32, order="C")
