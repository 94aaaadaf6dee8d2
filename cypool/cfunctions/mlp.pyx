"""A multilayer perceptron as a policy, for rollouts."""
cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.vector cimport vector

cimport numpy as cnp

import math
from typing import Any, NamedTuple

import numpy as np

from cypool.util.arguments import check_array, check_int, check_list, shown, shown_shape
from cypool.policies import Policy
from cypool.spec import Array, Discrete, EnvSpec

cnp.import_array()

cdef extern from "cypool/cfunctions/mlp.h" namespace "cypool" nogil:
    cdef enum class Activation(int):
        pass

    cdef enum class Output(int):
        pass

    cdef enum class Input(int):
        pass

    cdef enum class Simd(int):
        pass

    cdef struct Decisions:
        pass

    cdef cppclass CMlp "cypool::Mlp":
        CMlp() except +
        Activation activation
        Output output
        Input input
        cbool is_double
        uint64_t seed
        vector[double] lows, highs
        vector[float] log_stds
        size_t observation_bytes, action_bytes
        void add(cbool to_value, const float* weights, const float* bias, size_t inputs, size_t outputs) except +
        void complete() except +

        @staticmethod
        Simd best() noexcept
        void use(Simd simd) noexcept

    cdef cppclass MlpCall:
        const CMlp* network
        uint64_t first_step
        size_t agents, rows
        float* raw_action
        float* log_prob
        float* entropy
        float* value
        int choose(const void* obs, void* actions, int64_t step, size_t env_id, size_t count) noexcept

    int mlp_policy(const Decisions* decisions) noexcept

    const int CLogStdLimit "cypool::mlp::LOG_STD_LIMIT"

# in the order of the enums
ACTIVATIONS = ["tanh", "relu"]
OUTPUTS = ["argmax", "identity", "clip", "tanh", "categorical", "gaussian", "tanh_gaussian"]
INPUTS = ["f4", "f8", "u1", "i4", "i8"]
SIMD = ["none", "avx2", "avx512"]
# for actions that are Discrete, and for arrays
DISCRETE, CONTINUOUS = ["argmax", "categorical"], ["identity", "clip", "tanh", "gaussian", "tanh_gaussian"]
GAUSSIANS = ["gaussian", "tanh_gaussian"]
LOG_STD_LIMIT = CLogStdLimit


class Choice(NamedTuple):
    """The actions that an `MLP` chooses for observations, and what a learner needs with them.

    Attributes:
        action: As `step` takes it.
        raw_action: float32, of the shape of the action: what was drawn, before it was clipped or squashed; None without
            a Gaussian.
        log_prob: float32: the logarithm of the probability, or density, of what was drawn; None where nothing is drawn.
        entropy: float32: of the distribution; None where nothing is drawn.
        value: float32; None without a value network.
    """

    action: Any
    raw_action: Any
    log_prob: Any
    entropy: Any
    value: Any


@cython.final
cdef class _Network:
    """The network in C++.

    Args:
        policy, value: Layers, pairs (weights, bias) of C-contiguous float32 arrays that fit; none of value: no such
            network.
        activation, output, input: As the enums of `mlp.h`.
        low, high: Bounds of the action; empty: it is discrete.
        log_std: float32; empty: the network has them.
        is_double: Whether the action is of float64.
        seed: Of what is drawn.
        observation_bytes, action_bytes: What an agent sees and does.
    """
    cdef unique_ptr[CMlp] mlp

    def __init__(self, list policy, list value, int activation, int output, int input, low, high, log_std,
                 bint is_double, uint64_t seed, size_t observation_bytes, size_t action_bytes):
        cdef cnp.ndarray weights, bias
        cdef double bound
        cdef float number
        cdef bint to_value
        if self.mlp.get() != NULL:
            raise RuntimeError("the network is made already")
        self.mlp = make_unique[CMlp]()
        self.mlp.get().activation, self.mlp.get().output = <Activation>activation, <Output>output
        self.mlp.get().input, self.mlp.get().is_double = <Input>input, is_double
        self.mlp.get().seed = seed
        self.mlp.get().observation_bytes, self.mlp.get().action_bytes = observation_bytes, action_bytes
        for bound in low:
            self.mlp.get().lows.push_back(bound)
        for bound in high:
            self.mlp.get().highs.push_back(bound)
        for number in log_std:
            self.mlp.get().log_stds.push_back(number)
        for to_value, layers in enumerate((policy, value)):
            for weights, bias in layers:
                self.mlp.get().add(to_value, <const float*>cnp.PyArray_DATA(weights),
                                   <const float*>cnp.PyArray_DATA(bias), cnp.PyArray_DIM(weights, 1),
                                   cnp.PyArray_DIM(weights, 0))
        self.mlp.get().complete()

    @property
    def simd(self):
        """The instructions that this CPU has, in the order of `SIMD`."""
        return SIMD[:<int>CMlp.best() + 1]

    def use_simd(self, str name):
        """Has the network use these instructions, for tests: one of `simd`."""
        self.mlp.get().use(<Simd><int>self.simd.index(name))


