"""Lanes in each mode of a pool: every number is compared bit by bit with `physics="mj_step"`."""
import contextlib
import ctypes
import importlib
from pathlib import Path

import numpy as np
import pytest
from envs.mujoco.test_mujoco_lanes_class import FEATURES, robot
from markers import exhaustive, often_exhaustive, slow
from pool_arguments import THREADS

import cypool
from cypool.envs.shared.lanes import mujoco_lanes
from cypool.envs.shared.lanes.mujoco_lanes import make_lanes
from cypool.envs.shared.mujoco.mujoco_common import load_model
from cypool.hooks import Transition
from cypool.policies import Decision
from cypool.spec import Array

MODELS = {"HalfCheetah-v5": "half_cheetah.xml", "Hopper-v5": "hopper.xml", "Ant-v5": "ant.xml",
          "MaMuJoCo/HalfCheetah-2x3-v1": "half_cheetah.xml"}
NEWTON = ["HalfCheetah-v5", "Hopper-v5", "Ant-v5"]
NUM = 11


def numbers(pointer):
    return ctypes.cast(pointer, ctypes.POINTER(ctypes.c_double))


@ctypes.CFUNCTYPE(None, ctypes.POINTER(Transition))
def reward_hook(pointer):
    t = pointer.contents
    t.reward = 2 * t.reward + numbers(t.obs[0])[1] - numbers(t.before[0])[1]
    t.terminated |= numbers(t.obs[0])[2] > 0.6


@ctypes.CFUNCTYPE(None, ctypes.POINTER(Transition))
def observation_hook(pointer):
    t = pointer.contents
    for k in range(4):
        numbers(t.out[0])[k] = numbers(t.obs[0])[k] * (k + 1)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Decision))
def policy(pointer):
    d = pointer.contents
    action = ctypes.cast(d.action, ctypes.POINTER(ctypes.c_float))
    for k in range(3):
        action[k] = np.tanh(3 * numbers(d.obs[0])[k] + d.env_id + d.step)
    return 0


def flat(value):
    """Returns the bytes of arrays, and of those in dicts and tuples, but for times."""
    if isinstance(value, dict):
        return {name: flat(each) for name, each in value.items() if name != "t"}
    if isinstance(value, (list, tuple)):
        return [flat(each) for each in value]
    value = np.asarray(value)
    if value.dtype != object:
        return value.tobytes()
    return [flat(each) for each in value] if value.ndim else None


def check_pool_in_lanes(env_id, **options):
    """Checks that a pool in lanes returns and saves what it does with mj_step."""
    def saved(env):
        # numbers of the stream are larger than those of arrays, and the time of an episode differs
        return flat([{**row, "rng": repr(row["rng"]), "episode_ns": 0} for row in env.save().rows])

    results = []
    for physics in ("lanes", "mj_step"):
        with cypool.make(env_id, num_envs=9, seed=3, max_episode_steps=11, physics=physics, **options) as env:
            assert env.stepped_by.startswith(physics)
            space, rng, given = env.single_action_space, np.random.default_rng(0), [flat(env.reset())]
            for k in range(30):
                actions = rng.uniform(space.low, space.high, (9, *space.shape)).astype(space.dtype)
                given.append(flat(env.step(actions * (k % 3 != 1))))
                if k in (4, 13):
                    given.append(saved(env))
            # a saved pool continues as it would have
            state = env.save()
            given += [flat(env.step(actions)), flat(env.load(state)), flat(env.step(actions)), saved(env)]
            assert given[-4] == given[-2]
            results.append(given)
    assert results[0] == results[1]


def assert_equal(env_id, play, num_threads=(0, 2), **options):
    """Asserts that `play(env)` is the same in lanes and by mj_step, and that lanes step.

    Args:
        play: A function of a pool that has been reset.
        num_threads: Of the pools with lanes.
    """
    options = {"num_envs": NUM, "seed": 3, "max_episode_steps": 17, **options}
    results = []
    for threads, physics in [(1, "mj_step"), *((threads, "lanes") for threads in num_threads)]:
        with cypool.make(env_id, num_threads=threads, physics=physics, **options) as env:
            assert env.stepped_by.startswith(physics)
            # those of mazes are models of texts
            path = options.get("xml_file", MODELS.get(env_id))
            lanes = make_lanes(load_model(path)) if path else None
            before = lanes and lanes.num_steps()
            results.append(flat(play(env)))
            if lanes is None:
                continue
            assert (lanes.num_steps() > before) == (physics == "lanes")
    for threads, result in zip(num_threads, results[1:], strict=True):
        assert result == results[0], f"{threads} threads"


