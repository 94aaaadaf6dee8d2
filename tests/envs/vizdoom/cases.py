"""How tests, benchmarks, fuzzers and the gallery use Doom."""
from cases import Cases

CASES = Cases(
    quick_ids=(),
    # small screens, as all of them are compared
    contract_options={
        "GymnasiumDoom": {"config": {"screen_resolution": "RES_160X120"}, "frame_skip": 4},
        "EnvPoolDoom": {"screen_resolution": "RES_160X120"}},
    saves=False,
    fuzz_ids=("Basic-v1",),
    lowest_tests=("test_vizdoom.py",),
    widely_packaged=True,
    packaged_tests=("test_vizdoom.py",),
    measured=(("HealthGathering-v1", 8),),
    first_make={"VizdoomBasic-v1": "vizdoom"},
    pictures=("VizdoomBasic-v1", "VizdoomDeadlyCorridor-v1", "VizdoomDefendCenter-v1", "VizdoomHealthGathering-v1",
              "VizdoomTakeCover-v1"))
