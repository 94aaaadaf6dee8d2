"""How tests, benchmarks, fuzzers and the gallery use Atari."""
from cases import Cases, Sanitizer

CASES = Cases(
    quick_ids=("ALE/Pong-v5", "BreakoutNoFrameskip-v4"),
    slow_ids=("BreakoutNoFrameskip-v4",),
    fuzz_variants=(("Pong-v5", {"preset": "gymnasium", "frame_skip": (2, 4)}),
                   ("MontezumaRevenge-v5", {"episodic_life": True}),
                   ("Breakout-v5", {"obs_type": "ram", "continuous": True})),
    # ale_py's own C++ and ours; how much memory there is without a sanitizer
    sanitizer=Sanitizer(
        target="atari", tests=("test_image.py", "test_atari.py", "test_emulator.py", "test_tia.py"),
        without="ale_py_in_the_same or memory_of_an_environment"),
    widely_packaged=True,
    packaged_tests=("test_atari.py", "test_atari_presets.py", "test_emulator.py"),
    measured=(("Pong-v5", 1), ("Pong-v5", 64), ("Breakout-v5", 64)),
    first_make={"Pong-v5": "ale_py"},
    pictures=("Pong-v5", "Breakout-v5", "MsPacman-v5", "SpaceInvaders-v5", "Seaquest-v5"))
