"""Simulations of one MuJoCo model with live arrays, and environments whose rows Python computes for all at once."""
