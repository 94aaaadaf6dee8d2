"""Workers that are threads of the pool's process."""
from cypool.subproc.shared_memory cimport SharedMemory


cdef class WorkerThreads:
    """The workers of a pool that are threads of its process."""
    cdef SharedMemory memory
    cdef list answers
    cdef list threads                # of threading.Thread, one for each worker that was started
    cdef object starting             # a lock: held while threads are started
    cdef object starter              # the thread that starts them; later, another one may have its number
