"""Finds OpenSpiel's library in its installed package, which is not imported."""
from __future__ import annotations

import os

from cypool.util.packages import require_version

# what the module was compared with, and whose layout it knows
VERSION = "2.0.2"
INSTALL = 'pip install "cypool[openspiel]"'
NEEDING = "OpenSpiel's games need"


def find() -> str:
    """Returns the path of the library, which is OpenSpiel's Python module; raises an ImportError."""
    from importlib.metadata import distribution

    require_version(NEEDING, "open_spiel", (VERSION,), INSTALL, "pyspiel")
    path = str(distribution("open_spiel").locate_file("pyspiel.so"))
    if not os.path.isfile(path):
        raise ImportError(f"{NEEDING} open_spiel {VERSION}, whose library {path} is missing: {INSTALL}", name="pyspiel")
    return path
