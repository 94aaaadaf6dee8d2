"""build_site.py changes Markdown as the generator needs it, and notices the faults of a site."""
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
HEAD = """<title>First</title><meta name="description" content="Says one."><link rel="canonical" href="https://x/">
<link rel="icon" href="icon.svg"><a class="md-source" href="https://x/source">Repository</a>"""


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs_tools"))
    yield lambda name: __import__(name)
    for file in (ROOT / "docs_tools").glob("*.py"):
        sys.modules.pop(file.stem, None)


@pytest.fixture
def faults(tool, tmp_path):
    (tmp_path / "icon.svg").touch()
    (tmp_path / "a.webp").touch()

    def of(html, source="", head=HEAD):
        module = tool("site_faults")
        page = module.Page(head + html)
        file = tmp_path / "index.html"
        return [*module.broken_media(page, tmp_path, file), *module.page_faults(page, tmp_path, file),
                *module.damaged_code(page, source)]

    return of


@pytest.mark.parametrize("html, fault", [
    ('<img src="a.webp"><p>Text.</p><pre><code>a [b](c)</code></pre><p><code>[b](c)</code> 2**31</p>', None),
    ('<img src="a.webp#only-light"><source srcset="/a.webp 2x"><video src="https://example.org/a.mp4">', None),
    ('<img src="b.webp">', "not a picture or video: b.webp"),
    ('<img src="icon">', "not a picture or video: icon"),
    ('<video src="b.mp4">', "not a picture or video: b.mp4"),
    ("<p>see [the page](page.md)</p>", "Markdown: "),
    ("<table><tr><td>- <b>A</b> list</td></tr></table>", "Markdown: "),
    ("<p>a **bold word</p>", "Markdown: "),
    ("<p>::: cypool.make</p>", "Markdown: "),
    ("<pre><code>flowchart LR\n a --&gt; b</code></pre>", "source text of a diagram: "),
    (f'<div class="doc-signature"><pre><code>make({"a" * 100})</code></pre></div>', "a line of more than 100 "),
])
def test_faults_of_a_page(faults, html, fault):
    found = faults(html)
    assert len(found) == (fault is not None) and all(each.startswith(fault) for each in found)


@pytest.mark.parametrize("part, fault", [
    ("<title>First</title>", "no title"), ('<meta name="description" content="Says one.">', "no description"),
    ('<link rel="canonical" href="https://x/">', "no address"), ('href="icon.svg"', "no icon"),
    ('class="md-source"', "no link to the repository")])
def test_a_page_has_a_head(faults, part, fault):
    assert faults("", head=HEAD.replace(part, "")) == [fault]


@pytest.mark.parametrize("html, same", [
    ("<pre><code>for i in x:\n    <span>print</span>(i)\n</code></pre><pre>generated</pre><pre>second</pre>", True),
    ("<pre><code>for i in x:\n        print(i)\n</code></pre><pre>second</pre>", False),
    ("<pre>second</pre><pre><code>for i in x:\n    print(i)\n</code></pre>", False)])
def test_code_is_that_of_the_source(faults, html, same):
    source = "- a\n\n  ```python\n  for i in x:\n      print(i)\n  ```\n\n```mermaid\na\n```\n\n```\nsecond\n```\n"
    assert bool(faults(html, source)) != same


def test_pages_have_titles_of_their_own(tool):
    module = tool("site_faults")
    pages = {name: module.Page(HEAD.replace("Says one", f"Says {name}")) for name in ("a", "b")}
    assert module.same_titles(pages) == [f"{name}: the title of another page: 'First'" for name in pages]


def test_missing_names_are_noticed(tool):
    module = tool("site_faults")
    missing = module.missing_names([module.Page('<h2 id="cypool.make"></h2>')])
    assert "api: cypool.make is missing" not in missing
    assert {f"api: {name} is missing" for name in ("cypool.record", "cypool.ReplayBuffer.sample", "observe", "submit",
                                                   "cypool.state.check_stream", "copy_stream",
                                                   "cypool.adapters.sb3.make")} <= set(missing)


@pytest.mark.parametrize("text, expected", [
    ("- a\n  - b\n\n  c\n", "- a\n    - b\n\n    c\n"),
    ("1. a\n\n   b\n", "1. a\n\n    b\n"),
    ("- a\n\n  | b |\n- c\n", "- a\n\n    | b |\n\n- c\n"),
    ("```\n  a\n```\n", "```\n  a\n```\n"),
    ("- a\n\n  ```\n  a\n    b\n  ```\n", "- a\n\n    ```\n    a\n      b\n    ```\n"),
])
def test_lists_are_deeper(tool, text, expected):
    module = tool("build_site")
    assert module.outside_code(module.deepen_lists, text, module.deepen_code) == expected


