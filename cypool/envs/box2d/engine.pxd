# what the modules of this family share of engine.h and saved_world.h
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string


cdef extern from "cypool/envs/box2d/saved_world.h" namespace "cypool::box2d" nogil:
    cdef struct b2Vec2 "b2Vec2":
        float x, y
    cdef struct Point:
        double x, y
    void initialize() except +
    # puts a new environment with this state in the place of env, or throws std::invalid_argument, a ValueError
    void load_world[T](unique_ptr[T]& env, T* fresh, const string& bytes) except +
    void copy_world[T](unique_ptr[T]& env, T* other) except +
