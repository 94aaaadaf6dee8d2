"""`cypool doctor`: checks this machine and installation, with advice."""
from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from cypool.tools.cli.console import Parser, print_json
from cypool.tools.terminal import Cell, print_table, styled

NEWEST_PYTHON = (3, 14)
# those of docs/how_to/training_libraries.md, and their names for pip
LIBRARIES = {"Stable-Baselines3": "stable-baselines3", "Tianshou": "tianshou", "TorchRL": "torchrl",
             "rl_games": "rl-games", "RLlib (in Ray)": "ray", "PufferLib": "pufferlib", "skrl": "skrl",
             "AgileRL": "agilerl", "CleanRL": "cleanrl", "PyTorch": "torch", "JAX": "jax"}
# draws a robot, and reports which library did it
_DRAW = """
import cypool
env = cypool.make("InvertedPendulum-v5", num_threads=0, seed=0)
env.reset()
env.render()
libraries = open("/proc/self/maps").read()
print("OSMesa" if "libOSMesa" in libraries else "EGL")
"""


class Finding(NamedTuple):
    """A line of the report; `advice` is a remedy if the status is not "ok"."""

    topic: str
    status: str  # "ok", "warning", or "optional" for a missing package that is not needed
    found: str
    advice: str = ""


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add_json()


def run(as_json: bool) -> None:
    """Check this machine and installation: one line per finding, with advice.

    Include the output in bug reports.
    """
    findings = []
    for examine in EXAMINATIONS:
        topic = (examine.__doc__ or "").splitlines()[0].rstrip(".")
        try:
            findings += [Finding(topic, *line) for line in examine()]
        except Exception as error:
            # one that cannot be looked at hides none of the others
            findings.append(Finding(topic, "warning", f"the check failed: {type(error).__name__}: {error}",
                                    "report this"))
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        _show(findings)


Lines = Iterator[tuple[str, ...]]


def _cypool() -> Lines:
    """cypool."""
    import cypool
    from cypool.envs import FAMILIES

    yield "ok", f"{cypool.__version__} in {Path(cypool.__file__).parent}"
    for family in FAMILIES:
        if not family.is_built:
            yield "optional", f"{family.title} was left out of this build", family.build


def _python() -> Lines:
    """Python."""
    found = f"{platform.python_implementation()} {platform.python_version()}"
    if platform.python_implementation() != "CPython" or sys.version_info[:2] > NEWEST_PYTHON:
        yield "warning", found, f"use CPython 3.11 to {'.'.join(map(str, NEWEST_PYTHON))}; others are untested"
    else:
        yield "ok", found


def _system() -> Lines:
    """System."""
    found = f"{platform.system()} {platform.release()}, {platform.machine()}, {' '.join(platform.libc_ver())}"
    if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
        yield "warning", found, "use Linux with glibc; others are untested"
    elif platform.machine() != "x86_64":
        yield "warning", found, "run `cypool check CartPole-v1`: cypool has only been tested on x86_64"
    else:
        yield "ok", found


def _cpu() -> Lines:
    """CPU."""
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"(?m)^model name\s*: (.*)$", text)
    flags = re.search(r"(?m)^flags\s*: (.*)$", text)
    name = model[1] if model else platform.machine()
    if platform.machine() != "x86_64":
        yield "ok", f"{name}; the portable code is in use"
        return
    missing = {"avx2", "fma"} - set(flags[1].split() if flags else ())
    if missing:
        yield ("warning", f"{name}, without {' and '.join(sorted(missing))}: the portable code is in use",
               "in a virtual machine, pass through the host's CPU features; without them, image processing is slower")
    else:
        yield "ok", f"{name}; AVX2 and FMA are in use"


def _cpus() -> Lines:
    """CPUs."""
    from cypool.engine import cpus

    total, own, quota = os.cpu_count() or 1, len(os.sched_getaffinity(0)), cpus.quota_of_groups()
    found = f"{total}, of which this process may use {own}; num_threads defaults to {cpus.available()}"
    if quota is not None and quota < own:
        yield ("warning", f"{found}; control groups limit it to {quota:g} CPUs' worth of time",
               "request a whole number of CPUs and pin the process to that many: once the quota is used up, all "
               "threads stall")
    else:
        yield "ok", found + ("" if quota is None else f"; control groups allow {quota:g}")
    load = os.getloadavg()[0]
    if load > total + 1:
        yield ("warning", f"the load is {load:.1f} on {total} CPUs",
               "measure when other programs have finished, or interleave measurements, as `cypool bench` does")


