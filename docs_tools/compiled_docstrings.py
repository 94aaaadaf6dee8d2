"""Gives mkdocstrings the docstrings of compiled modules; everything else it has from their stubs."""
from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe


class CompiledDocstrings(griffe.Extension):
    """Reads the docstrings of compiled modules, and of the classes and functions in them, from the modules."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Walks the package once it is loaded."""
        self._visit(pkg)

    def _visit(self, module: griffe.Module) -> None:
        for child in list(module.modules.values()):
            if not child.is_alias:
                self._visit(child)
        if isinstance(module.filepath, list) or module.filepath.suffix == ".py":
            return
        try:
            self._copy(module, importlib.import_module(module.path))
        # the module of a family that this cypool is built without, or that needs a package
        except ImportError:
            return

    def _copy(self, stub: Any, compiled: Any) -> None:
        if stub.docstring is None and (text := inspect.getdoc(compiled)):
            # Cython writes the signature in front
            text = re.sub(r"\A\w[\w.]*\(.*\)( -> .*)?\n+", "", text)
            stub.docstring = griffe.Docstring(text, parent=stub, parser=griffe.Parser.google)
        if stub.is_module or stub.is_class:
            for name, member in stub.members.items():
                if not member.is_alias and not member.is_module and not name.startswith("_"):
                    if (value := getattr(compiled, name, None)) is not None:
                        self._copy(member, value)
