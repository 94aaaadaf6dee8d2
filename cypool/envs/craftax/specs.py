"""The specs of both games: options, spaces and infos."""
from __future__ import annotations

from typing import Any

import numpy as np

from cypool.options import Option, boolean, choice, describes, integer, number, optional
from cypool.spec import Array, Discrete, EnvSpec
from cypool.util.arguments import check_array, check_int, check_list, shown

OBS_TYPES = ("symbolic", "pixels")
# by game, in the order of the info `achievements`; the first ones are Classic's
_ALL = ("collect_wood", "place_table", "eat_cow", "collect_sapling", "collect_drink", "make_wood_pickaxe",
    "make_wood_sword", "place_plant", "defeat_zombie", "collect_stone", "place_stone", "eat_plant",
    "defeat_skeleton", "make_stone_pickaxe", "make_stone_sword", "wake_up", "place_furnace", "collect_coal",
    "collect_iron", "collect_diamond", "make_iron_pickaxe", "make_iron_sword", "make_arrow", "make_torch",
    "place_torch", "make_diamond_sword", "make_iron_armour", "make_diamond_armour", "enter_gnomish_mines",
    "enter_dungeon", "enter_sewers", "enter_vault", "enter_troll_mines", "enter_fire_realm", "enter_ice_realm",
    "enter_graveyard", "defeat_gnome_warrior", "defeat_gnome_archer", "defeat_orc_solider", "defeat_orc_mage",
    "defeat_lizard", "defeat_kobold", "defeat_troll", "defeat_deep_thing", "defeat_pigman",
    "defeat_fire_elemental", "defeat_frost_troll", "defeat_ice_elemental", "damage_necromancer",
    "defeat_necromancer", "eat_bat", "eat_snail", "find_bow", "fire_bow", "collect_sapphire", "learn_fireball",
    "cast_fireball", "learn_iceball", "cast_iceball", "collect_ruby", "make_diamond_pickaxe", "open_chest",
    "drink_potion", "enchant_sword", "enchant_armour", "defeat_knight", "defeat_archer")
ACHIEVEMENTS = {"Craftax-Classic": _ALL[:22], "Craftax": _ALL}
# as in slots.h
_MAX_SLOTS, _MAX_PLANTS = 8, 20
_MOST, _FARTHEST = 2**20, 10_000
# pixels of a side of a cell
_TILES = {"Craftax-Classic": 7, "Craftax": 10}


def _check_key(name: str, value: Any) -> tuple[int, int]:
    words = check_list(name, value, "a pair of ints, such as jax.random.PRNGKey returns")
    if len(words) != 2:
        raise ValueError(f"{name}: expected a pair of ints, such as jax.random.PRNGKey returns, got {shown(value)}")
    return check_int(f"{name}[0]", words[0], 0, 2**32 - 1), check_int(f"{name}[1]", words[1], 0, 2**32 - 1)


