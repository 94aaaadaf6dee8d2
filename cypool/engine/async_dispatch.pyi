# by .ci/stubs: not to be edited
from typing import final

from cypool.engine.dispatch import Dispatch

@final
class AsyncDispatch(Dispatch):
    def __init__(self) -> None: ...
