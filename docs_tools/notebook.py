"""Turns notebooks into pages of the site: text, code and the outputs stored in the file."""
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def as_markdown(file: Path) -> str:
    """Returns the cells of a notebook, and their outputs, in Markdown."""
    parts = []
    for cell in json.loads(file.read_text())["cells"]:
        source = "".join(cell["source"])
        parts += [source] if cell["cell_type"] == "markdown" else [f"```python\n{source}\n```", *outputs_of(cell)]
    return "\n\n".join(parts) + "\n"


def outputs_of(cell: dict[str, Any]) -> Iterator[str]:
    """Yields what a cell has printed, and its pictures."""
    for output in cell["outputs"]:
        if "text" in output:
            yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        else:
            picture = "".join(output["data"]["image/png"].split())
            yield f"![Output of the code above](data:image/png;base64,{picture})"
