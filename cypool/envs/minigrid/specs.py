"""The options shared by all levels, and the specs of levels."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cypool.envs.minigrid.babyai import CLAUSES, SELECT_BY, VERBS
from cypool.envs.minigrid.levels import COLORS, MISSION_LENGTH, OBSTACLES, TYPES, Level, LevelClass, check_odd
from cypool.envs.minigrid.observations import observation_of
from cypool.options import Option, boolean, check_options, choice, describes, integer, number, optional
from cypool.spec import Discrete, EnvSpec
from cypool.util.arguments import check_choice, check_list

MAX_STEPS = 2**31 - 2
# types of cells that may end no episode, with their numbers; a goal always ends one
DEATHS = {"wall": 2, "floor": 3, "door": 4, "key": 5, "ball": 6, "box": 7, "lava": 9}
BONUSES = {"action": 1, "position": 2}
GOAL_DIRECTIONS = ("slope", "angle", "angle_atan2")
OBS_TYPES = {"partial": 0, "full": 1, "onehot": 2, "symbolic": 3, "rgb": 4, "rgb_partial": 5, "flat": 6}
# the numbers that stand for names, by option
NUMBERS = {"obs_type": OBS_TYPES, "bonus": BONUSES, "no_death_types": DEATHS, "obstacle_type": OBSTACLES,
           "obj_type": TYPES, "first_color": COLORS, "second_color": COLORS, "select_by": SELECT_BY,
           "action_kinds": VERBS, "instr_kinds": CLAUSES}


def _check_view(name: str, value: Any) -> int:
    return check_odd(name, value, 3, 63)


def _check_types(name: str, value: Any) -> tuple[str, ...]:
    return tuple(check_choice(name, each, DEATHS) for each in check_list(name, value, "type names"))


SHARED = {
    "max_steps": integer(None, 1, MAX_STEPS, "Maximum number of steps per episode; None: the level's default."),
    "see_through_walls": boolean(None, "Whether the agent also sees cells behind walls and closed doors; None: the "
                                       "level's default."),
    "agent_view_size": Option(7, _check_view, "Width and height of the view in cells: odd, 3 to 63."),
    "highlight": boolean(True, "Whether images highlight the agent's view."),
    "tile_size": integer(32, 1, 256, "Width and height of a cell in images, in pixels."),
    "agent_pov": boolean(False, "Whether images show only the agent's view."),
    "obs_type": choice("partial", OBS_TYPES, (
        "The kind of `image`: \"partial\", the agent's view; \"onehot\" or \"rgb_partial\", the same view as in "
        '`OneHotPartialObsWrapper` or `RGBImgPartialObsWrapper`; "full", "symbolic" or "rgb", the whole grid as in '
        '`FullyObsWrapper`, `SymbolicObsWrapper` or `RGBImgObsWrapper`. "flat": the whole observation as one array, as '
        "in `FlatObsWrapper`; not available for BabyAI.")),
    "action_prob": number(None, 0, 1, "The probability that the chosen action is taken, as with "
                                      "`StochasticActionWrapper(prob)`; None: 1."),
    "random_action": integer(None, 0, 6, "The action taken in place of the chosen one; None: a random action."),
    "no_death_types": Option((), _check_types, 'Types of cells that do not end the episode, such as ("lava",), as '
                                               "with `NoDeath`."),
    "death_cost": number(-1.0, -1e9, 1e9, "Value added to the reward in cells of `no_death_types`."),
    "obs_tile_size": integer(8, 1, 256, 'Width and height of a cell in "rgb" and "rgb_partial". The first pool with a '
                                        "given size draws the tiles, which takes 1.5 s for a size of 256."),
    "view_size": optional(_check_view, 'Size of the view in "partial", "onehot" and "flat", as with '
                                       "`ViewSizeWrapper`; None: `agent_view_size`."),
    "image_only": boolean(False, "Observes only the image, as with `ImgObsWrapper`."),
    "goal_direction": choice(None, GOAL_DIRECTIONS, (
        '"slope", "angle" or "angle_atan2" adds `goal_direction` to the observation, like `DirectionObsWrapper(type)`; '
        "only for levels that have a goal.")),
    "bonus": choice(None, BONUSES, 'Adds 1 / sqrt(visits) to the reward, like `ActionBonus` ("action") or '
                                   '`PositionBonus` ("position").'),
    "bonus_scale": number(1.0, -1e9, 1e9, 'Multiplier for the bonus; must be 1 unless the bonus is "position".')}


@describes(**SHARED)
def any_level(options: dict[str, Any]) -> EnvSpec:
    """Has the options of all levels, but is not one itself."""
    raise TypeError("describe: expected a level class, got MiniGrid")


def number_of(name: str, value: Any) -> Any:
    """Returns an option's value with numbers in place of names."""
    if isinstance(value, tuple):
        return [number_of(name, each) for each in value]
    return NUMBERS[name][value] if isinstance(value, str) and name in NUMBERS else value


def describe_of(level: LevelClass) -> Callable[..., EnvSpec]:
    """Returns the `describe` of a class."""
    @describes("See `MiniGrid.describe`.", **level.declared)
    def describe(own: dict[str, Any], common: dict[str, Any]) -> EnvSpec:
        made, shared = level.make(**own), check_options(SHARED, common)
        _check_together(made, shared)
        # BabyAI draws some levels again and again until they fit, and pictures take long
        brief = made.mission_length <= MISSION_LENGTH and not shared["obs_type"].startswith("rgb")
        return EnvSpec(observation=observation_of(*made.grid, made.mission_length, shared),
                       action=Discrete(made.num_actions), render_fps=10, brief_steps=brief,
                       options={**own, **made.options, **shared})

    return describe


def _check_together(made: Level, shared: dict[str, Any]) -> None:
    """Checks options that exclude each other."""
    obs_type = shared["obs_type"]
    if shared["random_action"] is not None and shared["random_action"] >= made.num_actions:
        raise ValueError(f"random_action: expected 0 to {made.num_actions - 1}, got {shared['random_action']}")
    if shared["view_size"] is not None and obs_type not in ("partial", "onehot", "flat"):
        raise ValueError(f'view_size: expected obs_type "partial", "onehot" or "flat", got {obs_type!r}')
    if obs_type == "flat" and made.mission_length > MISSION_LENGTH:
        raise ValueError("obs_type: expected a value other than 'flat' for BabyAI, whose missions have more than "
                         f"{MISSION_LENGTH} characters")
    if obs_type == "flat" and (shared["image_only"] or shared["goal_direction"]):
        raise ValueError("obs_type: expected a value other than 'flat' with image_only or goal_direction")
    if shared["goal_direction"] and shared["image_only"]:
        raise ValueError("goal_direction: expected None with image_only")
    if shared["goal_direction"] and not made.has_goal:
        raise ValueError("goal_direction: expected None for a level without a goal")
    if shared["bonus"] != "position" and shared["bonus_scale"] != 1:
        raise ValueError(f'bonus_scale: expected 1 unless bonus is "position", got {shared["bonus_scale"]}')
