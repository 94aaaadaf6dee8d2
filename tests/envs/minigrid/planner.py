"""Plays MiniGrid's levels: a shortest path through doors, keys and obstacles to the goal of the mission."""
import heapq

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)
STEPS = [(1, 0), (0, 1), (-1, 0), (0, -1)]
PORTABLE = "key", "ball", "box"
LOCKED = 60  # the cost of a door whose key is not in hand


class Planner:
    """Knows the whole level of minigrid. Has `replan`, as BabyAI's bot.

    Args:
        env: minigrid's environment, not wrapped.
        chance: NumPy's generator, for choices that the level leaves open.
    """

    def __init__(self, env, chance):
        self.env, self.chance = env, chance
        self.full = False  # something has to be put down first
        self.obstacle = None  # and then, the thing at this place has to be moved

    def replan(self, _):
        """Returns the next action; raises ValueError if there is no way."""
        if self.full and self.env.carrying:
            return self.put_down()
        if self.obstacle:
            if self.env.carrying:
                self.obstacle = None
                return self.put_down()
            return self.toward([self.obstacle], PICKUP)
        positions, action, adjacent = self.aim()
        if not positions:
            raise ValueError("nothing to do")
        return self.toward(positions, action, adjacent)

    def aim(self):
        """Returns cells, the action in front of one (None: enter it), and whether a cell next to it does as well."""
        env = self.env
        name = type(env).__name__
        if name == "FetchEnv":
            return self.find(lambda each: (each.type, each.color) == (env.targetType, env.targetColor)), PICKUP, False
        if name in ("GoToDoorEnv", "GoToObjectEnv"):
            return [tuple(env.target_pos)], DONE, False
        if name == "PutNearEnv":
            held = env.carrying
            if held and (held.type, held.color) == (env.move_type, env.moveColor):
                return [tuple(env.target_pos)], DROP, True
            return self.find(lambda each: (each.type, each.color) == (env.move_type, env.moveColor)), PICKUP, False
        if name == "MemoryEnv":
            return [tuple(env.success_pos)], None, False
        if name == "RedBlueDoorEnv":
            door = env.blue_door if env.red_door.is_open else env.red_door
            return self.find(lambda each: each is door), TOGGLE, False
        if name == "UnlockEnv":
            return [tuple(env.door.cur_pos)], TOGGLE, False
        if hasattr(env, "obj"):
            return self.find(lambda each: each is env.obj), PICKUP, False
        if name == "PlaygroundEnv":
            return self.find(lambda each: each.type == "door" and not each.is_open), TOGGLE, False
        return self.find(lambda each: each.type == "goal"), None, False

    def find(self, wanted):
        grid = self.env.grid
        return [(k % grid.width, k // grid.width) for k, each in enumerate(grid.grid) if each and wanted(each)]

    def cost(self, xy):
        """Returns the cost of entering a cell, or None."""
        each = self.env.grid.get(*xy)
        if each is None or each.type in ("goal", "floor"):
            return 1
        if each.type == "door":
            return 1 if each.is_open else 2 if not each.is_locked else 4 if self.has_key(each) else LOCKED
        return 30 if each.type in PORTABLE else None

    def has_key(self, door):
        held = self.env.carrying
        return bool(held) and (held.type, held.color) == ("key", door.color)

    def toward(self, positions, action, adjacent=False):
        """Returns the next action on the cheapest way to a cell."""
        env = self.env
        start = (*map(int, env.agent_pos), int(env.agent_dir))
        # cost so far, state, first action, and the colour of the first locked door on the way
        best, locked, queue, seen = None, "", [(0, start, -1, "")], set()
        while queue:
            spent, (x, y, direction), first, door = heapq.heappop(queue)
            if (x, y, direction) in seen:
                continue
            seen.add((x, y, direction))
            ahead = x + STEPS[direction][0], y + STEPS[direction][1]
            if self.arrived((x, y), ahead, positions, action, adjacent):
                best, locked = action if first == -1 else first, door
                break
            for turn, step in ((LEFT, -1), (RIGHT, 1)):
                heapq.heappush(queue, (spent + 1, (x, y, (direction + step) % 4), turn if first == -1 else first, door))
            if 0 <= ahead[0] < env.grid.width and 0 <= ahead[1] < env.grid.height:
                cost = self.cost(ahead)
                if cost is not None:
                    color = door or (env.grid.get(*ahead).color if cost == LOCKED else "")
                    heapq.heappush(queue, (spent + cost, (*ahead, direction), FORWARD if first == -1 else first, color))
        if best is None:
            raise ValueError("no way")
        if locked:
            return self.fetch_key(locked)
        ahead = env.grid.get(*env.front_pos)
        if best == PICKUP and env.carrying:
            return self.put_down()
        if best != FORWARD or ahead is None:
            return best
        if ahead.type in PORTABLE:
            if env.action_space.n <= PICKUP:
                return LEFT
            self.obstacle = tuple(map(int, env.front_pos))
            return self.put_down() if env.carrying else PICKUP
        return TOGGLE if ahead.type == "door" and not ahead.is_open else FORWARD

    def arrived(self, xy, ahead, positions, action, adjacent):
        if action is None:
            return xy in positions
        if adjacent:
            return self.env.grid.get(*ahead) is None and any(
                max(abs(ahead[0] - x), abs(ahead[1] - y)) == 1 for x, y in positions)
        return ahead in positions

    def fetch_key(self, color):
        keys = self.find(lambda each: (each.type, each.color) == ("key", color))
        boxes = self.find(lambda each: each.type == "box" and getattr(each.contains, "color", "") == color)
        if not keys and not boxes:
            raise ValueError("no key")
        return self.toward(keys, PICKUP) if keys else self.toward(boxes, TOGGLE)

    def put_down(self):
        """Returns the next action on the way to a free cell that is not in front of a door."""
        grid, (x, y) = self.env.grid, map(int, self.env.front_pos)
        around = [(x + dx, y + dy) for dx, dy in STEPS]
        self.full = grid.get(x, y) is not None or any(
            getattr(grid.get(*each), "type", "") == "door" for each in around
            if 0 <= each[0] < grid.width and 0 <= each[1] < grid.height)
        return int(self.chance.choice([LEFT, RIGHT, FORWARD, FORWARD])) if self.full else DROP
