"""Simulates the cost of sending weights to up to 1,000 workers, without a cluster: traffic against staleness.

    pip install matplotlib && python benchmarks/aps_traffic.py --csv traffic.csv --plot traffic.svg

The strategies are those of `cypool.cluster`. The rest is a model:

  * The policy is a point in 32 dimensions; KL(old || new) is half the squared distance, as between Gaussians of
    variance 1 whose means are these points. An update moves the point by a step, half of which keeps the previous
    direction. Steps shrink to a tenth in the course of training; every twentieth one is five times as long.
  * A worker makes one rollout after another, each as long as an update times a random factor between 0.5 and 2. It
    calls `sync.due` before each rollout. The learner's measurement is off by a factor with a spread of 20 %.
  * Workers run on nodes of 16; each version is sent to a node once.
"""
import argparse
import csv
import sys

import numpy as np

from cypool.cluster import APS, Always, Every, Never

PER_NODE, DIMENSIONS = 16, 32
STRATEGIES = {
    "Always": Always(), **{f"Every({k})": Every(k) for k in (2, 4, 8, 16, 32)},
    **{f"APS({threshold:g})": APS(threshold) for threshold in (0.003, 0.01, 0.03, 0.1, 0.3)}, "Never": Never(),
}


def walk(updates, first_kl, rng):
    """Returns the policies (updates + 1, DIMENSIONS); the first updates have a divergence of `first_kl`."""
    lengths = np.sqrt(2 * first_kl) * np.linspace(1, 0.1, updates)
    lengths[19::20] *= 5
    direction, moves = rng.standard_normal(DIMENSIONS), []
    for length in lengths:
        direction = direction / np.linalg.norm(direction) + rng.standard_normal(DIMENSIONS) / np.sqrt(DIMENSIONS)
        moves.append(length * direction / np.linalg.norm(direction))
    return np.concatenate([np.zeros((1, DIMENSIONS)), np.cumsum(moves, 0)])


def simulate(sync, workers, policies, seed):
    """Returns syncs, versions sent to nodes, and the lag and true divergence of each rollout."""
    rng = np.random.default_rng(seed)
    durations = np.exp2(rng.uniform(-1, 1, workers))
    due_at = rng.uniform(0, durations)
    used, lags, kls = np.zeros(workers, int), [], []
    syncs = sent = 0
    for newest in range(len(policies)):
        on_nodes = set()
        # those that begin a rollout between this update and the next
        while (starting := np.flatnonzero(due_at < newest + 1)).size:
            for w in starting:
                kl = ((policies[newest] - policies[used[w]]) ** 2).sum() / 2
                noise = np.exp(0.2 * rng.standard_normal())
                if used[w] < newest and sync.due(newest - used[w], lambda measured=kl * noise: measured):
                    syncs, kl, used[w] = syncs + 1, 0.0, newest
                    on_nodes.add(w // PER_NODE)
                lags.append(newest - used[w])
                kls.append(kl)
            due_at[starting] += durations[starting]
        sent += len(on_nodes)
    return syncs, sent, np.array(lags), np.array(kls)


def plot(rows, path):
    import matplotlib
    from matplotlib.figure import Figure

    # letters as letters, which makes the file small
    matplotlib.rcParams["svg.fonttype"] = "none"
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    workers = max(row["workers"] for row in rows)
    for family, style in (("APS", "o-"), ("Every", "s--"), ("Always", "^")):
        points = [row for row in rows if row["sync"].startswith(family) and row["workers"] == workers]
        axes.plot([row["kl_95"] for row in points], [row["syncs_per_rollout"] for row in points], style, label=family)
        for row in points:
            axes.annotate(row["sync"].partition("(")[2].rstrip(")"), (row["kl_95"], row["syncs_per_rollout"]),
                          textcoords="offset points", xytext=(5, 5), fontsize="small")
    axes.set(yscale="log", xlabel="divergence of the policy in use from the newest, 95th percentile",
             ylabel="syncs per rollout", title=f"{workers} workers: traffic against staleness")
    axes.set_xscale("symlog", linthresh=1e-3)
    axes.legend()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--workers", type=int, nargs="+", default=[16, 128, 1000], help="default: %(default)s")
    add("--updates", type=int, default=200, help="default: %(default)s")
    add("--kl", type=float, default=0.005, help="divergence of an early update (default: %(default)s)")
    add("--megabytes", type=float, default=6.7, help="size of the weights (default: %(default)s, an Atari CNN)")
    add("--csv", help="write the results to this file")
    add("--plot", help="plot the results for the most workers: .svg, .png or .pdf")
    args = parser.parse_args()
    policies = walk(args.updates, args.kl, np.random.default_rng(0))
    rows = []
    print(f"{'workers':>7} {'sync':12} {'syncs/rollout':>13} {'MB/update':>10} {'lag mean':>8} {'95 %':>5} "
          f"{'KL mean':>8} {'95 %':>8}")
    for workers in args.workers:
        for name, sync in STRATEGIES.items():
            syncs, sent, lags, kls = simulate(sync, workers, policies, seed=1)
            row = {"workers": workers, "sync": name, "syncs_per_rollout": round(syncs / len(lags), 4),
                   "megabytes_per_update": round(sent * args.megabytes / args.updates, 2),
                   "lag_mean": round(lags.mean(), 2), "lag_95": int(np.percentile(lags, 95)),
                   "kl_mean": round(kls.mean(), 5), "kl_95": round(np.percentile(kls, 95), 5)}
            rows.append(row)
            print(f"{workers:7} {name:12} {row['syncs_per_rollout']:13.3f} {row['megabytes_per_update']:10.1f} "
                  f"{row['lag_mean']:8.1f} {row['lag_95']:5} {row['kl_mean']:8.4f} {row['kl_95']:8.4f}")
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    sys.exit(main())
