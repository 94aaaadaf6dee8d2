"""Minari: data sets of a pool's steps. See docs/how_to/replay.md."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np

from cypool.adapters import require
from cypool.api.gymnasium import GymnasiumPool
from cypool.replay.buffer import ReplayBuffer
from cypool.replay.history import History, Repeated
from cypool.util.arguments import check_int, shown

minari = require("minari", "minari", "0.5.4", "0.6")


def to_minari(source: ReplayBuffer | History, dataset_id: str, **kwargs: Any) -> Any:
    """Writes the complete episodes of a buffer or a history to a data set, without losing information.

    A history's steps are replayed, after which the pool returns to its previous position. The episodes of a history
    include infos and reset seeds; episodes that were not recorded from their start are left out.

    Args:
        source: A buffer of single steps, or a history from `cypool.history`, for environments with one agent.
        dataset_id: An id in Minari's format, such as "pong/random-v0".
        **kwargs: As in `minari.create_dataset_from_buffers`, such as `author` and `description`.

    Returns:
        The `minari.MinariDataset`.

    Raises:
        TypeError, ValueError: `source` has no complete episode, or Minari rejects the data.
        RuntimeError: As in `History.seek`.
    """
    if isinstance(source, History):
        return _written(source.env, dataset_id, _episodes_of(source), kwargs)
    if not isinstance(source, ReplayBuffer):
        raise TypeError(f"source: expected a ReplayBuffer or a History, got {shown(source)}")
    episodes = [
        minari.data_collector.EpisodeBuffer(
            id=k, observations=each.obs, actions=each.action, rewards=each.reward, terminations=each.terminated,
            truncations=each.truncated)
        for k, each in enumerate(source.episodes())]
    return _written(source.env, dataset_id, episodes, kwargs)


def _episodes_of(history: History) -> list[Any]:
    """Returns the complete episodes of a history."""
    spec = history.env.env_spec
    if spec.agents:
        raise ValueError("source: expected a history of environments with one agent")
    pieces: dict[int, _Piece] = {}
    seeds: dict[int, int] = {}
    episodes: list[Any] = []

    def begin(obs: Any, info: dict[str, Any]) -> None:
        pieces.clear()
        for i in np.flatnonzero(info["elapsed_step"] == 0).tolist():
            pieces[i] = _Piece(spec, obs, info, i)
        seeds.clear()

    def visit(made: Repeated) -> None:
        obs, reward, terminated, truncated, info = made.batch
        last = None
        if "final" in info:
            # as the step left it
            final, own = info["final"]
            last = final, {**own, "elapsed_step": info["elapsed_step"]}
        for k, i in enumerate(info["env_id"].tolist()):
            over = bool(terminated[k] or truncated[k])
            piece = pieces.pop(i, None)
            if made.stepped[k] and piece is not None:
                shown_obs, shown_info = last if over and last is not None else (obs, info)
                piece.add(shown_obs, made.actions, reward, terminated, truncated, shown_info, k)
                if over:
                    episodes.append(piece.episode(len(episodes), seeds.pop(i, None)))
                else:
                    pieces[i] = piece
            if made.starts[k] or (made.stepped[k] and over and last is not None):
                pieces[i] = _Piece(spec, obs, info, k)
                seeds.pop(i, None)
                if i in made.seeds:
                    seeds[i] = made.seeds[i]
            elif not made.stepped[k] and piece is not None and not over:
                # only observed
                pieces[i] = piece

    history.repeat(begin, visit)
    return episodes


def from_minari(dataset: Any, buffer: ReplayBuffer) -> None:
    """Stores the episodes of a data set in a buffer, distributing them over the environments' rings.

    Args:
        dataset: A `minari.MinariDataset`, or the id of one.
        buffer: A buffer for environments with the same observations and actions as the data set.

    Raises:
        TypeError, ValueError: The observations or actions differ.
    """
    if isinstance(dataset, str):
        dataset = minari.load_dataset(dataset)
    num_envs, spec = buffer.env.num_envs, buffer.env.env_spec
    for k, episode in enumerate(dataset.iterate_episodes()):
        env_id = [k % num_envs]
        count = len(episode.rewards)
        # an episode that was cut off
        truncated = episode.truncations.astype(np.bool_)
        truncated[-1:] |= ~episode.terminations[-1:].astype(np.bool_)
        for t in range(count):
            now, after = ([np.asarray(part)[at:at + 1] for part in spec.unpack(episode.observations)]
                          for at in (t, t + 1))
            buffer.add(spec.pack(now), _row_of(episode.actions, t), episode.rewards[t:t + 1], spec.pack(after),
                       episode.terminations[t:t + 1].astype(np.bool_), truncated[t:t + 1], env_id)


def record_dataset(env: GymnasiumPool, policy: Callable[[Any], Any], num_episodes: int, dataset_id: str,
                   **kwargs: Any) -> Any:
    """Records episodes as a data set, with infos and seeds.

    Each environment's first episode is stored with its reset seed; later episodes continue the random stream.

    Args:
        env: A synchronous pool with `autoreset_mode="NextStep"` and one agent. The pool is reset.
        policy: Returns actions for the observations of all environments.
        num_episodes: Number of episodes to record: the first ones to end.
        dataset_id, **kwargs: As in `to_minari`.

    Returns:
        The `minari.MinariDataset`.

    Raises:
        TypeError, ValueError: Wrong arguments.
    """
    num_episodes = check_int("num_episodes", num_episodes, 1, 2**31 - 1)
    if env.is_async or env.metadata["autoreset_mode"].value != "NextStep" or env.env_spec.agents:
        raise ValueError(f"env: expected a synchronous single-agent pool with NextStep autoreset, got {shown(env)}")
    spec = env.env_spec
    episodes: list[Any] = []
    obs, info = env.reset()
    seeds: list[int | None] = [seed if seed >= 0 else None for seed in env.np_random_seed]
    pieces: list[Any] = [_Piece(spec, obs, info, i) for i in range(env.num_envs)]
    while len(episodes) < num_episodes:
        actions = policy(obs)
        obs, reward, terminated, truncated, info = env.step(actions)
        for i, piece in enumerate(pieces):
            if piece is None:
                # this row begins an episode
                pieces[i] = _Piece(spec, obs, info, i)
                continue
            piece.add(obs, actions, reward, terminated, truncated, info, i)
            if (terminated[i] or truncated[i]) and len(episodes) < num_episodes:
                episodes.append(piece.episode(len(episodes), seeds[i]))
                pieces[i], seeds[i] = None, None
    return _written(env, dataset_id, episodes, kwargs)


class _Piece:
    """The steps of an episode so far."""

    def __init__(self, spec: Any, obs: Any, info: dict[str, Any], i: int):
        self._spec, self._names = spec, [*spec.info, "elapsed_step"]
        self._obs = [self._row(obs, i)]
        self._infos = [[info[name][i].copy() for name in self._names]]
        self._steps: list[Any] = []

    def _row(self, obs: Any, i: int) -> list[Any]:
        return [part[i].copy() for part in self._spec.unpack(obs)]

    def add(self, obs: Any, actions: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any],
            i: int) -> None:
        self._obs.append(self._row(obs, i))
        self._infos.append([info[name][i].copy() for name in self._names])
        # at the end of an episode it may be of the next one
        self._infos[-1][-1] = self._infos[-2][-1] + 1
        self._steps.append((_row_of(actions, i), reward[i], terminated[i], truncated[i]))

    def episode(self, number: int, seed: int | None) -> Any:
        actions, rewards, terminations, truncations = zip(*self._steps, strict=True)
        return minari.data_collector.EpisodeBuffer(
            id=number, seed=seed, observations=self._spec.pack([np.stack(part) for part in zip(
                *self._obs, strict=True)]), actions=_joined(actions), rewards=np.array(rewards),
            terminations=np.array(terminations), truncations=np.array(truncations),
            infos={name: np.stack(values) for name, values in zip(
                self._names, zip(*self._infos, strict=True), strict=True)})


def _row_of(actions: Any, k: int) -> Any:
    """Returns a copy of one action, as an array of one row."""
    if isinstance(actions, dict):
        return {name: _row_of(part, k) for name, part in actions.items()}
    return np.asarray(actions)[k:k + 1].copy()


def _joined(actions: Iterable[Any]) -> Any:
    rows = list(actions)
    if isinstance(rows[0], dict):
        return {name: _joined(row[name] for row in rows) for name in rows[0]}
    return np.concatenate(rows)


def _written(env: Any, dataset_id: str, episodes: list[Any], kwargs: dict[str, Any]) -> Any:
    if not isinstance(env, GymnasiumPool):
        raise TypeError(f"source: expected a source whose pool has Gymnasium's API, got {shown(env)}")
    if not episodes:
        raise ValueError("source: expected at least one complete episode, got none")
    # a picture would not be the same any more
    kwargs = {"jpeg_encoding": False, "description": f"{env.env_spec.id}, {dict(env.env_spec.options)}", **kwargs}
    found = getattr(env, "spec", None)
    if found is not None and not env._pool.is_hosted and env.recipe.get("env_options") is None:
        # one environment, as `gymnasium.make` makes it
        registered = gymnasium.registry.get(found.id)
        if registered is not None:
            kwargs.setdefault("env", replace(found, kwargs={**registered.kwargs, **env.env_spec.options}))
    return minari.create_dataset_from_buffers(
        dataset_id, episodes, observation_space=env.single_observation_space, action_space=env.single_action_space,
        **kwargs)
