"""MiniGrid and BabyAI: minigrid's bits, in all ids, autoreset modes and arguments; states; pictures; bad input."""
import importlib.metadata
import inspect
import pickle

import gymnasium
import numpy as np
import pytest
from family_tests import assert_edits_are_harmless, continues, equals, refuses
from gymnasium.envs.registration import load_env_creator
from gymnasium.vector import AutoresetMode
from markers import often_exhaustive, slow
from state_edits import edited, fields_of, number_in, with_own

import cypool
from cypool.envs.minigrid import levels, minigrid
from cypool.registration.registry import is_env, known_entries

ENTRIES = [entry for entry in known_entries() if entry.id.startswith(("MiniGrid-", "BabyAI-"))]
IDS = [entry.id for entry in ENTRIES]
# one of each class
QUICK = list({entry.entry_point: entry.id for entry in ENTRIES}.values())
# one of each class that has arguments, with others than its ids have
ARGUMENTS = [
    ("MiniGrid-Empty-8x8-v0", {"size": 12, "agent_start_pos": (3, 4), "agent_start_dir": 2, "max_steps": 30}),
    ("MiniGrid-LavaCrossingS9N1-v0", {"size": 15, "num_crossings": 9, "obstacle_type": "wall"}),
    ("MiniGrid-DistShift1-v0", {"width": 13, "height": 9, "strip2_row": 4, "agent_start_pos": None}),
    ("MiniGrid-DoorKey-8x8-v0", {"size": 11, "see_through_walls": True}),
    ("MiniGrid-Dynamic-Obstacles-8x8-v0", {"size": 5, "n_obstacles": 9}),
    ("MiniGrid-Fetch-8x8-N3-v0", {"size": 9, "numObjs": 20}),
    ("MiniGrid-FourRooms-v0", {"agent_pos": (9, 3), "goal_pos": (4, 4)}),
    ("MiniGrid-GoToObject-6x6-N2-v0", {"size": 10, "numObjs": 18}),
    ("MiniGrid-KeyCorridorS3R1-v0", {"num_rows": 4, "room_size": 5, "obj_type": "box"}),
    ("MiniGrid-LavaGapS5-v0", {"size": 9}),
    ("MiniGrid-LockedRoom-v0", {"size": 25}),
    ("MiniGrid-MemoryS7-v0", {"size": 15, "random_length": True}),
    ("MiniGrid-MultiRoom-N6-v0", {"minNumRooms": 3, "maxNumRooms": 8, "maxRoomSize": 6, "width": 31, "height": 27}),
    ("MiniGrid-ObstructedMaze-2Q-v1", {"num_quarters": 3, "agent_room": (0, 0), "key_in_box": False}),
    ("MiniGrid-RedBlueDoors-8x8-v0", {"size": 7}),
    ("BabyAI-GoTo-v0", {"room_size": 6, "num_rows": 2, "num_cols": 5, "num_dists": 30}),
    ("BabyAI-PutNextLocal-v0", {"room_size": 10, "num_objs": 18}),
    ("BabyAI-OpenTwoDoors-v0", {"first_color": "grey", "strict": True}),
    ("BabyAI-SynthS5R2-v0", {"num_cols": 4, "locked_room_prob": 0.9, "action_kinds": ("open", "goto")}),
    ("BabyAI-KeyCorridorS3R2-v0", {"obj_type": "key", "num_rows": 5, "num_cols": 4}),
    ("BabyAI-FindObjS6-v0", {"num_rows": 2, "num_cols": 2}),
    ("BabyAI-GoToSeq-v0", {"instr_kinds": ("and",), "implicit_unlock": False, "num_dists": 9}),
    ("BabyAI-PickupLoc-v0", {"room_size": 10, "implicit_unlock": False}),
    ("BabyAI-SynthLoc-v0", {"action_kinds": ("putnext",), "locked_room_prob": 0}),
    ("BabyAI-SynthSeq-v0", {"instr_kinds": ("seq", "action"), "action_kinds": ("pickup", "goto"), "num_dists": 12}),
    ("BabyAI-MiniBossLevel-v0", {"locations": False, "implicit_unlock": False, "instr_kinds": ("and", "seq")}),
    ("BabyAI-BossLevelNoUnlock-v0", {"locations": False, "unblocking": False, "num_rows": 2, "num_cols": 2}),
    ("BabyAI-BossLevel-v0", {"agent_view_size": 11, "max_steps": 40}),
    ("BabyAI-GoToLocal-v0", {"agent_view_size": 3}),
    ("MiniGrid-MultiRoom-N6-v0", {"agent_view_size": 15}),
]


