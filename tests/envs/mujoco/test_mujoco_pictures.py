"""Pictures of MuJoCo's robots equal those of Gymnasium's renderer, as `render()` and as observations.

They are drawn by OpenGL. Where a machine has none, the tests see that the error says so.
"""
import functools
import pickle

import gymnasium
import mujoco
import numpy as np
import psutil
import pytest
from drawing import egl, missing  # noqa: F401
from family_tests import refuses
from gymnasium.wrappers import AddRenderObservation, FrameStackObservation
from markers import exhaustive, slow
from receiving import started

import cypool
from cypool.compat import envpool
from cypool.envs.shared.mujoco import mujoco_common

# Gymnasium says so of v4
pytestmark = [pytest.mark.usefixtures("egl"), pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")]

SIZE = {"width": 60, "height": 44}
# where equality with Gymnasium is not asked for
QUICK = {**SIZE, "shadows": False}
CONTACTS = {int(mujoco.mjtVisFlag.mjVIS_CONTACTPOINT): True, int(mujoco.mjtVisFlag.mjVIS_CONTACTFORCE): True}


def draws(test):
    """For tests that draw: without OpenGL they look at the errors instead."""

    @functools.wraps(test)
    def run(**arguments):
        message = missing("InvertedPendulum-v5")
        if not message:
            test(**arguments)
            return
        assert "apt install libegl1" in message
        env = started(cypool.make("Ant-v5", **SIZE))
        with pytest.raises(ImportError, match="rendering MuJoCo's robots requires headless OpenGL"):
            env.render()
        env.close()

    return run


def contexts():
    return mujoco_common.contexts()


def compare(id, pictures=4, steps_before=0, **options):
    """Draws ours and Gymnasium's in turn, through a reset."""
    options = {**SIZE, **options}
    env = started(cypool.make(id, num_threads=0, seed=3, autoreset_mode="Disabled", **options))
    reference = gymnasium.make(id, render_mode="rgb_array", **options)
    reference.reset(seed=3)
    random = np.random.default_rng(0)
    space = env.single_action_space
    assert env.metadata["render_fps"] == reference.metadata["render_fps"]
    seen = set()
    for k in range(-steps_before, pictures):
        if k >= 0:
            picture, theirs = env.render()[0], reference.render()
            assert picture.dtype == np.uint8 and picture.shape == (options["height"], options["width"], 3)
            assert picture.tobytes() == theirs.tobytes(), k
            seen.add(picture.tobytes())
        action = random.uniform(space.low, space.high).astype(np.float32)
        _, _, terminated, _, _ = env.step(action[None])
        reference.step(action)
        if terminated[0] or k == pictures // 2:
            env.reset()
            reference.reset()
    env.close()
    reference.close()
    assert len(seen) == pictures
    return seen


# ---- render


@draws
@pytest.mark.parametrize("id", [
    "Hopper-v5",
    *slow("InvertedDoublePendulum-v4", "Pusher-v5", "Ant-v5", "Humanoid-v5", "Reacher-v5", "Walker2d-v4"),
    *exhaustive("HalfCheetah-v5", "HumanoidStandup-v5", "InvertedDoublePendulum-v5", "InvertedPendulum-v5",
                "Swimmer-v5", "Walker2d-v5", "Ant-v4"),
])
def test_pictures_are_those_of_gymnasium(id):
    compare(id)


@draws
@pytest.mark.parametrize("id, options", [
    ("Ant-v5", {"width": 33, "height": 57, "camera_name": "track"}),
    *slow(("Ant-v5", {"width": 480, "height": 480}), ("HalfCheetah-v5", {"camera_id": 0}),
          ("Swimmer-v5", {"camera_id": -1}), ("Hopper-v5", {"default_camera_config": {}})),
    *slow(("Walker2d-v5", {"default_camera_config": {"lookat": np.array([0.5, 0, 1]), "azimuth": 30, "elevation": -50.0,
                                                     "distance": 2, "trackbodyid": 1, "type": 1, "fixedcamid": 0}})),
    *slow(("Reacher-v5", {"default_camera_config": {"orthographic": 1, "distance": 0.7}}),
          ("Humanoid-v5", {"max_geom": 70}), ("Ant-v5", {"visual_options": CONTACTS})),
    ("Ant-v4", {"visual_options": {mujoco.mjtVisFlag.mjVIS_TRANSPARENT: True, mujoco.mjtVisFlag.mjVIS_STATIC: False}}),
])
def test_sizes_cameras_and_options_are_those_of_gymnasium(id, options):
    # contacts come after some steps
    compare(id, pictures=3, steps_before=12, **options)


@draws
def test_the_camera_is_aimed_at_the_first_picture():
    assert compare("Ant-v5", pictures=3, steps_before=25).isdisjoint(compare("Ant-v5", pictures=3))


@draws
def test_looking_changes_nothing_and_ids_are_those_asked_for():
    env, twin = (started(cypool.make("Ant-v5", num_envs=3, seed=1, num_threads=2, **SIZE)) for _ in range(2))
    pictures = env.render()
    assert len({picture.tobytes() for picture in pictures}) == 3
    assert np.array_equal(env.render([2, 0]), np.stack([pictures[2], pictures[0]]))
    actions = np.full((3, 8), 0.5, np.float32)
    for _ in range(5):
        (obs, *_), (theirs, *_) = env.step(actions), twin.step(actions)
        assert obs.tobytes() == theirs.tobytes()
        env.render()
    env.close()
    twin.close()


@draws
def test_pictures_of_a_randomized_model():
    env = started(cypool.make("HalfCheetah-v5", seed=3, randomize={"geom_rgba": ("set", 0.5, 0.5)}, **SIZE))
    reference = gymnasium.make("HalfCheetah-v5", render_mode="rgb_array", **SIZE)
    reference.reset(seed=3)
    colors = reference.unwrapped.model.geom_rgba
    colors[:] = 0.5
    # as many random numbers as ours drew for the model
    reference.unwrapped.np_random = np.random.default_rng(3)
    reference.unwrapped.np_random.uniform(size=colors.size)
    reference.reset()
    assert env.render()[0].tobytes() == reference.render().tobytes()
    env.close()
    reference.close()


@draws
def test_without_shadows():
    env = started(cypool.make("HalfCheetah-v5", seed=3, shadows=False, **SIZE))
    reference = gymnasium.make("HalfCheetah-v5", render_mode="rgb_array", **SIZE)
    reference.reset(seed=3)
    shaded = reference.render()
    reference.unwrapped.mujoco_renderer.viewer.scn.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
    assert env.render()[0].tobytes() == reference.render().tobytes() != shaded.tobytes()
    env.close()
    reference.close()


@draws
def test_what_does_not_fit_in_a_picture_is_an_error():
    env = cypool.make("Ant-v5", max_geom=7, from_pixels=True, **SIZE)
    with pytest.raises(cypool.EnvError, match="Increase maxgeom above 7"):
        env.reset()
    env.close()


@draws
def test_a_robot_of_another_package(walker):
    env = cypool.make("walker/Robot-v0", num_envs=2, from_pixels=True, num_threads=2, **SIZE)
    obs, _ = env.reset()
    assert obs.dtype == np.uint8 and obs.shape == (2, 44, 60, 3) and obs.std() > 1
    assert np.array_equal(obs, np.stack(env.render()))
    env.close()


# ---- pictures as observations


def reference_pool(id, num_envs, limit, stack):
    def make():
        env = AddRenderObservation(gymnasium.make(id, render_mode="rgb_array", max_episode_steps=limit, **SIZE))
        # it has drawn a picture after a reset without a seed: where the camera looks would depend on that
        renderer = env.unwrapped.mujoco_renderer
        renderer.close()
        renderer._viewers.clear()
        return env if stack == 1 else FrameStackObservation(env, stack)

    return gymnasium.vector.SyncVectorEnv([make] * num_envs)


@draws
@pytest.mark.parametrize("id, stack, num_threads", [
    ("InvertedPendulum-v4", 2, 1), *slow(("HalfCheetah-v5", 3, 2)), *exhaustive(("Ant-v5", 1, 5), ("Hopper-v5", 1, 0)),
])
def test_observed_pictures_are_those_of_gymnasiums_wrappers(id, stack, num_threads):
    env = cypool.make(id, num_envs=2, num_threads=num_threads, seed=5, from_pixels=True, frame_stack=stack,
                      max_episode_steps=3, **SIZE)
    reference = reference_pool(id, 2, 3, stack)
    assert env.single_observation_space == reference.single_observation_space
    ours, theirs = [env.reset()], [reference.reset(seed=5)]
    env.action_space.seed(0)
    for _ in range(6):
        actions = env.action_space.sample()
        ours.append(env.step(actions))
        theirs.append(reference.step(actions))
    for (obs, *rest, _), (their_obs, *their_rest, _) in zip(ours, theirs, strict=True):
        assert obs.dtype == np.uint8 and obs.tobytes() == their_obs.tobytes()
        assert all(np.array_equal(a, b) for a, b in zip(rest, their_rest, strict=True))
    env.close()
    reference.close()


@draws
@pytest.mark.parametrize("mode", ["NextStep", *exhaustive("SameStep")])
@pytest.mark.parametrize("num_threads", [5, *slow(0, 1, 2)])
def test_threads_do_not_show(num_threads, mode):
    env, plain = (cypool.make("HalfCheetah-v5", num_envs=5, num_threads=n, seed=2, from_pixels=True,
                              autoreset_mode=mode, max_episode_steps=2, **QUICK) for n in (num_threads, 0))
    actions = np.linspace(-1, 1, 30, dtype=np.float32).reshape(5, 6)
    assert env.reset()[0].tobytes() == plain.reset()[0].tobytes()
    for _ in range(3):
        (obs, *_, info), (theirs, *_, plain_info) = env.step(actions), plain.step(actions)
        assert obs.tobytes() == theirs.tobytes()
        if "final_obs" in info:
            assert np.stack(info["final_obs"]).tobytes() == np.stack(plain_info["final_obs"]).tobytes()
    assert np.array_equal(obs, np.stack(env.render()))
    env.close()
    plain.close()


@draws
@pytest.mark.parametrize("num_threads", [2, *slow(1, 5)])
def test_asynchronous_pools(num_threads):
    options = {"num_envs": 4, "seed": 2, "from_pixels": True, "frame_stack": 2, **QUICK}
    env = cypool.make("HalfCheetah-v5", num_threads=num_threads, batch_size=2, **options)
    plain = cypool.make("HalfCheetah-v5", num_threads=0, **options)
    expected = [plain.reset()[0]]
    actions = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
    expected += [plain.step(actions)[0] for _ in range(3)]
    env.async_reset()
    for _ in range(8):
        obs, *_, info = env.recv()
        for row, i, step in zip(obs, info["env_id"], info["elapsed_step"], strict=True):
            if step <= 3:
                assert row.tobytes() == expected[step][i].tobytes()
        env.send(actions[info["env_id"]], info["env_id"])
    env.close()
    plain.close()


@draws
@pytest.mark.parametrize("steps, stack", [(2, 3), *slow((0, 1), (0, 3), (2, 1))])
def test_save_and_load(steps, stack):
    options = {"num_envs": 2, "from_pixels": True, "frame_stack": stack, "max_episode_steps": 4, **QUICK}
    env = started(cypool.make("Ant-v5", seed=1, num_threads=2, **options))
    other = cypool.make("Ant-v5", seed=9, num_threads=0, **options)
    actions = np.full((2, 8), 0.7, np.float32)
    # its camera looks elsewhere
    other.reset()
    for _ in range(steps):
        env.step(actions)
    other.load(pickle.loads(pickle.dumps(env.save())))
    assert np.array_equal(other.render(), env.render())
    for _ in range(4):
        (obs, reward, *_), (theirs, their_reward, *_) = env.step(actions), other.step(actions)
        assert obs.tobytes() == theirs.tobytes() and reward.tobytes() == their_reward.tobytes()
    env.close()
    other.close()


@draws
def test_a_state_from_before_the_first_picture():
    env, other = (started(cypool.make("Ant-v5", seed=1, **SIZE)) for _ in range(2))
    early = env.save()
    actions = np.full((1, 8), 0.7, np.float32)
    for _ in range(20):
        other.step(actions)
    aimed_later = other.render()[0]
    other.load(early)
    assert other.render()[0].tobytes() == env.render()[0].tobytes() != aimed_later.tobytes()
    env.close()
    other.close()


def test_contacts_that_are_drawn_are_not_saved():
    env = started(cypool.make("Ant-v5", visual_options=CONTACTS))
    with pytest.raises(NotImplementedError, match="visual_options"):
        env.save()
    env.close()


@draws
@pytest.mark.slow
def test_contexts_go_with_their_pools():
    before = contexts()
    memory = []
    for _ in range(4):
        env = started(cypool.make("HalfCheetah-v5", num_envs=4, num_threads=2, from_pixels=True, **SIZE))
        for _ in range(2):
            env.step(np.zeros((4, 6), np.float32))
        # one for each thread that drew; the caller draws, too
        assert 1 <= contexts() - before <= 2
        env.close()
        assert contexts() == before
        memory.append(psutil.Process().memory_info().rss)
    # a context has 64 MB of shadows
    assert memory[-1] - memory[1] < 100e6


# ---- errors


test_bad_options = refuses([
    ({"width": 0}, ValueError, "width: expected 1 to 8192, got 0"),
    ({"height": -3}, ValueError, "height: expected 1 to 8192"),
    ({"width": 8193}, ValueError, "width: expected 1 to 8192"),
    ({"width": 84.0}, TypeError, "width: expected an int"),
    ({"camera_id": 1}, ValueError, "camera_id: expected -1 to 0, got 1"),
    ({"camera_id": "track"}, TypeError, "camera_id: expected an int"),
    ({"camera_name": "side"}, ValueError, "camera_name: expected a camera in .*ant.xml, which has 'track'; got 'side'"),
    ({"camera_name": 0}, TypeError, "camera_name: expected a str or None"),
    ({"camera_id": 0, "camera_name": "track"}, ValueError, "camera_id: expected None with camera_name"),
    ({"default_camera_config": {"zoom": 2}}, ValueError, "default_camera_config: expected lookat, .*, got 'zoom'"),
    ({"default_camera_config": {"distance": "far"}}, TypeError, r".*config\['distance'\]: expected a number"),
    ({"default_camera_config": {"lookat": (1, 2)}}, TypeError, r"default_camera_config\['lookat'\]: expected three"),
    ({"default_camera_config": {"trackbodyid": 99}}, ValueError, r".*config\['trackbodyid'\]: expected -1 to 13"),
    ({"default_camera_config": 4}, TypeError, "default_camera_config: expected a dict or None"),
    ({"max_geom": 0}, ValueError, "max_geom: expected 1 to"),
    ({"visual_options": {99: True}}, ValueError, "visual_options: expected 0 to"),
    ({"visual_options": {0: 1}}, TypeError, r"visual_options\[0\]: expected True or False"),
    ({"visual_options": [0]}, TypeError, "visual_options: expected a dict or None"),
    ({"from_pixels": 1}, TypeError, "from_pixels: expected True or False"),
    ({"shadows": None}, TypeError, "shadows: expected True or False"),
], "Ant-v5")


NO_LIBRARY = """
import ctypes, os
import mujoco
os.environ["MUJOCO_GL"] = {variable!r}
import cypool
env = cypool.make("Ant-v5")
env.reset()
env.step([[0.0] * 8])
assert "libEGL" not in open("/proc/self/maps").read()
for draw in (env.render, lambda: cypool.make("Ant-v5", from_pixels=True)):
    try:
        draw()
    except ImportError as error:
        print(error)
env.step([[0.0] * 8])
"""


@pytest.mark.parametrize("variable", ["", *slow("egl", "osmesa")])
def test_without_the_libraries_the_error_says_what_to_install(run_python, tmp_path, monkeypatch, variable):
    # a new process finds files that are no libraries
    for name in ("libEGL.so.1", "libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"):
        (tmp_path / name).write_text("no library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.delenv("MUJOCO_GL")
    done = run_python(NO_LIBRARY.format(variable=variable))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all("apt install libegl1 libgl1-mesa-dri" in line for line in lines), done.stdout
    assert ("libEGL.so.1" in lines[0]) == (variable != "osmesa")
    assert ("libOSMesa.so" in lines[0]) == (variable != "egl")


@draws
def test_threads_that_draw_at_once_leave_the_driver_whole(run_forked):
    # with Mesa 22, which draws on the CPU, a process would end after 100 to 3,000 steps
    done = run_forked("""
import cypool, numpy as np
env = cypool.make("InvertedPendulum-v5", num_envs=8, num_threads=4, from_pixels=True, frame_stack=1, width=16,
                  height=16, shadows=False)
env.reset()
for _ in range(700):
    env.step(np.zeros((8, 1), np.float32))
env.close()
print("done")
""")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@draws
def test_without_a_driver_the_error_says_so(run_forked, monkeypatch):
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nowhere.json")
    done = run_forked("""
import cypool
try:
    cypool.make("Ant-v5", from_pixels=True)
except ImportError as error:
    print(error)
""")
    assert done.returncode == 0 and "libEGL.so.1 " in done.stdout and "apt install" in done.stdout, done.stderr


def test_when_mujoco_cannot_be_imported_there_is_one_clear_error(run_forked, monkeypatch):
    # its Python package fails so where OSMesa is not installed
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    done = run_forked("""
import cypool
try:
    cypool.make("Ant-v5")
except ImportError as error:
    print(error)
else:
    print("made")
""")
    assert done.returncode == 0, done.stderr
    assert "importing mujoco failed: " in done.stdout or done.stdout == "made\n"


@draws
def test_a_forked_process_gets_an_error_and_ends(run_forked):
    done = run_forked("""
import os
import cypool

SIZE = {"width": 60, "height": 44, "num_threads": 2, "num_envs": 2}
env = cypool.make("Ant-v5", from_pixels=True, **SIZE)
env.reset()
child = os.fork()
if child == 0:
    for draw in (env.render, lambda: cypool.make("Ant-v5", from_pixels=True, **SIZE)):
        try:
            draw()
        except RuntimeError as error:
            print(error, flush=True)
    other = cypool.make("Ant-v5", **SIZE)
    other.reset()
    other.close()
    env.close()
    raise SystemExit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
env.step([[0.0] * 8] * 2)
print(env.render()[0].shape)
env.close()
""")
    assert done.returncode == 0, done.stderr
    of_pool, of_opengl, shape = done.stdout.splitlines()
    assert "fork" in of_pool and "OpenGL" in of_opengl and "spawn" in of_opengl and shape == "(44, 60, 3)"


@draws
def test_the_end_of_a_process_that_draws(run_python):
    # MuJoCo's Python package ends the display both use before the interpreter is gone
    done = run_python("""
import gymnasium, cypool
env = cypool.make("Ant-v5", num_envs=4, batch_size=2, num_threads=2, from_pixels=True, width=60, height=44)
theirs = gymnasium.make("Ant-v5", render_mode="rgb_array", width=60, height=44)
theirs.reset()
theirs.render()
env.async_reset()
env.recv()
theirs.close()
kept = cypool.make("Ant-v5", width=60, height=44)
kept.reset()
kept.render()
print("done")
""")
    assert done.returncode == 0 and done.stdout == "done\n" and done.stderr == "", done.stderr


@draws
def test_envpools_interface_draws_with_the_size_and_the_camera_that_make_was_told():
    with envpool.make_gymnasium("HalfCheetah-v5", render_camera_id=0,
                                **{f"render_{name}": size for name, size in SIZE.items()}) as env:
        same = started(cypool.make("HalfCheetah-v5", seed=42, camera_id=0, **SIZE))
        env.reset()
        assert np.array_equal(env.render(camera_id=0), same.render())
        with pytest.raises(ValueError, match="^camera_id: .* 0 .the render_camera_id passed to make., got -1"):
            env.render(camera_id=-1)
