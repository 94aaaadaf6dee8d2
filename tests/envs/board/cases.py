"""How tests, benchmarks, fuzzers and the gallery use board games."""
from cases import Cases, Sanitizer

# any action may come
LOSES = {"illegal": "lose"}

CASES = Cases(
    in_engine_tests=True,
    is_small=True,
    contract_options={"*": LOSES},
    fuzz_variants=(("board/go-v0", {"board_size": 5}), ("board/connect_four-v0", {**LOSES, "view": "players"}),
                   ("board/othello-v0", {**LOSES, "view": "single"})),
    sanitizer=Sanitizer(target="board", tests=("test_board.py",)),
    pictures=("board/connect_four-v0", "board/othello-v0", "board/go-v0", "board/breakthrough-v0", "board/2048-v0"))
