"""The `cypool` command."""
from __future__ import annotations

import argparse
import keyword
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).with_name("template")


def new(name: str, folder: Any = None) -> Path:
    """Writes a package with an environment, its build and its test.

    Args:
        name: Of the package; its environment is called the same, in CamelCase.
        folder: Where to put it; `name` below the current folder by default. It must not exist.

    Returns:
        The folder.

    Raises:
        ValueError: Not a valid package name, or the name of an existing module.
        FileExistsError: The folder exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise ValueError(f"name: expected one in lower case for a package, such as my_env, got {name!r}")
    if name in sys.stdlib_module_names or name in ("cypool", "tests", "numpy", "gymnasium"):
        raise ValueError(f"name: expected one that no other package has, got {name!r}")
    folder = Path(name if folder is None else folder)
    if folder.exists():
        raise FileExistsError(f"folder: expected a new one, but {folder} exists")
    title = "".join(word.capitalize() for word in name.split("_"))

    def named(text: str) -> str:
        return text.replace("my_env", name).replace("MyEnv", title)

    for source in sorted(TEMPLATE.rglob("*")):
        if source.suffix in (".py", ".pyx", ".toml"):
            target = folder / named(str(source.relative_to(TEMPLATE)))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(named(source.read_text()))
    result: Path = folder
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(prog="cypool", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    of_new = commands.add_parser("new", help="write a package with an environment of your own")
    of_new.add_argument("name", help="of the package, such as my_env")
    of_new.add_argument("folder", nargs="?", help="where to put it, by default a folder of that name")
    given = parser.parse_args(arguments)
    try:
        folder = new(given.name, given.folder)
    except (ValueError, OSError) as error:
        print(f"cypool new: {error}", file=sys.stderr)
        return 1
    print(f"""{folder} has it. To compile and try it:

    pip install "setuptools>=77" "Cython>=3.2,<4" pytest
    pip install --no-build-isolation -e {folder}
    pytest {folder}

After a change of the .pyx the second line again.""")
    return 0
