"""The harness of fuzzers: their command line, and a process for each case."""
import argparse
import atexit
import os
import select
import signal
import tempfile
import time
from contextlib import suppress


def parser(doc):
    """Returns a parser for the fuzzers' common arguments, with the first line of a docstring as its help."""
    made = argparse.ArgumentParser(description=doc.partition("\n")[0])
    made.add_argument("--cases", type=int, default=1000)
    made.add_argument("--first", type=int, default=0, help="seed of the first case")
    made.add_argument("--case", type=int, help="run one case in this process, and print its calls")
    return made


def fuzz(given, again, run, limit):
    """Runs the cases of a command line, and prints findings and a summary; returns the exit status.

    Args:
        given: The arguments of `parser`.
        again: The command that repeats a case, without `--case`.
        run: Runs a case: takes its seed, and a function to which it passes the text of each call; returns findings.
        limit: Seconds for a case.
    """
    if given.case is not None:
        findings = run(given.case, lambda text: print(f"- {text!a:.300}", flush=True))
        print(*(f"! {finding}" for finding in findings) if findings else ["nothing found"], sep="\n")
        return bool(findings)
    began, bad, calls = time.monotonic(), 0, 0
    for seed in range(given.first, given.first + given.cases):
        findings, count = fork_case(seed, run, limit)
        bad += bool(findings)
        calls += count
        for finding in findings:
            print(f"{again} --case {seed}: {finding}", flush=True)
    print(f"{given.cases} cases from seed {given.first}, {calls} calls, in {time.monotonic() - began:.0f} s: "
          f"{bad} with findings")
    return bad > 0


def fork_case(seed, run, limit):
    """Runs a case in a forked process; returns its findings or how the process ended, and the number of calls."""
    with tempfile.TemporaryFile("ab+", buffering=0) as file:
        pid = os.fork()
        if pid == 0:
            _child(seed, run, file)
        process = os.pidfd_open(pid)
        is_late = not select.select([process], [], [], limit)[0]
        size = file.seek(0, os.SEEK_END)
        hangs = is_late and not select.select([process], [], [], 20)[0] and file.seek(0, os.SEEK_END) == size
        os.close(process)
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)  # and its children
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        file.seek(0)
        lines = file.read().decode(errors="replace").splitlines()
    findings = [line[2:] for line in lines if line.startswith("! ")]
    calls = [line[2:] for line in lines if line.startswith("- ")]
    last = calls[-1] if calls else "nothing"
    if hangs:
        findings.append(f"hangs in: {last}")
    elif is_late:
        findings.append(f"takes longer than {limit} s, in: {last}")
    elif status < 0:
        findings.append(f"ended by {signal.Signals(-status).name} in: {last}")
    elif ". done" not in lines and not findings:
        findings.append(f"ended with {status} in: {last}")
    return findings, len(calls)


def _child(seed, run, file):
    def say(sign, text):
        file.write(f"{sign} {text:.900}\n".encode(errors="replace"))

    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    status = 1
    try:
        for finding in run(seed, lambda text: say("-", text)):
            say("!", finding)
        say(".", "done")
        status = 0
    except BaseException as error:
        say("!", f"the case itself: {type(error).__name__}: {error!s:.300}")
    finally:
        # as at exit, which may hang, too
        atexit._run_exitfuncs()
        os._exit(status)
