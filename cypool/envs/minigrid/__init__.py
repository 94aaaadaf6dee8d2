"""MiniGrid and BabyAI: grid worlds with missions; levels.py and babyai.py define the levels."""
