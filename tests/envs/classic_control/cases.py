"""How tests, benchmarks, fuzzers and the gallery use Classic control."""
from cases import Cases

CASES = Cases(
    in_engine_tests=True,
    is_small=True,
    fuzz_variants=(("CartPole-v1", {"precision": "fast"}), ("Acrobot-v1", {"precision": "fast"})),
    draws_quickly=False,
    engine_tests=("test_precision.py",),
    measured=(("CartPole-v1", 1), ("CartPole-v1", 64), ("CartPole-v1", 1024)),
    first_make={"CartPole-v1": ""},
    pictures=("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "Pendulum-v1", "MountainCarContinuous-v0"))
