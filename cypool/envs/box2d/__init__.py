"""LunarLander, BipedalWalker and CarRacing, on the same Box2D as Gymnasium's."""
