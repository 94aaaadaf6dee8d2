"""The ids of level-based foraging: those that lbforaging registers, and all others that follow its names."""
from __future__ import annotations

from typing import Any

from cypool.envs.family import Family
from cypool.registration.registry import register_pattern

FAMILY = Family(
    name="lbf",
    title="Level-based foraging",
    description="players who collect food together on a grid",
    extra="lbf",
    reference="lbforaging 2.0.0",
    reference_package="lbforaging",
    fidelity="everything except rendering",
    smoke_ids=("Foraging-8x8-2p-3f-v3",),
    keys={"*": {"up": 1, "down": 2, "left": 3, "right": 4, "space": 5}})

PATTERN = (r"Foraging(?P<grid>-grid)?(-(?P<sight>\d{1,6})s)?-(?P<rows>\d{1,6})x(?P<cols>\d{1,6})-(?P<players>\d{1,6})p"
           r"-(?P<foods>\d{1,6})f(?P<coop>-coop)?(?P<single>-ind)?(?P<penalty>-pen)?-v3")


def options_of(*, grid: str | None, sight: str | None, rows: str, cols: str, players: str, foods: str,
               coop: str | None, single: str | None, penalty: str | None) -> dict[str, Any]:
    """Returns the options that an id encodes."""
    return {"players": int(players), "field_size": (int(rows), int(cols)), "max_num_food": int(foods),
            "sight": int(sight or max(int(rows), int(cols))), "force_coop": coop is not None,
            "grid_observation": grid is not None, "max_food_level": None if single is None else 1,
            "penalty": 0.0 if penalty is None else 0.1}


register_pattern(
    PATTERN, options_of, entry_point="cypool.envs.lbf.lbf:Foraging",
    reference="cypool.envs.lbf.reference:make_reference",
    # those that EPyMARL's papers report on
    examples=("Foraging-8x8-2p-3f-v3", "Foraging-2s-8x8-2p-2f-coop-v3", "Foraging-10x10-3p-3f-v3",
              "Foraging-2s-10x10-3p-3f-v3", "Foraging-15x15-3p-5f-v3", "Foraging-15x15-4p-3f-v3",
              "Foraging-15x15-4p-5f-v3", "Foraging-grid-2s-8x8-3p-3f-coop-v3"))
