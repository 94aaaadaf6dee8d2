"""Tests that families have in common: each is made of a family's cases, as in `test_options = equals(OPTIONS)`."""
import contextlib
import importlib.machinery
import importlib.util
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from saving import assert_goes_on
from state_edits import edged_states, with_own

import cypool
from cypool.adapters.single import TupleEnv
from cypool.testing import check_parity


def equals(cases, least=0, **common):
    """Returns a test that ids equal their references.

    Args:
        cases: Ids, or pairs of an id and its options, which may be arguments of `check_parity`, too.
        least: How many episodes end at least.
        **common: Arguments of `check_parity` for all cases that do not have them.
    """
    # those with a marker are of pytest
    pairs = [case if isinstance(case, tuple) and len(getattr(case, "values", case)) == 2 else
             pytest.param(*case.values, {}, marks=case.marks) if hasattr(case, "marks") else (case, {})
             for case in cases]

    @pytest.mark.parametrize("id, options", pairs)
    def test(id, options):
        assert check_parity(id, **{**common, **options}).num_episodes >= least

    return test


@contextlib.contextmanager
def playing(choose, references=SyncVectorEnv):
    """Has `check_parity` play the actions that `choose` returns for the references and random actions."""
    references.choose = choose
    try:
        yield
    finally:
        del references.choose


def players_of(player, references=SyncVectorEnv):
    """Returns a function that takes a seed, and has `check_parity` play with players instead of by chance.

    Args:
        player: Makes the player of an environment of a NumPy Generator and its reference; its `choose` returns the
            actions of all agents, a dict where there are several groups.
        references: As in `playing`.
    """
    def players(seed):
        random = np.random.default_rng(seed)

        def choose(batch, sampled):
            if not hasattr(batch, "players"):
                batch.players = [player(random, env) for env in batch.envs]
            chosen = [each.choose() for each in batch.players]
            if not isinstance(sampled, dict):
                return np.stack(chosen).astype(sampled.dtype)
            return {group: np.stack([each[group] for each in chosen]).astype(part.dtype)
                    for group, part in sampled.items()}

        return playing(choose, references)

    return players


def refuses(cases, id=None):
    """Returns a test that options are refused, by their names.

    Args:
        cases: An id, its options, the type of the error, if it is only one, and a pattern that its message begins with.
        id: That of all cases, which then begin with their options.
    """
    rows = []
    for case in cases:
        own, options, *error, message = case if id is None else (id, *case)
        rows.append((own, options, *(error or [(TypeError, ValueError)]), message))

    @pytest.mark.parametrize("id, options, error, message", rows)
    def test(id, options, error, message):
        # those of the pool are looked at where it is made
        make = cypool.make if options.keys() & {"seed", "num_envs"} else cypool.make_spec
        with pytest.raises(error, match=f"(?s)^(?:{message})"):
            make(id, **options)

    return test


def continues(cases, before, after, least=1, num_threads=2, **common):
    """Returns a test that saved, loaded and copied environments continue the same way.

    Args:
        cases: An id, an autoreset mode and options.
        before, after: Steps before and after it is saved.
        least: How many episodes end at least.
        num_threads: Of the pool that is saved.
        **common: Options of all cases that do not have them.
    """
    @pytest.mark.parametrize("id, mode, options", cases)
    def test(id, mode, options):
        assert assert_goes_on(id, mode, num_threads, None, before, after, **{**common, **options}) >= least

    return test


def assert_edits_are_harmless(make, count, num_steps, prepare=None):
    """Checks that each number of a saved state is refused by its name, or harmless to others, too.

    Args:
        make: Returns a pool of one environment that was played.
        count: How many of the state's numbers are edited: at the edges of their ranges, and beyond these.
        num_steps: Steps after each load.
        prepare: Called with the pool before its state is saved.
    """
    env, bystander = make(), make()
    if prepare is not None:
        prepare(env)
    state, want = env.save(), bystander.save().rows
    env.action_space.seed(0)
    for path, changed, is_in_range in edged_states(state, np.random.default_rng(0), count):
        try:
            env.load(changed)
        except ValueError as error:
            assert is_in_range or f"state: {path}: expected" in str(error)
            continue
        assert is_in_range
        play_whatever_comes(env, num_steps)
        env.save()
    assert bystander.save().rows == want
    env.load(state)
    if env.env_spec.render_fps is not None:
        env.render()


def refuses_other_forms(make):
    """Returns a test that another form of a family's state is refused.

    Args:
        make: Returns a pool of one environment after a reset; the family's state is bytes.
    """
    @pytest.mark.parametrize("own", [(), None, ("text",), (b"",), (b"\1",), (b"\0\0",)])
    def test(own):
        env = make()
        with pytest.raises((TypeError, ValueError), match="state|expected"):
            env.load(with_own(env.save(), own))

    return test


