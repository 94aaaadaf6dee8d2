"""The faults that build_site.py looks for in the site it has built; `browse_site.py` finds the others."""
from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import api

MEDIA = (".gif", ".jpg", ".mp4", ".png", ".svg", ".webp")
BLOCK = re.compile(r"^( *)(?P<fence>`{3,})(?P<language>\w*)[^\n]*\n(.*?)^ *(?P=fence) *$", re.DOTALL | re.MULTILINE)
DIAGRAM = re.compile(r"\s*(flowchart|graph|sequenceDiagram|stateDiagram|classDiagram)\b")
# Markdown that was not understood
MARKDOWN = re.compile(r"\]\(\S|(?<![\w*])\*\*\w|(?:^|>)::: |^\| ?-{3}|(?<!\S)`\w|<td>- ", re.MULTILINE)
LINE = 100  # characters of a signature
# declarations for Cython, which the API shows as they are
DECLARATIONS = ("env", "random", "backend")
DECLARED = r"^ *cdef (?!extern)[\w* ]+? \*?(\w+)\("


class Page(HTMLParser):
    """A page of the site.

    Attributes:
        title: Its `<title>`.
        description: Its description, for search engines.
        links: Targets of `<link>` and `<a>`, by `rel` or class.
        media: Targets of pictures and videos.
        ids: The anchors.
        codes: Texts of the code blocks, without the final line break.
        signatures: Code blocks that are signatures.
        text: All text outside of code.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title, self.description, self.text = "", "", ""
        self.links: dict[str, str] = {}
        self.media: list[str] = []
        self.ids: set[str] = set()
        self.codes: list[str] = []
        self.signatures: list[str] = []
        self._open: list[str] = []  # of <title>, <pre>, <code>, <script>, <style>
        self._is_signature = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.ids.add(has.get("id", ""))
        if tag in ("img", "source", "video"):
            self.media += [has[name].split()[0] for name in ("src", "srcset") if has.get(name)]
        elif tag in ("link", "a"):
            self.links.setdefault(has.get("rel") or has.get("class", ""), has.get("href", ""))
        elif tag == "meta" and has.get("name") == "description":
            self.description = has["content"]
        elif tag == "div":
            self._is_signature = "doc-signature" in has.get("class", "").split()
        elif tag in ("title", "pre", "code", "script", "style"):
            self._open.append(tag)
            if tag == "pre":
                self.codes.append("")
        elif tag in ("p", "li", "td", "h1", "h2", "h3"):
            self.text += f"\n<{tag}>"

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
            if tag == "pre":
                self.codes[-1] = self.codes[-1].rstrip("\n")
                if self._is_signature:
                    self.signatures.append(self.codes[-1])

    def handle_data(self, data: str) -> None:
        if "title" in self._open:
            self.title = self.title or data.strip()
        elif "pre" in self._open:
            self.codes[-1] += data
        elif not self._open:
            self.text += data


def all_of(site: Path, pages: dict[Path, str]) -> list[str]:
    """Returns "page: fault" for each fault of the built site; `pages` maps Markdown files to their places."""
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("index.html"))]
    # pages of sources have one block of code
    shown = {name: Page((site / name).read_text()) for name in names if not name.startswith("source/")}
    sources = {built(place): file.read_text() for file, place in pages.items()}
    api_pages = [page for name, page in shown.items() if name.startswith("api/")]
    faults = [f"{name}: {fault}" for name, page in shown.items() for fault in (
        *broken_media(page, site, site / name), *page_faults(page, site, site / name),
        *damaged_code(page, sources.get(name, "")))]
    return faults + same_titles(shown) + missing_names(api_pages)


def built(place: str) -> str:
    """Returns the file of a page of the site."""
    return place.removesuffix(".md").removesuffix("index").rstrip("/") + "/index.html" if place != "index.md" \
        else "index.html"


def broken_media(page: Page, site: Path, file: Path) -> Iterator[str]:
    """Yields each picture or video that is missing or is not one."""
    for target in page.media:
        path = target.partition("#")[0].partition("?")[0]
        base = site if path.startswith("/") else file.parent
        if ":" not in path and not (path.endswith(MEDIA) and (base / path.lstrip("/")).is_file()):
            yield f"not a picture or video: {target}"


def page_faults(page: Page, site: Path, file: Path) -> Iterator[str]:
    """Yields what a page's head lacks, and Markdown, diagrams and long signatures in the text."""
    if not page.title:
        yield "no title"
    if not page.description:
        yield "no description"
    if not (file.parent / page.links.get("icon", "-")).resolve().is_file():
        yield "no icon"
    if not page.links.get("md-source"):
        yield "no link to the repository"
    if not page.links.get("canonical"):
        yield "no address"
    for match in MARKDOWN.finditer(page.text):
        yield f"Markdown: {' '.join(page.text[match.start() - 20:match.end() + 30].split())!r}"
    for code in page.codes:
        if DIAGRAM.match(code):
            yield f"source text of a diagram: {code[:40]!r}"
    for signature in page.signatures:
        if max(map(len, signature.splitlines())) > LINE:
            yield f"a line of more than {LINE} characters: {signature[:40]!r}"


def damaged_code(page: Page, source: str) -> Iterator[str]:
    """Yields each code block that the page does not show as in the Markdown, in the same order."""
    codes = iter(page.codes)
    for match in BLOCK.finditer(source):
        wanted = re.sub(f"(?m)^{match[1]}", "", match[4]).rstrip("\n")
        if match["language"] != "mermaid" and wanted not in codes:
            yield f"a block of code differs from its source: {textwrap.shorten(wanted, 60)!r}"
            return


def same_titles(pages: dict[str, Page]) -> list[str]:
    """Returns the titles and descriptions that several pages share."""
    faults = []
    for kind in ("title", "description"):
        number = Counter(getattr(page, kind) for page in pages.values())
        faults += [f"{name}: the {kind} of another page: {getattr(page, kind)!r}" for name, page in pages.items()
                   if number[getattr(page, kind)] > 1]
    return faults


def missing_names(pages: list[Page]) -> list[str]:
    """Returns the public names, class members and pool attributes that no API page shows."""
    ids = set().union(*(page.ids for page in pages))
    ends = {name for id in ids for name in (id, ".".join(id.split(".")[-2:]))}
    codes = "\n".join(code for page in pages for code in page.codes)
    missing = [name for name in api.public_names() if name not in ends]
    missing += [f"{name}.{member}" for name in api.public_names() for member in members_of(name)
                if f"{name.rpartition('.')[2]}.{member}" not in ends]
    declared = [name for module in DECLARATIONS
                for name in re.findall(DECLARED, api.declarations(module), re.MULTILINE)]
    missing += [name for name in declared if f" {name}(" not in codes]
    return [f"api: {name} is missing" for name in missing]


def members_of(name: str) -> list[str]:
    """Returns the public methods and properties that a class documents; none if the name is not a class."""
    module, _, last = name.rpartition(".")
    try:
        cls = getattr(importlib.import_module(module), last)
    # a training library that is not installed
    except ImportError:
        return []
    if not inspect.isclass(cls) or name in api.WITHOUT_MEMBERS:
        return []
    return [each for each, value in vars(cls).items() if not each.startswith("_") and value.__doc__
            and (inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod))]
