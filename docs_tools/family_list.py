"""The list of families for docs/reference/environments.md, made from their records.

    python docs_tools/family_list.py
"""
from __future__ import annotations

import textwrap

from cypool.envs import FAMILIES
from cypool.envs.family import Family

# where build_site.py puts it
MARKER = "<!-- families -->\n"


def item(family: Family) -> str:
    """Returns the contents, reference and packages of a family, in lines of at most 120 characters."""
    said = [f"- **[{family.title}]({family.name}.md)**: {family.description}."]
    if family.reference:
        said.append(f"Reference: {family.reference}. Equal: {family.fidelity}.")
    if family.download or family.command:
        said.append(f"To run: `{family.install}`.")
    if family.extra:
        use = "To run" if family.package else "To draw" if family.extra == "render" else "For `cypool check`"
        said.append(f"{use}: `cypool[{family.extra}]`.")
    if family.licence:
        said.append(f"Licences: {family.licence}.")
    return textwrap.fill(" ".join(said), 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def text() -> str:
    """Returns the list, in Markdown."""
    return "\n".join(map(item, FAMILIES)) + "\n"


if __name__ == "__main__":
    print(text(), end="")
