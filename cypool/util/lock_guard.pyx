"""A lock that is held for a block, and released even if an interrupt cuts the block short."""
cimport cython


@cython.final
@cython.no_gc
cdef class LockGuard:
    """Holds a lock for a block: `with LockGuard(lock):`.

    Since Python 3.14, the handler of a signal may raise between `lock.__enter__` and the block. `with lock:` then never
    releases it; the guard does when it is freed.

    Args:
        lock: A lock of `threading`, or anything with `acquire` and `release`.
    """
    cdef object lock
    cdef bint is_held

    def __init__(self, lock):
        self.lock = lock

    # no handler of a signal runs within these, as they are compiled
    def __enter__(self):
        self.lock.acquire()
        self.is_held = True

    def __exit__(self, kind, error, traceback):
        self.is_held = False
        self.lock.release()

    def __dealloc__(self):
        if self.is_held:
            self.lock.release()
