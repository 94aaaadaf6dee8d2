"""How tests, benchmarks, fuzzers and the gallery use Craftax."""
from cases import Cases, Sanitizer

CASES = Cases(
    is_small=True,
    # pixels and pictures need the package
    quick_ids=("Craftax-Classic-Symbolic-v1", "Craftax-Symbolic-v1"),
    fuzz_ids=("*Symbolic*",), draws_quickly=False,
    # JAX compiles the reference for a minute
    slow_ids=("Craftax-*",), short_episode={"max_timesteps": 9},
    fuzz_variants=(("Craftax-Classic-Symbolic-v1", {"max_timesteps": 30, "max_zombies": 8}),
                   ("Craftax-Symbolic-v1", {"god_mode": True, "auto_reset": True, "max_timesteps": 40})),
    sanitizer=Sanitizer(target="craftax", tests=("test_craftax.py",)))
