"""The examples of the documentation run as they stand."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{k}")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for k, block in enumerate(re.findall(r"```python\n(import cypool\n.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_example(run_python, block):
    done = run_python(block)
    assert done.returncode == 0, done.stderr


def test_pages_link_to_what_is_there():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        # brackets in code are no links
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
