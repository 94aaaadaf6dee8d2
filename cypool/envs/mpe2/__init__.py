"""MPE2: particle worlds with several agents that cooperate, compete and communicate."""
