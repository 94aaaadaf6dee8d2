"""How tests, benchmarks, fuzzers and the gallery use MuJoCo."""
from cases import Cases, Sanitizer

HUMANOID = "qpos[2:]", "qvel[:]", "cinert[1:]", "cvel[1:]", "qfrc_actuator[6:]", "cfrc_ext[1:]"

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
    pictures=("Ant-v5", "HalfCheetah-v5", "Hopper-v5", "Humanoid-v5", "Walker2d-v5"),
    observations={
        "Ant": ("qpos[2:]", "qvel[:]", "cfrc_ext[1:]"),
        "HalfCheetah": ("qpos[1:]", "qvel[:]"),
        "Hopper": ("qpos[1:]", "qvel[:]"),
        "Humanoid": HUMANOID,
        "HumanoidStandup": HUMANOID,
        "InvertedDoublePendulum": ("qpos[:1]", "sin(qpos[1:])", "cos(qpos[1:])", "qvel[:]", "qfrc_constraint[:1]"),
        "InvertedPendulum": ("qpos[:]", "qvel[:]"),
        "Pusher": ("qpos[:7]", "qvel[:7]", "xpos[10:]"),
        "Reacher": ("cos(qpos[:2])", "sin(qpos[:2])", "qpos[2:]", "qvel[:2]",
                    ("`fingertip` relative to `target`: x and y (m)", 2)),
        "Swimmer": ("qpos[2:]", "qvel[:]"),
        "Walker2d": ("qpos[1:]", "qvel[:]"),
    })
