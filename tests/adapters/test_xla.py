"""A pool in code that JAX compiles, compared with the same pool in NumPy."""
import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from receiving import started

import cypool
import cypool.compat.envpool as envpool

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari")]

NUM = 5


def pair(id="CartPole-v1", **kwargs):
    return tuple(cypool.make(id, num_envs=NUM, seed=0, max_episode_steps=20, **kwargs) for _ in "12")


def same(got, want):
    got, want = jax.tree.map(np.asarray, (got, want))
    assert jax.tree.structure(got) == jax.tree.structure(want)
    assert all((a == np.asarray(b, a.dtype)).all() for a, b in zip(*map(jax.tree.leaves, (got, want)), strict=True))


@pytest.mark.parametrize("id, num_threads", [*[("CartPole-v1", n) for n in (0, 1, 2, 5)],
                                              ("Pendulum-v1", 1), ("Blackjack-v1", 1), ("Pong-v5", 2)])
def test_steps_in_a_compiled_loop(id, num_threads):
    env, twin = pair(id, num_threads=num_threads)
    handle, recv, send, step = functions = env.xla()
    assert len(functions) == 4
    actions = np.stack([twin.action_space.sample() for _ in range(45)])

    @jax.jit
    def run(handle, actions):
        handle, first = functions.reset(handle)
        handle, rest = jax.lax.scan(step, handle, actions)
        return handle, first, rest

    handle, first, rest = run(handle, actions)
    same(first, twin.reset())
    ended = 0
    for t, action in enumerate(actions):
        want = twin.step(action)
        same(jax.tree.map(lambda array, t=t: array[t], rest), want)
        ended += (want[2] | want[3]).sum()
    assert ended and handle.tolist()[1] == 46


def test_terminal_observations():
    env, twin = map(started, pair(autoreset_mode="SameStep", episode_statistics=True))
    handle, _, _, step = env.xla()
    step, ended = jax.jit(step), 0
    for t in range(45):
        handle, (obs, reward, terminated, truncated, info) = step(handle, np.full(NUM, t % 2))
        want = twin.step([t % 2] * NUM)
        same((obs, reward, terminated, truncated), want[:4])
        over = np.asarray(terminated | truncated)
        assert (np.asarray(info["_final_obs"]) == over).all() and (np.asarray(info["_episode"]) == over).all()
        assert info["final_obs"].shape == obs.shape and not np.asarray(info["final_obs"])[~over].any()
        assert (np.asarray(info["elapsed_step"]) == want[4]["elapsed_step"]).all()
        for row in np.flatnonzero(over):
            assert (np.asarray(info["final_obs"])[row] == want[4]["final_obs"][row]).all()
            assert info["final_info"]["elapsed_step"][row] == want[4]["final_info"]["elapsed_step"][row]
            assert info["episode"]["l"][row] == want[4]["episode"]["l"][row]
            ended += 1
    assert ended > NUM


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_masked_resets(mode):
    env, twin = pair(autoreset_mode=mode)
    functions = env.xla()
    handle, _ = functions.reset(functions.handle)
    twin.reset()

    @jax.jit
    def advance(handle, actions, mask):
        handle, batch = functions.step(handle, actions)
        handle, after = functions.reset(handle, mask)
        return handle, batch, after

    random = np.random.default_rng(0)
    for t in range(30):
        actions, mask = random.integers(0, 2, NUM), random.random(NUM) < 0.2
        # an episode of at most 20 steps that ended has to be reset in this mode
        if mode == "Disabled":
            mask |= t % 5 == 4
        handle, batch, (obs, info) = advance(handle, actions, mask)
        want = twin.step(actions)
        same(batch[:4], want[:4])
        if mode == "Disabled":
            assert not (want[2] | want[3])[~mask].any()
        if mask.any():
            same((obs, info), twin.reset(options={"reset_mask": mask}))
        else:
            same(obs, want[0])
            assert (np.asarray(info["elapsed_step"]) == want[4]["elapsed_step"]).all()


