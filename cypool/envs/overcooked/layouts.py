"""Layouts of kitchens, from the installed overcooked-ai or from text."""
from __future__ import annotations

import ast
import functools
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from cypool.util.arguments import shown
from cypool.util.packages import folder_of, require_version

VERSION = "1.1.0"
INSTALL = 'pip install --no-deps "overcooked-ai==1.1.0"'
MOST_INGREDIENTS = 3
LONGEST = 64  # cells of a side
_DIRECTIONS = ((0, -1), (0, 1), (1, 0), (-1, 0))

# ingredients in the order of their names; a recipe is (onions, tomatoes)
INGREDIENTS = ("onion", "tomato")
RECIPES = tuple((onions, tomatoes) for onions in range(MOST_INGREDIENTS + 1)
                for tomatoes in range(MOST_INGREDIENTS + 1 - onions) if onions + tomatoes)


class KitchenLayout(NamedTuple):
    """A kitchen at the start of an episode, and the orders from its file.

    Attributes:
        terrain: Rows of " ", X, O, T, D, P and S.
        players: Column, row and direction of each player.
        soups: (onions, tomatoes) by column and row of a pot; the soups are not cooking yet.
        words: The orders from the file, by option name.
        orders: The initial orders: all of them, and those with a bonus; None: from the options.
    """

    terrain: tuple[str, ...]
    players: tuple[tuple[int, int, int], ...]
    soups: dict[tuple[int, int], tuple[int, int]]
    words: dict[str, Any]
    orders: tuple[list[tuple[int, int]], list[tuple[int, int]]] | None = None


def recipe_of(ingredients: Iterable[str]) -> tuple[int, int]:
    """Returns the recipe with these ingredients."""
    names = list(ingredients)
    return names.count("onion"), names.count("tomato")


def check_layout(name: str, value: Any) -> str:
    """Returns the name of a layout unchanged, or a text with its lines stripped.

    Raises:
        TypeError, ValueError: It is neither.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected the name of a layout, or its lines as a str, got {shown(value)}")
    if "\n" not in value.strip():
        return value.strip()
    lines = [line.strip() for line in value.strip().split("\n")]
    text = "".join(lines)
    digits = sorted(each for each in text if each.isdigit())

    def expect(condition: bool, expected: str) -> None:
        if not condition:
            raise ValueError(f"{name}: expected {expected}, got {shown(value)}")

    expect(len({len(line) for line in lines}) == 1, "lines of the same length")
    expect(max(len(lines), len(lines[0])) <= LONGEST, f"at most {LONGEST} lines and columns")
    expect(set(text) <= set("XOTDPS 123456789"), "the characters X, O, T, D, P, S, space and 1 to 9")
    edge = lines[0] + lines[-1] + "".join(line[0] + line[-1] for line in lines)
    expect(set(edge) <= set("XOTDPS"), "no floor at the edge")
    expect(digits == [str(k + 1) for k in range(len(digits))] != [], "players 1, 2 and so on, each once")
    expect({"D", "S", "P"} <= set(text) and bool({"O", "T"} & set(text)), "at least one D, S, P, and O or T")
    return "\n".join(lines)


def layout_of(name: str) -> KitchenLayout:
    """Returns the layout that an option selects.

    Raises:
        ImportError: It is a name, and overcooked-ai is missing, or has a different version.
        ValueError: No layout has that name.
    """
    if "\n" in name:
        return _made(name.split("\n"), {})
    return _read(name)


def _folder() -> str:
    return os.path.join(folder_of("overcooked_ai_py") or "", "data", "layouts")


def names() -> list[str]:
    """Returns the names of the layouts of the installed overcooked-ai.

    Raises:
        ImportError: It is missing, or has a different version.
    """
    require_version("Overcooked's layouts need", "overcooked-ai", (VERSION,), INSTALL, "overcooked_ai_py")
    return sorted(file.removesuffix(".layout") for file in os.listdir(_folder()) if file.endswith(".layout"))


@functools.lru_cache(maxsize=64)
def _read(name: str) -> KitchenLayout:
    if name not in names():
        raise ValueError(f"layout: expected one of {', '.join(names())}, or the lines of a layout, got {shown(name)}")
    with open(os.path.join(_folder(), f"{name}.layout"), encoding="utf-8") as file:
        # a name that is no literal
        given = ast.literal_eval(file.read().replace("float('inf')", "1e999"))
    words = {key: given[key] for key in ("order_bonus", "onion_value", "tomato_value", "onion_time", "tomato_time",
                                         "recipe_values", "recipe_times") if given.get(key) is not None}
    words |= {key: _orders(given[key]) for key in ("start_all_orders", "start_bonus_orders") if key in given}
    layout = _made([line.strip() for line in given["grid"].split("\n")], words)
    state = given.get("start_state")
    if state is None:
        return layout
    return layout._replace(
        players=tuple((*each["position"], _DIRECTIONS.index(tuple(each["orientation"]))) for each in state["players"]),
        soups={tuple(each["position"]): recipe_of(one["name"] for one in each["_ingredients"])
               for each in state["objects"]},
        orders=(_orders(state["all_orders"]), _orders(state["bonus_orders"])))


def _orders(given: Iterable[dict[str, Any]]) -> list[tuple[int, int]]:
    return [recipe_of(each["ingredients"]) for each in given]


def _made(lines: list[str], words: dict[str, Any]) -> KitchenLayout:
    cells = {cell: (x, y) for y, line in enumerate(lines) for x, cell in enumerate(line) if cell.isdigit()}
    terrain = tuple("".join(" " if cell.isdigit() else cell for cell in line) for line in lines)
    return KitchenLayout(terrain, tuple((*cells[digit], 0) for digit in sorted(cells)), {}, words)
