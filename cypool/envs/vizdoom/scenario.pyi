# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.vizdoom.doom import Doom
from cypool.spec import EnvSpec

BUTTONS: tuple
FIRST_DELTA: int
VARIABLES: tuple

def check_config(config: Any) -> Any: ...
def choices_of(num_binary: Any, pressed: Any) -> Any: ...
def wrapper_action(facts: Any, pressed: Any, lead: Any) -> Any: ...
def wrapper_lines(path: Any, options: Any) -> Any: ...

class Scenario(Doom):
    @staticmethod
    def describe(
        scenario_config_file: Any = 'basic.cfg',
        frame_skip: Any = 1,
        max_buttons_pressed: Any = 0,
        treat_episode_timeout_as_truncation: Any = True,
        config: Any = None,
        doom_map: Any = None,
        doom_skill: Any = None,
        wad_path: Any = None,
        iwad_path: Any = None,
        game_args: Any = '',
        num_players: Any = 1,
        num_bots: Any = 0,
        engine_timeout: Any = 60.0,
        engine_pid: Any = False,
    ) -> EnvSpec: ...
