"""The page of measurements and the README's charts are the output of their commands for the file."""
import json
import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_made_of_the_file():
    tool = runpy.run_path(str(ROOT / "docs_tools" / "make_measurements.py"))
    report = json.loads((ROOT / "docs_tools" / "measurements.json").read_text())
    assert tool["page"](report) == tool["PAGE"].read_text()


def test_the_charts_are_made_of_the_file_and_the_readme_says_their_numbers():
    tool = runpy.run_path(str(ROOT / "docs_tools" / "make_pictures.py"))
    report = json.loads((ROOT / "docs_tools" / "measurements.json").read_text())
    said = re.findall(r'alt="([^"]*)"', (ROOT / "README.md").read_text())
    for id, text in zip(tool["MEASURED"], said, strict=True):
        for name, theme in tool["THEMES"].items():
            chart = tool["draw_throughput"](report, id, theme)
            assert chart == (tool["FOLDER"] / f"throughput-{id}-{name}.svg").read_text()
            assert re.findall(r'class="number.*?>([\d,]+)', chart) == re.findall(r" ([\d,]+\d)", text)
