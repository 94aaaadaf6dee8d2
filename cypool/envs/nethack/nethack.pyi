# by .ci/stubs: not to be edited
from typing import Any

from cypool.env import Env
from cypool.spec import EnvSpec

INFOS: dict[Any, Any]
KEYS: dict[Any, Any]
NEEDED: tuple[Any, ...]
PENALTIES: tuple[Any, ...]
TASKS: tuple[Any, ...]

class Memory: ...

class NetHack(Env):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        task: str = 'nethack',
        character: Any = None,
        observation_keys: Any = None,
        actions: Any = None,
        options: Any = None,
        wizard: bool = False,
        allow_all_yn_questions: Any = None,
        allow_all_modes: Any = None,
        spawn_monsters: bool = True,
        fix_moon_phase: bool = False,
        penalty_mode: str = 'constant',
        penalty_step: Any = None,
        penalty_time: float = -0.0,
        abort_steps: Any = None,
        no_progress_timeout: int = 10000,
        nle_seeds: Any = None,
        clock: Any = None,
        infos: Any = ...,
        max_step_seconds: float = 10.0,
        nle_path: Any = None,
    ) -> EnvSpec: ...
    def overwrite(self, name: Any, word: Any) -> Any: ...
