"""How tests, benchmarks, fuzzers and the gallery use NetHack."""
from cases import Cases

CASES = Cases(
    is_small=True,
    # NLE needs milliseconds for a reset: the tests of the family are in one file
    quick_ids=(),
    short_episode={"abort_steps": 9},
    fuzz_ids=("NetHack*",),
    fuzz_variants=(("NetHackChallenge-v0", {"no_progress_timeout": 3}),
                   ("NetHack-v0", {"wizard": True, "actions": range(256), "observation_keys": ["misc", "internal"]})),
    pictures=("NetHack-v0", "NetHackScore-v0", "NetHackStaircase-v0", "NetHackOracle-v0", "NetHackChallenge-v0"))
