"""The first phase of Go-Explore: finds its way through the rooms of Montezuma's Revenge without any training.

    pip install "cypool[atari]"
    python examples/go_explore.py --minutes 5

With `--plot FILE`, it plots the number of rooms found over frames, and maps the cells in the pyramid of rooms; this
needs matplotlib.

It keeps an exact state for each cell (room, position, items carried) that it has seen. Repeatedly, it returns to some
of the cells, preferring those it has rarely chosen, and plays at random from there. It keeps the state when it reaches
a new cell, or a known one with a higher score. (Ecoffet et al., 2021: First return, then explore.)
"""
import argparse
import time

import numpy as np

import cypool

# addresses in the console's memory
ROOM, X, Y, CARRIED = 3, 42, 43, 65
# the first room on each floor of the pyramid
FLOORS = 0, 3, 8, 15


def draw(path, progress, cells, grid):
    """Draws `progress`, (frames, rooms) for each new room, and where the cells are."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), width_ratios=(1, 2))
    left.step(*zip(*progress, strict=True), where="post")
    left.set(xlabel="frames", ylabel="rooms", ylim=(0, None))
    for floor, first in enumerate(FLOORS):
        for column in range(2 * floor + 3):
            x, y = column - floor, -floor
            right.add_patch(pyplot.Rectangle((x, y), 1, 1, fill=False, color="lightgrey"))
            # positions, whatever items were carried there
            places = {cell[1:3] for cell in cells if cell[0] == first + column}
            if places:
                right.scatter([x + (k * grid + grid / 2) / 160 for k, _ in places],
                              [y + (k * grid - 128) / 128 for _, k in places], s=4, color="C0", linewidths=0)
    right.set(xlim=(-3.1, 6.1), ylim=(-3.1, 1.1), title=f"{len(cells)} cells")
    right.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--num-envs", type=int, default=32)
    parser.add_argument("--chunk", type=int, default=10, help="steps between checks of the cells")
    parser.add_argument("--chunks", type=int, default=8, help="chunks played from each cell")
    parser.add_argument("--grid", type=int, default=8, help="width and height of a cell")
    parser.add_argument("--num-threads", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", metavar="FILE")
    args = parser.parse_args()

    # an episode ends when a life is lost, and its environment stays there
    env = cypool.make("MontezumaRevenge-v5", num_envs=args.num_envs, num_threads=args.num_threads, seed=args.seed,
                      obs_type="ram", stack_num=1, episodic_life=True, reward_clip=False, noop_max=0,
                      autoreset_mode="Disabled")
    rng, num_actions = np.random.default_rng(args.seed), env.single_action_space.n
    env.reset()
    begun, frames, rooms = time.perf_counter(), 0, {1}
    progress = [(0, 1)]
    # for each cell: a row of a saved state, the score, and how often the cell was chosen
    archive = {}

    def cells_of(ram):
        return list(zip(ram[:, ROOM].tolist(), (ram[:, X] // args.grid).tolist(), (ram[:, Y] // args.grid).tolist(),
                        ram[:, CARRIED].tolist(), strict=True))

    def keep(ids, cells, scores):
        """Keeps states that reach new cells, or known ones with a higher score."""
        better = {cell: i for i, cell in zip(ids, cells, strict=True)
                  if cell not in archive or scores[i] > archive[cell][1]}
        if better:
            state = env.save(list(better.values()))
            for row, (cell, i) in zip(state.rows, better.items(), strict=True):
                archive[cell] = [row, scores[i], 0]

    first = env.rollout(np.zeros((1, args.num_envs), np.int64))
    keep([0], cells_of(first.last_obs)[:1], np.zeros(args.num_envs))
    actions = np.zeros(args.num_envs, np.int64)
    while time.perf_counter() - begun < 60 * args.minutes:
        cells = list(archive)
        weights = 1 / np.sqrt(1 + np.array([archive[cell][2] for cell in cells]))
        chosen = [cells[k] for k in rng.choice(len(cells), args.num_envs, p=weights / weights.sum())]
        for cell in chosen:
            archive[cell][2] += 1
        scores = np.array([archive[cell][1] for cell in chosen], float)
        env.load(cypool.State(range(args.num_envs), [archive[cell][0] for cell in chosen]))
        for _ in range(args.chunks):
            # holding the joystick gets farther than constantly moving it
            sequence = np.zeros((args.chunk, args.num_envs), np.int64)
            for t in range(args.chunk):
                changes = rng.random(args.num_envs) < 0.1
                actions = np.where(changes, rng.integers(0, num_actions, args.num_envs), actions)
                sequence[t] = actions
            played = env.rollout(sequence)
            frames += 4 * sequence.size
            scores += played.reward.sum(axis=0)
            ended = (played.terminated | played.truncated).any(axis=0)
            alive, dead = np.flatnonzero(~ended), np.flatnonzero(ended)
            if len(alive) == 0:
                break
            seen = cells_of(played.last_obs)
            keep(alive.tolist(), [seen[i] for i in alive], scores)
            if len(dead):
                # they continue from the states of others
                others = rng.choice(alive, len(dead))
                env.copy(others, dead)
                scores[dead] = scores[others]
        found = {cell[0] for cell in archive}
        if not found <= rooms:
            rooms |= found
            progress.append((frames, len(rooms)))
            best = max(score for _, score, _ in archive.values())
            print(f"{time.perf_counter() - begun:.0f} s, {frames / 1e6:.2f} million frames: {len(rooms)} rooms, "
                  f"{len(archive)} cells, score {best:.0f}", flush=True)
    print(f"{frames / 1e6:.1f} million frames in {args.minutes:g} minutes: {len(rooms)} rooms, {len(archive)} cells, "
          f"score {max(score for _, score, _ in archive.values()):.0f}")
    if args.plot:
        draw(args.plot, [*progress, (frames, len(rooms))], archive, args.grid)


if __name__ == "__main__":
    main()
