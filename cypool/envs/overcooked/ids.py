"""The ids of Overcooked: overcooked_ai's own, and one for each of its layouts."""
from __future__ import annotations

from cypool.envs.family import Family
from cypool.registration.registry import register, register_pattern

FAMILY = Family(
    name="overcooked",
    title="Overcooked",
    description="cooks who prepare and serve soups together",
    package="overcooked_ai_py",
    command='pip install --no-deps "overcooked-ai==1.1.0"',  # it asks for Gym and Jupyter
    reference="overcooked-ai 1.1.0",
    fidelity="everything except rendering",
    smoke_ids=("Overcooked-v0",),
    keys={"*": {"up": 0, "down": 1, "right": 2, "left": 3, "": 4, "space": 5}})

_CLASS, _REFERENCE = "cypool.envs.overcooked.overcooked:Overcooked", "cypool.envs.overcooked.reference:make_reference"


def options_of(*, layout: str) -> dict[str, str]:
    """Returns the options that an id encodes."""
    return {"layout": layout}


register("Overcooked-v0", _CLASS, reference=_REFERENCE)
# those that papers report on
register_pattern(
    r"Overcooked-(?P<layout>\w{1,99})-v0", options_of, entry_point=_CLASS, reference=_REFERENCE,
    examples=[f"Overcooked-{layout}-v0" for layout in (
        "cramped_room", "asymmetric_advantages", "coordination_ring", "forced_coordination", "counter_circuit",
        "counter_circuit_o_1order")])
