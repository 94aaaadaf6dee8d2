"""The list of families has all of them, and their records name existing files, tests and ids."""
import re
import runpy
from pathlib import Path

from cases import CASES

from cypool.envs import FAMILIES

ROOT = Path(__file__).parents[2]


def test_list_of_families_has_a_line_for_each():
    tool = runpy.run_path(str(ROOT / "docs_tools" / "family_list.py"))
    assert tool["MARKER"] in (ROOT / "docs" / "reference" / "environments.md").read_text()
    assert re.findall(r"^- \*\*\[.*?\]\((\w+)\.md\)", tool["text"](), re.MULTILINE) == [each.name for each in FAMILIES]


def test_the_readme_has_all_families():
    text = (ROOT / "README.md").read_text()
    assert f"covers {len(FAMILIES)} families" in text
    assert {each.name for each in FAMILIES} <= set(re.findall(r"\(docs/reference/(\w+)\.md\)", text))


def test_pages_of_families_begin_with_what_an_agent_sees_and_does():
    for family in FAMILIES:
        text = (ROOT / "docs" / "reference" / f"{family.name}.md").read_text().partition("\n## ")[0]
        rows = re.findall(r"^\| \*\*(.*?)\*\* \| .+ \|$", text, re.MULTILINE)
        assert rows == ["Observation", "Action", "Reward", "Episode ends"], family.name


def test_records_name_what_there_is():
    project = (ROOT / "pyproject.toml").read_text()
    for family in FAMILIES:
        cases = CASES[family.name]
        folder = ROOT / "cypool" / "envs" / family.name
        assert (folder / "ids.py").is_file()
        assert (folder / f"{family.name}.pyx").is_file()
        assert (ROOT / "docs" / "reference" / f"{family.name}.md").is_file()
        assert not family.extra or re.search(rf"(?m)^{family.extra} = ", project)
        known = {entry.id for entry in family.entries(("*",))}
        used = {*family.smoke_ids, *cases.first_make, *cases.pictures, *(id for id, _ in cases.fuzz_variants),
                *(id for id, _ in cases.measured)}
        assert used <= known or not family.is_built, used - known
        for pattern in (*cases.quick_ids, *cases.slow_ids, *cases.fuzz_ids):
            assert family.entries((pattern,)) or not family.is_built, pattern
        assert len(cases.pictures) in (0, 5)