test_equals_minigrid = equals(QUICK, num_envs=2, num_steps=30, seeds=[4])
test_equals_minigrid_for_long = pytest.mark.slow(
    equals(often_exhaustive(IDS, 3), num_envs=2, num_steps=150, seeds=[5]))
test_autoreset_modes = equals(
    [("MiniGrid-Dynamic-Obstacles-5x5-v0", {"autoreset_mode": mode}) for mode in AutoresetMode]
    + slow(*(("BabyAI-PutNextS5N2Carrying-v0", {"autoreset_mode": mode}) for mode in AutoresetMode)),
    least=10, num_steps=150, seeds=[9], num_threads=2, max_steps=20)
test_arguments_of_constructors = equals(ARGUMENTS, num_envs=2, num_steps=40, seeds=[6])


def arguments_of(level):
    """Yields the arguments that a class of minigrid or its bases take, and their defaults."""
    for each in level.__mro__:
        if "__init__" in vars(each):
            _, *taken = inspect.signature(each.__init__).parameters.values()
            yield from ((one.name, one.default) for one in taken if one.kind is not one.VAR_KEYWORD)
            if all(one.kind is not one.VAR_KEYWORD for one in taken):
                return


def accepted(level, arguments):
    # a class may give an argument itself, or refuse its default
    try:
        level(**arguments)
    except (AssertionError, TypeError):
        return False
    return True


@pytest.mark.parametrize("id", QUICK)
def test_arguments_are_options(id):
    """Whatever minigrid's constructors take is an option, except for those that cypool has in another way."""
    pytest.importorskip("minigrid")
    spec = gymnasium.spec(id)
    level = load_env_creator(spec.entry_point)
    # a mission space is the level's, a grid has its own names for its size, and the others are of windows
    elsewhere = {"mission_space", "width", "height", "grid_size", "render_mode", "screen_size"}
    taken = {name for name, default in arguments_of(level) if name not in elsewhere
             and accepted(level, {**spec.kwargs, name: spec.kwargs.get(name, default)})}
    assert taken <= cypool.make_spec(id).options.keys()


