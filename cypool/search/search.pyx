# distutils: extra_compile_args = -O3
"""The simulations of a tree search, as environments of a pool: a step is a round of simulations of a tree."""
cimport cython
from cpython.ref cimport PyObject
from libc.math cimport INFINITY, NAN, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset
from libcpp cimport bool as cbool
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

cimport numpy as cnp

import marshal
import math

import numpy as np

from cypool.policies.network import POLICY
from cypool.spec import Array, EnvSpec

from cypool.env cimport STEP_ALONE, Env, Rows, Slot, Turn, action_data, info_row
from cypool.policies cimport Decision, PolicyFunction
from cypool.policies.decisions cimport Decisions, ManyPolicy
from cypool.env_methods cimport copy_from_env, legal_env, observe_env, raise_for, step_env, unlikely
from cypool.util.constants cimport ALIGNMENT
from cypool.util.park cimport now_ns
from cypool.random cimport copy_stream, move_stream

cnp.import_array()

cdef extern from "cypool/rng.h" namespace "cypool" nogil:
    uint64_t mixed(uint64_t& number) noexcept

cdef extern from "cypool/util/legal.h" namespace "cypool" nogil:
    size_t count_legal(const uint8_t* mask, size_t num_actions) noexcept
    int64_t nth_legal(const uint8_t* mask, size_t num_actions, size_t n) noexcept

cdef extern from "cypool/slot.h" namespace "cypool" nogil:
    enum: CYPOOL_MOST_PLAYERS

cdef extern from "cypool/engine/gate.h" namespace "cypool" nogil:
    cdef enum GateState:
        GATE_OPEN

    cdef cppclass Gate:
        GateState enter() noexcept
        void open() noexcept

cdef extern from "cypool/util/search_tree.h" namespace "cypool::search" nogil:
    const int32_t NONE

    cdef struct Options:
        int32_t num_actions, num_players
        cbool gumbel, normalize
        double discount, c_init, c_base, unvisited, virtual_loss, noise_weight
        int32_t considered
        double c_visit, c_scale
        int32_t max_nodes

    cdef struct Taken:
        int32_t node, edge

    cdef struct Path:
        vector[Taken] steps
        vector[double] rewards
        int32_t leaf, player
        cbool waits

    cdef struct Node:
        int32_t pending
        float value

    cdef cppclass Tree:
        Tree() except +
        vector[Node] nodes
        void clear() noexcept
        cbool is_expanded(int32_t node) noexcept
        int32_t simulations() noexcept
        int32_t action_of(const Taken& step) noexcept
        void begin(const Options& options, int32_t player, int32_t target, const float* noise) except +
        void expand(const Options& options, int32_t at, const uint8_t* mask, const float* logits) except +
        Taken choose(const Options& options, int32_t at) except +
        int32_t follow(const Options& options, const Taken& step, uint64_t outcome, int32_t player) except +
        void undo(const Path& path) noexcept
        void back_up(const Options& options, const Path& path, double* values) noexcept
        void advance(int64_t action, uint64_t outcome) except +
        void root_statistics(int32_t* visits, double* q) noexcept
        double root_value() noexcept
        void root_policy(const Options& options, float* policy) noexcept
        int32_t best(const Options& options) noexcept

cdef enum:
    BATCH = 32                       # leaves of neighbouring trees that a network has at once, at least
    CALL_NS = 50_000_000             # how long a call of the trees' pool works before Python looks for signals
    BRIEF_STEPS = 1024               # of an environment with brief ones, after which a tree looks at the clock ...
    OTHER_STEPS = 16                 # ... and of others

cdef enum Evaluator:             # whose values a leaf has
    WAIT                         # the caller's, who gets its observation
    CONSTANT                     # 0
    RANDOM_GAMES                 # the mean return of random games
    NETWORK                      # an MLP's, which has logits, too
    FUNCTION                     # a C function's, likewise

EVALUATORS = {"wait": WAIT, "constant": CONSTANT, "rollout": RANDOM_GAMES, "network": NETWORK, "function": FUNCTION}

cdef enum Walk:                  # how a simulation ended
    ENDED                        # at the end of an episode, or with the evaluator's value
    WAITS                        # its leaf waits for a value
    COLLIDED                     # at a leaf that waits already: it has left no trace


