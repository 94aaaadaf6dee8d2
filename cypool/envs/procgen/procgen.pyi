# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

GAMES: dict[Any, Any]
MAX_LEVEL: int
MODE_NUMBERS: dict[Any, Any]

class Procgen(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        env_name: str = 'coinrun',
        distribution_mode: str = 'hard',
        num_levels: int = 0,
        start_level: int = 0,
        use_sequential_levels: bool = False,
        center_agent: bool = True,
        use_backgrounds: bool = True,
        use_monochrome_assets: bool = False,
        restrict_themes: bool = False,
        use_generated_assets: bool = False,
        paint_vel_info: bool = False,
        debug_mode: int = 0,
        channel_first: bool = False,
        batch_seeds: bool = False,
        painter: str = 'cypool',
        procgen_path: Any = None,
    ) -> EnvSpec: ...