WRAPPED = [
    ("MiniGrid-DoorKey-6x6-v0", {"obs_type": "full"}),
    ("BabyAI-PutNextS5N2Carrying-v0", {"obs_type": "full", "max_steps": 15}),
    ("BabyAI-PutNextS5N2Carrying-v0", {"obs_type": "symbolic", "max_steps": 15}),
    ("MiniGrid-KeyCorridorS3R2-v0", {"obs_type": "symbolic"}),
    ("MiniGrid-GoToDoor-8x8-v0", {"obs_type": "onehot"}),
    ("BabyAI-BossLevel-v0", {"obs_type": "onehot", "agent_view_size": 5}),
    ("MiniGrid-LavaCrossingS9N3-v0", {"no_death_types": ("lava",), "death_cost": -0.3, "max_steps": 60}),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", {"no_death_types": ("ball", "wall"), "action_prob": 0.7, "max_steps": 40}),
    ("MiniGrid-Empty-5x5-v0", {"action_prob": 0.4, "random_action": 2}),
    ("BabyAI-MiniBossLevel-v0", {"action_prob": 0.0}),
    ("MiniGrid-DoorKey-6x6-v0", {"obs_type": "rgb"}),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", {"obs_type": "rgb", "obs_tile_size": 5, "highlight": False}),
    ("MiniGrid-LavaGapS5-v0", {"obs_type": "rgb", "agent_view_size": 3, "image_only": True}),
    ("BabyAI-PutNextS5N2Carrying-v0", {"obs_type": "rgb", "max_steps": 15}),
    ("BabyAI-PutNextS5N2Carrying-v0", {"obs_type": "rgb_partial", "max_steps": 15}),
    ("MiniGrid-ObstructedMaze-1Dlhb-v0", {"obs_type": "rgb_partial", "obs_tile_size": 11, "agent_view_size": 5}),
    ("BabyAI-PutNextS5N2Carrying-v0", {"view_size": 9, "max_steps": 15}),
    ("MiniGrid-DoorKey-6x6-v0", {"view_size": 3, "obs_type": "onehot"}),
    ("MiniGrid-PutNear-6x6-N2-v0", {"obs_type": "flat"}),
    ("MiniGrid-KeyCorridorS3R1-v0", {"obs_type": "flat", "view_size": 5}),
    ("MiniGrid-Empty-Random-6x6-v0", {"image_only": True, "obs_type": "full"}),
    ("MiniGrid-Dynamic-Obstacles-Random-6x6-v0", {"goal_direction": "slope"}),
    ("MiniGrid-FourRooms-v0", {"goal_direction": "angle", "obs_type": "full"}),
    ("MiniGrid-MultiRoom-N2-S4-v0", {"goal_direction": "angle_atan2"}),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", {"bonus": "action", "action_prob": 0.8, "no_death_types": ("ball",)}),
    ("BabyAI-GoToLocal-v0", {"bonus": "position", "bonus_scale": 0.3, "max_steps": 20}),
    ("MiniGrid-DoorKey-5x5-v0", {"bonus": "action", "obs_type": "rgb_partial", "obs_tile_size": 4}),
]
test_wrappers = equals(WRAPPED, num_envs=2, num_steps=50, seeds=[8])
test_wrappers_for_longer = pytest.mark.slow(equals(WRAPPED, num_envs=3, num_steps=150, seeds=[8]))


def test_all_ids():
    assert len(IDS) == 172
    minigrid = pytest.importorskip("minigrid")
    theirs = {id for id in gymnasium.registry if id.startswith(("MiniGrid-", "BabyAI-")) and "WFC" not in id}
    assert minigrid.__version__ and set(IDS) == theirs


def test_classes_are_made_from_the_levels():
    for name, level in levels.CLASSES.items():
        made = getattr(minigrid, name)
        assert is_env(made) and pickle.loads(pickle.dumps(made)) is made
        assert repr(made) == f"<class 'cypool.envs.minigrid.minigrid.{name}'>"
        assert {entry.id for entry in ENTRIES if entry.entry_point.endswith(f":{name}")} == set(level.ids)


@pytest.mark.parametrize("change, message", [
    ({"generator": "door_kye"}, "^generator: expected one of LEVELS .*, got 'door_kye'$"),
    ({"numbers": {"width": 5, "hight": 5}}, "^settings: expected names that the rules read, got hight$"),
])
def test_a_level_with_a_misspelled_name_is_refused(change, message):
    door_key = levels.CLASSES["DoorKey"]
    level = door_key._replace(make=lambda size: door_key.make(size)._replace(**change))
    spec = cypool.make_spec("MiniGrid-DoorKey-5x5-v0")
    made = type("Misspelled", (minigrid.MiniGrid,), {"level": level})
    with pytest.raises(ValueError, match=message):
        made(spec, 0)


def test_ids_that_minigrid_cannot_reset_have_a_reason():
    pytest.importorskip("minigrid")
    missing = [id for id in gymnasium.registry if id.startswith("MiniGrid-WFC-")]
    assert len(missing) == 6
    for id in missing:
        with pytest.raises(ValueError, match=f"^id: no environment '{id}': its level is made from pattern images"):
            cypool.make(id)


