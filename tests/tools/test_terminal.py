"""Tables, wrapped texts, colours and progress: with a terminal and without one."""
import subprocess

import pytest
from tools.terminals import said_at_terminal

from cypool.tools.terminal import print_table, print_text, styled


def test_a_table_wraps_its_last_column(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    print_table([("one", "a text of several words that continues"), ("three", ("", "bold")), ("two", "b")],
                heading=("id", "what"))
    assert capsys.readouterr().out == ("id     what\none    a text of several words\n       that continues\nthree\n"
                                       "two    b\n")


def test_numbers_are_flush_right_below_headings_of_two_lines(capsys):
    print_table([("a", "1", "2"), ("b", "100", "20000")], heading=("id", "times\na", "x"), right=(1, 2))
    assert capsys.readouterr().out == "id  times      x\n        a\na       1      2\nb     100  20000\n"


def test_a_text_is_wrapped_behind_its_blanks(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    print_text("one two three four five six\n\n  a-b-c [d] seven eight nine", indent=2)
    assert capsys.readouterr().out == "  one two three four\n  five six\n\n    a-b-c [d] seven\n    eight nine\n"


@pytest.mark.parametrize("names, expected", [
    ({}, "text"), ({"FORCE_COLOR": "1"}, "\x1b[32mtext\x1b[0m"), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "text")])
def test_colours_are_shown_as_the_variables_say(names, expected, monkeypatch):
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert styled("text", "green") == expected


def test_progress_shows_in_a_terminal_alone(run_python, tmp_path):
    code = ("from cypool.tools.terminal import Progress\n"
            "with Progress('begins') as bar:\n    print(*bar.over(range(3), 'counts'))")
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("0 1 2\n", "")
    said = said_at_terminal(["-c", code], cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert b"begins" in said and b"counts" in said and b"2/3" in said and said.endswith(b"\r\x1b[K")
