"""MaMuJoCo of gymnasium-robotics as a Gymnasium vector environment, with groups of agents as arrays."""
from __future__ import annotations

import contextlib
import functools
import io
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from cypool.envs.mamujoco.segments import INSTALL, VERSION, text_of
from cypool.envs.mamujoco.specs import SCENARIOS
from cypool.envs.mamujoco.tables import SEGMENTED
from cypool.envs.shared.packages.group_references import GroupReferences, ParallelReference
from cypool.spec import EnvSpec
from cypool.util.packages import require_version


class _Dense:
    """MuJoCo data with a dense tendon Jacobian, which the package reads and older versions of MuJoCo had."""

    def __init__(self, model: Any, data: Any):
        self._data, self.ten_J = data, data.ten_J
        if self.ten_J.ndim == 1:
            self.ten_J = np.zeros((model.ntendon, model.nv))
            for tendon in range(model.ntendon):
                at = slice(model.ten_J_rowadr[tendon], model.ten_J_rowadr[tendon] + model.ten_J_rownnz[tendon])
                self.ten_J[tendon, model.ten_J_colind[at]] = data.ten_J[at]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)


@functools.cache
def _package() -> Any:
    """Returns the package's module and classes, able to run with the installed MuJoCo."""
    level = gymnasium.logger.min_level
    # importing it says that a version has changed
    gymnasium.logger.min_level = gymnasium.logger.ERROR + 1
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            from gymnasium_robotics.envs.multiagent_mujoco import coupled_half_cheetah, mujoco_multi
    finally:
        gymnasium.logger.min_level = level

    class Coupled(coupled_half_cheetah.CoupledHalfCheetahEnv):  # type: ignore[misc]
        def _get_obs(self) -> Any:
            data = _Dense(self.model, self.data)
            return np.concatenate([data.qpos[1:9], data.qpos[10:18], data.qvel, data.ten_J[0, :2], data.ten_J[0, 9:11],
                                   data.ten_length, data.ten_velocity])

    class MultiAgent(mujoco_multi.MultiAgentMujocoEnv):  # type: ignore[misc]
        def _get_obs_agent(self, agent_id: int, data: Any = None) -> Any:
            robot = self.single_agent_env.unwrapped
            if data is None and self.agent_obsk is not None and isinstance(robot, Coupled):
                data = _Dense(robot.model, robot.data)
            return super()._get_obs_agent(agent_id, data)

        def _create_base_gym_env(self, scenario: str, agent_conf: str, render_mode: Any, **options: Any) -> Any:
            if scenario not in SEGMENTED:
                return super()._create_base_gym_env(scenario, agent_conf, render_mode, **options)
            # the package writes a file to its own folder
            agents, each = map(int, agent_conf.split("x"))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "robot.xml")
                path.write_bytes(text_of(scenario, agents * each))
                return gymnasium.make(f"{SCENARIOS[scenario].robot}-v5", xml_file=str(path), **options)

    mujoco_multi.CoupledHalfCheetahEnv = Coupled
    return MultiAgent


class Reference(ParallelReference):
    """A MaMuJoCo environment.

    Args:
        spec: The spec of ours.
        options: The given options.
    """

    def __init__(self, spec: EnvSpec, options: dict[str, Any]):
        name = spec.id.removeprefix("MaMuJoCo/").split("-")[0]
        own = {option: spec.options[option] for option in (
            "agent_conf", "agent_obsk", "local_categories", "global_categories")}
        rest = {option: value for option, value in options.items()
                if option not in (*own, "physics", "max_episode_steps")}
        env = _package()(name, **own, **rest)
        wrapped = env.single_agent_env
        while wrapped is not wrapped.unwrapped:
            if isinstance(wrapped, gymnasium.wrappers.TimeLimit):
                # ours may be longer
                wrapped._max_episode_steps = 2**31
            wrapped = wrapped.env
        if name == "Pusher" and env.agent_obsk is not None:
            _order_as_ours(env)
        super().__init__(env, {group: list(each.names or ()) for group, each in spec.agents.items()},
                         spec.max_episode_steps)

    @property  # type: ignore[misc]
    def np_random(self) -> np.random.Generator:
        """The robot's stream."""
        generator: np.random.Generator = self.env.single_agent_env.unwrapped.np_random
        return generator

    def info_of(self, infos: Any) -> dict[str, Any]:
        """Returns the robot's info, and the state."""
        return {**next(iter(infos.values()), {}), "state": self.env.state()}

    def finish(self, terminated: bool, truncated: bool) -> tuple[float, bool, bool]:
        """Ends a step; the reward is one agent's."""
        _, terminated, truncated = super().finish(terminated, truncated)
        return float(next(iter(self.columns.values()))["reward"][0]), terminated, truncated


def _order_as_ours(env: Any) -> None:
    """Sorts joints with the same label by their order in the arm; in the package, their order depends on addresses."""
    for levels in env.k_dicts:
        for nodes in levels.values():
            nodes.sort(key=lambda node: (node.label, node.qpos_ids))


def make_reference(ours: Any, seed: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Returns MaMuJoCo's environments as a vector environment with groups of agents, and their name and version."""
    require_version("check_parity needs", "gymnasium-robotics", (VERSION,), INSTALL, "gymnasium_robotics")
    spec = ours.env_spec
    return (GroupReferences(lambda: Reference(spec, options), ours.num_envs, ours.metadata["autoreset_mode"]),
            f"MaMuJoCo of gymnasium-robotics {VERSION}")
