"""Learns a board game from scratch with AlphaZero: self-play with tree search, and a network that learns from it.

    pip install torch . && python examples/alphazero.py
    python examples/alphazero.py --id board/othello-v0 --minutes 30

After each row, the network, the optimizer and the experience are saved to a file; Ctrl-C ends a run, and the same
command resumes it. Each output row contains the moves so far, CPU seconds, games, the loss, and the mean result (1 for
a win) against a tree search that evaluates positions by random games, with the same number of simulations per move.
`learning_curves.py --draw FILE` draws these rows.
"""
import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import cypool

ROUND = 16    # moves of all games between two training phases


class Network(nn.Module):
    """Logits of all actions, and the value of a position for the player to move."""

    def __init__(self, num_inputs, num_actions, width):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(num_inputs, width), nn.Linear(width, width), nn.Linear(
            width, width)
        self.last = nn.Linear(width, num_actions + 1)

    def forward(self, obs):
        x = functional.relu(self.first(obs.flatten(1)))
        x = functional.relu(x + self.third(functional.relu(self.second(x))))
        out = self.last(x)
        return out[:, :-1], torch.tanh(out[:, -1])

    @torch.inference_mode()
    def evaluate(self, obs, action_mask):
        """Evaluates positions for a tree search. Observations show which stones belong to the player to move."""
        logits, value = self(torch.from_numpy(obs))
        return logits.numpy(), value.numpy()


class Experience:
    """The latest positions of self-play, with the search's policy and, once the game is over, its result."""

    def __init__(self, size, obs_shape, num_actions, num_games):
        self.obs, self.policy = np.zeros((size, *obs_shape), np.float32), np.zeros((size, num_actions), np.float32)
        self.value, self.player, self.known = np.zeros(size, np.float32), np.zeros(size, np.int32), np.zeros(size, bool)
        self.count = 0
        self.paths = [[] for _ in range(num_games)]

    def add(self, games, obs, policy, value, player):
        rows = (self.count + np.arange(len(games))) % len(self.value)
        self.count += len(games)
        self.obs[rows], self.policy[rows], self.value[rows], self.player[rows] = obs, policy, value, player
        self.known[rows] = False
        for game, row in zip(games, rows, strict=True):
            self.paths[game].append(row)

    def end(self, game, rewards):
        """Stores the result of a game: `rewards` has one value for each player."""
        rows, self.paths[game] = np.array(self.paths[game]), []
        # the search's own value is less noisy than the result
        self.value[rows] = 0.75 * rewards[self.player[rows]] + 0.25 * self.value[rows]
        self.known[rows] = True

    def sample(self, count, random):
        rows = random.choice(np.flatnonzero(self.known), count)
        return (torch.from_numpy(array[rows]) for array in (self.obs, self.policy, self.value))


def update(network, optimizer, experience, args, random):
    """Trains on samples; returns the mean loss."""
    losses = []
    for _ in range(args.updates):
        obs, policy, value = experience.sample(args.batch, random)
        if args.mirrored and random.random() < 0.5:
            obs, policy = obs.flip(-1), policy.flip(-1)
        logits, predicted = network(obs)
        loss = functional.cross_entropy(logits, policy) + functional.mse_loss(predicted, value)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.mean(losses)


