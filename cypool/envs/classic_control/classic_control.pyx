# distutils: extra_compile_args = -O2
"""The environments of classic control."""
include "acrobot.pxi"
include "cartpole.pxi"
include "mountain_car.pxi"
include "pendulum.pxi"
