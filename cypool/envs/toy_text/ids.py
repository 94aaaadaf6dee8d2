"""The ids of toy text."""
from cypool.envs.family import Family
from cypool.registration.registry import register

FAMILY = Family(
    name="toy_text",
    title="Toy text",
    description="FrozenLake, CliffWalking, Taxi, Blackjack, Catch and NChain",
    extra="render",
    reference="Gymnasium 1.4; EnvPool 1.2.5 for Catch and NChain",
    fidelity="everything; for Catch and NChain, only the rules",
    smoke_ids=("FrozenLake-v1", "Blackjack-v1"),
    peers={"*": ("loop", "sync-vector", "async-vector", "numpy-vector", "envpool")},
    keys={"Catch": {"left": 0, "": 1, "right": 2},
          "FrozenLake": {"left": 0, "down": 1, "right": 2, "up": 3},
          "CliffWalking": {"up": 0, "right": 1, "down": 2, "left": 3},
          "Taxi": {"down": 0, "up": 1, "right": 2, "left": 3, "space": 4, "return": 5},
          "Blackjack": {"return": 0, "space": 1}},
    turns=("FrozenLake", "CliffWalking", "Taxi", "Blackjack", "NChain"))

_TOY = "cypool.envs.toy_text.toy_text"
register("FrozenLake-v1", f"{_TOY}:FrozenLake", max_episode_steps=100, reference="gymnasium:FrozenLake-v1",
         map_name="4x4")
register("FrozenLake8x8-v1", f"{_TOY}:FrozenLake", max_episode_steps=200,
         reference="gymnasium:FrozenLake8x8-v1", map_name="8x8")
register("CliffWalking-v1", f"{_TOY}:CliffWalking", reference="gymnasium:CliffWalking-v1")
register("CliffWalkingSlippery-v1", f"{_TOY}:CliffWalking",
         reference="gymnasium:CliffWalkingSlippery-v1", is_slippery=True)
register("Taxi-v4", f"{_TOY}:Taxi", max_episode_steps=200, reference="gymnasium:Taxi-v4")
register("Blackjack-v1", f"{_TOY}:Blackjack", reference="gymnasium:Blackjack-v1", sab=True, natural=False)
register("Catch-v0", f"{_TOY}:Catch")
register("NChain-v0", f"{_TOY}:NChain", max_episode_steps=1000)
# EnvPool's names for the same
for _id in ("CliffWalking-v0", "tabular/CliffWalking-v0"):
    register(_id, f"{_TOY}:CliffWalking")
register("Taxi-v3", f"{_TOY}:Taxi", max_episode_steps=200)
register("tabular/Blackjack-v0", f"{_TOY}:Blackjack", sab=True, natural=False)
