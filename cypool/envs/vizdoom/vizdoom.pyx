"""DOC."""
include "doom.pxi"
include "envpool_doom.pxi"
include "gymnasium_doom.pxi"