def match(id, evaluate, simulations, num_games, seed=0):
    """Plays against a search with random games; each first move is played from both sides.

    Returns:
        float64, (num_games,): the network's results, 1, 0 or -1.
    """
    env = cypool.make(id, num_envs=num_games, num_threads=1, seed=seed, autoreset_mode="Disabled")
    obs, info = env.reset()
    ours = cypool.TreeSearch(env, simulations=simulations, algorithm="gumbel", c_scale=0.1, seed=seed)
    theirs = cypool.TreeSearch(env, simulations=simulations, c_init=2**0.5, seed=seed + 1)
    seats, results, over = np.arange(num_games) % 2, np.zeros(num_games), np.zeros(num_games, bool)
    legal = [np.flatnonzero(mask) for mask in info["action_mask"]]
    actions = np.array([moves[k // 2 % len(moves)] for k, moves in enumerate(legal)])
    while not over.all():
        ids = np.flatnonzero(~over)
        _, _, terminated, truncated, info = env.step(actions[ids], ids)
        results[ids] += info["rewards"][np.arange(len(ids)), seats[ids]]
        over[ids] = terminated | truncated
        player = np.full(num_games, -1)
        player[ids] = info["current_player"]
        actions = np.where(player == seats, ours.run(evaluate).action, theirs.run("rollout").action)
    env.close()
    return results


def train(args):
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    random = np.random.default_rng(args.seed)
    env = cypool.make(args.id, num_envs=args.num_envs, num_threads=1, seed=args.seed)
    spec = env.env_spec
    network = Network(int(np.prod(spec.observation.shape)), spec.action.n, args.width)
    optimizer = torch.optim.AdamW(network.parameters(), args.learning_rate, weight_decay=1e-4)
    experience = Experience(args.positions, spec.observation.shape, spec.action.n, args.num_envs)
    spent, num_games, rows = 0.0, 0, 0
    if args.file.exists():
        saved = torch.load(args.file, weights_only=False)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        vars(experience).update(saved["experience"], paths=experience.paths)
        spent, num_games, rows = saved["spent"], saved["num_games"], saved["rows"]
    search = cypool.TreeSearch(env, simulations=args.simulations, algorithm="gumbel", noise=True, c_scale=0.1,
                               seed=args.seed + rows)
    (obs, info), over, loss = env.reset(), np.zeros(args.num_envs, bool), 0.0
    before = time.process_time()
    if rows == 0:
        print("candidate,seed,step,seconds,games,loss,return", flush=True)
    while spent < args.minutes:
        for _ in range(ROUND):
            result = search.run(network.evaluate)
            games = np.flatnonzero(~over)
            experience.add(games, obs[games], result.policy[games], result.value[games],
                           info["current_player"][games])
            obs, _, terminated, truncated, info = env.step(result.action)
            over = terminated | truncated
            for game in np.flatnonzero(over):
                experience.end(game, info["rewards"][game])
                num_games += 1
        now = time.process_time()
        spent, before = spent + (now - before) / 60, now
        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate * max(0.1, 1 - 0.9 * spent / args.minutes)
        if experience.known.sum() > args.minimum:
            loss = update(network, optimizer, experience, args, random)
        if spent >= (rows + 1) * args.minutes / args.rows or spent >= args.minutes:
            rows += 1
            began = time.process_time()
            score = match(args.id, network.evaluate, args.opponent, args.games).mean()
            # matches do not count as training
            before += time.process_time() - began
            print(f"alphazero,{args.seed},{experience.count},{60 * spent:.1f},{num_games},{loss:.3f},{score:.2f}",
                  flush=True)
            kept = {name: value for name, value in vars(experience).items() if name != "paths"}
            torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(), "experience": kept,
                        "spent": spent, "num_games": num_games, "rows": rows}, args.file)
    env.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--id", default="board/connect_four-v0", help="a two-player game")
    parser.add_argument("--minutes", type=float, default=8, help="CPU time in minutes, not counting matches")
    parser.add_argument("--rows", type=int, default=8, help="number of output rows")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=int, default=512, help="games played at once")
    parser.add_argument("--simulations", type=int, default=32, help="simulations per move in self-play")
    parser.add_argument("--opponent", type=int, default=200, help="simulations per move, for both sides of a match")
    parser.add_argument("--games", type=int, default=28, help="games per match")
    parser.add_argument("--width", type=int, default=256, help="width of the network")
    parser.add_argument("--positions", type=int, default=250_000, help="number of positions kept")
    parser.add_argument("--minimum", type=int, default=8000, help="positions collected before training starts")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--updates", type=int, default=64, help=f"updates after every {ROUND} moves of all games")
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--mirrored", action=argparse.BooleanOptionalAction, default=None,
                        help="whether columns and actions can be mirrored; by default only in connect four")
    parser.add_argument("--file", type=Path, default=Path("alphazero.pt"), help="file to save the run to")
    args = parser.parse_args()
    if args.mirrored is None:
        args.mirrored = "connect_four" in args.id
    try:
        train(args)
    except KeyboardInterrupt:
        print(f"stopped; the same command resumes with {args.file}")


if __name__ == "__main__":
    main()
