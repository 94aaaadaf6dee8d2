"""The base class of environments whose transitions are a table."""
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from cypool.env cimport Env


# Environments that are a table of the successors of each state and action.

cdef struct Outcome:
    double prob
    double reward
    int32_t state
    bint terminated


cdef class Table:
    cdef int num_states
    cdef int num_actions
    cdef int width                       # outcomes of each state and action; some may be repeats that never come
    cdef vector[Outcome] outcomes        # [state][action][outcome]
    cdef vector[double] sums             # likewise: the outcome's probability and those before it
    cdef vector[int32_t] starts          # states that may begin an episode ...
    cdef vector[double] start_sums       # ... and their probabilities, each with those before it


cdef class Tabular(Env):
    cdef Table table                     # shared by all environments with the same options
    cdef int state
    cdef int last_action                 # -1 before the first
    cdef double prob                     # of the last outcome, in the table

    cdef object draw(self, object entry_point, dict options, dict more)
