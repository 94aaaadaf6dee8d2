"""How tests, benchmarks, fuzzers and the gallery use Classic control."""
from cases import Cases

CASES = Cases(
    in_engine_tests=True,
    is_small=True,
    fuzz_variants=(("CartPole-v1", {"sutton_barto_reward": True}), ("Pendulum-v1", {"version": 0})),
    draws_quickly=False,
    measured=(("CartPole-v1", 1), ("CartPole-v1", 64), ("CartPole-v1", 1024)),
    first_make={"CartPole-v1": ""},
    pictures=("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "Pendulum-v1", "MountainCarContinuous-v0"))