def test_a_page_is_described_by_its_first_sentence(tool):
    text = "# A\n\n![b](c.png)\n\n| a |\n\nThe [first](b.md) `x[0]` sentence,\nwhole. Another.\n"
    assert tool("build_site").front_matter(text, "a.md") == \
        '---\ndescription: "The first x[0] sentence, whole."\n---\n\n'
    assert '"A"' in tool("build_site").front_matter("# A\n", "a.md")


def test_diagrams_have_pictures(tool):
    module = tool("diagrams")
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "```mermaid" in page.read_text()]
    for page in pages:
        text = module.as_pictures(page.read_text(), page.relative_to(ROOT).as_posix())
        assert "```mermaid" not in text and text.count("#only-dark)") == page.read_text().count("```mermaid")
    with pytest.raises(SystemExit, match=r"p.md: the diagram below 'A' has no picture docs/pictures/diagram_"):
        module.as_pictures("# A\n\n```mermaid\nflowchart LR\n```\n", "p.md")


def test_words_lead_to_pages(tool, tmp_path):
    try:
        module, site = tool("site_search"), tool("build_site").Site()
    except subprocess.CalledProcessError:
        pytest.skip("needs a git checkout")
    entries = module.entries(site.pages)
    assert len(entries) >= 30 and entries["install"] == "how_to/installation"
    assert set(entries.values()) <= {place.removesuffix(".md") for place in site.pages.values()}
    # what people type, which may be no entry
    assert len(module.QUERIES) >= 30 and set(module.QUERIES.values()) <= {
        place.removesuffix(".md") for place in site.pages.values()}
    *others, (last, page) = entries.items()
    index = {"config": {}, "items": [{"location": f"{place}/", "level": "1", "title": "x", "text": ""}
                                     for _, place in others if place != page]}
    (tmp_path / "search.json").write_text(json.dumps(index))
    assert f"search: {last!r} leads to {page}, which is not a page" in module.write(tmp_path, site.pages)
    items = json.loads((tmp_path / "search.json").read_text())["items"]
    assert [item["title"] for item in items[:-len(index["items"])]] == [
        word for word in entries if entries[word] != page]


def test_the_navigation_has_all_guides_in_groups(tool):
    guides = {name for names in tool("build_site").GROUPS["how_to"].values() for name in names}
    assert guides == {page.stem for page in (ROOT / "docs" / "how_to").glob("*.md")}


def test_sections_become_tabs(tool):
    module = tool("build_site")
    page = "a\n\n<!-- tabs -->\n## One\n\n```\nx\n  y\n```\n\n## Two\n\nb\n\n<!-- /tabs -->\n\nc\n"
    assert module.TABS.sub(module.as_tabs, page) == \
        'a\n\n=== "One"\n\n    ```\n    x\n      y\n    ```\n\n=== "Two"\n\n    b\n\n\nc\n'


def test_a_page_has_a_link_to_its_source(tool):
    link = tool("build_site").edit_link("docs/how_to/cluster.md")
    assert '/edit/main/docs/how_to/cluster.md" title="Edit docs/how_to/cluster.md">' in link
    assert link.startswith('<a class="edit" href="https://')


def test_a_notebook_becomes_a_page(tool, tmp_path):
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps({"cells": [
        {"cell_type": "markdown", "source": ["# A\n", "\n", "b"]},
        {"cell_type": "code", "source": ["print(1)"], "outputs": [{"text": ["1\n", "2\n"]}]},
        {"cell_type": "code", "source": ["plot()"], "outputs": [{"data": {"image/png": "ab\nc=\n"}}]}]}))
    assert tool("notebook").as_markdown(file) == (
        "# A\n\nb\n\n```python\nprint(1)\n```\n\n```text\n1\n2\n```\n\n```python\nplot()\n```\n\n"
        "![Output of the code above](data:image/png;base64,abc=)\n")


