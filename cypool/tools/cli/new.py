"""`cypool new`: writes a package with a new environment."""
from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path
from typing import Any

from cypool.tools.cli.console import Parser

TEMPLATE = Path(__file__).parents[1] / "template"


def new(name: str, folder: Any = None) -> Path:
    """Writes a package with an environment, its build and its test.

    Args:
        name: Name of the package; its environment has the same name in CamelCase.
        folder: The folder to create; by default `name` in the current folder. It must not exist.

    Returns:
        The folder.

    Raises:
        ValueError: Not a valid package name, or the name of an existing module.
        FileExistsError: The folder exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise ValueError(f"name: expected a lowercase package name, such as my_env, got {name!r}")
    if name in sys.stdlib_module_names or name in ("cypool", "tests", "numpy", "gymnasium"):
        raise ValueError(f"name: expected a name that no other package uses, got {name!r}")
    folder = Path(name if folder is None else folder)
    if folder.exists():
        raise FileExistsError(f"folder: expected a new folder, but {folder} exists")
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


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add("name", metavar="NAME", help="name of the package, such as my_env")
    parser.add("folder", nargs="?", type=Path, metavar="FOLDER",
               help="folder to create (default: a folder with the package's name)")


def run(name: str, folder: Path | None) -> None:
    """Write a package with a new environment, its build script and a test."""
    written = new(name, folder)
    # plain text: to be copied
    print(f"""The package is in {written}. Install what its build and test need:

    pip install "setuptools>=77" "Cython>=3.2,<4" pytest

To compile and test it, now and after each change to the .pyx:

    pip install --no-build-isolation -e {written} && pytest {written}""")
