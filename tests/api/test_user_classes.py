"""Objects that lie, and users who reach for the edges: an exception at most, never a crash or a hang."""
import contextlib
import gc
import sys
import types
import weakref

import numpy as np
import pytest
from engine.threads import meanwhile
from interrupting import alarms
from receiving import started

import cypool
from cypool.engine.engine import Pool
from cypool.envs.classic_control.classic_control import CartPole
from cypool.spec import OWN_INFO, Array, Discrete, EnvSpec

pytestmark = pytest.mark.families("atari")


class Changing:
    """An index that says something else when it is asked again."""

    def __init__(self, *values):
        self.values = list(values)

    def __index__(self):
        return self.values.pop(0) if len(self.values) > 1 else self.values[0]

    __int__ = __index__

    def __float__(self):
        return float(self.__index__())


def test_options_are_read_once():
    env = cypool.make("Pong-v5", num_envs=2, img_height=Changing(84, 160), img_width=Changing(84, 160),
                      stack_num=Changing(2, 100))
    obs, _ = env.reset()
    assert obs.shape == (2, 2, 84, 84) and env.env_spec.options["img_height"] == 84
    fake = type("bool", (int,), {})(1)
    with pytest.raises(TypeError, match="^gray_scale"):
        cypool.make("Pong-v5", gray_scale=fake)


def test_actions_are_checked_as_they_are_sent():
    env = started(cypool.make("Pong-v5", num_envs=2))
    actions = np.zeros(2, np.int64)

    class Ids:
        def __array__(self, *args, **kwargs):
            actions.fill(10**12)
            return np.array([0, 1])

    try:
        env.step(actions, Ids())
    except ValueError as error:
        assert str(error).startswith("actions")


def test_another_thread_may_change_the_actions_meanwhile():
    env = started(cypool.make("Pong-v5", num_envs=2, num_threads=0, frame_skip=1))
    actions = np.zeros(2, np.int64)

    def spoil():
        actions[0] = 10**12 - actions[0]

    with meanwhile(spoil):
        for _ in range(3000):
            with contextlib.suppress(ValueError):
                env.step(actions)


def test_a_seed_list_that_lies_about_its_length():
    class Liar(list):
        def __iter__(self):
            return iter(())

    with pytest.raises(ValueError, match="^seed"):
        cypool.make("CartPole-v1", num_envs=2, seed=Liar([1, 2]))
    cypool.make("Pong-v5", num_envs=2, seed=[1, None]).reset()


class NotAnEnv:
    @staticmethod
    def describe():
        return EnvSpec(observation=Array((1,), np.float32), action=Discrete(2))

    def __init__(self, spec, env_id):
        pass


def test_entry_points_that_are_no_environments(monkeypatch):
    module = types.ModuleType("hostile_envs")
    module.NotAnEnv = NotAnEnv
    # a smaller observation than the compiled method writes
    module.PythonCartPole = type("PythonCartPole", (CartPole,), {"describe": NotAnEnv.describe})
    monkeypatch.setitem(sys.modules, "hostile_envs", module)
    for name in ("NotAnEnv", "PythonCartPole"):
        cypool.register(f"hostile/{name}-v0", f"hostile_envs:{name}")
        with pytest.raises(TypeError, match="expected a cdef class that derives"):
            cypool.make(f"hostile/{name}-v0")


def test_specs_that_cannot_be():
    with pytest.raises(ValueError, match="^observation"):
        EnvSpec(observation={}, action=Discrete(2))
    for name in (*OWN_INFO, "_lives"):
        with pytest.raises(ValueError, match="^info: expected a name .*that is not reserved and .*players"):
            EnvSpec(observation=Array((1,), np.float32), action=Discrete(2), info={name: Array((), np.int32)})
    with pytest.raises(TypeError, match="^info: expected strings as names, got 3"):
        EnvSpec(observation=Array((1,), np.float32), action=Discrete(2), info={3: Array((), np.int32)})


