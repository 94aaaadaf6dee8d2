"""The `cypool` command: one module for each verb, `app` that puts them together, `console` that they print with."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any


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
        return _run(app, arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return 130


def _run(app: Any, arguments: Sequence[str] | None) -> int:
    """Runs the application; a wrong use of the command is one line on stderr, without a box around it."""
    import typer

    usage_error: Any = typer.BadParameter.__base__
    try:
        done = app(None if arguments is None else list(arguments), prog_name="cypool", standalone_mode=False)
    except typer.Abort:
        return 1
    except usage_error as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            # `cypool` alone shows its help
            error.show()
            return 2
        path = "cypool" if error.ctx is None else error.ctx.command_path
        print(f"{path}: {' '.join(error.format_message().split())}; {path} --help says more", file=sys.stderr)
        return 2
    return done if isinstance(done, int) else 0
