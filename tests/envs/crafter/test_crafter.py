"""Crafter: its bits, with sets that keep their order and with those that it has; episodes; states; options; package."""
import gc
import weakref
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
from family_tests import assert_edits_are_harmless, continues, equals, imports_nothing, refuses
from markers import exhaustive, slow
from pool_arguments import MODES
from state_edits import edited, fields_of, with_own

import cypool
from cypool.envs.crafter import assets
from cypool.envs.crafter.assets import pictures
from cypool.registration.registry import known_entries
from cypool.testing import check_env
from cypool.tools.keyboard import action_of_keys

crafter = pytest.importorskip("crafter")
from envs.crafter.play import STYLES, Duel, SavedWorld, play  # noqa: E402

from cypool.envs.crafter.crafter import SIMD, use_simd  # noqa: E402

ID = "CrafterReward-v1"
SMALL = {"area": (20, 27), "view": (7, 6), "size": (50, 43)}
# the last step of the first day
EVENING = next(step for step in range(300) if 1 - abs(np.cos(np.pi * ((step + 1) / 300 + 0.3))) ** 3 < 0.5)
MAP = {"player": 13, "cow": 14, "zombie": 15, "skeleton": 16, "arrow": 17, "plant": 18}


def started(seed=1, num_envs=1, num_steps=0, **options):
    env = cypool.make(ID, num_envs=num_envs, num_threads=0, seed=seed, **{**SMALL, **options})
    env.reset()
    for action in np.random.default_rng(seed).integers(17, size=(num_steps, num_envs)):
        env.step(action)
    return env


def at_night(env, **numbers):
    """Puts an environment into a night, with an arrow that flies and other numbers of its state; returns the state."""
    world = SavedWorld(env.save(), env.env_spec.options["area"])
    world.step[:] = 230
    x, y = divmod(int(np.flatnonzero(world.materials == assets.MATERIALS.index("grass") + 1)[-1]), world.area[1])
    taken = {(each["x"], each["y"]) for each in world.objects}
    if (x, y) not in taken:
        world.objects = np.append(world.objects, np.array([(5, x, y, 0, 0, 0)], world.objects.dtype))
        world.arrivals = np.append(world.arrivals, np.int32(len(world.objects) - 1))
        if world.chunk_of(x, y) not in world.chunks:
            world.chunks = np.append(world.chunks, np.int32(world.chunk_of(x, y)))
    for name, value in numbers.items():
        getattr(world, name)[:] = value
    env.load(world.pack())
    return env.save()


def test_names_and_ids():
    from crafter import constants

    for name in ("actions", "materials", "items", "achievements"):
        assert tuple(getattr(constants, name)) == getattr(assets, name.upper())
    ids = [entry.id for entry in known_entries() if entry.entry_point.endswith(":Crafter")]
    assert ids == ["Crafter/CrafterNoReward-v1", "Crafter/CrafterReward-v1", "CrafterNoReward-v1", ID]
    spec = cypool.make_spec(ID)
    assert spec.max_episode_steps == 10_000 and spec.options["reward"] and spec.action.n == len(assets.ACTIONS)
    assert not cypool.make_spec("Crafter/CrafterNoReward-v1").options["reward"]


test_parity = equals(
    [(ID, {"autoreset_mode": "SameStep"}), *slow((ID, {}), (ID, {"autoreset_mode": "Disabled"}))], least=4, num_envs=2,
    num_steps=40, seeds=[3], num_threads=2, length=15, **SMALL)
test_parity_with_options = equals([
    (ID, {"reward": False}), (ID, {"semantic": False, "size": 64}),
    (ID, {"area": (13, 7), "view": (16, 2), "size": (100, 33)}),
    *slow((ID, {"max_episode_steps": 11}), (ID, {"view": 9, "size": (84, 64)}), (ID, {"area": (1, 1)}),
          (ID, {"view": (16, 1), "size": (32, 2)}))], num_envs=1, num_steps=40, seeds=[5], **SMALL)


@pytest.mark.parametrize("style, ordered", [
    *((style, True) for style in STYLES), ("player", False),
    *slow(*((style, False) for style in STYLES if style != "player"))])
