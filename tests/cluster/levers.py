"""An environment whose actions are dicts, as workers import it: compiled by the first that asks."""
from pathlib import Path

import cypool

ID = cypool.compile(Path(__file__).with_suffix(".pyx"))
