"""Doom, single and multi-player, through ViZDoom's library and engine."""