def test_what_crafter_does(style, ordered):
    """The whole world, and its order of creatures; crafter as it is writes down its own order, which cypool follows."""
    duel = Duel(7, ordered, **SMALL)
    play(duel, style, np.random.default_rng(0), 30)
    assert duel.seen["steps"] > 20


@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "as_it_is"])
@pytest.mark.parametrize("style", [*slow("player"), *exhaustive(*(style for style in STYLES if style != "player"))])
def test_what_crafter_does_for_long(style, ordered):
    duel = Duel(2, ordered)
    for seed in range(2):
        play(duel, style, np.random.default_rng(seed), 400)
    assert duel.seen["steps"] > 100


def test_orders_that_do_not_fit():
    """They are refused, or do no harm."""
    duel = Duel(7, True, **SMALL)
    duel.reset()
    with pytest.raises(ValueError, match="choices: expected numbers below 540, got"):
        duel.env.follow([1, 540])
    with pytest.raises(ValueError, match="choices: expected numbers below 540"):
        duel.env.follow([-1])
    for choices in ([5], [2, 0, 0], [10**2, 1]):
        duel.env.follow(choices)
        for _ in range(12):
            duel.ours.step([0])


def test_render_is_what_crafter_does():
    """At night the picture takes numbers from the random stream: that of `render` takes none."""
    duel = Duel(1, True, **SMALL)
    duel.reset()
    duel.theirs._step = EVENING
    saved = duel.saved()
    saved.step[:] = EVENING
    duel.ours.load(saved.pack())
    duel.step(0)
    assert duel.theirs._world.daylight < 0.5
    before, saved, mine = duel.ours.save(), duel.saved(), duel.ours.render()[0]
    random = duel.theirs._world.random
    behind = random.get_state()
    # where crafter drew the picture of this step
    random.set_state(("MT19937", saved.key, int(saved.position[0])))
    assert np.array_equal(mine, duel.theirs.render((512, 512)))
    random.set_state(behind)
    assert duel.ours.save().rows[0]["own"] == before.rows[0]["own"]
    for _ in range(3):
        duel.step(3)


def test_semantic_observations():
    env = started(obs_type="semantic", num_steps=30)
    obs, *_, info = env.step([1])
    (x, y), world = info["player_pos"][0], info["semantic"][0]
    padded = np.pad(world, 10)
    assert obs["view"].shape == (1, 3, 7) and obs["inventory"].dtype == np.uint8
    assert np.array_equal(obs["view"][0], padded[x + 7:x + 14, y + 9:y + 12].T)
    assert np.array_equal(obs["inventory"], info["inventory"])
    assert world[x, y] == MAP["player"]


def symbols_of(world, saved, daylight):
    """Returns the observation of Craftax-Classic for a saved world and its semantic map."""
    blocks = {0: 1, "water": 3, "grass": 2, "stone": 4, "path": 7, "sand": 13, "tree": 5, "lava": 14, "coal": 8,
              "iron": 9, "diamond": 10, "table": 11, "furnace": 12}
    numbers = [1, *(blocks[name] for name in assets.MATERIALS)]
    player = saved.objects[0]
    here = {(int(each["x"]), int(each["y"])): each for each in saved.objects}
    cells = []
    for y in range(player["y"] - 3, player["y"] + 4):
        for x in range(player["x"] - 4, player["x"] + 5):
            block, creature, inside = np.zeros(17), np.zeros(4), 0 <= x < saved.area[0] and 0 <= y < saved.area[1]
            kind, count = (here[x, y]["kind"], here[x, y]["count"]) if (x, y) in here else (0, 0)
            material = saved.materials.reshape(saved.area)[x, y] if inside else 0
            block[(16 if count > 300 else 15) if kind == 6 else numbers[material]] = 1
            for k, name in enumerate(("zombie", "cow", "skeleton", "arrow")):
                creature[k] = kind == MAP[name] - 12
            cells += [block, creature]
    names = ("wood", "stone", "coal", "iron", "diamond", "sapling", "wood_pickaxe", "stone_pickaxe", "iron_pickaxe",
             "wood_sword", "stone_sword", "iron_sword", "health", "food", "drink", "energy")
    items = [saved.inventory[assets.ITEMS.index(name)] / 10 for name in names]
    return np.concatenate([*cells, items, np.eye(4)[player["facing"]], [daylight, saved.is_sleeping[0]]])


