"""Craftax without craftax: its games, keys, infos, states, searches, options and pictures; test_parity.py compares."""
import hashlib
import importlib.metadata
import importlib.util

import family_tests
import numpy as np
import pytest
from pool_arguments import MODES
from state_edits import edited, fields_of, number_in

import cypool
from cypool.envs.craftax import assets
from cypool.testing import check_env
from cypool.tools.keyboard import action_of_keys

CLASSIC, FULL = "Craftax-Classic-Symbolic-v1", "Craftax-Symbolic-v1"
needs_textures = pytest.mark.skipif(importlib.util.find_spec("craftax") is None, reason="needs craftax")
GAMES = pytest.mark.parametrize("id", [CLASSIC, FULL])
DESCEND, ASCEND = 18, 19


def started(id, num_steps=0, num_envs=1, seed=3, **options):
    env = cypool.make(id, num_envs=num_envs, num_threads=0, seed=seed, **options)
    env.reset()
    for action in np.random.default_rng(seed).integers(env.single_action_space.n, size=(num_steps, num_envs)):
        env.step(action)
    return env


@pytest.mark.parametrize("id, options, actions, digest", [
    (CLASSIC, {}, range(17), "12457461d467cd06"), (FULL, {}, range(43), "ce91ba39c4eb3156"),
    (FULL, {"god_mode": True}, (1, 4, 5, DESCEND, 24, 28), "24b59509ed605531"),
    ("Craftax-Classic-Symbolic-AutoReset-v1", {"max_timesteps": 50}, range(17), "126a104518a7736b")])
def test_games_are_those_that_were_compared(id, options, actions, digest):
    """The package's own results, as test_parity.py has compared them, on any machine."""
    found = hashlib.sha256()
    env = started(id, num_envs=2, **options)
    for action in np.random.default_rng(0).choice(actions, (200, 2)):
        obs, reward, terminated, *_ = env.step(action)
        found.update(obs.tobytes() + reward.astype(np.float32).tobytes() + terminated.tobytes())
    for row in env.save().rows:
        # but for where the engine's stream stands, and who made the world
        found.update(row["own"][0][:9] + row["own"][0][17:26] + row["own"][0][27:])
    assert found.hexdigest()[:16] == digest


@GAMES
def test_key_is_split_among_environments(id):
    """`split(key, n)[i]` does not depend on n, and seeds do not count."""
    env, other = (cypool.make(id, num_envs=count, num_threads=0, seed=count, key=(0, 5)) for count in (2, 1))
    first = other.reset(seed=9)[0]
    assert np.array_equal(env.reset()[0][:1], first) and np.array_equal(other.reset(seed=10)[0], first)


def test_seed_counts_modulo_two_to_the_32():
    env = cypool.make(CLASSIC, num_envs=1, num_threads=0)
    assert np.array_equal(env.reset(seed=2**32 - 1)[0], env.reset(seed=2**33 - 1)[0])


def test_pools_without_a_seed_differ():
    worlds = [cypool.make(CLASSIC, num_envs=2, num_threads=0).reset()[0] for _ in range(2)]
    assert not np.array_equal(*worlds) and not np.array_equal(*worlds[0])


def test_infos_show_achievements_at_an_end_only():
    env = started(CLASSIC, max_timesteps=3)
    env.load(edited(env.save(), {"achieved[0]": 1, "achieved[9]": 1}))
    for step in range(3):
        *_, info = env.step([0])
        is_over = step == 2
        assert info["achievements"][0].nonzero()[0].tolist() == ([0, 9] if is_over else [])
        assert info["discount"][0] == (not is_over) and (info["score"][0] > 0) == is_over
    assert info["score"][0] == np.float32(0.52128661) and info["achievements"].max() == 100


def test_automatic_reset_draws_the_next_world_in_the_last_step():
    """The key of the next world comes from that of the last step: no new one is taken."""
    auto, plain = (started(f"Craftax-Classic-Symbolic{name}-v1", max_timesteps=4, autoreset_mode="Disabled")
                   for name in ("-AutoReset", ""))
    for env in (auto, plain):
        for _ in range(4):
            env.step([0])
    keys = [number_in(env.save(), "key.a") for env in (auto, plain)]
    assert keys[0] == keys[1] and number_in(auto.save(), "has_next") and not number_in(plain.save(), "has_next")
    assert not np.array_equal(auto.reset()[0], plain.reset()[0])
    assert number_in(auto.save(), "key.a") == keys[0] != number_in(plain.save(), "key.a")


