"""The MuJoCo that this build is for; nothing of it is loaded."""

cdef extern from "mujoco/mujoco.h":
    enum:
        mjVERSION_HEADER


cdef str _text(int number):
    """Returns 3.3.7 of 337, and 3.11.0 of 3011000."""
    base = 10 if number < 1000 else 1000
    return f"{number // base**2}.{number // base % base}.{number % base}"


VERSION = _text(mjVERSION_HEADER)
