"""Checks of an environment on your machine: does it match its reference and follow the contract?

    >>> print(cypool.testing.check_parity("Acrobot-v1"))
    >>> print(cypool.testing.check_env("my_env/MyEnv-v0"))
"""
from cypool.testing.contract import Contract, ContractError, check_env
from cypool.testing.parity import Parity, ParityError, check_parity

__all__ = ["Contract", "ContractError", "Parity", "ParityError", "check_env", "check_parity"]
