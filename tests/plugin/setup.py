from importlib.util import find_spec
from pathlib import Path

from setuptools import setup

from cypool.tools.compile import extension

# what counts is that it compiles and what it computes; each module costs a second, so there are few
FLAGS = ["-O0", "-g0"]
# nothing of it is linked, as it is cypool that calls MuJoCo; not every Python has its wheel, nor every build its robots
MUJOCO = find_spec("mujoco")
ROBOTS = MUJOCO and find_spec("cypool.envs.mujoco") and [str(Path(MUJOCO.origin).with_name("include"))]

setup(packages=["walker"], package_data={"walker": ["robot.xml"]}, ext_modules=[
    *(extension(f"walker.{name}", extra_compile_args=FLAGS) for name in ("walk", "trouble", "agents", "functions")),
    *([extension("walker.robot", include_dirs=ROBOTS, extra_compile_args=FLAGS)] if ROBOTS else []),
])