def test_several_pools_and_vmap_over_them():
    envs, twins = ([started(cypool.make("CartPole-v1", num_envs=NUM, seed=seed)) for seed in (0, 100, 200)]
                   for _ in "12")
    functions = [env.xla() for env in envs]
    step = jax.jit(jax.vmap(functions[0].step))
    handles = jnp.stack([each.handle for each in functions])
    for t in range(40):
        actions = (np.arange(3 * NUM).reshape(3, NUM) + t) % 2
        handles, batches = step(handles, actions)
        for k, twin in enumerate(twins):
            same(jax.tree.map(lambda array, k=k: array[k], batches), twin.step(actions[k]))

    masks = np.arange(3 * NUM).reshape(3, NUM) % 4 < np.array([[1], [0], [4]])
    handles, (obs, _) = jax.jit(jax.vmap(functions[0].reset))(handles, masks)
    for k in (0, 2):
        same(obs[k], twins[k].reset(options={"reset_mask": masks[k]})[0])
    assert (obs[1] == batches[0][1]).all()

    @jax.jit
    def both(first, second):
        return functions[0].step(first, jnp.zeros(NUM, int)), functions[1].step(second, jnp.ones(NUM, int))

    (_, one), (_, two) = both(functions[0].handle, functions[1].handle)
    same(one, twins[0].step([0] * NUM))
    same(two, twins[1].step([1] * NUM))


def test_asynchronous():
    env = cypool.make("CartPole-v1", num_envs=NUM, batch_size=2, seed=0)
    handle, recv, send, _ = env.xla()
    env.async_reset()

    @jax.jit
    def turn(handle):
        handle, (obs, _, _, _, info) = recv(handle)
        handle = send(handle, jnp.asarray(obs[:, 2] > 0, int), info["env_id"])
        return handle, info

    seen = np.zeros(NUM, int)
    for _ in range(200):
        handle, info = turn(handle)
        assert len(set(info["env_id"].tolist())) == 2
        seen[np.asarray(info["env_id"])] += 1
    assert seen.sum() == 400 and (seen > 0).all()


def test_asynchronous_as_in_numpy():
    # without threads environments come back in the order they were sent in
    env, twin = pair(batch_size=2, num_threads=0)
    handle, recv, send, step = env.xla()
    env.async_reset()
    twin.async_reset()
    recv, send = jax.jit(recv), jax.jit(send)
    for _ in range(60):
        handle, batch = recv(handle)
        want = twin.recv()
        same(batch, want)
        actions, ids = (want[0][:, 2] > 0).astype(int), want[4]["env_id"]
        handle = send(handle, actions, ids)
        twin.send(actions, ids)
    # send without ids, and both in one
    same(recv(handle)[1], twin.recv())
    same(jax.jit(step)(handle, np.zeros(2, int))[1], twin.step([0, 0]))


@pytest.mark.parametrize("num_threads", [0, 1, 2, 5])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_observations_in_a_dict(walker, num_threads, mode):
    env, twin = pair("walker/Trouble-v0", num_threads=num_threads, autoreset_mode=mode)
    handle, _, _, step = functions = env.xla()
    handle, first = jax.jit(functions.reset)(handle)
    same(first, twin.reset())
    step, random, ended = jax.jit(step), np.random.default_rng(0), 0
    for _ in range(30):
        # 6 and 7 end an episode
        actions = random.choice([0, 6, 7], NUM, p=[0.8, 0.1, 0.1])
        handle, batch = step(handle, actions)
        want = twin.step(actions)
        same(batch[:4], want[:4])
        assert set(batch[4]) >= {"env_id", "elapsed_step", "bytes"}
        for row in np.flatnonzero(want[2] | want[3]) if mode == "SameStep" else []:
            ended += 1
            same(jax.tree.map(lambda array, row=row: array[row], batch[4]["final_obs"]), want[4]["final_obs"][row])
    assert ended > NUM or mode == "NextStep"


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_several_agents(walker, mode):
    env, twin = pair("walker/Crowd-v0", kill=0.5, autoreset_mode=mode, episode_statistics=True)
    handle, _, _, step = functions = env.xla()
    handle, first = jax.jit(functions.reset)(handle)
    same(first, twin.reset())
    step, ended = jax.jit(step), 0
    for _ in range(30):
        actions = twin.action_space.sample()
        handle, batch = step(handle, actions)
        want = twin.step(actions)
        same(batch[:4], want[:4])
        same(batch[4]["agents"], want[4]["agents"])
        over = want[2] | want[3]
        ended += over.sum()
        if over.any():
            same(batch[4]["episode"]["agents"], want[4]["episode"]["agents"])
        if over.any() and mode == "SameStep":
            for row in np.flatnonzero(over):
                same(jax.tree.map(lambda array, row=row: array[row], batch[4]["final_obs"]), want[4]["final_obs"][row])
    assert ended > NUM


