"""The page of measurements is the output of its command for the file."""
import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_made_of_the_file():
    tool = runpy.run_path(str(ROOT / "docs_tools" / "make_measurements.py"))
    report = json.loads((ROOT / "docs_tools" / "measurements.json").read_text())
    assert tool["page"](report) == tool["PAGE"].read_text()
