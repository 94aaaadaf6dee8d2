"""Gives mkdocstrings the docstrings of compiled modules, whose signatures are in stubs, and types for parameters."""
from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe


class CompiledDocstrings(griffe.Extension):
    """Reads the docstrings of compiled modules and of their classes and functions from the modules.

    In all docstrings, "a, b: text" becomes "a: text" and "b: text", each with the type from its annotation.
    """

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Walks the package once it is loaded."""
        self._visit(pkg)
        self._separate(pkg)

    def _separate(self, each: Any) -> None:
        if each.docstring is not None:
            each.docstring.value = separate(each.docstring.value)
        if each.is_module or each.is_class:
            for member in each.members.values():
                if not member.is_alias:
                    self._separate(member)

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
                    # the docstring of a number is that of int
                    value = getattr(compiled, name, None)
                    if callable(value) or inspect.isdatadescriptor(value):
                        self._copy(member, value)


def separate(docstring: str) -> str:
    """Returns a docstring in Google's style with a line for each parameter or attribute."""
    def lines(match: re.Match[str]) -> str:
        return "".join(f"    {name}: {match[2]}" for name in match[1].split(", "))

    item = r"^    (\w+(?:, \w+)+): (.*\n?(?: {8}.*\n?)*)"
    return re.sub(r"^(Args|Attributes):\n(?:(?: {4}.*)?(?:\n|\Z))+",
                  lambda section: re.sub(item, lines, section[0], flags=re.MULTILINE), docstring, flags=re.MULTILINE)
