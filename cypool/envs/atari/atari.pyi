# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

EMULATOR: str
PRESETS: dict[Any, Any]
SIMD: list[Any]

def game_facts(task: Any) -> Any: ...
def picture_of(
        height: Any,
        width: Any,
        gray: Any,
        rgb: Any,
        out_size: Any,
        by_area: Any,
        channels_last: Any,
    ) -> Any: ...
def pool_frames(a: Any, b: Any, table: Any, *, simd: bool = True) -> Any: ...
def start_of(task: Any, mode: Any, difficulty: Any) -> Any: ...
def state_of(text: Any) -> Any: ...
def use_simd(name: Any) -> Any: ...

class Atari(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        task: str = 'pong',
        preset: Any = None,
        stack_num: int = 4,
        frame_skip: int = 4,
        noop_max: int = 30,
        episodic_life: bool = False,
        zero_discount_on_life_loss: bool = False,
        reward_clip: Any = None,
        use_fire_reset: Any = None,
        img_height: int = 84,
        img_width: int = 84,
        gray_scale: bool = True,
        channels_last: Any = None,
        repeat_action_probability: Any = None,
        full_action_space: bool = False,
        continuous: bool = False,
        continuous_action_threshold: float = 0.5,
        mode: int = -1,
        difficulty: int = -1,
        lives: bool = True,
        raw_reward: Any = None,
        game_over: Any = None,
        ram: Any = None,
        frame_numbers: Any = None,
        obs_type: str = 'image',
        use_inter_area_resize: bool = True,
        max_num_frames_per_episode: Any = None,
    ) -> EnvSpec: ...

class Picture:
    def __init__(
        self,
        height: int,
        width: int,
        gray: bytes,
        rgb: bytes,
        out_size: Any,
        by_area: bool,
        channels_last: bool,
    ) -> None: ...
    @property
    def frame_bytes(self) -> int: ...
    @property
    def num_planes(self) -> int: ...

class SharedStart: ...
