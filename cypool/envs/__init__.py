"""The built-in families; importing this registers their ids and loads none of them."""
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

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

_ATARI = {"entry_point": "cypool.envs.atari.atari:Atari", "reference": "cypool.envs.atari.reference:make"}
# what ale_py's own environments show
_ALE = {"preset": "gymnasium", "obs_type": "screen", "gray_scale": False, "stack_num": 1, "noop_max": 0}
# a build may leave the extension out: CYPOOL_WITHOUT=atari
for _task in roms.TASKS if find_spec("cypool.envs.atari.atari") else ():
    register(f"{roms.title(_task)}-v5", task=_task, **_ATARI)
    register(f"ALE/{roms.ale_title(_task)}-v5", task=_task, **_ATARI, **_ALE)
    for _version, _sticky in (("v0", 0.25), ("v4", 0.0)):
        register(f"{roms.ale_title(_task)}-{_version}", task=_task, frame_skip=(2, 5),
                 repeat_action_probability=_sticky, **_ATARI, **_ALE)
        register(f"{roms.ale_title(_task)}NoFrameskip-{_version}", task=_task, frame_skip=1,
                 repeat_action_probability=_sticky, **_ATARI, **_ALE)

# robot: its module, and the steps of an episode
_ROBOTS = {"Ant": ("ant", 1000), "HalfCheetah": ("half_cheetah", 1000), "Hopper": ("hopper", 1000),
           "Humanoid": ("humanoid", 1000), "HumanoidStandup": ("humanoid", 1000),
           "InvertedDoublePendulum": ("pendulums", 1000), "InvertedPendulum": ("pendulums", 1000),
           "Pusher": ("reacher", 100), "Reacher": ("reacher", 50), "Swimmer": ("swimmer", 1000),
           "Walker2d": ("hopper", 1000)}
# a build may leave these extensions out, too. The package itself is not imported: it wants MuJoCo
_built = PathFinder.find_spec("mujoco_env", [str(Path(__file__).with_name("mujoco"))])
for _robot, (_module, _steps) in _ROBOTS.items() if _built else ():
    for _id, _class in ((f"{_robot}-v4", f"{_robot}V4"), (f"{_robot}-v5", _robot)):
        # Gymnasium does not make Pusher-v4 with the MuJoCo there is
        register(_id, f"cypool.envs.mujoco.{_module}:{_class}", max_episode_steps=_steps,
                 reference=None if _id == "Pusher-v4" else f"gymnasium:{_id}")

_DOOM = "cypool.envs.vizdoom"
# CYPOOL_WITHOUT=vizdoom leaves the extension out; whether the engine is installed is asked when one is made
if find_spec(f"{_DOOM}.doom"):
    for _name, _config in (
            ("Basic", "basic"), ("BasicAudio", "basic_audio"), ("BasicNotifications", "basic_notifications"),
            ("DeadlyCorridor", "deadly_corridor"), ("DefendCenter", "defend_the_center"),
            ("DefendLine", "defend_the_line"), ("HealthGathering", "health_gathering"), ("MyWayHome", "my_way_home"),
            ("PredictPosition", "predict_position"), ("TakeCover", "take_cover"), ("Deathmatch", "deathmatch"),
            ("HealthGatheringSupreme", "health_gathering_supreme")):
        register(f"Vizdoom{_name}-v1", f"{_DOOM}.scenario:Scenario", scenario_config_file=f"{_config}.cfg",
                 max_buttons_pressed=1)
        register(f"Vizdoom{_name}-MultiBinary-v1", f"{_DOOM}.scenario:Scenario", scenario_config_file=f"{_config}.cfg",
                 max_buttons_pressed=0)
    _episodes = [f"E{episode}M{level}" for episode in range(1, 5) for level in range(1, 10)]
    _levels = [f"MAP{level:02}" for level in range(1, 33)]
    for _name, _maps in (("Doom", _episodes), ("Doom2", _levels), ("Freedoom1", _episodes), ("Freedoom2", _levels)):
        for _map in _maps:
            for _skill in range(1, 6):
                register(f"Vizdoom{_name}{_map}-S{_skill}-v0", f"{_DOOM}.scenario:Scenario", max_buttons_pressed=0,
                         scenario_config_file=f"{_name.lower()}.cfg", doom_map=_map, doom_skill=_skill)
    # EnvPool's ids; the D scenarios come with its package of assets, if that is installed
    for _name in ("basic", "basic_audio", "basic_notifications", "cig", "D1_basic", "D2_navigation", "D3_battle",
                  "D4_battle2", "deadly_corridor", "deathmatch", "defend_the_center", "defend_the_line",
                  "health_gathering", "health_gathering_supreme", "multi_duel", "my_way_home", "predict_position",
                  "rocket_basic", "simpler_basic", "take_cover"):
        # these have starts for deathmatch only
        _arguments = {"game_args": "-deathmatch"} if _name in ("cig", "multi_duel") else {}
        register("".join(part.capitalize() for part in _name.split("_")) + "-v1", f"{_DOOM}.frames:Frames",
                 max_episode_steps=525, cfg_path=_name, **_arguments)
    register("VizdoomCustom-v1", f"{_DOOM}.frames:Frames", max_episode_steps=525)
