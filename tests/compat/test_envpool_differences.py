"""Spaces, infos and configs of cypool.compat.envpool differ from EnvPool's as the page says, and in no other way."""
import re
from fnmatch import fnmatchcase
from pathlib import Path

import envpool as theirs
import gymnasium
import numpy as np
import pytest

import cypool
import cypool.compat.envpool as ours

pytestmark = [pytest.mark.large_packages, pytest.mark.filterwarnings("ignore")]
PAGE = (Path(__file__).parents[2] / "docs" / "how_to" / "envpool.md").read_text()
# limits that EnvPool says where it has none: the smallest positive number, too
NONE = {sign * limit for kind in (np.float32, np.float64) for sign, limit in (
    (1, float(np.finfo(kind).tiny)), (1, float(np.finfo(kind).max)), (-1, float(np.finfo(kind).max)))}
# needs a file of the user's
LEFT_OUT = {"VizdoomCustom-v1"}


def packages():
    """EnvPool's ids, by its packages."""
    found = {}
    for id, (module, *_) in theirs.registration.registry.specs.items():
        found.setdefault(module.removeprefix("envpool."), []).append(id)
    return found


ABSENT = re.findall(r"`(\S+?)`", re.search(r"^- EnvPool's packages (.*)", PAGE, re.MULTILINE)[1])
PACKAGES = {name: ids for name, ids in packages().items() if name not in ABSENT}


def cell(text):
    """The value that a cell asks for; None if it explains."""
    return code[1] if (code := re.fullmatch(r"`([^`]*)`", text.strip())) else None


def rows(package):
    """The page's rows of a package: (patterns of ids or packages, kind, patterns of names, values there and here)."""
    table = PAGE[PAGE.index("### Spaces, infos and configs"):PAGE.index("## Missing features")]
    for line in table.splitlines():
        if line.startswith("| `"):
            ids, what, *values = line.strip("|").split("|")
            patterns = re.findall("`(.*?)`", ids)
            if any(pattern == package or any(fnmatchcase(id, pattern) for id in PACKAGES[package])
                   for pattern in patterns):
                yield (patterns, what.split()[0].removesuffix("s"), re.findall("`(.*?)`", what) or ["*"],
                       tuple(map(cell, values)))


def bounded(low, high):
    """Bounds, in the same way for all that have the same."""
    def limits(values, free):
        return [free if value in NONE else float(value) for value in np.unique(values)]

    return limits(low, -np.inf), limits(high, np.inf)


def fact(dtype, shape, low, high):
    return np.dtype(dtype).name, tuple(shape), bounded(low, high)


def fact_of_space(space):
    if isinstance(space, gymnasium.spaces.Discrete):
        return fact(np.int32, (), space.start, space.start + space.n - 1)
    return fact(space.dtype, space.shape, getattr(space, "low", 0), getattr(space, "high", 1))


def facts_there(id):
    spec = theirs.make_spec(id)
    facts = {("action", ""): fact_of_space(spec.action_space)}
    for name, array in spec.state_array_spec.items():
        kind, _, part = name.partition(":")
        shape = [size for size in array.shape if size != -1]
        if kind == "obs":
            facts["observation", part] = fact(array.dtype, shape, array.minimum, array.maximum)
        elif kind == "info" and part not in ("env_id", "players.env_id"):
            facts["info", part] = fact(array.dtype, shape, 0, 0)
    return facts | configs(spec)


def facts_here(id):
    with ours.make_gymnasium(id) as env:
        obs, info = env.reset()
        facts = {("action", ""): fact_of_space(env.action_space)} | configs(env.spec)
    parts = obs if isinstance(obs, dict) else {"": obs}
    spaces = env.observation_space.spaces if isinstance(obs, dict) else {"": env.observation_space}
    for part, array in parts.items():
        facts["observation", part] = (array.dtype.name, array.shape[1:], fact_of_space(spaces[part])[2])
    for name in info.keys() - {"env_id", "players", "elapsed_step", "agents"}:
        facts["info", name] = fact(info[name].dtype, info[name].shape[1:], 0, 0)
    return facts


def configs(spec):
    return {("config", name): (str(getattr(spec, name, getattr(spec.config, name, None))), (), ())
            for name in ("max_episode_steps", "reward_threshold")}


def differences(id):
    """(kind, name, value there, value here) of all that differs."""
    there, here = facts_there(id), facts_here(id)
    for kind, name in there.keys() | here.keys():
        pair = [facts.get((kind, name), ("missing", (), ())) for facts in (there, here)]
        if pair[0] != pair[1]:
            dtypes, shapes, bounds = zip(*pair, strict=True)
            if dtypes[0] != dtypes[1]:
                yield kind, name, *dtypes
            elif shapes[0] != shapes[1]:
                yield kind, name, *map(str, shapes)
            else:
                yield kind, name, *("unbounded" if np.isinf([*low, *high]).all() else "bounded" for low, high in bounds)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_has_all_differences_and_no_other(package):
    declared, seen, unsaid = list(rows(package)), set(), []
    for id in PACKAGES[package]:
        if id not in cypool.list_all_envs():
            found = [("id", id, None, "missing")]
        else:
            try:
                found = [] if id in LEFT_OUT else list(differences(id))
            except ImportError as error:
                pytest.skip(f"{id}: {error}")
        for kind, name, *values in found:
            fits = {k for k, (ids, what, names, texts) in enumerate(declared)
                    if any(fnmatchcase(id, pattern) or package == pattern for pattern in ids)
                    and what in (kind, "all") and any(fnmatchcase(name, pattern) for pattern in names)
                    and all(text in (None, value) for text, value in zip(texts, values, strict=True))}
            seen |= fits
            if not fits:
                unsaid.append((id, kind, name, *values))
    assert not unsaid
    assert [row for k, row in enumerate(declared) if k not in seen] == []


def test_packages_that_the_page_calls_absent_are_absent():
    known = cypool.list_all_envs()
    assert {id for package in ABSENT for id in packages()[package]} & {*known} == {"Tetris-v0"}
