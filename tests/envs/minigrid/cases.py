"""How tests, benchmarks, fuzzers and the gallery use MiniGrid."""
from cases import Cases, Sanitizer

CASES = Cases(
    in_engine_tests=True,
    is_small=True,
    quick_ids=("MiniGrid-DoorKey-8x8-v0", "MiniGrid-Dynamic-Obstacles-5x5-v0", "BabyAI-GoTo-v0"),
    fuzz_variants=(("MiniGrid-Dynamic-Obstacles-5x5-v0", {"bonus": "position", "obs_type": "full"}),
                   ("BabyAI-PutNextS5N2Carrying-v0", {"bonus": "action", "obs_type": "rgb"})),
    sanitizer=Sanitizer(target="minigrid", tests=("test_minigrid.py",), without="there_is_nothing_to_leave_out"),
    engine_tests=("test_minigrid.py::test_bad_options", "test_minigrid.py::test_edited_states",
                  "test_minigrid.py::test_states_of_other_lengths", "test_minigrid.py::test_objects_are_in_one_place",
                  "test_minigrid.py::test_no_level_after_a_reset_that_failed",
                  "test_minigrid.py::test_a_state_for_a_pool_that_was_never_reset"),
    measured=(("MiniGrid-DoorKey-8x8-v0", 1024),),
    first_make={"MiniGrid-DoorKey-8x8-v0": ""},
    pictures=("MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N2-v0", "MiniGrid-ObstructedMaze-Full-v1",
              "BabyAI-GoTo-v0", "BabyAI-BossLevel-v0"))
