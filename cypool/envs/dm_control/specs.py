"""The spec of each domain's tasks: their options and observations."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from cypool.envs.dm_control.models import sizes_of, text_of
from cypool.envs.dm_control.tasks import DOMAINS
from cypool.envs.shared.mujoco.mujoco_common import load_model_text
from cypool.envs.shared.mujoco.specs import PHYSICS, SIMULATION, check_sizes, check_with_model, randomized
from cypool.options import Option, boolean, choice, describes, integer, number
from cypool.spec import Array, EnvSpec

# of MuJoCo's, in one of ours
MAX_STEPS = 1_000_000

TASK = {
    **SIMULATION,
    "physics": PHYSICS,
    "action_dtype": SIMULATION["action_dtype"].with_default("float64"),
    "width": SIMULATION["width"].with_default(320),
    "height": SIMULATION["height"].with_default(240),
    "max_geom": SIMULATION["max_geom"].with_default(10_000),
    "time_limit": number(None, 1e-9, math.inf, "Duration of an episode in seconds; None: the domain's default, which "
                         "is 1000 steps, or unlimited for lqr. May be infinite."),
    "control_timestep": number(None, 1e-9, 1e6, "Duration of a step in seconds, a multiple of the model's time step; "
                               "None: the domain's default."),
    "n_sub_steps": integer(None, 1, MAX_STEPS, "Number of MuJoCo steps per environment step, instead of "
                           "`control_timestep`."),
    "legacy_step": boolean(True, "Computes observations from the state after the step, as dm_control does by default. "
                           "Otherwise, quantities that MuJoCo derives from positions and velocities lag one MuJoCo "
                           "step behind."),
    "action_repeat": integer(1, 1, MAX_STEPS, "Number of dm_control steps per environment step, all with the same "
                             "action; their rewards are summed. The last step of an episode may contain fewer."),
    "flat_observation": boolean(False, "Concatenates all observations into one array, in dm_control's order."),
    "pixels_only": boolean(True, "With `from_pixels`, observes only `pixels`, as in dm_control's `pixels` wrapper. "
                           "Stacked pixels have the shape (height, width, 3 * frame_stack); stacked numbers have an "
                           "extra first dimension."),
}

# models in use, by domain and task: tasks with the same text share one
_models: WeakValueDictionary[tuple[str, str], Any] = WeakValueDictionary()


@describes(**TASK)
def control_task(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options of all tasks, and checks those that need no model."""
    return options


def load_task(domain: str, task: str) -> Any:
    """Returns the model of a task; for lqr, whose model depends on the seed, a representative one.

    Raises:
        ImportError: dm_control cannot be imported.
        ValueError: MuJoCo cannot read the model.
    """
    model = _models.get((domain, task))
    if model is None:
        text, files = text_of(domain, task, np.random.RandomState(0))
        model = load_model_text((domain, text), f"{domain}-{task}", text, files)
        check_sizes(model, sizes_of(domain, task), f"dm_control's model of {domain}-{task}")
        _models[domain, task] = model
    return model


def shapes_of(domain: str, options: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Returns the parts of a task's observation: names and shapes, in dm_control's order."""
    further = DOMAINS[domain].further.get(options["task"], {}) if options.get("fully_observable", True) else {}
    return {name: (shape,) if isinstance(shape, int) else shape
            for name, shape in (DOMAINS[domain].parts | further).items()}


def times(domain: str, model: Any, options: Mapping[str, Any]) -> tuple[int, int | None]:
    """Returns the number of MuJoCo steps in a dm_control step, and of dm_control steps in an episode, or None."""
    timestep, given = model.timestep, options["control_timestep"]
    if given is not None and options["n_sub_steps"] is not None:
        raise ValueError(f"n_sub_steps: expected None with control_timestep, got {options['n_sub_steps']} and {given}")
    control_timestep = DOMAINS[domain].control_timestep if given is None else given
    if options["n_sub_steps"] is not None:
        steps = options["n_sub_steps"]
    elif control_timestep is None:
        steps = 1
    else:
        steps = round(control_timestep / timestep)
        if not 1 <= steps <= MAX_STEPS or abs(control_timestep / timestep - steps) > 1e-8:
            raise ValueError(f"control_timestep: expected an integer multiple (1 to {MAX_STEPS}) of the model's time "
                             f"step ({timestep}), got {given}")
    limit = MAX_STEPS // steps
    if options["action_repeat"] > limit:
        raise ValueError(f"action_repeat: expected at most {limit} repeats of {steps} MuJoCo steps, got "
                         f"{options['action_repeat']}")
    time_limit = DOMAINS[domain].time_limit if options["time_limit"] is None else options["time_limit"]
    if time_limit == math.inf:
        return steps, None
    most = (2**31 - 2) * (timestep * steps)
    if time_limit > most:
        raise ValueError(f"time_limit: expected at most {most} ({2**31 - 2} steps), or infinity, got {time_limit}")
    # the first count that is not below it
    return steps, max(math.ceil(time_limit / (timestep * steps)), 1)


def _spec(domain: str, options: dict[str, Any]) -> EnvSpec:
    model = load_task(domain, options["task"])
    steps, limit = times(domain, model, options)
    # the free camera is where dm_control has it
    check_with_model(model, options, {})
    dtype, stack, repeat = options["obs_dtype"], options["frame_stack"], options["action_repeat"]
    shapes = shapes_of(domain, options)
    if options["flat_observation"]:
        shapes = {"observations": (sum(map(math.prod, shapes.values())),)}
    observation: Any = {name: Array(shape, dtype) if stack == 1 else Array((stack, *shape), dtype, stack=(0, stack))
                        for name, shape in shapes.items()}
    if options["from_pixels"]:
        observation = {} if options["pixels_only"] else observation
        observation["pixels"] = Array((options["height"], options["width"], 3 * stack), np.uint8, stack=(2, stack))
    elif options["flat_observation"]:
        observation = observation["observations"]
    low, high = model.control_range(1e10)
    return EnvSpec(
        observation=observation,
        action=Array(low.shape, options["action_dtype"], low, high),
        info=randomized(model, options),
        max_seed=2**32 - 1,
        render_fps=max(round(1 / (model.timestep * steps * repeat)), 1),
        max_episode_steps=None if limit is None else math.ceil(limit / repeat),
        options=options,
        unsaved_options=("physics", "randomize_info"),
    )


def describer(name: str, **own: Option) -> Callable[..., Any]:
    """Returns the `describe` of a domain, with these further options."""
    domain = DOMAINS[name]
    *names, last = (f'"{task}"' for task in domain.tasks)
    meaning = (f"{', '.join(names)} or " if names else "") + last + (f": {domain.note}" if domain.note else "") + "."

    def describe(options: dict[str, Any]) -> EnvSpec:
        return _spec(name, options)

    return describes(**TASK, task=choice(domain.default, domain.tasks, meaning), **own)(describe)


FULLY_OBSERVABLE = boolean(True, "Observes the hand, objects and target in addition to the arm's sensors.")