def _numa() -> Lines:
    """Memory nodes."""
    from cypool.engine import cpus

    nodes = [node for node in cpus.numa_nodes() if node & os.sched_getaffinity(0)]
    yield "ok", "one" if len(nodes) < 2 else f'{len(nodes)}: thread_affinity="numa" spreads threads over them'


def _compiler() -> Lines:
    """Compiler."""
    import shlex
    import sysconfig

    command = shlex.split(os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++")
    try:
        said = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        yield ("optional", f"{command[0]} does not run",
               "to compile your own environments: apt install g++, or set CXX to a C++20 compiler")
        return
    yield "ok", said.splitlines()[0]
    missing = [name for name in ("Cython", "setuptools") if find_spec(name) is None]
    if missing:
        yield ("optional", f"{' and '.join(missing)} not installed",
               'to compile your own environments: pip install "cypool[build]"')


def _packages() -> Lines:
    """Packages."""
    for name, bounds, extra in requirements():
        line = _installed(name, name, bounds)
        if line is not None and name not in LIBRARIES.values():
            yield line
        elif line is None and not extra:
            yield "warning", f"{name} is not installed", f'pip install "{name}{bounds}"'


def _libraries() -> Lines:
    """Training libraries."""
    # nothing is imported, which would take seconds
    bounds_of = {name: bounds for name, bounds, _ in requirements()}
    missing = []
    for title, name in LIBRARIES.items():
        line = _installed(title, name, bounds_of.get(name, ""))
        if line is None:
            missing.append(title)
        else:
            yield line
    if missing:
        yield ("optional", f"not installed: {', '.join(missing)}",
               "see the page \"Use a training library\"")


def _installed(title: str, name: str, bounds: str) -> tuple[str, ...] | None:
    """Returns the line of a package, or None if it is not installed."""
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
    missing = _missing_of_rllib() if name == "ray" else []
    if missing:
        return "warning", f"{title} {installed}, without {', '.join(missing)}", 'pip install "ray[rllib]"'
    if SpecifierSet(bounds).contains(installed, prereleases=True):
        return "ok", f"{title} {installed}"
    return "warning", f"{title} {installed}, supported: {bounds}", f'pip install "{name}{bounds}"'


def _missing_of_rllib() -> list[str]:
    """Returns the missing packages that `ray.rllib` imports; Ray alone installs none of them."""
    missing = []
    for wanted in map(Requirement, metadata.requires("ray") or []):
        # a package may have a line for each range of Python versions
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}) and wanted.marker.evaluate({"extra": "rllib"}):
            try:
                metadata.version(wanted.name)
            except metadata.PackageNotFoundError:
                missing.append(wanted.name)
    return missing


def requirements() -> list[tuple[str, str, str]]:
    """Returns (package, bounds, extra or "") of cypool's requirements, each package once."""
    lines: list[tuple[str, str]] = []
    try:
        split = (line.partition(";") for line in metadata.requires("cypool") or [])
        lines = [(line, marker.partition("==")[2].strip(" '\"")) for line, _, marker in split]
    except metadata.PackageNotFoundError:
        project = Path(__file__).resolve().parents[3] / "pyproject.toml"
        if project.is_file():
            table = tomllib.loads(project.read_text())["project"]
            lines = [(line, "") for line in table["dependencies"]]
            lines += [(line, extra) for extra, group in table["optional-dependencies"].items() for line in group]
    found: dict[str, tuple[str, str, str]] = {}
    for line, extra in lines:
        wanted = Requirement(line)
        bounds = str(wanted.specifier)
        if wanted.name != "cypool" and (bounds or not wanted.extras) and extra not in ("test", "build"):
            found.setdefault(wanted.name.lower(), (wanted.name, bounds, extra))
    return sorted(found.values(), key=lambda each: (bool(each[2]), each[0].lower()))


def _data() -> Lines:
    """Family data."""
    from cypool.envs import FAMILIES

    for family in FAMILIES:
        if family.data and family.is_built:
            yield from resolve_name(family.data)()


