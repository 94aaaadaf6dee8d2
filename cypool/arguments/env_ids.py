"""Conversion of env ids, and the environments of players' rows."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cypool.util.arguments import MAX_ENVS, check_array, shown_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.spec import EnvSpec
    from cypool.util.typing import EnvIds


def ids_of(env_id: ArrayLike | None, name: str = "env_id") -> EnvIds | None:
    """Returns env ids as int32 of shape (k,), C-contiguous, or None for None; copies only if necessary.

    `name` is their name in messages.

    Raises:
        TypeError: They are not integers.
        ValueError: They have the wrong number of dimensions, or do not fit into int32.
    """
    if env_id is None:
        return None
    ids = env_id if type(env_id) is np.ndarray else check_array(name, env_id, "integers of shape (k,)")
    if ids.ndim == 1 and ids.dtype == np.int32 and ids.flags.c_contiguous and ids.flags.aligned:
        return ids
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"{name}: expected integers, got {shown_numbers(ids)}")
    if ids.ndim != 1:
        raise ValueError(f"{name}: expected shape (k,), got {ids.shape}")
    if ids.size > MAX_ENVS:
        raise ValueError(f"{name}: expected at most {MAX_ENVS} ids, got {ids.size}")
    if not ids.size:
        # of any dtype
        return np.zeros(0, np.int32)
    taken = ids.astype(np.int32)
    changed = taken != ids
    if changed.any():
        raise ValueError(f"{name}: expected ids in [0, num_envs), got {ids[changed.argmax()]}")
    return taken


def players_of(spec: EnvSpec, env_ids: EnvIds) -> dict[str, EnvIds]:
    """Returns `info["players"]`: `env_id`, the environment of each player's row, one player after the other."""
    return {"env_id": env_ids if spec.num_players == 1 else np.repeat(env_ids, spec.num_players)}
