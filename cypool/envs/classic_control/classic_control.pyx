# distutils: extra_compile_args = -O2
"""DOC."""
include "fast.pxi"
include "acrobot.pxi"
include "cartpole.pxi"
include "mountain_car.pxi"
include "pendulum.pxi"