@pytest.fixture
def use_x64():
    yield lambda double: jax.config.update("jax_enable_x64", double)
    jax.config.update("jax_enable_x64", False)


def test_double_precision(use_x64):
    env, twin = pair("Pendulum-v1", episode_statistics=True)
    # the same functions in both
    functions = env.xla()
    twin.reset()
    handle, _ = functions.reset(functions.handle)
    actions = np.linspace(-2, 2, NUM, dtype=np.float32)[:, None]
    for double in (False, True, False):
        use_x64(double)
        for _ in range(25):
            handle, batch = jax.jit(functions.step)(handle, actions)
            want = twin.step(actions)
            same(batch[:4], want[:4])
            assert batch[1].dtype == (np.float64 if double else np.float32)
            assert batch[4]["episode"]["l"].dtype == (np.int64 if double else np.int32)


def test_where_there_is_no_foreign_function(monkeypatch):
    # the callback that GPUs need also works on the CPU
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    env, twin = pair(autoreset_mode="SameStep")
    functions = env.xla()
    run = jax.jit(lambda handle, actions: jax.lax.scan(functions.step, handle, actions))
    assert "ffi_call" not in str(jax.make_jaxpr(run)(functions.handle, np.zeros((3, NUM), int)))
    handle, first = functions.reset(functions.handle)
    same(first, twin.reset())
    actions = np.random.default_rng(0).integers(0, 2, (30, NUM))
    handle, batches = run(handle, actions)
    for t, action in enumerate(actions):
        same(jax.tree.map(lambda array, t=t: array[t], batches[:4]), twin.step(action)[:4])
    assert handle.tolist()[1] == 31


@pytest.mark.parametrize("legacy", [False, True])
def test_envpools_interface(legacy):
    env, twin = (started(envpool.make("Breakout-v5", "gym", num_envs=2, legacy=legacy)) for _ in "12")
    handle, recv, send, step = env.xla()
    actions = np.random.default_rng(0).integers(0, 4, (50, 2))
    handle, batches = jax.jit(lambda handle, actions: jax.lax.scan(step, handle, actions))(handle, actions)
    for t, action in enumerate(actions):
        same(jax.tree.map(lambda array, t=t: array[t], batches), twin.step(action))
    assert ("TimeLimit.truncated" in batches[-1]) == legacy and {"lives", "reward", "terminated"} <= set(batches[-1])


def test_errors(walker):
    env = started(cypool.make("CartPole-v1", num_envs=NUM, seed=0))
    handle, _, _, step = env.xla()
    fails("ValueError: actions: expected integers in", jax.jit(step), handle, np.full(NUM, 2))
    assert (np.asarray(step(handle, np.zeros(NUM, int))[1][4]["elapsed_step"]) == 1).all()
    functions = cypool.make("CartPole-v1", num_envs=4, batch_size=2).xla()
    with pytest.raises(ValueError, match="^reset: expected a synchronous pool"):
        functions.reset(functions.handle)
    # the other environments' steps are lost with the batch, but not done twice
    env = cypool.make("walker/Trouble-v0", num_envs=3)
    functions = env.xla()
    handle, _ = functions.reset(functions.handle)
    step = jax.jit(functions.step)
    fails("EnvError: env 1: ValueError: raised in step", step, handle, np.array([0, 1, 0]))
    assert step(handle, np.zeros(3, int))[1][4]["elapsed_step"].tolist() == [2, 0, 2]


def fails(match, function, *args):
    with pytest.raises(jax.errors.JaxRuntimeError, match=match):
        jax.block_until_ready(function(*args))


def test_handles_of_others():
    env, other = cypool.make("CartPole-v1", num_envs=NUM), cypool.make("CartPole-v1", num_envs=NUM)
    handle, recv, _, step = env.xla()
    step, actions = jax.jit(step), np.zeros(NUM, int)
    reset = jax.jit(env.xla().reset)
    env.reset()
    fails("RuntimeError: nothing is pending", jax.jit(recv), handle)
    for wrong in ([-1, 0], [10**9, 0]):
        fails(f"ValueError: handle: expected the handle of a pool that is still referenced, got {wrong[0]}",
              step, jnp.array(wrong, jnp.int32), actions)
    fails("TypeError: handle: expected int32 of shape", step, jnp.zeros(3, jnp.int32), actions)
    fails("TypeError: handle: expected int32 of shape", step, jnp.zeros(2), actions)
    few, deep = cypool.make("CartPole-v1", num_envs=NUM - 1), cypool.make("Taxi-v3", num_envs=NUM)
    fails(r"ValueError: handle: expected .* array of shape \(5, 4\), got \(4, 4\)", reset, few.xla().handle)
    fails("ValueError: .*", reset, deep.xla().handle)
    # a handle of an equal pool, while that pool exists
    functions = other.xla()
    handle, _ = reset(functions.handle)
    handle, _ = step(handle, actions)
    other.close()
    fails("ClosedError: the pool is closed", step, handle, actions)
    number = int(handle[0])
    del functions, other
    gc.collect()
    fails(f"ValueError: handle: expected the handle of a pool that is still referenced, got {number}", step,
          handle, actions)
    assert (step(env.xla().handle, actions)[1][4]["elapsed_step"] == 1).all()


