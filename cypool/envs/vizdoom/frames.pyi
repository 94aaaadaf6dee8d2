# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.vizdoom.doom import Doom
from cypool.spec import EnvSpec

BUTTONS: tuple
FIRST_DELTA: int
INFO: tuple
MAX_SEED: int
NARROW: int
PAIRS: tuple
REWARDS: dict
UNSEEN: tuple
VARIABLES: tuple
WEAPONS: range
WEAPON_REWARDS: dict

def check_map_of(name: Any, value: Any, known: Any, count: Any, kind: Any) -> Any: ...
def combined_actions(buttons: Any, force_speed: Any, deltas: Any) -> Any: ...
def frames_lines(path: Any, map_id: Any, screen_resolution: Any) -> Any: ...
def image_size(path: Any, facts: Any, screen_resolution: Any) -> Any: ...

class Frames(Doom):
    @staticmethod
    def describe(
        cfg_path: Any = '',
        img_height: Any = 84,
        img_width: Any = 84,
        stack_num: Any = 4,
        frame_skip: Any = 4,
        lmp_save_dir: Any = '',
        episodic_life: Any = False,
        force_speed: Any = False,
        use_combined_action: Any = False,
        use_inter_area_resize: Any = True,
        weapon_duration: Any = 5,
        reward_config: Any = ...,
        selected_weapon_reward_config: Any = ...,
        delta_button_config: Any = None,
        wad_path: Any = '',
        vzd_path: Any = '',
        iwad_path: Any = '',
        game_args: Any = '',
        map_id: Any = 'map01',
        screen_resolution: Any = None,
        num_players: Any = 1,
        num_bots: Any = 0,
        engine_timeout: Any = 60.0,
        engine_pid: Any = False,
    ) -> EnvSpec: ...

class Shrink: ...