def test_floors_are_made_when_the_player_comes_to_them():
    env = started(FULL, god_mode=True)
    sizes = [len(env.save().rows[0]["own"][0])]
    for action in (DESCEND, ASCEND, DESCEND, DESCEND):
        env.step([action])
        sizes.append(len(env.save().rows[0]["own"][0]))
    assert sizes[0] < sizes[1] == sizes[2] == sizes[3] < sizes[4]
    assert [number_in(env.save(), f"floors[{k}].is_made") for k in range(4)] == [1, 1, 1, 0]


def after(id, actions, numbers, seed=3, **options):
    """Returns the pool, and the last step's results, of actions in an edited state of one environment."""
    env = started(id, seed=seed, autoreset_mode="Disabled", **options)
    env.load(edited(env.save(), numbers))
    for action in actions:
        results = env.step([action])
    return env, results


def in_arena(*mobs, **numbers):
    """Returns numbers of a state: the player at (24, 24) looks up, and creatures: kind, place, type and health."""
    found = {"player_x": 24, "player_y": 24, "facing": 3, **numbers}
    found |= {f"floors[0].cells[{x * 48 + y}]": 7 for x in range(19, 30) for y in range(19, 30)}
    for kind, x, y, type, health in mobs:
        name = f"floors[0].{kind}[0]"
        found |= {f"{name}.x": x, f"{name}.y": y, f"{name}.type": type, f"{name}.health": health, f"{name}.is_used": 1}
    return found


def test_lava_at_the_far_edge_is_entered_beyond_the_near_one():
    numbers = {"player_x": 0, "player_y": 9, f"floors[0].cells[{63 * 64 + 9}]": 14}
    env, (*_, terminated, _, _) = after(CLASSIC, [3], numbers)
    assert number_in(env.save(), "player_x") == -1 and terminated[0]


@pytest.mark.parametrize("id, time, key, base, night", [
    (CLASSIC, 161, 8780967, 0.5, 0.3), ("Craftax-Classic-Symbolic-AutoReset-v1", 172, 7139784, 0, 1)])
def test_light_and_chance_are_rounded_as_in_the_package(id, time, key, base, night):
    """The number drawn is between the chance of a zombie and the same with one rounding more or less."""
    env, _ = after(id, [0], {"timestep": time, "key.a": 0, "key.b": key}, spawn_zombie_base_chance=base,
                   spawn_zombie_night_chance=night)
    assert number_in(env.save(), "floors[0].melee[0].is_used")


def test_sleeper_is_hurt_more():
    numbers = in_arena(("melee", 24, 25, 0, 5.0), is_sleeping=1, energy=3)
    env, (_, reward, *_) = after(FULL, [0], numbers)
    assert number_in(env.save(), "health") == 2 and reward[0] == pytest.approx(1 - 0.7)
    assert not number_in(env.save(), "is_sleeping")


@pytest.mark.parametrize("kind, type, left", [("ranged", 5, 2.0), ("melee", 5, 2.4), ("passive", 2, 2.0),
                                              ("melee", 6, 3.8)])
def test_defense_is_of_kind_and_type(kind, type, left):
    env, _ = after(FULL, [5], in_arena((kind, 23, 24, type, 4.0), **{"items[12]": 1}))
    assert number_in(env.save(), f"floors[0].{kind}[0].health") == pytest.approx(left)


def test_arrow_that_hits_twice_hurts_once():
    numbers = in_arena(("ranged", 21, 24, 0, 3.0), ("passive", 20, 24, 0, 3.0), dexterity=1)
    numbers |= {f"floors[0].arrows[0].{name}": value for name, value in (
        ("x", 21), ("y", 24), ("step_x", -1), ("step_y", 0), ("type", 4), ("is_used", 1))}
    found = set()
    for seed in range(12):
        state = after(FULL, [0], numbers, seed=seed)[0].save()
        found.add((number_in(state, "floors[0].ranged[0].is_used"), number_in(state, "floors[0].passive[0].health")))
    # one of them may have stepped aside
    assert (0, 3.0) in found and (0, -2.0) not in found


