"""The public functions that make pools."""
from __future__ import annotations

import contextlib
from enum import Enum
from typing import TYPE_CHECKING, Any, overload

from cypool.registration.registry import NAMES_ALL, is_env, is_task, make_spec, reserve
from cypool.util.arguments import check_bool, check_list, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal, ParamSpec, Protocol

    import gymnasium

    from cypool.api.aec import AECEnv
    from cypool.api.base import VectorAPI
    from cypool.api.dm import DmPool
    from cypool.api.gym import GymPool
    from cypool.api.gymnasium import GymnasiumPool
    from cypool.api.pettingzoo import ParallelEnv
    from cypool.engine.engine import ThreadPool
    from cypool.util.typing import Seed

    AutoresetMode = Literal["NextStep", "SameStep", "Disabled"] | gymnasium.vector.AutoresetMode


# arguments stand once, in the function's signature, which `inspect.signature` and editors show. A TypedDict would be a
# second list, without the defaults, and type checkers would accept no other options
if TYPE_CHECKING:
    P = ParamSpec("P")

    class _Make(Protocol[P]):
        def __call__(self, id: str, env_type: str = ..., *args: P.args, **kwargs: P.kwargs) -> VectorAPI: ...

    class _MakeOfType(Protocol[P]):
        @overload
        def __call__(self, id: str, env_type: Literal["gymnasium"] = ..., *args: P.args,
                     **kwargs: P.kwargs) -> GymnasiumPool: ...
        @overload
        def __call__(self, id: str, env_type: Literal["gym"], *args: P.args, **kwargs: P.kwargs) -> GymPool: ...
        @overload
        def __call__(self, id: str, env_type: Literal["dm"], *args: P.args, **kwargs: P.kwargs) -> DmPool: ...
        @overload
        def __call__(self, id: str, env_type: str, *args: P.args, **kwargs: P.kwargs) -> VectorAPI: ...

    Factories = Sequence[Callable[[], Any]]

    class _FromFactories(Protocol[P]):
        def __call__(self, factories: Factories, env_type: str = ..., *args: P.args,
                     **kwargs: P.kwargs) -> VectorAPI: ...

    class _FromFactoriesOfType(Protocol[P]):
        @overload
        def __call__(self, factories: Factories, env_type: Literal["gymnasium"] = ..., *args: P.args,
                     **kwargs: P.kwargs) -> GymnasiumPool: ...
        @overload
        def __call__(self, factories: Factories, env_type: Literal["gym"], *args: P.args,
                     **kwargs: P.kwargs) -> GymPool: ...
        @overload
        def __call__(self, factories: Factories, env_type: Literal["dm"], *args: P.args,
                     **kwargs: P.kwargs) -> DmPool: ...
        @overload
        def __call__(self, factories: Factories, env_type: str, *args: P.args, **kwargs: P.kwargs) -> VectorAPI: ...


@overload
def _typed(function: _Make[P]) -> _MakeOfType[P]: ...
@overload
def _typed(function: _FromFactories[P]) -> _FromFactoriesOfType[P]: ...
def _typed(function: Any) -> Any:
    """Types a function so that its `env_type` determines the class that it returns."""
    return function


