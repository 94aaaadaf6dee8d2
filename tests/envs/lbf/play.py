"""Plays level-based foraging so that players load, meet and change places; and options to play it with."""
import numpy as np
from family_tests import players_of

from cypool.envs.shared.packages.group_references import GroupReferences

BASE = "Foraging-8x8-2p-3f-v3"
# ids, and options with separate code
VARIANTS = [(id, {}) for id in (
    BASE, "Foraging-5x5-2p-1f-v3", "Foraging-2s-8x8-2p-2f-coop-v3", "Foraging-grid-2s-5x5-9p-2f-v3",
    "Foraging-10x10-3p-3f-v3", "Foraging-2s-10x10-4p-4f-coop-v3", "Foraging-15x15-4p-5f-v3", "Foraging-5x5-9p-4f-v3",
    "Foraging-19x19-9p-4f-v3", "Foraging-2s-6x6-8p-3f-v3", "Foraging-grid-8x8-2p-3f-v3",
    "Foraging-grid-1s-8x8-3p-3f-coop-v3", "Foraging-8x8-3p-3f-ind-v3", "Foraging-8x8-3p-3f-coop-pen-v3")]
VARIANTS += [(BASE, options) for options in (
    {"players": 3, "observe_agent_levels": False},
    {"players": 4, "penalty": 0.5, "unit_reward": False, "force_coop": True},
    {"sight": 2, "observe_agent_levels": False, "penalty": 0.25},
    {"grid_observation": True, "sight": 2, "players": 3, "observe_agent_levels": False},
    {"max_food_level": 4, "min_food_level": 2},
    {"players": 3, "max_num_food": 4, "max_food_level": [1, 3, 5, 7], "min_food_level": [1, 2, 2, 7]},
    {"players": 3, "max_num_food": 4, "max_food_level": [1, 3, 5, 7], "force_coop": True},
    {"players": 3, "max_num_food": 2, "min_player_level": [1, 2, 5], "max_player_level": [1, 4, 9]},
    {"min_player_level": 3, "max_player_level": 3, "time_limit": 7}, {"time_limit": 9, "truncate": True},
    {"max_num_food": 1, "field_size": (3, 3), "sight": 3},
    {"players": 9, "max_num_food": 1, "field_size": (3, 3), "sight": 2},
    {"max_num_food": 4, "field_size": (4, 4), "sight": 0}, {"players": 3, "field_size": (12, 5), "sight": 12},
    {"players": 3, "field_size": (5, 13), "sight": 3},
    {"players": 3, "field_size": (4, 11), "sight": 3, "grid_observation": True}, {"sight": 4}, {"sight": 20},
    {"players": 1}, {"players": 20, "max_num_food": 12, "field_size": (20, 20), "sight": 5, "time_limit": 100},
    {"max_num_food": 30, "field_size": (9, 9), "sight": 9}, {"max_episode_steps": 13},
    {"players": 9, "field_size": (4, 4), "fresh_world": True})]


class Player:
    """Chooses the actions of one environment, in another style in each episode.

    Args:
        random: A NumPy Generator.
        reference: An environment of `GroupReferences`.
    """

    STYLES = ("by chance", "nearest food", "one food together", "to each other")

    def __init__(self, random, reference):
        self.random, self.reference = random, reference

    def choose(self):
        env = self.reference.env
        if self.reference.steps == 0:
            self.style, self.goal = self.random.choice(self.STYLES), self.random.integers(1000)
            self.noise = self.random.choice([0.02, 0.2])
        actions = self.random.integers(0, 6, len(env.players))
        foods = np.argwhere(env.field > 0)
        if self.style == "by chance" or not len(foods):
            return actions
        for k, player in enumerate(env.players):
            if self.random.random() < self.noise:
                continue
            goal = {"nearest food": foods[np.abs(foods - player.position).sum(1).argmin()],
                    "one food together": foods[self.goal % len(foods)],
                    "to each other": env.players[(k + 1) % len(env.players)].position}[self.style]
            row, col = np.subtract(goal, player.position)
            if self.style != "to each other" and abs(row) + abs(col) == 1:
                actions[k] = 5
                continue
            ways = [way for way, is_way in enumerate((row < 0, row > 0, col < 0, col > 0), 1)
                    if is_way and any(valid.value == way for valid in env._valid_actions[player])]
            if ways:
                actions[k] = self.random.choice(ways)
        return actions


players = players_of(Player, GroupReferences)
