"""PPO with TorchRL's parts."""
import torch
from torchrl.collectors import Collector
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE


def trained(env, actor, critic, num_batches, num_epochs):
    """Yields batches of 512 steps, each after it was learned from."""
    advantage = GAE(gamma=0.98, lmbda=0.8, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.0)
    optimizer = torch.optim.Adam(loss.parameters(), lr=3e-3)
    collector = Collector(env, actor, frames_per_batch=512, total_frames=num_batches * 512)
    for data in collector:
        advantage(data)
        flat = data.reshape(-1)
        for _ in range(num_epochs):
            for rows in torch.randperm(512).split(128):
                losses = loss(flat[rows])
                optimizer.zero_grad()
                sum(losses[key] for key in ("loss_objective", "loss_critic")).backward()
                optimizer.step()
        yield data
    collector.shutdown()
