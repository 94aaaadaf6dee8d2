"""The wording of documentation, docstrings, comments and messages: patterns that a reader has to read twice."""
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# pattern -> better words
WORDS = {
    r"(?i)\bwhoever\b": "the caller, the thread that, anyone who",
    r"(?i)\bbesides\b": "also, in addition to, other than",
    r"(?i)\bbeside\b": "next to, compared with, together with",
    r"(?i)\banew\b": "again",
    r"(?i)\bso\s+many\b": "this number of",
    r"(?i)\b(tells?|told|telling)\b": "says, reports, specifies, shows",
    r"(?i)\bits\s+like\b": "similar ones",
    r"(?i)\bnone\s+but\b": "only",
    # `None` is the value
    r"(?<!there )\bis\s+none\b": "is not one, does not exist",
    r"(?i)\b(are\s+others|is\s+another\s+one)\b": "differ, differs",
    r"(?i)\b(go|goes|went|going)\s+on\b": "continues",
    r"(?i)\bsome\s+(\d|two|three|four|five|six|ten|twenty|thirty|forty|fifty|hundred)": "about",
    r"(?i)\bread\s+it\s+so\b": "say it directly",
    # at the beginning of a docstring
    r'\A"""What\b': "the noun that the clause describes",
    r'\A"""Has (environments|an environment|a claim)\b': "steps, sends",
}
# the same for the running text of pages
PROSE = {
    r"(?i)\b(says?|depends?\s+on|is|are|shows?|see)\s+what\b": "the noun that the clause describes",
    # at the beginning of a sentence that is no question
    r"(?m)(?:^(?:[-*] |\d+\. )?|[.:] )What\s(?![^.]*\?)": "the noun that the clause describes",
    r"(?m)(?:^(?:[-*] |\d+\. )?|[.:] )Where\s(?![^.]*\?)": "if, when",
    r"(?m)(?:^(?:[-*] |\d+\. )?|[.:] )(Equal|Left out|Missing) (is|are)\b": "the subject first",
    r"(?i)\bbut\s+for\b": "except",
    r"\b(is|are)\s+of\b(?!\s+type)": "belongs to, has, refers to",
    r"\b(is|are)\s+an?\s+(error\b|`\w*Error`)": "raises",
    r"\b20\d\d-\d\d-\d\d\b": "no day of a measurement or a repair",
}
QUOTED = re.compile(r"`[^`\n]*`")
CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
# docstrings, other strings, comments
PYTHON = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.DOTALL)
C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
SHELL = re.compile(r"(?<!\S)#[^\n]*")
LANGUAGES = {**dict.fromkeys((".py", ".pyi", ".pyx", ".pxd"), PYTHON), **dict.fromkeys((".h", ".cpp"), C),
             **dict.fromkeys((".toml", ""), SHELL)}


def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("needs a git checkout")
    return [path for name in done.stdout.splitlines() if (path := ROOT / name).is_file()]


def blanked(pattern, text):
    """Replaces matches by spaces; lines stay where they are."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def prose(path):
    """Returns (offset, text) for each part of a file that is written for people."""
    if path.suffix == ".md":
        return [(0, blanked(CODE_BLOCK, path.read_text()))]
    if path.suffix in LANGUAGES:
        return [(match.start(), match.group()) for match in LANGUAGES[path.suffix].finditer(path.read_text())]
    return []


def findings(path):
    is_page = path.suffix == ".md"
    for offset, text in prose(path):
        patterns = [(word, blanked(QUOTED, text)) for word in WORDS] + [(word, text) for word in PROSE if is_page]
        for word, searched in patterns:
            better = (WORDS | PROSE)[word]
            for match in re.finditer(word, searched):
                line = path.read_text().count("\n", 0, offset + match.start()) + 1
                yield f"{path.relative_to(ROOT)}:{line}: {' '.join(match.group().split())!r}, better: {better}"


def test_wording():
    # the changelog of a release stays as it was released
    excluded = {Path(__file__), ROOT / "CHANGELOG.md"}
    found = [finding for path in tracked() if path not in excluded for finding in findings(path)]
    assert not found, "\n".join(found)


def test_lines_are_short():
    # linters check Python and Cython
    long = [f"{path.relative_to(ROOT)}:{number}" for path in tracked() if path.suffix in (".md", ".h", ".cpp")
            for number, line in enumerate(path.read_text().splitlines(), 1) if len(line) > 120]
    assert not long, long
