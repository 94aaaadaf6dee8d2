"""The ids of OpenSpiel's games."""
from __future__ import annotations

from cypool.envs.family import Family
from cypool.registration.registry import register_pattern

FAMILY = Family(
    name="openspiel",
    title="OpenSpiel",
    description="OpenSpiel's turn-based and simultaneous-move games, run by its own library",
    licence="OpenSpiel: Apache-2.0",
    package="pyspiel",
    extra="openspiel",
    reference="OpenSpiel 2.0.2",
    fidelity="everything",
    smoke_ids=("openspiel/tic_tac_toe-v0", "openspiel/goofspiel-v0"),
    terminal="cypool.envs.openspiel.terminal:play")


def options_of(*, short_name: str) -> dict[str, str]:
    """Returns the options that an id encodes."""
    return {"short_name": short_name}


register_pattern(
    r"openspiel/(?P<short_name>\w{1,99})-v0", options_of, entry_point="cypool.envs.openspiel.openspiel:OpenSpiel",
    reference="cypool.envs.openspiel.reference:make_reference",
    # one or two of each kind; the page lists all
    examples=[f"openspiel/{name}-v0" for name in (
        "tic_tac_toe", "connect_four", "chess", "go", "backgammon", "2048", "kuhn_poker", "leduc_poker", "liars_dice",
        "hanabi", "hearts", "goofspiel")])
