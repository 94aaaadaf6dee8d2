"""The `cypool` command: one module for each verb, `app` that runs them, `console` with what they share."""
from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns its exit status.

    Args:
        arguments: The words behind `cypool`; by default those that the process was called with.

    Returns:
        0; 1 if a check found something wrong; 2 if the command cannot do what it was asked; 130 after Ctrl-C.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # it takes a while to import, in which a user may press Ctrl-C
        from cypool.errors import CompileError
        from cypool.tools.cli.app import VERBS, run
        from cypool.tools.cli.console import Refusal
        from cypool.util.cache import UnsafeCache

        try:
            status = run(words)
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            # the reader has seen enough; Python would flush the rest at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        # what cypool raises of arguments and of what is not installed; a text of several lines begins with the matter
        except (Refusal, ValueError, TypeError, ImportError, NotImplementedError, OSError, CompileError,
                UnsafeCache) as error:
            verb = f" {words[0]}" if words and words[0] in VERBS else ""
            print(f"cypool{verb}: {' '.join(str(error).split())}", file=sys.stderr)
            return 2
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return 130
