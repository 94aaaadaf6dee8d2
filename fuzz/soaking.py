"""The harness of process soak tests: a watchdog for calls, and the processes that a process has started."""
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path

LIMIT = 240.0  # seconds that a call may take: two starts of a process that hang, on a slow machine


class Problem(Exception):
    """Something that must not happen."""


class Watch:
    """Ends the process if a call takes too long; raises KeyboardInterrupt for SIGINT only during calls."""

    def __init__(self):
        self.began = None
        self.interruptible = False
        self.longest = 0.0
        self.counts = Counter()
        signal.signal(signal.SIGINT, self.interrupt)
        threading.Thread(target=self.look, daemon=True).start()

    def interrupt(self, *_):
        if self.interruptible:
            self.counts["Ctrl-C"] += 1
            raise KeyboardInterrupt

    def look(self):
        while True:
            time.sleep(1)
            began = self.began
            if began is not None and time.monotonic() - began > LIMIT:
                for frame in sys._current_frames().values():
                    traceback.print_stack(frame)
                subprocess.run(["ps", "-o", "pid,ppid,stat,wchan:20,cmd", "--forest", "-s", str(os.getsid(0))])
                print(f"PROBLEM a call took longer than {LIMIT} s", flush=True)
                os._exit(1)

    def call(self, function, *args, **kwargs):
        self.began = time.monotonic()
        try:
            try:
                self.interruptible = True
                return function(*args, **kwargs)
            finally:
                self.interruptible = False
        finally:
            self.longest = max(self.longest, time.monotonic() - self.began)
            self.began = None
            self.counts[f"calls of {function.__name__}"] += 1


def children(pid):
    """The processes that a process has started, with their command lines."""
    found = {}
    with suppress(OSError):
        # the threads of a pool start engines
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                with suppress(OSError):
                    found[int(child)] = Path(f"/proc/{child}/cmdline").read_bytes()
    return found
