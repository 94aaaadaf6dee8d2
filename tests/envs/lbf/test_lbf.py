"""Level-based foraging: lbforaging's bits; ids; rules at the edge; pictures; states; options."""
import importlib.util

import family_tests
import gymnasium
import numpy as np
import pytest
from envs.lbf.play import BASE, VARIANTS, players
from markers import often_exhaustive
from pool_arguments import MODES
from receiving import started, stepped
from state_edits import edited, number_in

import cypool
from cypool.envs.lbf.lbf import Foraging
from cypool.testing import check_env, check_parity

needs_lbforaging = pytest.mark.skipif(importlib.util.find_spec("lbforaging") is None, reason="needs lbforaging")
NORTH, SOUTH, WEST, EAST, LOAD = 1, 2, 3, 4, 5


def made(id=BASE, **options):
    return started(cypool.make(id, **{"num_envs": 1, "num_threads": 0, "seed": 3, **options}))


def placed(env, *positions, **more):
    """Puts the players of an environment to rows and columns."""
    numbers = {f"player[{k}].{name}": value for k, position in enumerate(positions)
               for name, value in zip(("row", "col"), position, strict=True)}
    env.load(edited(env.save(), {**numbers, **more}))
    return env


def positions(env):
    state, count = env.save(), env.env_spec.num_agents
    return [tuple(number_in(state, f"player[{k}].{name}") for name in ("row", "col")) for k in range(count)]


@needs_lbforaging
@pytest.mark.parametrize("id, options", often_exhaustive(VARIANTS, 4))
def test_parity(id, options):
    with players(1):
        for mode in MODES:
            check_parity(id, num_envs=2, num_steps=70, seeds=[5], num_threads=0, autoreset_mode=mode, **options)


@needs_lbforaging
def test_ids_mean_what_lbforaging_registers():
    import lbforaging  # registers them

    known = [spec for spec in gymnasium.registry.values() if str(spec.entry_point).startswith(lbforaging.__name__)]
    assert len(known) >= 1920
    for theirs in known[::7]:
        ours, wanted = cypool.make_spec(theirs.id).options, dict(theirs.kwargs)
        wanted["time_limit"] = wanted.pop("max_episode_steps")
        assert {name: ours[name] for name in wanted} == {**wanted, "field_size": tuple(wanted["field_size"])}


@pytest.mark.parametrize("id, message", [
    ("Foraging-3x3-12p-4f-v3", "players: expected at most 9"),
    ("Foraging-2x2-1p-1f-v3", r"field_size\[0\]: expected 3"),
    ("Foraging-8x8-0p-3f-v3", "players: expected 1 to 100, got 0"),
    ("Foraging-8x8-2p-0f-v3", "max_num_food: expected 1 to 100, got 0"),
    ("Foraging-101s-8x8-2p-1f-v3", "sight: expected 0 to 100, got 101"),
    ("Foraging-8x8-2p-3f-v2", "Foraging-8x8-2p-3f-v2")])
def test_ids_without_an_environment_are_refused(id, message):
    with pytest.raises(ValueError, match=message):
        cypool.make(id)


@pytest.mark.parametrize("change, message", [
    ({"sight": "none"}, "options: expected sight, got none"), ({"sihgt": 5}, "settings: expected names .*, got sihgt")])
def test_settings_that_the_rules_do_not_ask_for_are_refused(change, message):
    class Changed(Foraging):
        def settings(self, options):
            changed = {**Foraging.settings(options), **change}
            return {name: value for name, value in changed.items() if value != "none"}

    with pytest.raises(ValueError, match=message):
        Changed(cypool.make_spec(BASE), 0)


def test_players_change_places():
    env = placed(made(players=2, max_num_food=1, field_size=(5, 5)), (0, 0), (0, 1))
    env.step([[EAST, WEST]])
    assert positions(env) == [(0, 1), (0, 0)]


def test_player_enters_the_cell_of_one_whose_move_fails():
    env = placed(made(players=3, max_num_food=1, field_size=(5, 5)), (0, 0), (0, 1), (0, 3))
    env.step([[EAST, EAST, WEST]])
    assert positions(env) == [(0, 1), (0, 1), (0, 3)]


def test_players_do_not_leave_the_field():
    env = placed(made(), (0, 0), (7, 7))
    env.step([[NORTH, SOUTH]])
    env.step([[WEST, EAST]])
    assert positions(env) == [(0, 0), (7, 7)]


def test_weak_player_pays_the_penalty():
    env = made(max_num_food=1, field_size=(3, 3), penalty=0.5, max_player_level=1, min_food_level=2, max_food_level=2)
    placed(env, (0, 1), (0, 0))
    *_, info = env.step([[LOAD, LOAD]])
    assert info["agents"]["agent"]["reward"].tolist() == [[-0.5, 0]]
    placed(env, (0, 1), (1, 0))
    _, reward, terminated, _, info = env.step([[LOAD, LOAD]])
    assert info["agents"]["agent"]["reward"].tolist() == [[0.5, 0.5]] and reward[0] == 1 and terminated[0]


def test_full_field_has_no_food():
    env = made(players=9, field_size=(3, 3), max_num_food=1)
    assert not env.step(np.zeros((1, 9), int))[0][0, 0, 2]
    assert env.save()


