"""The ids of MuJoCo's robots."""
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="mujoco",
    title="MuJoCo",
    description="versions 4 and 5 of Gymnasium's robots, with numbers or images as observations",
    licence="MuJoCo: Apache 2.0",
    package="mujoco",
    extra="mujoco",
    reference="Gymnasium 1.4 with the installed MuJoCo",
    fidelity="everything except the random streams of `Pusher-v4`",
    smoke_ids=("InvertedPendulum-v5", "Ant-v5"),
    peers={"*": ("loop", "sync-vector", "async-vector", "rollout", "batch", "mjbatch", "envpool")})

# robot: the steps of an episode
_ROBOTS = {"Ant": 1000, "HalfCheetah": 1000, "Hopper": 1000, "Humanoid": 1000, "HumanoidStandup": 1000,
           "InvertedDoublePendulum": 1000, "InvertedPendulum": 1000, "Pusher": 100, "Reacher": 50, "Swimmer": 1000,
           "Walker2d": 1000}
for _robot, _steps in _ROBOTS.items():
    for _id, _class in ((f"{_robot}-v4", f"{_robot}V4"), (f"{_robot}-v5", _robot)):
        # Gymnasium does not make Pusher-v4 with the MuJoCo there is
        register(_id, f"cypool.envs.mujoco.mujoco:{_class}", max_episode_steps=_steps,
                 reference=None if _id == "Pusher-v4" else f"gymnasium:{_id}")
