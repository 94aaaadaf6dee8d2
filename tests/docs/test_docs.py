"""The examples of the documentation run as they stand, and its links lead somewhere."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# the pages that one reads first; the others' examples are slow tests
FIRST = "README.md", "first_steps.md", "own_environment.md"
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{k}", marks=[] if page.name in FIRST else [pytest.mark.slow])
    for page in PAGES
    for k, block in enumerate(re.findall(r"```python\n(import cypool\n.*?)```", page.read_text(), re.DOTALL))
]


def headings(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("block", BLOCKS)
def test_example(run_python, block):
    if '"dm_control/' in block:
        pytest.importorskip("dm_control", reason="dm_control is not installed: it needs Python before 3.13")
    done = run_python(block)
    assert done.returncode == 0, done.stderr


def test_links_lead_to_files_and_headings():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"]:
        # brackets in code are no links
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            linked = page.parent / target if target else page
            assert linked.exists(), f"{page.name}: {target}"
            assert not heading or heading in headings(linked), f"{page.name}: {target}#{heading}"
