"""The output of commands at a terminal."""
import os
import pty
import subprocess
import sys


def said_at_terminal(arguments, cwd, stdout=None, **environ):
    """Returns the output of Python, whose stderr is a terminal, and stdout too if nothing else is."""
    leader, follower = pty.openpty()
    with subprocess.Popen([sys.executable, *arguments], stdout=stdout or follower, stderr=follower, cwd=cwd,
                          env={**os.environ, "TERM": "xterm", **environ}):
        os.close(follower)
        said = b""
        try:
            while part := os.read(leader, 4096):
                said += part
        except OSError:  # the other end is closed
            pass
    os.close(leader)
    return said
