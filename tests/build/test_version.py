"""pyproject.toml is where the version stands."""
import re
from pathlib import Path

import pytest

import cypool

ROOT = Path(__file__).resolve().parents[2]
DECLARED = re.search(r'(?m)^version = "(.+)"$', (ROOT / "pyproject.toml").read_text())[1]


def test_version_is_that_of_pyproject():
    assert cypool.__version__ == DECLARED


@pytest.mark.skipif(not (ROOT / "CITATION.cff").is_file(), reason="there is no CITATION.cff")
def test_citation_names_it():
    assert re.search(r"(?m)^version: (.+)$", (ROOT / "CITATION.cff").read_text())[1].strip("\"'") == DECLARED


def test_importing_cypool_reads_no_version(run_python):
    done = run_python("import sys, cypool\n"
                      "print('importlib.metadata' in sys.modules, 'cypool.util.version' in sys.modules)")
    assert (done.stdout, done.stderr) == ("False False\n", "")
