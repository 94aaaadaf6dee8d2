# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

BUTTONS: tuple[Any, ...]
FORMATS: tuple[Any, ...]
VARIABLES: tuple[Any, ...]

def probe(path: Any, text: Any) -> Any: ...

class Doom(Env):
    def __init__(
        self,
        spec: Any,
        env_id: Any,
        config_path: Any,
        text: Any,
        arguments: Any,
        pipelined: bool,
    ) -> None: ...
    @property
    def num_players(self) -> int: ...
    def picture(self, player: int) -> Any: ...

class EnvPoolDoom(Doom):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        cfg_path: str = '',
        img_height: int = 84,
        img_width: int = 84,
        stack_num: int = 4,
        frame_skip: int = 4,
        lmp_save_dir: str = '',
        episodic_life: bool = False,
        force_speed: bool = False,
        use_combined_action: bool = False,
        use_inter_area_resize: bool = True,
        weapon_duration: int = 5,
        reward_config: Any = ...,
        selected_weapon_reward_config: Any = ...,
        delta_button_config: Any = None,
        wad_path: str = '',
        vzd_path: str = '',
        iwad_path: str = '',
        game_args: str = '',
        map_id: str = 'map01',
        screen_resolution: Any = None,
        num_players: int = 1,
        num_bots: int = 0,
        engine_timeout: float = 60.0,
        engine_pid: bool = False,
    ) -> EnvSpec: ...

class GymnasiumDoom(Doom):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
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
