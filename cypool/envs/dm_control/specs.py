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
# by domain: the parts of an observation, in dm_control's order: names and shapes, or a function of the options that
# returns them
_parts: dict[str, dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]] = {}


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
    parts = _parts[domain]
    named = parts if isinstance(parts, dict) else parts(options)
    return {name: (shape,) if isinstance(shape, int) else shape for name, shape in named.items()}


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


def _describe(domain: str, task: str, parts: dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]], /,
              note: str = "", **own: Option) -> Callable[..., Any]:
    """Returns the `describe` of a domain with this default task.

    The parts of the observation are as in `_parts`, where an int n stands for (n,); the note says what the names of
    tasks mean.
    """
    _parts[domain] = parts
    *names, last = (f'"{name}"' for name in DOMAINS[domain].tasks)
    meaning = (f"{', '.join(names)} or " if names else "") + last + (f": {note}" if note else "") + "."

    def describe(options: dict[str, Any]) -> EnvSpec:
        return _spec(domain, options)

    return describes(**TASK, task=choice(task, DOMAINS[domain].tasks, meaning), **own)(describe)


def _humanoid(joints: int) -> dict[str, Any]:
    """Returns the parts of the observation of a humanoid with this number of joints."""
    return {"joint_angles": joints, "head_height": (), "extremities": 12, "torso_vertical": 3, "com_velocity": 3,
            "velocity": joints + 6}


def _by_task(common: dict[str, Any], **further: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Returns a function that returns the parts common to all tasks, and then those of the task."""
    return lambda options: common | further.get(options["task"], {})


def _humanoid_parts(options: dict[str, Any]) -> dict[str, Any]:
    return {"position": 28, "velocity": 27} if options["task"] == "run_pure_state" else _humanoid(21)


def _arm_parts(options: dict[str, Any], things: dict[str, Any]) -> dict[str, Any]:
    return {"arm_pos": (8, 2), "arm_vel": 8, "touch": 5, **(things if options["fully_observable"] else {})}


def _manipulator_parts(options: dict[str, Any]) -> dict[str, Any]:
    return _arm_parts(options, {"hand_pos": 4, "object_pos": 4, "object_vel": 3, "target_pos": 4})


def _stacker_parts(options: dict[str, Any]) -> dict[str, Any]:
    n = 2 if options["task"] == "stack_2" else 4
    return _arm_parts(options, {"hand_pos": 4, "box_pos": (n, 4), "box_vel": 3 * n, "target_pos": 2})


_FULLY = boolean(True, "Observes the hand, objects and target in addition to the arm's sensors.")
_TURN = {"target_position": 2, "dist_to_target": ()}

acrobot = _describe("acrobot", "swingup", {"orientations": 4, "velocity": 2})
ball_in_cup = _describe("ball_in_cup", "catch", {"position": 4, "velocity": 4})
cartpole = _describe("cartpole", "swingup", _by_task(
    {"position": 3, "velocity": 2}, two_poles={"position": 5, "velocity": 3},
    three_poles={"position": 7, "velocity": 4}))
cheetah = _describe("cheetah", "run", {"position": 8, "velocity": 9})
dog = _describe("dog", "walk", _by_task(
    {"joint_angles": 73, "joint_velocites": 73, "torso_pelvis_height": 2, "z_projection": 9, "torso_com_velocity": 3,
     "inertial_sensors": 9, "foot_forces": 12, "touch_sensors": 4, "actuator_state": 38},
    fetch={"ball_state": 6, "target_position": 3}))
finger = _describe("finger", "spin", _by_task(
    {"position": 4, "velocity": 3, "touch": 2}, turn_easy=_TURN, turn_hard=_TURN))
fish = _describe("fish", "swim", _by_task(
    {"joint_angles": 7, "upright": ()}, upright={"velocity": 13}, swim={"target": 3, "velocity": 13}))
hopper = _describe("hopper", "stand", {"position": 6, "velocity": 7, "touch": 2})
humanoid = _describe("humanoid", "walk", _humanoid_parts)
humanoid_cmu = _describe("humanoid_CMU", "walk", _humanoid(56))
lqr = _describe("lqr", "lqr_2_1", _by_task(
    {}, lqr_2_1={"position": 2, "velocity": 2}, lqr_6_2={"position": 6, "velocity": 6}),
    "the number of masses, and how many of them are driven")
manipulator = _describe("manipulator", "bring_ball", _manipulator_parts, fully_observable=_FULLY)
pendulum = _describe("pendulum", "swingup", {"orientation": 2, "velocity": 1})
point_mass = _describe("point_mass", "easy", {"position": 2, "velocity": 2})
quadruped = _describe("quadruped", "walk", _by_task(
    {"egocentric_state": 44, "torso_velocity": 3, "torso_upright": (), "imu": 6, "force_torque": 24},
    escape={"origin": 3, "rangefinder": 20}, fetch={"ball_state": 9, "target_position": 3}))
reacher = _describe("reacher", "easy", {"position": 2, "to_target": 2, "velocity": 2}, "the target's size")
stacker = _describe("stacker", "stack_2", _stacker_parts, "the number of boxes", fully_observable=_FULLY)
swimmer = _describe("swimmer", "swimmer6", _by_task(
    {}, swimmer6={"joints": 5, "to_target": 2, "body_velocities": 18},
    swimmer15={"joints": 14, "to_target": 2, "body_velocities": 45}), "the number of links")
walker = _describe("walker", "walk", {"orientations": 14, "height": (), "velocity": 9})
