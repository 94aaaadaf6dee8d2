"""Runs code in forks of a process that has imported cypool, NumPy and Gymnasium: a new one takes ten times as long."""
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

import pytest
from waiting import LIMIT

# the code that a fork returns with runs as that of `python -c` does
_SERVER = "import forking; exec(compile(forking.serve({fd}), '<string>', 'exec'))"


class ForkServer:
    """Starts the process, and asks it to run code.

    Args:
        path: The `PYTHONPATH` of the code.
    """

    def __init__(self, path):
        here = os.path.dirname(os.path.abspath(__file__))
        self._path = path
        self._channel, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        self._channel.settimeout(LIMIT)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-c", _SERVER.format(fd=theirs.fileno())],
                # not in the checkout, whose ./cypool may not be compiled
                cwd=tempfile.gettempdir(),
                pass_fds=[theirs.fileno()], env=dict(os.environ, PYTHONPATH=os.pathsep.join([here, path])))

    def run(self, code, cwd, check):
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            request = json.dumps([code, str(cwd), dict(os.environ, PYTHONPATH=self._path)]).encode()
            socket.send_fds(self._channel, [request], [out.fileno(), errors.fileno()])
            pid, status, sent = int(self._channel.recv(64)), None, 0
            # the first signal has it say where its threads are
            for number in (signal.SIGABRT, signal.SIGKILL, signal.SIGKILL):
                try:
                    status = int(self._channel.recv(64))
                    break
                except TimeoutError:
                    os.kill(pid, number)
                    sent += 1
            said = [file.seek(0) or file.read() for file in (out, errors)]
        if sent:
            pytest.fail(f"not done within {LIMIT} s\n{''.join(said)}")
        done = subprocess.CompletedProcess(code, os.waitstatus_to_exitcode(status), *said)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def close(self):
        self._channel.close()
        self._process.wait(LIMIT)


def serve(fd):
    """Forks for each request; returns the code in the fork."""
    import gymnasium  # noqa: F401

    import cypool

    cypool.make("CartPole-v1").close()
    # the end of a fork would look at all of it
    gc.freeze()
    # as if this module were not there
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    channel = socket.socket(fileno=fd)
    while True:
        request, fds, *_ = socket.recv_fds(channel, 1 << 20, 2)
        if not request:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            channel.close()
            for own, target in zip(fds, (1, 2), strict=True):
                os.dup2(own, target)
                os.close(own)
            code, cwd, env = json.loads(request)
            os.environ.clear()
            os.environ.update(env)
            os.chdir(cwd)
            return code
        for each in fds:
            os.close(each)
        channel.send(b"%d" % pid)
        channel.send(b"%d" % os.waitpid(pid, 0)[1])
