"""How tests, benchmarks, fuzzers and the gallery use DeepMind Control Suite."""
from cases import Cases, Sanitizer

CASES = Cases(
    quick_ids=("dm_control/cartpole-swingup-v0", "dm_control/reacher-easy-v0"),
    short_episode={"time_limit": 0.2},
    draws_quickly=False,
    sanitizer=Sanitizer(target="mujoco", tests=("test_dm_control.py",)),
    measured=(("WalkerWalk-v1", 64),),
    first_make={"dm_control/walker-walk-v0": "mujoco", "dm_control/quadruped-walk-v0": "dm_control.suite.quadruped"},
    pictures=("dm_control/walker-walk-v0", "dm_control/cheetah-run-v0", "dm_control/dog-walk-v0",
              "dm_control/fish-swim-v0", "dm_control/quadruped-walk-v0"))
