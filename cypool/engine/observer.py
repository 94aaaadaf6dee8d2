"""The interface of observers of a pool: hooks in Python, histories, replay buffers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.util.typing import Batch, Bools, EnvIds


class Observer:
    """Receives a pool's reports about its calls: `Pool.observers`.

    The pool reports each change within its own call, so that observers miss nothing. It accepts no other call
    meanwhile. If an observer raises, or Ctrl-C interrupts it, the caller gets the exception, and all observers are
    notified of a gap before the next change. An interrupted step stays in flight, and its batch comes later.
    """

    def _before(self, options: Any) -> None:
        """Something will be sent, possibly a reset with options. The pool may be queried; an exception refuses it."""

    def _on_sent(self, actions: NDArray[Any], env_ids: EnvIds | None) -> None:
        """Actions were sent to these environments; None: to all in order."""

    def _on_reset(self, env_ids: EnvIds | None, others: bool, seeds: list[tuple[int, int]] | None,
                  options: Any) -> None:
        """Resets were sent: the arguments of `Pool.send_reset`."""

    def _on_received(self, batch: Batch, stepped: Bools, starts: Bools) -> Batch:
        """Returns the batch that others get: the same or a changed one. It may belong to an `EnvError`.

        Args:
            batch: The batch of the pool, or of the previous observer.
            stepped, starts: Which rows belong to a step, and which to a reset.
        """
        return batch

    def _on_rollout(self, actions: NDArray[Any], num_steps: int, observe_every: int, batch: Batch) -> None:
        """A rollout has finished."""
        self._on_gap()

    def _on_gap(self) -> None:
        """Environments have changed in another way: `load`, `copy`, a batch that was not received, an exception."""
