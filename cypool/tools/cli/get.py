"""`cypool get`: downloads what a family needs and no package of today's Python brings."""
from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from cypool.tools.cli.console import out, progress


def _downloads() -> dict[str, str]:
    """Returns the families that have something to download, each with the module that does it."""
    from cypool.envs import FAMILIES

    return {family.name: family.download for family in FAMILIES if family.download}


def _complete(incomplete: str) -> list[str]:
    return [name for name in _downloads() if name.startswith(incomplete)]


def get(family: Annotated[str, typer.Argument(metavar="FAMILY", autocompletion=_complete, show_default=False,
                                              help="A family, such as procgen.")]) -> None:
    """Download what a family needs, with pip, into cypool's cache; check it; print its licences.

    It does nothing if everything is there.
    """
    from cypool.util.arguments import check_choice

    source = import_module(_downloads()[check_choice("FAMILY", family, _downloads())])
    source.check_machine()
    if source.is_whole():
        out.print(f"{family}: it is there, in {source.find(None)}", highlight=False, soft_wrap=True)
        return
    with progress(transient=True) as bar:
        task = bar.add_task("downloads", total=None)
        folder = source.download(lambda what, done, total: bar.update(task, description=what, completed=done,
                                                                      total=total if done else None))
    out.print(f"{family}: it is now in {folder}", highlight=False, soft_wrap=True)
    out.print(source.LICENCES, highlight=False)
    # an older one may come first
    source.checked(source.find(None))
