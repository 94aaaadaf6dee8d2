"""Overcooked: overcooked_ai's bits; layouts; rules at the edge; pictures; states; options."""
import importlib.util

import family_tests
import numpy as np
import pytest
from envs.overcooked.play import BASE, CROWD, GRID, ORDERS, VARIANTS, players, with_fewer
from markers import often_slow
from pool_arguments import MODES
from receiving import started, stepped
from state_edits import edited, number_in

import cypool
from cypool.testing import check_parity

needs_overcooked_ai = pytest.mark.skipif(importlib.util.find_spec("overcooked_ai_py") is None,
                                         reason="needs overcooked_ai")
NORTH, SOUTH, EAST, WEST, STAY, INTERACT = range(6)
ONION, TOMATO, DISH, SOUP = range(1, 5)
POT, COUNTER, DISHES = 2, 1, 16  # cells of GRID: a pot, a counter, the dispenser of dishes


def made(**options):
    return started(cypool.make(BASE, **{"num_envs": 1, "num_threads": 0, "layout": GRID, **options}))


def soup(path, onions=0, tomatoes=0, tick=-1):
    return {f"{path}.kind": SOUP, f"{path}.onions": onions, f"{path}.tomatoes": tomatoes, f"{path}.tick": tick}


def placed(*cooks, options=None, **more):
    """Returns an environment whose cooks are at columns and rows, with directions and held objects."""
    env = made(**(options or {}))
    names = ("x", "y", "direction", "held.kind")
    numbers = {f"player[{k}].{name}": value for k, cook in enumerate(cooks)
               for name, value in zip(names, cook, strict=False)}
    env.load(edited(env.save(), {**numbers, **more}))
    return env


def held(env, k=0):
    return number_in(env.save(), f"player[{k}].held.kind")


@needs_overcooked_ai
@pytest.mark.parametrize("id, options", often_slow(VARIANTS, 3))
def test_parity(id, options):
    with players(1):
        for mode in MODES:
            check_parity(id, num_envs=1, num_steps=150, seeds=[5], num_threads=0, autoreset_mode=mode,
                         **{"horizon": 120, **options})


@needs_overcooked_ai
@pytest.mark.slow
def test_parity_of_all_layouts():
    from cypool.envs.overcooked.layouts import names

    assert len(names()) == 45
    for name in names():
        with players(2):
            check_parity(f"Overcooked-{name}-v0", num_envs=1, num_steps=200, seeds=[1], horizon=150, num_threads=0)


@needs_overcooked_ai
def test_layouts_have_the_words_of_their_files():
    env = started(cypool.make("Overcooked-tutorial_1-v0", num_threads=0))
    state = env.save()
    # its episodes begin with two onions in a pot, and players who look elsewhere
    assert number_in(state, "thing[16].onions") == 2 and number_in(state, "player[0].direction") == WEST


@needs_overcooked_ai
def test_unknown_layouts_are_refused():
    with pytest.raises(ValueError, match="layout: expected one of asymmetric_advantages, .*, got 'kitchen'"):
        cypool.make("Overcooked-kitchen-v0")


def test_layouts_by_name_need_the_package(run_forked):
    done = run_forked("""
import importlib.metadata
real = importlib.metadata.version
importlib.metadata.version = lambda name: "0.0.1" if name == "overcooked-ai" else real(name)
import cypool
try:
    cypool.make("Overcooked-v0")
except ImportError as error:
    print(error)
""")
    assert done.stdout == ("Overcooked's layouts need overcooked-ai 1.1.0, found 0.0.1: "
                           'pip install --no-deps "overcooked-ai==1.1.0"\n'), done.stderr


def test_a_soup_is_cooked_and_served():
    env = placed((2, 1, NORTH, ONION), (3, 2, SOUTH), options={"cook_time": 2})
    steps = [(INTERACT, STAY), (INTERACT, STAY), (STAY, STAY)]
    shaped = [env.step([step])[-1]["shaped_reward"][0].tolist() for step in steps]
    assert shaped == [[3, 0], [0, 0], [0, 0]] and number_in(env.save(), "thing[2].tick") == 2
    env = placed((2, 1, NORTH, DISH), (3, 2, SOUTH), options={"cook_time": 2}, **soup("thing[2]", 1, tick=2))
    assert env.step([[INTERACT, STAY]])[-1]["shaped_reward"].tolist() == [[5, 0]] and held(env) == SOUP
    env = placed((1, 2, WEST), (3, 2, SOUTH), **soup("player[1].held", 1, tick=20))
    _, reward, *_, info = env.step([[STAY, INTERACT]])
    assert reward[0] == 20 and held(env, 1) == 0
    assert info["sparse_reward"].tolist() == [[0, 20]]
    assert info["agents"]["agent"]["reward"].tolist() == [[20, 20]]


