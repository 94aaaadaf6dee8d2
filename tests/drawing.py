"""Where the packages of MuJoCo's robots draw in tests, and whether cypool can draw here at all."""
import functools
import gc

import pytest

import cypool


@pytest.fixture
def egl(monkeypatch, tmp_path_factory):
    """Has the reference draw with EGL: by default it would ask for a display. It writes a log to the current folder."""
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
    # a renderer that is freed while another one draws has that one draw black from there on
    gc.collect()
    # the next collection has less to look at
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


@functools.cache
def missing(id):
    """Returns the message of `make` where there is no OpenGL, "" where there is."""
    try:
        cypool.make(id, from_pixels=True, width=8, height=8).close()
    except ImportError as error:
        return str(error)
    return ""
