"""Doom: engines that fail, processes that end with engines running, and matches of several players."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import gymnasium
import numpy as np
import psutil
import pytest
from engine.threads import meanwhile
from envs.vizdoom.engines import SHARED, engines, memory_of, steps_while_harmed
from markers import exhaustive, slow
from receiving import started
from waiting import LIMIT

import cypool
from cypool.compat import envpool
from cypool.envs.vizdoom import assets


def idle(env):
    space = env.action_space
    return np.zeros(space.shape, space.dtype)


@pytest.mark.parametrize("id, num_threads", [("Basic-v1", 3), *slow(("Basic-v1", 1), ("VizdoomBasic-v1", 3))])
def test_a_killed_engine_truncates_its_episode_only(id, num_threads, leaves_nothing):
    with cypool.make(id, num_envs=3, seed=1, num_threads=num_threads, engine_pid=True) as env:
        _, info = env.reset()
        pids = info["engine_pid"]
        for turn in range(6):
            victim = turn % 3
            os.kill(pids[victim], signal.SIGKILL)
            _, reward, terminated, truncated, info = env.step(idle(env))
            assert info["engine_restarted"].tolist() == truncated.tolist() == [i == victim for i in range(3)]
            assert not reward[victim] and not terminated.any() and info["engine_pid"][victim] == 0
            _, _, terminated, truncated, info = env.step(idle(env))
            assert not truncated.any() and not info["engine_restarted"].any() and info["elapsed_step"][victim] == 0
            assert [a == b for a, b in zip(pids, info["engine_pid"], strict=True)] == [i != victim for i in range(3)]
            pids = info["engine_pid"]
    assert Path(assets.engine_dir()[0], "names").read_text()


@pytest.mark.slow
def test_engines_killed_at_any_moment_do_not_disturb_the_others(leaves_nothing):
    rng, kills = np.random.default_rng(0), []

    def kill():
        time.sleep(rng.random() * 0.3)
        # those that start at this moment, too
        for process in engines():
            if process.pid not in spared and rng.random() < 0.3:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
                    kills.append(process.pid)

    with cypool.make("VizdoomBasic-v1", num_envs=4, seed=9, num_threads=4, frame_skip=4,
                     engine_pid=True) as env, \
            cypool.make("VizdoomBasic-v1", num_envs=2, seed=9, frame_skip=4, engine_pid=True) as same:
        _, info = env.reset()
        _, their_info = same.reset()
        spared = {*info["engine_pid"][:2], *their_info["engine_pid"]}
        with meanwhile(kill):
            for actions, batch, causes in steps_while_harmed(env, lambda: rng.integers(0, 4, 4), kills, 30, 6):
                assert set(causes) <= {2, 3}
                want = same.step(actions[:2])
                for key, part in want[0].items():
                    assert np.array_equal(batch[0][key][:2], part), f"{key}, after {len(kills)} kills"
                for a, b in zip(batch[1:4], want[1:4], strict=True):
                    assert a[:2].tolist() == b.tolist()
                assert not batch[4]["engine_restarted"][:2].any()
        # everything continues
        env.reset()
        assert not env.step([0] * 4)[3].any()


@pytest.mark.slow
@pytest.mark.parametrize("id, num_threads", [("VizdoomBasic-v1", 3), *exhaustive(("Basic-v1", 1))])
def test_a_hung_engine_is_replaced(id, num_threads, leaves_nothing):
    with cypool.make(id, num_envs=3, num_threads=num_threads, engine_timeout=15, engine_pid=True) as env:
        _, info = env.reset()
        for victim in (0, 2):
            os.kill(info["engine_pid"][victim], signal.SIGSTOP)
        _, _, terminated, truncated, info = env.step(idle(env))
        assert truncated.tolist() == info["engine_restarted"].tolist() == [True, False, True]
        _, _, _, truncated, info = env.step(idle(env))
        assert not truncated.any()
        os.kill(info["engine_pid"][1], signal.SIGSTOP)
        _, info = env.reset()
        assert info["engine_restarted"].tolist() == [False, True, False]
        # closing waits for none
        os.kill(info["engine_pid"][1], signal.SIGSTOP)


def test_a_program_that_is_no_engine_is_an_error(leaves_nothing):
    for program in ("/bin/true", "/bin/false"):
        with cypool.make("Basic-v1", num_envs=2, vzd_path=program) as env:
            for _ in range(3):
                with pytest.raises(cypool.EnvError, match="engine failed 3 times: .* exited unexpectedly") as raised:
                    env.reset()
                assert set(raised.value.causes) == {0, 1}


def test_memory_of_an_engine_that_ends_while_it_starts_is_removed(leaves_nothing, tmp_path_factory):
    program = tmp_path_factory.mktemp("engine") / "vizdoom"
    program.write_text(f"""#!{sys.executable}
