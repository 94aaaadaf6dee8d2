"""A multilayer perceptron as a policy, for rollouts."""
cimport cython
from libc.stdint cimport uintptr_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.vector cimport vector

cimport numpy as cnp

import math

import numpy as np

from cypool.util.arguments import check_array, check_list, shown, shown_shape
from cypool.policies import Policy
from cypool.spec import Array, Discrete, EnvSpec

from cypool.policies cimport Decision

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

    cdef cppclass CMlp "cypool::Mlp":
        CMlp() except +
        Activation activation
        Output output
        Input input
        cbool is_double
        vector[float] low, high
        size_t agents, observation_bytes, action_bytes
        void add(const float* weights, const float* bias, size_t inputs, size_t outputs) except +

        @staticmethod
        Simd best() noexcept
        void use(Simd simd) noexcept
        int apply(const void* observation, void* action) noexcept

    int mlp_policy(Decision* decision) noexcept

# in the order of the enums
ACTIVATIONS = ["tanh", "relu"]
OUTPUTS = ["argmax", "identity", "clip", "tanh"]
INPUTS = ["f4", "f8", "u1", "i4", "i8"]
SIMD = ["none", "avx2", "avx512"]


@cython.final
cdef class _Network:
    """The network in C++.

    Args:
        layers: Pairs (weights, bias) of C-contiguous float32 arrays that fit.
        activation, output, input: As the enums of `mlp.h`.
        low, high: Bounds of the action, float32.
        is_double: Whether the action is of float64.
        agents, observation_bytes, action_bytes: Of the group of agents that it chooses for: how many, and the sizes of
            what one of them sees and does.
    """
    cdef unique_ptr[CMlp] mlp

    def __init__(self, list layers, int activation, int output, int input, low, high, bint is_double,
                 size_t agents, size_t observation_bytes, size_t action_bytes):
        cdef cnp.ndarray weights, bias
        cdef float bound
        if self.mlp.get() != NULL:
            raise RuntimeError("the network is made already")
        self.mlp = make_unique[CMlp]()
        self.mlp.get().activation, self.mlp.get().output = <Activation>activation, <Output>output
        self.mlp.get().input, self.mlp.get().is_double = <Input>input, is_double
        self.mlp.get().agents = agents
        self.mlp.get().observation_bytes, self.mlp.get().action_bytes = observation_bytes, action_bytes
        for bound in low:
            self.mlp.get().low.push_back(bound)
        for bound in high:
            self.mlp.get().high.push_back(bound)
        for weights, bias in layers:
            self.mlp.get().add(<const float*>cnp.PyArray_DATA(weights), <const float*>cnp.PyArray_DATA(bias),
                               cnp.PyArray_DIM(weights, 1), cnp.PyArray_DIM(weights, 0))

    @property
    def address(self):
        """Where the network is."""
        return <uintptr_t>self.mlp.get()

    @property
    def simd(self):
        """The instructions that this CPU has, in the order of `SIMD`."""
        return SIMD[:<int>CMlp.best() + 1]

    def use_simd(self, str name):
        """Has the network use these instructions, for tests: one of `simd`."""
        self.mlp.get().use(<Simd><int>self.simd.index(name))

    def apply(self, cnp.ndarray obs, cnp.ndarray actions):
        """Chooses actions for observations, one for each row of two C-contiguous arrays."""
        cdef char* source = cnp.PyArray_BYTES(obs)
        cdef char* target = cnp.PyArray_BYTES(actions)
        cdef Py_ssize_t count = len(obs), source_bytes = cnp.PyArray_NBYTES(obs) // max(count, 1), k
        cdef Py_ssize_t target_bytes = cnp.PyArray_NBYTES(actions) // max(count, 1)
        cdef int failed = 0
        with nogil:
            for k in range(count):
                failed |= self.mlp.get().apply(source + k * source_bytes, target + k * target_bytes)
        if failed:
            raise MemoryError("MLP")


