"""Tools around environments: `compile` builds them, `video` records them, `benchmark` compares their speed,
`tuning` finds fast settings, `keyboard` maps keys to actions, and `cli` is the `cypool` command.
"""
from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cypool.tools import cli as cli
    from cypool.tools import compile as compile
    from cypool.tools import video as video
else:
    def __dir__() -> list[str]:
        # what is public
        return ["compile"]

    def __getattr__(name: str) -> ModuleType:
        # each costs imports that most programs do not need
        if name in ("cli", "compile", "video"):
            return import_module(f"cypool.tools.{name}")
        raise AttributeError(f"module 'cypool.tools' has no attribute {name!r}")