def test_an_array_refilled_in_place_is_not_used_again():
    env = started(cypool.make("CartPole-v1", num_envs=2, seed=0))
    twin = started(cypool.make("CartPole-v1", num_envs=2, seed=0))
    for _ in range(30):
        batch = env.step([0, 1])
        assert batch[0].tobytes() == twin.step([0, 1])[0].tobytes()
        for array in (*batch[:4], *batch[4].values()):
            array.__setstate__(np.full_like(array, 1).__reduce__()[2])
        del batch, array


def test_a_weak_reference_never_sees_another_batch():
    env = started(cypool.make("CartPole-v1", num_envs=2, seed=0))
    for _ in range(20):
        reference = weakref.ref(env.step([0, 1])[0])
        env.send([0, 1])
        seen = reference()
        before = None if seen is None else seen.copy()
        env.recv()
        env.step([0, 1])
        assert seen is None or (seen == before).all()


def test_a_million_environments_in_single_batches_start_at_once():
    # the cost of making a pool and of a batch must not grow with the square of the number
    env = cypool.make("CartPole-v1", num_envs=20_000, batch_size=1, num_threads=1)
    env.async_reset()
    for _ in range(100):
        ids = env.recv()[4]["env_id"]
        env.send([0], ids)


def test_a_caller_at_work_looks_at_timeouts_and_signals(trouble):
    env = started(cypool.make("Pong-v5", num_envs=16, num_threads=1, frame_skip=2000))
    env.send([0] * 16)
    with pytest.raises(TimeoutError):
        env.recv(timeout=0.05)
    with alarms(lambda *_: 1 / 0, 0.05), pytest.raises(ZeroDivisionError):
        env.recv()
    # nothing is lost by it
    assert env.recv()[4]["env_id"].tolist() == list(range(16))


def test_the_registry_may_be_asked_by_many_threads_first(run_python):
    assert run_python("""
import threading, cypool
errors = []
def ask():
    try:
        cypool.make_spec("CartPole-v1")
    except Exception as error:
        errors.append(error)
threads = [threading.Thread(target=ask) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(errors)
""", check=True).stdout == "[]\n"


def test_a_pool_found_in_the_garbage_by_its_own_thread(run_forked):
    assert run_forked("""
import gc, cypool, walker
from walker import trouble
gc.disable()
for _ in range(50):
    env = cypool.make("walker/Trouble-v0", num_envs=4, batch_size=2, num_threads=2)
    env.async_reset(); env.recv(); env.recv()
    class Holder: pass
    holder = Holder(); holder.env, holder.self = env, holder
    gc.set_threshold(1)
    env.send([trouble.RAISE_STEP] * 4, range(4))
    del env, holder
    gc.enable()
    for _ in range(1000): [].append([])
    gc.disable()
gc.collect()
print("ok")
""", check=True).stdout == "ok\n"


def test_half_made_and_closed_pools():
    with pytest.raises(cypool.ClosedError):
        Pool.__new__(Pool).recv()
    with pytest.raises(cypool.ClosedError):
        Pool.__new__(Pool).step(np.zeros(1))
    env = cypool.make("CartPole-v1", num_envs=2)
    with pytest.raises(RuntimeError, match="already initialized"):
        env._pool.__init__([], [], 1, 1, "next_step", False, None, None)
    env.close()
    assert env._pool.num_threads >= 1 and env._pool.num_pending == 0
    gc.collect()


def test_ids_of_any_integer_dtype():
    env = started(cypool.make("CartPole-v1", num_envs=4))
    for dtype in (np.uint8, np.int16, np.uint32, np.uint64, ">i8"):
        assert env.step([0, 0], np.array([3, 1], dtype))[4]["env_id"].tolist() == [3, 1]
    with pytest.raises(ValueError, match="^env_id"):
        env.step([0], np.array([2**63], np.uint64))
