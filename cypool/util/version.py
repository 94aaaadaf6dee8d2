"""The version, which pyproject.toml specifies."""
from __future__ import annotations

import functools


@functools.cache
def version() -> str:
    """Returns cypool's version: that of the checkout it is imported from, else that of the installed package."""
    import re
    from importlib import metadata
    from pathlib import Path

    # a checkout may be on the path while another version is installed
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.is_file():
        text = project.read_text(encoding="utf-8")
        if re.search(r'(?m)^name = "cypool"$', text) and (found := re.search(r'(?m)^version = "(.+)"$', text)):
            return found[1]
    return metadata.version("cypool")
