"""Files of the installed metaworld, which is not imported: that takes most of a second."""
from __future__ import annotations

import importlib.util
import os

from cypool.envs.metaworld import INSTALL


def model_path(file: str) -> str:
    """Returns where the model of a task is.

    Args:
        file: Its name, as `Task` has it.

    Raises:
        ImportError: The package has no such file.
    """
    spec = importlib.util.find_spec("metaworld")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = os.path.join(folder, "assets", "sawyer_xyz", f"sawyer_{file}.xml")
        if os.path.isfile(found):
            return found
    raise ImportError(f"Meta-World's tasks: metaworld has no sawyer_{file}.xml: {INSTALL}", name="metaworld")
