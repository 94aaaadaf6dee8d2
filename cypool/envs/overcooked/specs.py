"""The spec of Overcooked: its options, the values of soups, and spaces."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cypool.envs.overcooked.layouts import (
    INGREDIENTS,
    MOST_INGREDIENTS,
    RECIPES,
    KitchenLayout,
    check_layout,
    layout_of,
    recipe_of,
)
from cypool.options import Option, choice, describes, integer, number, optional
from cypool.spec import Array, Discrete, EnvSpec, Group
from cypool.util.arguments import check_choice, check_int, check_list, shown

# in the order of the layers in kitchen.h
LAYERS = ("own place", "other place", *(f"{whose} direction {way}" for whose in ("own", "other")
                                        for way in ("north", "south", "east", "west")),
          "pot", "counter", "onion dispenser", "tomato dispenser", "dish dispenser", "serving", "onions in pot",
          "tomatoes in pot", "onions in soup", "tomatoes in soup", "time left", "soup is ready", "dishes", "onions",
          "tomatoes", "urgency")
_MOST = 1_000_000
_LONGEST = 2**30
# bytes of all observations of a kitchen that is stepped well within a microsecond
_MOST_BRIEF = 20_000


class Soups(NamedTuple):
    """Values and times of soups, by onions * 4 + tomatoes.

    Attributes:
        values: The reward for serving it; 0: it was not ordered.
        times: Steps that it cooks.
    """

    values: list[float]
    times: list[int]


def _check_orders(name: str, value: Any) -> tuple[tuple[str, ...], ...]:
    orders = []
    for k, order in enumerate(check_list(name, value, "a list of lists of ingredients")):
        own = f"{name}[{k}]"
        items = tuple(sorted(check_choice(f"{own}[{i}]", item, INGREDIENTS)
                             for i, item in enumerate(check_list(own, order, "a list of ingredients"))))
        if not 1 <= len(items) <= MOST_INGREDIENTS:
            raise ValueError(f"{own}: expected 1 to {MOST_INGREDIENTS} ingredients, got {shown(order)}")
        orders.append(items)
    if len(set(orders)) < len(orders):
        raise ValueError(f"{name}: expected unique orders, got {shown(value)}")
    return tuple(orders)


def _check_numbers(name: str, value: Any) -> tuple[int, ...]:
    return tuple(check_int(f"{name}[{k}]", each, 0, _MOST)
                 for k, each in enumerate(check_list(name, value, "a list of ints")))


@describes(
    layout=Option("cramped_room", check_layout,
                  "The name of one of overcooked-ai's layouts, or a custom layout: lines of X (counter), O, T and D "
                  "(dispensers of onions, tomatoes and dishes), P (pot), S (serving counter), spaces, and players 1 to "
                  "9."),
    horizon=integer(400, 1, _LONGEST, "Maximum number of steps per episode."),
    shaped_reward=number(0.0, 0, 1e6, "Weight of the shaped reward in an agent's reward."),
    obs_dtype=choice("int64", ("int64", "uint8"), 'Dtype of observations: "int64", as in overcooked-ai, or the smaller '
                                                  '"uint8".'),
    start_all_orders=optional(_check_orders, 'Recipes with a value: lists of "onion" and "tomato"; an empty list: all '
                                             "recipes. None: the layout's recipes."),
    start_bonus_orders=optional(_check_orders, 'Recipes with a bonus: lists of "onion" and "tomato".'),
    order_bonus=number(None, 0, 1e6, "Multiplier for the bonus; None: the layout's value, or 2 if it sets none."),
    delivery_reward=integer(None, 1, _MOST, "Reward for each soup. If this and the three options below are None, the "
                                            "layout's values apply, or 20 if it sets none."),
    recipe_values=optional(_check_numbers, "The value of each recipe in `start_all_orders`."),
    onion_value=integer(None, 1, _MOST, "Reward for each onion in a soup."),
    tomato_value=integer(None, 1, _MOST, "Reward for each tomato in a soup."),
    cook_time=integer(None, 1, _MOST, "Cooking time of each soup in steps. If this and the three options below are "
                                      "None, the layout's times apply, or 20 if it sets none."),
    recipe_times=optional(_check_numbers, "Cooking time of each recipe in `start_all_orders`, in steps."),
    onion_time=integer(None, 1, _MOST, "Cooking time in steps for each onion in a soup."),
    tomato_time=integer(None, 1, _MOST, "Cooking time in steps for each tomato in a soup."),
    placement_in_pot_reward=number(3.0, 0, 1e6, "Shaped reward for putting an ingredient into a pot."),
    dish_pickup_reward=number(3.0, 0, 1e6, "Shaped reward for taking a dish when it is useful."),
    soup_pickup_reward=number(5.0, 0, 1e6, "Shaped reward for taking a soup out of its pot."))
def overcooked(options: dict[str, Any]) -> EnvSpec:
    layout = layout_of(options["layout"])
    times = soups_of(options, layout).times
    count, shape = len(layout.players), (len(layout.terrain[0]), len(layout.terrain), len(LAYERS))
    high = np.ones(len(LAYERS), np.int64)
    for layer in ("onions in pot", "tomatoes in pot", "onions in soup", "tomatoes in soup"):
        high[LAYERS.index(layer)] = MOST_INGREDIENTS
    high[LAYERS.index("time left")] = max(times)
    dtype = np.dtype(options["obs_dtype"])
    if max(times) > np.iinfo(dtype).max:
        raise ValueError(f'obs_dtype: expected "int64" for cooking times of {max(times)} steps, got "{dtype}"')
    rewards = Array((count,), np.float64, 0)
    return EnvSpec(agents={"agent": Group(count, Array(shape, dtype, 0, high), Discrete(6))}, state="observations",
                   info={"sparse_reward": rewards, "shaped_reward": rewards}, options=options, render_fps=5,
                   brief_steps=count * int(np.prod(shape)) * dtype.itemsize <= _MOST_BRIEF)


def settings_of(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that kitchen.h reads."""
    layout = layout_of(options["layout"])
    soups = soups_of(options, layout)
    return {**{name: options[name] for name in ("horizon", "shaped_reward", "placement_in_pot_reward",
                                                "dish_pickup_reward", "soup_pickup_reward")},
            "is_narrow": options["obs_dtype"] == "uint8", "width": len(layout.terrain[0]),
            "height": len(layout.terrain), "terrain": "".join(layout.terrain), "players": layout.players,
            "soups": [(*cell, *recipe) for cell, recipe in layout.soups.items()], "values": soups.values,
            "times": soups.times}


