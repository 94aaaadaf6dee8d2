"""How tests, benchmarks, fuzzers and the gallery use MuJoCo."""
from cases import Cases, Sanitizer

CASES = Cases(
    slow_ids=("*-v4",),
    fuzz_variants=(("Reacher-v5", {"frame_stack": 3, "randomize": {"body_mass": (0.5, 2)}}),),
    draws_quickly=False,
    # without tests that start processes or limit the address space
    sanitizer=Sanitizer(
        target="mujoco", tests=("test_mujoco.py", "../../engine/test_state_checks.py::test_indices_of_mujoco"),
        without="run_python or processes or without_memory"),
    widely_packaged=True,
    measured=(("HalfCheetah-v5", 64), ("Ant-v5", 64)),
    first_make={"Ant-v5": "mujoco"},
    pictures=("Ant-v5", "HalfCheetah-v5", "Hopper-v5", "Humanoid-v5", "Walker2d-v5"))
