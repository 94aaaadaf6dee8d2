"""How tests, benchmarks, fuzzers and the gallery use Meta-World."""
from cases import Cases, Sanitizer

OBJECTS = [(f"{which} object: {name}", count) for which in ("first", "second")
           for name, count in (("x, y and z (m)", 3), ("orientation, a quaternion", 4))]

CASES = Cases(
    quick_ids=("Meta-World/reach-v3",),
    fuzz_ids=("Meta-World/reach-v3", "Meta-World/door-lock-v3"),
    draws_quickly=False,
    sanitizer=Sanitizer(target="mujoco", tests=("test_metaworld.py",)),
    first_make={"Meta-World/reach-v3": "mujoco"},
    pictures=("Meta-World/pick-place-v3", "Meta-World/door-open-v3", "Meta-World/hammer-v3", "Meta-World/soccer-v3",
              "Meta-World/assembly-v3"),
    observations={
        "Sawyer": (("hand: x, y and z (m)", 3), "opening of the gripper, 0 to 1", *OBJECTS,
                   ("these 18 numbers, one step earlier", 18), ("goal: x, y and z; zeros while it is hidden", 3)),
    })
