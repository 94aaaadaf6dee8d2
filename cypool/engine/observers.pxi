# The observers of a pool, in the order in which they were attached.
cimport cython

import threading
import weakref

from cypool.engine.observer import Observer

# of those who attach observers at the same time, where Python has no GIL
_attaching = threading.Lock()


@cython.final
cdef class Observers:
    """Notifies observers of a pool's calls; references to them are weak.

    A change is unreported from its beginning until all observers know of it. If it is still unreported when the next
    one begins, because an observer raised or the change was interrupted, observers are notified of a gap.
    """
    cdef tuple refs                  # None: there are none
    cdef bint is_asked               # whether one wants to be asked before something is sent
    cdef bint unreported

    def attach(self, observer):
        """Notifies an observer from now on, after those already attached, as long as something else holds it.

        Args:
            observer: A `cypool.engine.observer.Observer`.
        """
        with _attaching:
            if any([ref() is observer for ref in self.refs or ()]):
                # its owner was interrupted before it could note that
                return
            self.is_asked = self.is_asked or type(observer)._before is not Observer._before
            self.refs = tuple([*(self.refs or ()), weakref.ref(observer)])

    def detach(self, observer):
        """Stops notifying an observer."""
        with _attaching:
            left = [ref for ref in self.refs or () if ref() is not None and ref() is not observer]
            self.refs = tuple(left) if left else None

    def includes(self, cls):
        """Returns whether an object of a class is attached."""
        return any([isinstance(observer, cls) for observer in self.living()])

    cdef list living(self):
        return [observer for observer in [ref() for ref in self.refs or ()] if observer is not None]

    cdef int ask(self, options) except -1:
        """Asks observers whether something may be sent; an observer that refuses raises an exception."""
        if self.is_asked:
            for observer in self.living():
                observer._before(options)
        return 0

    cdef int report_gap(self) except -1:
        """Notifies observers of a gap if there was an unreported change."""
        if self.unreported:
            for observer in self.living():
                observer._on_gap()
            self.unreported = False
        return 0

    cdef int begin(self) except -1:
        """Records that a change begins."""
        self.report_gap()
        self.unreported = self.refs is not None
        return 0

    cdef int report_sent(self, actions, env_ids) except -1:
        for ref in self.refs or ():
            observer = ref()
            if observer is not None:
                observer._on_sent(actions, env_ids)
        self.unreported = False
        return 0

    cdef int report_reset(self, env_ids, others, seeds, options) except -1:
        for observer in self.living():
            observer._on_reset(env_ids, others, seeds, options)
        self.unreported = False
        return 0

    cdef object report_received(self, result, stepped, starts):
        """Returns a batch as the last observer leaves it."""
        for ref in self.refs or ():
            observer = ref()
            if observer is not None:
                result = observer._on_received(result, stepped, starts)
        self.unreported = False
        return result

    cdef int report_rollout(self, actions, num_steps, observe_every, result, bint repeatable) except -1:
        """Notifies observers of a rollout.

        Args:
            repeatable: Whether the same actions would lead to the same steps. If not, it is a gap.
        """
        for observer in self.living():
            if repeatable:
                observer._on_rollout(actions, num_steps, observe_every, result)
            else:
                observer._on_gap()
        self.unreported = False
        return 0
