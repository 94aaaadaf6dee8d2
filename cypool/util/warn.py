"""Warnings that name the user's line, however deep in cypool they come from."""
from __future__ import annotations

import sys
import warnings

# Gymnasium's classes call ours, as its `VectorEnv.close` does
_PASSED_OVER = {"cypool", "gymnasium"}


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the innermost line outside cypool and Gymnasium.

    Args:
        message: The text.
        category: Category of the warning.
    """
    # compiled modules have no frames, so a constant level would depend on the modules that are compiled
    level, frame = 1, sys._getframe(0)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _PASSED_OVER:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)
