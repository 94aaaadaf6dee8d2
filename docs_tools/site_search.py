"""Search of the site: words that lead to a page, in addition to those of titles and texts.

The site's search ranks by words in titles, then in names of sections, then in texts, each in proportion to its length.
So a method called `async_reset` comes before the page that explains asynchronous pools. As in the index of a book, an
entry has words as its title, and leads to the page that names them in a comment: `<!-- search: install, wheel -->`. The
game or robot that a family names as its example leads to the family. `browse_site.py` searches for each entry.
"""
from __future__ import annotations

import json
import re
from pathlib import Path

import catalogue

ROOT = Path(__file__).resolve().parents[1]
COMMENT = re.compile(r"^<!-- search: (.*?) -->$", re.MULTILINE | re.DOTALL)


def entries(pages: dict[str, str]) -> dict[str, str]:
    """Returns the page to which words lead; `pages` maps files of Markdown to their places in the site."""
    found = {catalogue.stem(family.smoke_ids[0]): f"environments/{family.name}"
             for family, _ in catalogue.families().values() if "/" not in family.smoke_ids[0]}
    for name, place in pages.items():
        for words in COMMENT.findall((ROOT / name).read_text()):
            found |= dict.fromkeys(" ".join(words.split()).split(", "), place.removesuffix(".md"))
    return found


def write(site: Path, pages: dict[str, str]) -> list[str]:
    """Adds the entries to the index of the built site; returns a fault for each that leads nowhere."""
    file = site / "search.json"
    index = json.loads(file.read_text())
    known = {item["location"]: item for item in index["items"] if item["level"] in ("1", 1)}
    added, faults = [], []
    for word, page in entries(pages).items():
        if target := known.get(f"{page}/"):
            added.append(target | {"title": word, "text": f"<p>{word}: {target['title']}</p>"})
        else:
            faults.append(f"search: {word!r} leads to {page}, which is no page")
    # the first of equal ones comes first
    index["items"] = added + index["items"]
    file.write_text(json.dumps(index, separators=(",", ":")))
    return faults
