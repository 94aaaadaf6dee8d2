"""The engines of Doom: as processes, their memory, and games that continue while they are harmed."""
import time
from contextlib import suppress
from pathlib import Path

import psutil
from waiting import LIMIT

import cypool

SHARED = Path("/dev/shm")


def engines():
    """Our engines, as processes."""
    found = []
    for process in psutil.Process().children():
        # it may end at this moment
        with suppress(psutil.NoSuchProcess):
            if process.name() == "vizdoom":
                found.append(process)
    return found


def memory_of(engine_dir):
    """The shared memory of engines that were started from a folder."""
    try:
        names = Path(engine_dir, "names").read_text().split()
    except FileNotFoundError:
        # another process of these tests has removed the folder of an ended one, with the memory
        return []
    ids = {name.removeprefix("ViZDoomMQDoom") for name in names}
    return [path.name for path in SHARED.iterdir() if any(path.name.endswith(id) for id in ids)]


def steps_while_harmed(env, choose, harmed, num_harmed, num_restarts, seconds=LIMIT):
    """Yields the actions, the batches and the causes of failures of steps, until enough engines were harmed.

    Args:
        choose: Returns actions.
        harmed: A list to which another thread adds each engine that it harms.
        num_harmed, num_restarts: How many are enough, and how many are said to have started again at least.
        seconds: How long it may take.
    """
    restarts, end = 0, time.monotonic() + seconds
    # on a slow machine it is mostly those which start that are harmed, and these are not reported
    while len(harmed) < num_harmed or restarts < num_restarts:
        assert time.monotonic() < end, f"{len(harmed)} harmed and {restarts} restarts within {seconds} s"
        actions, causes = choose(), {}
        try:
            batch = env.step(actions)
        except cypool.EnvError as error:
            # harmed three times in a row while it started
            batch, causes = error.batch, error.causes
        restarts += batch[4]["engine_restarted"].sum()
        yield actions, batch, causes
