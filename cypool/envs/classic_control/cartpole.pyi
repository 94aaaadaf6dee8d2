# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class CartPole(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(sutton_barto_reward: bool = False, precision: str = 'exact') -> EnvSpec: ...
