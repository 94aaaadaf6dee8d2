"""Search of the site: words that lead to a page, in addition to those of titles and texts.

The site's search ranks by words in titles, then in names of sections, then in texts, each in proportion to its length.
So a method called `async_reset` comes before the page that explains asynchronous pools. As in the index of a book, an
entry has a word as its title, and leads to the page. The game or robot that a family names as its example leads to the
family. `browse_site.py` searches for each word.
"""
from __future__ import annotations

import json
from pathlib import Path

import catalogue

# word -> the page's place in the site, and what it says about the word
ENTRIES = {
    "async": ("explanation/concepts", "Synchronous and asynchronous pools"),
    "autoreset": ("reference/semantics", "Autoreset modes: the step after the end of an episode"),
    "install": ("how_to/installation", "Install cypool"),
    "n-step": ("how_to/replay", "Returns of several steps in replay buffers"),
    "replay": ("how_to/replay", "Replay buffers: store and sample experience"),
    "seed": ("reference/semantics", "Seeds and random streams of environments"),
}


def entries() -> dict[str, tuple[str, str]]:
    """Returns the page of each word, and its text."""
    families = [family for family, _ in catalogue.families().values() if "/" not in family.smoke_ids[0]]
    return ENTRIES | {catalogue.stem(family.smoke_ids[0]): (f"environments/{family.name}", family.title)
                      for family in families}


def write(site: Path) -> list[str]:
    """Adds the entries to the index of the built site; returns a fault for each that leads nowhere."""
    file = site / "search.json"
    index = json.loads(file.read_text())
    pages = {item["location"]: item for item in index["items"] if item["level"] in ("1", 1)}
    added, faults = [], []
    for word, (page, text) in entries().items():
        if target := pages.get(f"{page}/"):
            added.append(target | {"title": word, "text": f"<p>{word}: {text}</p>"})
        else:
            faults.append(f"search: {word!r} leads to {page}, which is no page")
    # the first of equal ones comes first
    index["items"] = added + index["items"]
    file.write_text(json.dumps(index, separators=(",", ":")))
    return faults
