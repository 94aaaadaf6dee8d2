"""How tests, benchmarks, fuzzers and the gallery use highway-env."""
from cases import Cases, Sanitizer

CASES = Cases(
    quick_ids=("highway-fast-v0", "parking-v0", "intersection-multi-agent-v0", "racetrack-oval-v0", "merge-v0"),
    slow_ids=("highway-fast-v0", "intersection-multi-agent-v0", "racetrack-oval-v0", "merge-v0"),
    is_small=True,
    short_episode={"max_episode_steps": 9},
    draws_quickly=False,
    fuzz_variants=(("highway-fast-v0", {"observation": {"type": "LidarObservation"}}),
                   ("racetrack-v0", {"other_vehicles": 8})),
    sanitizer=Sanitizer(target="highway", tests=("test_highway.py",)))
