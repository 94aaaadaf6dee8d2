# distutils: extra_compile_args = -O2
"""The classic control environments."""
include "acrobot.pxi"
include "cartpole.pxi"
include "mountain_car.pxi"
include "pendulum.pxi"
