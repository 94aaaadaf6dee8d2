"""Interrupts calls, and compares the state after them with plain Python models: a tool, not a test.

    python fuzz/fuzz_faults.py signals --cases 10000      signals whose handlers raise, at any moment of a call
    python fuzz/fuzz_faults.py failures --cases 10000     hooks, policies and factories that raise at any step
    python fuzz/fuzz_faults.py signals --case 123         repeats one case, and prints its calls

Half of the signals arrive at a Python instruction, which is reproducible; the others after some microseconds.

A case has a layer around a pool (`fault_layers.py`, `fault_libraries.py`), and makes a dozen calls to it. After an
interrupted call, the next ones work or raise a documented error, and rows are correct. In the end, the layer works as
if nothing had happened, and `close` leaves no threads. Anything else is a finding, printed with the command that
reproduces it. Cases run in processes with a time limit.
"""
import collections
import faulthandler
import gc
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from importlib.util import find_spec
from pathlib import Path

from fault_layers import Wrong
from fault_libraries import LAYERS
from fuzzing import parser
from interrupting import Interrupt, counting_id, tracer

import cypool

LIMIT = 240  # seconds for a case: a library may compile at its first use
CHUNK = 200  # cases of a process


class Alarm(Exception):
    """The exception that a handler raises to end a call that takes too long."""


class Leave(BaseException):
    """Another exception that is not an error."""


class Faults:
    """Interrupts calls.

    Args:
        r: Random numbers.
        log: Called with the text of the next call.

    Attributes:
        count: How many calls were interrupted.
        hooks: The probability that a hook raises.
    """

    def __init__(self, r, log):
        self.r, self.log, self.count = r, log, 0
        # with the frames of their tracebacks, as a debugger has them
        self.raised = collections.deque(maxlen=4)

    def new(self, kinds):
        error = self.r.choice(kinds)("on purpose")
        self.raised.append(error)
        self.count += 1
        return error

    def is_own(self, error):
        """Returns whether an exception is one of these, or was raised because of one."""
        seen = []
        while error is not None and not any(error is each for each in seen):
            if any(error is own for own in self.raised):
                return True
            seen.append(error)
            error = error.__cause__ or error.__context__
        return False

    def forget(self):
        self.raised.clear()

    def pass_by(self):
        """Called by the user's code."""


