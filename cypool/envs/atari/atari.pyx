"""Atari environments."""
include "image.pxi"
include "frames.pxi"
include "game.pxi"
