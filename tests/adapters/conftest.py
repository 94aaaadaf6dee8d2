"""Settings for the tests that need training libraries."""
import pytest
from markers import with_large_packages


def pytest_configure(config):
    if not with_large_packages(config):
        return
    import torch

    # networks of this size gain nothing by a second thread, and results do not depend on the machine
    torch.set_num_threads(1)
    # the libraries themselves use functions that they have deprecated
    config.addinivalue_line("filterwarnings", "ignore::DeprecationWarning")
    config.addinivalue_line("filterwarnings", "ignore::FutureWarning")


@pytest.fixture
def local_ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield
    ray.shutdown()
