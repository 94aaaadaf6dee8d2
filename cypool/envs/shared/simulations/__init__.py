"""Simulations of a MuJoCo model with live arrays, and environments whose rows Python computes all at once."""
