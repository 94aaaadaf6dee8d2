"""How tests, benchmarks, fuzzers and the gallery use games of OpenSpiel."""
from cases import Cases, Sanitizer

import cypool

# any action may come
LOSES = {"illegal": "lose"}



def playable():
    """Yields the ids of all games that need no parameters."""
    from cypool.envs.openspiel.openspiel import games

    for id in (f"openspiel/{name}-v0" for name in sorted(games())):
        try:
            cypool.make_spec(id)
        except ValueError:
            continue
        yield id


CASES = Cases(
    # the reference has one view
    quick_ids=("openspiel/tic_tac_toe-v0", "openspiel/kuhn_poker-v0", "openspiel/2048-v0"),
    contract_options={"*": LOSES},
    is_small=True,
    # bridge starts programs, which hang with a sanitizer's runtime; how bad parameters end a process depends on where
    # its memory lies
    sanitizer=Sanitizer(target="openspiel", tests=("test_openspiel.py",), without="bridge or does_not_survive"),
    unlisted_ids=playable,
    fuzz_variants=(("openspiel/go-v0", {"board_size": 5}), ("openspiel/leduc_poker-v0", {**LOSES, "view": "players"}),
                   ("openspiel/backgammon-v0", {**LOSES, "view": "single", "chance_stream": "random_state"})))
