"""A family is known in its own folders: other code, CI and build files take lists of families from the records."""
import re
import subprocess
from pathlib import Path

import pytest

from cypool.envs import FAMILIES

ROOT = Path(__file__).parents[1]
# but for families themselves, and docs, which may use them
PLACES = (".ci", ".github", "Makefile", "MANIFEST.in", "pyproject.toml", "benchmarks", "build_tools", "cypool",
          "docs_tools/*.py", "fuzz", "setup.py", "tests", ":(exclude)tests/test_family_isolation.py")
# tests elsewhere take their examples from these
SIMPLE = {"toy_text", "classic_control"}
# files that still name families: they may only become fewer. Libraries, packages and extras have names of families, too
KNOWN = {
    ".ci/run": "craftax",  # what its tests compare with needs JAX
    ".ci/try_wheel": "atari mujoco",  # extras, and the other wheel
    ".ci/mujoco": "mujoco",  # the package
    "cypool/envs/shared/packages/mujoco_version.py": "mujoco",  # the package, here and in the next four
    "cypool/envs/shared/mujoco/__init__.py": "mujoco",
    "cypool/envs/shared/mujoco/assets.py": "mujoco",
    "cypool/envs/shared/mujoco/layout.py": "mujoco",
    "cypool/tools/cli/doctor.py": "mujoco",
    "cypool/envs/shared/pixels/pictures.py": "minigrid",  # a package that draws
    "cypool/tools/cli/app.py": "procgen",  # an example
    "pyproject.toml": "atari crafter highway metaworld minigrid mpe2 mujoco robotics vizdoom",  # extras of `docs`
    "fuzz/mutate_mujoco_lanes.py": "mujoco",  # the lanes that it puts errors into
    "tests/build/test_imports.py": "mujoco",  # a package of this name, of no family
    "tests/build/test_package.py": "mujoco",  # a header
    "tests/plugin/pyproject.toml": "mujoco",  # the robot of the plug-in, here and in the next two
    "tests/plugin/setup.py": "mujoco",
    "tests/plugin/walker/robot.pyx": "mujoco",
}
OWN = "|".join(family.name for family in FAMILIES)


def lines_of(path):
    """Yields the lines of a file without comments."""
    for line in path.read_text(errors="replace").splitlines():
        yield re.sub(r"(^|\s)(#|//).*", "", line)


def named_in(line):
    """Returns the families that a line names: as a module, a folder, a text, an argument, or in a list of the shell."""
    family = f"(?P<name>{OWN})"
    return {each["name"] for pattern in (rf"envs[./]{family}\b", rf"[\"']{family}[\"']", rf"\bget {family}\b",
                                         rf"(?<=[{{\[,=]){family}(?=[,}}\] ])") for each in re.finditer(pattern, line)}


def named_outside(paths):
    """Returns a dict of the files that name families which are not theirs: path -> their names.

    The marker `families` of a test says that it may; its line is for that.
    """
    found = {}
    for path in paths:
        if re.match(rf"(cypool|tests)/envs/({OWN})/", path) or not (ROOT / path).is_file():
            continue
        text = list(lines_of(ROOT / path))
        named = set().union(*(named_in(line) for line in text if "families(" not in line))
        if path.startswith("tests/"):
            marked = " ".join(re.findall(r"families\((.*?)\)", "\n".join(text), re.DOTALL))
            named -= {*re.findall(r"\w+", marked), *SIMPLE}
        if named:
            found[path] = " ".join(sorted(named))
    return found


@pytest.fixture(scope="module")
def tracked():
    """The files of `PLACES` that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", *PLACES], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no checkout")
    return [path for path in listed.stdout.split("\0") if (ROOT / path).is_file()]


def test_families_outside_of_their_folders_are_those_known(tracked):
    present = {family.name for family in FAMILIES}
    known = {path: " ".join(sorted(present & set(names.split()))) for path, names in KNOWN.items()}
    assert named_outside(tracked) == {path: names for path, names in known.items() if names}


def test_markers_name_families(tracked):
    # of a family that was deleted, they go with the commit
    named = {name for path in tracked if path.startswith("tests/") and path.endswith(".py")
             for words in re.findall(r"mark\.families\((.*?)\)", (ROOT / path).read_text(), re.DOTALL)
             for name in re.findall(r'"(\w+)"', words)}
    command = ["git", "log", "--diff-filter=A", "--name-only", "--format=", "--", "cypool/envs/*/ids.py"]
    known = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert named <= {family.name for family in FAMILIES} | set(re.findall(r"envs/(\w+)/ids", known))
