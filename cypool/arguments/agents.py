"""Values of several agents: by name, and combined into a state."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cypool.util.arguments import check_array, check_dict, shown, shown_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cypool.spec import EnvSpec


def by_agent(spec: EnvSpec, values: Any) -> dict[str, Any]:
    """Returns views of all agents' values, by name; see `GymnasiumPool.by_agent`."""
    if not spec.agents:
        raise ValueError(f"by_agent: expected an environment with several agents, got {spec.id}")
    if len(spec.agents) == 1 and not (isinstance(values, Mapping) and values.keys() == spec.agents.keys()):
        values = dict.fromkeys(spec.agents, values)
    values = check_dict("values", values, spec.agents, f"a dict with keys {', '.join(spec.agents)}")
    each = [_at(values[name], k, group.count) for name, group in spec.agents.items() for k in range(group.count)]
    return dict(zip(spec.agent_names, each, strict=True))


def _at(values: Any, k: int, count: int) -> Any:
    """Returns the values of agent k."""
    if isinstance(values, Mapping):
        return {name: _at(part, k, count) for name, part in values.items()}
    if not isinstance(values, np.ndarray) or values.ndim < 2 or values.shape[1] != count:
        got = f"shape {values.shape}" if isinstance(values, np.ndarray) else shown(values)
        raise ValueError(f"values: expected arrays of shape {shown_shape('k', count, '...')}, got {got}")
    return values[:, k]


def action_of(part: Any, agent: str, given: Any, key: str | None) -> NDArray[Any]:
    """Returns an agent's action as an array, or with a key the part of it that `part` describes."""
    if key is not None:
        if not isinstance(given, Mapping) or key not in given:
            raise TypeError(f"actions: expected a dict with {key} for {agent}, got {shown(given)}")
        given = given[key]
    row = check_array("actions", given, f"shape {part.shape} for {agent}")
    if row.shape != part.shape:
        raise ValueError(f"actions: expected shape {part.shape} for {agent}, got {row.shape}")
    return row


def state_of(spec: EnvSpec, obs: Any) -> NDArray[Any]:
    """Returns the observations of all agents as one row per environment, as a view if they are one array."""
    rows = []
    parts = iter(spec.unpack(obs))
    for group in spec.agents.values():
        own = group.observation
        each = [next(parts) for _ in (own if isinstance(own, Mapping) else [own])]
        if len(spec.agents) == 1 and len(each) == 1:
            view: NDArray[Any] = each[0].reshape(len(each[0]), -1)
            return view
        # agent by agent
        of_agents = np.concatenate([part.reshape(len(part), group.count, -1) for part in each], axis=2)
        rows.append(of_agents.reshape(len(of_agents), -1))
    return np.concatenate(rows, axis=1)


def check_nested(name: str, values: Any, described: Mapping[str, Any]) -> None:
    """Raises a TypeError unless values are dicts, also nested ones, with the described keys."""
    check_dict(name, values, described, f"a dict with the keys {list(described)} as the observation")
    for key, part in described.items():
        if isinstance(part, Mapping):
            check_dict(name, values[key], part, f"a dict with the keys {list(part)} as observation {key}")
