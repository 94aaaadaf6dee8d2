"""How tests, benchmarks, fuzzers and the gallery use Crafter."""
from cases import Cases, Sanitizer

CASES = Cases(
    is_small=True,
    quick_ids=("CrafterReward-v1",),
    # crafter takes a second to make a world of 64 x 64 cells
    short_episode={"length": 9, "area": (14, 14)},
    fuzz_variants=(("CrafterReward-v1", {"area": (16, 16), "length": 40, "obs_type": "symbolic"}),
                   ("CrafterNoReward-v1", {"area": (9, 30), "view": (5, 7), "size": 45, "semantic": False})),
    sanitizer=Sanitizer(target="crafter", tests=("test_crafter.py",)),
    first_make={"CrafterReward-v1": "PIL"},
    pictures=("CrafterReward-v1",) * 5)
