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

class FrameStack: ...

class Picture:
    @property
    def frame_bytes(self) -> Any: ...
    @property
    def num_planes(self) -> Any: ...
