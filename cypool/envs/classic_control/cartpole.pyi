# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

class CartPole(Env):
    @staticmethod
    def describe(sutton_barto_reward: Any = False, precision: Any = 'exact') -> EnvSpec: ...