def test_chest_counts_as_opened_under_a_creature():
    numbers = in_arena(("melee", 23, 24, 0, 9.0)) | {f"floors[0].cells[{23 * 48 + 24}]": 23}
    env, _ = after(FULL, [5], numbers)
    state = env.save()
    assert number_in(state, "floors[0].has_opened_chest") and number_in(state, f"floors[0].cells[{23 * 48 + 24}]") == 23


def test_plant_beyond_the_last_slot_does_not_grow():
    numbers = in_arena() | {f"floors[0].cells[{23 * 48 + 24}]": 2, "items[7]": 1}
    state = after(FULL, [10], numbers | {f"plants[{k}].is_used": 1 for k in range(10)})[0].save()
    assert number_in(state, f"floors[0].cells[{23 * 48 + 24}]") == 15 and number_in(state, "plants[0].x") == 0


@pytest.mark.parametrize("level, books", [(2, 0), (3, 1), (4, 1), (5, 0)])
def test_first_chest_of_two_floors_has_a_book(level, books):
    env = started(FULL, god_mode=True)
    for _ in range(level):
        env.step([DESCEND])
    chest = f"floors[{level}].cells[{23 * 48 + 24}]"
    env.load(edited(env.save(), {"player_x": 24, "player_y": 24, "facing": 3, chest: 23, "items[10]": 0}))
    env.step([5])
    assert number_in(env.save(), "items[10]") == books


def test_other_magic_is_replaced_where_all_armour_is_enchanted():
    numbers = in_arena() | {f"floors[0].cells[{23 * 48 + 24}]": 30, "mana": 9, "items[6]": 1}
    numbers |= {f"armours[{k}]": 1 for k in range(4)} | {f"armour_magic[{k}]": 2 if k == 3 else 1 for k in range(4)}
    env, _ = after(FULL, [37], numbers)
    assert [number_in(env.save(), f"armour_magic[{k}]") for k in range(4)] == [1] * 4
    assert number_in(env.save(), "items[6]") == 0


def test_boss_is_beaten_with_the_last_of_its_lives():
    env = started(FULL, god_mode=True, autoreset_mode="Disabled")
    for _ in range(8):
        env.step([DESCEND])
    block = 23 * 48 + 24
    env.load(edited(env.save(), {"player_x": 24, "player_y": 24, "facing": 3, f"floors[8].cells[{block}]": 32,
                                 "boss_progress": 7, "boss_wait": 0, "floors[8].taken[46]": 0,
                                 **{f"floors[8].melee[{k}].is_used": 0 for k in range(3)},
                                 **{f"floors[8].ranged[{k}].is_used": 0 for k in range(2)}}))
    _, reward, terminated, _, info = env.step([5])
    assert terminated[0] and reward[0] >= 16 and info["achievements"][0][48] == info["achievements"][0][49] == 100
    # the creatures that would come next are those of the boss's own floor
    assert [number_in(env.save(), f"floors[8].{kind}[0].type") for kind in ("melee", "ranged")] == [0, 0]


test_states_go_on = family_tests.continues(
    [*((CLASSIC, mode, {"max_timesteps": 20}) for mode in MODES), (FULL, "NextStep", {"max_timesteps": 20}),
     ("Craftax-Symbolic-AutoReset-v1", "SameStep", {"god_mode": True, "max_timesteps": 20})], before=25, after=30)
test_refused_forms = family_tests.refuses_other_forms(lambda: started(FULL))
test_pictures_need_a_reset = family_tests.draws_after_a_reset(lambda: started(CLASSIC))


@needs_textures
@pytest.mark.parametrize("id, options", [(CLASSIC, {}), (FULL, {"god_mode": True})])
def test_edited_states(id, options):
    family_tests.assert_edits_are_harmless(lambda: started(id, 60, **options), 120, 12)