def draws_after_a_reset(make):
    """Returns a test that an environment that was never reset is stepped by a reset, and not drawn; `make` as above."""
    def test():
        env = make()
        env.load(with_own(env.save(), (b"\0",)))
        with pytest.raises(RuntimeError, match="render: expected a reset first"):
            env.render()
        env.step(env.action_space.sample())

    return test


def pettingzoo_accepts(id, **options):
    """Returns a test that PettingZoo's own test of parallel environments passes."""
    def test():
        parallel_api_test = pytest.importorskip("pettingzoo.test").parallel_api_test
        parallel_api_test(cypool.parallel_env(id, **options), num_cycles=100)

    return test


def equals_tuples(id, package):
    """Returns a test that a `TupleEnv` has spaces and values of a package's environment, whose spaces are tuples."""
    def test():
        module = pytest.importorskip(package)
        ours, theirs = TupleEnv(id), gymnasium.make(f"{module.__name__}:{id}", disable_env_checker=True)
        assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
        ours.action_space.seed(0)
        (got, info), ends = ours.reset(seed=5), 0
        assert info == {}
        want, _ = theirs.reset(seed=5)
        for _ in range(1200):
            assert type(got) is type(want) and got in theirs.observation_space
            assert all((row == wanted).all() and row.dtype == wanted.dtype
                       for row, wanted in zip(got, want, strict=True))
            action = ours.action_space.sample()
            (got, *values), (want, *wanted) = ours.step(action), theirs.step(action)
            assert values == wanted and isinstance(values[0], list)
            if values[1]:
                ends += 1
                (got, _), (want, _) = ours.reset(), theirs.reset()
        assert ends > 1

    return test


def play_whatever_comes(env, num_steps):
    """Steps an environment whose state may be one that it cannot be stepped from."""
    for _ in range(num_steps):
        try:
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            if (terminated[0] or truncated[0]) and env.metadata["autoreset_mode"] == AutoresetMode.DISABLED:
                env.reset()
        except cypool.EnvError:
            env.reset()


def imports_nothing(ids, packages):
    """Returns a test that ids are made, stepped and drawn without packages.

    Args:
        ids: Ids, each with options and whether it is drawn.
        packages: Names of modules.
    """
    def test(run_forked):
        assert run_forked(f"""
import sys
import cypool
for id, options, draws in {ids!r}:
    env = cypool.make(id, num_threads=0, seed=0, **options)
    env.reset()
    env.step(env.action_space.sample())
    if draws:
        env.render()
print(sorted(set({packages!r}) & sys.modules.keys()))
""", check=True).stdout == "[]\n"

    return test


def needs(package, message, releases, id):
    """Returns a test that another release of a package, or none, is an error that names the package to install.

    Args:
        package: As it is installed.
        message: Of the error, with "{found}" for the version.
        releases: Other releases.
        id: Of an environment that needs the package where it is made.
    """
    @pytest.mark.parametrize("found", [None, *releases])
    def test(run_forked, found):
        assert run_forked(f"""
import importlib.metadata as metadata
real = metadata.version
def version(name):
    if name != {package!r}:
        return real(name)
    if {found!r} is None:
        raise metadata.PackageNotFoundError(name)
    return {found!r}
metadata.version = version
import cypool
assert {id!r} in cypool.list_all_envs()
for _ in range(2):
    try:
        cypool.make({id!r})
    except ImportError as error:
        print(error)
""", check=True).stdout.splitlines() == [message.format(found=found or "none")] * 2

    return test


def change_file(monkeypatch, folder, package, path, change):
    """Has a package be found in a folder of links to its files, one of which is another.

    Args:
        monkeypatch: Of pytest.
        folder: An empty one.
        package: It must not be imported any more.
        path: The file, in the package's folder.
        change: Takes its text, and returns the other one.
    """
    find = importlib.util.find_spec
    source, target = Path(find(package).submodule_search_locations[0]), folder
    for part in Path(path).parts:
        target.mkdir(exist_ok=True)
        for beside in source.iterdir():
            if beside.name != part:
                (target / beside.name).symlink_to(beside)
        source, target = source / part, target / part
    text = source.read_text()
    assert change(text) != text
    target.write_text(change(text))
    spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda each: spec if each == package else find(each))


def frees_models(pools):
    """Returns a test that pools share one model of MuJoCo's, which is freed with them.

    Args:
        pools: Pairs of an id and a number of environments.
    """
    def test(run_forked):
        assert run_forked(f"""
import gc
import cypool
from cypool.envs.shared.mujoco import mujoco_common as model
from cypool.registration.registry import resolve
resolve({pools[0][0]!r}, None, {{}})
described = set(map(id, model._models.values()))
envs = [cypool.make(name, num_envs=num_envs) for name, num_envs in {pools!r}]
assert described <= set(map(id, model._models.values())) and len(model._models) == 1
for env in envs:
    env.close()
del env, envs
gc.collect()
print(len(model._models))
""", check=True).stdout == "0\n"

    return test
