# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.vizdoom.doom import Doom
from cypool.spec import EnvSpec

BUTTONS: tuple[Any, ...]
FIRST_DELTA: int
VARIABLES: tuple[Any, ...]

def check_config(config: Any) -> Any: ...
def choices_of(num_binary: Any, pressed: Any) -> Any: ...
def wrapper_action(facts: Any, pressed: Any) -> Any: ...
def wrapper_lines(path: Any, options: Any) -> Any: ...

class GymnasiumDoom(Doom):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        scenario_config_file: str = 'basic.cfg',
        frame_skip: int = 1,
        max_buttons_pressed: int = 0,
        treat_episode_timeout_as_truncation: bool = True,
        config: Any = None,
        doom_map: Any = None,
        doom_skill: Any = None,
        wad_path: Any = None,
        iwad_path: Any = None,
        game_args: str = '',
        num_players: int = 1,
        num_bots: int = 0,
        engine_timeout: float = 60.0,
        engine_pid: bool = False,
    ) -> EnvSpec: ...