class MLP(Policy):
    """A multilayer perceptron that chooses actions: a policy for `rollout`, and a function of observations.

    It computes in float32. `env.rollout(T, policy=mlp)` and a loop over `env.step(mlp(obs))` have the same bits; the
    results of NumPy and torch differ in rounding.

    Args:
        spec: Of the environments: `env.env_spec`, or `cypool.make_spec(id)`. The observation is one array, of any
            shape; the action is Discrete, or an array of float32 or float64. With one group of agents: those of an
            agent, and it chooses for each of them.
        weights: For each layer an array or a tensor, shape (outputs, inputs), as in `torch.nn.Linear`. A copy is made.
        biases: For each layer an array or a tensor, shape (outputs,).
        activation: "tanh" or "relu", between layers.
        output: What makes an action of the last layer: "argmax", for Discrete actions; else "identity"; "clip", to the
            bounds of the action; or "tanh", scaled from [-1, 1] to these bounds. By default "argmax" or "clip".

    Raises:
        TypeError, ValueError: An argument is of the wrong kind, or does not fit the others.
    """

    def __init__(self, spec, weights, biases, *, activation="tanh", output=None):
        if "_address" in self.__dict__:
            raise RuntimeError("the MLP is made already")
        if not isinstance(spec, EnvSpec):
            raise TypeError(f"spec: expected an EnvSpec, such as env.env_spec, got {shown(spec)}")
        observation, action, agents = spec.observation, spec.action, 1
        if spec.agents:
            if len(spec.agents) > 1:
                raise ValueError(f"spec: expected one group of agents, got {list(spec.agents)}")
            (group,) = spec.agents.values()
            observation, action, agents = group.observation, group.action, group.count
        if not isinstance(observation, Array) or f"{observation.dtype.kind}{observation.dtype.itemsize}" not in INPUTS:
            raise ValueError(f"spec: expected an observation that is one array of {', '.join(INPUTS)}, got "
                             f"{observation}")
        discrete = isinstance(action, Discrete)
        if not discrete and (not isinstance(action, Array) or action.dtype not in (np.float32, np.float64)):
            raise ValueError(f"spec: expected an action that is Discrete or one array of floats, got {action}")
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation: expected one of {ACTIVATIONS}, got {shown(activation)}")
        output = ("argmax" if discrete else "clip") if output is None else output
        allowed = OUTPUTS[:1] if discrete else OUTPUTS[1:]
        if output not in allowed:
            raise ValueError(f"output: expected one of {allowed} for {action}, got {shown(output)}")
        layers = _layers(weights, biases)
        num_inputs, num_outputs = math.prod(observation.shape), action.n if discrete else math.prod(action.shape)
        for name, wanted, got in (("inputs of the first layer, as the observation has", num_inputs,
                                   layers[0][0].shape[1]),
                                  ("outputs of the last layer, as the action has", num_outputs,
                                   layers[len(layers) - 1][0].shape[0])):
            if wanted != got:
                raise ValueError(f"weights: expected {wanted} {name}, got {got}")
        low, high = ((), ()) if discrete else (action.low.reshape(-1), action.high.reshape(-1))
        if output == "tanh" and not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ValueError(f"output: expected another one than 'tanh' for an action without bounds, got {action}")
        kind = INPUTS.index(f"{observation.dtype.kind}{observation.dtype.itemsize}")
        network = _Network(layers, ACTIVATIONS.index(activation), OUTPUTS.index(output), kind, low, high,
                           action.dtype == np.float64, agents, observation.dtype.itemsize * num_inputs,
                           action.dtype.itemsize * math.prod(action.shape))
        super().__init__(<uintptr_t>&mlp_policy)
        self._network, self._parameters_address = network, network.address
        self._observation, self._action = observation, action
        self._fits = spec.observation, spec.action

    def __call__(self, observation):
        """Returns the actions for observations.

        Args:
            observation: Shape (k, *observation shape), of the spec's dtype; of a group of agents (k, agents, ...).

        Returns:
            (k, *action shape), of the spec's dtype; of a group of agents (k, agents, ...).

        Raises:
            ValueError: It has another shape or dtype.
        """
        shape, dtype = self._observation.shape, self._observation.dtype
        observation = np.asarray(observation)
        rows = observation.shape[:observation.ndim - len(shape)]
        if observation.shape[len(rows):] != shape or not 1 <= len(rows) <= 2 or observation.dtype != dtype:
            raise ValueError(f"observation: expected {dtype} of shape {shown_shape('k', *shape)}, got "
                             f"{observation.dtype} of shape {observation.shape}")
        actions = np.zeros((math.prod(rows), *self._action.shape), self._action.dtype)
        self._network.apply(np.ascontiguousarray(observation).reshape(-1, *shape), actions)
        return actions.reshape(*rows, *self._action.shape)

    def check(self, spec, num_envs):
        """Raises a ValueError if the MLP is for other observations or actions than a pool's."""
        if (spec.observation, spec.action) != self._fits:
            raise ValueError(f"policy: expected one for {spec.observation} and {spec.action}, got an MLP for "
                             f"{self._fits[0]} and {self._fits[1]}")


def _layers(weights, biases):
    """Returns a list of (weights, bias), checked: C-contiguous arrays of float32."""
    weights, biases = (
        [_numbers(name, each, ndim) for each in check_list(name, given, "an array for each layer")]
        for name, given, ndim in (("weights", weights, 2), ("biases", biases, 1)))
    if len(weights) != len(biases) or not weights:
        raise ValueError(f"weights, biases: expected one of each for each layer, got {len(weights)} and {len(biases)}")
    inputs = weights[0].shape[1]
    for k, (weight, bias) in enumerate(zip(weights, biases)):
        if weight.shape != (len(bias), inputs) or weight.size == 0:
            raise ValueError(f"weights: expected shape {(len(bias), inputs)} in layer {k}, which has {len(bias)} "
                             f"biases, got {weight.shape}")
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
