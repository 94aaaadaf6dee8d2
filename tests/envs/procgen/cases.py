"""How tests, benchmarks, fuzzers and the gallery use Procgen."""
from cases import Cases

CASES = Cases(
    is_small=True,
    # each process loads 1,300 pictures, in two seconds: the tests of the family are in one file
    quick_ids=(),
    fuzz_ids=("procgen-*",),
    fuzz_variants=(("procgen-coinrun-v0", {"use_sequential_levels": True, "paint_vel_info": True}),
                   ("MazeMemory-v0", {"num_levels": 3})),
    measured=(("CoinrunEasy-v0", 64),),
    pictures=("procgen-coinrun-v0", "procgen-starpilot-v0", "procgen-bigfish-v0", "procgen-ninja-v0",
              "procgen-plunder-v0"))
