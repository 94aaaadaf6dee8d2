# by .ci/stubs: not to be edited
from typing import Any

def picture_of(
        height: Any,
        width: Any,
        gray: Any,
        rgb: Any,
        out_size: Any,
        by_area: Any,
        channels_last: Any,
    ) -> Any: ...

class Picture:
    def __init__(
        self,
        height: int,
        width: int,
        gray: bytes,
        rgb: bytes,
        out_size: Any,
        by_area: bool,
        channels_last: bool,
    ) -> None: ...
    @property
    def frame_bytes(self) -> int: ...
    @property
    def num_planes(self) -> int: ...
