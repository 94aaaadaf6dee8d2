"""Interprets a policy's parameters: draws actions, and computes their likelihood and the divergence of two policies.

A distribution is any object with these attributes and methods; `parameters` is always float32, shape
(rows, num_parameters):

    num_parameters
    sample(parameters, rng)             actions, (rows, *action shape); rng is a NumPy Generator
    logp(parameters, actions)           log probability or density, float64, (rows,)
    kl(old, new)                        KL divergence of `new` from `old`, KL(old || new), float64, (rows,)
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cypool.spec import Array, Discrete
from cypool.util.arguments import check_int

Floats = NDArray[np.float64]
Parameters = NDArray[np.float32]


class Distribution(Protocol):
    """The meaning of a policy's parameters; see the module's docstring."""

    @property
    def num_parameters(self) -> int: ...

    def sample(self, parameters: Parameters, rng: np.random.Generator, /) -> NDArray[Any]: ...

    def logp(self, parameters: Parameters, actions: NDArray[Any], /) -> Floats: ...

    def kl(self, old: Parameters, new: Parameters, /) -> Floats: ...


class Categorical:
    """One of `n` choices; the parameters are logits, not necessarily normalized. -inf excludes a choice.

    Args:
        n: Number of choices.
    """

    def __init__(self, n: int):
        self.n = self.num_parameters = check_int("n", n, 1, 2**31 - 1)

    def sample(self, parameters: Parameters, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draws actions, int64, (rows,)."""
        result: NDArray[np.int64] = (parameters + rng.gumbel(size=parameters.shape)).argmax(-1)
        return result

    def logp(self, parameters: Parameters, actions: NDArray[Any]) -> Floats:
        """Returns the log probability of each action, (rows,)."""
        return np.take_along_axis(_log_softmax(parameters), np.asarray(actions)[:, None], -1)[:, 0]

    def kl(self, old: Parameters, new: Parameters) -> Floats:
        """Returns KL(old || new) for each row, (rows,)."""
        before, after = _log_softmax(old), _log_softmax(new)
        # where old excludes a choice its term is 0, whatever new says
        terms = np.exp(before) * np.subtract(before, after, out=np.zeros_like(before), where=before > -np.inf)
        result: Floats = np.maximum(terms.sum(-1), 0)
        return result


class DiagonalGaussian:
    """Independent normals; the parameters are the means, then the logarithms of the standard deviations.

    Actions are unclipped. The worker only clips the actions that it passes to the environment.

    Args:
        shape: Shape of one action.
    """

    def __init__(self, shape: Sequence[int]):
        self.shape = tuple(check_int("shape", n, 1, 2**31 - 1) for n in shape)
        self.size = math.prod(self.shape)
        self.num_parameters = 2 * self.size

    def sample(self, parameters: Parameters, rng: np.random.Generator) -> NDArray[np.float32]:
        """Draws actions, float32, (rows, *shape)."""
        mean, log_std = self._split(parameters)
        drawn = mean + np.exp(log_std) * rng.standard_normal(mean.shape)
        return drawn.astype(np.float32).reshape(-1, *self.shape)

    def logp(self, parameters: Parameters, actions: NDArray[Any]) -> Floats:
        """Returns the log density of each action, (rows,)."""
        mean, log_std = self._split(parameters)
        z = (np.asarray(actions).reshape(-1, self.size) - mean) / np.exp(log_std)
        result: Floats = -(z * z / 2 + log_std + math.log(2 * math.pi) / 2).sum(-1)
        return result

    def kl(self, old: Parameters, new: Parameters) -> Floats:
        """Returns KL(old || new) for each row, (rows,)."""
        (old_mean, old_log), (new_mean, new_log) = self._split(old), self._split(new)
        terms = (new_log - old_log - 0.5
                 + (np.exp(2 * old_log) + (old_mean - new_mean) ** 2) / (2 * np.exp(2 * new_log)))
        result: Floats = np.maximum(terms.sum(-1), 0)
        return result

    def _split(self, parameters: Parameters) -> tuple[Floats, Floats]:
        exact = np.asarray(parameters, np.float64)
        return exact[:, :self.size], exact[:, self.size:]


def distribution_of(action: Any) -> Categorical | DiagonalGaussian:
    """Returns the distribution that fits a spec's action: `Categorical` for a `Discrete`, else `DiagonalGaussian`.

    Raises:
        ValueError: The action is an array of integers, for which you must write a distribution yourself.
    """
    if isinstance(action, Discrete):
        return Categorical(action.n)
    if isinstance(action, Array) and action.dtype.kind == "f":
        return DiagonalGaussian(action.shape)
    raise ValueError(f"action: expected a Discrete or an Array of floats, got {action}")


def _log_softmax(logits: NDArray[Any]) -> Floats:
    logits = np.asarray(logits, np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    result: Floats = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return result
