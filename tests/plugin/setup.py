from importlib.util import find_spec

from setuptools import setup

from cypool.tools.compile import extension

# tests need only that it compiles, and its results; each module costs a second, so there are few
FLAGS = ["-O0", "-g0"]
# not every build has the family that the robot belongs to
ROBOT = ["robot"] if find_spec("cypool.envs.mujoco") else []

setup(packages=["walker"], package_data={"walker": ["robot.xml"]}, ext_modules=[
    extension(f"walker.{name}", extra_compile_args=FLAGS) for name in ("walk", "trouble", "agents", "functions", *ROBOT)
])