@GAMES
def test_edges_of_all_numbers_that_are_no_cells(id):
    env = started(id, 30)
    state = env.save()
    fields = fields_of(state)
    few = [path for path in fields if not path.startswith(("floors[0].cells", "floors[0].taken"))
           and not path.endswith(("ready", "level", "is_made"))]
    for path in few[::3]:
        kind, _, low, high = fields[path]
        for value in {low, high}:
            # at the ends of its range, a number does no harm
            env.load(edited(state, {path: value if kind in "fd" else int(value)}, fields))
            for action in (5, 1, 0, 6):
                env.step([action])


def test_state_without_its_floor_is_refused():
    env = started(FULL)
    with pytest.raises(ValueError, match="floors: expected the first floor and the player's floor, got none"):
        env.load(edited(env.save(), {"level": 3}))


@GAMES
def test_copies_share_nothing(id):
    env = started(id, 20, num_envs=2, **({"god_mode": True} if id == FULL else {}))
    for source, copy in ((0, 1), (1, 0)):
        env.copy(source, [copy])
        assert len({row["own"] for row in env.save().rows}) == 1
        env.step([DESCEND if id == FULL else 3, 0])
        assert len({row["own"] for row in env.save().rows}) == 2


@GAMES
def test_search_draws_chance_again(id):
    """Each simulation has other keys, as the search moves the engine's stream; the environment's own stay."""
    env = started(id, 5, autoreset_mode="Disabled")
    before = env.save().rows[0]["own"]
    search = cypool.TreeSearch(env, simulations=16, chance="resample")
    for _ in range(2):
        action = search.run("constant").action
        assert env.save().rows[0]["own"] == before
        env.step(action)
        search.advance(action)
        before = env.save().rows[0]["own"]


def test_moved_stream_gives_other_keys():
    env = started(CLASSIC, 5, num_envs=2)
    env.copy(0, [1])
    state = env.save()
    # the other environment's stream
    state.rows[1]["rng"] = {**state.rows[1]["rng"], "state": {**state.rows[1]["rng"]["state"], "state": 12345}}
    env.load(state)
    env.step([0, 0])
    keys = [number_in(cypool.State([0], [row]), "key.a") for row in env.save().rows]
    assert keys[0] != keys[1]


@GAMES
def test_contract(id):
    assert len(check_env(id, num_envs=2, num_steps=15, max_timesteps=9).passed) == 8


@needs_textures
@pytest.mark.parametrize("id, shape", [(CLASSIC, (432, 432, 3)), (FULL, (624, 528, 3))])
def test_render_draws_what_is_observed_as_pixels(id, shape):
    """In larger tiles: the middle of the player's tile has the same colours."""
    picture = started(id, 10).render()[0]
    pixels = started(id.replace("Symbolic", "Pixels"), 10)
    obs = pixels.step([0])[0][0]
    assert picture.shape == shape and picture.dtype == np.uint8 and len(np.unique(picture)) > 20
    assert obs.min() >= 0 and obs.max() <= 1 and np.array_equal(pixels.render()[0].shape, shape)


@needs_textures
def test_third_digit_is_lost_in_pictures():
    env = started("Craftax-Pixels-v1", max_attribute=60)
    ninety, hundred = (env.load(edited(env.save(), {"dexterity": 60, "food": food}))[0].copy() for food in (90, 100))
    assert np.array_equal(ninety, hundred)


@needs_textures
@GAMES
def test_pixels_have_another_world_in_craftax_only(id):
    """The package splits the key of a reset once more there, for symbols."""
    symbols, pixels = started(id, 40), started(id.replace("Symbolic", "Pixels"), 40)
    assert (symbols.save().rows[0]["own"] == pixels.save().rows[0]["own"]) == (id == CLASSIC)


def test_missing_package_is_an_error_of_pixels_only(monkeypatch):
    def missing(_):
        raise importlib.metadata.PackageNotFoundError("craftax")

    monkeypatch.setattr("importlib.metadata.version", missing)
    assets.pictures.cache_clear()
    with pytest.raises(ImportError, match="Craftax's images need craftax 1.6.1, found none: pip install"):
        cypool.make("Craftax-Pixels-v1", max_timesteps=77)
    started(FULL, 1)


