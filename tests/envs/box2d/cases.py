"""How tests, benchmarks, fuzzers and the gallery use Box2D."""
from cases import Cases, Sanitizer

CASES = Cases(
    slow_ids=("CarRacing-*",),
    # else the world of an episode remembers those before
    contract_options={"BipedalWalker": {"fresh_world": True}, "CarRacing": {"fresh_world": True}},
    fuzz_variants=(("LunarLander-v3", {"continuous": True, "enable_wind": True}),
                   ("CarRacing-v3", {"domain_randomize": True})),
    # box2d for Python is separate C++
    sanitizer=Sanitizer(target="box2d", tests=(".",), without="parity or pictures_are_gymnasiums or not_needed"),
    packaged_tests=("",),
    measured=(("LunarLander-v3", 64),),
    first_make={"LunarLander-v3": "", "CarRacing-v3": "pygame"},
    pictures=("LunarLander-v3", "LunarLanderContinuous-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3",
              "CarRacing-v3"))
