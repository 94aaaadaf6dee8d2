"""The ids of MPE2: mpe2's, with a hyphen before the version, as Gymnasium writes ids."""
from __future__ import annotations

from cypool.envs.family import Family
from cypool.registration.registry import register

# by id, without the family
CLASSES = {"simple-v3": "Simple", "simple_spread-v3": "SimpleSpread", "simple_tag-v3": "SimpleTag",
            "simple_adversary-v3": "SimpleAdversary", "simple_push-v3": "SimplePush",
            "simple_reference-v3": "SimpleReference", "simple_speaker_listener-v4": "SimpleSpeakerListener",
            "simple_crypto-v3": "SimpleCrypto", "simple_world_comm-v3": "SimpleWorldComm",
            "simple_formation-v1": "SimpleFormation", "simple_line-v1": "SimpleLine",
            "collect_treasure-v1": "CollectTreasure"}

FAMILY = Family(
    name="mpe2",
    title="MPE2",
    description="particle worlds with several agents that cooperate, compete and communicate",
    extra="mpe2",
    reference="mpe2 1.1.1",
    reference_package="mpe2",
    fidelity="everything",
    smoke_ids=("mpe2/simple_spread-v3",))

for _id, _class in CLASSES.items():
    register(f"mpe2/{_id}", f"cypool.envs.mpe2.mpe2:{_class}", reference="cypool.envs.mpe2.reference:make_reference")
