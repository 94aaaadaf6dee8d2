# distutils: extra_compile_args = -O3
"""Gymnasium's Box2D environments."""
include "bipedal_walker.pxi"
include "car_racing.pxi"
include "lunar_lander.pxi"
