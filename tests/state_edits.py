"""Saved states with other numbers, by the names that families declare for them."""
import math
import pickle
import struct

from cypool.registration.registry import resolve

LARGEST = {"f": 3.4e38, "d": 1.7e308}


def fields_of(state):
    """Returns the numbers of a state of one environment: path -> (type, offset, least, greatest)."""
    row, = state.rows
    cls, spec = resolve(row["id"], None, dict(row["options"]))
    return {path: rest for path, *rest in cls(spec, 0).state_fields(row["own"])}


def edited(state, numbers, fields=None):
    """Returns a state of one environment with other numbers: {path: value}."""
    saved = bytearray(state.rows[0]["own"][0])
    fields = fields or fields_of(state)
    for path, value in numbers.items():
        kind, offset, *_ = fields[path]
        struct.pack_into("<" + kind, saved, offset, value)
    # the other parts of a family's state stay
    return with_own(state, (bytes(saved), *state.rows[0]["own"][1:]))


def with_own(state, own):
    """Returns a state of one environment with `own` as the environment's own part."""
    state = pickle.loads(pickle.dumps(state))
    state.rows[0]["own"] = own
    return state


def with_numbers(state, own):
    """Returns a state of one environment of MuJoCo's with other values of the family's part."""
    packed = state.rows[0]["own"]
    return with_own(state, (*packed[:4], own, *packed[5:]))


def number_in(state, path):
    """Returns a number of a state of one environment."""
    kind, offset, *_ = fields_of(state)[path]
    return struct.unpack_from("<" + kind, state.rows[0]["own"][0], offset)[0]


def edges(kind, low, high):
    """Returns the ends of a range, and numbers just beyond it as far as the type has them."""
    if kind in LARGEST:
        beyond = [math.nan, math.inf, -math.inf]
        beyond += [value for value in (low - max(1, abs(low)), high + max(1, abs(high)), LARGEST[kind])
                   if not low <= value <= high]
        return [low, high], beyond
    bits = 8 * struct.calcsize("<" + kind)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.islower() else (0, (1 << bits) - 1)
    low, high = int(low), int(high)
    return [low, high], sorted({value for value in (low - 1, high + 1, least, most)
                                if least <= value <= most and not low <= value <= high})


def edged_states(state, random, count):
    """Yields (path, state, whether it is in its range) with a number at an edge of its range, or beyond it.

    Args:
        state: Of one environment, whose family has `state_fields`.
        random: A NumPy Generator.
        count: How many of the numbers.
    """
    fields = fields_of(state)
    for k in random.permutation(len(fields))[:count]:
        path = list(fields)[k]
        kind, _, low, high = fields[path]
        inside, beyond = edges(kind, low, high)
        for values, is_in_range in ((inside, True), (beyond, False)):
            for value in values:
                yield path, edited(state, {path: value}, fields), is_in_range
