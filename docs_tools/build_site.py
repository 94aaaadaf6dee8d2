"""Builds the documentation site: python docs_tools/build_site.py

    Markdown files ----------+
    registry (catalogue.py) -+--> build/site_source: pages, pictures --> zensical --strict --> build/site
    public modules (api.py) -+

The generator sees Markdown and one configuration file. Zensical is the maintained successor of Material for MkDocs, by
the same people. Both read this configuration, so `mkdocs build --strict` passes, too. A link to a file of the
repository that is not a page leads to a page with its text, so the site needs no public address for the sources.
"""
from __future__ import annotations

import argparse
import functools
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import api
import catalogue
import diagrams
import family_list
import notebook
import settings
import site_faults
import site_search

import cypool

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "build" / "site_source"
# pages outside docs/, and where they stand in the site
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "project/contributing.md", "CHANGELOG.md": "project/changes.md",
         "SECURITY.md": "project/security.md", "RELEASING.md": "project/releasing.md",
         "fuzz/README.md": "project/fuzz.md", "benchmarks/README.md": "project/benchmarks.md"}
# folders of pages that are sections of the navigation, in this order
SECTIONS = {"tutorials": "Tutorials", "how_to": "How-to guides", "environments": "Environments",
            "reference": "Reference", "api": "API", "explanation": "Explanation", "project": "Project"}
# the pages of sections by groups, in this order; others follow by title
GROUPS = {
    "how_to": {
        "Begin": ("installation", "command_line", "troubleshooting", "migrating", "envpool"),
        "Train": ("training_libraries", "training_loop", "evaluation", "checkpoints", "replay", "policies",
                  "settings", "logging", "videos"),
        "Your own environment": ("hooks", "python_environments", "compiled_tasks", "debug_an_environment",
                                 "add_a_family"),
        "Several agents": ("several_agents", "games_with_turns"),
        "Plan": ("planning", "tree_search"),
        "Scale": ("many_cores", "cluster")},
    "reference": {
        "Use": ("environments", "make", "own_robot", "infos", "semantics", "faults"),
        "Extend": ("environment_contract", "compatibility"),
        "Evidence": ("fidelity", "measurements", "systems")},
    "explanation": {
        "Overview": ("concepts", "comparison", "performance", "learning_curves"),
        "Inside": ("design",)},
    "tutorials": {"": ("first_steps", "train_an_agent", "notebook")},
    "environments": {"": ("index",)},
    "project": {"": ("contributing",)},
    "api": {"": tuple(api.PAGES)},
}
LANGUAGES = {".c": "c", ".cpp": "cpp", ".csv": "text", ".h": "cpp", ".json": "json", ".pxd": "cython", ".py": "python",
             ".pyi": "python", ".pyx": "cython", ".toml": "toml", ".yml": "yaml"}