import sys
from pathlib import Path
id = sys.argv[sys.argv.index("+viz_instance_id") + 1]
Path("/dev/shm/ViZDoomSM" + id).touch()
Path(__file__).with_name(id).touch()
""")
    program.chmod(0o755)
    with cypool.make("Basic-v1", num_envs=2, vzd_path=str(program)) as env, pytest.raises(cypool.EnvError):
        env.reset()
    # three attempts each, which came so far
    assert len(list(program.parent.iterdir())) == 7


PLAY = """
import os, sys
import cypool
from cypool.envs.vizdoom import assets
env = cypool.make("VizdoomBasic-v1", num_envs=3, num_threads=3, engine_pid=True)
print(assets.engine_dir()[0], flush=True)
_, info = env.reset()
print(*info["engine_pid"].ravel(), flush=True)
"""
MATCH = PLAY.replace("num_envs=3", "num_players=3, scenario_config_file='multi_duel.cfg'")


@contextmanager
def run(code, play=PLAY):
    """A process that plays; it is killed should it take too long, which ends all reading from it."""
    with subprocess.Popen([sys.executable, "-c", play + code], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()


def played(code):
    """Runs code where engines play, to its end; returns their folder, their process ids and the other lines."""
    with run(code) as process:
        engine_dir, pids, *lines = process.stdout.read().splitlines()
    assert process.returncode == 0
    return engine_dir, pids, lines


def of_session(leader):
    """The processes of a session; of one whose leader has ended there will be no more."""
    found = []
    for pid in psutil.pids():
        with suppress(OSError):
            if os.getsid(pid) == leader:
                found.append(pid)
    return found


def sweep(engine_dir):
    """Removes the folder of a process that was killed, as the next process that plays does."""
    end = time.monotonic() + LIMIT
    while os.path.exists(engine_dir):
        # another process of these tests may be removing it, and holds its lock meanwhile
        assert time.monotonic() < end, f"{engine_dir} is still there"
        assets.sweep()


def assert_all_ended(pids):
    processes = []
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            processes.append(psutil.Process(pid))
    _, alive = psutil.wait_procs(processes, timeout=60)
    assert not alive


@pytest.mark.slow
@pytest.mark.parametrize("play", [PLAY, MATCH], ids=["games", "match"])
def test_engines_end_with_their_process(play, leaves_nothing):
    for _ in range(2):
        with run("while True: env.step(env.action_space.sample())", play) as process:
            engine_dir = process.stdout.readline().strip()
            pids = [int(pid) for pid in process.stdout.readline().split()]
            assert len(pids) == 3 and all(psutil.pid_exists(pid) for pid in pids)
            process.kill()
        assert_all_ended(pids)
        # at once: no clean-up is necessary
        assert not memory_of(engine_dir)
        sweep(engine_dir)


@pytest.mark.slow
def test_processes_killed_while_engines_start_leave_nothing(leaves_nothing):
    for wait in np.linspace(0, 0.7, 4):
        with run("import signal; signal.pause()") as process:
            engine_dir = process.stdout.readline().strip()
            # some moment of the start, whichever
            time.sleep(wait)
            process.kill()
        assert_all_ended(of_session(process.pid))
        left = memory_of(engine_dir)
        sweep(engine_dir)
        assert not any((SHARED / name).exists() for name in left)


def test_the_folder_is_removed_after_the_engines_have_ended(leaves_nothing):
    engine_dir, _, lines = played("""
