"""Plays a network from examples/alphazero.py against OpenSpiel's C++ MCTSBot, with equally many simulations per move.

    pip install torch open_spiel && python examples/alphazero.py
    python benchmarks/alphazero_match.py alphazero.pt

Every first move is played from both sides. Prints how many games the network wins, draws and loses.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import pyspiel
import torch

import cypool

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
from alphazero import Network


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--games", type=int, default=84)
    parser.add_argument("--simulations", type=int, default=1000)
    args = parser.parse_args()
    torch.set_num_threads(1)
    weights = torch.load(args.file, weights_only=False)["network"]
    network = Network(weights["first.weight"].shape[1], len(weights["last.bias"]) - 1, len(weights["first.bias"]))
    network.load_state_dict(weights)
    game = pyspiel.load_game(args.game)
    env = cypool.make(f"board/{args.game}-v0", num_envs=args.games, num_threads=0, seed=0, autoreset_mode="Disabled")
    env.reset()
    search = cypool.TreeSearch(env, simulations=args.simulations, algorithm="gumbel", c_scale=0.1, seed=0)
    states = [game.new_initial_state() for _ in range(args.games)]
    bots = [pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, seed), 2**0.5, args.simulations, 1000, False, seed,
                            False) for seed in range(args.games)]
    actions = [moves[k // 2 % len(moves)] for k, moves in enumerate(state.legal_actions() for state in states)]
    while True:
        ids = [k for k, state in enumerate(states) if not state.is_terminal()]
        if not ids:
            break
        for k in ids:
            states[k].apply_action(int(actions[k]))
        env.step(np.array(actions)[ids], ids)
        # even games are begun by the network
        ours = search.run(network.evaluate).action
        actions = [ours[k] if state.is_terminal() or state.current_player() == k % 2 else bots[k].step(state)
                   for k, state in enumerate(states)]
    results = [state.returns()[k % 2] for k, state in enumerate(states)]
    print(f"of {args.games} games, {args.simulations} simulations for a move: "
          f"{results.count(1)} won, {results.count(0)} drawn, {results.count(-1)} lost")


if __name__ == "__main__":
    main()
