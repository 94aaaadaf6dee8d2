"""Writes the list of families in docs/reference/environments.md, from their records.

    python docs_tools/family_list.py
"""
from __future__ import annotations

import re
import textwrap
from pathlib import Path

from cypool.envs import FAMILIES
from cypool.envs.family import Family

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "environments.md"
MARKERS = "<!-- families: python docs_tools/family_list.py -->\n", "<!-- end -->\n"


def item(family: Family) -> str:
    """Returns what a family has, equals and needs, in lines of at most 120 characters."""
    title = f"[{family.title}]({family.page})" if family.page else family.title
    said = [f"- **{title}**: {family.description}."]
    if family.reference:
        said.append(f"Reference: {family.reference}. Equal: {family.fidelity}.")
    if family.download:
        said.append(f"To run: `{family.install}`.")
    if family.extra:
        said.append(f"To {'run' if family.package else 'draw'}: `cypool[{family.extra}]`.")
    if family.licence:
        said.append(f"Licences: {family.licence}.")
    return textwrap.fill(" ".join(said), 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def with_list(text: str) -> str:
    """Returns the page's text with the list between the markers."""
    begin, end = MARKERS
    found = re.search(f"(?s)(?<={re.escape(begin)}).*?(?={re.escape(end)})", text)
    if found is None:
        raise ValueError(f"text: expected the markers {MARKERS}")
    return f"{text[:found.start()]}\n{chr(10).join(map(item, FAMILIES))}\n\n{text[found.end():]}"


if __name__ == "__main__":
    PAGE.write_text(with_list(PAGE.read_text()))
