"""Adapters without their library, and modules that need none."""
import pytest

import cypool.compat.envpool as envpool
import cypool.compat.envpool_legacy as legacy
from cypool.adapters import require

PACKAGES = {"sb3": "stable-baselines3", "tianshou": "tianshou", "torchrl": "torchrl", "rl_games": "rl-games",
            "torch": "torch", "jax": "jax", "rllib": "rllib"}
WITHOUT = """
import importlib, sys

for module, library in {modules}.items():
    sys.modules[library] = None
    try:
        importlib.import_module(f"cypool.adapters.{{module}}")
    except ImportError as error:
        print(error)
    del sys.modules[library]
"""


def test_without_the_library(run_forked):
    modules = {module: "ray" if module == "rllib" else module for module in PACKAGES}
    modules["sb3"] = "stable_baselines3"
    said = run_forked(WITHOUT.format(modules=modules)).stdout.splitlines()
    assert len(said) == len(PACKAGES)
    for package, line in zip(PACKAGES.values(), said, strict=True):
        assert f'pip install "cypool[{package}]"' in line


def test_without_pufferlib(run_forked):
    done = run_forked("import sys; sys.modules['pufferlib'] = None; import cypool.adapters.pufferlib")
    assert "pip install --no-deps --no-build-isolation pufferlib" in done.stderr and "ImportError" in done.stderr


@pytest.mark.parametrize("least, below", [("0", "1"), ("2.1", "2.2"), ("99", "100")])
def test_another_version(least, below):
    with pytest.raises(ImportError, match=rf"^numpy: expected numpy {least} or later, below {below}, got [\d.]+: pip"):
        require("numpy", "numpy", least, below)
    assert require("numpy", "numpy", "2", "3").__name__ == "numpy"


def test_legacy_module_has_the_api_before_026():
    env = legacy.make("CartPole-v1", env_type="gym", num_envs=2)
    assert isinstance(env, envpool.LegacyEnvPool) and env.reset().shape == (2, 4) and len(env.step([0, 1])) == 4
    assert isinstance(legacy.make_gym("CartPole-v1"), envpool.LegacyEnvPool)
    assert isinstance(legacy.make_gymnasium("CartPole-v1"), envpool.GymnasiumEnvPool)


def test_installed_as_envpool(run_forked):
    done = run_forked("import cypool.compat.envpool as e; e.install_as_envpool(legacy=True); import envpool; "
                      "from envpool.python.envpool import EnvPoolMixin; env = envpool.make('CartPole-v1', 'gym'); "
                      "print(isinstance(env, EnvPoolMixin), len(env.reset()), envpool.__version__); "
                      "e.install_as_envpool(legacy=True); e.install_as_envpool()")
    assert done.stdout.split() == ["True", "1", "0.6.6"]
    assert "RuntimeError: install_as_envpool: cypool.compat.envpool_legacy was already imported" in done.stderr


def test_spaces_are_gyms_where_gym_is_imported(run_forked, tmp_path):
    (tmp_path / "gym").mkdir()
    (tmp_path / "gym" / "__init__.py").write_text("from gym import spaces")
    (tmp_path / "gym" / "spaces.py").write_text(
        "class Discrete:\n    def __init__(self, n):\n        self.n = n\n"
        "class Box:\n    def __init__(self, low, high, dtype):\n        self.shape = low.shape\n")
    code = ("import cypool; env = cypool.make('CartPole-v1', 'gym'); "
            "print(type(env.action_space).__module__, type(env.observation_space).__module__)")
    assert run_forked(code, tmp_path).stdout.split() == ["gymnasium.spaces.discrete", "gymnasium.spaces.box"]
    assert run_forked(f"import gym; {code}", tmp_path).stdout.split() == ["gym.spaces", "gym.spaces"]
