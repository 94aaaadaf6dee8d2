"""How tests, benchmarks, fuzzers and the gallery use Gymnasium-Robotics."""
from cases import Cases, Sanitizer

CASES = Cases(
    quick_ids=("FetchReach-v4", "PointMaze_UMaze-v3", "AntMaze_UMaze-v5"),
    draws_quickly=False,
    sanitizer=Sanitizer(target="mujoco", tests=("test_robotics.py",)),
    first_make={"FetchReach-v4": "mujoco"},
    pictures=("FetchPickAndPlace-v4", "HandManipulateBlock-v1", "AntMaze_UMaze-v5", "AdroitHandHammer-v1",
              "FrankaKitchen-v1"))