def test_symbolic_observations():
    env = started(obs_type="symbolic", view=(9, 9), size=64, num_steps=40)
    at_night(env, inventory=np.arange(16) % 10, is_sleeping=1)
    for _ in range(3):
        obs, *_ = env.step([0])
        saved = SavedWorld(env.save(), SMALL["area"])
        progress = int(saved.step[0]) / 300 % 1 + 0.3
        daylight = 1 - abs(np.cos(np.pi * progress)) ** 3
        assert obs.shape == (1, 1345) and obs.dtype == np.float32
        assert np.array_equal(obs[0], symbols_of(env, saved, daylight).astype(np.float32))


def test_parts_of_pictures_that_no_pool_has_are_freed():
    refs = [weakref.ref(pictures((9, 9), (9 * k, 9 * k)).tiles) for k in range(2, 7)]
    gc.collect()
    assert sum(ref() is not None for ref in refs) <= 2


@pytest.mark.parametrize("obs_type", ["semantic", "symbolic"])
def test_the_game_is_the_same_without_pictures(obs_type):
    """A picture of the night takes numbers from the random stream, also where it is not observed."""
    with_pictures, without = started(num_steps=30), started(num_steps=30, obs_type=obs_type)
    at_night(with_pictures)
    at_night(without)
    for action in np.random.default_rng(0).integers(17, size=60):
        with_pictures.step([action])
        without.step([action])
    assert with_pictures.save().rows[0]["own"] == without.save().rows[0]["own"]


def test_the_contract_of_all_observations():
    for options in ({}, {"obs_type": "semantic", "reward": False}, {"obs_type": "symbolic", "semantic": False}):
        report = check_env(ID, num_envs=2, num_steps=15, **{**SMALL, **options})
        assert len(report.passed) == 8


@pytest.mark.parametrize("name", SIMD)
def test_all_vector_instructions_give_the_same(name):
    def run():
        env = started(seed=9, num_steps=20, area=(40, 30))
        day = env.step([2])[0]
        at_night(env)
        night = [env.step([0])[0] for _ in range(3)]
        return env.save().rows[0]["own"], day.tobytes(), [picture.tobytes() for picture in night]

    want = run()
    use_simd(name)
    try:
        assert run() == want
    finally:
        use_simd(SIMD[-1])


def test_seeds_of_any_size():
    """Python's hash of (seed, episode) seeds an episode."""
    for seed in (0, 2**61 - 1, 2**61, 2**63, 2**70 + 3):
        theirs = crafter.Env(area=(6, 5), seed=seed)
        env = cypool.make(ID, num_envs=2, num_threads=0, seed=seed, area=(6, 5))
        for _ in range(2):
            assert np.array_equal(env.reset()[0][0], theirs.reset())
    # the second environment has the next seed
    theirs = crafter.Env(area=(6, 5), seed=seed + 1)
    assert np.array_equal(env.reset(seed=seed)[0][1], theirs.reset())
    fresh = [cypool.make(ID, num_envs=2, num_threads=0).reset()[1]["semantic"] for _ in range(2)]
    assert not np.array_equal(*fresh) and not np.array_equal(*fresh[0])


@pytest.mark.parametrize("length, limit", [(0, None), (None, None), (1, 1), (12, 12)])
def test_length(length, limit):
    with cypool.make(ID, num_envs=1, num_threads=0, seed=0, length=length, **SMALL) as env:
        assert env.env_spec.max_episode_steps == limit and env.env_spec.options["length"] == (length or 0)
        env.reset()
        truncated = [bool(env.step([0])[3][0]) for _ in range(20)]
        assert (truncated.index(True) + 1 if any(truncated) else None) == limit


def test_no_reward():
    with cypool.make("CrafterNoReward-v1", num_envs=1, num_threads=0, seed=0, **SMALL) as env:
        env.reset()
        world = SavedWorld(env.save(), SMALL["area"])
        world.inventory[0] = 4
        env.load(world.pack())
        _, reward, _, _, info = env.step([0])
        assert reward[0] == 0 and info["reward"][0] == -0.5


test_states_go_on = continues([(ID, mode, {}) for mode in MODES], before=25, after=30, length=20, **SMALL)


