# ruff: noqa: F821
"""Code of a user, for a type checker: test_typing.py compares the output of `reveal_type` with the comments."""
import numpy as np

import cypool
from cypool.adapters.single import SingleEnv
from cypool.spec import Array, Discrete, EnvSpec
from cypool.testing import check_env, check_parity

env = cypool.make("CartPole-v1", num_envs=4, seed=1)
reveal_type(env)  # cypool.api.gymnasium.GymnasiumPool
obs, info = env.reset(seed=[1, 2, None, 3])
reveal_type(info)  # dict[str, Any]
obs, reward, terminated, truncated, info = env.step(np.zeros(4, np.int64))
reveal_type(reward)  # ndarray[tuple[Any, ...], dtype[float64]]
reveal_type(terminated | truncated)  # ndarray[tuple[Any, ...], dtype[bool[bool]]]
reveal_type(env.num_envs)  # int
reveal_type(env.env_spec)  # cypool.spec.EnvSpec
reveal_type(env.save())  # cypool.state.State
reveal_type(env.rollout_buffers(8)[0][1])  # ndarray[tuple[Any, ...], dtype[float64]]
env.send([0, 1], env_id=[0, 2])
reveal_type(env.recv(timeout=1.0))  # Any

reveal_type(cypool.make("CartPole-v1", "gymnasium"))  # cypool.api.gymnasium.GymnasiumPool
reveal_type(cypool.make("CartPole-v1", "gym"))  # cypool.api.gym.GymPool
reveal_type(cypool.make("CartPole-v1", "dm"))  # cypool.api.dm.DmPool
with cypool.make("CartPole-v1", "gym", num_envs=2, batch_size=1) as pool:
    reveal_type(pool)  # cypool.api.gym.GymPool


def agnostic(env_type: str) -> int:
    """Any of the APIs will do."""
    some = cypool.make("CartPole-v1", env_type)
    reveal_type(some)  # cypool.api.base.VectorAPI
    return some.num_envs


cypool.register("mine/Walk-v0", "mine.walk:Walk", max_episode_steps=100, limit=3)
reveal_type(cypool.list_all_envs())  # list[str]
reveal_type(cypool.make_spec("CartPole-v1"))  # cypool.spec.EnvSpec
reveal_type(cypool.compile("walk.pyx"))  # str
reveal_type(cypool.record(env, "out.gif"))  # ndarray[tuple[Any, ...], dtype[float64]]
reveal_type(cypool.load_state("state"))  # cypool.state.State
reveal_type(cypool.testing.check_env("CartPole-v1"))  # cypool.testing.contract.Contract
spec = EnvSpec(observation={"a": Array((2,), np.float32)}, action=Discrete(2))
reveal_type(spec.action_bytes)  # int

print(check_env("CartPole-v1"), check_parity("CartPole-v1", seeds=(0,)))
reveal_type(check_env("CartPole-v1").num_episodes)  # int
reveal_type(SingleEnv("CartPole-v1").step(0)[1])  # float

cypool.make(3)  # error: call-overload
cypool.make("CartPole-v1", num_envs="4")  # error: call-overload
cypool.list_all_envs("CartPole-v1")  # error: call-arg
cypool.mak("CartPole-v1")  # error: attr-defined
env.rollout_buffers("8")  # error: call-overload
