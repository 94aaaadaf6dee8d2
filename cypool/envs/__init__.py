"""The built-in families; importing this registers their ids and loads none of them."""
from importlib.util import find_spec

from cypool.envs.atari import roms
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

_TOY = "cypool.envs.toy_text"
register("FrozenLake-v1", f"{_TOY}.frozen_lake:FrozenLake", max_episode_steps=100, reference="gymnasium:FrozenLake-v1",
         map_name="4x4")
register("FrozenLake8x8-v1", f"{_TOY}.frozen_lake:FrozenLake", max_episode_steps=200,
         reference="gymnasium:FrozenLake8x8-v1", map_name="8x8")
register("CliffWalking-v1", f"{_TOY}.cliff_walking:CliffWalking", reference="gymnasium:CliffWalking-v1")
register("CliffWalkingSlippery-v1", f"{_TOY}.cliff_walking:CliffWalking",
         reference="gymnasium:CliffWalkingSlippery-v1", is_slippery=True)
register("Taxi-v4", f"{_TOY}.taxi:Taxi", max_episode_steps=200, reference="gymnasium:Taxi-v4")
register("Blackjack-v1", f"{_TOY}.blackjack:Blackjack", reference="gymnasium:Blackjack-v1", sab=True, natural=False)
register("Catch-v0", f"{_TOY}.catch:Catch")
register("NChain-v0", f"{_TOY}.nchain:NChain", max_episode_steps=1000)
# EnvPool's names for the same
for _id in ("CliffWalking-v0", "tabular/CliffWalking-v0"):
    register(_id, f"{_TOY}.cliff_walking:CliffWalking")
register("Taxi-v3", f"{_TOY}.taxi:Taxi", max_episode_steps=200)
register("tabular/Blackjack-v0", f"{_TOY}.blackjack:Blackjack", sab=True, natural=False)

_ATARI = "cypool.envs.atari.atari:Atari"
# what ale_py's own environments show and tell
_ALE = {"obs_type": "screen", "gray_scale": False, "stack_num": 1, "noop_max": 0, "use_fire_reset": False,
        "frame_numbers": True}
# a build may leave the extension out: CYPOOL_WITHOUT=atari
for _task in roms.TASKS if find_spec("cypool.envs.atari.atari") else ():
    # half an hour of play: 108,000 frames
    register(f"{roms.title(_task)}-v5", _ATARI, max_episode_steps=27_000, task=_task)
    register(f"ALE/{roms.ale_title(_task)}-v5", _ATARI, max_episode_steps=27_000, task=_task,
             repeat_action_probability=0.25, **_ALE)
    register(f"{roms.ale_title(_task)}NoFrameskip-v4", _ATARI, max_episode_steps=108_000, task=_task, frame_skip=1,
             **_ALE)
