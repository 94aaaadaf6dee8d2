"""Env ids: how callers pass them, and which player's row belongs to which environment."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cypool.util.arguments import MAX_ENVS, check_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cypool.spec import EnvSpec
    from cypool.util.typing import EnvIds


def ids_of(env_id: ArrayLike | None, name: str = "env_id") -> EnvIds | None:
    """Returns env ids as int32 of shape (k,), C-contiguous, or None for None; a copy only where that takes one.

    `name` is what messages call them.

    Raises:
        TypeError: They are no integers.
        ValueError: They have another number of dimensions.
    """
    if env_id is None:
        return None
    ids = env_id if type(env_id) is np.ndarray else check_array(name, env_id, "integers of shape (k,)")
    if ids.ndim == 1 and ids.dtype == np.int32 and ids.flags.c_contiguous and ids.flags.aligned:
        return ids
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"{name}: expected integers, got {ids.dtype}")
    if ids.ndim != 1:
        raise ValueError(f"{name}: expected shape (k,), got {ids.shape}")
    if ids.size > MAX_ENVS:
        raise ValueError(f"{name}: expected each id once, got {ids.size}")
    # beyond int32 nothing is an id; clipping keeps it out of range
    return np.clip(ids.astype(np.int64), -1, np.iinfo(np.int32).max).astype(np.int32)


def players_of(spec: EnvSpec, env_ids: EnvIds) -> dict[str, EnvIds]:
    """Returns what `info["players"]` is: `env_id`, of each player's row the environment, one player after the other."""
    return {"env_id": env_ids if spec.num_players == 1 else np.repeat(env_ids, spec.num_players)}
