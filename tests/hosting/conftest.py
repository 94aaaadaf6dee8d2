"""Fixtures for all tests of environments of Python: workers get their classes, and nothing stays behind."""
import gc

import cloudpickle
import pytest
from hosting.hosts import fork_servers, threads_of_pools


@pytest.fixture(autouse=True, scope="module")
def pickled_by_value(request):
    """Workers cannot import the module of a test."""
    cloudpickle.register_pickle_by_value(request.module)
    yield
    cloudpickle.unregister_pickle_by_value(request.module)


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    yield
    if fork_servers() or threads_of_pools():
        gc.collect()
    # nor a zombie
    assert not fork_servers() and not threads_of_pools()