def soups_of(options: dict[str, Any], layout: KitchenLayout) -> Soups:
    """Returns the values and cooking times of soups.

    Raises:
        ValueError: Options exclude each other.
    """
    words = dict(layout.words)
    for name in ("start_all_orders", "start_bonus_orders"):
        if options[name] is not None:
            words[name] = [recipe_of(order) for order in options[name]]
    if options["order_bonus"] is not None:
        words["order_bonus"] = options["order_bonus"]
    listed = words.get("start_all_orders", [])
    values = _by_recipe(options, words, listed, ("delivery_reward", "recipe_values", "onion_value", "tomato_value"))
    times = _by_recipe(options, words, listed, ("cook_time", "recipe_times", "onion_time", "tomato_time"))
    orders, bonus = layout.orders or (listed, words.get("start_bonus_orders", []))
    for recipe in bonus:
        if orders and recipe not in orders:
            raise ValueError("start_bonus_orders: expected orders from start_all_orders, got "
                             f"{' and '.join(f'{n} {name}' for n, name in zip(recipe, INGREDIENTS, strict=True))}")
    worth = [0.0] * (MOST_INGREDIENTS + 1)**2
    cooks = [0] * len(worth)
    for recipe in RECIPES:
        k = recipe_number(*recipe)
        cooks[k] = times[recipe]
        if not orders or recipe in orders:
            worth[k] = float(values[recipe] * (words.get("order_bonus", 2) if recipe in bonus else 1))
    return Soups(worth, cooks)


def recipe_number(onions: int, tomatoes: int) -> int:
    """Returns the index of a recipe in `Soups`."""
    return onions * (MOST_INGREDIENTS + 1) + tomatoes


def _by_recipe(options: dict[str, Any], words: dict[str, Any], orders: list[tuple[int, int]],
               names: tuple[str, str, str, str]) -> dict[tuple[int, int], int]:
    """Returns a number for each recipe from one of four options: for all, listed, or by onions and tomatoes."""
    given = {name: options[name] for name in names if options[name] is not None}
    # an option takes the place of whatever the layout says
    given = given or {name: words[name] for name in names if name in words}
    every, listed, onion, tomato = names
    if (onion in given) != (tomato in given):
        one, other = (onion, tomato) if onion in given else (tomato, onion)
        raise ValueError(f"{other}: expected a number together with {one}, got None")
    ways = [name for name in (every, listed, onion) if name in given]
    if len(ways) > 1:
        raise ValueError(f"{ways[1]}: expected None when {ways[0]} is given, got {shown(given[ways[1]])}")
    if listed in given and len(given[listed]) != len(orders):
        raise ValueError(f"{listed}: expected {len(orders)} numbers, one for each recipe in start_all_orders, got "
                         f"{len(given[listed])}")
    by_order = dict(zip(orders, given[listed], strict=True)) if listed in given else {}
    if onion in given:
        return {recipe: recipe[0] * given[onion] + recipe[1] * given[tomato] for recipe in RECIPES}
    return {recipe: by_order.get(recipe, given.get(every, 20)) for recipe in RECIPES}