@pytest.mark.parametrize("content", [None, b"", b"\x89PNG\r\n\x1a\n" + bytes(50)])
def test_texture_that_cannot_be_read_is_an_error(monkeypatch, tmp_path, content):
    (tmp_path / "craftax" / "assets").mkdir(parents=True)
    if content is not None:
        (tmp_path / "craftax" / "assets" / "cow.png").write_bytes(content)
    monkeypatch.setattr(assets, "folder_of", lambda _: str(tmp_path))
    with pytest.raises(ImportError, match="craftax: the texture .*cow.png cannot be read"):
        assets._original.__wrapped__("craftax", "cow")


test_bad_options = family_tests.refuses([
    (CLASSIC, {"max_timesteps": 0}, r"max_timesteps: expected 1 to 268435456, got 0"),
    (CLASSIC, {"spawn_cow_chance": float("nan")}, "spawn_cow_chance: expected 0 to 1, got nan"),
    (CLASSIC, {"zombie_health": 2.5}, "zombie_health: expected an int, got 2.5"),
    (CLASSIC, {"max_zombies": 9}, "max_zombies: expected 1 to 8, got 9"),
    (CLASSIC, {"god_mode": True}, f"god_mode: not an option of {CLASSIC}"),
    (CLASSIC, {"always_diamond": 1}, "always_diamond: expected True or False, got 1"),
    (CLASSIC, {"key": 5}, "key: expected a pair of ints, such as jax.random.PRNGKey returns, got 5"),
    (CLASSIC, {"key": (1, 2, 3)}, r"key: expected a pair of ints, such as jax.random.PRNGKey returns, got \(1, 2, 3\)"),
    (CLASSIC, {"key": (-1, 2)}, r"key\[0\]: expected 0 to 4294967295, got -1"),
    (CLASSIC, {"key": (1, 2**32)}, r"key\[1\]: expected 0 to 4294967295, got 4294967296"),
    (CLASSIC, {"obs_type": "rgb"}, "obs_type: expected one of 'symbolic', 'pixels', got 'rgb'"),
    (FULL, {"fractal_noise_angles": None}, "fractal_noise_angles: expected a list of four, each None or an"),
    (FULL, {"fractal_noise_angles": [None] * 3}, "fractal_noise_angles: expected a list of four, each None or an"),
    *((id, {"fractal_noise_angles": [None, angles, None, None]},
       r"fractal_noise_angles\[1\]: expected None or an array of shape \(") for id, angles in (
           (CLASSIC, np.zeros((4, 4))), (FULL, np.full((4, 4), np.nan)), (FULL, np.full((4, 4), 1.5)), (FULL, "0")))])


@pytest.mark.parametrize("id, options", [
    (CLASSIC, {"mob_despawn_distance": 0}), (CLASSIC, {"mob_despawn_distance": 10_000, "spawn_cow_chance": 1}),
    (CLASSIC, {"max_zombies": 1, "max_cows": 1, "max_skeletons": 1, "max_arrows": 1, "max_growing_plants": 1}),
    (CLASSIC, {"max_timesteps": 1, "day_length": 1}), (CLASSIC, {"max_timesteps": 2**28, "zombie_health": 2**20}),
    (FULL, {"mob_despawn_distance": 10_000, "god_mode": True}), (FULL, {"mob_despawn_distance": 0}),
    (FULL, {"max_attribute": 100, "god_mode": True, "max_melee_mobs": 8, "max_player_projectiles": 8})])
def test_options_at_their_edges(id, options):
    env = started(id, 60, num_envs=2, **options)
    env.load(env.save())


test_nothing_is_imported = family_tests.imports_nothing(
    [(CLASSIC, {}, False), (FULL, {}, False)], ["jax", "jaxlib", "craftax", "flax"])


def test_keys_are_those_of_the_package():
    for id, name, keys in ((CLASSIC, "CraftaxClassic", {"w": 3, "space": 5, "4": 14, "6": 16}),
                           (FULL, "Craftax", {"4": 20, "5": 14, "e": 17, ".": 18, "m": 35, ";": 42})):
        choose, _ = action_of_keys(cypool.make_spec(id), f"cypool.envs.craftax.craftax:{name}")
        assert {key: choose({key}) for key in keys} == keys and choose(set()) == 0