def _angles(size: int) -> Option:
    shapes = [(size // rows + 1, size // columns + 1) for rows, columns in ((16, 16), (16, 16), (8, 2), (4, 4))]

    def check_one(name: str, value: Any, shape: tuple[int, int]) -> tuple[tuple[float, ...], ...] | None:
        if value is None:
            return None
        expected = f"None or an array of shape {shape} with values from 0 to 1"
        array = check_array(name, value, expected)
        if array.shape != shape or array.dtype.kind not in "iuf" or not (array >= 0).all() or not (array <= 1).all():
            raise ValueError(f"{name}: expected {expected}, got {shown(value)}")
        return tuple(map(tuple, array.astype(np.float32).tolist()))

    def check(name: str, value: Any) -> tuple[Any, ...]:
        noises = check_list(name, value, "a list of four, each None or an array")
        if len(noises) != len(shapes):
            raise ValueError(f"{name}: expected a list of four, each None or an array, got {shown(value)}")
        return tuple(check_one(f"{name}[{k}]", noise, shapes[k]) for k, noise in enumerate(noises))

    return Option((None,) * len(shapes), check, "Noise angles for water, mountains, paths and trees, as fractions of a "
                  f"turn: four items, each None (random) or an array, with the shapes {', '.join(map(str, shapes))}.")


def _slots(default: int, what: str) -> Option:
    return integer(default, 1, _MAX_SLOTS, f"Maximum number of {what}.")


def _common(max_timesteps: int, always_diamond: bool, size: int) -> dict[str, Option]:
    return {
        "max_timesteps": integer(max_timesteps, 1, 2**28, "Number of steps after which an episode terminates."),
        "day_length": integer(300, 1, _MOST, "Length of a day in steps."),
        "always_diamond": boolean(always_diamond, "Whether every world has a diamond."),
        "mob_despawn_distance": integer(14, 0, _FARTHEST, "Distance from the player at which creatures despawn."),
        "max_growing_plants": integer(10, 1, _MAX_PLANTS, "Maximum number of growing plants."),
        "fractal_noise_angles": _angles(size)}


_FLOW: dict[str, Option] = {
    "obs_type": choice("symbolic", OBS_TYPES, 'The observation: "symbolic" or "pixels".'),
    "auto_reset": boolean(False, "Also generates the next world in each step, like the package."),
    "key": optional(_check_key, "A JAX key instead of a seed: environment i starts from `split(key, num_envs)[i]`.")}


def _spec(options: dict[str, Any], num_actions: int, num_symbols: int, shape: tuple[int, int],
          num_achievements: int, **more: Array) -> EnvSpec:
    observation = (Array((num_symbols,), np.float32) if options["obs_type"] == "symbolic"
                   else Array((*shape, 3), np.float32, 0, 1))
    info = {"achievements": Array((num_achievements,), np.float32, 0, 100), "discount": Array((), np.float32, 0, 1)}
    return EnvSpec(observation=observation, action=Discrete(num_actions), info={**info, **more}, options=options,
                   render_fps=10)


@describes(
    **_common(10_000, True, 64),
    zombie_health=integer(5, 1, _MOST, "Health of a new zombie."),
    cow_health=integer(3, 1, _MOST, "Health of a new cow."),
    skeleton_health=integer(3, 1, _MOST, "Health of a new skeleton."),
    spawn_cow_chance=number(0.1, 0, 1, "Probability of a new cow per step."),
    spawn_zombie_base_chance=number(0.02, 0, 1, "Probability of a new zombie per step during the day."),
    spawn_zombie_night_chance=number(0.1, 0, 1, "Increase in the probability of a new zombie at the darkest time."),
    spawn_skeleton_chance=number(0.05, 0, 1, "Probability of a new skeleton per step."),
    max_zombies=_slots(3, "zombies"), max_cows=_slots(3, "cows"), max_skeletons=_slots(2, "skeletons"),
    max_arrows=_slots(3, "arrows"), **_FLOW)
def classic(options: dict[str, Any]) -> EnvSpec:
    return _spec(options, 17, 1345, (63, 63), 22, score=Array((), np.float32, 0, 100))


@describes(
    **_common(100_000, False, 48),
    max_attribute=integer(5, 1, 100, "Maximum level of dexterity, strength and intelligence."),
    god_mode=boolean(False, "Lets the player walk through everything, change floors at will, and never die."),
    max_melee_mobs=_slots(3, "creatures that attack at close range"), max_passive_mobs=_slots(3, "peaceful creatures"),
    max_ranged_mobs=_slots(2, "creatures that shoot"), max_mob_projectiles=_slots(3, "creatures' projectiles"),
    max_player_projectiles=_slots(3, "the player's projectiles"), **_FLOW)
def full(options: dict[str, Any]) -> EnvSpec:
    return _spec(options, 43, 8268, (130, 110), 67)


def settings_of(game: str, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that world.h reads."""
    found = dict(options)
    found |= {f"angles_{k}": angles for k, angles in enumerate(found.pop("fractal_noise_angles"))}
    return found if options["obs_type"] == "symbolic" else {**found, **parts_of(game, _TILES[game])}


def parts_of(game: str, tile: int) -> dict[str, Any]:
    """Returns the parts of pictures, as world.h has them."""
    from cypool.envs.craftax.assets import pictures  # which needs the package

    parts = pictures(game, tile)
    return {"tile": tile, "noise": parts.noise,
            **{name: getattr(parts, name).tobytes() for name in ("ground", "sprites", "cells")}}