test_state = continues([
    (id, "NextStep", options) for id in ("MiniGrid-DoorKey-5x5-v0", "MiniGrid-ObstructedMaze-Full-v1",
                                         "BabyAI-BossLevel-v0", "BabyAI-PutNextS5N2Carrying-v0")
    for options in ({}, {"bonus": "action", "obs_type": "rgb"})], before=91, after=60, max_steps=70)


def started(id, num_envs=1, **options):
    env = cypool.make(id, num_envs=num_envs, seed=1, **options)
    env.reset()
    return env


@pytest.mark.parametrize("id, options", [
    ("MiniGrid-DoorKey-5x5-v0", {"obs_type": "full"}), ("BabyAI-MiniBossLevel-v0", {"obs_type": "symbolic"}),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", {"bonus": "position", "obs_type": "rgb"}),
    ("BabyAI-PutNextS5N2Carrying-v0", {"obs_type": "rgb"}), ("MiniGrid-KeyCorridorS3R1-v0", {"obs_type": "flat"}),
    ("BabyAI-KeyInBox-v0", {"bonus": "action", "obs_type": "onehot"}),
])
def test_edited_states(id, options):
    assert_edits_are_harmless(lambda: started(id, **options), 100, 10)


def test_states_of_other_lengths():
    env = started("MiniGrid-DoorKey-5x5-v0")
    state = env.save()
    saved, = state.rows[0]["own"]
    for own, error, message in (
            ((), ValueError, "expected 1 values, got 0"), ((saved, saved), ValueError, "expected 1 values, got 2"),
            ((b"",), ValueError, "state: ready: expected 1 more bytes, got 0"),
            ((saved[:-1],), ValueError, r"state: target.bad.y: expected 4 more bytes, got 3"),
            ((saved + b"12",), ValueError, "state: end: expected no more bytes, got 2"),
            ((b"\2" + saved[1:],), ValueError, "state: ready: expected 0 to 1, got 2"),
            (("text",), ValueError, r"state\[0\]: expected bytes"), (saved, ValueError, "expected a tuple")):
        with pytest.raises(error, match=message):
            env.load(with_own(state, own))
    env.load(state)


@pytest.mark.parametrize("id, changes, message", [
    # a ball that lies in the margin, which is a wall as far as the agent can see
    *[("MiniGrid-Dynamic-Obstacles-8x8-v0", {f"objects[4].at.{axis}": -1}, "a cell, or -1 for both") for axis in "xy"],
    ("MiniGrid-Dynamic-Obstacles-8x8-v0", {"objects[4].at.x": -1, "objects[4].at.y": -1}, "expected"),
    ("MiniGrid-Dynamic-Obstacles-8x8-v0", {"agent.x": -1}, "agent.x: expected 0 to 7, got -1"),
    ("MiniGrid-Dynamic-Obstacles-8x8-v0", {"agent.y": 8}, "agent.y: expected 0 to 7, got 8"),
    ("MiniGrid-Dynamic-Obstacles-8x8-v0", {"carrying": 4}, "carrying: expected an object that is nowhere else, got 4"),
    ("MiniGrid-DoorKey-5x5-v0", {"carrying": 1}, "carrying: expected an object that is nowhere else, got 1"),
    ("MiniGrid-DoorKey-5x5-v0", {"cells[24]": 5}, r"cells\[24\]: expected an existing object, got 5"),
    # the object that the agent gets in its hands with the first step
    *[("BabyAI-PutNextS5N2Carrying-v0", {"moved": value}, f"moved: expected an object in a cell, got {value}")
      for value in (0, 1)],
    ("BabyAI-PutNextS5N2Carrying-v0", {"moved": -1}, "moved: expected 0 to"),
])
def test_objects_are_in_one_place(id, changes, message):
    env = started(id)
    state = env.save()
    with pytest.raises(ValueError, match=f"env 0 cannot load: ValueError: state: .*{message}"):
        env.load(edited(state, changes))
    env.load(state)


