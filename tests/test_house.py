"""A family is known in its own folders: other code, CI and build files take lists of families from the records."""
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from cypool.envs import FAMILIES

ROOT = Path(__file__).parents[1]
# but for families themselves, which may share code, and for tests, which have examples
PLACES = (".ci", ".github", "Makefile", "MANIFEST.in", "benchmarks", "build_tools", "cypool", "docs_tools/*.py", "fuzz",
          "setup.py", ":(glob)tests/*.py", ":(exclude)cypool/envs",
          ":(exclude)tests/test_house.py")
# what still names families: this may only become less. Libraries, packages and extras have names of families, too
KNOWN = {
    ".ci/debian_inside": "mujoco vizdoom",  # extras
    ".ci/free_threaded": "atari box2d crafter dm_control metaworld minigrid mpe2 mujoco robotics vizdoom",
    ".ci/mujoco": "mujoco",
    ".ci/run": "toy_text vizdoom",  # some tests with the lowest versions
    ".ci/sanitize": "classic_control minigrid",  # single tests
    ".ci/wheel": "atari classic_control mujoco toy_text vizdoom",  # without ALE; some tests
    "cypool/tools/cli/app.py": "procgen",  # an example
    "cypool/tools/cli/doctor.py": "mujoco",
    "docs_tools/make_pictures.py": "mujoco",  # an extra
    "fuzz/soak_processes.py": "vizdoom",  # engines that are killed
    "fuzz/sweep_machine.py": "atari",  # its image kernels
}


def lines_of(path):
    """Yields the lines of a file without comments."""
    for line in path.read_text().splitlines():
        yield re.sub(r"(^|\s)(#|//).*", "", line)


def named_in(line):
    """Returns the families that a line names: as a module, a folder, a text, an argument, or in a list of the shell."""
    family = f"(?P<name>{'|'.join(each.name for each in FAMILIES)})"
    return {each["name"] for pattern in (rf"envs[./]{family}\b", rf"[\"']{family}[\"']", rf"\bget {family}\b",
                                         rf"(?<=[{{,=]){family}(?=[,}} ])") for each in re.finditer(pattern, line)}


def test_families_outside_of_their_folders_are_those_known():
    listed = subprocess.run(["git", "ls-files", "-z", "--", *PLACES], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no checkout")
    found = defaultdict(set)
    for path in filter(None, listed.stdout.split("\0")):
        for line in lines_of(ROOT / path):
            found[path] |= named_in(line)
    assert {path: " ".join(sorted(families)) for path, families in found.items() if families} == KNOWN
