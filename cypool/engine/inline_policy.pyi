from typing import final

def worth_waking(work_ns: int, wanted: int) -> int: ...

@final
class InlinePolicy:
    def __init__(self, num_threads: int) -> None: ...
