"""How tests, benchmarks, fuzzers and the gallery use level-based foraging."""
from cases import Cases, Sanitizer

CASES = Cases(
    is_small=True,
    contract_options={"*": {"fresh_world": True}},
    quick_ids=("Foraging-8x8-2p-3f-v3", "Foraging-15x15-4p-5f-v3", "Foraging-grid-2s-8x8-3p-3f-coop-v3"),
    fuzz_variants=(("Foraging-8x8-2p-3f-v3", {"field_size": (3, 3), "players": 9}),
                   ("Foraging-8x8-2p-3f-v3", {"grid_observation": True, "sight": 0, "truncate": True})),
    sanitizer=Sanitizer(target="lbf", tests=("test_lbf.py",)),
    pictures=("Foraging-8x8-2p-3f-v3", "Foraging-10x10-3p-3f-v3", "Foraging-15x15-3p-5f-v3", "Foraging-15x15-4p-5f-v3",
              "Foraging-2s-8x8-2p-2f-coop-v3"))
