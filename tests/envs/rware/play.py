"""Plays the robotic warehouse so that agents work, crowd and turn in circles; and options to play it with."""
from collections import deque

import numpy as np
from family_tests import players_of

from cypool.envs.rware.specs import LAYERS
from cypool.envs.shared.packages.group_references import GroupReferences

BASE = "rware-tiny-2ag-v2"
ROUND = ".......\n...x...\n..x.x..\n.x...x.\n..x.x..\n...x...\n.g...g."
SQUARE = "\n".join(["xxxx.xxxx", "........."] * 4 + ["g..g..g.g"])
ALL_LAYERS = {"layout": SQUARE, "request_queue_size": 9, "image_observation_layers": LAYERS}
# ids, and options with separate code
VARIANTS = [(id, {}) for id in (
    BASE, "rware-tiny-19ag-v2", "rware-large-19ag-hard-v2", "rware-img-tiny-3ag-v2", "rware-img-Nd-tiny-4ag-v2",
    "rware-tiny-1ag-hard-v2", "rware-imgdict-small-5ag-easy-v2", "rware-small-19ag-easy-v2",
    "rware-imgdict-Nd-tiny-2ag-hard-v2", "rware-medium-6ag-hard-v2", "rware-3s-tiny-8h-4ag-v2",
    "rware-img-2s-tiny-3h-6ag-v2", "rware-1x3-2h-8ag-5req-global-v2", "rware-2x5-1h-12ag-3req-twostage-v2")]
VARIANTS += [(BASE, options) for options in (
    {"n_agents": 3, "msg_bits": 2}, {"n_agents": 60, "request_queue_size": 10},
    {"n_agents": 19, "msg_bits": 3, "normalised_coordinates": True},
    {"n_agents": 4, "reward_type": "two_stage", "max_inactivity_steps": 40},
    {"n_agents": 6, "reward_type": "global", "max_steps": 77, "request_queue_size": 20, "truncate": True},
    {"max_steps": None, "max_inactivity_steps": 60, "sensor_range": 0},
    {"n_agents": 19, "layout": ROUND, "request_queue_size": 7},
    {"n_agents": 12, "layout": "x.x.x.x.g\n.........", "request_queue_size": 2, "sensor_range": 2},
    {"n_agents": 14, "observation_type": "image", **ALL_LAYERS},
    {"n_agents": 9, "observation_type": "image", "image_observation_directional": False, **ALL_LAYERS},
    {"n_agents": 9, "observation_type": "image_dict", "sensor_range": 3, **ALL_LAYERS},
    {"n_agents": 40, "layout": SQUARE, "request_queue_size": 20}, {"max_episode_steps": 13})]

STEPS = [(0, -1), (0, 1), (-1, 0), (1, 0)]  # x and y, by rware's numbers of directions
CLOCKWISE = [0, 3, 1, 2]


class Player:
    """Chooses the actions of one environment, in another style in each episode, and now and then in the midst of one.

    Args:
        random: A NumPy Generator.
        reference: An environment of `GroupReferences`.
    """

    STYLES = ("by chance", "forward", "work", "crowd", "circle", "work")

    def __init__(self, random, reference):
        self.random, self.env, self.maps = random, reference.env, {}
        self.num_steps = 0

    def choose(self):
        env, n = self.env, self.env.n_agents
        if self.num_steps % 60 == 0:
            self.style, self.noise = self.random.choice(self.STYLES), self.random.choice([0.03, 0.3])
            self.goal = tuple(int(self.random.integers(most)) for most in env.grid_size[::-1])
        self.num_steps += 1
        actions = self.random.integers(0, 5, n)
        if self.style == "forward":
            actions[self.random.random(n) < 0.7] = 1
        elif self.style != "by chance":
            for k, agent in enumerate(env.agents):
                chosen = self.choose_for(agent)
                if chosen is not None and self.random.random() >= self.noise:
                    actions[k] = chosen
        if not env.msg_bits:
            return actions
        return np.concatenate([actions[:, None], self.random.integers(0, 2, (n, env.msg_bits))], 1)

    def choose_for(self, agent):
        if self.style == "work":
            return self.work(agent)
        if self.style == "crowd":
            return self.go_towards(agent, self.distances([self.goal], True))
        # in blocks of two by two
        return self.turn(agent, [[3, 0], [1, 2]][agent.x % 2][agent.y % 2])

    def work(self, agent):
        env, here = self.env, (agent.x, agent.y)
        if agent.carrying_shelf is None:
            wanted = [(shelf.x, shelf.y) for shelf in env.request_queue
                      if not any(each.carrying_shelf is shelf for each in env.agents)]
            if not wanted:
                return None
            goal = wanted[agent.id % len(wanted)]
            return 4 if goal == here else self.go_towards(agent, self.distances([goal], True))
        if agent.carrying_shelf in env.request_queue:
            return self.go_towards(agent, self.distances(env.goals, False))
        if not env.highways[agent.y, agent.x]:
            return 4
        free = [(x, y) for y, x in np.argwhere((env.highways == 0) & (env.grid[1] == 0))]
        if not free:
            return None
        goal = min(free, key=lambda cell: abs(cell[0] - here[0]) + abs(cell[1] - here[1]))
        return self.go_towards(agent, self.distances([goal], False))

    def distances(self, goals, over_all):
        """Returns how far each cell is from the goals, over highways or over all cells."""
        key = (tuple(goals), over_all)
        if key in self.maps:
            return self.maps[key]
        rows, cols = self.env.grid_size
        far = np.full((rows, cols), 10_000)
        queue = deque(goals)
        for x, y in goals:
            far[y, x] = 0
        while queue:
            x, y = queue.popleft()
            for dx, dy in STEPS:
                a, b = x + dx, y + dy
                if 0 <= a < cols and 0 <= b < rows and far[b, a] == 10_000:
                    far[b, a] = far[y, x] + 1
                    if over_all or self.env.highways[b, a]:
                        queue.append((a, b))
        if not over_all:
            # an agent with a shelf cannot go below shelves
            far[(self.env.highways == 0) & (far > 0)] += 5000
        self.maps[key] = far
        return far

    def go_towards(self, agent, far):
        rows, cols = self.env.grid_size
        cells = [(agent.x + dx, agent.y + dy) for dx, dy in STEPS]
        return self.turn(agent, int(np.argmin([far[y, x] if 0 <= x < cols and 0 <= y < rows else 99_999
                                               for x, y in cells])))

    def turn(self, agent, wanted):
        if agent.dir.value == wanted:
            return 1
        return 3 if CLOCKWISE[(CLOCKWISE.index(agent.dir.value) + 1) % 4] == wanted else 2


players = players_of(Player, GroupReferences)
