"""Comparisons of batches."""
import numpy as np


def assert_same(got, want):
    """Compares values of any structure bit for bit, with their types."""
    assert type(got) is type(want)
    if isinstance(want, dict):
        assert list(got) == list(want)
        got, want = got.values(), want.values()
    elif isinstance(want, np.ndarray | np.generic):
        assert got.dtype == want.dtype and got.shape == want.shape, (got, want)
        if want.dtype != object:
            assert got.tobytes() == want.tobytes(), (got, want)
            return
    elif not isinstance(want, tuple | list):
        assert got == want
        return
    for a, b in zip(got, want, strict=True):
        assert_same(a, b)