@cython.final
cdef class _Steps:
    """Counts the steps that an MLP has made: what is drawn depends on the number."""
    cdef uint64_t count

    def take(self, uint64_t num_steps):
        """Counts some more, and returns how many there were before."""
        cdef uint64_t first
        # without the GIL, another thread may begin a rollout now
        with cython.critical_section(self):
            first = self.count
            self.count = first + num_steps
        return first


cdef float* numbers_of(cnp.ndarray array):
    """Where the numbers of a float32 array are; NULL for None."""
    if array is None:
        return NULL
    return <float*>cnp.PyArray_DATA(array)


@cython.final
cdef class _Call:
    """A network at work: for a rollout, or for observations that are given.

    Args:
        network: Chooses.
        agents: Rows of an environment.
        first_step: Which random numbers the first step has.
        raw_action, log_prob, entropy, value: C-contiguous float32 arrays with a row for each row of each step, or None.
    """
    cdef MlpCall call
    cdef object owners

    def __cinit__(self, _Network network, size_t agents, uint64_t first_step, size_t rows, cnp.ndarray raw_action,
                  cnp.ndarray log_prob, cnp.ndarray entropy, cnp.ndarray value):
        self.call.network = network.mlp.get()
        self.call.agents, self.call.first_step, self.call.rows = agents, first_step, rows
        self.call.raw_action = numbers_of(raw_action)
        self.call.log_prob = numbers_of(log_prob)
        self.call.entropy = numbers_of(entropy)
        self.call.value = numbers_of(value)
        self.owners = network, raw_action, log_prob, entropy, value

    @property
    def address(self):
        """Where the call is."""
        return <uintptr_t>&self.call

    def choose(self, cnp.ndarray obs, cnp.ndarray actions, int64_t step, size_t count):
        """Chooses for C-contiguous observations of `count` environments; without actions only their values."""
        cdef const void* source = cnp.PyArray_DATA(obs)
        cdef void* target = NULL
        cdef int failed
        if actions is not None:
            target = cnp.PyArray_DATA(actions)
        with nogil:
            failed = self.call.choose(source, target, step, 0, count)
        if failed:
            raise MemoryError("MLP")


