"""Where tests of Doom run, and what engines must not leave behind."""
import psutil
import pytest
from envs.vizdoom.engines import memory_of

from cypool.envs.vizdoom import assets


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Runs each test in a separate folder: vizdoom's engines leave files there, ours must not."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def leaves_nothing(empty_folder):
    """Checks in the end that no engine, memory or file of the test's is left."""
    yield
    # other tests' servers of processes stay
    assert not [each for each in psutil.Process().children() if "python" not in each.name()]
    assert not memory_of(assets.engine_dir()[0])
    assert not list(empty_folder.iterdir())