def test_settings_are_those_of_the_commands_and_of_the_programs(tool):
    module = tool("settings")
    runs = {(run.id, run.program): run for run in module.runs()}
    pong = runs["Pong-v5", "learning_curves"]
    # given, the program's default, and not what is only written
    assert pong.settings["learning_rate"] == "7e-4" and pong.settings["gamma"] == 0.99 and "out" not in pong.settings
    assert pong.steps == [599040] and pong.results == {"return": [17.75]} and not pong.cpu_seconds
    fast = runs["CartPole-v1", "ppo_fast"]
    # of the environment, and of all
    assert fast.settings["minibatch_size"] == 512 and fast.settings["gae_lambda"] == 0.95 and len(fast.steps) == 3
    text = module.text()
    assert module.MARKER in (ROOT / "docs" / "how_to" / "settings.md").read_text()
    for anchor in re.findall(r"\]\(#(.*?)\)", text):
        assert anchor in {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-")
                          for each in re.findall(r"^## (.*)$", text, re.MULTILINE)}
    files = {run.file for run in module.runs()}
    others = {file.name for file in (ROOT / "docs" / "data").glob("learning_*.csv")} - files
    assert others == {"learning_replay.csv"}


def test_parameters_in_one_line_are_separate(tool):
    pytest.importorskip("griffe")
    text = "Does.\n\nArgs:\n    a: One.\n    b, c: As\n        in.\n\nReturns:\n    d, e: Two.\n"
    assert tool("compiled_docstrings").separate(text) == \
        "Does.\n\nArgs:\n    a: One.\n    b: As\n        in.\n    c: As\n        in.\n\nReturns:\n    d, e: Two.\n"


@pytest.mark.families("classic_control")
def test_tables_of_the_catalogue(tool):
    module = tool("catalogue")
    family, entries = module.families()["classic_control"]
    text = module.page(family, entries, None, False)
    assert text.count("### All options") == 1
    options = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert options and len(options) == len(set(options))
    assert all(f"<code>{each.id}" in text.replace("<wbr>", "") for each in entries)


@pytest.fixture
def catalogue(tool, tmp_path, monkeypatch):
    """The module, which can draw and has kept no pictures."""
    pytest.importorskip("pygame")
    pytest.importorskip("PIL")
    module = tool("catalogue")
    monkeypatch.setattr(module, "PICTURES", tmp_path / "kept")
    return module


@pytest.mark.families("classic_control")
def test_pictures_are_used_again(catalogue, tmp_path, monkeypatch):
    assert catalogue.take_picture("CartPole-v1", tmp_path) == "CartPole-v1.webp"
    monkeypatch.setattr(catalogue, "draw", lambda id, file, frames: file.write_bytes(b""))
    assert catalogue.take_picture("CartPole-v1", tmp_path) == "CartPole-v1.webp"
    assert (tmp_path / "CartPole-v1.webp").stat().st_size
    # nothing could be drawn
    assert catalogue.take_picture("Acrobot-v1", tmp_path) is None


@pytest.mark.families("classic_control")
def test_a_picture_that_cannot_be_drawn_is_tried_again(catalogue, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pygame", None)
        assert catalogue.take_picture("CartPole-v1", tmp_path) is None
    assert "catalogue: no picture of CartPole-v1: " in capsys.readouterr().err
    assert catalogue.take_picture("CartPole-v1", tmp_path) == "CartPole-v1.webp"


@pytest.mark.families("classic_control")
def test_a_family_begins_with_films(catalogue, tmp_path):
    image = pytest.importorskip("PIL.Image")
    films = catalogue.films_of(catalogue.families()["classic_control"][0], tmp_path)
    assert len(films) == 3 and all((tmp_path / Path(film).name).is_file() for film in films.values())
    with image.open(tmp_path / Path(films["CartPole-v1"]).name) as film:
        assert film.n_frames > 1
    assert catalogue.shown(films).count("<figcaption>") == 3 and not catalogue.shown({})


@pytest.mark.families("classic_control")
def test_pictures_that_show_nothing(tool, tmp_path, monkeypatch):
    pytest.importorskip("PIL")
    module = tool("catalogue")
    env = module.cypool.make("CartPole-v1", num_envs=1)
    frame = np.full((40, 60, 3), 200, np.uint8)
    frame[30:] = 20
    monkeypatch.setattr(type(env), "render", lambda self: (frame,))
    module.draw("CartPole-v1", tmp_path / "wall.webp")
    assert not (tmp_path / "wall.webp").stat().st_size
    frame[10:, 30] = 0
    module.draw("CartPole-v1", tmp_path / "pole.webp")
    assert (tmp_path / "pole.webp").stat().st_size
