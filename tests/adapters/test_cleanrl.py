"""CleanRL's published scripts for EnvPool run with one import changed.

They are in its package, which asks for an old Python that they do not need:

    pip install --no-deps --ignore-requires-python cleanrl==1.2.0
"""
import re
import sys
from importlib.metadata import distribution

import pytest
from markers import exhaustive
from waiting import run_program

pytestmark = [pytest.mark.large_packages, pytest.mark.families("atari")]

SMALL = ["--num-envs", "2", "--num-steps", "16", "--num-minibatches", "2", "--update-epochs", "1"]
SCRIPTS = {
    "ppo_atari_envpool.py": ["--total-timesteps", "64"],
    "ppo_rnd_envpool.py": ["--total-timesteps", "64", "--num-iterations-obs-norm-init", "1"],
    "ppo_atari_envpool_xla_jax.py": ["--total-timesteps", "64"],
    "ppo_atari_envpool_xla_jax_scan.py": ["--total-timesteps", "64"],
}


@pytest.mark.parametrize("script", [*list(SCRIPTS)[:2], *exhaustive(*list(SCRIPTS)[2:])])
def test_script(script, tmp_path):
    published = distribution("cleanrl").locate_file(f"cleanrl/{script}").read_text()
    ours, changes = re.subn("^import envpool$", "import cypool.compat.envpool_legacy as envpool", published, flags=re.M)
    assert changes == 1
    # Flax and JAX have changed since: parameters are asked for a key, and a name has gone
    ours = ours.replace("class AgentParams:", "class AgentParams:\n    __contains__ = lambda self, key: False")
    ours = ours.replace("jax.tree_map(", "jax.tree_util.tree_map(")
    (tmp_path / script).write_text(ours)
    done = run_program(sys.executable, script, "--env-id", "Breakout-v5", *SMALL, *SCRIPTS[script], check=True,
                       timeout=1800, cwd=tmp_path)
    assert list(tmp_path.glob("runs/*/events*")) and "SPS:" in done.stdout