def test_in_mid_night_asleep_with_an_arrow_in_flight():
    env = started(num_envs=1, num_steps=10)
    state = at_night(env, is_sleeping=1, inventory=[9, 9, 9, 3] + [0] * 12)
    actions = np.random.default_rng(2).integers(17, size=(25, 1))
    want = [env.step(action)[0][0] for action in actions]
    # saved and loaded, in this pool and in another one; copied; searched; by history
    other = started(seed=5, num_envs=3)
    for pool, rows in ((env, state), (other, cypool.State([1], state.rows))):
        pool.load(rows)
        chosen = int(rows.env_id[0])
        got = [pool.step(np.repeat(action, pool.num_envs))[0][chosen] for action in actions]
        assert np.array_equal(got, want)
    other.load(cypool.State([1], state.rows))
    other.copy(1, [0, 2])
    for action, picture in zip(actions, want, strict=True):
        assert all(np.array_equal(each, picture) for each in other.step(np.repeat(action, 3))[0])
    env.load(state)
    with started(autoreset_mode="Disabled") as planner:
        found = planner.search(state, actions[np.newaxis, :, 0])
        assert np.array_equal(found.obs[0], want[found.length[0] - 1]) and found.length[0] > 1
    env.load(state)
    history = cypool.history(env)
    for action in actions:
        env.step(action)
    history.seek(20)
    assert np.array_equal(env.step(actions[20])[0][0], want[20])


def test_a_pool_that_was_never_reset():
    """A state without an episode has a meadow, which can be played."""
    env, other = started(seed=4), cypool.make(ID, num_envs=1, num_threads=0, seed=5, **SMALL)
    state = env.save()
    own = state.rows[0]["own"][0]
    # ready, the hash of the seed, and episode 0
    other.load(with_own(state, (own[:9] + bytes(8),)))
    for action in range(17):
        info = other.step([action])[-1]
    assert set(np.unique(info["semantic"])) <= {2, 13, 14, 15}
    # the episode that follows is the first one of the state's seed
    assert np.array_equal(other.reset()[0], env.reset(seed=4)[0])


def is_playable(env, state, random):
    """Loads a state and plays on, if it is not refused with a ValueError."""
    try:
        env.load(state)
    except ValueError:
        return False
    for action in random.integers(17, size=(15, 1)):
        env.step(action)
    env.render()
    env.load(env.save())
    return True


def test_edited_states():
    assert_edits_are_harmless(lambda: started(num_steps=30, render_size=32), 250, 12, prepare=at_night)


def test_two_thousand_mutated_states():
    random = np.random.default_rng(1)
    env = started(num_steps=30, render_size=32, obs_type="semantic")
    state = at_night(env)
    saved = np.frombuffer(state.rows[0]["own"][0], np.uint8)
    # most of it is the random stream and materials, where all, or nearly all, is harmless
    rest = np.setdiff1d(np.arange(len(saved)), np.arange(21, 21 + 2500 + 540))
    played = 0
    for k in range(2000):
        changed = saved.copy()
        places = random.choice(rest if k % 4 else len(saved), 1 + k % 3)
        changed[places] = random.choice([0, 1, 2, 3, 5, 6, 9, 12, 127, 128, 255], len(places))
        data = changed.tobytes()
        if k % 20 == 0:
            data = data[:random.integers(len(data))] if k % 40 else data + bytes(3)
        played += is_playable(env, with_own(state, (data,)), random)
    assert 300 < played < 1800


