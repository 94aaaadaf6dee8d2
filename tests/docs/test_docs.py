"""The examples of the documentation run as they stand, and its links lead somewhere."""
import ast
import builtins
import importlib.util
import json
import re
from pathlib import Path

import pytest

from cypool.envs import FAMILIES

pytestmark = pytest.mark.families("atari", "box2d", "crafter", "dm_control", "metaworld", "minigrid", "mpe2", "mujoco",
                                  "nethack", "procgen", "robotics", "vizdoom")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# the pages that one reads first; the others' examples are slow tests
FIRST = "README.md", "first_steps.md", "own_environment.md"
LARGE_PACKAGES = "jax", "numba", "torch", "wandb"


def large_packages_of(block):
    """The large packages that an example imports."""
    found = [package for package in LARGE_PACKAGES if re.search(rf"^(import|from) {package}\b", block, re.MULTILINE)]
    # PyTorch imports it
    return [*found, "tensorboard"] if "tensorboard" in block else found


BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{k}", marks=pytest.mark.large_packages if large_packages_of(block) else
                 () if page.name in FIRST else pytest.mark.slow)
    for page in PAGES
    for k, block in enumerate(re.findall(r"```python\n(import cypool\n.*?)```", page.read_text(), re.DOTALL))
]
# names in examples that stand for the reader's code
PLACEHOLDERS = {"make_env"}


def headings(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("block", BLOCKS)
def test_example(run_forked, tmp_path, block):
    if '"dm_control/' in block:
        pytest.importorskip("dm_control", reason="dm_control is not installed: it needs Python before 3.13")
    if '"my_env/' in block:
        pytest.skip("tests/tools/test_new.py makes this package")
    for family, prefix in (("procgen", '"procgen-'), ("nethack", '"NetHack')):
        if prefix in block and not next(each for each in FAMILIES if each.name == family).is_installed:
            pytest.skip(f"{family} is not there: cypool get {family}")
    for package in large_packages_of(block):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    run_forked(block, tmp_path, check=True)


def test_the_notebook_prints_what_is_stored_in_it(run_forked, monkeypatch):
    """Its cells run one after the other, with plots that nobody sees."""
    for package in ("matplotlib", "pygame"):
        pytest.importorskip(package)
    page = ROOT / "docs" / "tutorials" / "notebook.ipynb"
    cells = json.loads(page.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    stored = [output for cell in code for output in cell["outputs"]]
    program = ["import matplotlib", "matplotlib.use('agg')", *("".join(cell["source"]) for cell in code)]
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    done = run_forked("\n".join(program), check=True)
    assert done.stdout == "".join(line for output in stored for line in output.get("text", []))
    assert sum("image/png" in output.get("data", {}) for output in stored) == 3
    for cell in cells:
        for target in re.findall(r"\]\(([^)#:]*)\)", "".join(cell["source"]) if cell not in code else ""):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_can_be_pasted_alone(page):
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        tree = ast.parse(block)
        known = {name for node in ast.walk(tree) for name in names_of(node)} | set(dir(builtins))
        unknown = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - known - PLACEHOLDERS
        assert not unknown, f"{page.name}: {sorted(unknown)} in:\n{block}"


def names_of(node):
    """The names that a node of a syntax tree makes known."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.ExceptHandler):
        return {node.name}
    return {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()


def test_links_lead_to_files_and_headings():
    for page in [*PAGES, *sorted(ROOT.glob("[A-Z]*.md")), *sorted(ROOT.glob("*/README.md"))]:
        # brackets in code are no links
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            linked = page.parent / target if target else page
            assert linked.exists(), f"{page.name}: {target}"
            assert not heading or heading in headings(linked), f"{page.name}: {target}#{heading}"