MANY = 60  # files of a folder, which are named but have no pages
WIDE = 9  # columns of a table that needs the room of the table of contents
TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- /tabs -->\n", re.DOTALL | re.MULTILINE)
CODE = r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence) *$|`[^`\n]+`"


class Site:
    """The files of the site, as they are written to `SOURCE`.

    Attributes:
        pages: Where each page of the repository is in the site.
    """

    def __init__(self) -> None:
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                               check=True, capture_output=True, text=True).stdout.split("\0")
        self.files = sorted(name for name in files if name and (ROOT / name).is_file())
        self.pages = PAGES | {name: self._place(name) for name in self.files
                              if name.startswith("docs/") and name.endswith((".md", ".ipynb"))}

    def write(self) -> None:
        """Writes all pages; source and folder pages only if links lead to them."""
        for name, place in self.pages.items():
            text = notebook.as_markdown(ROOT / name) if name.endswith(".ipynb") \
                else (ROOT / name).read_text()
            text = text.replace(family_list.MARKER, family_list.text()).replace(settings.MARKER, settings.text())
            # GitHub's picture for a light or a dark page, as the theme has it
            text = re.sub(r'<picture>.*?srcset="([^"]*)".*?src="([^"]*)"\s+alt="([^"]*)".*?</picture>',
                          r"![\3](\2#only-light)![\3](\1#only-dark)", text, flags=re.DOTALL)
            text = diagrams.as_pictures(text, name)
            links = functools.partial(self._links, name=name, place=place)
            text = outside_code(links, outside_code(deepen_lists, text, deepen_code))
            self._write(place, front_matter(text, place) + edit_link(name) + TABS.sub(as_tabs, text))

    def _place(self, name: str) -> str:
        inside = name.removeprefix("docs/")
        # a page that is in no folder is that of a family or of the command
        if "/" not in inside:
            inside = f"reference/{inside}"
        # the catalogue adds the ids to the page of a family
        inside = inside.replace(".ipynb", ".md")
        return re.sub(r"^reference/", "environments/", inside) if Path(name).stem in catalogue.families() else inside

    def _links(self, text: str, name: str, place: str) -> str:
        def replace(match: re.Match[str]) -> str:
            before, target, anchor = match.groups()
            if not target or ":" in target:
                return match[0]
            file = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            return before + posixpath.relpath(self._target(file), posixpath.dirname(place) or ".") + (anchor or "")

        # [text](target), src="target" and [name]: target
        links = r'(\]\(|src="|^\[[^\]\n]+\]: )([^)#"\s]*)(#[^)"\s]*)?(?=[)"]|$)'
        return re.sub(links, replace, text, flags=re.MULTILINE)

    def _target(self, file: str) -> str:
        """Puts a file or folder of the repository into the site, and returns its place."""
        if file in self.pages:
            return self.pages[file]
        visible = re.sub(r"(^|/)\.", r"\1", file)  # the generator leaves out names that begin with a dot
        if file.endswith(site_faults.MEDIA):
            place = file.removeprefix("docs/")
            (SOURCE / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, SOURCE / place)
        elif (ROOT / file).is_dir():
            place = f"source/{visible}/index.md"
            if not (SOURCE / place).exists():
                self._write(place, "")  # a folder's files may link back
                inside = [other for other in self.files if other.startswith(f"{file}/")]
                links = [f"- [{other}]({posixpath.relpath(self._target(other), posixpath.dirname(place))})"
                         if len(inside) <= MANY else f"- {other}" for other in inside]
                self._write(place, page_of_source(file, "\n".join(links)))
        else:
            place = f"source/{visible}.md"
            text = (ROOT / file).read_text(errors="replace").replace("\t", "    ")
            language = LANGUAGES.get(Path(file).suffix, "text")
            self._write(place, page_of_source(file, f"````` {language}\n{text}\n`````"))
        return place

    def _write(self, place: str, text: str) -> None:
        (SOURCE / place).parent.mkdir(parents=True, exist_ok=True)
        (SOURCE / place).write_text(text)

    def navigation(self) -> str:
        """Returns the navigation, in YAML: a section for each folder."""
        lines = ["nav:", "  - Home: index.md"]
        for folder, title in SECTIONS.items():
            lines += [f"  - {title}:"]
            titles = {page.stem: title_of(page) for page in (SOURCE / folder).glob("*.md")}
            named = {name for names in GROUPS[folder].values() for name in names}
            others = sorted(titles.keys() - named, key=lambda name, titles=titles: titles[name].lower())
            last = list(GROUPS[folder])[-1]
            for group, names in GROUPS[folder].items():
                indent = " " * (10 if group else 6)
                lines += [f"      - {group}:"] if group else []
                lines += [f'{indent}- "{titles[name]}": {folder}/{name}.md'
                          for name in (*names, *(others if group == last else ()))]
        return "\n".join(lines) + "\n"


def title_of(page: Path) -> str:
    """Returns a page's first heading, without formatting."""
    found = re.search(r"^# (.+)$", page.read_text(), re.MULTILINE)
    if not found:
        raise ValueError(f"{page}: expected a heading of level 1")
    return re.sub(r"[`\"]|\]\(.*?\)|\[", "", found[1])


def page_of_source(file: str, text: str) -> str:
    """Returns a page that is excluded from search."""
    return f"---\nsearch: {{exclude: true}}\n---\n\n# {file}\n\n{text}\n"


