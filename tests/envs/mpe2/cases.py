"""How tests, benchmarks, fuzzers and the gallery use MPE2."""
from cases import Cases, Sanitizer

CASES = Cases(
    is_small=True,
    short_episode={"max_cycles": 9},
    fuzz_variants=(("mpe2/simple_spread-v3", {"N": 4, "num_agent_neighbors": 2, "num_landmark_neighbors": 9}),
                   ("mpe2/simple_world_comm-v3", {"continuous_actions": True, "num_forests": 4})),
    sanitizer=Sanitizer(target="mpe2", tests=("test_mpe2.py",)),
    pictures=("mpe2/simple_spread-v3", "mpe2/simple_tag-v3", "mpe2/simple_world_comm-v3", "mpe2/simple_line-v1",
              "mpe2/collect_treasure-v1"))