def test_shaped_rewards_are_the_agents_own():
    env = placed((2, 1, NORTH, ONION), (3, 1, EAST), options={"shaped_reward": 0.5})
    _, reward, *_, info = env.step([[INTERACT, STAY]])
    assert reward[0] == 1.5 and info["agents"]["agent"]["reward"].tolist() == [[1.5, 0]]


@pytest.mark.parametrize("count, wanted", [(1, 3), (3, 0)])
def test_a_dish_is_useful_while_a_pot_is_not_full(count, wanted):
    env = placed((1, 2, SOUTH), (3, 1, NORTH), **soup("thing[2]", count))
    assert env.step([[INTERACT, STAY]])[-1]["shaped_reward"][0, 0] == wanted and held(env) == DISH


def test_a_dish_is_useful_as_pots_were_before_the_step():
    env = placed((2, 1, NORTH, ONION), (1, 2, SOUTH), **soup("thing[2]", 2))
    # the first cook fills the pot before the second takes a dish
    assert env.step([[INTERACT, INTERACT]])[-1]["shaped_reward"].tolist() == [[3, 3]]


def test_two_who_would_meet_stay_and_turn():
    env = placed((1, 1, NORTH), (3, 1, NORTH))
    env.step([[EAST, WEST]])
    state = env.save()
    assert [number_in(state, f"player[{k}].x") for k in range(2)] == [1, 3]
    assert [number_in(state, f"player[{k}].direction") for k in range(2)] == [EAST, WEST]


def test_two_do_not_change_places_and_a_third_stays():
    env = made(layout=with_fewer(4))
    numbers = {"player[0].x": 1, "player[1].x": 2, "player[2].x": 5}
    env.load(edited(env.save(), numbers | {f"player[{k}].y": 1 for k in range(3)}))
    env.step([[EAST, WEST, SOUTH]])
    assert [number_in(env.save(), f"player[{k}].{axis}") for k in range(3) for axis in "xy"] == [1, 1, 2, 1, 5, 1]


def test_soups_that_were_not_ordered_are_worth_nothing():
    env = placed((1, 2, WEST), (3, 2, SOUTH), options={"start_all_orders": ORDERS},
                 **soup("player[1].held", 3, tick=20))
    assert env.step([[STAY, INTERACT]])[1][0] == 0 and held(env, 1) == 0


def test_the_end_is_a_truncation_and_urgent_before():
    env = made(horizon=41)
    seen = [env.step([[STAY, STAY]]) for _ in range(41)]
    assert [obs[0, 0, 0, 0, 25] for obs, *_ in seen[:3]] == [0, 1, 1]
    assert seen[-1][3][0] and not seen[-2][3][0] and not any(each[2][0] for each in seen)


def test_picture_shows_cooks_and_soups():
    env = placed((1, 1, NORTH, ONION), (3, 2, SOUTH), **soup("thing[2]", 2, 1, tick=3), **{"thing[1].kind": TOMATO})
    picture = env.render()[0]
    assert picture.shape == (97, 121, 3)
    cells = {tuple(picture[24 * row + 20, 24 * col + 4]) for row, col in ((0, 0), (0, 2), (1, 0), (1, 1), (1, 2))}
    assert len(cells) == 5


test_states_continue = family_tests.continues([(BASE, mode, {"layout": GRID, "horizon": 33}) for mode in MODES] + [
    (BASE, "NextStep", {"layout": CROWD, "horizon": 33, "obs_dtype": "uint8"})], before=7, after=60)


def test_edited_states_are_harmless():
    family_tests.assert_edits_are_harmless(lambda: stepped(made(layout=CROWD), 60), 60, 4)
    family_tests.assert_edits_are_harmless(lambda: stepped(made(obs_dtype="uint8"), 60), 60, 4)


def test_states_that_break_rules_are_refused():
    env = made()
    state = env.save()
    for numbers, message in (
            ({"player[0].x": 0}, r"player\[0\]: expected a floor cell"),
            ({"player[1].x": 1, "player[1].y": 2}, r"player\[1\]: expected a cell without another player"),
            ({f"thing[{DISHES}].kind": DISH}, r"thing\[16\]: expected nothing outside counters and pots"),
            ({f"thing[{POT}].kind": ONION}, r"thing\[2\]: expected nothing or a soup in a pot"),
            (soup(f"thing[{POT}]"), r"thing\[2\]: expected 1 to 3 ingredients in a soup, otherwise 0, got 0"),
            (soup(f"thing[{POT}]", 2, 2), r"thing\[2\]: expected 1 to 3 ingredients in a soup, otherwise 0, got 4"),
            (soup(f"thing[{POT}]", 1, tick=21), r"thing\[2\].tick: expected -1 to 20, got 21"),
            (soup(f"thing[{COUNTER}]", 1, tick=3), r"thing\[1\].tick: expected 20 to 20, got 3"),
            ({"player[0].held.onions": 1}, r"player\[0\].held: expected 1 to 3 ingredients in a soup, otherwise 0"),
            ({"player[0].held.tick": 0}, r"player\[0\].held.tick: expected -1 to -1, got 0")):
        with pytest.raises(ValueError, match=message):
            env.load(edited(state, numbers))


