# distutils: extra_compile_args = -O2
# distutils: language = c++
"""The rows of a replay buffer, and samples of them."""
include "rows.pxi"
include "ring.pxi"
include "gather.pxi"
