"""The learner's side of a cluster: its public methods.

Behind it, `topology.py` holds the workers and their nodes, `restarts.py` starts them, `weights.py` decides which
weights they get, `streams.py` calls workers and sorts their answers, and `statistics.py` counts.
"""
from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cypool.api.gymnasium import spaces_of
from cypool.arguments.action_readers import reader_of, unpack
from cypool.arguments.env_ids import players_of
from cypool.cluster.policies import Policy, checked, env_spec_of
from cypool.cluster.restarts import Starter
from cypool.cluster.rollout import Rollout, assembled, joined_infos
from cypool.cluster.statistics import Statistics
from cypool.cluster.streams import Streams, Submit, WorkerCall
from cypool.cluster.sync import Always, Sync
from cypool.cluster.topology import Topology
from cypool.cluster.weights import WeightSync
from cypool.cluster.worker import FLAGS, Lost
from cypool.errors import ClosedError
from cypool.features.normalize import Normalizing
from cypool.registration.registry import is_gymnasium_id
from cypool.spec import Discrete, EnvSpec
from cypool.util.arguments import check_bool, check_choice, check_float, check_int, seeds_of

if TYPE_CHECKING:

    from cypool.util.typing import Batch, Seed

MODES = {"NextStep": AutoresetMode.NEXT_STEP, "SameStep": AutoresetMode.SAME_STEP}


