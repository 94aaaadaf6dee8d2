# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

BUTTONS: tuple[Any, ...]
FIRST_DELTA: int
FORMATS: tuple[Any, ...]
INFO: tuple[Any, ...]
MAX_SEED: int
NARROW: int
PAIRS: tuple[Any, ...]
REWARDS: dict[Any, Any]
UNSEEN: tuple[Any, ...]
VARIABLES: tuple[Any, ...]
WEAPONS: range
WEAPON_REWARDS: dict[Any, Any]

def action_spec(options: Any, buttons: Any) -> Any: ...
def check_config(config: Any) -> Any: ...
def check_deltas(deltas: Any) -> Any: ...
def check_engine(vzd_path: Any) -> Any: ...
def check_map_of(name: Any, value: Any, known: Any, count: Any, kind: Any) -> Any: ...
def check_resolution(path: Any, value: Any) -> Any: ...
def choices_of(num_binary: Any, pressed: Any) -> Any: ...
def combined_actions(buttons: Any, force_speed: Any, deltas: Any) -> Any: ...
def frames_lines(path: Any, map_id: Any, screen_resolution: Any) -> Any: ...
def image_size(path: Any, facts: Any, screen_resolution: Any) -> Any: ...
def read_config(path: Any, text: str = '') -> Any: ...
def read_planes(path: Any, text: Any) -> Any: ...
def wrapper_action(facts: Any, pressed: Any) -> Any: ...
def wrapper_lines(path: Any, options: Any) -> Any: ...

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
