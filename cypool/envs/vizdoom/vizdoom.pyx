"""Doom, as ViZDoom's wrapper and as EnvPool have it."""
include "doom.pxi"
include "envpool_doom.pxi"
include "gymnasium_doom.pxi"