def test_refused_states():
    env = started(num_steps=30)
    state = env.save()
    count = len(SavedWorld(state, SMALL["area"]).objects)
    fields = fields_of(state)
    saved = SavedWorld(state, SMALL["area"])
    second = [int(saved.objects[name][1]) for name in ("x", "y")]
    water = [int(part[0]) for part in np.nonzero(saved.materials.reshape(SMALL["area"]) == 1)]
    cases = [
        ({"objects[0].kind": 2, "objects[0].facing": 0}, r"objects\[0\]: expected the player first, and only there"),
        ({"objects[1].kind": 1, "objects[1].health": 0, "objects[1].count": 0},
         r"objects\[1\]: expected the player first, and only there, got 1"),
        ({f"objects[{count - 1}].x": second[0], f"objects[{count - 1}].y": second[1]},
         rf"objects\[{count - 1}\]: expected a cell that is free for this"),
        ({"arrivals[1].index": int(saved.arrivals[0])}, r"arrivals\[1\]: expected each chunk once"),
        ({"arrivals[0].index": count}, rf"arrivals\[0\].index: expected 0 to {count - 1}, got {count}"),
        ({"chunks[1].chunk": int(saved.chunks[0])}, r"chunks\[1\]: expected each chunk once"),
        ({"random.position": 625}, "random.position: expected 0 to 624, got 625"),
        ({"materials[3]": 0}, r"materials\[3\]: expected 1 to 12, got 0"),
        ({"inventory[4]": 10}, r"inventory\[4\]: expected 0 to 9, got 10"),
        ({"reward": float("nan")}, "reward: expected -1 to 2, got nan"),
        ({"step": -1}, "step: expected 0 to 1073741824, got -1"),
    ]
    if len(water) == 2:
        cases.append(({"objects[0].x": water[0], "objects[0].y": water[1]}, r"objects\[0\]: expected a cell that is"))
    for changes, message in cases:
        with pytest.raises(ValueError, match=f"env 0 cannot load: ValueError: state: {message}"):
            env.load(edited(state, changes, fields))
    for own, message in (((), "expected 1 values, got 0"), (("text",), r"state\[0\]: expected bytes"),
                         ((b"",), "ready: expected 1 more bytes"),
                         ((state.rows[0]["own"][0] + b"1",), "end: expected no more bytes, got 1")):
        with pytest.raises(ValueError, match=message):
            env.load(with_own(state, own))
    assert env.load(state)[0].any()


def test_a_chunk_that_is_missing():
    env = started(num_steps=5)
    world = SavedWorld(env.save(), SMALL["area"])
    world.chunks = world.chunks[1:]
    with pytest.raises(ValueError, match=r"objects\[\d+\]: expected a chunk from `chunks`, got \d+"):
        env.load(world.pack())


test_bad_options = refuses([
    ({"area": 64}, r"area: expected a pair \(x, y\), got 64"),
    ({"area": (64,)}, r"area: expected a pair \(x, y\), got \(64,\)"),
    ({"area": (0, 5)}, r"area\[0\]: expected 1 to 1024, got 0"), ({"area": (5, 1025)}, r"area\[1\]: expected 1 to 10"),
    ({"area": ("5", 5)}, r"area\[0\]: expected an int, got '5'"), ({"area": None}, r"area: expected a pair"),
    ({"view": 0}, r"view\[0\]: expected 1 to 128, got 0"), ({"view": True}, r"view\[0\]: expected an int, got True"),
    ({"view": (9, 1)}, "view: expected at least 2 rows for 9 columns, got 1"),
    ({"view": (16, 1), "obs_type": "semantic"}, "view: expected at least 2 rows for 16 columns, got 1"),
    ({"view": (1, 16), "obs_type": "symbolic"}, "view: expected at least 17 rows for 1 columns, got 16"),
    ({"view": (9, 9, 9)}, r"view: expected an int or a pair \(x, y\), got \(9, 9, 9\)"),
    ({"view": "99"}, "view: expected an int or a pair"),
    ({"size": (17, 64)}, r"size: expected at least two pixels for each cell of a view of \(9, 9\), got \(17, 64\)"),
    ({"size": 2049}, r"size\[0\]: expected 1 to 2048, got 2049"), ({"size": -1}, r"size\[0\]: expected 1 to 2048"),
    ({"size": np.array(64)}, "size: expected an int or a pair"),
    ({"render_size": 17}, "render_size: expected at least two pixels for each cell"),
    ({"reward": 1}, "reward: expected True or False, got 1"), ({"semantic": None}, "semantic: expected True or False"),
    ({"length": -1}, "length: expected 0 to 1073741824, got -1"), ({"length": 1.5}, "length: expected an int, got 1.5"),
    ({"obs_type": "pixels"}, "obs_type: expected one of 'rgb', 'semantic', 'symbolic', got 'pixels'"),
    ({"health": 5}, "health: not an option of CrafterReward-v1"),
], ID)


