"""Monte-Carlo tree search for all environments of a pool, on the pool's threads."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Literal, NamedTuple, NoReturn, ParamSpec, Self, TypeVar

import numpy as np

from cypool.api.base import VectorAPI
from cypool.arguments.env_ids import ids_of
from cypool.errors import EnvError
from cypool.policies import Policy, policy_of
from cypool.policies.mlp import MLP
from cypool.search.search import Search, TreeEnv, num_players_of, redraws_chance
from cypool.spec import Discrete
from cypool.util.arguments import check_array, check_bool, check_choice, check_float, check_int, check_list, shown
from cypool.util.fixed import fixed
from cypool.util.lock_guard import LockGuard

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from cypool.spec import EnvSpec

MOST_ACTIONS, MOST_NODES, MOST_GAMES = 2**16, 2**31 - 1, 10**6

P = ParamSpec("P")
R = TypeVar("R")


def _alone(method: Callable[Concatenate[TreeSearch, P], R]) -> Callable[Concatenate[TreeSearch, P], R]:
    """Makes calls of a method and of others like it exclusive."""
    @functools.wraps(method)
    def call(self: TreeSearch, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with LockGuard(self._search):
            return method(self, *args, **kwargs)
    return call


class Leaves(NamedTuple):
    """Positions waiting for policies and values.

    Attributes:
        obs: (n, ...): observations in the environment's format, or a dict or tuple of such arrays.
        action_mask: int8, (n, actions): 1 for legal actions; None if all are legal.
        player: int32, (n,): the player to move; 0 with a single player.
        env_id: int32, (n,): the environment of the tree.
    """

    obs: Any
    action_mask: NDArray[np.int8] | None
    player: NDArray[np.int32]
    env_id: NDArray[np.int32]


class TreeResult(NamedTuple):
    """The result of a search, with a row for each environment; zeros if its episode is over.

    Attributes:
        visits: int32, (N, actions): simulations that began with the action.
        q: float64, (N, actions): mean return of the action for the player to move; NaN without visits.
        policy: float32, (N, actions): visits as fractions; with Gumbel, the improved policy.
        value: float64, (N,): mean return for the player to move.
        action: int64, (N,): the most visited action; with Gumbel, the winner of sequential halving.
    """

    visits: NDArray[np.int32]
    q: NDArray[np.float64]
    policy: NDArray[np.float32]
    value: NDArray[np.float64]
    action: NDArray[np.int64]

    def sample(self, temperature: float = 1.0, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """Draws actions with probabilities proportional to visits ** (1 / temperature).

        Args:
            temperature: At least 0; with 0 the result is `action`.
            rng: By default, a new generator.

        Returns:
            int64, (N,).
        """
        temperature = check_float("temperature", temperature, 0, 1e6)
        if rng is not None and not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng: expected a numpy.random.Generator or None, got {shown(rng)}")
        if temperature == 0:
            return self.action.copy()
        with np.errstate(divide="ignore"):
            logits = np.log(self.visits) / temperature
        rng = np.random.default_rng() if rng is None else rng
        drawn = np.where(self.visits > 0, logits + rng.gumbel(size=logits.shape), -np.inf).argmax(axis=1)
        return np.where(self.visits.any(axis=1), drawn, self.action)


class TreeSearch:
    """Monte-Carlo tree search as in AlphaZero, with a tree for the state of each environment of a pool.

    A simulation copies the environment and repeats the actions of its path, so nodes do not hold environments. Tasks
    and Python environments cannot be searched. Trees grow on the pool's threads; the visits do not depend on the
    number of threads.

    Args:
        env: A synchronous pool of cypool's environments with one Discrete action, without Python hooks. The search uses
            copies of its environments, so the pool may be stepped during a search.
        simulations: Number of simulations per tree in a search.
        leaves: Number of a tree's positions that wait for values at the same time. More positions make batches larger,
            but searches slightly worse.
        algorithm: "puct", or "gumbel": sequential halving at the root, and the improved policy below it.
        discount: Discount per step, 0 to 1.
        noise: With PUCT, (alpha, weight) of Dirichlet noise at the roots; with Gumbel, whether to add its noise, True
            or False. By default, no noise.
        seed: Random seed for noise and chance.
        c_init, c_base: Constants of PUCT's exploration.
        unvisited: The value of an unvisited action, or "parent": the mean of its node. For PUCT.
        virtual_loss: A simulation still waiting for its value counts as this loss; 0: as its action's mean. For PUCT.
        normalize: Whether to scale values to [0, 1] by the lowest and highest in the tree; by default, only with a
            single player, whose returns can have any size.
        considered, c_visit, c_scale: For Gumbel: the number of actions at the start of halving, and the scale of
            values.
        chance: "resample": each simulation draws chance events again. "foresee": each sees the events that the
            environment itself will draw, which is cheating. Events from an environment's own stream cannot be redrawn
            (`EnvSpec.has_own_chance`), so "resample" is refused there.
        max_nodes: Maximum number of nodes of a tree.
        allow_hidden: Whether to search environments with hidden information, which the search can see.

    Attributes:
        env, leaves: The arguments; read-only.
        simulations: The argument; may be assigned.

    Raises:
        TypeError, ValueError: An argument is wrong, or the environments are not supported.

    Thread safety: one thread at a time; calls from a second thread or from the evaluator raise RuntimeError.
    """

    env: VectorAPI = fixed()
    leaves: int = fixed()

    def __init__(self, env: VectorAPI, *, simulations: int = 400, leaves: int = 1,
                 algorithm: Literal["puct", "gumbel"] = "puct", discount: float = 1.0, noise: Any = None, seed: int = 0,
                 c_init: float = 1.25, c_base: float = 19652.0, unvisited: float | Literal["parent"] = 0.0,
                 virtual_loss: float = 1.0, normalize: bool | None = None, considered: int = 16, c_visit: float = 50.0,
                 c_scale: float = 1.0, chance: Literal["resample", "foresee"] = "resample",
                 max_nodes: int = 10**7, allow_hidden: bool = False) -> None:
        spec = _searchable(env, check_bool("allow_hidden", allow_hidden))
        self.env, self.leaves = env, check_int("leaves", leaves, 1, 1024)
        self.simulations = check_int("simulations", simulations, 1, MOST_NODES)
        self._is_gumbel = check_choice("algorithm", algorithm, ("puct", "gumbel")) == "gumbel"
        self._noise, weight = self._checked_noise(noise)
        self._seed = check_int("seed", seed, 0, 2**63 - 1)
        resamples = check_choice("chance", chance, ("resample", "foresee")) == "resample"
        # environments of the same kind, for the roots and the leaves, and one for random games
        pools = [env._make_again({**env.recipe, "num_threads": 0, "thread_affinity": None,
                                  "autoreset_mode": "NextStep", "env_type": "gymnasium"})
                 for _ in range(self.leaves + 2)]
        copies = list(zip(*(pool._pool.environments() for pool in pools), strict=True))
        for pool in pools:
            pool.close()
        sources = env._pool.environments()
        if resamples and not all(map(redraws_chance, [own[0] for own in copies])):
            raise ValueError(f"chance: expected 'foresee' for {spec.id} (it draws random events from its own "
                             "stream, so a search cannot redraw them), got 'resample'")
        num_players = num_players_of(sources[0])
        if normalize is None:
            normalize = num_players == 1
        self._search = Search(spec, num_players, self.leaves, {
            "gumbel": self._is_gumbel, "normalize": check_bool("normalize", normalize),
            "discount": check_float("discount", discount, 0, 1), "c_init": check_float("c_init", c_init, 0, 1e6),
            "c_base": check_float("c_base", c_base, 1, 1e12),
            "unvisited": np.nan if isinstance(unvisited, str) and unvisited == "parent" else check_float(
                "unvisited", unvisited, -1e9, 1e9),
            "virtual_loss": check_float("virtual_loss", virtual_loss, 0, 1e9), "noise_weight": weight,
            "considered": check_int("considered", considered, 1, MOST_ACTIONS),
            "c_visit": check_float("c_visit", c_visit, 0, 1e9), "c_scale": check_float("c_scale", c_scale, 0, 1e9),
            "max_nodes": check_int("max_nodes", max_nodes, 1, MOST_NODES),
            "resamples": resamples}, self._seed)
        self._trees = [TreeEnv(self._search.spec, k, self._search, source, list(own))
                       for k, (source, own) in enumerate(zip(sources, copies, strict=True))]
        self._pool: Any = None
        self._together = False
        self._num_begun = 0
        self._answers = np.zeros((env.num_envs, self.leaves * (spec.action.n + self._search.num_values)), np.float32)
        # of the leaves that wait: trees, and numbers in the tree; None: no search is under way
        self._waiting: tuple[NDArray[Any], NDArray[Any]] | None = None
        self._batch: Any = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a TreeSearch cannot be pickled or copied: make a new one from a copy of its pool")

    @_alone
    def run(self, evaluate: Callable[..., Any] | Policy | Literal["constant", "rollout"] = "rollout", *,
            num_games: int = 1) -> TreeResult:
        """Runs a search.

        Args:
            evaluate: A function that is called as `evaluate(obs, action_mask)` with `Leaves.obs` and
                `Leaves.action_mask`, and returns logits and values: see `send`. "rollout": the value of a position is
                the mean return of random games. "constant": the value is 0. A `cypool.MLP` with `value` returns logits
                and values; so does a C function in the form of a policy: it writes the logits to `action`, followed by
                the value, or by one value per player if there are more than two, as float32. These four run entirely on
                the threads.
            num_games: Number of random games per position.

        Returns:
            `TreeResult`.

        Raises:
            TypeError, ValueError: An argument, or a result of the function, is wrong.
            RuntimeError: An environment of the pool is in flight, or was never reset.
            EnvError: An environment, or the C function, fails.
        """
        num_games = check_int("num_games", num_games, 1, MOST_GAMES)
        if isinstance(evaluate, MLP):
            # the network itself, whatever a subclass makes of its outputs
            evaluate.check(self.env.env_spec, self.env.num_envs)
            if self._search.num_values > 1:
                raise ValueError("evaluate: expected a function (an MLP supports at most two players), got an MLP")
            self._begin("network", 1, *evaluate._evaluator(self.env.num_envs * self.leaves))
            return self._finished()
        if not isinstance(evaluate, str):
            evaluate = policy_of(evaluate, "evaluate")
        if isinstance(evaluate, Policy):
            if not evaluate._address or evaluate._state is not None:
                raise TypeError(f"evaluate: expected a C function without a state, got {shown(evaluate)}")
            self._begin("function", 1, evaluate)
            return self._finished()
        if callable(evaluate):
            self._begin("wait", 1)
            try:
                while (leaves := self._recv()) is not None:
                    answer = check_list("evaluate", evaluate(leaves.obs, leaves.action_mask), "a pair (logits, values)")
                    if len(answer) != 2:
                        raise ValueError(f"evaluate: expected a pair (logits, values), got {len(answer)} items")
                    self._send(*answer)
            except BaseException:
                self._waiting = self._batch = None
                raise
            return self._result()
        check_choice("evaluate", evaluate, ("constant", "rollout"))
        self._begin(evaluate, num_games)
        return self._finished()

    def _finished(self) -> TreeResult:
        """Lets the trees grow on their own, and returns their result."""
        while not self._search.is_finished:
            self._step()
        return self._result()

    @_alone
    def begin(self) -> None:
        """Begins a search from the current states of the environments: `recv` returns its first leaves.

        Raises:
            RuntimeError: An environment of the pool is in flight, or was never reset.
            NotImplementedError: The environment cannot be copied.
        """
        self._begin("wait", 1)

    @_alone
    def recv(self) -> Leaves | None:
        """Returns the positions waiting for values; None when the search is over.

        The arrays do not change later.

        Raises:
            RuntimeError: No search is under way.
        """
        return self._recv()

    def _recv(self) -> Leaves | None:
        if self._batch is None:
            raise RuntimeError("recv: expected begin() first, and send() after each recv()")
        while not self._search.is_finished:
            self._step()
        obs, info = self._batch
        counts = info["num_leaves"]
        spec = self.env.env_spec
        shape = counts[:, None] > np.arange(self.leaves)
        trees, numbers = np.nonzero(shape)
        self._waiting = trees, numbers
        if len(trees) == 0:
            return None

        def chosen(array: NDArray[Any]) -> NDArray[Any]:
            if len(trees) == shape.size:
                return array.reshape(len(trees), *array.shape[2:])
            return array[trees, numbers]

        mask = info.get("leaf/action_mask")
        return Leaves(spec.pack([chosen(part) for part in obs.values()]), None if mask is None else chosen(mask),
                      chosen(info["player"]), trees.astype(np.int32))

    @_alone
    def send(self, logits: ArrayLike | None, values: ArrayLike) -> None:
        """Provides policies and values for the positions of the last `recv`, and continues the search.

        Args:
            logits: (n, actions): numbers or -inf; those for illegal actions may be anything. None: all equal.
            values: (n,): the expected return for the player to move. With more than two players, (n, players): each
                player's.

        Raises:
            TypeError, ValueError: A wrong shape or dtype, or NaN; the search is still waiting.
            RuntimeError: No positions are waiting.
        """
        self._send(logits, values)

    def _send(self, logits: ArrayLike | None, values: ArrayLike) -> None:
        if self._waiting is None or len(self._waiting[0]) == 0:
            raise RuntimeError("send: no positions are waiting to be evaluated")
        trees, numbers = self._waiting
        n, actions, each = len(trees), self.env.env_spec.action.n, self._search.num_values
        split = self.leaves * actions
        given = _checked("values", values, (n,) if each == 1 else (n, each))
        if not np.isfinite(given).all():
            raise ValueError(f"values: expected finite numbers, got {given[~np.isfinite(given)][0]}")
        if logits is None:
            self._answers[:, :split] = 0
        else:
            given_logits = _checked("logits", logits, (n, actions))
            wrong = ~(given_logits < np.inf)
            if wrong.any():
                mask = self._batch[1].get("leaf/action_mask")
                wrong &= mask is None or mask[trees, numbers] != 0
                if wrong.any():
                    raise ValueError(f"logits: expected numbers, or -inf, got {given_logits[wrong][0]}")
            self._answers[:, :split].reshape(-1, self.leaves, actions)[trees, numbers] = given_logits
        self._answers[:, split:].reshape(-1, self.leaves, each)[trees, numbers] = given.reshape(n, each)
        self._waiting = self._batch = None
        self._step(True)

    @_alone
    def result(self) -> TreeResult:
        """Returns the statistics of the roots, even before a search has ended.

        Raises:
            RuntimeError: The search is closed.
        """
        self._check_open("result")
        return self._result()

    def _result(self) -> TreeResult:
        num_envs, actions = self.env.num_envs, self.env.env_spec.action.n
        visits, q = np.zeros((num_envs, actions), np.int32), np.full((num_envs, actions), np.nan)
        policy, value = np.zeros((num_envs, actions), np.float32), np.zeros(num_envs)
        action = np.zeros(num_envs, np.int64)
        for k, tree in enumerate(self._trees):
            value[k], action[k] = tree.write_result(visits[k], q[k], policy[k])
        action = np.maximum(action, 0)
        if not self._is_gumbel:
            policy = (visits / np.maximum(visits.sum(axis=1, keepdims=True), 1)).astype(np.float32)
        return TreeResult(visits, q, policy, value, action)

    @_alone
    def advance(self, actions: ArrayLike, env_id: ArrayLike | None = None) -> None:
        """Reuses trees after a step of the pool: the next search begins with the subtree of the chosen action.

        Call it after each step, with the arguments of `step`, or not at all: if an environment is not at the root of
        its tree, the next search begins with an empty tree.

        Args:
            actions: Integers, (N,): the actions of the step. Trees of environments that have begun a new episode are
                dropped.
            env_id: Integers, (k,): the stepped environments; all by default.

        Raises:
            TypeError, ValueError: Wrong arguments; or an action does not lead from the root of a tree to the state of
                its environment: this tree is dropped, and the others have been advanced.
            RuntimeError: An environment of the pool is in flight.
        """
        self._check_rest("advance")
        # copies, as another thread may change what it has given
        ids = self.env.all_env_ids if env_id is None else np.array(ids_of(env_id))
        shape, most = (len(ids),), self.env.env_spec.action.n
        given = check_array("actions", actions, f"integers of shape {shape}")
        if given.shape != shape or given.dtype.kind not in "iu":
            raise ValueError(f"actions: expected integers of shape {shape}, got {given.dtype}, {given.shape}")
        given = given.copy()
        if not ((given >= 0) & (given < most)).all():
            raise ValueError(f"actions: expected 0 to {most - 1}, got {given[(given < 0) | (given >= most)][0]}")
        known = (ids >= 0) & (ids < self.env.num_envs)
        if not known.all() or len(np.unique(ids)) < len(ids):
            raise ValueError(f"env_id: expected distinct ids in [0, {self.env.num_envs}), got {shown(ids.tolist())}")
        self._waiting = self._batch = None
        if self._pool is None or len(ids) == 0:
            # no search has begun, or nothing was stepped
            return
        trees = [self._trees[k] for k in ids]

        def follow(_: Any) -> None:
            for tree, action in zip(trees, given.tolist(), strict=True):
                tree.prepare(action)
            self._search.begin_step(True)
            self._pool.step(self._answers[ids], ids)

        try:
            self.env._pool.call_user(follow, None)
            lost = [k for k, tree in zip(ids.tolist(), trees, strict=True) if not tree.settle()]
        except BaseException:
            for tree in self._trees:
                tree.drop()
            raise
        if lost:
            action = given[np.flatnonzero(ids == lost[0])[0]]
            raise ValueError("actions: expected the actions of the last step, and one call to advance() after each "
                             f"step, got {action} for env {lost[0]}")

    @property
    @_alone
    def num_nodes(self) -> int:
        """Number of nodes of all trees."""
        return sum(tree.num_nodes for tree in self._trees)

    @_alone
    def close(self) -> None:
        """Releases the trees and their environments. A second call does nothing.

        Raises:
            RuntimeError: The search is in a call.
        """
        if self._pool is not None:
            self._pool.close()
        self._pool, self._trees, self._batch, self._waiting = None, [], None, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"TreeSearch({self.env.env_spec.id}, {len(self._trees)} trees of {self.simulations} simulations)"

    def _checked_noise(self, noise: Any) -> tuple[float | None, float]:
        """Returns alpha, or None without noise, and its weight."""
        if self._is_gumbel:
            return (1.0 if noise is not None and check_bool("noise", noise) else None), 0.0
        if noise is None:
            return None, 0.0
        pair = check_list("noise", noise, "a pair (alpha, weight)")
        if len(pair) != 2:
            raise ValueError(f"noise: expected a pair (alpha, weight), got {len(pair)} items")
        return check_float("noise", pair[0], 1e-3, 1e3), check_float("noise", pair[1], 0, 1)

    def _check_open(self, name: str) -> None:
        if not self._trees:
            raise RuntimeError(f"{name}: the search is closed")

    def _check_rest(self, name: str) -> None:
        self._check_open(name)
        pool = self.env._pool
        if pool.num_pending:
            raise RuntimeError(f"{name}: expected no environments in flight, got {pool.num_pending}: call recv() first")
        if pool.num_unstarted:
            raise RuntimeError(f"{name}: expected all environments to have been reset, got {pool.num_unstarted} that "
                               "were never reset: call reset() first")

    def _begin(self, evaluator: str, num_games: int, *given: Any) -> None:
        self._check_rest("begin")
        self._waiting = self._batch = None
        simulations = check_int("simulations", self.simulations, 1, MOST_NODES)
        shape, noise = (self.env.num_envs, self.env.env_spec.action.n), None
        if self._noise is not None:
            # that of an environment does not depend on the number of others
            rng = np.random.default_rng((self._seed, self._num_begun))
            noise = rng.gumbel(size=shape) if self._is_gumbel else rng.standard_gamma(self._noise, shape)
            noise = noise.astype(np.float32)
        self._num_begun += 1
        self._search.begin(simulations, evaluator, num_games, noise, *given)
        # with a network the trees of a thread are stepped together
        if self._pool is not None and self._together != (evaluator == "network"):
            self._pool.close()
            self._pool = None
        if self._pool is None:
            self._pool, self._together = self.env._pool.child_pool(self._trees), evaluator == "network"

        def start(_: Any) -> Any:
            for tree in self._trees:
                tree.check_position()
            self._search.begin_step()
            return self._pool.step(self._answers)

        # until the roots are copied the pool takes no other call
        self._received(self.env._pool.call_user, start, None)

    def _step(self, has_answers: bool = False) -> None:
        self._search.begin_step(False, has_answers)
        self._received(self._pool.step, self._answers)

    def _received(self, call: Callable[..., Any], *args: Any) -> None:
        try:
            obs, _, _, _, info = call(*args)
        except EnvError as error:
            self._batch = None
            failed = self._finish_others(error)
            cause = failed.causes[failed.env_id]
            if isinstance(cause, NotImplementedError):
                raise NotImplementedError(f"search: {cause}") from cause
            raise failed from cause
        except BaseException:
            # the trees are where they are: a new search begins with new ones
            self._batch = None
            raise
        self._batch = obs, info

    def _finish_others(self, error: EnvError) -> EnvError:
        """Finishes the trees that did not fail, which the clock may have cut short; returns the error of all."""
        causes = dict(error.causes)
        while not self._search.is_finished:
            self._search.begin_step()
            try:
                self._pool.step(self._answers)
            except EnvError as later:
                causes.update(later.causes)
        return EnvError(causes, error.batch)


def _searchable(env: VectorAPI, allow_hidden: bool) -> EnvSpec:
    """Returns the spec of a pool that can be searched."""
    if not isinstance(env, VectorAPI):
        raise TypeError(f"env: expected a pool, got {shown(env)}")
    spec = env.env_spec
    if env._pool.is_hosted:
        raise ValueError("env: expected no tasks or Python environments, because they cannot be searched")
    if env.is_async:
        raise ValueError("env: expected a synchronous pool, got an asynchronous one")
    if env._pool.hooks is not None:
        raise ValueError("env: expected a pool without Python hooks, because the environments in a tree have none")
    if spec.agents or spec.num_players > 1 or not isinstance(spec.action, Discrete):
        raise ValueError(f"env: expected environments with one Discrete action, got {spec.action}")
    if spec.options.get("view") == "single":
        raise ValueError("env: expected view='mover' (a tree contains the moves of all players), got 'single'")
    if spec.has_hidden_information and not allow_hidden:
        raise ValueError("env: expected a game without hidden information (which the search would see), or "
                         f"allow_hidden=True, got {spec.id}")
    if spec.action.n > MOST_ACTIONS:
        raise ValueError(f"env: expected at most {MOST_ACTIONS} actions, got {spec.action.n}")
    return spec


def _checked(name: str, given: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Returns the user's numbers as float32."""
    array = check_array(name, given, f"numbers of shape {shape}")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected numbers, got {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    return np.asarray(array, np.float32)
