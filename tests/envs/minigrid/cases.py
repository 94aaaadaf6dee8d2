"""How tests, benchmarks, fuzzers and the gallery use MiniGrid."""
from cases import Cases, Sanitizer

CASES = Cases(
    in_engine_tests=True,
    is_small=True,
    quick_ids=("MiniGrid-DoorKey-8x8-v0", "MiniGrid-Dynamic-Obstacles-5x5-v0", "BabyAI-GoTo-v0"),
    fuzz_variants=(("MiniGrid-Dynamic-Obstacles-5x5-v0", {"bonus": "position", "obs_type": "full"}),
                   ("BabyAI-PutNextS5N2Carrying-v0", {"bonus": "action", "obs_type": "rgb"})),
    sanitizer=Sanitizer(target="minigrid", tests=("test_minigrid.py",), without="there_is_nothing_to_leave_out"),
    measured=(("MiniGrid-DoorKey-8x8-v0", 1024),),
    first_make={"MiniGrid-DoorKey-8x8-v0": ""},
    pictures=("MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N2-v0", "MiniGrid-ObstructedMaze-Full-v1",
              "BabyAI-GoTo-v0", "BabyAI-BossLevel-v0"))
