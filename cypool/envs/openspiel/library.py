"""OpenSpiel's library: found where its package is installed, which is not imported."""
from __future__ import annotations

import os
import sys
from typing import Any

from cypool.util.packages import need

# what the module was compared with, and whose layout it knows
VERSION = "2.0.2"
INSTALL = 'pip install "cypool[openspiel]"'
NEEDING = "OpenSpiel's games need"


def module() -> Any:
    """Returns the compiled module, with the library open.

    Raises:
        ImportError: OpenSpiel is not installed, is of another version, or has another library.
    """
    # it describes its environments with a module that needs this one
    from cypool.envs.openspiel import openspiel

    if not openspiel.is_open():
        path = find()
        try:
            # its own module sets a handler that suits as well
            openspiel.open_library(path, "pyspiel" not in sys.modules)
        except RuntimeError as error:
            raise ImportError(f"{NEEDING} the library of open_spiel {VERSION}, found another one in {path}: {error}: "
                              f"{INSTALL}", name="pyspiel") from error
    return openspiel


def find() -> str:
    """Returns the path of the library, which is OpenSpiel's Python module; raises an ImportError."""
    from importlib.metadata import distribution

    need(NEEDING, "open_spiel", (VERSION,), INSTALL, "pyspiel")
    path = str(distribution("open_spiel").locate_file("pyspiel.so"))
    if not os.path.isfile(path):
        raise ImportError(f"{NEEDING} the library of open_spiel {VERSION}, found no {path}: {INSTALL}", name="pyspiel")
    return path
