"""Environments on many machines, on Ray: workers own them and choose actions, the learner stays central.

    worker: pool + policy --- rollouts of T steps ---> learner: ClusterEnv
                          <-- weights, if due -------

`env.py` is the learner's side, `worker.py` the other one; neither is needed to read `policies.py`, `distributions.py`
and `sync.py`. Ray is imported when a `ClusterEnv` is made: `pip install "cypool[cluster]"`.
"""
from cypool.cluster.distributions import Categorical, DiagonalGaussian, distribution_of
from cypool.cluster.env import ClusterEnv
from cypool.cluster.policies import MLPPolicy, TorchPolicy
from cypool.cluster.rollout import Rollout
from cypool.cluster.sync import APS, Always, Every, Never

__all__ = ["APS", "Always", "Categorical", "ClusterEnv", "DiagonalGaussian", "Every", "MLPPolicy", "Never", "Rollout",
           "TorchPolicy", "distribution_of"]
