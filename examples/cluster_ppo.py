"""PPO on a cluster whose workers get new weights only when the policy has drifted: how many syncs are needed?

    pip install torch matplotlib ".[cluster]" && python examples/cluster_ppo.py --csv syncs.csv --plot syncs.svg

The workers run the actor; the learner computes values and advantages, and does all training. Rollouts include the
probabilities under the policy that chose the actions, so PPO's ratio is correct even if that policy is old.
"""
import argparse
import csv
import sys

import numpy as np
import ray
import torch
from torch import nn

import cypool
from cypool.cluster import APS, Always, Categorical, ClusterEnv, Every, Never, TorchPolicy

CLIP = 0.2


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


def advantages(rollout, values, args):
    """Returns generalized advantages (T, N); `values` belong to T + 1 observations.

    With NextStep, the observation after an end is the episode's last one: truncated episodes are bootstrapped from it.
    """
    going_on = ~rollout.terminated
    deltas = rollout.reward + args.gamma * values[1:] * going_on - values[:-1]
    ended = rollout.terminated | rollout.truncated
    found, following = np.zeros_like(deltas), 0.0
    for t in reversed(range(len(deltas))):
        found[t] = following = deltas[t] + args.gamma * args.gae_lambda * ~ended[t] * following
    return found


def update(actor, critic, optimizer, rollout, args):
    obs = torch.from_numpy(np.concatenate([rollout.obs, rollout.last_obs[None]]))
    with torch.no_grad():
        values = critic(obs)[..., 0].numpy()
    found = advantages(rollout, values, args)
    # steps that begin an episode are not transitions
    rows = rollout.valid
    flat = [torch.from_numpy(np.asarray(each[rows])) for each in (
        rollout.obs, rollout.action, rollout.log_prob, found.astype(np.float32),
        (found + values[:-1]).astype(np.float32))]
    flat[3] = (flat[3] - flat[3].mean()) / (flat[3].std() + 1e-8)
    for _ in range(args.epochs):
        for picked in torch.randperm(len(flat[0])).split(args.minibatch):
            o, a, behaviour, advantage, target = (each[picked] for each in flat)
            chosen = torch.distributions.Categorical(logits=actor(o))
            ratio = (chosen.log_prob(a) - behaviour).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            loss = -gain + 0.5 * (critic(o)[..., 0] - target).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
            optimizer.step()


def train(sync, seed, args):
    """Returns the number of syncs, the bytes of weights sent, and the mean return in the last quarter of updates."""
    torch.manual_seed(seed)
    spec = cypool.make_spec(args.env_id)
    inputs, actions = spec.observation.shape[0], spec.action.n
    actor, critic = network(inputs, actions), network(inputs, 1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=args.lr)
    # smaller steps need new weights less often
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, args.updates)
    returns, rollout = [], None
    with ClusterEnv(args.env_id, args.workers, args.envs, policy=TorchPolicy(actor, Categorical(actions)), sync=sync,
                    seed=1000 * seed, episode_statistics=True) as env:
        env.reset()
        for _ in range(args.updates):
            rollout = env.rollout(args.steps, out=rollout)
            returns.append(rollout.episodes["r"] if rollout.episodes else [])
            update(actor, critic, optimizer, rollout, args)
            schedule.step()
            env.publish(actor)
        stats = env.stats()
    last = np.concatenate(returns[-max(1, args.updates // 4):])
    return stats["syncs"], stats["bytes_pulled"], last.mean() if len(last) else np.nan


def plot(rows, path, env_id):
    import matplotlib
    from matplotlib.figure import Figure

    # keep text as text, which makes the file smaller
    matplotlib.rcParams["svg.fonttype"] = "none"
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name in dict.fromkeys(row["sync"] for row in rows):
        syncs, returns = (np.array([row[key] for row in rows if row["sync"] == name]) for key in ("syncs", "return"))
        marker = "o" if name.startswith("APS") else "s"
        axes.errorbar(syncs.mean(), returns.mean(), yerr=returns.std(), fmt=marker, label=name, capsize=3)
    axes.set(xlabel="syncs: a worker took new weights", ylabel="return, last quarter of the updates",
             title=f"PPO on {env_id}, mean and standard deviation over seeds")
    axes.legend(fontsize="small", ncols=2)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--env-id", default="CartPole-v1", help="an environment with discrete actions (default: %(default)s)")
    add("--thresholds", type=float, nargs="*", default=[0.003, 0.01, 0.03],
        help="thresholds for APS (default: %(default)s)")
    add("--seeds", type=int, nargs="+", default=[0, 1, 2], help="default: %(default)s")
    add("--updates", type=int, default=300, help="rollouts per run (default: %(default)s)")
    add("--workers", type=int, default=2, help="default: %(default)s")
    add("--envs", type=int, default=4, help="environments per worker (default: %(default)s)")
    add("--steps", type=int, default=32, help="steps per rollout (default: %(default)s)")
    add("--epochs", type=int, default=15, help="default: %(default)s")
    add("--minibatch", type=int, default=256, help="default: %(default)s")
    add("--lr", type=float, default=1e-3, help="default: %(default)s")
    add("--gamma", type=float, default=0.98, help="default: %(default)s")
    add("--gae-lambda", type=float, default=0.8, help="default: %(default)s")
    add("--csv", help="write the results to this file")
    add("--plot", help="plot the results: .svg, .png or .pdf")
    args = parser.parse_args()
    torch.set_num_threads(1)
    strategies = {"Always": Always(), "Every(8)": Every(8), "Every(32)": Every(32), "Never": Never(),
                  **{f"APS({threshold:g})": APS(threshold) for threshold in args.thresholds},
                  **{f"APS({threshold:g}, max_lag=4)": APS(threshold, max_lag=4) for threshold in args.thresholds[-1:]}}
    # one Ray instance for all runs
    ray.init(address="local", num_cpus=max(2, args.workers), include_dashboard=False, log_to_driver=False,
             logging_level="ERROR")
    rows = []
    for name, sync in strategies.items():
        for seed in args.seeds:
            syncs, moved, mean_return = train(sync, seed, args)
            rows.append({"sync": name, "seed": seed, "syncs": syncs, "bytes": moved, "return": round(mean_return, 1)})
            print(f"{name:20} seed {seed}: {syncs:4} syncs, {moved / 1e6:6.2f} MB of weights, "
                  f"return {mean_return:6.1f}", flush=True)
    ray.shutdown()
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if args.plot:
        plot(rows, args.plot, args.env_id)


if __name__ == "__main__":
    sys.exit(main())