@_typed
def make(id: str, env_type: str = "gymnasium", *,
         num_envs: int | None = None, batch_size: int | None = None, num_threads: int | None = None,
         seed: Seed = None, max_episode_steps: int | None = None, autoreset_mode: AutoresetMode = "NextStep",
         episode_statistics: bool = False, normalize_obs: bool = False, normalize_reward: bool = False,
         render_mode: Literal["rgb_array", "ansi"] | None = None, thread_pool: ThreadPool | None = None,
         thread_affinity: Literal["numa"] | Sequence[int] | None = None,
         env_options: Sequence[Mapping[str, Any]] | None = None, reward_hook: Any = None, observation_hook: Any = None,
         debug: bool = False, **options: Any) -> VectorAPI:
    """Makes a batch of environments.

    Args:
        id: An id of `list_all_envs()`, such as "Pong-v5"; or "gymnasium:" and a Gymnasium id, which runs Gymnasium's
            environments in workers, like `from_factories`; or "pettingzoo:" and a module, such as
            "butterfly/pistonball_v6"; or a subclass of `cypool.mujoco.Task`, or an instance of one.
        env_type: The API of the result: "gymnasium"; "gym", the classic API before Gym 0.26; or "dm", the API of
            dm_env.
        num_envs: Number of environments, 1 to 1,048,576; by default one, or as many as the id stands for, such as ten
            for a benchmark of ten tasks.
        batch_size: Number of environments that one `recv` returns. By default `num_envs`: synchronous. If it is lower,
            the pool is asynchronous and returns the first to finish.
        num_threads: Threads that step environments, 0 to 4096. By default one for each CPU available to this process,
            or several per CPU if steps mostly wait, but at most `batch_size`. The caller of a synchronous pool is one
            of them, so 0 and 1 run everything on its thread; an asynchronous pool does so only with 0. For Gymnasium's
            environments, use `num_workers`.
        seed: An int: environment i gets `seed + i`, unless the id defines otherwise; or a sequence with one int per
            environment. By default, seeds come from the operating system, and Gymnasium's environments are reset
            without a seed.
        max_episode_steps: Overrides the step limit of the id.
        autoreset_mode: "NextStep", "SameStep" or "Disabled", or a `gymnasium.vector.AutoresetMode`: when an environment
            starts its next episode. The env_types "gym" and "dm" support only "NextStep".
        episode_statistics: Whether infos contain return, length and time of finished episodes: `info["episode"]`, like
            Gymnasium's RecordEpisodeStatistics. Not with env_type "dm".
        normalize_obs, normalize_reward: Whether to normalize observations and rewards with running statistics: see
            `cypool.api.normalized.NormalizedPool`. Only with env_type "gymnasium".
        render_mode: "rgb_array" or None, which are equivalent: `render()` always works if the environment supports it.
            Or "ansi", if `make_spec(id).render_modes` contains it: `render()` returns strings. Gymnasium's environments
            need a mode for `render()`.
        thread_pool: A `cypool.ThreadPool` with threads to share with other pools, instead of `num_threads`.
        thread_affinity: The CPUs that threads run on: a sequence of CPU numbers, assigned to the threads in turn; or
            "numa", which spreads them over the memory nodes. The caller of a synchronous pool, which is one of the
            threads, is not moved. By default, the operating system decides.
        env_options: A sequence with one dict per environment, for options that differ between them; added to `options`.
            All environments must have the same observations and actions.
        reward_hook: A function that computes the reward: a C function, which the threads call for each environment, or
            a Python function, which is called for each batch. See `cypool.hooks`.
        observation_hook: The same for the observation. If its result needs a different description from the
            environment's, pass a pair of the function and that description: an `Array` or `Discrete` of `cypool.spec`,
            or a dict or tuple of them.
        debug: Whether to check what environments write: writing outside of the described row raises an `EnvError` that
            describes the fault. This is slow.
        **options: Options of the environment; `make_spec(id).options` lists them with their defaults. For Gymnasium's
            environments: arguments of `gymnasium.make`, and `workers`, `num_workers`, `start_method` and
            `worker_timeout`, as in `from_factories`.

    Returns:
        For "gymnasium", a `cypool.api.gymnasium.GymnasiumPool`, which is a `gymnasium.vector.VectorEnv`; for "gym", a
        `cypool.api.gym.GymPool`; for "dm", a `cypool.api.dm.DmPool`, which is a `dm_env.Environment`.

    Raises:
        ValueError: An unknown id or option, or a value out of range.
        TypeError: A value of the wrong type.
        ImportError: The API's library is not installed.
    """
    arguments = dict(locals())
    if not isinstance(id, str) and not is_task(id):
        one = id[0] if isinstance(id, list | tuple) and id else id
        is_python = callable(one) and not is_env(one)
        hint = "from_factories([MyEnv] * 8) makes Python environments" if is_python else NAMES_ALL
        raise ValueError(f"id: no environment {shown(id)}; {hint}")
    return _make(arguments.pop("id"), **arguments)


