# by .ci/stubs: not to be edited
from typing import Any

from cypool.envs.mujoco_common.mujoco_common import Simulation
from cypool.spec import EnvSpec

NORMALIZATIONS: dict[Any, Any]
SIZES: dict[Any, Any]
TASKS: dict[Any, Any]

def load_sawyer(task: str) -> Any: ...

class Sawyer(Simulation):
    def __init__(self, spec: Any, env_id: Any) -> None: ...
    @staticmethod
    def describe(
        *,
        task: str = 'reach-v3',
        goals: Any = None,
        num_goals: int = 50,
        task_select: str = 'random',
        sample_tasks_on_reset: Any = None,
        partially_observable: bool = False,
        terminate_on_success: bool = False,
        use_one_hot: bool = False,
        task_index: int = 0,
        num_tasks: int = 1,
        recurrent_info_in_obs: bool = False,
        normalize_reward_in_recurrent_info: bool = True,
        reward_function_version: str = 'v2',
        reward_normalization_method: Any = None,
        reward_alpha: float = 0.001,
        normalize_observations: bool = False,
        obs_dtype: Any = None,
        default_camera_config: Any = None,
        **common: Any,
    ) -> EnvSpec: ...
