"""Texts in observations and infos: fixed numbers of bytes, as `cypool.spec.Text` describes them."""
from __future__ import annotations

from typing import Any

import numpy as np

from cypool.util.arguments import check_array


def text(array: Any) -> Any:
    """Returns the texts of an array of bytes: `cypool.text(obs["mission"])`.

    Texts are UTF-8, padded with zeros to the length of the last axis.

    Args:
        array: uint8, (..., length).

    Returns:
        A str for a single text, of shape (length,); otherwise a tuple with one item per row, a str or another tuple.

    Raises:
        TypeError: `array` is not an array of uint8.
        ValueError: `array` has no axis, or is not UTF-8.
    """
    array = check_array("array", array, "an array of uint8, (..., length)")
    if array.dtype != np.uint8:
        raise TypeError(f"array: expected an array of uint8, got {array.dtype}")
    if array.ndim == 0:
        raise ValueError("array: expected shape (..., length), got ()")
    if array.ndim > 1:
        return tuple(text(row) for row in array)
    try:
        return array.tobytes().rstrip(b"\0").decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"array: expected UTF-8, got {array.tobytes()!r}: {error}") from error


def encode(value: str, length: int) -> bytes:
    """Returns a text in the form that arrays hold.

    Raises:
        ValueError: It has more than `length` bytes, or ends in a zero.
    """
    data = value.encode()
    if len(data) > length or data.endswith(b"\0"):
        raise ValueError(f"text: expected at most {length} bytes of UTF-8 without a trailing zero byte, got {value!r}")
    return data.ljust(length, b"\0")
