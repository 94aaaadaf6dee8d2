# by .ci/stubs: not to be edited
from cypool.wrappers.wrapper import Wrapper

class Hooked(Wrapper): ...
