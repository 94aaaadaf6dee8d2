"""Options that are declared once: signature, checks and meanings come from the declaration."""
import inspect

import pytest

from cypool.options import Option, boolean, choice, describes, integer, number, optional


@describes(
    size=integer(4, 1, 9, "Cells of a side, 1 to 9."),
    limit=integer(None, 1, 9, "Steps; None: no limit."),
    slip=number(0.5, 0, 1, "The probability of a slip."),
    kind=choice("a", ("a", "b"), "Which one."),
    on=boolean(False, "Whether it is on."),
    twice=Option(3, lambda name, value: 2 * value, "Any number. " + "A long text is wrapped. " * 10))
def own(options):
    return options


@describes("See `Base.describe`.", size=integer(4, 1, 9, "Cells of a side."))
def derived(options, common):
    """Returns both."""
    return options, common


def test_options_without_values_are_the_checked_defaults():
    assert own() == {"size": 4, "limit": None, "slip": 0.5, "kind": "a", "on": False, "twice": 6}


def test_options_given_are_checked_in_the_order_of_the_declaration():
    assert list(own(on=True, size=5)) == ["size", "limit", "slip", "kind", "on", "twice"]
    assert own(on=True, size=5, limit=2) == {"size": 5, "limit": 2, "slip": 0.5, "kind": "a", "on": True, "twice": 6}


@pytest.mark.parametrize("given, error, message", [
    ({"size": 10}, ValueError, "size: expected 1 to 9, got 10"),
    ({"size": None}, TypeError, "size: expected an int, got None"),
    ({"limit": 0}, ValueError, "limit: expected 1 to 9, got 0"),
    ({"slip": "x"}, TypeError, "slip: expected a number, got 'x'"),
    ({"kind": "c"}, ValueError, "kind: expected one of 'a', 'b', got 'c'"),
    ({"on": 1}, TypeError, "on: expected True or False, got 1"),
    ({"of": 1}, TypeError, "describe\\(\\) got an unexpected keyword argument 'of'")])
def test_options_that_are_wrong_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        own(**given)


def test_options_that_may_be_none_are_checked_where_they_are_not():
    option = optional(lambda name, value: 2 * value, "Any number.")
    assert (option.default, option.check("size", None), option.check("size", 3)) == (None, None, 6)
    assert boolean(None, "Whether it is on.").check("on", None) is None


def test_options_of_a_base_class_are_passed_on_unchecked():
    assert derived(size=2, width="x") == ({"size": 2}, {"width": "x"})


def test_signature_and_docstring_come_from_the_declaration():
    assert str(inspect.signature(own)) == "(*, size=4, limit=None, slip=0.5, kind='a', on=False, twice=3)"
    assert str(inspect.signature(derived)) == "(*, size=4, **common)"
    text = own.__doc__
    assert text.startswith("Returns the spec.\n\nArgs:\n    size: Cells of a side, 1 to 9.\n    limit: Steps;")
    assert max(map(len, text.splitlines())) <= 120 and "\n        wrapped. A long" in text
    assert derived.__doc__ == ("Returns both.\n\nArgs:\n    size: Cells of a side.\n    **common: See `Base.describe`.")


def test_option_with_another_default_keeps_its_check():
    other = integer(4, 1, 9, "Cells.").with_default(7)
    assert (other.default, other.meaning, other.check("size", 9)) == (7, "Cells.", 9)