import shutil
import psutil
remove, pids = shutil.rmtree, info["engine_pid"].tolist()
def removed(path, **kwargs):
    print(path, *map(psutil.pid_exists, pids), flush=True)
    remove(path, **kwargs)
shutil.rmtree = removed
""")
    # a folder to which an engine writes while it is removed stays there
    assert lines == [f"{engine_dir} False False False"]
    assert not os.path.exists(engine_dir)


def test_no_engine_starts_when_the_process_ends():
    engine_dir, _, lines = played("""
import atexit
atexit._run_exitfuncs()
late = cypool.make("Basic-v1", num_threads=0)
try:
    late.reset()
except cypool.EnvError as error:
    print(error, flush=True)
""")
    assert "the process is about to end" in lines[0] and not os.path.exists(engine_dir)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_of_multiprocessing_leaves_no_folder(method, tmp_path):
    tmp_path.joinpath("play.py").write_text("""
import cypool
from cypool.envs.vizdoom import assets

def play(folders):
    env = cypool.make("Basic-v1", num_threads=0)
    env.reset()
    folders.put(assets.engine_dir()[0])
""")
    with subprocess.Popen([sys.executable, "-c", f"""
import multiprocessing
from play import play
context = multiprocessing.get_context({method!r})
folders = context.SimpleQueue()
child = context.Process(target=play, args=(folders,))
child.start()
child.join(300)
print(child.exitcode, child.exitcode or folders.get(), flush=True)
"""], stdout=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONPATH=os.pathsep.join(
            [str(tmp_path), os.environ.get("PYTHONPATH", "")]))) as process:
        exitcode, folder = process.stdout.read().split()
    assert exitcode == "0" and Path(folder).name.startswith(assets.PREFIX) and not os.path.exists(folder)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, of the test's own; this process has put nothing there yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(assets, "_own", {})
    return tmp_path


@pytest.mark.parametrize("moment", ["open", "flock", "rename"])
def test_a_process_that_starts_at_the_same_time_spares_the_folder(moment, temporary, monkeypatch):
    module = assets.fcntl if moment == "flock" else assets.os
    call, busy = getattr(module, moment), []

    def swept_before(*args, **kwargs):
        if not busy:
            busy.append(True)
            # as another process does: a lock belongs to an opened file
            assets.sweep()
            swept.append(moment)
            busy.clear()
        return call(*args, **kwargs)

    swept = []
    monkeypatch.setattr(module, moment, swept_before)
    folder, handle = assets.engine_dir()
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assert swept and os.path.samestat(os.stat(Path(folder, "names")), os.fstat(handle))
    assets.sweep()
    assert Path(folder, "names").exists()
    os.close(handle)
    # as if the process had ended
    assets.sweep()
    assert not os.path.exists(folder)


def test_what_others_put_into_the_temporary_folder_is_left_alone(temporary, tmp_path_factory):
    own = tmp_path_factory.mktemp("own")
    own.joinpath("names").touch()
    for kind in ("pipe", "folder", "link"):
        Path(temporary, f"{assets.PREFIX}{kind}").mkdir()
    os.mkfifo(temporary / f"{assets.PREFIX}pipe" / "names")
    Path(temporary, f"{assets.PREFIX}folder", "names").mkdir()
    Path(temporary, f"{assets.PREFIX}link", "names").symlink_to(own / "names")
    Path(temporary, f"{assets.PREFIX}linked").symlink_to(own)
    Path(temporary, f"{assets.PREFIX}file").touch()
    there = sorted(path.name for path in temporary.iterdir())
    # in a thread, as it may wait for ever
    thread = threading.Thread(target=assets.sweep, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive() and sorted(path.name for path in temporary.iterdir()) == there
    assert own.joinpath("names").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_another_users_folder_is_left_alone(temporary):
    folder = temporary / f"{assets.PREFIX}other"
    folder.mkdir()
    folder.joinpath("names").touch()
    os.chown(folder / "names", 12345, 12345)
    assets.sweep()
    assert folder.exists()
    os.chown(folder / "names", 0, 0)
    os.chown(folder, 12345, 12345)
    assets.sweep()
    assert folder.exists()
    os.chown(folder, 0, 0)
    assets.sweep()
    assert not folder.exists()


def test_ctrl_c_is_for_us_alone():
    with run("""
