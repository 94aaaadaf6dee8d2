#!/usr/bin/env python3
"""Steps an environment of every family of the installed cypool, and compiles two: seconds, for `.ci/debian`."""
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium
import numpy as np

import cypool
from cypool.envs import FAMILIES, family_of
from cypool.registration.registry import entry_of
from cypool.tools.cli.new import TEMPLATE

HOSTED = "gymnasium:CartPole-v1"
# with OpenGL
DRAWN = "Ant-v5"


def play(id, num_steps=50, **options):
    """Steps four environments at random, and returns the last observation."""
    with cypool.make(id, num_envs=4, num_threads=2, seed=1, **options) as env:
        env.action_space.seed(1)
        env.reset()
        for _ in range(num_steps):
            obs, reward, *_ = env.step(env.sample_legal())
            assert np.isfinite(reward).all()
        return obs


def follows_gymnasium(id):
    """Sees that an episode is Gymnasium's."""
    ours, theirs = cypool.make(id, seed=7), gymnasium.make(id)
    np.testing.assert_array_equal(ours.reset()[0][0], theirs.reset(seed=7)[0])
    theirs.action_space.seed(1)
    over = False
    while not over:
        action = theirs.action_space.sample()
        got, expected = ours.step(np.array([action]))[:4], theirs.step(action)[:4]
        for mine, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(mine[0], other)
        over = expected[2] or expected[3]
    ours.close()
    theirs.close()


def asynchronous(id):
    """Takes two of four environments at a time."""
    with cypool.make(id, num_envs=4, batch_size=2, num_threads=2, seed=1) as env:
        env.async_reset()
        for _ in range(50):
            ids = env.recv()[4]["env_id"]
            env.send(env.action_space.sample(), ids)


def APIs():
    """Has the APIs of Gym and of dm_env."""
    gym = cypool.make("CartPole-v1", env_type="gym", num_envs=2)
    assert gym.reset().shape == (2, 4) and len(gym.step(np.zeros(2, np.int64))) == 4
    gym.close()
    dm = cypool.make("CartPole-v1", env_type="dm", num_envs=2)
    assert dm.reset().first().all() and dm.step(np.zeros(2, np.int64)).mid().all()
    dm.close()


def picture():
    """Draws a robot; returns a remark where there is no OpenGL."""
    with cypool.make(DRAWN, seed=0, width=64, height=48) as env:
        env.reset()
        try:
            (drawn,) = env.render()
        except ImportError as error:
            assert "OpenGL" in str(error)
            return " (no OpenGL: no picture)"
    assert drawn.shape == (48, 64, 3) and drawn.std() > 0
    return " and a picture"


def plugin(folder):
    """Installs the package that `cypool new` writes, and steps it in a new process."""
    run = [sys.executable, "-m"]
    subprocess.run([*run, "cypool", "new", "smoke_env"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*run, "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target",
                    folder / "site", folder / "smoke_env"], check=True, timeout=300)
    code = "import cypool; print(cypool.make('smoke_env/SmokeEnv-v0', num_envs=3).reset()[0].shape)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", f"import sys; sys.path.append('site'); {code}"],
                          cwd=folder, check=True, timeout=300, capture_output=True, text=True)
    assert done.stdout == "(3, 3)\n", done.stdout + done.stderr


def main():
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, Gymnasium {gymnasium.__version__}, "
          f"{'-'.join(platform.libc_ver())}: {cypool.__file__}")
    for family in FAMILIES:
        if not family.is_built:
            print(f"{family.title}: left out of this build")
        elif not family.is_installed:
            print(f"{family.title}: {family.needs} is not installed")
        else:
            for id in family.smoke_ids:
                play(id)
            print(f"{family.title}: {', '.join(family.smoke_ids)}"
                  + picture() * (family is family_of(entry_of(DRAWN).entry_point)))
    play(HOSTED)
    print(f"hosted: {HOSTED}")
    for id in ("CartPole-v1", "Pendulum-v1", "FrozenLake-v1"):
        follows_gymnasium(id)
    asynchronous("CartPole-v1")
    APIs()
    print("Gymnasium's episodes, asynchronous batches, the APIs of Gym and dm_env")
    with tempfile.TemporaryDirectory() as folder:
        plugin(Path(folder))
    print("a plug-in, as cypool new writes it")
    assert play(cypool.compile((TEMPLATE / "my_env" / "my_env.pyx").read_text())).shape == (4, 3)
    print("an environment from cypool.compile")


if __name__ == "__main__":
    main()