class MLP(Policy):
    """A multilayer perceptron that chooses or draws actions: a policy for `rollout`, and a function of observations.

    It computes in float32. `env.rollout(T, policy=mlp)` and a loop over `env.step(mlp(obs))` have the same bits, with
    any number of threads; the results of NumPy and torch differ in rounding.

    Args:
        spec: Of the environments: `env.env_spec`, or `cypool.make_spec(id)`. The observation is one array, of any
            shape; the action is Discrete, or an array of float32 or float64. With one group of agents: those of an
            agent, and it chooses for each of them.
        weights: For each layer an array or a tensor, shape (outputs, inputs), as in `torch.nn.Linear`. A copy is made.
        biases: For each layer an array or a tensor, shape (outputs,).
        activation: "tanh" or "relu", between layers.
        output: What makes an action of the last layer. For Discrete actions "argmax", or "categorical": draws with
            these logits. Else "identity"; "clip", to the bounds of the action; "tanh", scaled from [-1, 1] to these
            bounds; or draws around the outputs: "gaussian", clipped to the bounds, or "tanh_gaussian", scaled to them
            by tanh. By default "argmax" or "clip".
        log_std: Of Gaussians: the logarithms of the standard deviations, as many as the action has numbers. Without,
            the last layer has twice as many outputs, and the second half are they.
        value: Layers of a second network, which has the same observations and one output: a pair (weights, biases).
        seed: Of what is drawn. The numbers depend on it, on the environment and agent, and on how many steps the MLP
            has made. They come from a stream of its own: environments draw what they always do.

    Raises:
        TypeError, ValueError: An argument is of the wrong kind, or does not fit the others.
    """

    def __init__(self, spec, weights, biases, *, activation="tanh", output=None, log_std=None, value=None, seed=0):
        if "_network" in self.__dict__:
            raise RuntimeError("the MLP is made already")
        if not isinstance(spec, EnvSpec):
            raise TypeError(f"spec: expected an EnvSpec, such as env.env_spec, got {shown(spec)}")
        observation, action, agents = spec.observation, spec.action, ()
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
            raise ValueError(f"spec: expected an action that is Discrete or one array of floats, got {action}")
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation: expected one of {ACTIVATIONS}, got {shown(activation)}")
        output = ("argmax" if discrete else "clip") if output is None else output
        allowed = DISCRETE if discrete else CONTINUOUS
        if output not in allowed:
            raise ValueError(f"output: expected one of {allowed} for {action}, got {shown(output)}")
        if output in ("tanh", "tanh_gaussian"):
            # the scale is computed in float32
            with np.errstate(over="ignore"):
                low, high = action.low.astype(np.float32), action.high.astype(np.float32)
            if not (np.isfinite(low).all() and np.isfinite(high).all()):
                raise ValueError(f"output: expected another one than {output!r} for an action without bounds, got "
                                 f"{action}")
            if not (low < high).all():
                raise ValueError(f"output: expected another one than {output!r} for bounds that are equal in float32, "
                                 f"got {action}")
        self._observation, self._action, self._agents = observation, action, agents
        self._activation, self._output, self._seed = activation, output, check_int("seed", seed, 0, 2**63 - 1)
        self._fits = spec.observation, spec.action
        self._state, self._steps, self._log_std, self._value = None, _Steps(), None, None
        self._network = self._made(weights, biases, log_std, value)

    def update(self, weights, biases, *, log_std=None, value=None):
        """Takes new weights, for the calls and rollouts that begin afterwards.

        Args:
            weights, biases, log_std, value: As when it was made; by default the last two stay as they are.

        Raises:
            TypeError, ValueError: As when it was made, or it was made without them. Nothing has changed.
        """
        for name, given, kept in (("log_std", log_std, self._log_std), ("value", value, self._value)):
            if given is not None and kept is None:
                # rollouts in other threads have no memory for them
                raise ValueError(f"{name}: expected none, as the MLP was made without, got {shown(given)}")
        self._network = self._made(weights, biases, self._log_std if log_std is None else log_std,
                                   self._value if value is None else value)

    def _made(self, weights, biases, log_std, value):
        """Returns a network of these layers, and keeps what the next one may lack."""
        observation, action = self._observation, self._action
        discrete, num_inputs = isinstance(action, Discrete), math.prod(observation.shape)
        num_outputs = action.n if discrete else math.prod(action.shape)
        if log_std is not None:
            if self._output not in GAUSSIANS:
                raise ValueError(f"log_std: expected none with output={self._output!r}, got {shown(log_std)}")
            log_std = _numbers("log_std", log_std, 1)
            if log_std.shape != (num_outputs,) or not (abs(log_std) <= LOG_STD_LIMIT).all():
                raise ValueError(f"log_std: expected {num_outputs} numbers from {-LOG_STD_LIMIT} to {LOG_STD_LIMIT}, "
                                 f"one for each of the action, got {shown(log_std.tolist())}")
        elif self._output in GAUSSIANS:
            num_outputs *= 2
        layers = _layers("weights", "biases", weights, biases)
        _check_ends("weights", layers, num_inputs, num_outputs, "as the action has"
                    if self._output not in GAUSSIANS or log_std is not None else "means and logarithms of deviations")
        value_layers = []
        if value is not None:
            pair = check_list("value", value, "a pair of weights and biases")
            if len(pair) != 2:
                raise ValueError(f"value: expected a pair of weights and biases, got {len(pair)} of them")
            value_layers = _layers("value", "value", *pair)
            _check_ends("value", value_layers, num_inputs, 1, "the value")
            value = [each[0] for each in value_layers], [each[1] for each in value_layers]
        low, high = ((), ()) if discrete else (action.low.reshape(-1), action.high.reshape(-1))
        network = _Network(layers, value_layers, ACTIVATIONS.index(self._activation), OUTPUTS.index(self._output),
                           INPUTS.index(f"{observation.dtype.kind}{observation.dtype.itemsize}"), low, high,
                           () if log_std is None else log_std, action.dtype == np.float64, self._seed,
                           observation.dtype.itemsize * num_inputs, action.dtype.itemsize * math.prod(action.shape))
        self._log_std, self._value = log_std, value
        return network

    def __call__(self, observation):
        """Returns the actions for observations.

        Args:
            observation: Shape (k, *observation shape), of the spec's dtype; of a group of agents (k, agents, ...).

        Returns:
            (k, *action shape), of the spec's dtype; of a group of agents (k, agents, ...).

        Raises:
            ValueError: It has another shape or dtype.
        """
        return self.choose(observation).action

    def choose(self, observation):
        """Returns actions for observations, and what a learner needs with them.

        Args:
            observation: As in a call. The random numbers of row k are those of environment k.

        Returns:
            A `Choice` of arrays (k, ...); of a group of agents (k, agents, ...).

        Raises:
            ValueError: The observation has another shape or dtype.
        """
        observation, rows = self._checked(observation)
        return _Rollout(self, 1, rows).choose(observation)

    def values(self, observation):
        """Returns the values of observations, float32. Nothing is drawn.

        Args:
            observation: As in a call.

        Returns:
            Shape (k,); of a group of agents (k, agents).

        Raises:
            ValueError: The observation has another shape or dtype, or there is no value network.
        """
        if self._value is None:
            raise ValueError("values: expected an MLP with value=, got one without")
        observation, rows = self._checked(observation)
        value = np.zeros(rows, np.float32)
        count = math.prod(rows)
        _Call(self._network, 1, 0, count, None, None, None, value).choose(observation, None, 0, count)
        return value

    def _checked(self, observation):
        """Returns C-contiguous observations and the shape of their rows."""
        shape, dtype = self._observation.shape, self._observation.dtype
        observation = check_array("observation", observation, f"{dtype} of shape {shown_shape('k', *shape)}")
        rows = observation.shape[:observation.ndim - len(shape)]
        if observation.shape[len(rows):] != shape or not 1 <= len(rows) <= 2 or observation.dtype != dtype:
            raise ValueError(f"observation: expected {dtype} of shape {shown_shape('k', *shape)}, got "
                             f"{observation.dtype} of shape {observation.shape}")
        return np.ascontiguousarray(observation), rows

    def check(self, spec, num_envs):
        """Raises a ValueError if the MLP is for other observations or actions than a pool's."""
        if (spec.observation, spec.action) != self._fits:
            raise ValueError(f"policy: expected one for {spec.observation} and {spec.action}, got an MLP for "
                             f"{self._fits[0]} and {self._fits[1]}")

    def __reduce__(self):
        raise TypeError("an MLP cannot be pickled or copied: make another one of its weights")

    def _for_rollout(self):
        """Returns the policy of one rollout, with the weights as they are."""
        if type(self).__call__ is not MLP.__call__ or type(self).choose is not MLP.choose:
            # a function in Python, which may call this one
            return self.__call__
        return _Rollout(self, None, None)


