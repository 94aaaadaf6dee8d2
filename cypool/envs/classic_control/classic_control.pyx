# distutils: extra_compile_args = -O2
"""The environments of classic control; `fast.pxi` steps many of them at once."""
include "fast.pxi"
include "acrobot.pxi"
include "cartpole.pxi"
include "mountain_car.pxi"
include "pendulum.pxi"
