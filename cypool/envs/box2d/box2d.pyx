# distutils: extra_compile_args = -O3
"""Gymnasium's Box2D environments."""
cdef extern from "cypool/envs/box2d/engine.h" namespace "cypool::box2d" nogil:
    cdef struct b2Vec2 "b2Vec2":
        float x, y
    cdef struct Point:
        double x, y
    void initialize() except +

initialize()

include "bipedal_walker.pxi"
include "car_racing.pxi"
include "lunar_lander.pxi"