try:
    print("ready", flush=True)
    while True: env.step([0] * 3)
except KeyboardInterrupt:
    env.reset()
for _ in range(20): *_, again = env.step([0] * 3)
print(*again["engine_pid"], flush=True)
""") as process:
        process.stdout.readline()
        pids = process.stdout.readline()
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.readline() == pids and process.wait() == 0


@pytest.mark.parametrize("waits", [(0.1,), *slow(((0.01, 0.3),))], ids=str)
def test_ctrl_c_while_engines_start(leaves_nothing, waits):
    engine_dir, _, lines = played(f"""
import signal, threading
env.close()
for wait in {waits}:
    env = cypool.make("VizdoomBasic-v1", num_envs=4, num_threads=2)
    # some moment of the start, whichever
    try:
        threading.Timer(wait, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        while True: env.reset()
    except KeyboardInterrupt:
        env.reset()
    print(env.step([0] * 4)[3].any(), flush=True)
    env.close()
""")
    assert lines == ["False"] * len(waits) and not os.path.exists(engine_dir)


def test_a_forked_child_leaves_the_engines_alone():
    _, pids, lines = played("""
if not os.fork():
    try:
        env.step([0] * 3)
    except RuntimeError:
        del env
        import gc
        gc.collect()
        print("refused", flush=True)
        sys.exit(0)
os.wait()
for _ in range(20): *_, truncated, again = env.step([0] * 3)
print(*again["engine_pid"], flush=True)
""")
    assert lines == ["refused", pids]


def test_a_forked_child_without_threads_starts_engines_of_its_own():
    *_, lines = played("""
alone = cypool.make("Basic-v1", num_threads=0, engine_pid=True)
_, info = alone.reset()
if not os.fork():
    *_, truncated, again = alone.step([[0, 0, 0]])
    *_, last = alone.step([[0, 0, 0]])
    print(truncated[0], again["engine_restarted"][0], last["engine_pid"][0] not in (0, *info["engine_pid"]), flush=True)
    alone.close()
    os._exit(0)
os.wait()
*_, truncated, again = alone.step([[0, 0, 0]])
print(truncated[0], again["engine_pid"][0] == info["engine_pid"][0], flush=True)
""")
    assert lines == ["True True True", "False True"]


FACTS = {"available_game_variables": ["PLAYER_NUMBER", "PLAYER_COUNT"], "screen_resolution": "RES_160X120"}


def test_a_deathmatch_is_an_environment_of_pettingzoo():
    # it imports environments in a way that it calls old
    with warnings.catch_warnings(action="ignore"):
        from pettingzoo.test import parallel_api_test

    env = cypool.parallel_env("VizdoomBasic-MultiBinary-v1", scenario_config_file="multi_duel.cfg", config=FACTS,
                              num_players=2, max_episode_steps=10, frame_skip=2)
    assert env.possible_agents == ["player_0", "player_1"]
    assert env.action_space("player_1") == gymnasium.spaces.MultiBinary(3)
    parallel_api_test(env, num_cycles=20)
    env.reset(seed=0)
    for _ in range(10):
        _, rewards, *_, infos = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        assert list(rewards.values()) == infos["player_0"]["player_reward"].tolist()
    assert not env.agents
    env.close()


def test_a_match_of_two_players(leaves_nothing):
    with cypool.make("VizdoomBasic-MultiBinary-v1", scenario_config_file="multi_duel.cfg", config=FACTS, num_envs=1,
                     num_players=2, max_episode_steps=15, frame_skip=2, seed=0, engine_pid=True) as env:
        assert env.single_observation_space["screen"].shape == (2, 120, 160, 3)
        assert env.single_action_space == gymnasium.spaces.MultiBinary((2, 3))
        obs, info = env.reset()
        pids = info["engine_pid"]
        for t in range(50):
            assert obs["gamevariables"].tolist() == [[[0, 2], [1, 2]]]
            # each sees with its own eyes
            assert not np.array_equal(obs["screen"][0, 0], obs["screen"][0, 1])
            obs, reward, terminated, truncated, info = env.step(idle(env))
            assert truncated[0] == (t % 16 == 14) and not terminated[0]
            assert info["player_reward"].sum(axis=1).tolist() == reward.tolist()
            assert info["players"]["env_id"].tolist() == [0, 0]
            # the same engines play one episode after the other
            assert np.array_equal(info["engine_pid"], pids)
        for victim in (0, 1):
            os.kill(pids[0, victim], signal.SIGKILL)
            *_, truncated, info = env.step(idle(env))
            assert truncated[0] and info["engine_restarted"][0]
            obs, _, _, truncated, info = env.step(idle(env))
            assert not truncated[0] and not set(info["engine_pid"][0]) & set(pids[0])
            assert obs["gamevariables"].tolist() == [[[0, 2], [1, 2]]]
            pids = info["engine_pid"]


def test_a_match_without_memory_for_its_threads_is_an_error():
    *_, lines = played("""
import re, resource
_, most = resource.getrlimit(resource.RLIMIT_AS)
env.close()
env = cypool.make("VizdoomBasic-MultiBinary-v1", scenario_config_file="multi_duel.cfg", num_players=4, num_threads=1)
with open("/proc/self/status") as file:
    used = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", file.read())[1])
stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
if stack == resource.RLIM_INFINITY:
    stack = 1 << 21
# enough for the first thread of four, or the first two
for count in (1, 2):
    resource.setrlimit(resource.RLIMIT_AS, (used + count * stack + stack // 4, most))
    try:
        env.reset()
    except cypool.EnvError as error:
        print("failed", flush=True)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
env.reset()
print(env.step(env.action_space.sample())[3].any(), flush=True)
""")
    assert lines == ["failed", "failed", "False"]


def test_rows_of_players_in_all_interfaces():
    arguments = {"num_envs": 2, "num_players": 2, "seed": 0, "screen_resolution": "RES_160X120", "game_args": ""}
    with cypool.make("MultiDuel-v1", batch_size=1, **arguments) as env:
        env.async_reset()
        for _ in range(4):
            obs, _, _, _, info = env.recv()
            assert obs.shape == (1, 2, *env.single_observation_space.shape[1:])
            assert info["players"]["env_id"].dtype == np.int32
            assert info["players"]["env_id"].tolist() == [*info["env_id"], *info["env_id"]]
            env.send(np.zeros((1, *env.single_action_space.shape)), info["env_id"])
    with started(cypool.make("MultiDuel-v1", "gym", **arguments)) as env:
        *_, info = env.step(np.zeros((2, *env.action_space.shape)))
        assert info["players"]["env_id"].tolist() == [0, 0, 1, 1]
    with envpool.make_gymnasium("MultiDuel-v1", **arguments) as env:
        _, info = env.reset()
        assert info["players"]["env_id"].tolist() == [0, 0, 1, 1]


def test_a_life_is_an_episode_and_the_game_goes_on():
    with cypool.make("Cig-v1", num_bots=7, game_args="", episodic_life=True, frame_skip=12, max_episode_steps=3000,
                     seed=1, screen_resolution="RES_160X120", engine_pid=True) as env:
        _, info = env.reset()
        pid, lives, steps = info["engine_pid"][0], 0, 0
        # bots shoot at one who does nothing
        while lives < 2:
            *_, terminated, truncated, info = env.step(idle(env))
            steps += 1
            assert info["elapsed_step"] == steps and not truncated[0]
            if terminated[0]:
                lives += info["DEATHCOUNT"][0] == 1
                _, reward, *ended, info = env.step(idle(env))
                steps += 1
                # counted again
                assert not any(ended[:2]) and reward[0] == 0 and info["DEATHCOUNT"][0] == 0
                assert info["elapsed_step"] == steps and info["engine_pid"][0] == pid


def test_bots():
    with started(cypool.make("Cig-v1", num_bots=3, game_args="", seed=1)) as env:
        assert not any(env.step(idle(env))[3][0] for _ in range(30))