def test_a_box_holds_what_is_nowhere_else():
    env = started("BabyAI-KeyInBox-v0")
    state = env.save()
    fields = fields_of(state)
    box = next(k for k in range(4, 20) if number_in(state, f"objects[{k}].contains"))
    for other in (box, 1, 4):
        with pytest.raises(ValueError, match=rf"objects\[{box}\].contains: expected an object that is nowhere else"):
            env.load(edited(state, {f"objects[{box}].contains": other}, fields))


def test_a_state_for_a_pool_that_was_never_reset():
    env = started("MiniGrid-Dynamic-Obstacles-8x8-v0")
    other = cypool.make("MiniGrid-Dynamic-Obstacles-8x8-v0", num_envs=1)
    other.load(env.save())
    assert (other.step([1])[0]["image"] == env.step([1])[0]["image"]).all()


def test_visits_are_counted_beyond_32_bits():
    env = started("MiniGrid-Empty-5x5-v0", bonus="position")
    agent = 5 * 1 + 1
    env.load(edited(env.save(), {f"visits[{agent}]": 2**32 - 1}))
    assert env.step([0])[1][0] == 1 / 2**16


def test_no_level_after_a_reset_that_failed():
    with cypool.make("BabyAI-PutNextS5N2Carrying-v0", num_envs=2, seed=0, room_size=4, objs_per_room=4,
                     autoreset_mode="Disabled", obs_type="full", render_mode="rgb_array") as env:
        with pytest.raises(cypool.EnvError):
            env.reset()
        with pytest.raises(RuntimeError, match="render: expected a successful reset first"):
            env.render()
        obs = env.load(env.save())[0]
        assert not any(obs[key].any() for key in obs)


def test_tiles_of_a_size_are_drawn_once_for_each_kind(monkeypatch):
    """The cell below the agent is the same in all directions: 256 pixels took half a minute."""
    from cypool.envs.minigrid import tiles

    drawn, shapes_of = [], tiles._shapes
    monkeypatch.setattr(tiles, "_shapes", lambda type, *args: drawn.append(type) or shapes_of(type, *args))
    assert tiles.tiles(37) is tiles.tiles(37) and len(drawn) == len(tiles.KINDS)


@pytest.mark.parametrize("size", [3, *slow(1, 8)])
def test_tiles(size):
    """All that can be drawn equals minigrid's."""
    pytest.importorskip("minigrid")
    from minigrid.core.grid import Grid
    from minigrid.core.world_object import WorldObj

    from cypool.envs.minigrid.tiles import KINDS, tiles
    for k, kind in enumerate(KINDS):
        for agent in range(5):
            for seen in (False, True):
                want = Grid.render_tile(WorldObj.decode(*kind), agent - 1 if agent else None, seen, size)
                assert (tiles(size)[k, agent, int(seen)] == want.astype(np.uint8)).all(), (kind, agent, seen)


@pytest.mark.parametrize("id, options", [
    ("MiniGrid-DoorKey-8x8-v0", {}), ("MiniGrid-ObstructedMaze-1Dlhb-v0", {"agent_pov": True, "tile_size": 12}),
    ("BabyAI-PutNextS5N2Carrying-v0", {"highlight": False, "tile_size": 16}),
])
def test_pictures(id, options):
    pytest.importorskip("minigrid")
    theirs = gymnasium.make(id, render_mode="rgb_array", disable_env_checker=True, **options)
    with cypool.make(id, num_envs=1, seed=3, render_mode="rgb_array", **options) as ours:
        ours.reset()
        theirs.reset(seed=3)
        random = np.random.default_rng(1)
        for _ in range(12):
            assert (ours.render()[0] == theirs.render()).all()
            action = random.integers(7)
            ours.step([action])
            theirs.step(action)


