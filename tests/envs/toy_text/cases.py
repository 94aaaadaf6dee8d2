"""How tests, benchmarks, fuzzers and the gallery use Toy text."""
from cases import Cases

CASES = Cases(
    in_engine_tests=True,
    is_small=True,
    lowest_tests=("",),
    measured=(("FrozenLake-v1", 1024),),
    first_make={"FrozenLake-v1": ""},
    pictures=("FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1"))
