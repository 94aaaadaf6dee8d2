"""Plays mpe2's environments so that agents touch, leave the picture and succeed; and the options to play them with."""
import numpy as np
from family_tests import players_of

from cypool.envs.mpe2.reference import References

NUMBERS = {"continuous_actions": True}
# of each id: options with separate code
VARIANTS = {
    "simple-v3": [{}, NUMBERS, {"max_cycles": 1}],
    "simple_spread-v3": [
        {}, NUMBERS, {"N": 1}, {"N": 2, "local_ratio": 0.0}, {"N": 5, "local_ratio": 1.0, **NUMBERS},
        {"N": 9, "local_ratio": 0.3}, {"terminate_on_success": True, "max_cycles": 60, **NUMBERS},
        {"N": 2, "terminate_on_success": True},
        {"N": 1, "terminate_on_success": True, "max_cycles": 6, **NUMBERS}, {"curriculum_stage": 0},
        {"curriculum_stage": 1, **NUMBERS}, {"num_agent_neighbors": 1, "num_landmark_neighbors": 2},
        {"N": 4, "num_agent_neighbors": 5, "num_landmark_neighbors": 9, **NUMBERS},
        {"N": 12, "num_agent_neighbors": 3, "num_landmark_neighbors": 3}],
    "simple_tag-v3": [
        {}, NUMBERS, {"num_good": 3, "num_adversaries": 5, "num_obstacles": 4},
        {"num_obstacles": 0, "num_good": 2, **NUMBERS}, {"terminate_on_success": True, "max_cycles": 60},
        {"curriculum_stage": 0}, {"curriculum_stage": 1, **NUMBERS}, {"curriculum_stage": 2},
        {"num_agent_neighbors": 2, "num_landmark_neighbors": 1},
        {"num_good": 2, "num_agent_neighbors": 7, "num_landmark_neighbors": 4, **NUMBERS},
        {"num_adversaries": 30, "num_good": 10, "num_obstacles": 10}],
    "simple_adversary-v3": [
        {}, NUMBERS, {"N": 1}, {"N": 5, **NUMBERS}, {"N": 6, "num_agent_neighbors": 2, "num_landmark_neighbors": 3}],
    "simple_push-v3": [{}, NUMBERS],
    "simple_reference-v3": [{}, NUMBERS, {"local_ratio": 0.0}, {"local_ratio": 0.9, **NUMBERS}],
    "simple_speaker_listener-v4": [{}, NUMBERS],
    "simple_crypto-v3": [{}, NUMBERS],
    "simple_world_comm-v3": [
        {}, NUMBERS, {"num_good": 3, "num_adversaries": 5, "num_obstacles": 2, "num_food": 3, "num_forests": 4},
        {"num_obstacles": 0, "num_forests": 0, "num_food": 1, **NUMBERS}, {"num_adversaries": 1, "num_forests": 1}],
    "simple_formation-v1": [
        {}, NUMBERS, {"N": 1}, {"N": 3, "terminate_on_success": True, "max_cycles": 60, **NUMBERS}, {"N": 9},
        {"N": 17, **NUMBERS}],
    "simple_line-v1": [
        {}, NUMBERS, {"N": 1}, {"N": 3, "terminate_on_success": True, "max_cycles": 60, **NUMBERS}, {"N": 9},
        {"N": 17, **NUMBERS}],
    "collect_treasure-v1": [
        {}, NUMBERS, {"num_collectors": 2, "num_deposits": 1, "num_treasures": 20}, {"num_deposits": 4, **NUMBERS},
        {"num_collectors": 1, "num_treasures": 1}, {"max_cycles": 200, "num_treasures": 12}],
}


class Player:
    """Chooses the actions of one environment, in another style in each episode.

    Args:
        random: A NumPy Generator.
        reference: An environment of `References`.
    """

    STYLES = ("by chance", "hold", "go", "go and stop", "to its place")

    def __init__(self, random, reference):
        self.random, self.reference = random, reference
        self.env = reference.env
        self.continuous = self.env.unwrapped.continuous_actions
        self.start()

    def start(self):
        self.style = self.random.choice(self.STYLES)
        self.goals = self.random.integers(0, 1000, 200)
        self.held = {}

    def choose(self):
        if self.reference.steps == 0:
            self.start()
        agents = dict(zip(self.env.possible_agents, enumerate(self.env.unwrapped.world.agents), strict=True))
        chosen = {name: self.choose_for(name, *agent) for name, agent in agents.items()}
        self.held = chosen
        groups = {group: np.array([chosen[name] for name in names]) for group, names in self.reference.agents.items()}
        return groups if len(groups) > 1 else groups.popitem()[1]

    def choose_for(self, name, k, agent):
        space = self.env.action_space(name)
        if self.style == "hold" and self.held and self.random.random() < 0.9:
            # leaves the picture
            return self.held[name]
        if self.style == "to its place" and self.continuous and agent.movable:
            return self.go_to(self.place(k), agent, space)
        if self.style in ("go", "go and stop", "to its place") and agent.movable:
            return self.go_towards(agent, k, space)
        if not self.continuous:
            return self.random.integers(space.n)
        # float32 of doubles: differences of numbers from Generator.random(dtype=float32) need no rounding
        action = self.random.random(space.shape).astype(np.float32)
        if self.random.random() < 0.3:
            action = np.rint(action)
        return action if self.random.random() > 0.1 else np.zeros_like(action)

    def go_to(self, place, agent, space):
        """In two steps, where its force suffices."""
        there = agent.state.p_pos + agent.state.p_vel * 0.1
        force = ((place - there) / 0.1 - 0.75 * agent.state.p_vel) / (0.1 * (agent.accel or 5))
        action = np.zeros(space.shape, np.float32)
        for axis in range(2):
            action[1 + 2 * axis + (force[axis] > 0)] = min(1, abs(force[axis]))
        return action

    def go_towards(self, agent, k, space):
        """To another one, or to a landmark: touches it."""
        others = [each for each in self.env.unwrapped.world.entities
                  if each is not agent and abs(each.state.p_pos).max() < 900]
        way = others[self.goals[k] % len(others)].state.p_pos - agent.state.p_pos
        if self.style == "go and stop":
            way = way - 0.3 * agent.state.p_vel
        if not self.continuous:
            axis = int(np.argmax(abs(way)))
            move = 0 if abs(way[axis]) < 0.02 else 1 + 2 * axis + (way[axis] > 0)
            return move + 5 * self.random.integers(0, space.n // 5)
        action = np.zeros(space.shape, np.float32)
        for axis in range(2):
            action[1 + 2 * axis + (way[axis] > 0)] = min(1, 3 * abs(way[axis]))
        action[5:] = self.random.random(len(action) - 5) * self.random.integers(0, 2, len(action) - 5)
        return action

    def place(self, k):
        """Where agent k belongs."""
        world, scenario = self.env.unwrapped.world, self.env.unwrapped.scenario
        if hasattr(scenario, "TARGET_RADIUS"):
            angle = 0.3 + 2 * np.pi * k / len(world.agents)
            return world.landmarks[0].state.p_pos + 0.5 * np.array([np.cos(angle), np.sin(angle)])
        if hasattr(scenario, "_expected_positions"):
            return scenario._expected_positions[k]
        if not world.landmarks:
            return world.agents[-1].state.p_pos
        return world.landmarks[k % len(world.landmarks)].state.p_pos


players = players_of(Player, References)
