"""Environments that contain another environment."""
include "wrapper.pxi"
include "guarded.pxi"
include "hooked.pxi"