class _Rollout(Policy):
    """An `MLP` in one rollout, or in one call: with memory for what it returns with the actions.

    Args:
        mlp: Chooses.
        num_steps: Of the rollout; None: `_begin` says it.
        rows: The shape of a step: (num_envs,) or (num_envs, agents).
    """

    def __init__(self, mlp, num_steps, rows):
        self._mlp, self._network, self._state = mlp, mlp._network, None
        self._outputs, self._step = {}, 0
        if num_steps is not None:
            self._allocate(num_steps, rows)

    def check(self, spec, num_envs):
        self._mlp.check(spec, num_envs)

    def _begin(self, num_steps, num_envs):
        """Takes memory, and random numbers that no other rollout has."""
        self._allocate(num_steps, (num_envs, *self._mlp._agents))

    def _allocate(self, num_steps, rows):
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
        self._call = _Call(self._network, math.prod(rows[1:]), mlp._steps.take(num_steps), math.prod(rows),
                           *map(self._outputs.get, Choice._fields[1:]))
        self._many_address, self._parameters_address = <uintptr_t>&mlp_policy, self._call.address

    def choose(self, observation):
        """Returns a `Choice` for the next step, from checked observations."""
        step, mlp = self._step, self._mlp
        actions = np.zeros((*self._rows, *mlp._action.shape), mlp._action.dtype)
        self._call.choose(observation, actions, step, self._rows[0])
        self._step = step + 1
        return Choice(actions, *(self._outputs[name][step] if name in self._outputs else None
                                 for name in Choice._fields[1:]))

    def __call__(self, observation):
        return self.choose(self._mlp._checked(observation)[0]).action


