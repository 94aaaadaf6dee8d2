"""LunarLander, BipedalWalker and CarRacing, over the Box2D that Gymnasium's have; one module for each."""
