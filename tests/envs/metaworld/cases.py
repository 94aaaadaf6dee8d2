"""How tests, benchmarks, fuzzers and the gallery use Meta-World."""
from cases import Cases, Sanitizer

CASES = Cases(
    quick_ids=("Meta-World/reach-v3",),
    fuzz_ids=("Meta-World/reach-v3", "Meta-World/door-lock-v3"),
    draws_quickly=False,
    sanitizer=Sanitizer(target="mujoco", tests=("test_metaworld.py",)),
    first_make={"Meta-World/reach-v3": "mujoco"},
    pictures=("Meta-World/pick-place-v3", "Meta-World/door-open-v3", "Meta-World/hammer-v3", "Meta-World/soccer-v3",
              "Meta-World/assembly-v3"))