def _check_ends(name, layers, num_inputs, num_outputs, why):
    """Raises a ValueError if the first or the last layer has another size."""
    for which, wanted, got in (("inputs of the first layer, as the observation has", num_inputs,
                                layers[0][0].shape[1]),
                               (f"outputs of the last layer, {why}", num_outputs,
                                layers[len(layers) - 1][0].shape[0])):
        if wanted != got:
            raise ValueError(f"{name}: expected {wanted} {which}, got {got}")


def _layers(name, name_of_biases, weights, biases):
    """Returns a list of (weights, bias), checked: C-contiguous arrays of float32."""
    weights, biases = (
        [_numbers(each_name, each, ndim) for each in check_list(each_name, given, "an array for each layer")]
        for each_name, given, ndim in ((name, weights, 2), (name_of_biases, biases, 1)))
    if len(weights) != len(biases) or not weights:
        names = name if name == name_of_biases else f"{name}, {name_of_biases}"
        raise ValueError(f"{names}: expected one of each for each layer, got {len(weights)} and {len(biases)}")
    inputs = weights[0].shape[1]
    for k, (weight, bias) in enumerate(zip(weights, biases)):
        if weight.shape != (len(bias), inputs) or weight.size == 0:
            raise ValueError(f"{name}: expected shape {(len(bias), inputs)} in layer {k}, which has {len(bias)} "
                             f"biases, got {weight.shape}")
        for each_name, array in ((name, weight), (name_of_biases, bias)):
            if np.isnan(array).any():
                raise ValueError(f"{each_name}: expected numbers, got NaN in layer {k}")
        inputs = len(bias)
    return list(zip(weights, biases))


def _numbers(name, given, ndim):
    if hasattr(type(given), "detach"):
        # a tensor of torch, which may need gradients, and be on another device
        given = given.detach().cpu()
    array = check_array(name, given, f"arrays of numbers with {ndim} axes")
    if array.dtype.kind not in "fiu" or array.ndim != ndim:
        raise ValueError(f"{name}: expected arrays of numbers with {ndim} axes, got {array.dtype} of shape "
                         f"{array.shape}")
    return np.array(array, np.float32, order="C")
