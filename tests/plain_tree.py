"""A tree search in plain Python, for comparison: slow, and one step after another."""
import math

import numpy as np

import cypool


class Game:
    """The positions of one environment, reached from its state by lists of actions.

    Args:
        id: Of the environment.
        state: A `cypool.State` of it.
        options: Of the environment.
    """

    def __init__(self, id, state, **options):
        self.env = cypool.make(id, num_envs=1, num_threads=0, autoreset_mode="Disabled", **options)
        self.env.reset(seed=0)
        self.state, self.played = state, None

    def play(self, actions):
        """Returns the last observation, its info, whether the episode is over or cut, and the rewards of each step."""
        if self.played is None or actions[:-1] != self.played or not actions:
            obs, info = self.env.load(self.state, [0])
            self.played, self.rewards, over, cut = [], [], False, False
        # a walk continues by one action
        for action in actions[len(self.played):]:
            obs, reward, terminated, truncated, info = self.env.step([action])
            self.rewards.append(info["rewards"][0].tolist() if "rewards" in info else [float(reward[0])])
            over, cut = bool(terminated[0]), bool(truncated[0])
        self.played = list(actions)
        return obs, info, over, cut, list(self.rewards)


class Edge:
    def __init__(self, action, prior):
        self.action, self.prior = action, prior
        self.total, self.visits, self.pending, self.children = 0.0, 0, 0, {}


class Node:
    def __init__(self, player):
        self.player = player
        self.total, self.value, self.visits, self.pending = 0.0, 0.0, 0, 0
        self.edges = None  # those that were taken, in this order
        self.left = []     # the other legal ones


