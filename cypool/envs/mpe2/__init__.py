"""MPE2: particles with several agents that cooperate, compete and talk."""