class Signals(Faults):
    """A signal arrives at a random moment."""

    hooks = 0.25
    counts = collections.defaultdict(lambda: 300)
    times = collections.defaultdict(lambda: 1e-4)
    armed = False

    def __init__(self, r, log):
        super().__init__(r, log)
        signal.signal(signal.SIGALRM, self.handle)

    def handle(self, *_):
        if self.armed:
            self.armed = False
            raise self.new([Alarm, Interrupt, Interrupt, Leave])

    def around(self, name, call):
        return self.r.choice([lambda name, call: call(), self.at_any_time, self.at_any_instruction])(name, call)

    def at_any_instruction(self, name, call):
        """Makes the signal arrive while a Python instruction is executed, which is reproducible."""
        before = self.counts[name]
        trace = tracer(self.r.randrange(1, before + before // 10 + 2))
        try:
            self.armed = True
            sys.settrace(trace)
            result = call()
        finally:
            sys.settrace(None)
            self.armed = False
        self.counts[name] = max(before, trace.count)
        return result

    def at_any_time(self, name, call):
        """Makes the signal arrive after some microseconds, even outside of Python code."""
        most = self.times[name]
        delay = self.r.uniform(1e-6, 1.1 * most)
        began = time.perf_counter()
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, delay)
            result = call()
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.times[name] = 0.9 * most + 0.1 * (time.perf_counter() - began)
        return result


class Failures(Faults):
    """The user's code raises."""

    hooks = 0.7
    left = None

    def around(self, name, call):
        self.left = self.r.choice([0, 0, 0, 1, 1, 2, 3, 6, 10]) if self.r.random() < 0.7 else None
        try:
            return call()
        finally:
            self.left = None

    def pass_by(self):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise self.new([Alarm, Interrupt, Leave, ValueError, TypeError, RuntimeError, OSError, StopIteration,
                                MemoryError, GeneratorExit, SystemExit, TimeoutError, KeyError, cypool.ClosedError,
                                RecursionError, AttributeError])


# a library's pool of threads, made at its first large sum, is no leak of a case
os.environ.setdefault("OMP_NUM_THREADS", "1")

MODES = {"signals": Signals, "failures": Failures}


def num_threads():
    return len(os.listdir("/proc/self/task"))


def run_case(mode, layers, seed, log):
    """Runs a case in this process; returns how many calls it interrupted. Raises its finding."""
    r = random.Random(seed)
    layer = r.choices(layers, [layer.weight for layer in layers])[0]
    before, others = num_threads(), []

    def note(unraisable):
        # of a signal in a finalizer Python says that it is ignored
        if not faults.is_own(unraisable.exc_value):
            others.append(unraisable.exc_value)

    faults = MODES[mode](r, log)
    sys.unraisablehook = note
    log(f"{layer.__name__}")
    layer(r, faults).run()
    faults.forget()
    gc.collect()
    if others:
        raise Wrong(f"ignored: {others!r}") from others[0]
    end = time.monotonic() + LIMIT / 4
    while num_threads() > before and time.monotonic() < end:
        os.sched_yield()
    if num_threads() > before:
        raise Wrong(f"{num_threads() - before} threads are left")
    return faults.count


def run_cases(mode, layers, seeds, say):
    """Runs cases in this process, which may end in the meantime; reports findings."""
    warnings.simplefilter("ignore")
    gc.collect()
    gc.freeze()
    for seed in seeds:
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        say(f"@{seed}")
        log = collections.deque(maxlen=12)
        try:
            say(f"+{run_case(mode, layers, seed, log.append)}")
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            say(f"!{type(error).__name__}: {error!s:.400} ({Path(where.filename).name}:{where.lineno}), after "
                f"{' | '.join(log)[-700:]}".replace("\n", " "))
            gc.collect()
    faulthandler.cancel_dump_traceback_later()


def fork_cases(mode, layers, seeds, report):
    """Runs cases in a forked process.

    Returns:
        How many were started, how many had findings, and how many calls were interrupted.
    """
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as errors:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(reader)
                os.dup2(errors.fileno(), 2)
                faulthandler.enable()
                run_cases(mode, layers, seeds, lambda text: os.write(writer, f"{text}\n".encode(errors="replace")))
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        begun = bad = broken = 0
        with os.fdopen(reader, errors="replace") as lines:
            for line in lines:
                if line[0] == "@":
                    seed, begun = int(line[1:]), begun + 1
                elif line[0] == "+":
                    broken += int(line[1:])
                elif line[0] == "!":
                    report(seed, line[1:-1])
                    bad += 1
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status:
            errors.seek(0)
            said = errors.read().decode(errors="replace")[-3000:]
            report(seed, f"ended with {status}: {said}")
            bad += 1
    return begun, bad, broken


def chosen(names=None):
    """Returns the layers that can be made here, or those with these names."""
    wanted = [layer for layer in LAYERS if not names or layer.__name__ in names]
    missing = [layer for layer in wanted if layer.needs and find_spec(layer.needs) is None]
    for layer in missing:
        print(f"without {layer.__name__}: {layer.needs} is not installed", file=sys.stderr)
    return [layer for layer in wanted if layer not in missing]


def main():
    made = parser(__doc__)
    made.add_argument("mode", choices=MODES)
    made.add_argument("--layers", nargs="+", choices=[layer.__name__ for layer in LAYERS])
    given = made.parse_args()
    layers, again = chosen(given.layers), f"python fuzz/fuzz_faults.py {given.mode}"
    if given.layers:
        again += f" --layers {' '.join(given.layers)}"
    counting_id()
    for layer in layers:
        if layer.needs:
            __import__(layer.needs)
    if given.case is not None:
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        run_case(given.mode, layers, given.case, lambda text: print(f"- {text}", flush=True))
        print("nothing found")
        return False
    began, first, end = time.monotonic(), given.first, given.first + given.cases
    bad = broken = 0
    while first < end:
        begun, found, more = fork_cases(given.mode, layers, range(first, min(first + CHUNK, end)), lambda seed, text: (
            print(f"{again} --case {seed}: {text}", flush=True)))
        first, bad, broken = first + max(begun, 1), bad + found, broken + more
    print(f"{given.cases} cases from seed {given.first} in {time.monotonic() - began:.0f} s, {broken} calls "
          f"interrupted, {bad} with findings")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
