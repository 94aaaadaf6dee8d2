"""The grid world of overcooked_ai as a Gymnasium vector environment, with all agents in one array."""
from __future__ import annotations

import functools
import importlib
import sys
import types
import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from cypool.envs.overcooked.layouts import INSTALL, VERSION
from cypool.envs.overcooked.specs import LAYERS
from cypool.envs.shared.packages.group_references import GroupReference, GroupReferences
from cypool.spec import EnvSpec
from cypool.util.packages import folder_of, require_version

_OWN, _OTHERS = ([k for k, layer in enumerate(LAYERS) if layer.startswith(whose)] for whose in ("own ", "other "))


@functools.cache
def grid_world() -> Any:
    """Returns overcooked_ai's grid world module."""
    name = "overcooked_ai_py"
    is_imported = name in sys.modules
    if not is_imported:
        # the package imports gym first, which the grid world does without
        package = types.ModuleType(name)
        package.__path__ = [folder_of(name) or ""]
        sys.modules[name] = package
    try:
        # of its escape sequences, where the package is not compiled yet
        with warnings.catch_warnings(action="ignore"):
            return importlib.import_module(f"{name}.mdp.overcooked_mdp")
    finally:
        if not is_imported:
            del sys.modules[name]


def make_mdp(options: dict[str, Any]) -> Any:
    """Returns an overcooked_ai grid world with our options."""
    words = {name: options[name] for name in (
        "order_bonus", "delivery_reward", "recipe_values", "onion_value", "tomato_value", "cook_time", "recipe_times",
        "onion_time", "tomato_time") if options[name] is not None}
    words |= {name: [{"ingredients": list(order)} for order in options[name]]
              for name in ("start_all_orders", "start_bonus_orders") if options[name] is not None}
    words["rew_shaping_params"] = {"PLACEMENT_IN_POT_REW": options["placement_in_pot_reward"],
                                   "DISH_PICKUP_REWARD": options["dish_pickup_reward"],
                                   "SOUP_PICKUP_REWARD": options["soup_pickup_reward"]}
    module = grid_world()
    # a layout with a start state makes recipes before the package configures them
    module.Recipe.configure({})
    world = module.OvercookedGridworld
    if "\n" in options["layout"]:
        return world.from_grid(options["layout"].split("\n"), words)
    return world.from_layout_name(options["layout"], **words)


class Reference(GroupReference):
    """A grid world as an environment.

    Args:
        spec: The spec of ours.
    """

    def __init__(self, spec: EnvSpec):
        self.module, self.mdp = grid_world(), make_mdp(dict(spec.options))
        self.actions = self.module.Action.INDEX_TO_ACTION
        self.horizon, self.factor = spec.options["horizon"], spec.options["shaped_reward"]
        own: Any = spec.agents["agent"].observation
        self.dtype = own.dtype
        self.num_agents = self.mdp.num_players
        self.observation_space = batch_space(gymnasium.spaces.Box(own.low, own.high, own.shape, own.dtype.type),
                                             self.num_agents)
        self.action_space = batch_space(gymnasium.spaces.Discrete(6), self.num_agents)
        self.state: Any = None
        super().__init__({"agent": self.num_agents}, spec.max_episode_steps)

    def encoded(self, k: int) -> NDArray[Any]:
        """Returns the package's encoding for player k; it encodes only one other player, and the rest put down what
        they hold.
        """
        me = self.state.players[k]
        other, *rest = [each for each in self.state.players if each is not me] or [
            self.module.PlayerState(me.position, me.orientation)]
        objects = {**self.state.objects, **{each.position: each.held_object for each in rest if each.has_object()}}
        state = self.module.OvercookedState((me, other), objects, timestep=self.state.timestep)
        obs: NDArray[Any] = self.mdp.lossless_state_encoding(state, self.horizon)[0]
        return obs

    def observed(self) -> NDArray[Any]:
        """Returns the observations of all agents."""
        if self.num_agents == 2:
            return np.stack(self.mdp.lossless_state_encoding(self.state, self.horizon)).astype(self.dtype)
        # the package encodes two players only
        self.mdp.num_players = 2
        obs = np.stack([self.encoded(k) for k in range(self.num_agents)])
        self.mdp.num_players = self.num_agents
        own = obs[..., _OWN]
        obs[..., _OTHERS] = own.sum(0) - own
        return obs.astype(self.dtype)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        # nothing is drawn
        gymnasium.Env.reset(self, seed=seed)
        self.module.Recipe.configure(self.mdp.recipe_config)
        self.state, self.steps = self.mdp.get_standard_start_state(), 0
        nothing = np.zeros(self.num_agents)
        return self.observed(), {"sparse_reward": nothing, "shaped_reward": nothing}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps all agents."""
        self.module.Recipe.configure(self.mdp.recipe_config)
        self.state, found = self.mdp.get_state_transition(self.state, [self.actions[k] for k in action])
        sparse, shaped = (np.array(found[f"{name}_reward_by_agent"], np.float64) for name in ("sparse", "shaped"))
        served = sum(sparse.tolist())
        self.columns["agent"]["reward"][:] = served + self.factor * shaped if self.factor else served
        _, terminated, truncated = self.finish(False, self.state.timestep >= self.horizon)
        reward = served
        for own in shaped.tolist() if self.factor else ():
            reward += self.factor * own
        return self.observed(), reward, terminated, truncated, {"sparse_reward": sparse, "shaped_reward": shaped}


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns overcooked_ai's grid worlds as a vector environment with a group of agents, and their name and version.

    Raises:
        ValueError: The package does not accept this combination of options.
    """
    require_version("check_parity needs", "overcooked-ai", (VERSION,), INSTALL, "overcooked_ai_py")
    spec = ours.env_spec
    return (GroupReferences(lambda: Reference(spec), ours.num_envs, ours.metadata["autoreset_mode"]),
            f"overcooked-ai {VERSION}")
