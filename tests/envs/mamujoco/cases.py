"""How tests, benchmarks, fuzzers and the gallery use MaMuJoCo."""
from cases import Cases, Sanitizer

CASES = Cases(
    quick_ids=("MaMuJoCo/HalfCheetah-v1", "MaMuJoCo/Ant-4x2-v1", "MaMuJoCo/Hopper-3x1-v1",
               "MaMuJoCo/CoupledHalfCheetah-v1", "MaMuJoCo/ManySegmentSwimmer-10x2-v1"),
    fuzz_variants=(("MaMuJoCo/Pusher-v1", {"agent_obsk": 0, "global_categories": ()}),
                   ("MaMuJoCo/Reacher-v1", {"agent_conf": None, "randomize": {"body_mass": (0.5, 2)}})),
    draws_quickly=False,
    sanitizer=Sanitizer(target="mujoco", tests=("test_mamujoco.py",), without="imported or package"))
