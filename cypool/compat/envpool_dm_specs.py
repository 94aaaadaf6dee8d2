"""EnvPool's dm_env specs."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from dm_env import specs

from cypool.api import dm
from cypool.api.dm import observed_info, tuple_type
from cypool.compat.envpool_arrays import beside
from cypool.spec import Array

Players = namedtuple("players", ["env_id"])  # type: ignore[name-match]


def dm_spec_of(description: Any, name: str) -> Any:
    """Returns the dm_env spec of a description. If all elements have the same bounds, these are scalars."""
    return _with_scalars(dm.dm_spec_of(description, name))


def _with_scalars(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: _with_scalars(part) for key, part in spec.items()}
    if isinstance(spec, specs.DiscreteArray) or not isinstance(spec, specs.BoundedArray):
        return spec
    low, high = spec.minimum.flat[0], spec.maximum.flat[0]
    if (spec.minimum != low).any() or (spec.maximum != high).any():
        return spec
    return specs.BoundedArray(spec.shape, spec.dtype, low, high, spec.name)


def _int32(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: _int32(part) for key, part in spec.items()}
    return specs.DiscreteArray(spec.num_values, np.int32, spec.name) if isinstance(spec, specs.DiscreteArray) else spec


def state_type(env_spec: Any) -> Any:
    """Returns the class of EnvPool's dm observations, a named tuple: each part of a dict is a field."""
    observed = env_spec.observation
    names = observed if isinstance(observed, dict) else ("obs",)
    return tuple_type("State", "env_id", "players", *names, *observed_info(env_spec))


def state_spec(env_spec: Any, num_envs: int) -> Any:
    """Returns the specs of a single environment's row, as a named tuple like `observation`."""
    observed = _int32(dm_spec_of(beside(env_spec.observation), "obs"))
    ids = dm_spec_of(Array((), np.int32, 0, num_envs - 1), "env_id")
    return state_type(env_spec)(ids, Players(ids), *(observed.values() if isinstance(observed, dict) else (observed,)),
                                *(dm_spec_of(description, name)
                                  for name, description in observed_info(env_spec).items()))