def _families() -> Lines:
    """Families."""
    import cypool
    from cypool.envs import FAMILIES

    for family in FAMILIES:
        if not family.is_built:
            continue
        if not family.is_installed:
            yield "optional", f"{family.title}: {family.needs} is not installed", family.install
            continue
        id = family.smoke_ids[0]
        try:
            with cypool.make(id, num_threads=0, seed=0) as env:
                env.reset()
        except (ImportError, ValueError, cypool.EnvError) as error:
            yield "warning", f"{family.title}: {error}", family.install or "report this"
        else:
            version = f", with {family.package} {_version(family.package)}" * bool(family.package)
            yield "ok", f"{family.title}: {id} starts{version}"


def _version(package: str) -> str:
    """Returns the version of an installed package, by the name it is imported with."""
    names = _distributions().get(package)
    return metadata.version(names[0]) if names else "of unknown version"


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    # looks at all files of all packages
    return metadata.packages_distributions()


def _mujoco() -> Lines:
    """MuJoCo."""
    from cypool.envs.shared.packages import mujoco_version

    if find_spec("mujoco") is None:
        yield "optional", "not installed", 'pip install "cypool[mujoco]"'
        return
    try:
        folder, version = mujoco_version.find()
    except ImportError as error:
        yield "warning", str(error), "its environments cannot be created"
        return
    if version in mujoco_version.COMPARED:
        yield "ok", f"{version} in {folder}"
    else:
        yield ("warning", f"{version} in {folder}; this version has not been compared with the reference packages",
               f"compared versions: {', '.join(mujoco_version.COMPARED)}")


def _lanes() -> Lines:
    """MuJoCo lanes."""
    if find_spec("mujoco") is None:
        yield "optional", "not needed: MuJoCo is not installed", 'pip install "cypool[mujoco]"'
        return
    try:
        lanes = import_module("cypool.envs.shared.lanes.mujoco_lanes").check_machine()
    except (ImportError, ValueError) as error:
        yield "optional", f"all robots use mj_step: {error}", "the page about MuJoCo's lanes lists their requirements"
    else:
        yield "ok", (f"step up to {lanes} robots at once (4 with the PGS solver); `cypool info ID` and "
                     "`env.stepped_by` show whether lanes are in use and, if not, why")


def _opengl() -> Lines:
    """OpenGL."""
    if find_spec("mujoco") is None:
        yield "optional", "not needed: MuJoCo is not installed", 'pip install "cypool[mujoco]"'
        return
    # OpenGL drivers may end a process
    try:
        done = subprocess.run([sys.executable, "-c", _DRAW], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        yield ("warning", "rendering takes longer than a minute",
               "set LIBGL_ALWAYS_SOFTWARE=1, or update the driver")
        return
    if done.returncode:
        why = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        yield ("warning", f"robots cannot be rendered: {why[0]}",
               "apt install libegl1 libgl1-mesa-dri, or libosmesa6; not needed for stepping")
    else:
        yield "ok", f"rendering uses {done.stdout.strip()}"


def _ray() -> Lines:
    """Ray."""
    if find_spec("ray") is None:
        yield "optional", "not installed", 'for cypool.cluster: pip install "cypool[cluster]"'
    else:
        yield "ok", metadata.version("ray")


def _cache() -> Lines:
    """Cache."""
    from cypool.util import cache

    try:
        folder = cache.folder()
    except (cache.UnsafeCache, OSError) as error:
        yield "warning", str(error), "set CYPOOL_CACHE to a folder of your own"
        return
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    yield "ok", f"{folder}: {len(sizes)} files, {sum(sizes) / 2**20:.0f} MiB; you may delete it at any time"


EXAMINATIONS: tuple[Callable[[], Lines], ...] = (
    _cypool, _python, _system, _cpu, _cpus, _numa, _compiler, _packages, _libraries, _families, _data, _mujoco, _lanes,
    _opengl, _ray, _cache)
_MARKS = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "optional": ("missing", "dim")}


def _show(findings: list[Finding]) -> None:
    rows: list[tuple[Cell, ...]] = []
    previous = ""
    for finding in findings:
        rows.append((finding.topic * (finding.topic != previous), _MARKS[finding.status], finding.found))
        if finding.advice:
            rows.append(("", "", (f"→ {finding.advice}", "bold")))
        previous = finding.topic
    print_table(rows, styles=("cyan",))
    warnings = sum(finding.status == "warning" for finding in findings)
    print(styled(f"\n{warnings} warning{'s' * (warnings != 1)}" if warnings else "\nNo warnings.", "bold"))