test_bad_options = refuses([
    ("MiniGrid-Empty-8x8-v0", {"num_rows": 3}, "num_rows: not an option of"),
    ("MiniGrid-Empty-8x8-v0", {"size": 3}, "size: expected 4 to 1000, got 3"),
    ("MiniGrid-Empty-8x8-v0", {"agent_start_pos": (0, 1)}, r"agent_start_pos\[0\]: expected 1 to 6, got 0"),
    ("MiniGrid-Empty-8x8-v0", {"agent_start_pos": (1, 2, 3)}, "agent_start_pos: expected a pair"),
    ("MiniGrid-Empty-8x8-v0", {"agent_view_size": 8}, "agent_view_size: expected an odd number, got 8"),
    ("MiniGrid-Empty-8x8-v0", {"agent_view_size": 65}, "agent_view_size: expected 3 to 63, got 65"),
    ("MiniGrid-Empty-8x8-v0", {"max_steps": 0}, "max_steps: expected 1 to"),
    ("MiniGrid-LavaCrossingS9N1-v0", {"size": 10}, "size: expected an odd number, got 10"),
    ("MiniGrid-LavaCrossingS9N1-v0", {"obstacle_type": "water"}, "obstacle_type: expected one of"),
    ("MiniGrid-MemoryS7-v0", {"size": 6}, "size: expected 7 to 1000, got 6"),
    ("MiniGrid-GoToObject-6x6-N2-v0", {"numObjs": 19}, "numObjs: expected 1 to 15, got 19"),
    ("MiniGrid-MultiRoom-N6-v0", {"minNumRooms": 8}, "maxNumRooms: expected 8 to 500, got 6"),
    ("MiniGrid-Empty-8x8-v0", {"obs_type": "pixels"}, "obs_type: expected one of"),
    ("MiniGrid-Empty-8x8-v0", {"obs_type": "rgb", "obs_tile_size": 0}, "obs_tile_size: expected 1 to 256, got 0"),
    ("MiniGrid-Empty-8x8-v0", {"obs_type": "rgb", "view_size": 5}, "view_size: expected obs_type"),
    ("MiniGrid-Empty-8x8-v0", {"view_size": 4}, "view_size: expected an odd number, got 4"),
    ("BabyAI-GoToLocal-v0", {"obs_type": "flat"}, "obs_type: expected a value other than 'flat' for BabyAI"),
    ("MiniGrid-Empty-8x8-v0", {"obs_type": "flat", "image_only": True}, "obs_type: expected a value other than 'flat'"),
    ("MiniGrid-Empty-8x8-v0", {"goal_direction": "north"}, "goal_direction: expected one of"),
    ("MiniGrid-Empty-8x8-v0", {"goal_direction": "slope", "image_only": True}, "goal_direction: expected None with"),
    ("MiniGrid-Unlock-v0", {"goal_direction": "slope"}, "goal_direction: expected None for a level without a goal"),
    ("MiniGrid-Empty-8x8-v0", {"bonus": "count"}, "bonus: expected one of"),
    ("MiniGrid-Empty-8x8-v0", {"bonus_scale": 2.0}, "bonus_scale: expected 1"),
    ("MiniGrid-Empty-8x8-v0", {"action_prob": 1.5}, "action_prob: expected 0 to 1, got 1.5"),
    ("MiniGrid-Dynamic-Obstacles-5x5-v0", {"random_action": 5}, "random_action: expected 0 to 2, got 5"),
    ("MiniGrid-LavaGapS5-v0", {"no_death_types": ("goal",)}, "no_death_types: expected one of"),
    ("MiniGrid-LavaGapS5-v0", {"no_death_types": 3}, "no_death_types: expected type names"),
    ("BabyAI-GoTo-v0", {"room_size": 3}, "room_size: expected 4 to 100, got 3"),
    ("BabyAI-OpenTwoDoors-v0", {"first_color": "pink"}, "first_color: expected one of"),
    ("BabyAI-FindObjS5-v0", {"num_cols": 4}, "num_cols: expected the same value as num_rows .3., got 4"),
    ("BabyAI-SynthS5R2-v0", {"num_rows": np.zeros(2)}, "num_rows: expected an int, got"),
    ("BabyAI-SynthS5R2-v0", {"num_rows": 1, "num_cols": 1}, "locked_room_prob: expected 0 for a single room"),
    ("BabyAI-KeyCorridor-v0", {"num_cols": 2}, "num_cols: expected 3 to 100, got 2"),
    ("BabyAI-PickupLoc-v0", {"num_rows": 2}, "num_rows: not an option of"),
    ("BabyAI-SynthSeq-v0", {"instr_kinds": ("or",)}, r"instr_kinds: expected one of"),
    ("BabyAI-GoToSeq-v0", {"action_kinds": ("open",)}, "action_kinds: not an option of"),
    ("BabyAI-PutNextLocal-v0", {"num_objs": 19}, "num_objs: expected 2 to 18, got 19"),
])


