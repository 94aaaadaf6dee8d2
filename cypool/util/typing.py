"""Names of types that many signatures share; for annotations, so that nothing imports this when it runs."""
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# observation, reward, terminated, truncated, info; an observation is an array, or a dict or tuple of arrays
Batch = tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
EnvIds = NDArray[np.int32]
# one for all environments, or one for each
Seed = int | Sequence[int | None] | None
ResetOptions = Mapping[str, Any] | list[dict[str, Any] | None] | None
Pathlike = str | bytes | os.PathLike[str] | os.PathLike[bytes]
