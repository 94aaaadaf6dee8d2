"""Sampling-based model predictive control (MPPI): a robot runs without any training.

    pip install "cypool[mujoco]"
    python examples/mpc_robots.py --env-id HalfCheetah-v5 --num-steps 200
    python examples/mpc_robots.py --film cheetah.mp4        # also needs cypool[video] and OpenGL

In each step, a planner tries sequences of actions from the robot's current state, all of them noisy copies of the
current plan. The next plan is their mean, weighted by exp(return / temperature).
"""
import argparse
import time

import numpy as np

import cypool


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env-id", default="HalfCheetah-v5")
    parser.add_argument("--num-steps", type=int, default=200)
    parser.add_argument("--num-samples", type=int, default=64, help="sequences tried in each step")
    parser.add_argument("--horizon", type=int, default=20, help="actions in a sequence")
    parser.add_argument("--noise", type=float, default=0.5, help="standard deviation of the actions around the plan")
    parser.add_argument("--temperature", type=float, default=1.0, help="in standard deviations of the returns")
    parser.add_argument("--num-threads", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--film", help="video file to write, such as cheetah.mp4")
    parser.add_argument("--camera", help="camera of the robot's model for the video, such as track")
    parser.add_argument("--size", type=int, default=480, help="width and height of the video")
    args = parser.parse_args()

    # states can only be loaded into environments with the same options
    options = {"width": args.size, "height": args.size, "camera_name": args.camera}
    env = cypool.make(args.env_id, seed=args.seed, **options)
    planner = cypool.make(args.env_id, num_envs=args.num_samples, num_threads=args.num_threads,
                          autoreset_mode="Disabled", **options)
    space, rng = env.single_action_space, np.random.default_rng(args.seed)
    plan = np.zeros((args.horizon, *space.shape))
    total, begun, steps = 0.0, time.perf_counter(), 0

    def act(_):
        nonlocal plan
        noise = rng.normal(0, args.noise, (args.num_samples, *plan.shape))
        # one sequence is the unchanged plan
        noise[0] = 0
        candidates = np.clip(plan + noise, space.low, space.high).astype(np.float32)
        returns = planner.search(env.save(), candidates).reward
        weights = np.exp((returns - returns.max()) / (args.temperature * (returns.std() + 1e-8)))
        plan = np.tensordot(weights / weights.sum(), candidates, axes=1)
        action = plan[0]
        # the next step starts from the rest of the plan
        plan = np.concatenate([plan[1:], plan[-1:]])
        return action[None].astype(np.float32)

    def count(rewards):
        nonlocal total, steps
        total, steps = total + float(rewards), steps + 1
        if steps % 50 == 0:
            seconds = time.perf_counter() - begun
            print(f"step {steps} of {args.num_steps}: return {total:.1f}, "
                  f"{steps * args.num_samples * args.horizon / seconds:,.0f} planned steps/s", flush=True)

    if args.film:
        rewards = cypool.record(env, args.film, actions=act, num_steps=args.num_steps)
        print(f"{args.film}: return {rewards.sum():.1f} in {args.num_steps} steps")
        return
    obs, _ = env.reset()
    for _ in range(args.num_steps):
        obs, reward, *_ = env.step(act(obs))
        count(reward[0])
    print(f"return {total:.1f} in {args.num_steps} steps and {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