def steps(env, count=30):
    """Returns what a pool does in some episodes."""
    space, rng, results = env.single_action_space, np.random.default_rng(0), []
    for seed in range(3):
        some = {"options": {"reset_mask": np.arange(env.num_envs) % 3 == 0}}
        results.append(env.reset(**({"seed": seed} if seed < 2 else some)))
        results += [env.step(rng.uniform(space.low, space.high, (env.num_envs, *space.shape)).astype(space.dtype))
                    for _ in range(count)]
    return results


@pytest.mark.parametrize("env_id", ["Hopper-v5", *slow("Ant-v5"), *exhaustive("HalfCheetah-v5")])
@pytest.mark.parametrize("hooks", [
    {"reward_hook": reward_hook}, {"observation_hook": (observation_hook, Array((4,), np.float64))},
    {"reward_hook": reward_hook, "observation_hook": (observation_hook, Array((4,), np.float64)), "debug": True},
    {"debug": True}, {"reward_hook": lambda batch: batch.reward + batch.observation[:, 0]}], ids=lambda hooks: [*hooks])
@pytest.mark.parametrize("autoreset_mode", ["NextStep", *exhaustive("SameStep")])
def test_pool_with_hooks_steps_in_lanes_as_by_mj_step(env_id, hooks, autoreset_mode):
    assert_equal(env_id, steps, THREADS, autoreset_mode=autoreset_mode, episode_statistics=True, **hooks)


@pytest.mark.parametrize("kind", ["C", "MLP", "Python", "actions"])
@pytest.mark.parametrize("autoreset_mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("env_id", ["Hopper-v5", *exhaustive("HalfCheetah-v5", "Ant-v5")])
def test_rollout_steps_in_lanes_as_by_mj_step(kind, autoreset_mode, env_id):
    def rollouts(env):
        rng, space = np.random.default_rng(0), env.single_action_space
        shape = *space.shape, *env.single_observation_space.shape
        chosen = {"C": lambda: cypool.policies.Policy(policy),
                  "MLP": lambda: cypool.MLP(env.env_spec, [rng.normal(0, 1, shape)], [np.zeros(space.shape)],
                                            output="gaussian", log_std=np.zeros(space.shape), seed=1),
                  "Python": lambda: lambda obs: np.tanh(obs[:, :space.shape[0]]).astype(space.dtype),
                  "actions": lambda: None}[kind]()
        results = []
        for seed in range(3):
            for count in (23, 1, 6):
                if count == 23 or autoreset_mode == "Disabled":
                    env.reset(seed=seed + count)
                actions = rng.uniform(space.low, space.high, (count, NUM, *space.shape)).astype(space.dtype)
                done = (env.rollout(actions, observe=2 if count > 1 else 1) if chosen is None
                        else env.rollout(count, policy=chosen))
                results.append([done.obs, done.action, done.reward, done.terminated, done.truncated, done.info,
                                done.last_obs])
        return results

    assert_equal(env_id, rollouts, THREADS, autoreset_mode=autoreset_mode)


@pytest.mark.parametrize("failing", [{0}, {4}, {3, 4, 10}, set(range(NUM))])
def test_rollout_in_lanes_whose_policy_fails_fails_as_by_mj_step(failing):
    calls = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Decision))
    def fails_once(pointer):
        d = pointer.contents
        calls.append((d.env_id, d.step))
        return 7 if d.step == 4 and d.env_id in failing else policy(pointer)

    def rollouts(env):
        env.reset()
        calls.clear()
        with pytest.raises(cypool.EnvError) as caught:
            env.rollout(9, policy=cypool.policies.Policy(fails_once))
        # it is called once for each step, whether it fails or not
        assert len(calls) == len(set(calls)) == 9 * NUM
        batch = caught.value.batch
        return [sorted(caught.value.steps.items()), batch.reward, batch.obs, batch.truncated]

    assert_equal("Hopper-v5", rollouts)


