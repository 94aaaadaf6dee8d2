"""Checks the built site in Chromium: python docs_tools/browse_site.py [--shots FOLDER]

Opens pages in two widths and two themes, and prints a fault for each console message, request to another server, table
that does not fit, code block that differs from its source, and word or query in `site_search.py` that does not lead to
its page. Exits with 1 if there are faults. It needs `pip install playwright` and Debian's package `chromium`.
"""
from __future__ import annotations

import argparse
import functools
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import build_site
import site_faults
import site_search
from diagrams import CHROMIUM

SITE = build_site.ROOT / "build" / "site"
WIDTHS, THEMES = (1280, 390), ("light", "dark")
# what is wider than its room, cannot be moved, is covered or broken into letters; headings away from their columns;
# also what is folded up or in another tab
CUT = """narrow => {
  const found = [], root = document.documentElement;
  const rects = (node, of = document.createRange()) => (of.selectNodeContents(node), [...of.getClientRects()]);
  const folded = [...document.querySelectorAll("article details:not([open])")];
  const tabs = [...document.querySelectorAll("article .tabbed-block")];
  folded.forEach(each => { each.open = true; });
  tabs.forEach(each => { each.style.display = "block"; });
  if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} wide`);
  for (const inner of document.querySelectorAll("article table, article pre > code")) {
    const box = inner.closest(".md-typeset__scrollwrap") || inner, name = inner.innerText.trim().slice(0, 40);
    if (box.scrollWidth <= box.clientWidth + 1) continue;
    const style = getComputedStyle(box);
    if (inner.tagName === "CODE") found.push(`code of ${box.scrollWidth} in ${box.clientWidth}: ${name}`);
    else if (!["auto", "scroll"].includes(style.overflowX)) found.push(`cannot be moved: ${name}`);
    else if (style.backgroundImage === "none") found.push(`does not show that it can be moved: ${name}`);
    else if (!narrow) found.push(`a table of ${box.scrollWidth} in ${box.clientWidth}: ${name}`);
  }
  for (const table of document.querySelectorAll("article table")) {
    const [head, cell] = ["th", "td"].map(name => table.querySelector(name));
    if (head && cell && getComputedStyle(head).paddingLeft !== getComputedStyle(cell).paddingLeft)
      found.push(`headings away from their columns: ${table.innerText.trim().slice(0, 40)}`);
  }
  for (const code of document.querySelectorAll("article td code")) {
    const lines = new Set(rects(code).map(each => Math.round(each.top))).size;
    if (lines > 3 && code.innerText.length < 5 * lines) found.push(`broken into letters: ${code.innerText}`);
  }
  for (const button of document.querySelectorAll("article pre button, article .md-code__button")) {
    const own = button.getBoundingClientRect(), code = button.closest("pre, .highlight")?.querySelector("code");
    if (code && own.width && rects(code).some(each => each.width && each.right > own.left && each.left < own.right
                                              && each.bottom > own.top && each.top < own.bottom))
      found.push(`a button covers code: ${code.innerText.slice(0, 40)}`);
  }
  folded.forEach(each => { each.open = false; });
  tabs.forEach(each => { each.style.display = ""; });
  return found;
}"""
# plots whose background stays white
GLARING = """() => [...document.querySelectorAll("article img")]
  .filter(each => /learning_|cluster_/.test(each.src) && getComputedStyle(each).filter === "none")
  .map(each => `glaring: ${each.src}`)"""
# the search is in a shadow tree
RESULTS = """() => [document, ...[...document.querySelectorAll("*")].map(each => each.shadowRoot).filter(Boolean)]
  .flatMap(root => [...root.querySelectorAll("li a, ol a")].map(each => each.href))
  .filter(href => href.includes("?h="))"""


class Handler(SimpleHTTPRequestHandler):
    """Serves the site silently."""

    def log_message(self, *args: Any) -> None:
        pass


def pages(number: int) -> list[str]:
    """Returns the first pages of each section, the longest sections last, without source pages."""
    sections: dict[str, list[str]] = {}
    for file in sorted(SITE.rglob("index.html")):
        place = file.parent.relative_to(SITE).as_posix()
        if not place.startswith("source"):
            sections.setdefault(place.partition("/")[0], []).append("" if place == "." else f"{place}/")
    chosen: list[str] = []
    for k in range(max(map(len, sections.values()))):
        chosen += [each[k] for each in sections.values() if k < len(each)]
    return chosen[:number]


def faults_of(page: Any, place: str, address: str, narrow: bool, source: str) -> Iterator[str]:
    """Yields the faults of one page."""
    said: list[str] = []
    page.on("console", lambda message: said.append(f"console: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("request", lambda request: None if request.url.startswith((address, "data:", "blob:"))
            else said.append(f"request to {request.url}"))
    page.goto(address + place, wait_until="load")
    page.wait_for_timeout(100)
    yield from said
    yield from page.evaluate(CUT, narrow)
    yield from site_faults.damaged_code(site_faults.Page(page.content()), source)


def search_faults(page: Any, address: str, entries: dict[str, str]) -> Iterator[str]:
    """Yields each word whose page is not the first result."""
    page.goto(address)
    page.wait_for_timeout(500)
    page.keyboard.press("Control+k")
    page.wait_for_timeout(500)
    for word, place in entries.items():
        page.keyboard.press("Control+a")
        page.keyboard.type(word)
        # a busy machine shows results late
        for _ in range(20):
            page.wait_for_timeout(500)
            found = [href.removeprefix(address).partition("/?")[0] for href in page.evaluate(RESULTS)]
            if found[:1] == [place]:
                break
        else:
            yield f"search: {word!r} leads to {found[:1]}; expected {place}"


def main() -> None:
    """Prints the faults."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="Looks at the built site in Chromium.")
    parser.add_argument("--pages", type=int, default=30, help="number of pages (default: 30)")
    parser.add_argument("--shots", type=Path, help="folder for screenshots of the pages")
    args = parser.parse_args()
    site = build_site.Site()
    sources = {site_faults.built(place): (build_site.ROOT / name).read_text() for name, place in site.pages.items()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address, faults, seen = f"http://127.0.0.1:{server.server_port}/", [], 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width in WIDTHS:
            for theme in THEMES:
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
                # a busy machine
                context.set_default_timeout(300_000)
                for place in pages(args.pages):
                    page = context.new_page()
                    found = [*faults_of(page, place, address, width < 800, sources.get(f"{place}index.html", "")),
                             *(page.evaluate(GLARING) if theme == "dark" else [])]
                    faults += [f"{place or 'home'} ({width}, {theme}): {fault}" for fault in found]
                    if args.shots:
                        name = place.strip("/").replace("/", "_") or "home"
                        page.screenshot(path=args.shots / f"{name}-{width}-{theme}.png")
                    page.close()
                    seen += 1
                context.close()
        faults += search_faults(browser.new_page(viewport={"width": WIDTHS[0], "height": 900}), address,
                                site_search.entries(site.pages) | site_search.QUERIES)
        browser.close()
    print("\n".join([*faults, f"{seen} views, {len(faults)} faults"]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
