"""How tests, benchmarks, fuzzers and the gallery use Classic control."""
from cases import Cases

CASES = Cases(
    in_engine_tests=True,
    is_small=True,
    fuzz_variants=(("CartPole-v1", {"sutton_barto_reward": True}), ("Pendulum-v1", {"version": 0})),
    draws_quickly=False,
    measured=(("CartPole-v1", 1), ("CartPole-v1", 64), ("CartPole-v1", 1024)),
    first_make={"CartPole-v1": ""},
    pictures=("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "Pendulum-v1", "MountainCarContinuous-v0"),
    observations={
        "CartPole": ("position of the cart (m)", "velocity of the cart (m/s)", "angle of the pole (rad)",
                     "angular velocity of the pole (rad/s)"),
        "MountainCar": ("position", "velocity"),
        "MountainCarContinuous": ("position", "velocity"),
        "Pendulum": ("cosine of the angle, which is 0 upright", "sine of the angle", "angular velocity (rad/s)"),
        "Acrobot": ("cosine of the first angle, which is 0 hanging down", "sine of the first angle",
                    "cosine of the second angle, relative to the first", "sine of the second angle",
                    "angular velocity of the first link (rad/s)", "angular velocity of the second link (rad/s)"),
    })
