"""DQN or PPO for Atari with Tianshou's high-level API.

    pip install "tianshou[eval]", then python examples/tianshou_atari.py --algorithm dqn --env-id Pong-v5
"""
import argparse
import tempfile

import torch
from tianshou.env.atari.atari_network import ActorFactoryAtariDQN, IntermediateModuleFactoryAtariDQN
from tianshou.highlevel.config import OffPolicyTrainingConfig, OnPolicyTrainingConfig
from tianshou.highlevel.experiment import DQNExperimentBuilder, ExperimentConfig, PPOExperimentBuilder
from tianshou.highlevel.params.algorithm_params import DQNParams, PPOParams

from cypool.adapters import tianshou


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", choices=["dqn", "ppo"], default="dqn")
    parser.add_argument("--env-id", default="Pong-v5")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--max-epochs", type=int, default=100)
    parser.add_argument("--epoch-num-steps", type=int, default=100_000)
    parser.add_argument("--num-envs", type=int, default=10)
    parser.add_argument("--buffer-size", type=int, default=100_000, help="transitions in DQN's replay buffer")
    return parser.parse_args()


def dqn(args, env_factory, config, **sizes):
    training = OffPolicyTrainingConfig(
        **sizes, buffer_size=args.buffer_size, batch_size=32, start_timesteps=min(10_000, args.epoch_num_steps),
        start_timesteps_random=True, collection_step_num_env_steps=args.num_envs,
        # one gradient step for each step of all environments
        update_step_num_gradient_steps_per_sample=1 / args.num_envs,
        replay_buffer_ignore_obs_next=True,
        # store only the newest of the four images in an observation
        replay_buffer_save_only_last_obs=True, replay_buffer_stack_num=4)
    params = DQNParams(lr=1e-4, gamma=0.99, n_step_return_horizon=3, target_update_freq=500, eps_training=0.1,
                       eps_inference=0.005)
    return (DQNExperimentBuilder(env_factory, config, training).with_dqn_params(params)
            .with_model_factory(IntermediateModuleFactoryAtariDQN()))


def ppo(args, env_factory, config, **sizes):
    training = OnPolicyTrainingConfig(**sizes, batch_size=256, update_step_num_repetitions=4,
                                      collection_step_num_env_steps=128 * args.num_envs)
    params = PPOParams(lr=2.5e-4, gamma=0.99, gae_lambda=0.95, ent_coef=0.01, vf_coef=0.25, max_grad_norm=0.5,
                       eps_clip=0.1)
    return (PPOExperimentBuilder(env_factory, config, training).with_ppo_params(params)
            .with_actor_factory(ActorFactoryAtariDQN(features_only=True)).with_critic_factory_use_actor())


def main():
    args = parse_args()
    # only in training, each episode is one life, and rewards are clipped
    env_factory = tianshou.PoolEnvFactory(args.env_id, episodic_life=True, reward_clip=True,
                                          test={"episodic_life": False, "reward_clip": False})
    with tempfile.TemporaryDirectory() as folder:
        config = ExperimentConfig(seed=args.seed, device=args.device, watch=False, log_file_enabled=False,
                                  persistence_enabled=False, persistence_base_dir=folder)
        builder = {"dqn": dqn, "ppo": ppo}[args.algorithm](
            args, env_factory, config, max_epochs=args.max_epochs, epoch_num_steps=args.epoch_num_steps,
            num_training_envs=args.num_envs, num_test_envs=args.num_envs)
        result = builder.build().run().trainer_result
    print(f"best mean return of {args.num_envs} games: {result.best_reward:.2f}")


if __name__ == "__main__":
    main()