class PlainTree:
    """Searches one position.

    Args:
        game: `Game`.
        evaluate: As that of `TreeSearch.run`.
        noise: float32, (actions,); or None.
        options: Those of `cypool.TreeSearch`.
    """

    def __init__(self, game, evaluate, num_players, noise=None, *, simulations, leaves=1, algorithm="puct",
                 discount=1.0, weight=0.25, c_init=1.25, c_base=19652.0, unvisited=0.0, virtual_loss=1.0,
                 normalize=False, considered=16, c_visit=50.0, c_scale=1.0):
        self.game, self.evaluate, self.num_players, self.noise = game, evaluate, num_players, noise
        self.simulations, self.leaves, self.gumbel, self.discount = simulations, leaves, algorithm == "gumbel", discount
        self.weight, self.c_init, self.c_base, self.unvisited = weight, c_init, c_base, unvisited
        self.virtual_loss, self.normalize = virtual_loss, normalize
        self.considered, self.c_visit, self.c_scale = considered, c_visit, c_scale
        self.least, self.greatest = math.inf, -math.inf
        self.root = Node(self.player_of(game.play([])[1]))

    @staticmethod
    def player_of(info):
        return int(info["current_player"][0]) if "current_player" in info else 0

    def done(self):
        return self.root.edges is not None and self.root.visits - 1 + self.root.pending >= self.simulations

    def run(self):
        while True:
            waiting = []
            while len(waiting) < self.leaves and not self.done():
                if waiting and self.root.edges is None:
                    break
                walk = self.walk()
                if walk is None:
                    break
                if walk[0] is not None:
                    waiting.append(walk)
            if not waiting:
                return self
            for obs, info, node, path, rewards, player in waiting:
                mask = info.get("action_mask")
                logits, values = self.evaluate(obs, mask)
                by_player = [0.0] * self.num_players
                for p in range(self.num_players):
                    by_player[p] = float(np.float32(values[0])) * (1 if p == player else -1)
                if node is not None:
                    node.value = float(np.float32(by_player[player]))
                    self.expand(node, None if mask is None else mask[0], logits[0])
                    node.total += by_player[node.player]
                    node.visits += 1
                    node.pending -= 1
                self.back_up(path, rewards, by_player)

    def walk(self):
        node, path, actions = self.root, [], []
        obs, info, over, cut, rewards = self.game.play([])
        player = self.root.player
        while node is not None and node.edges is not None:
            edge = self.choose(node)
            node.pending += 1
            edge.pending += 1
            path.append((node, edge))
            actions.append(edge.action)
            obs, info, over, cut, rewards = self.game.play(actions)
            if over:
                self.back_up(path, rewards, [0.0] * self.num_players)
                return None, None, None, None, None, None
            player = self.player_of(info)
            # positions that differ by chance differ in what is observed
            key = obs.tobytes()
            node = None if cut else edge.children.setdefault(key, Node(player))
        if node is not None and node.pending:
            for passed, edge in path:
                passed.pending -= 1
                edge.pending -= 1
            return None
        if node is not None:
            node.pending += 1
        return obs, info, node, path, rewards, player

    def expand(self, node, mask, logits):
        legal = [a for a in range(len(logits)) if mask is None or mask[a]]
        most = max(float(logits[a]) for a in legal)
        weights = [math.exp(float(logits[a]) - most) for a in legal]
        total = 0.0
        for weight in weights:
            total += weight
        node.edges = []
        node.left = sorted((Edge(a, np.float32(w / total)) for a, w in zip(legal, weights, strict=True)),
                           key=lambda edge: (-edge.prior, edge.action))
        if node is self.root:
            self.begin_root()

    def back_up(self, path, rewards, values):
        for (node, edge), own in zip(reversed(path), reversed(rewards), strict=True):
            values = [own[p] + self.discount * values[p] for p in range(self.num_players)]
            edge.total += values[node.player]
            edge.visits += 1
            edge.pending -= 1
            node.total += values[node.player]
            node.visits += 1
            node.pending -= 1
            mean = edge.total / edge.visits
            self.least, self.greatest = min(self.least, mean), max(self.greatest, mean)

    def scaled(self, value):
        if not self.normalize:
            return value
        return (value - self.least) / (self.greatest - self.least) if self.greatest > self.least else value

    def best_of(self, scored):
        """Returns the edge with the greatest score; of equal ones that with the smallest action."""
        return max(scored, key=lambda pair: (pair[0], -pair[1].action))[1]

    def choose(self, node):
        if self.gumbel and node is self.root:
            return self.choose_contender()
        scored = self.improved_scores(node) if self.gumbel else self.puct_scores(node)
        edge = self.best_of(scored)
        if node.left and edge is node.left[0]:
            node.edges.append(node.left.pop(0))
        return edge

    def puct_scores(self, node):
        visits = float(node.visits + node.pending)
        c = (math.log((1 + visits + self.c_base) / self.c_base) + self.c_init) * math.sqrt(visits)
        unvisited = self.unvisited
        if unvisited == "parent":
            unvisited = self.scaled(node.total / node.visits if node.visits else 0.0)
        scored = []
        for edge in node.edges:
            count = edge.visits + edge.pending
            q = self.scaled(edge.total / edge.visits) if edge.visits else unvisited
            if edge.pending and self.virtual_loss:
                q = (q * edge.visits - self.virtual_loss * edge.pending) / count
            scored.append((q + c * float(edge.prior) / (1 + count), edge))
        if node.left:
            scored.append((unvisited + c * float(node.left[0].prior), node.left[0]))
        return scored

    # ---- Gumbel

    def improved(self, node):
        """Returns functions of an edge: the scaled value, and the improved policy."""
        visits = prior_sum = q_sum = 0.0
        left, most = 1.0, 0
        for edge in node.edges:
            left -= float(edge.prior)
            most = max(most, edge.visits)
            if edge.visits:
                visits += edge.visits
                prior_sum += float(edge.prior)
                q_sum += float(edge.prior) * (edge.total / edge.visits)
        mixed = node.value
        if visits and prior_sum:
            mixed = (node.value + visits * (q_sum / prior_sum)) / (1 + visits)
        factor = (self.c_visit + most) * self.c_scale

        def scale(value):
            return factor * (self.scaled(value) if self.normalize else (value + 1) / 2)

        def sigma(edge):
            return scale(edge.total / edge.visits if edge.visits else mixed)

        greatest = max([scale(mixed), *map(sigma, node.edges)])
        total = max(left, 0.0) * math.exp(scale(mixed) - greatest) if node.left else 0.0
        for edge in node.edges:
            total += float(edge.prior) * math.exp(sigma(edge) - greatest)
        return sigma, lambda edge: float(edge.prior) * math.exp(sigma(edge) - greatest) / total

    def improved_scores(self, node):
        _, policy = self.improved(node)
        count = float(node.visits + node.pending)
        scored = [(policy(edge) - (edge.visits + edge.pending) / count, edge) for edge in node.edges]
        if node.left:
            scored.append((policy(node.left[0]), node.left[0]))
        return scored

    def root_score(self, edge):
        noise = 0 if self.noise is None else float(self.noise[edge.action])
        return math.log(max(float(edge.prior), 1e-300)) + noise

    def begin_root(self):
        root = self.root
        if self.noise is None and not self.gumbel:
            return
        root.edges, root.left = root.left, []
        if not self.gumbel:
            total = 0.0
            for edge in sorted(root.edges, key=lambda edge: edge.action):
                total += float(self.noise[edge.action])
            for edge in root.edges:
                edge.prior = np.float32((1 - self.weight) * float(edge.prior)
                                        + self.weight * (float(self.noise[edge.action]) / total))
            return
        self.contenders = sorted(root.edges, key=lambda edge: (-self.root_score(edge), edge.action))[:self.considered]
        self.phases = max(len(self.contenders) - 1, 0).bit_length()
        self.begin_phase()

    def begin_phase(self):
        done, count, phases = self.root.visits - 1, len(self.contenders), max(1, self.phases)
        left = max(0, self.simulations - done)
        self.phase_end = self.simulations if phases == 1 else done + max(1, left // (phases * count)) * count

    def choose_contender(self):
        started = self.root.visits - 1 + self.root.pending
        if started >= self.phase_end and len(self.contenders) > 1 and not self.root.pending:
            sigma, _ = self.improved(self.root)
            self.contenders.sort(key=lambda edge: (-(self.root_score(edge) + sigma(edge)), edge.action))
            self.contenders = self.contenders[:(len(self.contenders) + 1) // 2]
            self.phases -= 1
            self.begin_phase()
        return min(self.contenders, key=lambda edge: edge.visits + edge.pending)

    # ---- the result

    def visits(self, num_actions):
        out = np.zeros(num_actions, np.int32)
        for edge in self.root.edges or ():
            out[edge.action] = edge.visits
        return out

    def action(self):
        if not self.gumbel:
            return max(self.root.edges, key=lambda edge: (edge.visits, -edge.action)).action
        sigma, _ = self.improved(self.root)
        most = max(edge.visits for edge in self.contenders)
        return self.best_of([(self.root_score(edge) + sigma(edge), edge) for edge in self.contenders
                             if edge.visits == most]).action
