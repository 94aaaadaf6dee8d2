"""The built-in families; importing this registers their ids and loads none of them."""
from importlib.util import find_spec

from cypool.envs.atari import roms
from cypool.registry import register

register("CartPole-v0", "cypool.envs.classic_control:CartPole", max_episode_steps=200)
register("CartPole-v1", "cypool.envs.classic_control:CartPole", max_episode_steps=500)

# a build may leave the extension out: CYPOOL_WITHOUT=atari
for _task in roms.TASKS if find_spec("cypool.envs.atari.atari") else ():
    # 27,000 steps of 4 frames are 30 minutes of play
    register(f"{roms.title(_task)}-v5", "cypool.envs.atari.atari:Atari", max_episode_steps=27_000, task=_task)
