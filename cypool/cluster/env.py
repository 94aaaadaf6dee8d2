"""The learner's side of a cluster."""
import copy
import math
import secrets
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cypool.arguments import check_bool, check_choice, check_float, check_int
from cypool.cluster import session
from cypool.cluster.policies import checked, evaluated, is_hosted, spec_of, weights_of
from cypool.cluster.rollout import Rollout, assembled, joined_infos
from cypool.cluster.sync import Always
from cypool.cluster.worker import Worker
from cypool.engine import cpus
from cypool.errors import ClosedError
from cypool.faces.actions import parted, reader_of
from cypool.faces.face import players_of, seeds_of
from cypool.faces.gymnasium import spaces_of
from cypool.spec import Discrete

# a worker that dies so often in the same call will not get through it
ATTEMPTS = 3
# of the histogram of divergences: three to a factor of ten
KL_EDGES = np.array([0, *np.logspace(-6, 1, 22), np.inf])
# CPUs that a worker reserves where there is nothing to reserve
TOKEN = 0.001
MODES = {"NextStep": AutoresetMode.NEXT_STEP, "SameStep": AutoresetMode.SAME_STEP}


class _Known:
    """What the learner knows of a worker."""

    life = pid = node = None
    restarts = timeouts = 0
    sent = 0            # version of the weights it got last
    used = 0            # version that chose its actions last
    seen = None         # parts of the observation it showed last
    unanswered = 0      # calls whose answers have not come, some of which nobody waits for any more
    sample = None       # version, observation parts and parameters, to see how far the policy has drifted


class _Call(NamedTuple):
    """A call of a worker that is under way."""

    ref: Any
    worker: int
    number: int         # in the order of calls
    kl: float           # what the learner found before


