# by .ci/stubs: not to be edited
from cypool.env import Env
from cypool.spec import EnvSpec

class Acrobot(Env):
    @staticmethod
    def describe(precision: str = 'exact') -> EnvSpec: ...
