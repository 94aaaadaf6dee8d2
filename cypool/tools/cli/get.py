"""`cypool get`: downloads files of a family that are not packaged for current Python versions."""
from __future__ import annotations

from importlib import import_module

from cypool.tools.cli.console import Parser
from cypool.tools.terminal import Progress, print_text


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add("family", metavar="FAMILY", words=_downloads, help="a family, such as procgen")


def _downloads() -> dict[str, str]:
    """Returns the families with downloads, each with its module for downloading."""
    from cypool.envs import FAMILIES

    return {family.name: family.download for family in FAMILIES if family.download}


def run(family: str) -> None:
    """Download the files that a family needs into cypool's cache with pip, verify them, and print their licenses.

    Does nothing if everything is in place.
    """
    from cypool.util.arguments import check_choice

    source = import_module(_downloads()[check_choice("FAMILY", family, _downloads())])
    source.check_machine()
    if source.is_valid():
        print(f"{family}: already in {source.find(None)}")
        return
    with Progress("downloads") as bar:
        folder = source.download(bar.show)
    print(f"{family}: now in {folder}")
    print_text(source.LICENCES)
    # an older one may come first
    source.checked(source.find(None))
