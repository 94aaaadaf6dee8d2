"""States that were edited or damaged, and the plain format that they are kept in."""
import hashlib
import json
import pickle
import re
import zlib
from contextlib import suppress

import gymnasium
import numpy as np
import pytest
from engine.threads import start
from receiving import started, stepped
from state_edits import with_own
from waiting import join

import cypool
from cypool.state import MAGIC, State, check_state, check_stream, unpack

pytestmark = pytest.mark.families("atari", "dm_control", "mujoco", "robotics")
NAN, INF = float("nan"), float("inf")
# up to the JSON
PREFIX = len(MAGIC) + 32 + 8


def put(own, k, value):
    return (*own[:k], value, *own[k + 1:])


def saved(id, num_steps=0, **options):
    """Returns a pool of one environment after some steps, its state, and the environment's own part of that."""
    env = stepped(started(cypool.make(id, seed=0, **options)), num_steps)
    state = env.save()
    return env, state, state.rows[0]["own"]


def refused(env, state, own):
    """The environment does not take it, and is there all the same: to be saved, drawn, loaded, stepped."""
    with pytest.raises(ValueError, match="^state: expected rows returned by save.* that env 0 cannot load: .*Error: "):
        env.load(with_own(state, own))
    env.save()
    if env.render_mode is not None:
        env.render()
    env.step(env.action_space.sample())
    env.load(state)
    assert env.save().rows[0]["own"] == state.rows[0]["own"]


# id, options, and for each number of its own state some invalid values
TOY = [
    ("Catch-v0", {}, [(10**8, -1, 10), (5, -1), (5, -1)]),
    ("FrozenLake-v1", {}, [(16, -1, 10**8), (1.5, -0.5, NAN), (4, -2)]),
    ("CliffWalking-v1", {}, [(48, -1, 2**31), (2.0, NAN), (4, -2)]),
    ("Taxi-v3", {"fickle_passenger": True}, [(500, -1, 2**40), (NAN,), (6, -2), (2, None), (4, -1)]),
    ("NChain-v0", {}, [(5, -1, 10**8)]),
    ("Blackjack-v1", {}, [(10**9, 0), (-1,), (1,), (10**9,), (-1,), ("x",), (0, 11), (4, -1), (3, -1)]),
    ("CartPole-v1", {}, [(NAN, INF)] * 4),
    ("MountainCar-v0", {}, [(NAN,)] * 2),
    ("MountainCarContinuous-v0", {}, [(NAN,), (INF,), (-INF,), (2,)]),
    ("Pendulum-v1", {}, [(NAN,), (INF,), (NAN,), (1,)]),
    # an angle that would be wrapped for ever
    ("Acrobot-v1", {}, [(1e300, NAN), (-1e300, 4.0), (13.0,), (30.0, INF), (2.0,), (NAN,), (2.0,), (2.0,), (0,)]),
]


@pytest.mark.parametrize(("id", "options", "bad"), TOY, ids=[f"{id} {options}" for id, options, _ in TOY])
def test_numbers_out_of_range(id, options, bad):
    env, state, own = saved(id, 1, **options)
    for k, values in enumerate(bad):
        for value in (*values, None, "1", [1], 10**400):
            refused(env, state, put(own, k, value))
    for other in (None, 7, own[:-1], (*own, 0), (), "x" * len(own), {}, b""):
        refused(env, state, other)


def test_a_ball_in_the_last_row_falls_no_further():
    env, state, own = saved("Catch-v0")
    env.load(with_own(state, put(own, 0, 9)))
    obs, _, terminated, _, _ = env.step([1])
    assert terminated[0] and obs[0, 9].sum() > 0 == obs[0, :9].sum()