@_typed
def from_factories(factories: Sequence[Callable[[], Any]], env_type: str = "gymnasium", *,
                   batch_size: int | None = None, seed: Seed = None,
                   max_episode_steps: int | None = None, autoreset_mode: AutoresetMode = "NextStep",
                   episode_statistics: bool = False, workers: Literal["auto", "processes", "threads"] = "auto",
                   num_workers: int | None = None,
                   start_method: Literal["forkserver", "spawn"] | None = "forkserver",
                   worker_timeout: float | None = None) -> VectorAPI:
    """Makes a batch of Python environments, one from each function, in workers.

    Args:
        factories: A sequence of functions without arguments; each returns a `gymnasium.Env`, an object with the same
            spaces, `reset` and `step`, or a PettingZoo environment. All must have the same spaces: Box, Discrete,
            MultiDiscrete or MultiBinary, and for observations also a Dict or Tuple of these.
        env_type, batch_size, autoreset_mode, episode_statistics: As in `make`.
        seed: An int: the first reset of environment i gets `seed + i`; or a sequence with one int or None per
            environment. By default, resets get no seed, as in Gymnasium.
        max_episode_steps: Truncates episodes after this number of steps, if the environments do not end them earlier.
        workers: "processes"; or "threads" of this process, which suit environments that mostly wait, and free-threaded
            Python. Threads cannot stop an environment that never returns. "auto": processes.
        num_workers: Number of workers, 0 to 4096; by default one per environment. With fewer, a worker steps several
            environments in turn. 0: the caller's thread steps them.
        start_method: "forkserver" or None: processes are forked from a fresh interpreter, which imports their modules
            once; "spawn": each process is a fresh interpreter.
        worker_timeout: Maximum seconds for a step or a reset, even while the process is paused; after that, a new one
            replaces it. Not with threads. Unlimited by default; `recv(timeout=...)` and Ctrl-C always end a wait.

    Returns:
        A pool, as from `make`.

    Raises:
        ValueError, TypeError: As in `make`; or the spaces differ, or are of other kinds.
        Exception: The exception that a factory raised.
        WorkerError: A process ended before it was ready.
    """
    arguments = dict(locals())
    factories = check_list("factories", arguments.pop("factories"), "a sequence of functions, such as [MyEnv] * 8")
    if not factories or not all(map(callable, factories)):
        is_made = any(hasattr(type(each), "step") and not callable(each) for each in factories)
        hint = ": pass the class, or lambda: MyEnv(...), instead of an environment" if is_made else ""
        raise TypeError("factories: expected functions that make environments, such as [MyEnv] * 8, got "
                        f"{shown(factories)}{hint}")
    options = {name: arguments.pop(name) for name in ("workers", "num_workers", "start_method", "worker_timeout")}
    return _make(factories, num_envs=len(factories), options=options, **arguments)


def parallel_env(id: str, **kwargs: Any) -> ParallelEnv:
    """Makes one environment with several agents, using PettingZoo's parallel API.

    Args:
        id: An id of `list_all_envs()` with several agents, such as "mpe2/simple_spread-v3".
        **kwargs: `max_episode_steps`, `render_mode`, hooks, `debug` and options of the environment, as in `make`.

    Returns:
        A `cypool.api.pettingzoo.ParallelEnv`, which is a `pettingzoo.ParallelEnv`.

    Raises:
        ValueError: The environment has only one agent; or as in `make`.
        TypeError: As in `make`.
        ImportError: PettingZoo is not installed.
    """
    with _needing_pettingzoo("parallel_env"):
        from cypool.api.pettingzoo import ParallelEnv
    return ParallelEnv(_pool_of_one(id, kwargs))


def aec_env(id: str, **kwargs: Any) -> AECEnv:
    """Makes one turn-based game, using PettingZoo's AEC API.

    Args:
        id: An id of `list_all_envs()` with turns, such as "board/connect_four-v0".
        **kwargs: As in `parallel_env`. In a game with several views, all players observe.

    Returns:
        A `cypool.api.aec.AECEnv`, which is a `pettingzoo.AECEnv`.

    Raises:
        ValueError: The environment has no turns; or as in `make`.
        TypeError: As in `make`.
        ImportError: PettingZoo is not installed.
    """
    with _needing_pettingzoo("aec_env"):
        from cypool.api.aec import AECEnv
    if "view" in make_spec(id).options:
        kwargs.setdefault("view", "players")
    return AECEnv(_pool_of_one(id, kwargs))


