"""The file descriptors that a fork server inherits from the pool's process."""
from __future__ import annotations

import fcntl
import os

# pickled factories, the socket for commands, the shared memory
SETUP, CHANNEL, MEMORY = 3, 4, 5


def move_fd_up(fd: int) -> int:
    """Moves a file descriptor above those that have a meaning in a fork server; returns the new one."""
    if fd > MEMORY:
        return fd
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, MEMORY + 1)
    finally:
        os.close(fd)
