"""The `cypool` command: one module for each verb, `app` that puts them together, `console` that they print with."""
from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns its exit status.

    Args:
        arguments: The words behind `cypool`; by default those that the process was called with.

    Returns:
        0; 1 if a check found something wrong; 2 if the command cannot do what it was asked; 130 after Ctrl-C.
    """
    try:
        # it takes a while to import, in which a user may press Ctrl-C
        try:
            from cypool.tools.cli.app import app
        except ImportError as error:
            print(f"cypool: {error}; for all the command needs: pip install typer rich", file=sys.stderr)
            return 2
        app(None if arguments is None else list(arguments), prog_name="cypool")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return 130
    return 0
