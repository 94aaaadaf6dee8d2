"""The ids of classic control."""
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="classic_control",
    title="Classic control",
    description="CartPole, MountainCar, Pendulum and Acrobot",
    extra="render",
    reference="Gymnasium 1.4",
    fidelity="everything except the random streams of `Pendulum-v0`",
    smoke_ids=("CartPole-v1", "Pendulum-v1"),
    peers={"*": ("loop", "sync-vector", "async-vector", "numpy-vector", "envpool")},
    keys={"CartPole": {"left": 0, "right": 1}, "MountainCar": {"left": 0, "": 1, "right": 2},
          "Acrobot": {"left": 0, "": 1, "right": 2}})

_CLASSIC = "cypool.envs.classic_control.classic_control"
register("CartPole-v0", f"{_CLASSIC}:CartPole", max_episode_steps=200, reference="gymnasium:CartPole-v0")
register("CartPole-v1", f"{_CLASSIC}:CartPole", max_episode_steps=500, reference="gymnasium:CartPole-v1")
register("MountainCar-v0", f"{_CLASSIC}:MountainCar", max_episode_steps=200,
         reference="gymnasium:MountainCar-v0")
register("MountainCarContinuous-v0", f"{_CLASSIC}:MountainCarContinuous", max_episode_steps=999,
         reference="gymnasium:MountainCarContinuous-v0")
# the name in an old Gym, and in EnvPool
register("Pendulum-v0", f"{_CLASSIC}:Pendulum", max_episode_steps=200, version=0)
register("Pendulum-v1", f"{_CLASSIC}:Pendulum", max_episode_steps=200, reference="gymnasium:Pendulum-v1")
register("Acrobot-v1", f"{_CLASSIC}:Acrobot", max_episode_steps=500, reference="gymnasium:Acrobot-v1")