START = """
import threading, jax, jax.numpy as jnp, numpy as np, cypool
env = cypool.make("CartPole-v1", num_envs=64, num_threads=2)
functions = env.xla()
handle, _ = functions.reset(functions.handle)

@jax.jit
def run(handle, weights):
    # a product: JAX runs such code on a thread of its own
    handle = handle + (0 * (weights @ weights).sum()).astype(int)
    def step(handle, _):
        handle, batch = functions.step(handle, jnp.zeros(64, int))
        return handle, batch[1].sum()
    return jax.lax.scan(step, handle, length=STEPS)

weights = jnp.ones((10, 10))
"""


def test_exit_waits_for_calls(run_python):
    done = run_python(START.replace("STEPS", "2000") + """
run(handle, weights)
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_exit_ends_calls_of_other_threads(run_python):
    # JAX waits for the calls that the main thread began
    done = run_python(START.replace("STEPS", "10**8") + """
thread = threading.Thread(target=run, args=(handle, weights))
thread.start()
thread.join()
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fork(run_python):
    done = run_python(START.replace("STEPS", "10") + """
import os, warnings
jax.block_until_ready(run(handle, weights))
step = jax.jit(functions.step)
step(handle, np.zeros(64, int))
warnings.simplefilter("ignore")
if os.fork() == 0:
    try:
        step(handle, np.zeros(64, int))
    except jax.errors.JaxRuntimeError as error:
        # without Python's end, in which JAX crashes after a fork
        os._exit(7 if "made before fork" in str(error) else 8)
    os._exit(9)
status = os.waitstatus_to_exitcode(os.wait()[1])
step(handle, np.zeros(64, int))
print(status)
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")


def test_interrupt(run_python):
    done = run_python("""
import os, signal, threading, jax, numpy as np, cypool, walker
from walker import trouble
env = cypool.make("walker/Trouble-v0", num_envs=2, batch_size=1, num_threads=2)
handle, recv, send, _ = env.xla()
env.async_reset(); env.recv(); env.recv()
recv = jax.jit(recv)
handle = jax.block_until_ready(send(handle, np.array([trouble.WAIT]), np.array([0])))

def interrupt():
    message = ""
    while "one thread at a time" not in message:
        try:
            env.send([0], [0])
        except RuntimeError as error:
            message = str(error)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    recv(handle)
except jax.errors.JaxRuntimeError as error:
    assert "KeyboardInterrupt" in str(error), error
trouble.set_gate(True)
print(recv(handle)[1][4]["elapsed_step"])
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1]\n", "")


@pytest.mark.parametrize("make", [cypool.make, envpool.make], ids=["cypool", "envpool"])
@pytest.mark.parametrize("id", ["CartPole-v1", "FrozenLake-v1"])
def test_time_steps_of_dm(make, id):
    envs, twins = ([started(make(id, env_type="dm", num_envs=NUM, seed=seed, max_episode_steps=5)) for seed in (1, 9)]
                   for _ in "12")
    actions = np.arange(12 * NUM).reshape(12, NUM) % 2
    functions = envs[0].xla()
    handle, steps = jax.lax.scan(functions.step, functions.handle, actions)
    for t in range(12):
        same(jax.tree.map(lambda array, t=t: array[t], steps), twins[0].step(actions[t]))
    assert type(steps).__name__ == "TimeStep" and (np.asarray(steps.step_type) == 2).any()
    # two pools, whose time steps are alike
    handles = jax.numpy.stack([handle, envs[1].xla().handle])
    _, steps = jax.vmap(functions.step)(handles, actions[:2])
    for k in range(2):
        same(jax.tree.map(lambda array, k=k: array[k], steps), twins[k].step(actions[k]))
