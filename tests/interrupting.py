"""Signals at a chosen moment, whose handler raises; and an environment whose rows have their kind."""
import contextlib
import functools
import gc
import itertools
import signal
import sys
from pathlib import Path

import cypool
from cypool.tools.compile import load

COUNTING = Path(__file__).with_name("counting.pyx")


class Interrupt(KeyboardInterrupt):
    """Ctrl-C."""


@functools.cache
def counting_id():
    """Returns the id of the environment, compiled once."""
    return cypool.compile(COUNTING)


@functools.cache
def _tracer():
    return load(COUNTING).Tracer


def tracer(moment):
    """Returns a trace function: a SIGALRM comes while instruction `moment` of Python is executed, counted from 1."""
    return _tracer()(signal.SIGALRM, moment)


@contextlib.contextmanager
def alarms(handler, seconds, interval=0):
    """Has a function handle SIGALRM, which comes after some seconds, and again with an interval, if it is not 0."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, interval)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def moments(call, every=1, raises=Interrupt):
    """Interrupts a call at each moment where a signal may raise, once after the other.

    Args:
        call: Is called until nothing interrupts it any more.
        every: Of how many instructions one is a moment.
        raises: The class of the exception.

    Yields:
        The exception of each moment, and None in the end. It has its traceback, as that of an interactive session.
    """
    armed = False

    def handle(*_):
        nonlocal armed
        if armed:
            armed = False
            raise raises

    before, collects = signal.signal(signal.SIGALRM, handle), gc.isenabled()
    # python drops what is raised in a callback of the collector, such as jax's
    gc.disable()
    try:
        for moment in itertools.count(1, every):
            trace, outer, caught = tracer(moment), sys.gettrace(), None
            try:
                armed = True
                sys.settrace(trace)
                call()
                # here it comes, too, if the last instruction of the call was the one
                sys.settrace(outer)
            except raises as error:
                caught = error
            finally:
                armed = False
                sys.settrace(outer)
            if caught is not None or trace.count < moment:
                yield caught
            if trace.count < moment:
                return
    finally:
        signal.signal(signal.SIGALRM, before)
        if collects:
            gc.enable()
