# distutils: extra_compile_args = -O3
"""DOC."""
include "bipedal_walker.pxi"
include "car_racing.pxi"
include "lunar_lander.pxi"
