"""Environments on many machines with Ray: workers own them and choose actions; the learner is central.

    worker: pool + policy --- rollouts of T steps ---> learner: ClusterEnv
                          <-- weights, if due -------

`env.py` is the learner's side, `worker.py` the workers'; `policies.py`, `distributions.py` and `sync.py` can be read on
their own. Ray is imported when a `ClusterEnv` is created: `pip install "cypool[cluster]"`.
"""
from cypool.cluster.distributions import Categorical, DiagonalGaussian, distribution_of
from cypool.cluster.env import ClusterEnv
from cypool.cluster.policies import MLPPolicy, TorchPolicy
from cypool.cluster.rollout import Rollout
from cypool.cluster.sync import APS, Always, Every, Never

__all__ = ["APS", "Always", "Categorical", "ClusterEnv", "DiagonalGaussian", "Every", "MLPPolicy", "Never", "Rollout",
           "TorchPolicy", "distribution_of"]