def outside_code(change: Callable[[str], str], text: str, change_code: Callable[[str], str] = str) -> str:
    """Returns the text with `change` applied outside of code, and `change_code` to code."""
    codes = [change_code(match[0]) for match in re.finditer(CODE, text, re.DOTALL | re.MULTILINE)]
    prose = re.sub(CODE, "\0", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub("\0", lambda _: codes.pop(0), change(prose))


def deepen_lists(text: str) -> str:
    """Indents lists, paragraphs and tables in lists by four spaces and ends tables, as Python-Markdown requires."""
    text = re.sub(r"^( *\|.*\|)\n(?=[^\s|])", r"\1\n\n", text, flags=re.MULTILINE)
    return re.sub(r"^ +(?=[^ \n])", lambda match: deeper(match[0]), text, flags=re.MULTILINE)


def deepen_code(code: str) -> str:
    """Indents a code block in a list by four spaces: each line by the same amount."""
    indent = re.match(" *", code)[0]  # type: ignore[index]
    more = len(deeper(indent)) - len(indent)
    return re.sub(r"^(?=.)", " " * more, code, flags=re.MULTILINE)


def deeper(indent: str) -> str:
    """Returns four spaces for each level, where GitHub needs two for a bullet and three for a number."""
    return indent + " " if len(indent) == 3 else indent * 2 if len(indent) % 2 == 0 else indent


def as_tabs(match: re.Match[str]) -> str:
    """Returns sections of a page as tabs, in the generator's syntax."""
    tabs = re.sub(r"^(?=.)", "    ", match[1], flags=re.MULTILINE)
    return re.sub(r"^    ## (.*)$", r'=== "\1"', tabs, flags=re.MULTILINE)


def edit_link(name: str) -> str:
    """Returns a link to the page for editing a file."""
    source = project()["urls"]["Source"]
    return f'<a class="edit" href="{source}/edit/main/{name}" title="Edit {name}">Edit</a>\n\n'


def front_matter(text: str, place: str) -> str:
    """Returns the title of the home page, and the description of each: its first sentence, or else its title."""
    matter: dict[str, str | list[str]] = {}
    if place == "index.md":
        matter["title"] = "Reinforcement-learning environments in C++ threads"
    title, _, body = text.partition("# ")[2].partition("\n")
    prose = re.sub(r"(?s)```.*?```|<!--.*?-->|!\[.*?\]\(.*?\)", "", body)
    paragraph = re.search(r"(?m)^(?![#>|<\-*\d\s])(?:.+\n)+", prose + "\n")
    words = " ".join((paragraph[0] if paragraph else title).split())
    words = re.sub(r"\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])|[`*]", r"\1", words)
    matter["description"] = re.match(r".*?[.:](?= |$)|.*", words)[0].rstrip(":")  # type: ignore[index]
    if re.search(r"^\|" + r"[^|\n]*\|" * WIDE, text, re.MULTILINE):
        matter["hide"] = ["toc"]
    return "---\n" + "".join(f"{key}: {json.dumps(value)}\n" for key, value in matter.items()) + "---\n\n"


@functools.cache
def project() -> dict[str, Any]:
    """Returns the metadata of the project."""
    metadata: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return metadata


def addresses() -> str:
    """Returns the project's addresses and version, in YAML."""
    urls, version = project()["urls"], f"cypool {cypool.__version__}"
    return (f"site_url: {urls['Documentation']}\nrepo_url: {urls['Source']}\nrepo_name: {version}\n"
            f"copyright: {version}, {project()['license']}\n")


def main() -> None:
    """Writes and builds the pages; exits with the generator's status, or with 1 if the site has a fault."""
    parser = argparse.ArgumentParser(description="Builds the documentation site.")
    parser.add_argument("--serve", action="store_true", help="serve the site at http://localhost:8000")
    parser.add_argument("--no-pictures", action="store_true", help="leave out pictures of environments")
    parser.add_argument("--partial", action="store_true",
                        help="only list ids for environments whose packages are not installed")
    args = parser.parse_args()
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    site = Site()
    site.write()
    try:
        catalogue.write(SOURCE / "environments", pictures=not args.no_pictures, partial=args.partial)
    except ImportError as error:
        sys.exit(f"the catalogue needs all families ({error}); --partial lists the others' ids only")
    api.write(SOURCE / "api")
    for name in ("site.css", "filter.js", "favicon.svg"):
        shutil.copy(ROOT / "docs_tools" / name, SOURCE)
    config = SOURCE.with_name("zensical.yml")
    text = (ROOT / "docs_tools" / "zensical.yml").read_text()
    text = text.replace("docs_tools/", f"{ROOT}/docs_tools/").replace("paths: [.]", f"paths: [{ROOT}]")
    config.write_text(f"{text}{addresses()}docs_dir: {SOURCE.name}\nsite_dir: site\n{site.navigation()}")
    command = ["serve"] if args.serve else ["build", "--clean", "--strict"]
    done = subprocess.run([sys.executable, "-m", "zensical", *command, "-f", str(config)])
    if done.returncode or args.serve:
        sys.exit(done.returncode)
    folder = config.with_name("site")
    faults = site_search.write(folder, site.pages) + site_faults.all_of(folder, {ROOT / name: place
                                                                     for name, place in site.pages.items()})
    if faults:
        sys.exit("faults of the site:\n" + "\n".join(faults))
    print(f"the site is in {folder}")


if __name__ == "__main__":
    main()