class ClusterEnv(Normalizing, VectorEnv):
    """Environments on the workers of a Ray cluster, as one vector environment.

    Row `w * envs_per_worker + i` always belongs to environment i of worker w. With the learner's actions, episodes
    match those of `cypool.make(id, num_envs=num_workers * envs_per_worker, seed=seed)`.

    If a worker's process dies, Ray restarts it, and the call continues. The worker's environments report `truncated`,
    with reward 0 and the last observation, and start new episodes with new seeds, according to `autoreset_mode`. The
    worker has the weights of version 0 until newer ones are due. Lost episodes have no statistics. A worker that does
    not answer within `timeout` is killed and replaced in the same way.

    Args:
        id: As in `cypool.make`; or, as in `cypool.from_factories`, a sequence of functions without arguments, one for
            each row, that make Gymnasium environments. The learner briefly creates one Gymnasium environment, or task,
            to read its spaces.
        num_workers: Number of processes, 1 to 65,536.
        envs_per_worker: Number of environments per worker.
        policy: The object that chooses actions on the workers: see `cypool.cluster.policies`. It is copied. None: only
            `step(actions)` works.
        sync: When workers fetch newer weights: `Always()` (the default), `Every(k)`, `Never()` or `APS(kl_threshold)`.
        seed: An int: row i gets `seed + i`; or a sequence with one int per row. Also seeds the policies' draws. By
            default, seeds come from the operating system.
        max_episode_steps, episode_statistics: As in `cypool.make`.
        autoreset_mode: "NextStep" or "SameStep", as in `cypool.make`.
        num_threads: Number of threads of each worker; by default its number of CPUs. For Gymnasium's environments, this
            is `num_workers`; 0, the default for a worker with one CPU, uses the worker's own process.
        infos: Names of infos to include in rollouts.
        normalize_obs, normalize_reward: As in `cypool.make`, with statistics of all environments, which the learner
            keeps: see `normalization`, `load_normalization`, `gamma`, `epsilon` and `frozen` of
            `cypool.api.normalized.NormalizedPool`. `reset` and `step` add their results to the statistics before they
            normalize them, bit for bit like a single pool of all environments. Each call that uses a worker's policy
            sends the worker the observation statistics, which it uses for the policy's input and the whole rollout. The
            means and variances of the worker's observations are merged after the call: for `rollout` in the order of
            workers, for `stream` in the order of arrival, which affects the exact results. The learner normalizes
            rewards step by step, as they arrive.
        address: The address of a Ray cluster, as in `ray.init`: "auto", "host:6379". None: the address in the
            environment variable RAY_ADDRESS; without it, Ray is started on this machine. If the process is already
            connected to Ray, that connection is used.
        cpus_per_worker: CPUs that a cluster reserves for each worker; nothing is reserved on this machine. The default
            is 1, or if Ray is started here, an equal share of the machine, at least 1.
        placement: Placement of workers on nodes: "SPREAD", "PACK", "STRICT_SPREAD" or "STRICT_PACK".
        imports: Names of modules for workers to import first, such as those that register the environment.
        start_timeout: Maximum seconds for starting all workers, for restarting one, and for an answer from a cluster at
            "host:port".
        timeout: Maximum seconds for a worker's answer to one call. After that, its process is killed and replaced, as
            if it had died. Unlimited by default: calls wait for a stopped worker or a hanging environment until you
            press Ctrl-C. All calls that wait for workers also have a `timeout`, where `math.inf` means unlimited.
        ray_init: More arguments for `ray.init`, such as `{"object_store_memory": 10**10}`.
        **options: Options of the environment. With functions: `workers`, `start_method` and `worker_timeout`, as in
            `cypool.from_factories`.

    Attributes:
        num_envs: Number of rows.
        env_spec: The `cypool.spec.EnvSpec`, with normalized observations if the cluster normalizes them.

    Raises:
        TypeError, ValueError: A value has the wrong type or is out of range; nothing was started.
        ImportError: Ray is not installed.
        TimeoutError: The cluster has no room for the workers, or nothing answers at its address.
        RuntimeError: Ray or a worker could not be started.

    Thread safety: one thread at a time.
    """

    env_spec: EnvSpec

    def __init__(self, id: str | Sequence[Callable[[], Any]], num_workers: int, envs_per_worker: int, *,
                 policy: Policy | None = None, sync: Sync | None = None, seed: Seed = None,
                 max_episode_steps: int | None = None, autoreset_mode: str = "NextStep",
                 episode_statistics: bool = False, num_threads: int | None = None, infos: Iterable[str] = (),
                 normalize_obs: bool = False, normalize_reward: bool = False,
                 address: str | None = None, cpus_per_worker: float | None = None, placement: str = "SPREAD",
                 imports: Iterable[str] = (), start_timeout: float = 300, ray_init: dict[str, Any] | None = None,
                 timeout: float | None = None, **options: Any):
        # until all is there
        self.closed = True
        self.num_workers = check_int("num_workers", num_workers, 1, 2**16)
        # rows are counted in 32 bits
        self.envs_per_worker = check_int("envs_per_worker", envs_per_worker, 1, min(2**20, (2**31 - 1) // num_workers))
        self.num_envs = self.num_workers * self.envs_per_worker
        self._start_timeout = check_float("start_timeout", start_timeout, 0, 1e9)
        self._timeout = math.inf
        self._timeout = self._limit(timeout)
        mode = check_choice("autoreset_mode", getattr(autoreset_mode, "value", autoreset_mode), MODES)
        check_choice("placement", placement, ("SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK"))
        for name, names in (("imports", imports), ("infos", infos)):
            if isinstance(names, str) or not isinstance(names, Iterable):
                raise TypeError(f"{name}: expected a sequence of names, got {names!r}")
        self._imports, self._infos = tuple(imports), tuple(infos)
        if not isinstance(address, str | None):
            raise TypeError(f"address: expected a string or None, got {address!r}")
        if not isinstance(ray_init, dict | None):
            raise TypeError(f"ray_init: expected a dict or None, got {ray_init!r}")
        for module in self._imports:
            if not isinstance(module, str):
                raise TypeError(f"imports: expected a sequence of names, got {imports!r}")
            import_module(module)
        id, self._factories = self._source_of(id)
        spec = env_spec_of(id if self._factories is None else self._factories, max_episode_steps=max_episode_steps,
                           **options)
        if spec.agents:
            raise ValueError(f"id: expected an environment with one agent, got {spec.id}, which has several")
        self._same_step = mode == "SameStep"
        self.env_spec = spec = self._begin_statistics(spec, self.num_envs, check_bool("normalize_obs", normalize_obs),
                                                      check_bool("normalize_reward", normalize_reward))
        for name in self._infos:
            if name not in (*spec.info, "elapsed_step"):
                raise ValueError(f"infos: expected names from {list(spec.info)}, got {name!r}")
        self._sync = Always() if sync is None else sync
        where = getattr(self._sync, "where", None)
        if isinstance(sync, type) or not hasattr(self._sync, "due") or where not in ("learner", "worker"):
            raise TypeError(f"sync: expected Always(), Every(k), Never() or APS(kl_threshold), got {sync!r}")
        if policy is not None:
            self._check_policy(policy)
        seeds = seeds_of(secrets.randbits(30) if seed is None else seed, self.num_envs, spec.max_seed)
        self._seeds = [secrets.randbits(30) if s is None else s for s in seeds or ()]

        self.metadata = {"autoreset_mode": MODES[mode], "render_modes": []}
        self.single_observation_space, self.single_action_space = spaces_of(spec)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._read = reader_of(spec, self.num_envs)

        self._begun = self._streaming = False
        self._statistics = Statistics()
        self._weights = WeightSync(spec, policy, self._sync, self._statistics, self.envs_per_worker)

        self._recipe = {"max_episode_steps": max_episode_steps, "autoreset_mode": mode,
                        "episode_statistics": check_bool("episode_statistics", episode_statistics), **options}
        if self._factories is None:
            self._recipe.update(id=id, num_envs=self.envs_per_worker)
        # of environments of Gymnasium these are workers
        self._threads = "num_workers" if is_gymnasium_id(id) or self._factories is not None else "num_threads"
        if num_threads is not None:
            self._recipe[self._threads] = check_int("num_threads", num_threads, 0, 4096)
        if cpus_per_worker is not None:
            cpus_per_worker = check_float("cpus_per_worker", cpus_per_worker, 0.01, 2**16)
        self._start(address, cpus_per_worker, placement, ray_init or {})

    def _source_of(self, id: Any) -> tuple[Any, list[Any] | None]:
        """Returns an id and None, or None and a function for each row."""
        if isinstance(id, (str, bytes)) or not isinstance(id, Iterable):
            return id, None
        factories = list(id)
        if len(factories) != self.num_envs or not all(map(callable, factories)):
            raise ValueError(f"id: expected an id, or a function for each of {self.num_envs} rows, got {id!r:.200}")
        return None, factories

    def _check_policy(self, policy: Policy) -> None:
        if isinstance(self.env_spec.action, Mapping):
            raise ValueError(f"policy: expected None, got {policy!r}: no distribution can draw "
                             f"{self.env_spec.id}'s dict actions, which are passed to step(actions)")
        for name in ("distribution", "get_weights", "set_weights", "__call__"):
            if not hasattr(policy, name):
                raise TypeError(f"policy: expected an object with {name} (see cypool.cluster.policies), got {policy!r}")
        # two rows reveal a policy that mixes them up
        blank = [np.zeros((2, *part.shape), part.dtype) for _, part in self.env_spec.observations]
        try:
            output = policy(self.env_spec.pack(blank))
        except Exception as error:
            raise ValueError(f"policy: expected a policy that accepts observations from {self.env_spec.id}, got one "
                             f"that raises {error!r}") from error
        params, _ = checked(policy, output, 2)
        drawn = np.asarray(policy.distribution.sample(params, np.random.default_rng(0)))
        shape, action = (2, *self.env_spec.action.shape), self.env_spec.action
        if drawn.shape != shape or (isinstance(action, Discrete) and drawn.dtype.kind not in "iu"):
            raise ValueError(f"policy: expected a distribution whose samples have shape {shape} for {action}, "
                             f"got {drawn.dtype} of shape {drawn.shape}")
        if isinstance(action, Discrete) and getattr(policy.distribution, "n", action.n) != action.n:
            raise ValueError(f"policy: expected a policy that chooses from {action.n} actions, got "
                             f"{getattr(policy.distribution, 'n', None)}")

    # the public methods

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None,
              timeout: float | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts new episodes in all environments.

        Args:
            seed: As in `cypool.make(...).reset`; also seeds the policies' draws.
            options: None or empty.
            timeout: Maximum seconds for a worker before it is replaced; None: the `timeout` of the `ClusterEnv`.

        Returns:
            Observation and info, of `num_envs` rows.

        Raises:
            RuntimeError: A worker's environment failed, or a worker died repeatedly.
            TimeoutError: A worker took too long repeatedly, or could not be restarted.
        """
        self._expect_idle()
        if options:
            raise ValueError(f"options: expected none, got {options!r}")
        timeout = self._limit(timeout)
        seeds = seeds_of(seed, self.num_envs, self.env_spec.max_seed)

        def submit(w: int, lost: Lost | None) -> WorkerCall:
            chosen = None if seeds is None else seeds[self._rows(w)]
            if lost is not None:
                # a process that was started again would show its first episodes once more
                chosen = [new if s is None else s
                          for new, s in zip(lost[1], chosen or [None] * self.envs_per_worker, strict=True)]
            return self._streams.call(w, "reset", chosen)

        parts = self._gathered(submit, timeout)
        self._begun = True
        self._returns[:] = 0
        return self._joined(parts)

    def step(self, actions: Any = None, timeout: float | None = None) -> Batch:
        """Steps all environments.

        Args:
            actions: As in `cypool.make(...).step`, `num_envs` rows. None: the workers' policies choose.
            timeout: As in `reset`.

        Returns:
            Observation, reward, terminated, truncated, info. If the policies chose the actions, info also has
            "action", "raw_action" (see `Rollout`), "params", "log_prob", the rest of their output, "policy_version" and
            "kl".

        Raises:
            TypeError, ValueError: Wrong actions; nothing was sent.
            RuntimeError: `reset` was not called, a worker's environment or policy failed, or a worker died repeatedly.
            TimeoutError: As in `reset`.
        """
        self._expect_idle(begun=True, policy=actions is None)
        timeout = self._limit(timeout)
        if actions is not None:
            actions = self._read(actions)
            if len(actions) != self.num_envs:
                raise ValueError(f"actions: expected {self.num_envs} rows, got {len(actions)}")
            actions = unpack(self.env_spec, actions)

        def submit(w: int, lost: Lost | None) -> WorkerCall:
            if actions is None:
                return self._streams.call_policy(w, "step", None, lost)
            rows = self._rows(w)
            own = {name: part[rows] for name, part in actions.items()} if isinstance(actions, dict) else actions[rows]
            return self._streams.call(w, "step", own, 0, None, lost)

        # a worker that continues an abandoned call has other observations by now
        before: list[Any] = [None if record.unanswered else record.seen for record in self._topology.records]
        parts = self._gathered(submit, timeout)
        self._statistics.counts["steps"] += self.num_envs
        if actions is None:
            for w, part in enumerate(parts):
                seen = before[w] and [self._policy_saw(each)[None] for each in before[w]]
                self._learn(w, part, seen, part["chosen"]["params"][None])
                part["info"] = {**part["info"], **part["chosen"],
                                "policy_version": np.full(self.envs_per_worker, part["version"]),
                                "kl": np.full(self.envs_per_worker, part["kl"])}
        reward, terminated, truncated, valid = (np.concatenate([part[name] for part in parts])
                                                for name in ("reward", "terminated", "truncated", "valid"))
        if self._return is not None:
            reward = self._normal_reward(reward, terminated, truncated, np.arange(self.num_envs, dtype=np.int32), valid)
        obs, info = self._joined(parts)
        return obs, reward, terminated, truncated, info

    def rollout(self, num_steps: int, out: Rollout | None = None, timeout: float | None = None) -> Rollout:
        """Steps all environments `num_steps` times with the workers' policies, in one call per worker.

        Args:
            num_steps: T.
            out: A `Rollout` of the same length from this method, whose arrays are reused, because allocating memory of
                this size is slow.
            timeout: As in `reset`.

        Returns:
            A `Rollout` of (T, num_envs, ...) arrays.

        Raises:
            RuntimeError, TimeoutError: As in `step`.
            ValueError: The workers' policies return different arrays.
        """
        self._expect_idle(begun=True, policy=True)
        timeout = self._limit(timeout)
        num_steps = check_int("num_steps", num_steps, 1, 2**31 - 2)
        again = {} if out is None else self._buffers_of(out, num_steps)
        buffers: dict[Any, NDArray[Any]] = {}
        ends: list[Any] = [None] * self.num_workers
        versions, kls = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs)

        for w, part in self._streams.answers(self._rollouts(num_steps), timeout):
            rows, arrays = self._rows(w), part.pop("arrays")
            wanted = {key: ((len(array), self.num_envs, *array.shape[2:]), array.dtype)
                      for key, array in arrays.items()}
            if not buffers:
                for key, (shape, dtype) in wanted.items():
                    fits = key in again and (again[key].shape, again[key].dtype) == (shape, dtype)
                    buffers[key] = again[key] if fits else np.empty(shape, dtype)
            elif wanted != (found := {key: (array.shape, array.dtype) for key, array in buffers.items()}):
                # rows that are never written would hold arbitrary values
                raise ValueError(f"policy: expected the same arrays from all workers, but worker {w} returned "
                                 f"{_differing(wanted, found)}, and another worker returned "
                                 f"{_differing(found, wanted)}")
            for key, array in arrays.items():
                buffers[key][:, rows] = array
            self._learn_rollout(w, part, arrays)
            versions[rows], kls[rows] = part["version"], part["kl"]
            ends[w] = rows.start, part
            del arrays
        self._statistics.counts["steps"] += num_steps * self.num_envs
        for _, part in ends:
            self._merge(part)
        self._normalize_rewards_of(buffers, slice(None))
        return assembled(self.env_spec, buffers, ends, versions, kls)

    def stream(self, num_steps: int, in_flight: int = 2, timeout: float | None = None) -> Iterator[Rollout]:
        """Iterates endlessly over rollouts of single workers, in order of arrival.

        Each worker has at most `in_flight` calls that are running, or finished but not fetched; the next one starts
        when the loop asks for the next rollout. So workers wait neither for the learner nor for each other, and a slow
        learner makes them pause instead of filling up memory. All rollouts of a worker arrive, in order. Rollouts still
        running when the loop ends are discarded.

        Args:
            num_steps: T.
            in_flight: Number of concurrent calls per worker, 1 to 64.
            timeout: As in `reset`: maximum seconds for one of these calls, including the loop's own time between two
                rollouts, during which the worker continues.

        Returns:
            An iterator over `Rollout`s of (T, envs_per_worker, ...) arrays, with `worker` set. They are read-only views
            of Ray's object store, and occupy it as long as they are referenced. During the iteration, only `publish`
            and `stats` may be called.
        """
        self._expect_idle(begun=True, policy=True)
        return self._stream(check_int("num_steps", num_steps, 1, 2**31 - 2), check_int("in_flight", in_flight, 1, 64),
                            self._limit(timeout))

    def publish(self, weights: Any) -> int:
        """Publishes new weights, which workers receive with their next call if the weights are due.

        Args:
            weights: A dict of arrays or tensors with the names and shapes of the policy's weights; or a policy or
                torch module with such weights.

        Returns:
            Their version, starting at 1.

        Raises:
            TypeError, ValueError: Names or shapes differ; nothing was published.
        """
        self._expect_open()
        self._expect_policy()
        return self._weights.publish(weights, self._topology.ray)

    def stats(self) -> dict[str, Any]:
        """Returns statistics of the calls so far, as a dict.

        * version: the newest weights' version; worker_versions: the versions that last chose each worker's actions.
        * calls: number of calls that used a policy; steps: number of environment steps.
        * syncs: number of times that a worker took newer weights.
        * bytes_published: size of weights put into the object store; bytes_pulled: size of weights that nodes fetched
          from it, once for all workers on a node; bytes_received: size of the workers' answers.
        * kl: a histogram of the divergences found: "counts" between adjacent "edges".
        * lag: number of versions that rollouts were behind the newest when they arrived: a dict of lag to count.
        * restarts: restarts of each worker; timeouts: restarts of a worker that took too long; pids: process ids.
        """
        return self._statistics.as_dict(self._weights.version, self._topology.records)

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the workers, and Ray if it was started for them; called by `close`, which may be called twice."""
        try:
            self._topology.close()
        finally:
            self._weights.close()
            self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return (f"ClusterEnv({self.env_spec.id!r}, num_workers={self.num_workers}, "
                f"envs_per_worker={self.envs_per_worker})")

    # starting, and calls of workers

    def _start(self, address: str | None, share: float | None, placement: str, ray_init: dict[str, Any]) -> None:
        self._topology = topology = Topology(self.num_workers, self._start_timeout)
        share = topology.share(address, share)
        threads = max(1, int(share))
        # one environment at a time is as fast in the worker's own process as in another one
        self._recipe.setdefault(self._threads, 0 if threads == 1 and self._threads == "num_workers" else threads)
        share = topology.connect(address, ray_init, share)
        self.closed = False
        try:
            until = time.monotonic() + self._start_timeout
            topology.place(share, placement)
            starter = Starter(topology, self._recipe, self._factories, self._seeds, self._weights.policy,
                              None if self._weights.learner_decides else self._sync, self._infos, self._imports,
                              self._start_timeout)
            starter.start_all(until)
            self._streams = Streams(topology, starter, self._weights, self._statistics,
                                    lambda: None if self._obs is None else self._scale())
        except BaseException:
            self.close()
            raise

    def _gathered(self, submit: Submit, timeout: float) -> list[Any]:
        """Returns the answers of all workers to a call, in the order of workers."""
        answers = [None] * self.num_workers
        for w, answer in self._streams.answers(submit, timeout):
            # a copy: it may be needed after the caller has overwritten the array
            self._topology.records[w].seen = [np.array(part) for part in answer["obs"]]
            answers[w] = answer
        return answers

    def _stream(self, num_steps: int, in_flight: int, timeout: float) -> Iterator[Rollout]:
        self._expect_idle()
        self._streaming = True
        try:
            given = []
            for w, part in self._streams.answers(self._rollouts(num_steps), timeout, in_flight, endless=True):
                given.append(self._single(w, part, num_steps))
                del part
                yield given.pop()
        finally:
            self._streaming = False

    def _rollouts(self, num_steps: int) -> Submit:
        """Returns the function that calls workers for rollouts."""
        return lambda w, lost: self._streams.call_policy(w, "rollout", num_steps, lost)

    def _single(self, w: int, part: dict[str, Any], num_steps: int) -> Rollout:
        """Returns the `Rollout` of one worker."""
        arrays = dict(part.pop("arrays"))
        self._learn_rollout(w, part, arrays)
        self._merge(part)
        if self._return is not None:
            # what comes from the object store is read-only
            arrays["step", "reward"] = arrays["step", "reward"].copy()
        self._normalize_rewards_of(arrays, self._rows(w))
        self._statistics.counts["steps"] += num_steps * self.envs_per_worker
        version, kl = (np.full(self.envs_per_worker, part[name]) for name in ("version", "kl"))
        return assembled(self.env_spec, arrays, [(0, part)], version, kl, w)

    def _merge(self, part: dict[str, Any]) -> None:
        """Adds the observations of a worker's rollout to the statistics."""
        if "moments" in part and not self.frozen:
            self._obs.merge(*part["moments"])

    def _normalize_rewards_of(self, arrays: dict[Any, NDArray[Any]], rows: slice) -> None:
        """Normalizes the rewards of a rollout of these rows."""
        if self._return is not None:
            reward, terminated, truncated, valid = (arrays["step", name] for name in FLAGS)
            self._normalize_rewards(reward, terminated, truncated, valid,
                                    np.arange(self.num_envs, dtype=np.int32)[rows])

    def _policy_saw(self, obs: NDArray[Any]) -> NDArray[Any]:
        """Returns a part of a worker's observation as its policy saw it in this call."""
        saw: NDArray[Any] = obs if self._obs is None else self._normal(obs)
        return saw

    # records of answers

    def _learn_rollout(self, w: int, part: dict[str, Any], arrays: dict[Any, NDArray[Any]]) -> None:
        obs = [array for (kind, _), array in arrays.items() if kind == "obs"]
        # as the environments made them
        self._topology.records[w].seen = [np.array(each) for each in part.pop("seen", [array[-1] for array in obs])]
        self._learn(w, part, [array[:-1] for array in obs], arrays["step", "params"])

    def _learn(self, w: int, part: dict[str, Any], obs: list[NDArray[Any]] | None, params: NDArray[np.float32]) -> None:
        """Records the use of a policy: `obs` are parts (T, envs, ...) of its observations, `params` its output.

        None for `obs`: unknown.
        """
        record = self._topology.records[w]
        self._statistics.record_policy(record, part["version"], self._weights.version, part["kl"])
        if obs is not None:
            self._weights.keep_sample(record, obs, params)

    def _joined(self, parts: list[Any]) -> tuple[Any, dict[str, Any]]:
        """Merges the observations and infos of all workers."""
        for w, part in enumerate(parts):
            part["info"]["env_id"] = part["info"]["env_id"] + w * self.envs_per_worker
            if "players" in part["info"]:
                part["info"]["players"] = players_of(self.env_spec, part["info"]["env_id"])
        obs = [np.concatenate(each) for each in zip(*(part["obs"] for part in parts), strict=True)]
        info = joined_infos([part["info"] for part in parts], self.envs_per_worker)
        if self._obs is not None:
            self._take(obs[0])
            obs = [self._normal(obs[0])]
            self._normalize_finals(info)
        return self.env_spec.pack(obs), info

    def _buffers_of(self, out: Rollout, num_steps: int) -> dict[Any, NDArray[Any]]:
        if not isinstance(out, Rollout):
            raise TypeError(f"out: expected a Rollout, got {type(out).__name__}")
        if out.worker is not None or out.reward.shape != (num_steps, self.num_envs):
            raise ValueError(f"out: expected a Rollout of shape {(num_steps, self.num_envs)} from rollout(), "
                             f"got one of shape {out.reward.shape}" + " from stream()" * (out.worker is not None))
        return out.buffers

    def _rows(self, w: int) -> slice:
        return slice(w * self.envs_per_worker, (w + 1) * self.envs_per_worker)

    def _limit(self, timeout: float | None) -> float:
        """Returns the seconds that a worker may take, from the argument `timeout`."""
        return self._timeout if timeout is None else check_float("timeout", timeout, 0.001, math.inf)

    # the order of calls

    def _expect_open(self) -> None:
        if self.closed:
            raise ClosedError("the ClusterEnv is closed")

    def _expect_policy(self) -> None:
        if self._weights.policy is None:
            raise ValueError("policy: expected a ClusterEnv created with policy=... (required by this call), got "
                             "one without a policy")

    def _expect_idle(self, begun: bool = False, policy: bool = False) -> None:
        self._expect_open()
        if policy:
            self._expect_policy()
        if self._streaming:
            raise RuntimeError("a stream is active: exit its loop or call close() on its iterator first")
        if begun and not self._begun:
            raise RuntimeError("call reset() first")


def _differing(arrays: dict[Any, Any], others: dict[Any, Any]) -> str:
    """Describes those of the (shape, dtype), by (kind, name), that the others lack."""
    return ", ".join(f"{name} of {dtype}, shape {shape}" for (_, name), (shape, dtype) in arrays.items()
                     if others.get((_, name)) != (shape, dtype)) or "none"
