"""The interface of observers of a pool: hooks in Python, histories, replay buffers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.util.typing import Batch, Bools, EnvIds


class Observer:
    """Is notified by a pool of its calls: `Pool.observers`.

    The pool reports each change within its own call, so that observers miss nothing. It accepts no other call during
    that time. If an observer raises, or Ctrl-C comes there, the caller gets the exception, and all observers are
    notified of a gap before the next change. A step that was interrupted while it is made stays in flight, and its
    batch comes later.
    """

    def _before(self, options: Any) -> None:
        """Something is about to be sent, maybe a reset with options. The pool may be asked; an exception refuses it."""

    def _on_sent(self, actions: NDArray[Any], env_ids: EnvIds | None) -> None:
        """Actions were sent to these environments; None: to all in order."""

    def _on_reset(self, env_ids: EnvIds | None, others: bool, seeds: list[tuple[int, int]] | None,
                  options: Any) -> None:
        """Resets were sent: the arguments of `Pool.send_reset`."""

    def _on_received(self, batch: Batch, stepped: Bools, starts: Bools) -> Batch:
        """Returns a batch as others get it: as it is, or changed. It may be that of an `EnvError`.

        Args:
            batch: The batch of the pool, or of the observer in front.
            stepped, starts: Which rows belong to a step, and which to a reset.
        """
        return batch

    def _on_rollout(self, actions: NDArray[Any], num_steps: int, observe_every: int, batch: Batch) -> None:
        """A rollout was made."""
        self._on_gap()

    def _on_gap(self) -> None:
        """Environments have changed in another way: `load`, `copy`, a batch that was not received, an exception."""
