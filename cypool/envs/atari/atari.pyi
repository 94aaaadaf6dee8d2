# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

EMULATOR: str
MAX_EPISODE_STEPS: int
PRESETS: dict

def action_set(options: Any, facts: Any) -> Any: ...
def check_full_action_space(value: Any) -> Any: ...
def check_skip(value: Any) -> Any: ...
def check_switch(name: Any, value: Any, task: Any, available: Any) -> Any: ...
def game_facts(task: Any) -> Any: ...
def observation_shape(options: Any, facts: Any) -> Any: ...
def shown_rows(preset: Any, facts: Any) -> Any: ...
def start_of(task: Any, mode: Any, difficulty: Any) -> Any: ...
def use_simd(on: Any) -> Any: ...

class Atari(Env):
    @staticmethod
    def describe(
        task: Any = 'pong',
        preset: Any = None,
        stack_num: Any = 4,
        frame_skip: Any = 4,
        noop_max: Any = 30,
        episodic_life: Any = False,
        zero_discount_on_life_loss: Any = False,
        reward_clip: Any = None,
        use_fire_reset: Any = None,
        img_height: Any = 84,
        img_width: Any = 84,
        gray_scale: Any = True,
        channels_last: Any = None,
        repeat_action_probability: Any = None,
        full_action_space: Any = False,
        continuous: Any = False,
        continuous_action_threshold: Any = 0.5,
        mode: Any = -1,
        difficulty: Any = -1,
        lives: Any = True,
        raw_reward: Any = None,
        game_over: Any = None,
        ram: Any = None,
        frame_numbers: Any = None,
        obs_type: Any = 'image',
        use_inter_area_resize: Any = True,
        max_num_frames_per_episode: Any = None,
    ) -> EnvSpec: ...

class SharedStart: ...