class ClusterEnv(VectorEnv):
    """Environments on the workers of a Ray cluster, as one vector environment.

    Row `w * envs_per_worker + i` is environment i of worker w, in everything, always. With actions of the learner,
    episodes are those of `cypool.make(id, num_envs=num_workers * envs_per_worker, seed=seed)`.

    A worker whose process dies is started again by Ray, and the call goes on with it. Its environments report
    `truncated`, with reward 0 and the observation seen last, and start new episodes, with new seeds, as
    `autoreset_mode` says. Its weights are again version 0 until others are due. Of episodes that were lost there are
    no statistics. A worker that does not answer within `timeout` is killed, and replaced in the same way.

    Args:
        id: As in `cypool.make`; or, as in `cypool.from_factories`, a sequence of functions without arguments, one for
            each row, that make environments of Gymnasium. The learner makes one of Gymnasium's environments for a
            moment, to see its spaces.
        num_workers: Processes, 1 to 65,536.
        envs_per_worker: Environments of each.
        policy: What chooses actions on the workers: see `cypool.cluster.policies`. It is copied. None: only
            `step(actions)` works.
        sync: When a worker takes newer weights: `Always()`, `Every(k)`, `Never()` or `APS(kl_threshold)`. By default
            always.
        seed: An int, and row i gets `seed + i`; or a sequence with one int for each row. Also seeds what the policies
            draw. By default drawn from the operating system.
        max_episode_steps, episode_statistics: As in `cypool.make`.
        autoreset_mode: "NextStep" or "SameStep", as in `cypool.make`.
        num_threads: Of each worker; by default as many as its CPUs. Of Gymnasium's environments: the processes that
            step them, 0 for the worker's own, which is the default where a worker has one CPU.
        infos: Names of infos that rollouts carry.
        address: Of a Ray cluster, as in `ray.init`: "auto", "host:6379". None: that of the environment variable
            RAY_ADDRESS, or else Ray is started on this machine. If the process is connected to Ray already, that is
            used.
        cpus_per_worker: CPUs that a cluster reserves for a worker; on this machine nothing is reserved. By default an
            equal share of the machine where Ray is started here, but at least 1; else 1.
        placement: How workers are placed on nodes: "SPREAD", "PACK", "STRICT_SPREAD" or "STRICT_PACK".
        imports: Names of modules that workers import first: those that register the environment.
        start_timeout: Seconds that starting all workers, or one again, may take; and that a cluster at "host:port" has
            to answer.
        timeout: Seconds that a worker may take to answer one call. Then its process is killed and replaced, as if it
            had died. By default any time: a worker that is stopped, or whose environment hangs, is waited for until you
            press Ctrl-C. All calls that wait for workers take a `timeout` of their own; `math.inf` there is any time.
        ray_init: More arguments of `ray.init`, such as `{"object_store_memory": 10**10}`.
        **options: Options of the environment. Of functions: `start_method` and `worker_timeout`, as in
            `cypool.from_factories`.

    Attributes:
        num_envs: Rows.
        env_spec: The `cypool.spec.EnvSpec`.

    Raises:
        TypeError, ValueError: A value of the wrong type or out of range; nothing was started.
        ImportError: Ray is not installed.
        TimeoutError: The cluster has no place for the workers, or nobody answers at its address.
        RuntimeError: A worker could not be started.

    Threads: one at a time.
    """

    def __init__(self, id, num_workers, envs_per_worker, *, policy=None, sync=None, seed=None,
                 max_episode_steps=None, autoreset_mode="NextStep", episode_statistics=False, num_threads=None,
                 infos=(), address=None, cpus_per_worker=None, placement="SPREAD", imports=(), start_timeout=300,
                 ray_init=None, timeout=None, **options):
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
        self.env_spec = spec = spec_of(id if self._factories is None else self._factories,
                                       max_episode_steps=max_episode_steps, **options)
        for name in self._infos:
            if name not in (*spec.info, "elapsed_step"):
                raise ValueError(f"infos: expected names of {spec.id}'s infos, got {name!r}")
        self._sync = Always() if sync is None else sync
        where = getattr(self._sync, "where", None)
        if isinstance(sync, type) or not hasattr(self._sync, "due") or where not in ("learner", "worker"):
            raise TypeError(f"sync: expected Always(), Every(k), Never() or APS(kl_threshold), got {sync!r}")
        self._learner_decides = where == "learner"
        if policy is not None:
            self._check_policy(policy)
        # not the user's own, which may be trained meanwhile
        self._policy = copy.deepcopy(policy)
        seeds = seeds_of(secrets.randbits(30) if seed is None else seed, self.num_envs, spec.max_seed)
        self._seeds = [secrets.randbits(30) if s is None else s for s in seeds]

        self.metadata = {"autoreset_mode": MODES[mode], "render_modes": []}
        self.single_observation_space, self.single_action_space = spaces_of(spec)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._read = reader_of(spec, self.num_envs)

        # the newest weights: version, object, bytes, nodes that have them
        self._version, self._weights, self._size, self._on_nodes = 0, None, 0, set()
        self._of = [_Known() for _ in range(self.num_workers)]
        self._begun = self._streaming = False
        self._counts, self._lags, self._kls = Counter(), Counter(), np.zeros(len(KL_EDGES) - 1, np.int64)

        self._recipe = {"max_episode_steps": max_episode_steps, "autoreset_mode": mode,
                        "episode_statistics": check_bool("episode_statistics", episode_statistics), **options}
        if self._factories is None:
            self._recipe.update(id=id, num_envs=self.envs_per_worker)
        # of environments of Gymnasium these are processes
        self._threads = "num_workers" if is_hosted(id) or self._factories is not None else "num_threads"
        if num_threads is not None:
            self._recipe[self._threads] = check_int("num_threads", num_threads, 0, 4096)
        if cpus_per_worker is not None:
            cpus_per_worker = check_float("cpus_per_worker", cpus_per_worker, 0.01, 2**16)
        self._start(address, cpus_per_worker, placement, ray_init or {})

    def _source_of(self, id):
        """Returns an id and None, or None and a function for each row."""
        if isinstance(id, (str, bytes)) or not isinstance(id, Iterable):
            return id, None
        factories = list(id)
        if len(factories) != self.num_envs or not all(map(callable, factories)):
            raise ValueError(f"id: expected an id, or a function for each of {self.num_envs} rows, got {id!r:.200}")
        return None, factories

    def _check_policy(self, policy):
        if isinstance(self.env_spec.action, Mapping):
            raise ValueError(f"policy: expected None for {self.env_spec.id}, whose actions are dicts, which no "
                             f"distribution draws; step(actions) takes them; got {policy!r}")
        for name in ("distribution", "get_weights", "set_weights", "__call__"):
            if not hasattr(policy, name):
                raise TypeError(f"policy: expected something with {name}, see cypool.cluster.policies; got {policy!r}")
        # two rows tell one that mixes them up
        blank = [np.zeros((2, *part.shape), part.dtype) for _, part in self.env_spec.observations]
        try:
            said = policy(self.env_spec.joined(blank))
        except Exception as error:
            raise ValueError(f"policy: expected one that takes observations of {self.env_spec.id}, got an error: "
                             f"{error!r}") from error
        params, _ = checked(policy, said, 2)
        drawn = np.asarray(policy.distribution.sample(params, np.random.default_rng(0)))
        shape, action = (2, *self.env_spec.action.shape), self.env_spec.action
        if drawn.shape != shape or (isinstance(action, Discrete) and drawn.dtype.kind not in "iu"):
            raise ValueError(f"policy: expected its distribution to draw two actions for {action}, of shape {shape}, "
                             f"got {drawn.dtype} of shape {drawn.shape}")
        if isinstance(action, Discrete) and getattr(policy.distribution, "n", action.n) != action.n:
            raise ValueError(f"policy: expected one that chooses from {action.n} actions, got "
                             f"{policy.distribution.n}")
        self._weights_shapes = {name: array.shape for name, array in weights_of(policy).items()}

    # what users call

    def reset(self, *, seed=None, options=None, timeout=None):
        """Starts new episodes everywhere.

        Args:
            seed: As in `cypool.make(...).reset`; what the policies draw is seeded too.
            options: None or empty.
            timeout: Seconds that a worker may take before it is replaced; None: as the `ClusterEnv` was made.

        Returns:
            Observation and info, of `num_envs` rows.

        Raises:
            RuntimeError: A worker's environment raised, or it died again and again.
            TimeoutError: A worker took too long again and again, or could not be started again.
        """
        self._expect_idle()
        if options:
            raise ValueError(f"options: expected none, got {options!r}")
        timeout = self._limit(timeout)
        seeds = seeds_of(seed, self.num_envs, self.env_spec.max_seed)

        def submit(w, lost):
            chosen = None if seeds is None else seeds[self._rows(w)]
            if lost is not None:
                # a process that was started again would show its first episodes once more
                chosen = [new if s is None else s
                          for new, s in zip(lost[1], chosen or [None] * self.envs_per_worker, strict=True)]
            return self._call(w, "reset", chosen)

        parts = self._gathered(submit, timeout)
        self._begun = True
        return self._joined(parts)

    def step(self, actions=None, timeout=None):
        """Steps all environments.

        Args:
            actions: As in `cypool.make(...).step`, `num_envs` rows. None: the workers' policies choose.
            timeout: As in `reset`.

        Returns:
            Observation, reward, terminated, truncated, info. Where the policies chose, info also has "action" (as
            drawn), "params", "logp", what else they said, "policy_version" and "kl".

        Raises:
            TypeError, ValueError: Wrong actions; nothing was sent.
            RuntimeError: `reset` was not called, or a worker's environment or policy raised, or it died again and
                again.
            TimeoutError: As in `reset`.
        """
        self._expect_idle(begun=True, policy=actions is None)
        timeout = self._limit(timeout)
        if actions is not None:
            actions = self._read(actions)
            if len(actions) != self.num_envs:
                raise ValueError(f"actions: expected {self.num_envs} rows, got {len(actions)}")
            actions = parted(self.env_spec, actions)

        def submit(w, lost):
            if actions is None:
                return self._call_policy(w, "step", None, lost)
            rows = self._rows(w)
            own = {name: part[rows] for name, part in actions.items()} if isinstance(actions, dict) else actions[rows]
            return self._call(w, "step", own, 0, None, lost)

        # one that goes on with what nobody waits for has seen something else by now
        before = [None if known.unanswered else known.seen for known in self._of]
        parts = self._gathered(submit, timeout)
        self._counts["steps"] += self.num_envs
        if actions is None:
            for w, part in enumerate(parts):
                self._learn(w, part, before[w] and [each[None] for each in before[w]], part["chosen"]["params"][None])
                part["info"] = {**part["info"], **part["chosen"],
                                "policy_version": np.full(self.envs_per_worker, part["version"]),
                                "kl": np.full(self.envs_per_worker, part["kl"])}
        obs, info = self._joined(parts)
        flags = (np.concatenate([part[name] for part in parts]) for name in ("reward", "terminated", "truncated"))
        return obs, *flags, info

    def rollout(self, num_steps, out=None, timeout=None):
        """Steps all environments `num_steps` times as the workers' policies say, in one call for each worker.

        Args:
            num_steps: T.
            out: A `Rollout` that this method returned for as many steps: its arrays are filled again and belong to the
                new one. Fresh memory of this size is slow to come by.
            timeout: As in `reset`.

        Returns:
            A `Rollout` of (T, num_envs, ...) arrays.

        Raises:
            RuntimeError, TimeoutError: As in `step`.
            ValueError: The workers' policies return other arrays than each other.
        """
        self._expect_idle(begun=True, policy=True)
        timeout = self._limit(timeout)
        num_steps = check_int("num_steps", num_steps, 1, 2**31 - 2)
        again = {} if out is None else self._buffers_of(out, num_steps)
        buffers = {}
        ends = [None] * self.num_workers
        versions, kls = np.zeros(self.num_envs, np.int64), np.zeros(self.num_envs)

        for w, part in self._answers(lambda w, lost: self._call_policy(w, "rollout", num_steps, lost), timeout):
            rows, arrays = self._rows(w), part.pop("arrays")
            wanted = {key: ((len(array), self.num_envs, *array.shape[2:]), array.dtype)
                      for key, array in arrays.items()}
            if not buffers:
                for key, (shape, dtype) in wanted.items():
                    fits = key in again and (again[key].shape, again[key].dtype) == (shape, dtype)
                    buffers[key] = again[key] if fits else np.empty(shape, dtype)
            elif wanted != (found := {key: (array.shape, array.dtype) for key, array in buffers.items()}):
                # rows that nobody writes would be anything
                raise ValueError(f"policy: expected the same arrays from all workers, but worker {w} returned "
                                 f"{_differing(wanted, found)}, another one {_differing(found, wanted)}")
            for key, array in arrays.items():
                buffers[key][:, rows] = array
            self._learn_rollout(w, part, arrays)
            versions[rows], kls[rows] = part["version"], part["kl"]
            ends[w] = rows.start, part
            del arrays
        self._counts["steps"] += num_steps * self.num_envs
        return assembled(self.env_spec, num_steps, buffers, ends, versions, kls)

    def stream(self, num_steps, in_flight=2, timeout=None):
        """Iterates over rollouts of single workers for ever, in the order in which they come in.

        Each worker has `in_flight` calls under way or finished and not fetched, never more; the next one is made when
        the loop asks for the next rollout. So a worker does not wait for the learner, nor for another worker; a learner
        that is slow stops them instead of filling the memory. Of one worker all rollouts come, and in order. Rollouts
        that are under way when the loop is left are thrown away.

        Args:
            num_steps: T.
            in_flight: Calls of one worker at a time, 1 to 64.
            timeout: As in `reset`: seconds for one of these calls. Also counted is the time that the loop takes between
                two rollouts, in which the worker goes on.

        Returns:
            An iterator over `Rollout`s of (T, envs_per_worker, ...) arrays, with `worker` set. They are views of Ray's
            object store: read-only, and they occupy it as long as they are held. Meanwhile only `publish` and `stats`
            may be called.
        """
        self._expect_idle(begun=True, policy=True)
        return self._stream(check_int("num_steps", num_steps, 1, 2**31 - 2), check_int("in_flight", in_flight, 1, 64),
                            self._limit(timeout))

    def publish(self, weights):
        """Makes weights the newest: they go to those workers for which they are due, with their next call.

        Args:
            weights: A dict of arrays or tensors with the names and shapes of the policy's; or a policy or a torch
                module that has them.

        Returns:
            Their version: 1 for the first.

        Raises:
            TypeError, ValueError: Other names or shapes; nothing was published.
        """
        self._expect_open()
        self._expect_policy()
        weights = weights_of(weights)
        shapes = {name: array.shape for name, array in weights.items()}
        if shapes != self._weights_shapes:
            raise ValueError(f"weights: expected {self._weights_shapes}, got {shapes}")
        self._policy.set_weights(weights)
        self._weights, self._size = self._ray.put(weights), _nbytes(weights)
        self._version += 1
        self._on_nodes = set()
        self._counts["bytes_published"] += self._size
        return self._version

    def stats(self):
        """Returns what has happened so far, as a dict.

        * version: of the newest weights; worker_versions: that chose each worker's actions last.
        * calls: answered with what a policy did; steps: of environments.
        * syncs: how often a worker took newer weights.
        * bytes_published: of weights put into the object store; bytes_pulled: of weights that nodes fetched from there,
          once for all workers of a node; bytes_received: of what workers returned.
        * kl: "counts" of divergences found, between neighbours of "edges".
        * lag: by how many versions rollouts were behind the newest when they came in: a dict of lag to count.
        * restarts: of each worker; timeouts: those of them that took too long; pids: process ids.
        """
        counts = {name: self._counts[name] for name in ("calls", "steps", "syncs", "bytes_published", "bytes_pulled",
                                                        "bytes_received")}
        return {"version": self._version, "worker_versions": [known.used for known in self._of], **counts,
                "kl": {"edges": KL_EDGES.copy(), "counts": self._kls.copy()}, "lag": dict(sorted(self._lags.items())),
                "restarts": [known.restarts for known in self._of], "timeouts": [known.timeouts for known in self._of],
                "pids": [known.pid for known in self._of]}

    def close_extras(self, **kwargs):
        """Ends the workers, and Ray if it was started for this; called by `close`, which may be called twice."""
        try:
            # Ray's own end, at exit, was ours too
            if self._ray.is_initialized():
                for worker in self._workers:
                    self._ray.kill(worker)
                # it ends with the connection, and a head that does not answer is asked for a minute
                if self._group is not None and not session.ends_with_one_less():
                    self._ray.util.remove_placement_group(self._group)
        finally:
            self._workers, self._group, self._weights, self.closed = [], None, None, True
            session.leave()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return (f"ClusterEnv({self.env_spec.id!r}, num_workers={self.num_workers}, "
                f"envs_per_worker={self.envs_per_worker})")

    # starting and restarting

    def _start(self, address, share, placement, ray_init):
        self._ray = ray = session.ray_or_explain()
        from ray.exceptions import ObjectLostError, RayActorError
        from ray.util.placement_group import placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        self._lost_errors = RayActorError, ObjectLostError
        if share is None:
            share = max(1, cpus.available() // self.num_workers) if session.starts_here(address) else 1
        threads = max(1, int(share))
        # one environment at a time is as fast in the worker's own process as in another one
        self._recipe.setdefault(self._threads, 0 if threads == 1 and self._threads == "num_workers" else threads)
        if session.enter(address, ray_init, self._start_timeout):
            # nobody else has this Ray: the CPUs are shared out already, and there may be more workers than CPUs
            share = TOKEN
        self.closed, self._group, self._workers = False, None, []
        try:
            self._group = placement_group([{"CPU": share}] * self.num_workers, placement)
            until = time.monotonic() + self._start_timeout
            if not self._group.wait(self._start_timeout):
                raise TimeoutError(
                    f"num_workers: expected a cluster with {share:g} free CPUs for each of {self.num_workers} workers, "
                    f"placed {placement}, but of {ray.cluster_resources().get('CPU', 0):g} CPUs it has "
                    f"{ray.available_resources().get('CPU', 0):g} free after {self._start_timeout:g} s")
            # what a worker needs comes with its first call: arguments of the constructor can be lost before a restart
            actor = ray.remote(num_cpus=share, max_restarts=-1)(Worker)
            for w in range(self.num_workers):
                place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=w)
                self._workers.append(actor.options(scheduling_strategy=place).remote())
            self._first_policy = ray.put(self._policy)
            refs = [self._begin(w) for w in range(self.num_workers)]
            for w, ref in enumerate(refs):
                self._meet(w, ref, until)
            self._find_nodes()
        except BaseException:
            self.close()
            raise

    def _begin(self, w):
        sync = None if self._learner_decides else self._sync
        recipe = {**self._recipe, "seed": self._seeds[self._rows(w)]}
        if self._factories is not None:
            recipe["factories"] = self._factories[self._rows(w)]
        # Ray repeats this one call by itself until there is a process again
        return self._workers[w].begin.options(max_task_retries=-1).remote(
            recipe, self._first_policy, sync, self._infos, self._imports)

    def _meet(self, w, ref, until):
        """Waits until a worker is there, and learns who it is."""
        try:
            self._of[w].life, self._of[w].pid = self._ray.get(ref, timeout=max(0.0, until - time.monotonic()))
        except self._ray.exceptions.GetTimeoutError:
            raise TimeoutError(f"worker {w}: expected it to be there within {self._start_timeout:g} s") from None
        except (self._ray.exceptions.RayActorError, self._ray.exceptions.RayTaskError) as error:
            raise RuntimeError(f"worker {w} could not be started: {error}") from error

    def _find_nodes(self):
        nodes = self._ray.util.placement_group_table(self._group)["bundles_to_node_id"]
        for w, known in enumerate(self._of):
            known.node = nodes[w]

    def _revived(self, w, ref):
        """Takes down that a worker was begun again.

        Returns:
            What tells it to go on, if it was at something: the observation parts seen last, and new seeds.
        """
        known = self._of[w]
        self._meet(w, ref, time.monotonic())
        self._find_nodes()
        known.restarts += 1
        known.sent = known.used = known.unanswered = 0
        known.sample = None
        if known.seen is None:
            return None
        entropy = np.random.SeedSequence([self._seeds[w * self.envs_per_worker], known.restarts])
        # 30 bits: every family takes them
        return known.seen, (entropy.generate_state(self.envs_per_worker) >> 2).tolist()

    # calls of workers

    def _call(self, w, method, *args, kl=math.nan):
        self._counts["number"] += 1
        self._of[w].unanswered += 1
        ref = getattr(self._workers[w], method).remote(self._of[w].life, *args)
        return _Call(ref, w, self._counts["number"], kl)

    def _call_policy(self, w, method, argument, lost):
        """Calls a worker that is to use its policy; with newer weights, if they are due."""
        known, kl = self._of[w], math.nan
        if known.sent == self._version:
            return self._call(w, method, argument, 0, None, lost)
        if self._learner_decides:
            def drift():
                nonlocal kl
                if known.sample is None:
                    return None
                version, obs, params = known.sample
                if version != known.sent:
                    # weights are on their way to it, as good as new
                    return 0.0
                new, _ = evaluated(self._policy, self.env_spec.joined(obs), len(params))
                kl = float(self._policy.distribution.kl(params, new).mean())
                return kl

            if not self._sync.due(self._version - known.sent, drift):
                return self._call(w, method, argument, 0, None, lost, kl=kl)
        known.sent = self._version
        if known.node not in self._on_nodes:
            self._on_nodes.add(known.node)
            self._counts["bytes_pulled"] += self._size
        return self._call(w, method, argument, self._version, self._weights, lost, kl=kl)

    def _answer(self, call, timeout):
        """Returns what a worker answered; None if it died or was started again."""
        try:
            answer = self._ray.get(call.ref, timeout=_seconds(timeout))
        except (*self._lost_errors, self._ray.exceptions.GetTimeoutError):
            return None
        except self._ray.exceptions.RayTaskError as error:
            raise RuntimeError(f"worker {call.worker}: {error.cause!r}") from error
        if answer is None:
            return None
        self._counts["bytes_received"] += _nbytes(answer)
        if math.isnan(answer.get("kl", 0.0)):
            answer["kl"] = call.kl
        return answer

    def _answers(self, submit, timeout, in_flight=1, endless=False):
        """Has all workers do the same, and yields (worker, answer) in the order in which answers come in.

        Args:
            submit: Called with a worker and None, or with what tells one that died how to go on; returns a `_Call`.
            timeout: Seconds for one call of a worker; then it is killed, and started again.
            in_flight: How many calls of each worker are made at once.
            endless: Whether, when the next answer is asked for, another call takes the place of the last one.
        """
        queues = [deque() for _ in range(self.num_workers)]
        # when the oldest call of each has to be answered: a worker does first what nobody waits for any more
        now = time.monotonic()
        due = [now + timeout * (1 + known.unanswered) for known in self._of]
        for _ in range(in_flight):
            for w, queue in enumerate(queues):
                queue.append(submit(w, None))
        # of those that are started again: how many calls are to be made once more
        reviving, failed = {}, Counter()

        def begin_again(w, is_late):
            failed[w] += 1
            if failed[w] > ATTEMPTS and is_late:
                raise TimeoutError(f"worker {w}: expected an answer within {timeout:g} s, but it took longer, or died, "
                                   f"{failed[w]} times in the same call: its environment or policy hangs, or timeout "
                                   "is too short")
            if failed[w] > ATTEMPTS:
                raise RuntimeError(f"worker {w} died {failed[w]} times in the same call: its environment or policy "
                                   "ends the process, or its node has not enough memory")
            # its later calls were for the one that died as well
            reviving[w] = len(queues[w])
            queues[w].clear()
            self._counts["number"] += 1
            queues[w].append(_Call(self._begin(w), w, self._counts["number"], math.nan))
            due[w] = time.monotonic() + self._start_timeout

        while any(queues):
            # the oldest first, so that nobody is passed over
            heads = {call.ref: call for call in sorted((q[0] for q in queues if q), key=lambda call: call.number)}
            late = min((call.worker for call in heads.values()), key=due.__getitem__)
            if time.monotonic() < due[late]:
                ready, _ = self._ray.wait(list(heads), num_returns=1, timeout=_seconds(due[late] - time.monotonic()))
                if not ready:
                    continue
            else:
                # others may be so fast that one of them is always ready; and an answer may still be on another node
                ready, _ = self._ray.wait([queues[late][0].ref], timeout=0, fetch_local=False)
                if not ready:
                    # for good: a process that is stopped takes notice of nothing else
                    self._ray.kill(self._workers[late], no_restart=False)
                    if late in reviving:
                        raise TimeoutError(f"worker {late}: expected it to be started again within "
                                           f"{self._start_timeout:g} s")
                    self._of[late].timeouts += 1
                    begin_again(late, is_late=True)
                    continue
            call = heads[ready[0]]
            w, queue = call.worker, queues[call.worker]
            if w in reviving:
                queue.popleft()
                lost = self._revived(w, call.ref)
                try:
                    for _ in range(reviving.pop(w)):
                        queue.append(submit(w, lost))
                        lost = None
                finally:
                    if lost is not None:
                        # it does not know how to go on: the next call starts it once more
                        self._of[w].life = None
                due[w] = time.monotonic() + timeout
                continue
            self._of[w].unanswered = len(queue) - 1
            answer = self._answer(call, timeout)
            if answer is None:
                begin_again(w, is_late=False)
                continue
            queue.popleft()
            failed[w] = 0
            due[w] = time.monotonic() + timeout
            # whoever takes it is the only one who holds memory of the object store
            given = [(w, answer)]
            del heads, ready, call, answer
            yield given.pop()
            if endless:
                if not queue:
                    due[w] = time.monotonic() + timeout
                queue.append(submit(w, None))

    def _gathered(self, submit, timeout):
        """Returns the answers of all workers to a call, in the order of workers."""
        answers = [None] * self.num_workers
        for w, answer in self._answers(submit, timeout):
            # a copy: it may be needed when the user has long overwritten his
            self._of[w].seen = [np.array(part) for part in answer["obs"]]
            answers[w] = answer
        return answers

    def _stream(self, num_steps, in_flight, timeout):
        self._expect_idle()
        self._streaming = True
        try:
            given = []
            for w, part in self._answers(lambda w, lost: self._call_policy(w, "rollout", num_steps, lost), timeout,
                                         in_flight, endless=True):
                given.append(self._single(w, part, num_steps))
                del part
                yield given.pop()
        finally:
            self._streaming = False

    def _single(self, w, part, num_steps):
        """Returns the `Rollout` of one worker."""
        arrays = part.pop("arrays")
        self._learn_rollout(w, part, arrays)
        self._counts["steps"] += num_steps * self.envs_per_worker
        version, kl = (np.full(self.envs_per_worker, part[name]) for name in ("version", "kl"))
        return assembled(self.env_spec, num_steps, arrays, [(0, part)], version, kl, w)

    # what is learned from answers

    def _learn_rollout(self, w, part, arrays):
        obs = [array for (kind, _), array in arrays.items() if kind == "obs"]
        self._of[w].seen = [array[-1].copy() for array in obs]
        self._learn(w, part, [array[:-1] for array in obs], arrays["step", "params"])

    def _learn(self, w, part, obs, params):
        """Takes down what a policy did: `obs` are parts (T, envs, ...) of what it saw, `params` what it said.

        None for `obs`: that is not known.
        """
        known = self._of[w]
        self._counts["calls"] += 1
        self._counts["syncs"] += part["version"] != known.used
        known.used = part["version"]
        self._lags[self._version - known.used] += 1
        if not math.isnan(part["kl"]):
            # the last one has infinity too
            self._kls[np.clip(np.searchsorted(KL_EDGES, part["kl"], "right") - 1, 0, len(self._kls) - 1)] += 1
        if obs is not None and self._learner_decides and hasattr(self._sync, "sample"):
            rows = max(1, self._sync.sample // self.envs_per_worker)
            steps = np.unique(np.linspace(0, len(params) - 1, rows).round().astype(int))
            known.sample = known.used, [_flat(part[steps]) for part in obs], _flat(params[steps])

    def _joined(self, parts):
        """Returns observations and infos of all workers as one."""
        for w, part in enumerate(parts):
            part["info"]["env_id"] = part["info"]["env_id"] + w * self.envs_per_worker
            if "players" in part["info"]:
                part["info"]["players"] = players_of(self.env_spec, part["info"]["env_id"])
        obs = [np.concatenate(each) for each in zip(*(part["obs"] for part in parts), strict=True)]
        return self.env_spec.joined(obs), joined_infos([part["info"] for part in parts], self.envs_per_worker)

    def _buffers_of(self, out, num_steps):
        if not isinstance(out, Rollout):
            raise TypeError(f"out: expected a Rollout, got {type(out).__name__}")
        if out.worker is not None or out.reward.shape != (num_steps, self.num_envs):
            raise ValueError(f"out: expected a Rollout of shape {(num_steps, self.num_envs)} from rollout(), "
                             f"got one of {out.reward.shape}" + " from stream()" * (out.worker is not None))
        return out.buffers

    def _rows(self, w):
        return slice(w * self.envs_per_worker, (w + 1) * self.envs_per_worker)

    def _limit(self, timeout):
        """Returns the seconds that a worker may take, of an argument."""
        return self._timeout if timeout is None else check_float("timeout", timeout, 0.001, math.inf)

    # what may be called when

    def _expect_open(self):
        if self.closed:
            raise ClosedError("the cluster's environments are closed")

    def _expect_policy(self):
        if self._policy is None:
            raise ValueError("policy: expected one, got None when the ClusterEnv was made")

    def _expect_idle(self, begun=False, policy=False):
        self._expect_open()
        if policy:
            self._expect_policy()
        if self._streaming:
            raise RuntimeError("a stream is under way: leave its loop, or close() the iterator, first")
        if begun and not self._begun:
            raise RuntimeError("reset() has to be called first")


def _seconds(limit):
    """Returns seconds as Ray wants them."""
    return None if limit == math.inf else max(0.0, limit)


def _differing(arrays, others):
    """Returns those of the (shape, dtype) by (kind, name) that the others have not, in words."""
    return ", ".join(f"{name} of {dtype}, shape {shape}" for (_, name), (shape, dtype) in arrays.items()
                     if others.get((_, name)) != (shape, dtype)) or "none"


def _flat(array):
    return np.array(array).reshape(-1, *array.shape[2:])


def _nbytes(value):
    """Returns the bytes of all arrays in dicts, lists and tuples."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return getattr(value, "nbytes", 0)
    return sum(map(_nbytes, value))
