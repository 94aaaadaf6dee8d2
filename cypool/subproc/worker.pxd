"""The worker's side: makes environments and runs the tasks in their mailboxes."""
from cypool.subproc.shared_memory cimport EnvMailbox, SharedMemory, SlotLayout, WorkerControl


cdef class WorkerLoop:
    """Makes environments, and runs the tasks that come into their mailboxes."""
    cdef SharedMemory memory
    cdef WorkerControl* control      # of the worker; borrowed from the memory
    cdef int first                   # env id
    cdef int num
    cdef list factories
    cdef list envs
    cdef list is_open                # of each environment whether it is to be closed
    cdef list unwrapped              # of all rows in this process the environments without wrappers; shared with others
    cdef list answers                # in the pool's process, of all rows: (info, final info), an exception or None
    cdef list is_loaded              # of each environment whether it came from a state
    cdef list is_broken              # whether to make it again: it has raised since, or Ctrl-C came in its code
    cdef SlotLayout layout
    cdef list actions                # arrays over the memory
    cdef list parts                  # of the observation: keys, None for one that has no parts
    cdef list text_bytes             # of each part; 0: it is not a text
    cdef int turn

    cdef bint run_next(self) except -1
    cdef int run_one(self, int k) except -1
    cdef int run_task(self, int k, EnvMailbox* mailbox) except -1
    cdef int next_posted(self) noexcept nogil
    cdef int _step(self, int k, EnvMailbox* mailbox) except -1
    cdef int _write_observation(self, int k, int which, object observation) except -1
    cdef int _write_infos(self, int k, EnvMailbox* mailbox, object info, object final_info) except -1
    cdef int _write(self, int k, EnvMailbox* mailbox, str name, object payload) except -1
