"""Lists the objects whose reference counts threads share during a call, on a Python without the GIL.

    .ci/free_threaded --python benchmarks/shared_references.py            # one CartPole
    .ci/free_threaded --python benchmarks/shared_references.py gymnasium  # Gymnasium's CartPole; or others of CALLS

Such counts change by atomic instructions, for which CPUs wait if they change the same one. Needs gdb, which stops
whenever a thread drops a reference to an object that another thread made (`_Py_DecRefShared`). Immortal objects and the
thread's own are left out. Prints for each object how often this happens in a call, and where.
"""
import os
import subprocess
import sys
import threading
from collections import Counter

NUM_CALLS = 20


def native():
    import cypool

    env = cypool.make("CartPole-v1", num_envs=1, num_threads=0)
    return pool(env)


def hosted():
    from hosting import PlainCartPole

    import cypool

    return pool(cypool.from_factories([PlainCartPole], num_workers=0))


def pool(env):
    import numpy as np

    env.reset(seed=0)
    actions = np.zeros(1, np.int64)
    return lambda: env.step(actions)


def gymnasium():
    import gymnasium

    env = gymnasium.make("CartPole-v1").unwrapped
    env.reset(seed=0)
    return lambda: env.step(1)


def array():
    import numpy as np

    return lambda: np.empty(4)


CALLS = {call.__name__: call for call in (native, hosted, gymnasium, array)}


def run(name):
    """Makes the calls in a thread; gdb counts between two calls of `os.getppid`."""
    call = CALLS[name]()
    for _ in range(3):
        call()
    os.getppid()
    for _ in range(NUM_CALLS):
        call()
    os.getppid()
    # no thread's end is counted
    os._exit(0)


def count():
    """Runs inside gdb."""
    import gdb

    hits = Counter()

    class Dropped(gdb.Breakpoint):
        def stop(self):
            frame, callers = gdb.newest_frame().older(), []
            while frame is not None and len(callers) < 3:
                if frame.name() not in ("Py_DECREF", "Py_XDECREF"):
                    callers.append(frame.name() or "?")
                frame = frame.older()
            hits[int(gdb.parse_and_eval("$rdi")), " < ".join(callers)] += 1
            return False

    for command in ("set pagination off", "set confirm off", "set breakpoint pending on", "break os_getppid", "run"):
        gdb.execute(command, to_string=True)
    dropped = Dropped("_Py_DecRefShared")
    gdb.execute("continue", to_string=True)
    dropped.enabled = False
    for (address, callers), times in hits.most_common():
        if times >= NUM_CALLS // 2:
            try:
                object = gdb.parse_and_eval(f"PyObject_Repr((PyObject*){address})")
                text = gdb.parse_and_eval(f"PyUnicode_AsUTF8((PyObject*){int(object)})").string()
            except gdb.error:
                # a keys object of dicts, say
                text = hex(address)
            print(f"FOUND {times / NUM_CALLS:5.1f}  {text[:60]:60}  {callers}", flush=True)
    gdb.execute("kill")


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "native"
    if name == "--run":
        # imports modules: their objects are of this thread
        CALLS[sys.argv[2]]()()
        thread = threading.Thread(target=run, args=(sys.argv[2],))
        thread.start()
        thread.join()
        return
    done = subprocess.run(["gdb", "-q", "-batch", "-x", __file__, "--args", sys.executable, __file__, "--run", name],
                          capture_output=True, text=True, env={**os.environ, "PYTHON_GIL": "0"}, timeout=600)
    lines = [line.removeprefix("FOUND ") for line in done.stdout.splitlines() if line.startswith("FOUND")]
    print(f"references dropped in a call of {name!r}, of objects that threads share: {len(lines)}", *lines, sep="\n")


if "gdb" in sys.modules:
    count()
elif __name__ == "__main__":
    main()
