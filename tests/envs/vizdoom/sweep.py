"""Compares Doom with ViZDoom's wrapper, exactly: its scenarios and the levels of Freedoom in three autoreset modes."""
from envs.vizdoom.play import players
from sweeping import ids_of, played_runs

from cypool.registration.registry import entry_of

DEFAULTS = {"num_steps": 60}
SMALL = {"frame_skip": 4, "config": {"screen_resolution": "RES_160X120"}}


def runs(arguments):
    # the levels of Doom are not free
    cases = [(id, SMALL) for id in ids_of("vizdoom") if entry_of(id).reference and not id.startswith("VizdoomDoom")]
    return played_runs(cases, players, arguments)
