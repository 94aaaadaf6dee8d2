"""How tests, benchmarks, fuzzers and the gallery use Overcooked."""
from cases import Cases, Sanitizer

CASES = Cases(
    is_small=True,
    fuzz_variants=(("Overcooked-v0", {"obs_dtype": "uint8", "shaped_reward": 0.5, "horizon": 9}),
                   ("Overcooked-v0", {"layout": "XPOX\nX1TX\nXDSX", "recipe_values": [3, 0], "cook_time": 1,
                                      "start_all_orders": [["onion"], ["tomato"]]})),
    sanitizer=Sanitizer(target="overcooked", tests=("test_overcooked.py",)),
    pictures=("Overcooked-cramped_room-v0", "Overcooked-asymmetric_advantages-v0", "Overcooked-coordination_ring-v0",
              "Overcooked-forced_coordination-v0", "Overcooked-counter_circuit-v0"))