def test_steps_are_counted_to_the_last_number():
    for id in ("CartPole-v1", "Pendulum-v1"):
        env = started(cypool.make(id, seed=0, episode_statistics=True))
        row = env.save().rows[0]
        with pytest.raises(ValueError, match="elapsed_step: expected 0 to 2147483646, got 2147483647"):
            env.load(State([0], [{**row, "elapsed_step": 2**31 - 1}]))
        env.load(State([0], [{**row, "elapsed_step": 2**31 - 2, "episode_length": 2**31 - 2}]))
        *_, truncated, info = env.step(env.action_space.sample())
        assert truncated[0] and info["elapsed_step"][0] == 2**31 - 1 == info["episode"]["l"][0]
        ended = env.save()
        env.load(ended)
        assert env.step(env.action_space.sample())[4]["elapsed_step"][0] == 0


@pytest.mark.parametrize("id", ["Pong-v5", "Pitfall2-v5", "MontezumaRevenge-v5", "Klax-v5"])
def test_damaged_atari_states(id):
    """Games with all kinds of cartridges that have something to save."""
    env = started(cypool.make(id, seed=0, obs_type="ram", stack_num=1))
    for _ in range(5):
        env.step([2])
    state = env.save()
    own = state.rows[0]["own"]
    unpacked = zlib.decompress(own[0])
    random = np.random.default_rng(0)
    results = []
    for _ in range(60):
        changed = bytearray(unpacked)
        # most of it are screens
        changed[random.integers(own[1] // 4)] ^= 1 << random.integers(8)
        try:
            env.load(with_own(state, put(own, 0, zlib.compress(changed, 1))))
            results.append("taken")
        except ValueError as error:
            results.append(str(error))
        env.step([0])
    assert all(text == "taken" or text.startswith("state: ") for text in results)
    assert sum("not from this game, or damaged" in text for text in results) > 10
    env.load(state)
    assert env.save().rows[0]["own"] == own


def test_numbers_that_ale_would_trust():
    env, state, own = saved("Pitfall2-v5")
    unpacked = zlib.decompress(own[0])

    def with_number(place, value):
        return put(own, 0, zlib.compress(unpacked[:place] + value.to_bytes(4, "little") + unpacked[place + 4:], 1))

    ram, cartridge = unpacked.index(b"M6532") + 5, unpacked.index(b"CartridgeDPC") + 12
    counters = cartridge + 4 + 2 * 36 + 4
    # behind two texts: the actions
    action = unpacked.index(b"\1\0\0\0\x12\0\0\0", own[1] // 8)
    for place, value in ((ram, 2**20), (ram, 0), (cartridge, 2), (cartridge, 2**16 - 1), (cartridge + 4, 2**31),
                         (counters, 2048), (counters, 2**32 - 1), (action, 40), (action, 2**31), (action + 4, 0),
                         (0, 2**31), (4, 2**31)):
        refused(env, state, with_number(place, value))
    env.load(with_own(state, with_number(counters, 2047)))
    # the mode would be an endless error of each reset
    assert unpacked[20:24] == bytes(4)
    refused(env, state, with_number(20, 77))


def test_a_bool_of_ale_that_is_neither():
    env, state, own = saved("ChopperCommand-v5")
    unpacked = bytearray(zlib.decompress(own[0]))
    # the last one of the emulator's: whether the game has started
    assert unpacked[own[1] - 5:own[1] - 1] == b"\1\0\0\0" and unpacked[own[1] - 1] in (0, 1)
    unpacked[own[1] - 1] = 2
    refused(env, state, put(own, 0, zlib.compress(unpacked, 1)))


def test_indices_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    env, state, own = saved("Ant-v5", 1, frame_stack=2, randomize={"body_mass": (0.5, 2)}, width=60, height=44)
    packed, time, awake, newest, info, drawn, view, version = own
    data = mujoco.MjData(mujoco.MjModel.from_xml_path(gymnasium.__path__[0] + "/envs/mujoco/assets/ant.xml"))
    unpacked = zlib.decompress(packed)
    first = data.qpos.__array_interface__["data"][0]
    names = ("moment_colind", "moment_rowadr", "moment_rownnz", "body_awake_ind", "dof_awake_ind", "tree_asleep",
             # MuJoCo before 3.3.6
             "B_colind", "C_rowadr", "D_rownnz", "D_diag", "M_rowadr", "M_colind", "mapD2M", "mapM2M")
    found = {name: getattr(data, name) for name in names if getattr(data, name, np.empty(0)).size}
    assert len(found) > 2
    for name, array in found.items():
        place = array.__array_interface__["data"][0] - first
        assert 0 < place < len(unpacked)
        changed = bytearray(unpacked)
        changed[place:place + 4] = (10**8).to_bytes(4, "little")
        with pytest.raises(ValueError, match=f"state: ({name}|moment_rowadr): expected"):
            env.load(with_own(state, put(own, 0, zlib.compress(changed))))
    for k, values in ((0, [b"", packed[:-1], packed + b"1", unpacked, zlib.compress(unpacked + b"1"), "x"]),
                      (1, [NAN, "x"]), (2, [awake[:3], (10**6, 1, 1, 1), (-1, *awake[1:]), None]), (3, [2, -1, 0.5]),
                      (4, [info[:-1], (*info, 1.0), None, ("x",) * len(info)]),
                      (5, [None, drawn[:-1], [0.4, *drawn[1:]], [NAN, *drawn[1:]]]), (6, [(), (1, 2), ((1, 2), 3.0)]),
                      (7, [version - 1, "x"])):
        for value in values:
            refused(env, state, put(own, k, value))


def test_integers_of_a_model_are_in_no_state():
    """MuJoCo derives some of them from randomized fields; an index from a state could point anywhere."""
    pytest.importorskip("gymnasium_robotics")
    with started(cypool.make("FetchReach-v4", seed=0, num_threads=0, randomize={"body_mass": (0.5, 2)})) as env:
        state = env.save()
        own = state.rows[0]["own"]
        *before, contents = own[4]
        assert len(contents) > 1000
        sevens = np.full(len(contents) // 8 + 1, 7.0).tobytes()[:len(contents)]
        env.load(with_own(state, put(own, 4, (*before, sevens))))
        for _ in range(3):
            # a robot like this may well fail
            with suppress(cypool.EnvError):
                env.step(env.action_space.sample())
        env.load(state)
        assert env.save().rows[0]["own"] == own


# random streams that would draw the same number for ever, or read behind their numbers

ZEROS = bytes(4 * 624)
# states of PCG64, and their errors
BAD_PCG64 = [({"state": 0, "inc": 0}, "expected a PCG64 with an odd increment, got 0"),
             ({"state": 12345, "inc": 2**127}, "expected a PCG64 with an odd increment, got 1701411834604692317316873"),
             ({"state": 2**128, "inc": 1}, "expected the state of PCG64, got {'bit_generator'"),
             ({"state": 1, "inc": -1}, "expected the state of PCG64, got"), ({"state": 1}, "expected the state of"),
             ({"state": 0.5, "inc": 1}, "expected the state of"), (None, "expected the state of PCG64")]
# since 2.5, NumPy refuses it
OUT_OF_RANGE = "expected (MT19937 position 0 to 624|the state of MT19937), got"
BAD_KEYS = [(ZEROS, 624, "expected an MT19937 with a nonzero key, got"),
            (b"\xff\xff\xff\x7f" + ZEROS[4:], 624, "expected an MT19937 with a nonzero key"),
            (ZEROS[4:] + b"abcd", 625, OUT_OF_RANGE), (ZEROS[4:] + b"abcd", -1, OUT_OF_RANGE),
            (ZEROS[4:] + b"abcd", 2**40, "expected the state of MT19937, got"),
            (ZEROS[4:] + b"abcd", "1", "expected the state of MT19937"), (b"a" * 2492, 1, "expected the state of"),
            (b"a" * 2500, 1, "expected the state of")]


@pytest.mark.parametrize("id", ["Blackjack-v1", "CartPole-v1", "Reacher-v5"])
def test_streams_of_pools(id):
    if id == "Reacher-v5":
        pytest.importorskip("mujoco")
    env = started(cypool.make(id, seed=0))
    state = env.save()
    row = state.rows[0]
    for numbers, message in BAD_PCG64:
        with pytest.raises(ValueError, match=f"^state: .* env 0 cannot load: ValueError: rng: {message}"):
            env.load(State([0], [{**row, "rng": {**row["rng"], "state": numbers}}]))
    for bad in (None, 3, {}, {**row["rng"], "bit_generator": "MT19937"}, {**row["rng"], "uinteger": 2**32}):
        with pytest.raises(ValueError, match="^state: .* env 0 cannot load: ValueError: rng: expected the state of"):
            env.load(State([0], [{**row, "rng": bad}]))
    env.load(State([0], [{**row, "rng": {**row["rng"], "state": {"state": 0, "inc": 1}}}]))
    env.reset()


def test_streams_of_dm_control():
    pytest.importorskip("dm_control")
    env, state, own = saved("dm_control/cartpole-swingup-v0")
    key, pos, *others = own[4]
    for bad, at, message in BAD_KEYS:
        with pytest.raises(ValueError, match=f"^state: .* env 0 cannot load: ValueError: random: {message}"):
            env.load(with_own(state, put(own, 4, (bad, at, *others))))
    for bad in ("x", None, key[:-1]):
        with pytest.raises(ValueError, match="ValueError: random: expected the key of an MT19937, got"):
            env.load(with_own(state, put(own, 4, (bad, pos, *others))))


def test_streams_of_atari():
    env, state, own = saved("Pong-v5", obs_type="ram", stack_num=1)
    numbers = own[2].split()
    assert len(numbers) == 625
    zeros = [b"0"] * 624
    for bad, message in ((zeros + [b"5"], "expected an MT19937 with a nonzero key"),
                         ([b"%d" % 2**63] * 624 + [b"5"], "expected the state of MT19937"),
                         ([b"%d" % 2**32] + numbers[1:], "expected the state of MT19937"),
                         (numbers[1:], "expected the state of MT19937"),
                         (numbers[:-1] + [b"625"], OUT_OF_RANGE),
                         ([b"x"], "expected the state of an MT19937, got b'x'"),
                         ([], "expected the state of an MT19937, got b''")):
        with pytest.raises(ValueError, match=f"^state: .* env 0 cannot load: ValueError: noops: {message}"):
            env.load(with_own(state, put(own, 2, b" ".join(bad))))
    refused(env, state, put(own, 2, own[2] + b" "))
    # one that ALE's emulator draws from, with as many characters
    unpacked = zlib.decompress(own[0])
    place = re.search(rb"(\d+ ){624}\d+", unpacked).span()
    text = b"0 " * 624 + b"0" * (place[1] - place[0] - 2 * 624)
    refused(env, state, put(own, 0, zlib.compress(unpacked[:place[0]] + text + unpacked[place[1]:])))


def test_check_stream():
    for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64):
        stream = kind(3)
        np.random.Generator(stream).integers(0, 7, 3)
        taken = check_stream("x", stream.state, kind)
        want, other = stream.random_raw(2000), kind(4)
        other.state = taken
        assert (other.random_raw(2000) == want).all()
        for bad in (None, {}, [], {**taken, "state": None}, {**taken, "bit_generator": "x"}, {**taken, "more": 1}):
            with pytest.raises(ValueError, match=f"^x: expected the state of {kind.__name__}, got"):
                check_stream("x", bad, kind)


def test_streams_that_two_threads_check_at_once():
    mine, theirs = np.random.PCG64(3).state, np.random.PCG64(4).state
    taken = []

    class PCG64(np.random.PCG64):
        """After a state is set, another thread checks another state, from beginning to end."""

        @property
        def state(self):
            return np.random.PCG64.state.__get__(self)

        @state.setter
        def state(self, state):
            np.random.PCG64.state.__set__(self, state)
            if state == mine:
                thread = start(lambda: taken.append(check_stream("y", theirs, PCG64)))
                join(thread)

    assert check_stream("x", mine, PCG64) == mine
    assert taken == [theirs]


def test_rows_that_change_while_they_are_checked():
    env = started(cypool.make("Catch-v0", num_envs=2, seed=0))
    state = env.save()
    row = dict(state.rows[0])

    class Spoils:
        def __eq__(self, other):
            row["own"] = (10**8, 0, 0)
            row["elapsed_step"] = 2**40
            return True

        def __ne__(self, other):
            return False

    row["options"] = Spoils()
    env.load(State([0], [row]))
    env.step([0, 0])
    for bad in (State.__new__(State), State([0], None), State([0], {"rows": 1}), State([0], iter([row]))):
        with pytest.raises(TypeError, match="^state: expected a list of rows, got"):
            env.load(bad)


class Counter(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 100, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.count += 1
        return np.full(1, self.count, np.float32), 0.0, False, False, {}


def test_states_of_python_stay_out_of_the_plain_format():
    env = started(cypool.from_factories([Counter], num_workers=0))
    env.step([0])
    state = env.save()
    for give in (state.to_bytes, lambda: state.save("never_written")):
        with pytest.raises(ValueError, match="^state: expected plain data .* a Python environment is a pickle"):
            give()
    own, seen, seed = state.rows[0]["own"]
    # so no file can bring code to an environment of Python
    refused(env, state, (bytes(own), seen, seed))
    for changed in ((type(own)(b"x"), seen, seed), (type(own)(pickle.dumps(3)), seen, seed), (own, seen[:-1], seed),
                    (own, seen, -1), (own, seen, 2**64), (own, seen, "1"), (own, seen), None):
        refused(env, state, changed)
    assert env.load(pickle.loads(pickle.dumps(state)))[0].tolist() == [[1]]


# the plain format

@pytest.mark.parametrize(("id", "options"), [
    ("CartPole-v1", {}), ("FrozenLake-v1", {"desc": ["SF", "HG"]}), ("Blackjack-v1", {}), ("Acrobot-v1", {}),
    ("Taxi-v3", {}), ("Pong-v5", {"frame_skip": (2, 5), "preset": "gymnasium"}),
    ("Ant-v5", {"randomize": {"body_mass": (0.5, 2)}, "default_camera_config": {"lookat": (0, 0, 1)}})])
def test_state_from_a_file_continues_equally(tmp_path, id, options):
    env = started(cypool.make(id, num_envs=3, seed=0, episode_statistics=True, **options))
    for _ in range(3):
        env.step(env.action_space.sample())
    state = env.save()
    state[[2, 0, 2]].save(tmp_path / "state")
    back = cypool.load_state(tmp_path / "state")
    assert isinstance(back, cypool.State) and back.env_id.dtype == np.int32 and back.env_id.tolist() == [2, 0, 2]
    assert back.rows == [state.rows[k] for k in (2, 0, 2)]
    assert [type(value) for value in back.rows[0]["own"]] == [type(value) for value in state.rows[2]["own"]]
    actions = [env.action_space.sample() for _ in range(5)]
    want = [pickle.dumps(env.step(action)[:4]) for action in actions]
    other = cypool.make(id, num_envs=3, seed=9, episode_statistics=True, **options)
    other.load(State.from_bytes(state.to_bytes()))
    assert [pickle.dumps(other.step(action)[:4]) for action in actions] == want


def test_any_plain_value_goes_to_bytes_and_back():
    own = (None, True, -(2**200), 1.5, -0.0, INF, "ä\0\ud800", b"\0\xff", b"", (), [], {}, [(1, b"x")],
           {1: {"a": [b"yz"]}, (2,): 3}, {"bytes": 1})
    row = {"id": "x", "options": {"a": (1, [2], {"b": None})}, "own": own}
    (back,) = State.from_bytes(State([7], [row]).to_bytes()).rows
    assert back == row and repr(back["own"]) == repr(own)
    state = State([7], [{**row, "own": (NAN, np.float32(0.5), np.int8(3))}])
    assert repr(State.from_bytes(state.to_bytes()).rows[0]["own"]) == "(nan, 0.5, 3)"
    endless = []
    endless.append(endless)
    for bad in (object(), {1, 2}, np.zeros(3), 1j, Counter, endless, 10**5000, bytearray(3)):
        with pytest.raises(ValueError, match="^state: expected plain data"):
            State([7], [{**row, "own": bad}]).to_bytes()
    for bad in ("x", 3, [[0]], [0.5], np.zeros(2), [2**70], [[0], 1]):
        with pytest.raises((TypeError, ValueError), match="^env_id: expected integers"):
            State(bad, [])
    assert State([2**40], []).env_id.tolist() == [2**31 - 1]
    for rows in ([3], [{}], None):
        with pytest.raises(ValueError, match="^state: expected plain data"):
            State([7], rows).to_bytes()


def signed(text, blobs=b""):
    """A file from someone who knows the format."""
    body = len(text).to_bytes(8, "little") + text + blobs
    return MAGIC + hashlib.sha256(body).digest() + body


def test_damaged_files_are_refused(tmp_path):
    env = started(cypool.make("CartPole-v1", num_envs=2, seed=0))
    data = env.save().to_bytes()
    random = np.random.default_rng(0)
    for _ in range(200):
        changed = bytearray(data)
        changed[random.integers(len(data))] ^= 1 << random.integers(8)
        with pytest.raises(ValueError, match="^data: expected a state returned by to_bytes"):
            State.from_bytes(bytes(changed))
    for size in (0, 5, len(MAGIC), PREFIX - 1, PREFIX, len(data) - 1):
        with pytest.raises(ValueError, match="^data: expected a state returned by to_bytes"):
            State.from_bytes(data[:size])
    # right checksums over something else
    head = json.loads(data[PREFIX:])
    for text in (b"", b"3", b"[]", b"{}", b"\xff", b"[" * 100_000, json.dumps({**head, "rows": 3}).encode(),
                 json.dumps({**head, "rows": [[5, {"dict": []}]]}).encode(),
                 json.dumps({**head, "rows": [[-3, {"dict": []}]]}).encode(),
                 json.dumps({**head, "env_id": [10**30, 1]}).encode(), json.dumps({**head, "env_id": None}).encode(),
                 json.dumps({**head, "rows": [[0, {"dict": [[{"list": []}, 1]]}]]}).encode(),
                 json.dumps({**head, "rows": [[0, {"bytes": 10**30}]]}).encode(),
                 json.dumps({**head, "rows": [[0, {"bytes": -5}]]}).encode(),
                 json.dumps({**head, "rows": [[0, {"tuple": [1], "list": [1]}]]}).encode(),
                 b'{"cypool": ' + b"9" * 5000 + b"}"):
        with pytest.raises(ValueError, match="^data: expected a state returned by to_bytes"):
            State.from_bytes(signed(text))
    with pytest.raises(ValueError, match="more bytes than its header specifies"):
        State.from_bytes(signed(json.dumps(head).encode(), b"x"))
    with pytest.raises(ValueError, match="^data: expected a state from cypool .*, got one from '0.0.9'"):
        State.from_bytes(signed(json.dumps({**head, "cypool": "0.0.9"}).encode()))
    # values in a valid form are checked when the state is loaded
    row = dict(head["rows"][0][1]["dict"])
    forged = {**head, "rows": [[0, {"dict": [*{**row, "elapsed_step": -4}.items()]}], head["rows"][1]]}
    with pytest.raises(ValueError, match="elapsed_step: expected 0 to"):
        env.load(State.from_bytes(signed(json.dumps(forged).encode())))
    for bad in (None, 3, "x", [1], np.zeros(3)):
        with pytest.raises(TypeError, match="^data: expected bytes"):
            State.from_bytes(bad)
    # a number is not taken for an open file
    for bad in (0, 3, None, "\0", "\ud800", b"\0"):
        for call in (cypool.load_state, env.save().save):
            with pytest.raises((TypeError, ValueError), match="^path: expected a path"):
                call(bad)
    (tmp_path / "file").write_bytes(pickle.dumps(env.save()))
    with pytest.raises(ValueError, match="^path: .*file: expected a state returned by to_bytes"):
        cypool.load_state(tmp_path / "file")
    with pytest.raises(OSError):
        cypool.load_state(tmp_path / "none")
    (tmp_path / "empty").touch()
    with started(cypool.make("CartPole-v1")) as other:
        other.save().save(tmp_path / "state")
        cypool.history(other).save(tmp_path / "history")
        for name, got in (("history", "a history, which cypool.load_history reads"), ("empty", "no data")):
            with pytest.raises(ValueError, match=f"^path: .*{name}: expected a state .*, got {got}"):
                cypool.load_state(tmp_path / name)
        for name, got in (("state", "a state, which cypool.load_state reads"), ("empty", "no data")):
            with pytest.raises(ValueError, match=f"^path: expected a history .*, got {got}"):
                cypool.load_history(tmp_path / name, other)
        (tmp_path / "state").write_bytes(b"cypool state 7\n" + bytes(99))
        with pytest.raises(ValueError, match="got one of format 7, written by a different version of cypool"):
            cypool.load_state(tmp_path / "state")


# the functions that families check with

def test_check_state():
    assert check_state((3, 0.5, True, b"x"), (0, 3), float, bool, bytes) == (3, 0.5, True, b"x")
    assert check_state([np.int64(3), 1], (0, 3), (0.0, 1.0)) == (3, 1.0)
    for values, kinds, kind, message in (
            (None, [], TypeError, "state: expected a tuple"), ("ab", [float] * 2, TypeError, "state: expected a tuple"),
            ((1,), [(0, 1)] * 2, ValueError, "state: expected 2 values, got 1"),
            ((1, 2), [(0, 1)], ValueError, "state: expected 1"),
            ((4,), [(0, 3)], ValueError, r"state\[0\]: expected 0 to 3, got 4"),
            ((0, 0.5), [(0, 3)] * 2, TypeError, r"state\[1\]: expected an int"),
            ((True,), [(0, 3)], TypeError, r"state\[0\]"),
            ((NAN,), [float], ValueError, r"state\[0\]"), ((INF,), [float], ValueError, r"state\[0\]"),
            ((NAN,), [(-1.0, 1.0)], ValueError, r"state\[0\]"), (("1",), [float], TypeError, r"state\[0\]"),
            ((1,), [bool], TypeError, r"state\[0\]"), ((bytearray(2),), [bytes], TypeError, r"state\[0\]")):
        with pytest.raises(kind, match=f"^{message}"):
            check_state(values, *kinds)


def test_unpack_refuses_damaged_bytes():
    packed = zlib.compress(b"0" * 1000)
    assert unpack(packed, 1000) == b"0" * 1000
    for bad, kind in ((packed[:-1], ValueError), (packed + b"0", ValueError), (b"", ValueError),
                      (b"0" * 20, ValueError), ("x", TypeError), (zlib.compress(bytes(1001)), ValueError),
                      (zlib.compress(bytes(10**8)), ValueError)):
        with pytest.raises(kind, match="^state: "):
            unpack(bad, 1000)
