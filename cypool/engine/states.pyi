# by .ci/stubs: not to be edited
from typing import Any

KEYS: frozenset[Any]