def episodes(env, num_batches=60):
    """Returns what each environment of an asynchronous pool did, with actions of its own."""
    space, done = env.single_action_space, [[] for _ in range(env.num_envs)]
    rngs = [np.random.default_rng(k) for k in range(env.num_envs)]
    env.async_reset()
    while min(map(len, done)) < num_batches:
        *batch, info = env.recv()
        for row, k in enumerate(info["env_id"]):
            done[k].append([each[row] for each in (*batch, info["elapsed_step"], info["x_position"])])
        env.send(np.stack([rngs[k].uniform(space.low, space.high).astype(space.dtype) for k in info["env_id"]]),
                 info["env_id"])
    return [each[:num_batches] for each in done]


@pytest.mark.parametrize("batch_size", [1, 4, 10])
@pytest.mark.parametrize("options", [{}, {"reward_hook": reward_hook}], ids=["plain", "hook"])
def test_asynchronous_pool_steps_in_lanes_as_by_mj_step(batch_size, options):
    assert_equal("Hopper-v5", episodes, THREADS, batch_size=batch_size, **options)


@pytest.mark.families("mamujoco")
def test_pool_of_robots_with_agents_and_hooks_steps_in_lanes_as_by_mj_step():
    @ctypes.CFUNCTYPE(None, ctypes.POINTER(Transition))
    def hook(pointer):
        t = pointer.contents
        t.agents.contents.reward[0] = numbers(t.obs[0])[0] + t.elapsed_step

    assert_equal("MaMuJoCo/HalfCheetah-2x3-v1", steps, reward_hook=hook)


ALL_THAT_VARIES = {
    "body_mass": (0.7, 1.4), "body_inertia": (0.8, 1.2), "geom_friction": ("add", -0.3, 0.5), "dof_damping": (0.5, 2),
    "dof_armature": (0.5, 1.5), "jnt_stiffness": (0.5, 1.5), "actuator_gainprm": (0.8, 1.2), "actuator_gear": (0.7, 1),
    "body_pos": (0.9, 1.1), "body_quat": ("add", -0.1, 0.1), "opt.gravity": ("add", -0.5, 0.5),
    "geom_rgba": ("set", 0.0, 1.0)}


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Ant-v5"])
@pytest.mark.parametrize("randomize", [ALL_THAT_VARIES, *slow(*({name: how} for name, how in ALL_THAT_VARIES.items()))],
                         ids=lambda randomize: next(iter(randomize)) if len(randomize) == 1 else "all")
def test_pool_whose_models_vary_steps_in_lanes_as_by_mj_step(env_id, randomize):
    assert_equal(env_id, steps, randomize=randomize)


@pytest.mark.parametrize("env_id", ["InvertedDoublePendulum-v5", *slow("HandReach-v3")])
def test_pool_whose_sites_vary_steps_in_lanes_as_by_mj_step(env_id):
    assert_equal(env_id, steps, randomize={"site_pos": ("add", -0.1, 0.1)})


LEGGED = ["friction of joints", "gravity that spares knees", "priority", "condim 4", "condims of feet",
          "feet that are a box", "hills", "pairs", "toes on ball joints", "stairs", "force limits of joints",
          "springs of tendons", "limits of tendons", "strings",
          *(f"without {name}" for name in ("gravity", "damper", "spring", "eulerdamp", "actuation", "constraint"))]


def legged(tmp_path, name, option):
    """Returns the options of a robot with one of the features of legged robots."""
    path = robot(tmp_path, **{"option": option, "servo": 'ctrlrange="-1 1"', **FEATURES[name]})
    return {"xml_file": path, "frame_skip": 2, "reset_noise_scale": 0.3}


@pytest.mark.parametrize("option", ['integrator="implicitfast"', *slow("", 'integrator="RK4"', 'solver="PGS"')])
@pytest.mark.parametrize("name", often_exhaustive(LEGGED, 3))
def test_legged_robot_whose_model_varies_steps_in_lanes_as_by_mj_step(tmp_path, name, option):
    randomize = {**ALL_THAT_VARIES, "actuator_biasprm": (0.5, 1.5)}
    if name == "pairs":
        randomize["pair_friction"] = (0.5, 1.5)
    if name == "friction of joints":
        randomize["dof_frictionloss"] = (0.5, 1.5)
    assert_equal("HalfCheetah-v5", steps, randomize=randomize, **legged(tmp_path, name, option))


