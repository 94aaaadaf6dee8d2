# by .ci/stubs: not to be edited
from cypool.env import Env

INFO: dict

class Table: ...

class Tabular(Env): ...
