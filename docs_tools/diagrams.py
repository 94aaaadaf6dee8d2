"""Draws the diagrams in Markdown as pictures: python docs_tools/diagrams.py --mermaid FILE

GitHub draws Mermaid blocks. The site loads no scripts from other servers, so it shows a picture from docs/pictures,
whose name contains the block's hash. This command draws missing pictures and deletes those without a block. It needs
Chromium, `pip install playwright` and mermaid.min.js of the npm package `mermaid`.
"""
from __future__ import annotations

import argparse
import hashlib
import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "docs/pictures"
BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
THEMES = {"light": "default", "dark": "dark"}
CHROMIUM = "/usr/bin/chromium"
PAGE = "<style>body { font: 16px sans-serif }</style><body>"
DRAW = """async ([id, source, theme]) => {
  mermaid.initialize({ theme, startOnLoad: false, htmlLabels: false, flowchart: { htmlLabels: false } });
  return (await mermaid.render(id, source)).svg;
}"""


def file_of(source: str, theme: str) -> str:
    """Returns the path of a diagram's picture in the repository."""
    return f"{FOLDER}/diagram_{hashlib.sha256(source.encode()).hexdigest()[:8]}-{theme}.svg"


def as_pictures(text: str, name: str) -> str:
    """Returns the text of a page with a picture in place of each diagram.

    Raises:
        SystemExit: A picture is missing.
    """
    def picture(match: re.Match[str]) -> str:
        heading = re.findall(r"^#+ (.*)$", text[:match.start()], re.MULTILINE)[-1]
        links = []
        for theme in THEMES:
            file = file_of(match[1], theme)
            if not (ROOT / file).is_file():
                raise SystemExit(f"{name}: the diagram below {heading!r} has no picture {file}: "
                                 "python docs_tools/diagrams.py draws it")
            links.append(f"![Diagram: {heading}]({posixpath.relpath(file, posixpath.dirname(name))}#only-{theme})")
        return "".join(links)

    return BLOCK.sub(picture, text)


def main() -> None:
    """Draws the pictures of all diagrams that have none."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="Draws the diagrams of the documentation.")
    parser.add_argument("--mermaid", type=Path, required=True, help="mermaid.min.js")
    args = parser.parse_args()
    sources = [source for page in (ROOT / "docs").rglob("*.md") for source in BLOCK.findall(page.read_text())]
    wanted = {file_of(source, theme): (source, name) for source in sources for theme, name in THEMES.items()}
    for file in (ROOT / FOLDER).glob("diagram_*.svg"):
        if file.relative_to(ROOT).as_posix() not in wanted:
            file.unlink()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content(PAGE)
        page.add_script_tag(path=args.mermaid)
        for file, (source, theme) in wanted.items():
            if not (ROOT / file).is_file():
                svg = page.evaluate(DRAW, ["diagram", source, theme])
                (ROOT / file).write_text(svg + "\n")
                print(file)
        browser.close()


if __name__ == "__main__":
    main()
