"""`play_level`: begins episodes at levels of your choice, to test an agent on them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.envs.procgen.games import MAX_LEVEL
from cypool.state import State
from cypool.util.arguments import check_int, check_list

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

STREAM_PARTS, LAST_MOVE = 2, 4  # in a saved state


def play_level(env: Any, level_seed: ArrayLike, env_id: ArrayLike | None = None) -> tuple[Any, dict[str, Any]]:
    """Begins an episode at given levels, regardless of `num_levels` and `start_level`.

    The stream that levels are drawn from does not advance, so later episodes keep their levels.

    Args:
        env: A pool of Procgen environments that was reset, with Gymnasium's API.
        level_seed: An int for all environments, or one for each: 0 to 2**31 - 1.
        env_id: Integers, shape (k,): the environments; all by default.

    Returns:
        The observation and info of these environments.

    Raises:
        TypeError, ValueError: Wrong levels or ids; `env` is a pool of other environments.
        RuntimeError: An environment is in flight or was never reset.
    """
    if "restrict_themes" not in env.env_spec.options:
        raise ValueError(f"env: expected a pool of Procgen environments, got {env.env_spec.id}")
    state = env.save(env_id)
    given = [level_seed] * len(state) if hasattr(type(level_seed), "__index__") and not isinstance(
        level_seed, np.ndarray) else check_list("level_seed", level_seed, "an int or a sequence of ints")
    if len(given) != len(state):
        raise ValueError(f"level_seed: expected one seed for each of {len(state)} envs, got {len(given)}")
    levels = [check_int("level_seed", level, 0, MAX_LEVEL) for level in given]
    fresh = {"elapsed_step": 0, "episode_length": 0, "episode_return": 0.0, "episode_ns": 0, "needs_reset": False,
             "reset_requested": False}
    rows = []
    for row, level in zip(state.rows, levels, strict=True):
        own = row["own"]
        # the level that is left counts as the last one, which was not completed; no action of the new one yet
        own = (*own[:STREAM_PARTS], level, own[STREAM_PARTS], own[LAST_MOVE], False, b"")
        rows.append({**row, **fresh, "own": own})
    result: tuple[Any, dict[str, Any]] = env.load(State(state.env_id, rows), env_id)
    return result
