"""The ids of classic control."""
from cypool.registry import register

_CLASSIC = "cypool.envs.classic_control"
register("CartPole-v0", f"{_CLASSIC}.cartpole:CartPole", max_episode_steps=200, reference="gymnasium:CartPole-v0")
register("CartPole-v1", f"{_CLASSIC}.cartpole:CartPole", max_episode_steps=500, reference="gymnasium:CartPole-v1")
register("MountainCar-v0", f"{_CLASSIC}.mountain_car:MountainCar", max_episode_steps=200,
         reference="gymnasium:MountainCar-v0")
register("MountainCarContinuous-v0", f"{_CLASSIC}.mountain_car:MountainCarContinuous", max_episode_steps=999,
         reference="gymnasium:MountainCarContinuous-v0")
# what Gym called so long ago, and EnvPool does
register("Pendulum-v0", f"{_CLASSIC}.pendulum:Pendulum", max_episode_steps=200, version=0)
register("Pendulum-v1", f"{_CLASSIC}.pendulum:Pendulum", max_episode_steps=200, reference="gymnasium:Pendulum-v1")
register("Acrobot-v1", f"{_CLASSIC}.acrobot:Acrobot", max_episode_steps=500, reference="gymnasium:Acrobot-v1")
