"""How tests, benchmarks, fuzzers and the gallery use the robotic warehouse."""
from cases import Cases, Sanitizer

CASES = Cases(
    is_small=True,
    quick_ids=("rware-tiny-2ag-v2", "rware-imgdict-Nd-small-4ag-easy-v2", "rware-2s-1x3-4h-6ag-3req-twostage-v2"),
    fuzz_variants=(("rware-tiny-4ag-v2", {"msg_bits": 2, "truncate": True, "max_inactivity_steps": 5}),
                   ("rware-tiny-2ag-v2", {"layout": "gx.\n.x.", "request_queue_size": 1, "sensor_range": 3})),
    sanitizer=Sanitizer(target="rware", tests=("test_rware.py",)),
    pictures=("rware-tiny-2ag-v2", "rware-tiny-4ag-v2", "rware-small-4ag-v2", "rware-medium-4ag-v2",
              "rware-large-8ag-v2"))
