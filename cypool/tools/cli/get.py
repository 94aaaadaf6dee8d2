"""`cypool get`: downloads files of a family that no package for today's Python has."""
from __future__ import annotations

from importlib import import_module

from cypool.tools.cli.console import Parser
from cypool.tools.terminal import Progress, print_text


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add("family", metavar="FAMILY", words=_downloads, help="a family, such as procgen")


def _downloads() -> dict[str, str]:
    """Returns the families that have something to download, each with the module that does it."""
    from cypool.envs import FAMILIES

    return {family.name: family.download for family in FAMILIES if family.download}


def run(family: str) -> None:
    """Download files that a family needs, with pip, into cypool's cache; check it; print its licences.

    It does nothing if everything is there.
    """
    from cypool.util.arguments import check_choice

    source = import_module(_downloads()[check_choice("FAMILY", family, _downloads())])
    source.check_machine()
    if source.is_whole():
        print(f"{family}: it is there, in {source.find(None)}")
        return
    with Progress("downloads") as bar:
        folder = source.download(bar.show)
    print(f"{family}: it is now in {folder}")
    print_text(source.LICENCES)
    # an older one may come first
    source.checked(source.find(None))