@contextlib.contextmanager
def _needing_pettingzoo(function: str) -> Iterator[None]:
    """Names the package to install if PettingZoo cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "pettingzoo":
            raise
        raise ImportError(f'{function}: PettingZoo is not installed: pip install "cypool[pettingzoo]"') from error


def _pool_of_one(id: str, kwargs: dict[str, Any]) -> Any:
    """Returns a pool of one environment that waits for a reset after the end of its episode."""
    fixed: dict[str, Any] = {"env_type": "gymnasium", "num_envs": 1, "num_threads": 0, "autoreset_mode": "Disabled"}
    for name in fixed.keys() & kwargs.keys():
        raise ValueError(f"{name}: expected no value (it is always {fixed[name]!r} here), got "
                         f"{shown(kwargs[name])}")
    return make(id, **fixed, **kwargs)


reserve(make)


def _make(source: str | list[Callable[[], Any]], env_type: str, *, autoreset_mode: Any, episode_statistics: bool,
          normalize_obs: bool = False, normalize_reward: bool = False, render_mode: str | None = None,
          thread_affinity: Any = None, **arguments: Any) -> VectorAPI:
    """Makes the pool of `make` and `from_factories`; `source` is an id or a list of functions."""
    from cypool.making.assembly import make_pool

    api = _api_class(env_type)
    mode = _autoreset_mode(autoreset_mode, api, env_type)
    statistics = check_bool("episode_statistics", episode_statistics)
    if statistics and not api.has_statistics:
        raise ValueError(f"episode_statistics: expected False for env_type {env_type!r}, which cannot return them")
    normal = {"normalize_obs": check_bool("normalize_obs", normalize_obs),
              "normalize_reward": check_bool("normalize_reward", normalize_reward)}
    for name, wanted in normal.items():
        if wanted and env_type != "gymnasium":
            raise ValueError(f"{name}: expected False for env_type {env_type!r}")
    if thread_affinity is not None and not isinstance(thread_affinity, str):
        # the recipe reads it again
        thread_affinity = check_list("thread_affinity", thread_affinity, "'numa' or a sequence of CPU numbers")
    pool, spec, chosen = make_pool(source, autoreset=api.autoreset_modes[mode], statistics=statistics,
                                   allow_python_envs=True, render_mode=render_mode, thread_affinity=thread_affinity,
                                   **arguments)
    env: VectorAPI
    if any(normal.values()):
        from cypool.api.normalized import NormalizedPool

        env = NormalizedPool(pool, spec, mode, *normal.values())
    else:
        env = api(pool, spec, mode)
    # environments of a backend know their own
    if not pool.is_hosted:
        env._seeds[:] = chosen["seed"]
    # for pickle: how to make fresh environments, with the same seeds and the options that were drawn
    env._make_again = _make_again
    env._recipe = dict(env_type=env_type, batch_size=env.batch_size, max_episode_steps=spec.max_episode_steps,
                       autoreset_mode=mode, episode_statistics=statistics, **chosen)
    if isinstance(source, list):
        env._recipe.update(factories=source)
    else:
        env._recipe.update(id=source, num_envs=env.num_envs, num_threads=env.num_threads,
                           thread_affinity=thread_affinity, render_mode=render_mode, **normal)
    return env


def _make_again(recipe: dict[str, Any]) -> VectorAPI:
    result: VectorAPI = from_factories(**recipe) if "factories" in recipe else make(**recipe)
    return result


def _autoreset_mode(given: Any, api: type[VectorAPI], env_type: str) -> str:
    # an AutoresetMode is known by its value
    mode = given.value if isinstance(given, Enum) else given
    if not isinstance(mode, str) or mode not in api.autoreset_modes:
        known = ", ".join(map(repr, api.autoreset_modes))
        raise ValueError(f"autoreset_mode: expected one of {known} for env_type {env_type!r}, got {shown(given)}")
    return mode


def _api_class(env_type: str) -> Any:
    """Returns the class of the API; imports only that class."""
    if not isinstance(env_type, str):
        hint = " (pass num_envs by name)" if isinstance(env_type, int) else ""
        raise ValueError(f"env_type: expected 'gymnasium', 'gym' or 'dm', got {shown(env_type)}{hint}")
    if env_type == "gymnasium":
        from cypool.api.gymnasium import GymnasiumPool
        return GymnasiumPool
    if env_type == "gym":
        from cypool.api.gym import GymPool
        return GymPool
    if env_type == "dm":
        from cypool.api.dm import DmPool
        return DmPool
    raise ValueError(f"env_type: expected 'gymnasium', 'gym' or 'dm', got {shown(env_type)}")
