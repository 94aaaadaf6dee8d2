"""The ids of the toy texts."""
from cypool.registry import register

_TOY = "cypool.envs.toy_text"
register("FrozenLake-v1", f"{_TOY}.frozen_lake:FrozenLake", max_episode_steps=100, reference="gymnasium:FrozenLake-v1",
         map_name="4x4")
register("FrozenLake8x8-v1", f"{_TOY}.frozen_lake:FrozenLake", max_episode_steps=200,
         reference="gymnasium:FrozenLake8x8-v1", map_name="8x8")
register("CliffWalking-v1", f"{_TOY}.cliff_walking:CliffWalking", reference="gymnasium:CliffWalking-v1")
register("CliffWalkingSlippery-v1", f"{_TOY}.cliff_walking:CliffWalking",
         reference="gymnasium:CliffWalkingSlippery-v1", is_slippery=True)
register("Taxi-v4", f"{_TOY}.taxi:Taxi", max_episode_steps=200, reference="gymnasium:Taxi-v4")
register("Blackjack-v1", f"{_TOY}.blackjack:Blackjack", reference="gymnasium:Blackjack-v1", sab=True, natural=False)
register("Catch-v0", f"{_TOY}.catch:Catch")
register("NChain-v0", f"{_TOY}.nchain:NChain", max_episode_steps=1000)
# EnvPool's names for the same
for _id in ("CliffWalking-v0", "tabular/CliffWalking-v0"):
    register(_id, f"{_TOY}.cliff_walking:CliffWalking")
register("Taxi-v3", f"{_TOY}.taxi:Taxi", max_episode_steps=200)
register("tabular/Blackjack-v0", f"{_TOY}.blackjack:Blackjack", sab=True, natural=False)