@pytest.mark.parametrize("options", [
    {"area": (1, 1)}, {"area": (1, 90), "view": (128, 2), "size": (256, 4)},
    {"area": (90, 1), "view": (1, 128), "size": 256},
    {"view": (16, 1), "size": (32, 2)}, {"view": (2, 8), "size": (4, 2048)}, {"size": (18, 18), "length": 1},
    {"area": (2, 2), "length": 2**30}, {"area": (12, 12)}, {"area": (13, 13), "obs_type": "symbolic", "view": (1, 17)},
    {"obs_type": "semantic", "view": (128, 128), "size": 256, "area": (5, 5)}, {"render_size": (2048, 18)},
])
def test_options_at_their_edges(options):
    env = cypool.make(ID, num_envs=2, num_threads=0, seed=0, **{"area": (30, 20), **options})
    env.reset()
    for action in np.random.default_rng(0).integers(17, size=(25, 2)):
        env.step(action)
    at = env.save()
    env.load(at)
    assert env.render()[1].shape == (*env.env_spec.options["render_size"][::-1], 3)


@pytest.mark.slow
def test_the_largest_area():
    env = cypool.make(ID, num_envs=1, num_threads=0, seed=0, area=(1024, 1024), obs_type="symbolic", semantic=False)
    env.reset()
    for action in range(17):
        env.step([action])
    env.load(env.save())


def test_without_the_package(monkeypatch, tmp_path):
    def missing(_):
        raise PackageNotFoundError("crafter")

    (tmp_path / "data.yaml").write_text("actions: [noop]")

    for version, folder, message in (
            (missing, None, "Crafter needs crafter 1.8.3, found none"),
            (lambda _: "1.8.2", None, "Crafter needs crafter 1.8.3, found 1.8.2"),
            (lambda _: "1.8.3", None, "crafter: its rules are missing from data.yaml"),
            (lambda _: "1.8.3", str(tmp_path),
             "crafter: expected the rules of crafter 1.8.3 in .*data.yaml, got different ones")):
        with monkeypatch.context() as patch:
            patch.setattr("importlib.metadata.version", version)
            patch.setattr(assets, "folder_of", lambda _, folder=folder: folder)
            assets.crafter_folder.cache_clear()
            with pytest.raises(ImportError, match=message) as caught:
                cypool.make(ID)
            assert str(caught.value).endswith('pip install "cypool[crafter]"')
    assets.crafter_folder.cache_clear()


# the last has one channel
@pytest.mark.parametrize("content", [None, b"", b"\x89PNG\r\n\x1a\n" + bytes(50), b"P5 1 1 255 \x07"])
def test_textures_that_cannot_be_read(monkeypatch, tmp_path, content):
    (tmp_path / "assets").mkdir()
    if content is not None:
        (tmp_path / "assets" / "cow.png").write_bytes(content)
    monkeypatch.setattr(assets, "crafter_folder", lambda: tmp_path)
    with pytest.raises(ImportError, match="crafter: the texture .*cow.png cannot be read"):
        assets._original.__wrapped__("cow")


test_crafter_is_not_imported = imports_nothing(
    [("CrafterReward-v1", {"area": (9, 9)}, True)], ["crafter", "opensimplex", "imageio"])


def test_pillow_is_imported_for_textures_only(run_forked):
    done = run_forked("import sys, cypool; cypool.make_spec('CrafterReward-v1'); print('PIL' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


def test_keys():
    choose, text = action_of_keys(cypool.make_spec(ID), "cypool.envs.crafter.crafter:Crafter")
    for key, action in (("w", "move_up"), ("left", "move_left"), ("space", "do"), ("tab", "sleep"),
                        ("e", "place_stone"), ("1", "make_wood_pickaxe"), ("6", "make_iron_sword")):
        assert choose({key}) == assets.ACTIONS.index(action)
    assert choose(set()) == 0 and "1 11" in text and "keys 0 to" not in text


def test_chance_is_of_its_own_stream():
    env = cypool.make(ID, num_envs=2, num_threads=0)
    env.reset()
    with pytest.raises(ValueError, match="^chance: expected 'foresee'"):
        cypool.TreeSearch(env)
    search = cypool.TreeSearch(env, simulations=8, chance="foresee")
    for _ in range(3):
        action = search.run("constant").action
        env.step(action)
        search.advance(action)
