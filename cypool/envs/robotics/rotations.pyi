# by .ci/stubs: not to be edited
from typing import Any

def angles_of_pens(achieved: Any, desired: Any) -> Any: ...