@pytest.mark.parametrize("name", ["friction of joints", "hills", "toes on ball joints", *slow("pairs", "stairs")])
@pytest.mark.parametrize("mode", ["hook", "rollout", "asynchronous", "copies"])
def test_legged_robot_in_each_mode_steps_in_lanes_as_by_mj_step(tmp_path, mode, name):
    def rollout(env):
        env.reset()
        done = env.rollout(29, policy=lambda obs: np.tanh(obs[:, :12]).astype(np.float32))
        return [done.obs, done.reward, done.last_obs]

    def copies(env):
        results = steps(env, 5)
        env.copy([0, 1], [5, 9])
        env.load(env.save())
        return [*results, *steps(env, 5)]

    play, options = {"hook": (steps, {"reward_hook": reward_hook}), "rollout": (rollout, {}), "copies": (copies, {}),
                     "asynchronous": (episodes, {"batch_size": 4})}[mode]
    assert_equal("HalfCheetah-v5", play, **options, **legged(tmp_path, name, 'integrator="implicitfast"'))


def test_first_steps_of_varying_models_are_compared(tmp_path):
    options = legged(tmp_path, "servos", "")
    lanes = make_lanes(load_model(options["xml_file"]))
    for randomize in ({}, {"body_mass": (0.9, 1.1)}):
        with cypool.make("HalfCheetah-v5", num_envs=NUM, seed=0, randomize=randomize, **options) as env:
            env.reset()
            before = lanes.num_compared()
            env.step(np.zeros((NUM, 12), np.float32))
            assert lanes.num_compared() > before or not randomize


def synchronous(env, actions):
    env.reset()
    return [env.step(each)[:2] for each in actions]


def asynchronous(env, actions):
    done = [[] for _ in range(env.num_envs)]
    env.async_reset()
    while min(map(len, done)) <= len(actions):
        obs, reward, *_, info = env.recv()
        rows = zip(*obs.values(), strict=True) if isinstance(obs, dict) else obs
        for k, *each in zip(info["env_id"], rows, reward, strict=True):
            done[k].append(each)
        # those that are through repeat their last action
        steps = [min(len(done[k]), len(actions)) - 1 for k in info["env_id"]]
        env.send(actions[steps, info["env_id"]], info["env_id"])
    return [each[:len(actions) + 1] for each in done]


def rollout(env, actions):
    env.reset()
    done = env.rollout(actions)
    return [done.obs, done.reward, done.last_obs]


@pytest.mark.parametrize("num_threads", [0, 2])
@pytest.mark.parametrize("play", [synchronous, asynchronous, rollout])
@pytest.mark.parametrize("env_id", [
    "HalfCheetah-v5", pytest.param("dm_control/walker-run-v0", marks=pytest.mark.families("dm_control"))])
def test_lanes_that_are_wrong_late_publish_no_wrong_row(walker, monkeypatch, env_id, play, num_threads):
    monkeypatch.setattr(mujoco_lanes, "_verdicts", {})
    # the model that pools of the id share
    model = load_model(MODELS[env_id]) if env_id in MODELS else (
        importlib.import_module("cypool.envs.dm_control.specs").load_task("walker", "run"))
    actions = np.random.default_rng(0).uniform(-0.7, 0.7, (12, NUM, 6)).astype(np.float32)
    # the first controls that are clipped
    actions[7:, 3:] *= 2
    lanes, set_limit = make_lanes(model), importlib.import_module("walker.robot").set_control_limit
    # lanes clip, where MuJoCo does not
    set_limit(model, 2)
    try:
        results = []
        for physics in ("mj_step", "lanes"):
            # with models of their own, no step has been compared before
            options = {"physics": physics, "randomize": {"dof_damping": (0.9, 1.1)}}
            options |= {"batch_size": 4} if play is asynchronous else {}
            with cypool.make(env_id, num_envs=NUM, num_threads=num_threads, seed=3, **options) as env:
                caught = pytest.warns(UserWarning, match="lanes and mj_step differ in") if physics == "lanes" else (
                    contextlib.nullcontext())
                with caught:
                    results.append(flat(play(env, actions.astype(env.action_space.dtype))))
        assert lanes.num_steps() > 6 * 4
        assert results[0] == results[1]
    finally:
        set_limit(model, 1)


