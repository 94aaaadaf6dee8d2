# distutils: extra_compile_args = -O2
"""The network of an MLP in C++; `mlp.py` checks its arguments."""
cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_unique, unique_ptr
from libcpp.vector cimport vector

cimport numpy as cnp

cnp.import_array()

cdef extern from "cypool/policies/mlp.h" namespace "cypool" nogil:
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
        int choose(const void* obs, const uint8_t* mask, void* actions, int64_t step, size_t env_id,
                   size_t count) noexcept

    int mlp_policy(const Decisions* decisions) noexcept

    const int CLogStdLimit "cypool::mlp::LOG_STD_LIMIT"

cdef extern from "cypool/policies/random_policy.h" namespace "cypool" nogil:
    cdef cppclass CRandomCall "cypool::RandomCall":
        uint64_t seed, first_step
        size_t agents, num_actions
        void choose(const uint8_t* mask, int64_t* actions, int64_t step, size_t env_id, size_t count) noexcept

    int random_policy(const Decisions* decisions) noexcept

# in the order of the enum
SIMD = ["none", "avx2", "avx512"]
LOG_STD_LIMIT = CLogStdLimit
# for `Policy`: the function that chooses for many environments
POLICY = <uintptr_t>&mlp_policy
RANDOM_POLICY = <uintptr_t>&random_policy


@cython.final
cdef class Network:
    """The network in C++.

    Args:
        policy, value: Layers, pairs (weights, bias) of C-contiguous float32 arrays that fit; an empty `value`: no such
            network.
        activation, output, input: As the enums of `mlp.h`.
        low, high: Bounds of the action; empty: it is discrete.
        log_std: float32; empty: the network has them.
        is_double: Whether the action is float64.
        seed: Seed of the random numbers. observation_bytes, action_bytes: Size of those of one agent.
    """
    cdef unique_ptr[CMlp] mlp

    def __init__(self, list policy, list value, int activation, int output, int input, low, high, log_std,
                 bint is_double, uint64_t seed, size_t observation_bytes, size_t action_bytes):
        cdef cnp.ndarray weights, bias
        cdef double bound
        cdef float number
        cdef bint to_value
        if self.mlp.get() != NULL:
            raise RuntimeError("the network is already initialized")
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
        """The instruction sets of this CPU, in the order of `SIMD`."""
        return SIMD[:<int>CMlp.best() + 1]

    def use_simd(self, str name):
        """Makes the network use these instructions, for tests: one of `simd`."""
        self.mlp.get().use(<Simd><int>self.simd.index(name))


@cython.final
cdef class Steps:
    """Counts the steps of an MLP, on which its random numbers depend."""
    cdef uint64_t count

    def take(self, uint64_t num_steps):
        """Counts more steps, and returns the count before them."""
        cdef uint64_t first
        # without the GIL, another thread may begin a rollout now
        with cython.critical_section(self):
            first = self.count
            self.count = first + num_steps
        return first


cdef const uint8_t* mask_of(cnp.ndarray array):
    """The address of a mask of bytes; NULL for None."""
    if array is None:
        return NULL
    return <const uint8_t*>cnp.PyArray_DATA(array)


cdef float* numbers_of(cnp.ndarray array):
    """The address of the numbers of a float32 array; NULL for None."""
    if array is None:
        return NULL
    return <float*>cnp.PyArray_DATA(array)


@cython.final
cdef class NetworkCall:
    """A call of a network: in a rollout, or for given observations.

    Args:
        network: The network, which chooses.
        agents: Rows of an environment. first_step: The random numbers that the first step uses. raw_action, log_prob,
        entropy, value: C-contiguous float32 arrays with a row for each row of each step, or None.
    """
    cdef MlpCall call
    cdef object owners

    def __cinit__(self, Network network, size_t agents, uint64_t first_step, size_t rows, cnp.ndarray raw_action,
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
        """The address of the call."""
        return <uintptr_t>&self.call

    def choose(self, cnp.ndarray obs, cnp.ndarray mask, cnp.ndarray actions, int64_t step, size_t count):
        """Chooses for C-contiguous observations of `count` environments; without actions only their values."""
        cdef const void* source = cnp.PyArray_DATA(obs)
        cdef const uint8_t* legal = mask_of(mask)
        cdef void* target = NULL
        cdef int failed
        if actions is not None:
            target = cnp.PyArray_DATA(actions)
        with nogil:
            failed = self.call.choose(source, legal, target, step, 0, count)
        if failed:
            raise MemoryError("MLP")


@cython.final
cdef class RandomCall:
    """A call of a policy that draws legal actions: in a rollout, or for given masks.

    Args:
        seed: Seed of the draws.
        agents: Rows of an environment.
        num_actions: Number of actions. first_step: The random numbers that the first step uses.
    """
    cdef CRandomCall call

    def __cinit__(self, uint64_t seed, size_t agents, size_t num_actions, uint64_t first_step):
        self.call.seed, self.call.first_step = seed, first_step
        self.call.agents, self.call.num_actions = agents, num_actions

    @property
    def address(self):
        """The address of the call."""
        return <uintptr_t>&self.call

    def choose(self, cnp.ndarray mask, cnp.ndarray actions, int64_t step, size_t count):
        """Writes C-contiguous actions of `count` environments; `mask` is None if all are legal."""
        self.call.choose(mask_of(mask), <int64_t*>cnp.PyArray_DATA(actions), step, 0, count)
