"""How tests, benchmarks, fuzzers and the gallery use Gymnasium-Robotics."""
from cases import Cases, Sanitizer

GRIPPER, FINGERS = ("gripper: x, y and z (m)", 3), ("gripper: position of each finger (m)", 2)
SPEEDS = ("gripper: velocity", 3), ("gripper: velocity of each finger", 2)

CASES = Cases(
    quick_ids=("FetchReach-v4", "PointMaze_UMaze-v3", "AntMaze_UMaze-v5"),
    draws_quickly=False,
    sanitizer=Sanitizer(target="mujoco", tests=("test_robotics.py",)),
    first_make={"FetchReach-v4": "mujoco"},
    pictures=("FetchPickAndPlace-v4", "HandManipulateBlock-v1", "AntMaze_UMaze-v5", "AdroitHandHammer-v1",
              "FrankaKitchen-v1"),
    observations={
        "FetchReach": (GRIPPER, FINGERS, *SPEEDS),
        **dict.fromkeys(("FetchPush", "FetchSlide", "FetchPickAndPlace"), (
            GRIPPER, ("object: x, y and z (m)", 3), ("object relative to the gripper (m)", 3), FINGERS,
            ("object: Euler angles (rad)", 3), ("object: velocity relative to the gripper", 3),
            ("object: angular velocity", 3), *SPEEDS)),
    })
