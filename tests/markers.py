"""The markers of pyproject.toml: how tests get `slow`, and the tests that `-m` selects."""
import pytest

EXHAUSTIVE = [pytest.mark.slow, pytest.mark.exhaustive]


def slow(*values):
    """Returns values for `pytest.mark.parametrize` that only run where slow tests are asked for.

    A tuple is one value for each of several arguments.
    """
    return [pytest.param(*value, marks=pytest.mark.slow) if isinstance(value, tuple)
            else pytest.param(value, marks=pytest.mark.slow) for value in values]


def exhaustive(*values):
    """Returns values as `slow` does that run in a test of all, not in CI."""
    return [pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=EXHAUSTIVE) for value in values]


def often_slow(values, every, keep=()):
    """Returns all values; only one in `every`, and those of `keep`, run where slow tests are not asked for."""
    return [value if k % every == 0 or value in keep else slow(value)[0] for k, value in enumerate(values)]


def often_exhaustive(values, every):
    """Returns all values; only one in `every` runs in CI."""
    return [value if k % every == 0 else exhaustive(value)[0] for k, value in enumerate(values)]


def with_large_packages(config):
    """Whether tests that need large packages are to run: `-m large_packages` asks for them, `-m ""` for all tests."""
    wanted = config.option.markexpr
    return not wanted or ("large_packages" in wanted and "not large_packages" not in wanted)
