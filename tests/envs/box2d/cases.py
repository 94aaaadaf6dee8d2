"""How tests, benchmarks, fuzzers and the gallery use Box2D."""
from cases import Cases, Sanitizer

LEG = ("hip angle (rad)", "hip speed", "knee angle (rad)", "knee speed", "1 while it touches the ground")

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
              "CarRacing-v3"),
    observations={
        "LunarLander": ("x relative to the pad", "y relative to the pad", "velocity along x", "velocity along y",
                        "angle (rad)", "angular velocity", "1 while the left leg touches the ground",
                        "1 while the right leg touches the ground"),
        "BipedalWalker": ("angle of the hull (rad)", "angular velocity of the hull", "velocity forwards",
                          "velocity upwards", *(f"leg {leg}: {name}" for leg in (1, 2) for name in LEG),
                          ("distance that each lidar ray reaches, 0 to 1", 10)),
    })
