"""Doom, as in ViZDoom's wrapper or as in EnvPool."""
include "doom.pxi"
include "envpool_doom.pxi"
include "gymnasium_doom.pxi"