test_states_of_other_forms_are_refused = family_tests.refuses_other_forms(made)

test_render_without_a_reset_is_refused = family_tests.draws_after_a_reset(made)

test_bad_options_are_refused = family_tests.refuses([
    ({"layout": 3}, TypeError, "layout: expected the name of a layout, or its lines as a str, got 3"),
    ({"layout": "XPX\nX1\nXDX"}, ValueError, "layout: expected lines of the same length"),
    ({"layout": "XPX\nX1X\nXsX"}, ValueError, "layout: expected the characters X, O, T, D, P, S, space and 1 to 9"),
    ({"layout": "XPX\n1 X\nXDX"}, ValueError, "layout: expected no floor at the edge"),
    ({"layout": GRID.replace("1", "2")}, ValueError, "layout: expected players 1, 2 and so on, each once"),
    ({"layout": GRID.replace("1", "3")}, ValueError, "layout: expected players 1, 2 and so on, each once"),
    ({"layout": "XPX\nXOX\nXDS"}, ValueError, "layout: expected players 1, 2 and so on, each once"),
    ({"layout": GRID.replace("S", "X")}, ValueError, "layout: expected at least one D, S, P, and O or T"),
    ({"layout": "\n".join(["X" * 65] * 3)}, ValueError, "layout: expected at most 64 lines and columns"),
    ({"layout": GRID, "horizon": 0}, ValueError, "horizon: expected 1 to"),
    ({"layout": GRID, "obs_dtype": "float32"}, ValueError, "obs_dtype: expected one of 'int64', 'uint8', got"),
    ({"layout": GRID, "obs_dtype": "uint8", "cook_time": 256}, ValueError,
     'obs_dtype: expected "int64" for cooking times of 256 steps, got "uint8"'),
    ({"layout": GRID, "start_all_orders": [["leek"]]}, ValueError,
     r"start_all_orders\[0\]\[0\]: expected one of 'onion', 'tomato', got 'leek'"),
    ({"layout": GRID, "start_all_orders": [[]]}, ValueError, r"start_all_orders\[0\]: expected 1 to 3 ingredients"),
    ({"layout": GRID, "start_all_orders": ["onion"]}, TypeError,
     r"start_all_orders\[0\]: expected a list of ingredients, got 'onion'"),
    ({"layout": GRID, "start_all_orders": ORDERS[:1] * 2}, ValueError, "start_all_orders: expected unique orders"),
    ({"layout": GRID, "start_all_orders": ORDERS[:1], "start_bonus_orders": ORDERS[1:]}, ValueError,
     "start_bonus_orders: expected orders from start_all_orders, got 0 onion and 1 tomato"),
    ({"layout": GRID, "onion_value": 5}, ValueError,
     "tomato_value: expected a number together with onion_value, got None"),
    ({"layout": GRID, "tomato_time": 5}, ValueError,
     "onion_time: expected a number together with tomato_time, got None"),
    ({"layout": GRID, "cook_time": 5, "recipe_times": [5]}, ValueError,
     r"recipe_times: expected None when cook_time is given, got \(5,\)"),
    ({"layout": GRID, "recipe_values": [5]}, ValueError,
     "recipe_values: expected 0 numbers, one for each recipe in start_all_orders, got 1"),
    ({"layout": GRID, "recipe_values": [0.5]}, TypeError, r"recipe_values\[0\]: expected an int, got 0.5"),
    ({"layout": GRID, "delivery_reward": 0}, ValueError, "delivery_reward: expected 1 to"),
    ({"layout": GRID, "shaped_reward": -1}, ValueError, "shaped_reward: expected 0 to"),
    ({"layout": GRID, "num_items_for_soup": 3}, ValueError, "num_items_for_soup: not an option")], BASE)


def test_most_of_everything_is_stepped():
    floor = "X" + " " * 62 + "X"
    largest = ["X" * 64, "X123456789" + " " * 53 + "X", *[floor] * 61, "XOTDPS" + "X" * 58]
    stepped(made(layout="\n".join(largest)), 2)


test_nothing_is_imported = family_tests.imports_nothing(
    [(BASE, {"layout": GRID}, True)], ["overcooked_ai_py", "gym", "pygame"])

test_parallel_env_passes_the_test_of_pettingzoo = family_tests.pettingzoo_accepts(BASE, layout=GRID, horizon=50)


def test_observations_of_both_dtypes_are_equal():
    wide, narrow = made(), made(obs_dtype="uint8")
    for action in np.random.default_rng(0).integers(0, 6, (200, 1, 2)):
        one, other = wide.step(action)[0], narrow.step(action)[0]
        assert one.dtype == np.int64 and other.dtype == np.uint8 and (one == other).all()
