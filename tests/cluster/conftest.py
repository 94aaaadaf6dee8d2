"""One Ray for all tests, on this machine; and clusters that are closed for sure."""
import os
import signal
import sys
from pathlib import Path

import pytest

from cypool.cluster import ClusterEnv

# on a slow machine Ray gives up on its own processes, and where memory is short it kills workers
for name, value in (("gcs_server_port_wait_time_s", "300"), ("worker_register_timeout_seconds", "600"),
                    ("memory_monitor_refresh_ms", "0"), ("prestart_worker_first_driver", "0"),
                    # how long it lets a process that it kills end by itself
                    ("kill_worker_timeout_milliseconds", "100")):
    os.environ.setdefault(f"RAY_{name}", value)

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)


@pytest.fixture(scope="session")
def leave_checkout(tmp_path_factory):
    """Workers look for modules where the learner began, which may be a clone of cypool that is not compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cluster"))
        yield


@pytest.fixture
def limit():
    """No test waits for ever, whatever it waits for."""

    def end(*_):
        raise TimeoutError("the test took longer than 600 s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(600)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def ray_here(plugin_path):
    import ray

    # workers have to find the policies and environments next to this file, and the plug-in
    os.environ["PYTHONPATH"] = os.pathsep.join([HERE, str(plugin_path), os.environ.get("PYTHONPATH", "")])
    # this many may ask for one; they are small
    ray.init(address="local", num_cpus=16, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
             object_store_memory=2**28)
    yield ray
    ray.shutdown()


@pytest.fixture
def cluster(ray_here):
    """Makes a `ClusterEnv` of 2 workers with 3 environments each; closes all in the end."""
    made = []

    def make(id="CartPole-v1", num_workers=2, envs_per_worker=3, **kwargs):
        made.append(ClusterEnv(id, num_workers, envs_per_worker, **{"seed": 7, "cpus_per_worker": 1, **kwargs}))
        return made[-1]

    yield make
    for env in made:
        env.close()
    assert ray_here.is_initialized()