cdef size_t whole_lines(size_t nbytes) noexcept nogil:
    """Rounds a number of bytes up to whole cache lines."""
    return (nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


@cython.final
cdef class Search:
    """Options and evaluator of a search, which its trees share.

    Args:
        spec: The environments' spec.
        num_players: Number of players in an environment.
        leaves: Number of leaves of a tree that wait at once.
        options: Fields of `Options`.
        seed: Random seed.
    """
    cdef Options options
    cdef readonly object spec        # of the trees' environments
    cdef readonly int leaves
    cdef readonly int num_values     # that an evaluator has for a leaf
    cdef Gate gate                   # one call at a time
    cdef bint follows                # the next step follows the environments, which have made one
    cdef bint has_answers            # ... has the caller's answers; else it continues the one before
    cdef int64_t deadline            # of a call of the trees' pool, which is continued by the next one
    cdef int steps_per_look          # of an environment, between two looks at the clock
    cdef atomic[int] num_unfinished  # trees that have more to do in this call
    cdef Evaluator evaluator
    cdef int num_games               # random games from a leaf
    cdef int32_t target              # simulations of a root
    cdef size_t turn_bytes           # of a Turn of its players: to zero all takes as long as a step of a small game
    cdef uint64_t num_begun          # searches
    cdef bint has_mask               # whether only some actions are legal
    cdef bint resamples              # whether chance is drawn again in each simulation
    cdef uint64_t seed
    cdef const float* noise          # of the first root, or NULL
    cdef ManyPolicy network          # writes logits as actions, and values here
    cdef const float* values         # of the first tree's leaves
    cdef PolicyFunction function     # writes logits, and values behind them, as an action
    cdef const void* parameters      # of the network or of the function
    cdef object owners               # of what these point to
    cdef vector[size_t] obs_bytes, info_bytes  # of a leaf, in each array
    cdef int together                # trees whose leaves the network has at once
    cdef vector[PyObject*] trees     # borrowed; index: the environment's number

    def __init__(self, spec, int num_players, int leaves, dict options, uint64_t seed):
        described = [part for _, part in spec.observations]
        self.options = Options(
            num_actions=spec.action.n, num_players=num_players, gumbel=options["gumbel"],
            normalize=options["normalize"], discount=options["discount"], c_init=options["c_init"],
            c_base=options["c_base"], unvisited=options["unvisited"], virtual_loss=options["virtual_loss"],
            noise_weight=options["noise_weight"], considered=options["considered"], c_visit=options["c_visit"],
            c_scale=options["c_scale"], max_nodes=options["max_nodes"])
        self.leaves, self.seed = leaves, seed
        self.turn_bytes = sizeof(Turn) - (CYPOOL_MOST_PLAYERS - num_players) * sizeof(double)
        self.resamples, self.has_mask = options["resamples"], spec.illegal is not None
        self.steps_per_look = BRIEF_STEPS if spec.brief_steps else OTHER_STEPS
        self.gate.open()
        self.num_values = num_players if num_players > 2 else 1
        self.together = max(BATCH // leaves, 1)
        for part in described:
            self.obs_bytes.push_back(part.dtype.itemsize * math.prod(part.shape))
        for part in spec.info.values():
            self.info_bytes.push_back(part.dtype.itemsize * math.prod(part.shape))

        def of_leaves(part):
            return Array((leaves, *part.shape), part.dtype)

        info = {"num_leaves": Array((), np.int32), "player": Array((leaves,), np.int32)}
        info.update({f"leaf/{name}": of_leaves(part) for name, part in spec.info.items()})
        self.spec = EnvSpec(
            observation={str(k): of_leaves(part) for k, part in enumerate(described)}, info=info,
            action=Array((leaves * (spec.action.n + self.num_values),), np.float32))

    def acquire(self):
        """Begins a call of the search."""
        if self.gate.enter() != GATE_OPEN:
            raise RuntimeError("another call is using the search: use the search from one thread at a time, and "
                               "not from its own evaluator")

    def release(self):
        """Ends the call."""
        self.gate.open()

    def begin_step(self, bint follows=False, bint has_answers=False):
        """Prepares each step of the trees.

        Args:
            follows: Whether they follow the environments, by the actions that `TreeEnv.prepare` has.
            has_answers: Whether leaves get the caller's values.
        """
        self.follows, self.has_answers, self.deadline = follows, has_answers, now_ns() + CALL_NS
        self.num_unfinished.store(0)

    @property
    def is_finished(self):
        """Whether the trees have finished in their last step; otherwise another one continues it."""
        return self.num_unfinished.load() == 0

    def begin(self, int32_t target, evaluator, int num_games, cnp.ndarray noise=None, given=None,
              cnp.ndarray values=None):
        """Prepares a search; the trees begin it with their next step.

        Args:
            evaluator: A key of `EVALUATORS`.
            noise: float32, (trees, actions).
            given: `cypool.policies.network.Call` of a network, or a `cypool.Policy`, a C function.
            values: float32, (trees, leaves): where the network writes values.
        """
        self.target, self.evaluator, self.num_games = target, EVALUATORS[evaluator], num_games
        self.owners = noise, given, values
        if self.evaluator == NETWORK:
            self.network = <ManyPolicy><uintptr_t>POLICY
            self.parameters = <const void*><uintptr_t>given.address
            self.values = <const float*>cnp.PyArray_DATA(values)
        elif self.evaluator == FUNCTION:
            self.function = <PolicyFunction><uintptr_t>given._address
            self.parameters = <const void*><uintptr_t>given._parameters_address
        self.noise = NULL
        if noise is not None:
            self.noise = <const float*>cnp.PyArray_DATA(noise)
        self.seed += 1
        self.num_begun += 1


cdef int copy_position(PyObject* target, PyObject* source) except -1 nogil:
    """Makes an environment a copy of another, including its stream; the statistics of its episode do not change."""
    copy_from_env(target, source)
    if (<Env>target).rng != NULL and not copy_stream((<Env>target).rng, (<Env>source).rng):
        with gil:
            (<Env>target)._bit_generator.state = (<Env>source)._bit_generator.state
    (<Env>target).elapsed_step = (<Env>source).elapsed_step
    (<Env>target).needs_reset = (<Env>source).needs_reset
    return 0


cdef object digest_of(Env env, bint with_stream):
    """Returns a number that identifies a position; None for an environment that cannot be saved.

    Args:
        with_stream: Whether positions with different future chance differ.
    """
    stream = env._bit_generator.state if with_stream and env._bit_generator is not None else None
    try:
        own = env.save()
        if stream is None and type(own) is tuple and len(<tuple>own) == 1 and type((<tuple>own)[0]) is bytes:
            # as of most games, whose searches may take as long as ten of the others
            return hash((<tuple>own)[0]) + env.elapsed_step
        # a state may be of a subclass of tuple; the format of version 2 depends on values alone
        return hash(marshal.dumps((tuple(own) if isinstance(own, tuple) else own, env.elapsed_step, stream), 2))
    except (NotImplementedError, ValueError):
        return None


cdef class TreeEnv(Env)

ctypedef int (*Offer)(TreeEnv tree, const Slot* leaf, TreeEnv first) noexcept nogil
ctypedef int (*Take)(TreeEnv tree, const float* logits, const float* values) noexcept nogil


@cython.final
cdef class TreeEnv(Env):
    """The tree of an environment.

    Its first step in a search copies the environment. Each later one takes the values of the waiting leaves, and walks
    down the tree until as many leaves as possible wait again. The observation is that of the leaves. A search begins
    with a step, because a step is a single call, and Ctrl-C leaves nothing of it in flight. A long step ends early,
    wherever the tree is, and the next one continues.

    Args:
        spec: `search.spec`.
        env_id: The environment's number.
        search: What all trees share.
        source: The environment.
        copies: Environments that become copies of it: one for the root, and one for each leaf.
    """
    cdef Search search
    cdef Env source, root
    cdef list owner                  # of the references that walkers borrows
    cdef vector[PyObject*] walkers   # for each leaf that waits: the environment there
    cdef vector[Path] paths
    cdef Tree tree
    cdef vector[uint8_t] mask
    cdef vector[void*] leaf_columns
    cdef vector[double] scratch      # observations of leaves, for a network
    cdef vector[float] logits, values  # of leaves
    cdef vector[float] answer        # of a function: those of a leaf
    cdef uint64_t num_walks
    cdef int num_waiting
    cdef bint has_selected           # as many leaves wait as can
    cdef int steps_left              # of the environment, until the next look at the clock
    # the random games from a leaf
    cdef bint is_playing             # they are not over
    cdef bint is_in_game
    cdef int game                    # which of them
    cdef uint64_t game_stream
    cdef double game_factor          # of the next reward
    cdef double[CYPOOL_MOST_PLAYERS] game_values  # of those so far, for each player
    # the environment has made a step
    cdef int64_t taken               # its action
    cdef object position             # the digest of where it is, or None
    cdef bint is_behind              # the tree has followed to the end of an episode, or not at all
    cdef uint64_t num_begun          # searches, of those of `search`
    cdef object failure              # what a step with other trees raised in this one; None: nothing
    cdef bint has_failed             # there is such a thing
    cdef bint keeps_tree             # its root was advanced to where the environment is, or was then

    def __init__(self, spec, int env_id, Search search, Env source, list copies):
        cdef Env walker
        for walker in copies:
            # they are cast to its type
            if type(walker) is not type(source) or walker.spec.saved_options != source.spec.saved_options:
                raise TypeError(f"env: expected exact copies, got {walker} as a copy of {source}")
        self.search, self.source = search, source
        self.root, self.owner = copies[0], copies[1:]
        for walker in self.owner:
            self.walkers.push_back(<PyObject*>walker)
        self.paths.resize(self.search.leaves)
        self.mask.assign(self.search.options.num_actions, 1)
        self.leaf_columns.resize(self.search.obs_bytes.size() + self.search.info_bytes.size())
        self.answer.resize(search.options.num_actions + search.num_values)

    cdef bint prepare_pool(self, list envs) except -1:
        cdef TreeEnv tree
        # others gain nothing
        if self.search.evaluator != NETWORK:
            return False
        self.search.trees.clear()
        for tree in envs:
            self.search.trees.push_back(<PyObject*>tree)
        return True

    cdef size_t place_leaf(self, Slot* leaf) noexcept nogil:
        """Lets an evaluator find the first leaf at the start of `scratch`; returns the bytes that it needs there."""
        cdef size_t num_obs = self.search.obs_bytes.size(), column, used = 0
        # a function has one leaf at a time
        cdef size_t rows = self.search.leaves * self.search.together if self.search.evaluator == NETWORK else 1
        for column in range(self.leaf_columns.size()):
            self.leaf_columns[column] = <char*>self.scratch.data() + used
            used += whole_lines(rows * self.search.obs_bytes[column] if column < num_obs
                                else self.search.info_bytes[column - num_obs])
        leaf.obs, leaf.info = self.leaf_columns.data(), self.leaf_columns.data() + num_obs
        return used

    cdef int make_room(self) except -1 nogil:
        """Allocates memory for the leaves that an evaluator gets at once, with this tree's first."""
        cdef Slot leaf
        cdef size_t used = self.place_leaf(&leaf), rows = self.search.leaves * self.search.together
        if self.scratch.size() * sizeof(double) < used:
            self.scratch.resize(used // sizeof(double))
            self.logits.resize(rows * self.search.options.num_actions)
            self.values.resize(self.search.leaves * self.search.num_values)
        return 0

    cdef int reset(self) except -1 nogil:
        cdef Turn turn
        cdef const float* noise = self.search.noise
        cdef int32_t target = self.search.target
        self.stop()
        if self.search.follows:
            # its last search has failed
            self.tree.clear()
            return 0
        if self.num_begun == self.search.num_begun:
            # this search has failed, and others continue
            self.root.needs_reset = True
            return 0
        self.num_begun = self.search.num_begun
        copy_position(<PyObject*>self.root, <PyObject*>self.source)
        memset(&turn, 0, sizeof(turn))
        self.root.turn(&turn)
        if self.root.needs_reset:
            # the episode is over
            target, turn.player, self.keeps_tree = 0, 0, False
        if noise != NULL:
            noise += <size_t>self.env_id * self.search.options.num_actions
        if not self.keeps_tree:
            self.tree.clear()
        self.keeps_tree = False
        self.num_walks = 0
        self.has_failed = False
        self.check_player(&turn)
        self.tree.begin(self.search.options, turn.player, target, noise)
        if target > 0:
            if self.search.evaluator == WAIT:
                return self.select()
            self.search.num_unfinished.fetch_add(1)
        return 0

    cdef void stop(self) noexcept nogil:
        """Discards waiting leaves and random games."""
        self.num_waiting = 0
        self.has_selected = self.is_playing = False

    cdef int step(self, const void* action) except -1 nogil:
        cdef const float* answer
        cdef PyObject* tree = <PyObject*>self
        if self.search.follows:
            return self.follow()
        if self.num_begun != self.search.num_begun:
            return self.reset()
        if self.root.needs_reset:
            return 0
        self.begin_looks()
        if self.search.evaluator == WAIT:
            if self.search.has_answers:
                answer = action_data[float](action)
                self.take(answer, answer + <size_t>self.search.leaves * self.search.options.num_actions)
            return self.select()
        if self.search.evaluator in (NETWORK, FUNCTION):
            if not self.has_failed:
                self.make_room()
                self.grow_together(&tree, 1)
            return self.raise_failure()
        while self.is_playing or not self.is_done():
            if (self.is_playing or self.walk(0) == WAITS) and not self.evaluate() or self.is_late(
                    1 + <int>self.paths[0].steps.size()):
                self.search.num_unfinished.fetch_add(1)
                break
        return 0

    cdef void begin_looks(self) noexcept nogil:
        """Looks at the clock at once if steps are long, or the call has already taken long."""
        if self.search.steps_per_look != BRIEF_STEPS or self.search.num_unfinished.load() > 0:
            self.steps_left = 1

    cdef bint is_late(self, int num_steps) noexcept nogil:
        """Returns whether the call has taken long enough, after a number of steps of the environment."""
        self.steps_left -= num_steps
        if self.steps_left > 0:
            return False
        self.steps_left = self.search.steps_per_look
        return now_ns() >= self.search.deadline

    cdef int step_many(self, const Rows* rows) except -1 nogil:
        cdef PyObject** trees = self.search.trees.data() + rows.ids[0]
        cdef PyObject* tree
        cdef int k = 0, count = <int>rows.count
        if self.search.follows:
            for k in range(count):
                rows.terminated[k] = STEP_ALONE
            return 0
        while k < count:
            (<TreeEnv>trees[k]).make_room()
            k += self.search.together
        k = 0
        while k < count:
            (<TreeEnv>trees[k]).grow_together(trees + k, min(self.search.together, count - k))
            k += self.search.together
        for k in range(count):
            tree = trees[k]
            (<int32_t*>rows.info[0])[k] = 0
            rows.reward[k] = 0
            # in a step alone it begins the search, or raises
            rows.terminated[k] = STEP_ALONE if (
                (<TreeEnv>tree).has_failed or (<TreeEnv>tree).num_begun != self.search.num_begun) else 0
        return 0

    cdef void grow_together(self, PyObject** trees, int count) noexcept nogil:
        """Grows neighbouring trees, beginning with this one: a network gets the leaves of all at once.

        A tree that fails keeps its exception.
        """
        cdef size_t actions = self.search.options.num_actions, first = <size_t>self.env_id * self.search.leaves, row
        cdef const float* values = self.values.data()
        cdef void* place
        cdef PyObject* tree
        cdef Decisions decisions
        cdef Slot leaf
        cdef int k, num_rows
        cdef bint is_late = False
        memset(&decisions, 0, sizeof(decisions))
        decisions.obs, decisions.actions = self.scratch.data(), self.logits.data()
        decisions.parameters, decisions.env_id = self.search.parameters, <uint32_t>first
        if self.search.evaluator == NETWORK:
            values = self.search.values + first
        for k in range(count):
            (<TreeEnv>trees[k]).begin_looks()
        while True:
            self.place_leaf(&leaf)
            decisions.count = 0
            for k in range(count):
                tree = trees[k]
                if not (<TreeEnv>tree).is_growing():
                    continue
                place = self.leaf_columns[0]
                if unlikely((<Offer>(<TreeEnv>tree).offer)(<TreeEnv>tree, &leaf, self) != 0):
                    keep_failure(tree)
                    self.leaf_columns[0] = place
                else:
                    decisions.count += (<TreeEnv>tree).num_waiting
                    is_late |= not (<TreeEnv>tree).has_selected
            if is_late or decisions.count == 0:
                break
            if self.search.evaluator == NETWORK and self.search.network(&decisions) != 0:
                fail_together(trees, count)
                break
            row = 0
            for k in range(count):
                tree = trees[k]
                num_rows = (<TreeEnv>tree).num_waiting if (<TreeEnv>tree).is_growing() else 0
                if num_rows > 0 and unlikely((<Take>(<TreeEnv>tree).take)(
                        <TreeEnv>tree, &self.logits[row * actions], values + row * self.search.num_values) != 0):
                    keep_failure(tree)
                row += num_rows
            # a network may take longer than all steps
            if now_ns() >= self.search.deadline:
                is_late = True
                break
        if is_late:
            self.search.num_unfinished.fetch_add(1)

    cdef bint is_growing(self) noexcept nogil:
        return not (self.needs_reset or self.root.needs_reset or self.has_failed
                    or self.num_begun != self.search.num_begun)

    cdef int raise_failure(self) except -1 nogil:
        """Raises the exception that a step with other trees has stored."""
        if unlikely(self.has_failed):
            with gil:
                self.has_failed = False
                failure, self.failure = self.failure, None
                raise failure
        return 0

    cdef int offer(self, const Slot* leaf, TreeEnv first) except -1 nogil:
        """Walks down the tree until enough leaves wait, and shows them to the evaluator.

        Args:
            leaf: Where a network finds the next leaf; a function finds all there, and answers at once.
            first: The tree that has the rows of neighbouring ones.
        """
        cdef int k, failed
        self.select()
        if not self.has_selected:
            return 0
        for k in range(self.num_waiting):
            observe_env(self.walkers[k], leaf)
            if self.search.evaluator == NETWORK:
                first.leaf_columns[0] = <char*>first.leaf_columns[0] + self.search.obs_bytes[0]
                continue
            failed = self.call_function(k, leaf)
            if failed != 0:
                with gil:
                    raise RuntimeError(f"evaluate: the C function returned {failed}")
        return 0

    cdef bint is_done(self) noexcept nogil:
        return (self.tree.nodes.size() > 0 and self.tree.is_expanded(0)
                and self.tree.simulations() >= self.search.target)

    cdef int select(self) except -1 nogil:
        """Walks down the tree until enough leaves wait, or the call has taken long enough."""
        cdef Walk end
        while not self.has_selected and self.num_waiting < self.search.leaves and not self.is_done():
            if self.num_waiting > 0 and not self.tree.is_expanded(0):
                # the root itself waits
                break
            end = <Walk>self.walk(self.num_waiting)
            if end == COLLIDED:
                break
            if end == WAITS:
                self.num_waiting += 1
            if self.is_late(1 + <int>self.paths[self.num_waiting - (end == WAITS)].steps.size()):
                self.search.num_unfinished.fetch_add(1)
                return 0
        self.has_selected = True
        return 0

    cdef int walk(self, int k) except -1 nogil:
        """Runs a simulation with the k-th walker; returns a `Walk`."""
        cdef PyObject* env = self.walkers[k]
        cdef Path* path = &self.paths[k]
        cdef Taken taken
        cdef Turn turn
        cdef int64_t action
        cdef int32_t at = 0, player
        cdef double[CYPOOL_MOST_PLAYERS] values
        copy_position(env, <PyObject*>self.root)
        if self.search.resamples and (<Env>env).rng != NULL:
            move_stream((<Env>env).rng, self.place_of_walk())
        self.num_walks += 1
        path.steps.clear()
        path.rewards.clear()
        path.waits = False
        memset(&turn, 0, sizeof(turn))
        (<Env>env).turn(&turn)
        (<Env>env).truncated = False
        while at != NONE and self.tree.is_expanded(at):
            taken = self.tree.choose(self.search.options, at)
            path.steps.push_back(taken)
            action = self.tree.action_of(taken)
            (<Env>env).reward = 0
            (<Env>env).terminated = (<Env>env).truncated = False
            (<Env>env).raw_reward = NAN
            (<Env>env).elapsed_step = (<Env>env).elapsed_step + 1
            step_env(env, &action)
            memset(&turn, 0, self.search.turn_bytes)
            (<Env>env).turn(&turn)
            for player in range(self.search.options.num_players):
                path.rewards.push_back(turn.reward[player])
            if (<Env>env).terminated:
                path.leaf = NONE
                memset(values, 0, sizeof(values))
                self.tree.back_up(self.search.options, path[0], values)
                return ENDED
            self.check_player(&turn)
            if self.is_cut(env):
                # it has a value, but no actions
                at = NONE
            else:
                at = self.tree.follow(self.search.options, taken, turn.outcome, turn.player)
        if at != NONE and self.tree.nodes[at].pending > 0:
            self.tree.undo(path[0])
            self.num_walks -= 1
            return COLLIDED
        path.leaf, path.player, path.waits = at, turn.player, True
        if at != NONE:
            self.tree.nodes[at].pending += 1
        return WAITS

    cdef int check_player(self, const Turn* turn) except -1 nogil:
        if turn.num_players != self.search.options.num_players or not (
                0 <= turn.player < turn.num_players):
            with gil:
                raise ValueError(f"turn: expected one of {self.search.options.num_players} players, "
                                 f"got player {turn.player} of {turn.num_players}")
        return 0

    cdef size_t write_legal(self, PyObject* env) except 0 nogil:
        """Writes the mask of legal actions, unless all are legal; returns their number."""
        cdef size_t count
        if self.search.has_mask:
            legal_env(env, self.mask.data())
        count = count_legal(self.mask.data(), self.mask.size())
        if count == 0:
            with gil:
                raise ValueError("legal: expected at least one legal action until the episode is over, got none")
        return count

    cdef int expand(self, int k, const float* logits, const float* values) except -1 nogil:
        """Adds a simulation with the evaluator's answer.

        Args:
            values: The value for the player to move; for each player, if there are more than two.
        """
        cdef const Options* options = &self.search.options
        cdef Path* path = &self.paths[k]
        cdef double[CYPOOL_MOST_PLAYERS] by_player
        cdef int32_t player
        cdef size_t number
        for number in range(<size_t>self.search.num_values):
            if unlikely(not isfinite(values[number])):
                with gil:
                    raise ValueError(f"evaluate: expected finite values, got {values[number]}")
        memset(by_player, 0, sizeof(by_player))
        for player in range(options.num_players):
            if self.search.num_values > 1:
                by_player[player] = values[player]
            else:
                by_player[player] = values[0] if player == path.player else -values[0]
        if path.leaf != NONE:
            self.tree.nodes[path.leaf].value = <float>by_player[path.player]
            self.write_legal(self.walkers[k])
            for number in range(self.mask.size()):
                if unlikely(self.mask[number] and not logits[number] < INFINITY):
                    with gil:
                        raise ValueError("evaluate: expected logits of legal actions to be finite or -inf, got "
                                         f"{logits[number]}")
            self.tree.expand(options[0], path.leaf, self.mask.data(), logits)
        self.tree.back_up(options[0], path[0], by_player)
        return 0

    cdef int take(self, const float* logits, const float* values) except -1 nogil:
        """Adds the simulations of the leaves that wait, with rows of an evaluator's answer."""
        cdef int k
        for k in range(self.num_waiting):
            self.expand(k, logits + <size_t>k * self.search.options.num_actions, values + k * self.search.num_values)
        self.num_waiting, self.has_selected = 0, False
        return 0

    cdef bint evaluate(self) except -1 nogil:
        """Lets the search's evaluator value the leaf of the first walker; returns whether it has."""
        cdef const Options* options = &self.search.options
        cdef Path* path = &self.paths[0]
        if not self.is_playing:
            memset(self.game_values, 0, sizeof(self.game_values))
            if path.leaf != NONE:
                self.write_legal(self.walkers[0])
                self.tree.expand(options[0], path.leaf, self.mask.data(), NULL)
            if self.search.evaluator == RANDOM_GAMES and not self.is_cut(self.walkers[0]):
                self.is_playing, self.is_in_game, self.game = True, False, 0
                self.game_stream = self.place_of_walk()
        if self.is_playing and not self.play_random():
            return False
        self.is_playing = False
        if path.leaf != NONE:
            self.tree.nodes[path.leaf].value = <float>self.game_values[path.player]
        self.tree.back_up(options[0], path[0], self.game_values)
        return True

    cdef bint is_cut(self, PyObject* env) noexcept nogil:
        """Returns whether an episode was truncated in its last step."""
        return (<Env>env).truncated or (<Env>env).elapsed_step >= (<Env>env).max_episode_steps

    cdef uint64_t place_of_walk(self) noexcept nogil:
        """Returns where a stream of random numbers begins."""
        return (self.search.seed * 1_000_003 + <uint64_t>self.env_id) * 1_000_003 + self.num_walks

    cdef int call_function(self, int k, const Slot* leaf) noexcept nogil:
        """Calls the C function for a leaf; returns what it returns."""
        cdef size_t actions = self.search.options.num_actions, num_values = self.search.num_values
        cdef Decision decision
        cdef int failed
        memset(&decision, 0, sizeof(decision))
        memset(self.answer.data(), 0, self.answer.size() * sizeof(float))
        decision.obs, decision.info = <const void**>leaf.obs, <const void**>leaf.info
        decision.action, decision.parameters = self.answer.data(), self.search.parameters
        decision.env_id, decision.elapsed_step = self.env_id, <int32_t>(<Env>self.walkers[k]).elapsed_step
        failed = self.search.function(&decision)
        memcpy(&self.logits[k * actions], self.answer.data(), actions * sizeof(float))
        memcpy(&self.values[k * num_values], self.answer.data() + actions, num_values * sizeof(float))
        return failed

    cdef bint play_random(self) except -1 nogil:
        """Plays random games from the leaf of the first walker; returns whether all are over.

        Their mean returns are in `game_values`. If the call has taken long enough, the next one continues.
        """
        cdef PyObject* env
        cdef uint64_t number = self.game_stream
        cdef Turn turn
        cdef int64_t action
        cdef int player
        memset(&turn, 0, sizeof(turn))
        while self.game < self.search.num_games:
            # nothing needs the leaf after the last one
            env = self.walkers[1 if self.game + 1 < self.search.num_games else 0]
            if not self.is_in_game:
                if env != self.walkers[0]:
                    copy_position(env, self.walkers[0])
                if self.game > 0 and self.search.resamples and (<Env>env).rng != NULL:
                    move_stream((<Env>env).rng, mixed(number))
                self.is_in_game, self.game_factor = True, 1
            while self.is_in_game:
                action = nth_legal(self.mask.data(), self.mask.size(),
                                   (mixed(number) >> 32) * self.write_legal(env) >> 32)
                (<Env>env).reward = 0
                (<Env>env).terminated = (<Env>env).truncated = False
                (<Env>env).elapsed_step = (<Env>env).elapsed_step + 1
                step_env(env, &action)
                memset(&turn, 0, self.search.turn_bytes)
                (<Env>env).turn(&turn)
                for player in range(self.search.options.num_players):
                    if turn.reward[player] != 0:
                        self.game_values[player] += self.game_factor * turn.reward[player] / self.search.num_games
                self.game_factor *= self.search.options.discount
                if (<Env>env).terminated or self.is_cut(env):
                    self.is_in_game = False
                    self.game += 1
                if self.is_late(1):
                    self.game_stream = number
                    return self.game == self.search.num_games
        return True

    cdef int observe(self, const Slot* out) except -1 nogil:
        cdef size_t num_obs = self.search.obs_bytes.size(), column
        cdef Slot leaf
        cdef int k
        info_row[int32_t](out, 0)[0] = self.num_waiting
        leaf.obs, leaf.info = self.leaf_columns.data(), self.leaf_columns.data() + num_obs
        for k in range(self.num_waiting):
            info_row[int32_t](out, 1)[k] = self.paths[k].player
            for column in range(num_obs):
                self.leaf_columns[column] = <char*>out.obs[column] + k * self.search.obs_bytes[column]
            for column in range(self.search.info_bytes.size()):
                # behind those of the tree
                self.leaf_columns[num_obs + column] = <char*>out.info[2 + column] + k * self.search.info_bytes[column]
            observe_env(self.walkers[k], &leaf)
        return 0

    # ---- the environment makes a step

    def prepare(self, int64_t action):
        """Stores the action of the environment's step and its new position, for `follow`."""
        self.keeps_tree, self.is_behind = False, True
        if (self.source.needs_reset or self.root.needs_reset or self.source.elapsed_step == 0
                or self.source.elapsed_step < self.root.elapsed_step):
            # another episode
            self.tree.clear()
        if self.tree.nodes.size() > 0:
            self.taken, self.position = action, digest_of(self.source, not self.search.resamples)
            if self.position is None:
                self.tree.clear()

    cdef int follow(self) except -1 nogil:
        """Lets the root take the same step, and keeps the part of the tree below it."""
        cdef Turn turn
        cdef PyObject* env = self.walkers[0]
        self.stop()
        if self.root.needs_reset:
            # the environment has begun another episode, or the search has failed
            self.tree.clear()
        if self.tree.nodes.size() == 0:
            return 0
        copy_position(env, <PyObject*>self.root)
        self.write_legal(env)
        if not self.mask[self.taken]:
            return 0
        (<Env>env).reward = 0
        (<Env>env).terminated = (<Env>env).truncated = False
        (<Env>env).elapsed_step = (<Env>env).elapsed_step + 1
        step_env(env, &self.taken)
        if (<Env>env).terminated or self.is_cut(env):
            # the environment has begun another episode
            self.tree.clear()
            return 0
        memset(&turn, 0, sizeof(turn))
        (<Env>env).turn(&turn)
        copy_position(<PyObject*>self.root, env)
        self.tree.advance(self.taken, turn.outcome)
        self.is_behind = False
        return 0

    def settle(self):
        """Completes `prepare` and `follow`; returns False if the root is not at the environment's position."""
        if self.tree.nodes.size() == 0 and self.is_behind:
            return True
        self.keeps_tree = not self.is_behind and (
            digest_of(self.root, not self.search.resamples) == self.position)
        if not self.keeps_tree:
            self.tree.clear()
        return self.keeps_tree

    def drop(self):
        """Makes the next search begin with an empty tree."""
        self.tree.clear()
        self.keeps_tree = False

    def check_position(self):
        """Drops a tree that was advanced, if its environment is now at another position."""
        if self.keeps_tree and digest_of(self.source, not self.search.resamples) != self.position:
            self.drop()

    def write_result(self, cnp.ndarray visits, cnp.ndarray q, cnp.ndarray policy):
        """Writes the statistics of the root to rows; returns its value and the action that the search recommends."""
        self.tree.root_statistics(<int32_t*>cnp.PyArray_DATA(visits), <double*>cnp.PyArray_DATA(q))
        if self.search.options.gumbel:
            self.tree.root_policy(self.search.options, <float*>cnp.PyArray_DATA(policy))
        return self.tree.root_value(), self.tree.best(self.search.options)

    @property
    def num_nodes(self):
        """Number of nodes of the tree."""
        return self.tree.nodes.size()


cdef void keep_failure(PyObject* tree) noexcept with gil:
    """Stores the exception of a method that was called as if it could not raise."""
    try:
        raise_for("search", "0", -1)
    except BaseException as error:
        (<TreeEnv>tree).failure, (<TreeEnv>tree).has_failed = error, True


cdef void fail_together(PyObject** trees, int count) noexcept with gil:
    """Makes all trees fail that wait for a network without memory."""
    cdef int k
    for k in range(count):
        if (<TreeEnv>trees[k]).is_growing() and (<TreeEnv>trees[k]).num_waiting > 0:
            (<TreeEnv>trees[k]).failure, (<TreeEnv>trees[k]).has_failed = MemoryError("evaluate"), True


def num_players_of(Env env):
    """Returns the number of players of an environment."""
    cdef Turn turn
    memset(&turn, 0, sizeof(turn))
    env.turn(&turn)
    return turn.num_players


def redraws_chance(Env env):
    """Returns whether a search can draw the chance of an environment again."""
    return not env.spec.has_own_chance and (env.rng == NULL or move_stream(env.rng, 0))
