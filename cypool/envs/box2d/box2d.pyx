"""DOC."""
include "bipedal_walker.pxi"
include "car_racing.pxi"
include "lunar_lander.pxi"