def test_states_and_copies_of_varying_models_in_lanes_are_those_of_mj_step():
    def play(env):
        results = steps(env)
        env.copy([0, 0, 1], [3, 4, 5])
        states = env.save()
        results += [row["own"] for row in states.rows]
        results += steps(env)
        env.load(states)
        env.action_space.seed(0)
        return [*results, *(env.step(env.action_space.sample()) for _ in range(20))]

    assert_equal("Hopper-v5", play, randomize=ALL_THAT_VARIES, autoreset_mode="SameStep")


def test_environment_whose_model_lanes_cannot_step_goes_by_mj_step_and_is_counted():
    def play(env):
        results = steps(env)
        assert ("of 30 by mj_step, because" in env.stepped_by) == env.stepped_by.startswith("lanes")
        return results

    # dampings that are drawn below zero are none of lanes'
    assert_equal("HalfCheetah-v5", play, randomize={"dof_damping": ("add", -3.0, 3.0)}, num_envs=30)


def test_pool_of_different_options_steps_in_lanes_as_by_mj_step():
    randomize = {"body_mass": (0.5, 2)}, {"opt.gravity": (1, 2)}
    each = [{"ctrl_cost_weight": k / 9, "randomize": randomize[k % 2]} for k in range(NUM)]
    assert_equal("HalfCheetah-v5", steps, env_options=each)


def test_search_steps_in_lanes_as_by_mj_step():
    def search(env):
        env.reset()
        state = env.save([0])
        candidates = np.random.default_rng(0).uniform(-1, 1, (40, 25, 3)).astype(np.float32)
        found = env.search(state, candidates)
        return [found.reward, found.length, found.obs, found.terminated, found.truncated]

    assert_equal("Hopper-v5", search, autoreset_mode="Disabled")


@pytest.mark.families("robotics")
def test_pool_reset_with_options_steps_in_lanes_as_by_mj_step():
    def play(env):
        rng, results = np.random.default_rng(0), []
        for cell in ([1, 1], [3, 1]):
            results.append(env.reset(options=[{"reset_cell": np.array(cell)}] * NUM))
            results += [env.step(rng.uniform(-1, 1, (NUM, 8)).astype(np.float32)) for _ in range(9)]
        return results

    assert_equal("AntMaze_UMaze-v5", play)


@pytest.mark.parametrize(("options", "said"), [
    ({}, "lanes"), ({"batch_size": 3}, "lanes"), ({"debug": True}, "lanes"), ({"reward_hook": reward_hook}, "lanes"),
    ({"randomize": {"body_mass": (0.9, 1.1)}}, "lanes"), ({"physics": "mj_step"}, "mj_step: physics="),
    ({"num_envs": 1}, "lanes"),
    ({"randomize": {"body_ipos": (0.9, 1.1)}}, "mj_step: randomize varies body_ipos"),
    ({"env_options": [{"frame_skip": 1 + k % 2} for k in range(NUM)]}, "mj_step: the environments differ in"),
    ({"env_options": [{"randomize": {"body_mass": (1, 2)}}, *[{}] * (NUM - 1)]}, "mj_step: the environments differ in"),
    ({"env_options": [{"ctrl_cost_weight": k / 9} for k in range(NUM)]}, "lanes"),
])
def test_pool_says_what_steps_it(options, said):
    with cypool.make("HalfCheetah-v5", **{"num_envs": NUM, **options}) as env:
        assert env.stepped_by.startswith(said)


@pytest.mark.parametrize(("num_envs", "said"), [(1, "mj_step: with the PGS solver"), (2, "lanes if")])
def test_pool_of_a_robot_with_pgs_says_when_lanes_step_it(num_envs, said):
    assert cypool.make("Humanoid-v5", num_envs=num_envs).stepped_by.startswith(said)


@pytest.mark.parametrize("env_id", NEWTON)
def test_single_environment_steps_in_lanes_as_by_mj_step(env_id):
    assert_equal(env_id, steps, (0, 1), num_envs=1)


