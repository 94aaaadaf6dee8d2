"""The spec of Meta-World's environments: options, spaces and infos, and a check of saved arms."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cypool.envs.metaworld.tasks import MOST_GOALS, TASKS, check_goals
from cypool.envs.shared.mujoco.specs import PHYSICS, check_with_model, observation_of, randomized, simulation
from cypool.options import boolean, choice, integer, number, unchecked
from cypool.spec import Array, EnvSpec
from cypool.state import check_state
from cypool.util.arguments import check_int

_INFO = {**{name: Array((), np.float64) for name in (
    "success", "near_object", "grasp_success", "grasp_reward", "in_place_reward", "obj_to_target", "unscaled_reward")},
    "unstable": Array((), np.int32, 0)}
# least and greatest observed numbers of the hand and the objects
_FRAME = [-0.525, 0.348, -0.0525, -1] + [-np.inf] * 14, [0.525, 1.025, 0.7, 1] + [np.inf] * 14

OPTIONS = {
    "task": choice("reach-v3", TASKS, "The task: one of `cypool.envs.metaworld.tasks.TASKS`."),
    "goals": unchecked(None, "The goals that resets choose from: a sequence of goals, each given as the three or "
                             "six numbers that a reset draws for the task; None: the `num_goals` goals that the "
                             "package draws for a benchmark of this task with the environment's seed."),
    "num_goals": integer(50, 1, MOST_GOALS, "Number of goals if `goals` is not given."),
    "task_select": choice("random", ("random", "pseudorandom", "fresh"),
                          'How a reset chooses a goal: "random"; "pseudorandom", all in turn, reshuffled after each '
                          'round; or "fresh", a new goal each time.'),
    "sample_tasks_on_reset": boolean(None, "Whether every reset chooses a goal, instead of only the first; None: True, "
                                           'except with "pseudorandom".'),
    "partially_observable": boolean(False, "Hides the goal: observations contain zeros instead."),
    "terminate_on_success": boolean(False, "Ends the episode on success."),
    "use_one_hot": boolean(False, "Adds the task to the observation as a one-hot vector: `num_tasks` numbers, with 1 "
                                  "at `task_index`."),
    "task_index": unchecked(0, "See `use_one_hot`."),
    "num_tasks": integer(1, 1, 1000, "See `use_one_hot`."),
    "recurrent_info_in_obs": boolean(False, "Adds the last action, the reward and an end-of-episode flag to the "
                                            "observation."),
    "normalize_reward_in_recurrent_info": boolean(True, "Divides the reward in the observation by 10."),
    "reward_function_version": choice("v2", ("v1", "v2"), 'The reward: "v2", or "v1" as in early Meta-World.'),
    "reward_normalization_method": choice(
        None, ("gymnasium", "exponential"),
        '"gymnasium" divides rewards by the standard deviation of their discounted sum, "exponential" by their '
        "exponentially weighted standard deviation; None: rewards are unchanged. Unlike with `cypool.make`'s "
        "`normalize_reward`, each environment has its own statistics, which start when it is seeded."),
    "reward_alpha": number(0.001, 0, 1, 'The weight of the newest reward in "exponential" normalization, 0 to 1.'),
    "normalize_observations": boolean(False, "Normalizes observations to mean 0 and variance 1 with each "
                                             "environment's own statistics; they are then float32."),
    "obs_dtype": choice(None, ("float64", "float32"), 'Dtype of observations; None: "float32" with `use_one_hot`, '
                                                      "`recurrent_info_in_obs` or `normalize_observations`, as in "
                                                      "the package's vector environments, else \"float64\"."),
    "default_camera_config": unchecked(None, "The free camera, as for the MuJoCo environments."),
    "physics": PHYSICS,
}


def sawyer(options: dict[str, Any], common: dict[str, Any], load_model: Callable[[str], Any]) -> EnvSpec:
    """Returns the spec of an arm from its checked options and the given ones of all simulations."""
    has_task, has_last_step = options["use_one_hot"], options["recurrent_info_in_obs"]
    is_normalized = options["normalize_observations"]
    if options["goals"] is not None:
        options["goals"] = check_goals(options["task"], options["goals"])
        options["num_goals"] = len(options["goals"])
    if options["sample_tasks_on_reset"] is None:
        options["sample_tasks_on_reset"] = options["task_select"] != "pseudorandom"
    options["task_index"] = check_int("task_index", options["task_index"], 0, options["num_tasks"] - 1)
    dtype = options.pop("obs_dtype") or ("float32" if has_task or has_last_step or is_normalized else "float64")
    shared = {**simulation(**common, obs_dtype=dtype), "default_camera_config": options.pop("default_camera_config")}
    info = _INFO
    # a model is read twice, here and when the first environment is made, unless it is needed here
    if any(shared[name] is not None for name in ("randomize", "camera_id", "camera_name", "default_camera_config")):
        model = load_model(options["task"])
        check_with_model(model, shared, {})
        info = {**_INFO, **randomized(model, shared)}
    else:
        shared["default_camera_config"] = {}
    options |= shared
    if is_normalized and options["from_pixels"]:
        raise ValueError("normalize_observations: expected False with from_pixels, got True")
    low, high = (2 * bounds + [sign * (0 if options["partially_observable"] else np.inf)] * 3
                 for bounds, sign in zip(_FRAME, (-1, 1), strict=True))
    if has_task:
        low, high = low + [0] * options["num_tasks"], high + [1] * options["num_tasks"]
    if has_last_step or is_normalized:
        low, high = ([sign * np.inf] * (len(low) + 6 * has_last_step) for sign in (-1, 1))
    # RandomState takes no larger seed, which draws the goals
    return EnvSpec(observation=observation_of(len(low), options, low, high),
                   action=Array((4,), options["action_dtype"], -1, 1), info=info,
                   max_seed=2**32 - 1, render_fps=80, options=options, unsaved_options=("physics", "randomize_info"))


def check_saved(state: Any, *, num_remembered: int, num_numbers: int, num_ordered: int, num_goals: int,
                num_statistics: int, is_fresh: bool) -> tuple[Any, ...]:
    """Returns the values of a saved arm; those that the evaluation protocols change form one tuple.

    Raises:
        TypeError, ValueError: It is not one.
    """
    if type(state) is not tuple or len(state) != 11:
        raise ValueError("expected eleven values for the arm")
    info, episode, goals, order, *others, statistics, written = state
    if type(episode) is not tuple or len(episode) != num_remembered or any(type(each) is not float for each in episode):
        raise ValueError(f"expected {num_remembered} numbers for the episode")
    goals = check_state(goals, *[float] * num_numbers)
    order = check_state(order, *[(0, num_goals - 1)] * num_ordered)
    if len(set(order)) != len(order):
        raise ValueError("order: expected each goal once")
    rest = check_state(tuple(others), (-1, num_goals - 1), bool, bool, bool, bool)
    place, *_, samples_next, is_unplayed = rest
    if not is_fresh and place < 0 and (is_unplayed or not samples_next):
        raise ValueError("expected a goal, unless the next reset chooses one")
    return info, episode, goals, order, rest, check_state(statistics, *[float] * num_statistics), written
