"""The package's two evaluation protocols for pools: multi-task agents, and agents that adapt to a task first."""
from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from cypool.state import State
from cypool.util.arguments import check_int, shown
from cypool.util.typing import Bools

# a `cypool.api.gymnasium.GymnasiumPool`, which a family cannot name
Pool = Any


class Timestep(NamedTuple):
    """A step that an agent takes while it adapts: batches with one row for each environment."""

    observation: Any
    action: Any
    reward: Any
    terminated: Any
    truncated: Any
    aux_policy_outputs: Any


class Agent(Protocol):
    """The agent that `evaluate` expects."""

    def eval_action(self, observations: Any, /) -> Any:
        """Returns actions for a batch of observations; they are clipped to [-1, 1]."""

    def reset(self, env_mask: Bools, /) -> None:
        """Is called with a mask of the environments in which an episode begins."""


class MetaLearningAgent(Agent, Protocol):
    """The agent that `evaluate_meta_learning` expects."""

    def init(self) -> None:
        """Forgets the previous tasks."""

    def adapt_action(self, observations: Any, /) -> tuple[Any, Any]:
        """Returns actions, and additional arguments for `step`."""

    def step(self, timestep: Timestep, /) -> None:
        """Receives a step."""

    def adapt(self) -> None:
        """Learns from the steps."""


class Evaluation(NamedTuple):
    """The result of `evaluate`.

    Attributes:
        mean_success_rate: Over tasks.
        mean_return: Over all episodes.
        success_rate: By task.
        returns: Returns of all episodes, by task.
    """

    mean_success_rate: float
    mean_return: float
    success_rate: dict[str, float]
    returns: dict[str, list[float]]


def task_names(env: Pool) -> list[str]:
    """Returns the task of each environment of a pool."""
    return [row["options"]["task"] for row in env.save().rows]


def change(env: Pool, *, terminate_on_success: bool | None = None, sample_tasks_on_reset: bool | None = None,
           sample_tasks: bool = False) -> None:
    """Changes these options of a pool's environments from now on; None leaves them unchanged.

    Args:
        env: The pool, which must have been reset.
        terminate_on_success: Whether an episode ends with success.
        sample_tasks_on_reset: Whether each reset chooses a goal.
        sample_tasks: Makes the next reset choose a goal, unless the current one was never played.
    """
    state = env.save()
    rows = []
    for row in state.rows:
        *before, own, drawn, view, version = row["own"]
        *rest, ends, samples, samples_next, is_unplayed, statistics, written = own
        ends = ends if terminate_on_success is None else bool(terminate_on_success)
        samples = samples if sample_tasks_on_reset is None else bool(sample_tasks_on_reset)
        own = (*rest, ends, samples, samples_next or sample_tasks, is_unplayed, statistics, written)
        rows.append({**row, "own": (*before, own, drawn, view, version)})
    env.load(State(state.env_id, rows))


def evaluate(agent: Agent, env: Pool, num_episodes: int = 50) -> Evaluation:
    """Counts how often an agent succeeds: `metaworld.evaluation.evaluation`.

    Each task is played until `num_episodes` of its episodes have ended; success ends an episode. Afterwards, episodes
    end as they did before.

    Args:
        agent: The agent.
        env: A pool of Meta-World tasks with `autoreset_mode="SameStep"`, which must have been reset.
        num_episodes: Episodes per task.
    """
    num_episodes = check_int("num_episodes", num_episodes, 1, 2**31 - 1)
    _check_pool(env)
    before = [row["own"][4][5] for row in env.save().rows]
    change(env, terminate_on_success=True)
    names = task_names(env)
    returns: dict[str, list[float]] = {name: [] for name in names}
    successes = dict.fromkeys(names, 0)
    obs, _ = env.reset()
    agent.reset(np.ones(env.num_envs, np.bool_))
    total = np.zeros(env.num_envs)
    while min(map(len, returns.values())) < num_episodes:
        obs, reward, terminated, truncated, info = env.step(_clipped(env, agent.eval_action(obs)))
        total += reward
        ended = terminated | truncated
        agent.reset(ended)
        for i in np.flatnonzero(ended):
            if len(returns[names[i]]) < num_episodes:
                returns[names[i]].append(float(total[i]))
                successes[names[i]] += int(info["final_info"]["success"][i])
            total[i] = 0
    change(env, terminate_on_success=all(before))
    rates = {name: count / num_episodes for name, count in successes.items()}
    return Evaluation(float(np.mean(list(rates.values()))), float(np.mean(list(returns.values()))), rates, returns)


def evaluate_meta_learning(agent: MetaLearningAgent, env: Pool, num_evals: int = 10, adaptation_steps: int = 1,
                           adaptation_episodes: int = 10, evaluation_episodes: int = 3) -> Evaluation:
    """Counts how often an agent succeeds after it has adapted: `metaworld.evaluation.metalearning_evaluation`.

    Args:
        agent: The agent.
        env: A pool of Meta-World tasks with `autoreset_mode="SameStep"`, such as "Meta-World/ML10-test", which must
            have been reset.
        num_evals: How many times new goals are chosen.
        adaptation_steps: How many times the agent adapts to each goal.
        adaptation_episodes: Number of episodes before each adaptation.
        evaluation_episodes: Episodes per task after adapting.

    Returns:
        The means over all evaluations, and the returns of all episodes.
    """
    counts = {"num_evals": num_evals, "adaptation_steps": adaptation_steps, "adaptation_episodes": adaptation_episodes}
    for name, count in counts.items():
        check_int(name, count, 1, 2**31 - 1)
    _check_pool(env)
    change(env, sample_tasks_on_reset=False, terminate_on_success=False)
    found = []
    for _ in range(num_evals):
        change(env, sample_tasks=True)
        agent.init()
        for _ in range(adaptation_steps):
            obs, _ = env.reset()
            episodes = np.zeros(env.num_envs, np.int64)
            while episodes.min() < adaptation_episodes:
                actions, outputs = agent.adapt_action(obs)
                next_obs, reward, terminated, truncated, _ = env.step(_clipped(env, actions))
                agent.step(Timestep(obs, actions, reward, terminated, truncated, outputs))
                episodes += terminated | truncated
                obs = next_obs
            agent.adapt()
        found.append(evaluate(agent, env, evaluation_episodes))
    names = found[0].returns
    return Evaluation(float(np.mean([each.mean_success_rate for each in found])),
                      float(np.mean([each.mean_return for each in found])),
                      {name: float(np.mean([each.success_rate[name] for each in found])) for name in names},
                      {name: [value for each in found for value in each.returns[name]] for name in names})


def _check_pool(env: Pool) -> None:
    mode = env.metadata["autoreset_mode"].value
    if mode != "SameStep":
        raise ValueError(f"env: expected a pool with autoreset_mode='SameStep', got {shown(mode)}")
    if not env.env_spec.id.startswith(("Meta-World/", "MetaWorld/")):
        raise ValueError(f"env: expected a pool of Meta-World tasks, got {shown(env.env_spec.id)}")


def _clipped(env: Pool, actions: Any) -> Any:
    """Returns actions within a pool's bounds; the package clips them itself."""
    return np.clip(np.asarray(actions), -1, 1).astype(env.single_action_space.dtype)