@pytest.mark.parametrize("truncate", [False, True])
def test_time_limit_terminates_or_truncates(truncate):
    env = made(time_limit=1, truncate=truncate)
    *_, terminated, truncated, _ = env.step([[0, 0]])
    assert (terminated[0], truncated[0]) == (not truncate, truncate)


def test_fresh_world_forgets():
    """The same seed, after other episodes: without it, no player begins where one was at the last end."""
    equal = []
    for options in ({}, {"fresh_world": True}):
        env = made(players=9, field_size=(4, 4), num_envs=8, **options)
        first, again = env.reset(seed=0)[0].copy(), env.reset(seed=0)[0]
        equal.append(first.tobytes() == again.tobytes())
    assert equal == [False, True]


def test_fresh_world_keeps_the_contract_of_resets():
    crowd = {"players": 9, "field_size": (4, 4)}
    assert check_env(BASE, num_steps=20, fresh_world=True, **crowd).skipped == ()
    with pytest.raises(AssertionError, match="after reset"):
        check_env(BASE, num_steps=20, **crowd)


def test_picture_shows_players_and_food():
    picture = placed(made(max_num_food=1, field_size=(4, 6)), (0, 0), (3, 5)).render()[0]
    assert picture.shape == (97, 145, 3)
    assert tuple(picture[6, 6]) == tuple(picture[78, 126]) != tuple(picture[6, 30])


test_states_continue = family_tests.continues([(BASE, mode, {}) for mode in MODES] + [
    ("Foraging-grid-2s-5x5-9p-2f-v3", "NextStep", {})], before=7, after=60)


def test_edited_states_are_harmless():
    for options in ({"players": 4}, {"players": 9, "field_size": (3, 3), "grid_observation": True}):
        family_tests.assert_edits_are_harmless(lambda options=options: stepped(made(**options), 5), 40, 4)


def test_states_that_break_rules_are_refused():
    env = made()
    state = env.save()
    near = {f"food[{k}].{name}": 1 + k for k in range(2) for name in ("row", "col")}
    for numbers, message in (
            (near, r"food\[1\]: expected food items at least 3 steps apart"),
            ({"food[0].row": 6}, r"food\[1\]: expected food items in row order"),
            ({"spawned_level": 0}, "spawned_level: expected at least"),
            ({f"player[0].{name}": number_in(state, f"food[0].{name}") for name in ("row", "col")},
             r"player\[0\]: expected a cell without food")):
        with pytest.raises(ValueError, match=message):
            env.load(edited(state, numbers))


test_states_of_other_forms_are_refused = family_tests.refuses_other_forms(made)

test_render_without_a_reset_is_refused = family_tests.draws_after_a_reset(made)


test_bad_options_are_refused = family_tests.refuses([
    ({"players": 101}, ValueError, "players: expected 1 to 100, got 101"),
    ({"players": 59}, ValueError, "players: expected at most 58, to fit into 8 x 8 cells, got 59"),
    ({"min_player_level": 0}, ValueError, "min_player_level: expected 1 to 1000, got 0"),
    ({"min_player_level": [1, 2, 3]}, ValueError, "min_player_level: expected 2 levels .the value of players., got 3"),
    ({"max_food_level": [1]}, ValueError, "max_food_level: expected 3 levels .the value of max_num_food., got 1"),
    ({"max_food_level": "12"}, TypeError, "max_food_level: expected an int or a list of ints, got '12'"),
    ({"max_player_level": [1, 2.5]}, TypeError, r"max_player_level\[1\]: expected an int, got 2.5"),
    ({"max_player_level": None}, TypeError, "max_player_level: expected an int or a list of ints, got None"),
    ({"min_player_level": 3}, ValueError, "min_player_level: expected at most 2, the highest level, got 3"),
    ({"min_food_level": 3}, ValueError, "min_food_level: expected at most 2, the highest level, got 3"),
    ({"field_size": (2, 5)}, ValueError, r"field_size\[0\]: expected 3 to 100, got 2"),
    ({"field_size": 8}, TypeError, r"field_size: expected a pair \(rows, columns\), got 8"),
    ({"field_size": (8,)}, ValueError, r"field_size: expected a pair \(rows, columns\), got \(8,\)"),
    ({"penalty": -1}, ValueError, "penalty: expected 0 to"), ({"sight": -1}, ValueError, "sight: expected 0 to 100"),
    ({"truncate": None}, TypeError, "truncate: expected True or False, got None"),
    ({"time_limit": 0}, ValueError, "time_limit: expected 1 to"),
    ({"fresh_world": 1}, TypeError, "fresh_world: expected True or False, got 1"),
    ({"max_steps": 5}, ValueError, "max_steps: not an option")], BASE)


def test_most_of_everything_is_stepped():
    for options in ({"players": 100, "max_num_food": 100, "field_size": (100, 100), "max_player_level": 1000},
                    {"players": 100, "field_size": (100, 100), "sight": 100, "grid_observation": True}):
        stepped(made(**options), 2)


test_nothing_is_imported = family_tests.imports_nothing([(BASE, {}, True)], ["lbforaging", "pyglet", "pettingzoo"])

test_parallel_env_passes_the_test_of_pettingzoo = family_tests.pettingzoo_accepts(BASE)
test_tuples_are_those_of_lbforaging = family_tests.equals_tuples(BASE, "lbforaging")