def test_pool_of_others_says_nothing_of_what_steps_it():
    assert cypool.make("CartPole-v1").stepped_by is None


def test_own_robot_that_says_what_it_reads_steps_in_lanes_as_by_mj_step(walker):
    def play(env):
        assert env.stepped_by.startswith("lanes") or options["physics"] == "mj_step"
        return steps(env)

    results = []
    for options in ({"physics": "mj_step"}, {"physics": "lanes"}):
        with cypool.make("walker/Robot-v0", num_envs=NUM, seed=3, max_episode_steps=17, **options) as env:
            results.append(flat(play(env)))
    assert results[0] == results[1]


def test_own_robot_that_does_not_say_what_it_reads_is_stepped_by_mj_step(walker):
    cls = type("Silent", (importlib.import_module("walker.robot").Robot,), {})
    spec = cypool.make_spec("walker/Robot-v0")
    assert "Silent has no read_fields" in cls(spec, 0).stepped_by
    cls.read_fields = ("xpos", "qfrc_bias")
    assert "lanes only compute xpos" in cls(spec, 0).stepped_by


def test_own_robot_that_reads_sensors_is_stepped_in_lanes_if_they_have_all(walker, tmp_path):
    cls = type("Sensing", (importlib.import_module("walker.robot").Robot,), {"read_fields": ("sensordata",)})
    text = Path(importlib.import_module("walker.robot").XML).read_text()
    text = text.replace("<geom size", '<site name="tip"/><geom size')
    for sensors, said in (('<gyro site="tip"/><framepos objtype="site" objname="tip"/>', "lanes"),
                          ('<gyro site="tip"/><clock/>', "mj_step: lanes do not support all sensors")):
        path = tmp_path / "robot.xml"
        path.write_text(text.replace("</mujoco>", f"<sensor>{sensors}</sensor></mujoco>"))
        assert cls(cypool.make_spec("walker/Robot-v0", xml_file=str(path)), 0).stepped_by.startswith(said)


@pytest.mark.parametrize("options", [{}, {"frame_stack": 3}, {"visual_options": {1: True, 4: True}}], ids=str)
@pytest.mark.parametrize("env_id", [
    "HalfCheetah-v5", pytest.param("AntMaze_UMaze-v5", marks=pytest.mark.families("robotics")),
    *exhaustive("Hopper-v5", "Ant-v5")])
def test_pool_that_observes_pictures_steps_in_lanes_as_by_mj_step(env_id, options):
    options = {"from_pixels": True, "width": 32, "height": 32, "shadows": False, **options}
    try:
        cypool.make(env_id, **options).close()
    except ImportError as error:
        pytest.skip(str(error))
    assert_equal(env_id, lambda env: steps(env, 9), (2,), num_envs=4, max_episode_steps=6, **options)


@pytest.mark.parametrize("physics", ["lanes", "mj_step"])
def test_pool_of_many_robots_takes_little_memory_for_each(run_forked, physics):
    done = run_forked(f"""if True:
        import cypool, psutil
        resident = lambda: psutil.Process().memory_info().rss
        def stepped(num_envs):
            env = cypool.make("Ant-v5", num_envs=num_envs, num_threads=0, seed=0, physics="{physics}")
            for _ in range(2):
                env.reset()
                env.step(env.action_space.sample())
            return env
        small = stepped(32)
        before = resident()
        large = stepped(1000)
        print((resident() - before) // 1000)
    """)
    # MuJoCo's own data take 180 KB
    assert int(done.stdout) < 60_000, (done.stdout, done.stderr)


def test_threads_of_a_pool_in_lanes_share_no_working_memory(run_forked):
    # threads are interrupted where they pass lanes on; memory that two of them had is freed twice with the pool
    done = run_forked("""if True:
        import cypool
        import numpy as np
        for seed in range(2):
            with cypool.make("InvertedPendulum-v5", num_envs=64, num_threads=64, seed=seed) as env:
                assert env.stepped_by == "lanes"
                env.reset()
                env.rollout(np.zeros((4000, 64, 1), np.float32))
        print("closed")
    """)
    assert (done.returncode, done.stdout) == (0, "closed\n"), done.stderr