@pytest.mark.parametrize("id, options", [
    ("MiniGrid-MultiRoom-N6-v0", {"minNumRooms": 90, "maxNumRooms": 90}),
    ("BabyAI-GoToLocal-v0", {"room_size": 4, "num_dists": 50}),
    ("MiniGrid-Fetch-8x8-N3-v0", {"size": 5, "numObjs": 8}),
])
def test_levels_without_room(id, options):
    """The reference draws for ever; here it is an error of the environment, or the level is found."""
    with cypool.make(id, num_envs=1, seed=0, **options) as env:
        if "numObjs" in options:
            env.reset()
        else:
            with pytest.raises(cypool.EnvError):
                env.reset()


def test_levels_that_are_thrown_away_again_and_again():
    """Work is bounded, too: each attempt takes few draws and a millisecond."""
    with cypool.make("BabyAI-UnblockPickup-v0", num_envs=1, seed=0, room_size=40, num_rows=20, num_cols=20) as env:
        with pytest.raises(cypool.EnvError, match="no level with these options was found within a second"):
            env.reset()


def test_obstacles_move_for_ever():
    """The bound on draws is that of a reset. Here balls have no place to go to, and make 404 draws in each step."""
    with cypool.make("MiniGrid-Dynamic-Obstacles-5x5-v0", num_envs=1, seed=0, max_steps=2**31 - 2, size=4,
                     n_obstacles=2) as env:
        env.reset()
        env.rollout(np.ones((55_000, 1), np.int64))


def test_text():
    with cypool.make("BabyAI-GoToRedBall-v0", num_envs=2, seed=0) as env:
        mission = env.reset()[0]["mission"]
    assert mission.dtype == np.uint8 and mission.shape == (2, 328)
    assert cypool.text(mission) == ("go to the red ball",) * 2 or set(cypool.text(mission)) <= {
        "go to the red ball", "go to a red ball"}
    assert cypool.text(mission[0]).startswith("go to")
    assert cypool.text(np.frombuffer("größer\0".encode(), np.uint8)) == "größer"
    for bad, error in ((np.zeros(3), TypeError), (np.uint8(3), ValueError), (np.array([255], np.uint8), ValueError),
                       (None, TypeError)):
        with pytest.raises(error, match="array: expected"):
            cypool.text(bad)


def test_without_minigrid(monkeypatch):
    """The levels run; pictures and parity raise an error that names the package."""
    from cypool.envs.minigrid.reference import need_minigrid

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    for version, message in ((missing, r"found none: pip install .cypool\[minigrid\]"),
                             (lambda _: "2.5.0", "needs minigrid 3.2.0, found 2.5.0")):
        monkeypatch.setattr(importlib.metadata, "version", version)
        with pytest.raises(ImportError, match=message):
            need_minigrid("render")
    with cypool.make("MiniGrid-Empty-5x5-v0", seed=0, render_mode="rgb_array") as env:
        env.reset()
        env.step([2])
        with pytest.raises(ImportError, match=r"render needs minigrid 3.2.0, found 2.5.0"):
            env.render()
