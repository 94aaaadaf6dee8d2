import numpy as np
from numpy.typing import NDArray

def pool_frames(a: NDArray[np.uint8], b: NDArray[np.uint8], table: NDArray[np.uint8], *,
                simd: bool = True) -> NDArray[np.uint8]: ...
