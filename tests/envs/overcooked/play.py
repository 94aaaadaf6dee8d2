"""Plays Overcooked so that cooks fill pots, serve, drop and collide; and options to play it with."""
from collections import deque

import numpy as np
from family_tests import players_of

from cypool.envs.shared.packages.group_references import GroupReferences

BASE = "Overcooked-v0"
ORDERS = [["onion", "onion"], ["tomato"], ["onion", "tomato", "onion"]]
GRID = "XXPXX\nO  2T\nX1  X\nXDXSX"
CROWD = "XXPXPXXX\nO1 3 5 T\nX 2 4 6X\nX 7 8 9X\nD      S\nXXXXXXXX"


def with_fewer(first):
    """Returns this kitchen without the players from a number on."""
    return CROWD.translate({ord(str(k)): " " for k in range(first, 10)})


# options with separate code
VARIANTS = [(BASE, options) for options in (
    {}, {"layout": GRID}, {"layout": GRID, "shaped_reward": 0.7, "horizon": 41, "obs_dtype": "uint8"},
    {"layout": with_fewer(5), "shaped_reward": 1}, {"layout": with_fewer(3)},
    {"layout": GRID.replace("2", " "), "cook_time": 3, "obs_dtype": "uint8"},
    {"layout": GRID, "start_all_orders": ORDERS, "start_bonus_orders": ORDERS[1:], "recipe_values": [3, 0, 9],
     "recipe_times": [0, 1, 30]},
    {"layout": GRID, "start_all_orders": ORDERS, "start_bonus_orders": ORDERS[:1], "order_bonus": 1.5,
     "onion_value": 4, "tomato_value": 7, "onion_time": 3, "tomato_time": 5},
    {"layout": GRID, "start_bonus_orders": ORDERS, "delivery_reward": 11, "cook_time": 300},
    {"layout": GRID, "placement_in_pot_reward": 0.3, "dish_pickup_reward": 0.1, "soup_pickup_reward": 0,
     "shaped_reward": 0.1, "start_all_orders": []},
    {"layout": "cramped_room", "max_episode_steps": 60})]


class Cooks:
    """Chooses the actions of one kitchen: fills pots, lets soups cook and serves them, in each episode more or less so.

    Args:
        random: A NumPy Generator.
        reference: An environment of `GroupReferences`.
    """

    WAYS = ((0, -1), (0, 1), (1, 0), (-1, 0))

    def __init__(self, random, reference):
        self.random, self.reference, self.maps = random, reference, {}

    def choose(self):
        if self.reference.steps == 0:
            count = self.reference.num_agents
            self.noise = self.random.choice([0.05, 0.3, 1.0], size=count, p=[0.6, 0.3, 0.1])
        return np.array([self.choose_for(player, noise)
                         for player, noise in zip(self.reference.state.players, self.noise, strict=True)])

    def choose_for(self, player, noise):
        goals = tuple(self.goals(player))
        if self.random.random() < noise or not goals:
            return self.random.integers(6)
        x, y = player.position
        for k, (dx, dy) in enumerate(self.WAYS):
            if (x + dx, y + dy) in goals:
                return 5 if player.orientation == (dx, dy) else k
        far = self.distances(goals)
        return min(range(4), key=lambda k: far.get((x + self.WAYS[k][0], y + self.WAYS[k][1]), 999))

    def goals(self, player):
        mdp, state, held = self.reference.mdp, self.reference.state, player.held_object
        soups = {pot: state.objects.get(pot) for pot in mdp.get_pot_locations()}
        if held is None:
            idle = [pot for pot, soup in soups.items()
                    if soup is not None and soup.is_idle and (soup.is_full or self.random.random() < 0.2)]
            if idle:
                return idle
            if any(soup is not None and not soup.is_idle for soup in soups.values()) and self.random.random() < 0.7:
                return mdp.get_dish_dispenser_locations()
            return mdp.get_onion_dispenser_locations() + mdp.get_tomato_dispenser_locations()
        if held.name == "soup":
            return mdp.get_serving_locations()
        if held.name == "dish":
            return [pot for pot, soup in soups.items() if soup is not None and soup.is_ready] or list(soups)
        return [pot for pot, soup in soups.items() if soup is None or not soup.is_full] or mdp.get_counter_locations()

    def distances(self, goals):
        """Returns how far each cell of the floor is from the goals."""
        if goals not in self.maps:
            far, queue = {}, deque((goal, 0) for goal in goals)
            floor = set(self.reference.mdp.get_valid_player_positions())
            while queue:
                (x, y), steps = queue.popleft()
                for dx, dy in self.WAYS:
                    cell = x + dx, y + dy
                    if cell in floor and cell not in far:
                        far[cell] = steps + 1
                        queue.append((cell, steps + 1))
            self.maps[goals] = far
        return self.maps[goals]


players = players_of(Cooks, GroupReferences)
