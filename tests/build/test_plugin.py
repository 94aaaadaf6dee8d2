"""A package outside the tree adds environments: it builds, runs, and refuses to run with another ABI."""
import numpy as np
import pytest

import cypool


def test_walk_of_another_package(walker):
    env = cypool.make("walker/Walk-v0", num_envs=3, num_threads=2, seed=5, limit=2)
    obs, info = env.reset()
    assert obs.shape == (3, 1) and (np.abs(obs) <= 0.5).all()
    # the stream of NumPy's generator
    start = [np.random.Generator(np.random.PCG64(5 + i)).uniform(-0.5, 0.5) for i in range(3)]
    assert (obs[:, 0] == np.array(start, np.float32)).all()
    obs, reward, terminated, truncated, info = env.step([2, 1, 0])
    after = np.array(start) + [1, 0, -1]
    assert (obs[:, 0] == after.astype(np.float32)).all()
    assert (reward == np.abs(after)).all()
    assert info["visits"].tolist() == [1, 1, 1]
    assert not truncated.any() and (terminated == (np.abs(after) >= 2)).all()


def test_the_step_limit_is_the_engines(walker):
    env = cypool.make("walker/Walk-v0", num_envs=2, num_threads=0, seed=0)
    env.reset()
    for step in range(1, 20):
        *_, truncated, info = env.step([1, 1])
        assert not truncated.any() and info["elapsed_step"].tolist() == [step] * 2
    *_, terminated, truncated, info = env.step([1, 1])
    assert truncated.all() and not terminated.any() and info["elapsed_step"].tolist() == [20] * 2


def test_another_abi_is_an_import_error(run_python):
    done = run_python("import cypool.env; cypool.env.ABI += 1; import walker.walk")
    assert done.returncode == 1
    assert "ImportError: built for cypool ABI" in done.stderr


@pytest.mark.parametrize("first", ["walker.walk", "cypool"])
def test_either_may_be_imported_first(run_python, first):
    done = run_python(f"import {first}, walker, cypool; e = cypool.make('walker/Walk-v0'); e.reset(); print('ok')")
    assert done.stdout == "ok\n" and done.stderr == ""


@pytest.fixture
def announced(tmp_path):
    """Writes packages that announce themselves by an entry point; returns the code that makes them visible."""

    def announce(**modules):
        for name, code in modules.items():
            (tmp_path / f"{name}.py").write_text(code)
            folder = tmp_path / f"{name}-1.0.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            (folder / "entry_points.txt").write_text(f"[cypool.envs]\n{name} = {name}\n")
        return f"import sys, cypool; sys.path.insert(0, {str(tmp_path)!r})\n"

    return announce


REGISTERS = "import cypool; cypool.register('good/Walk-v0', 'walker.walk:Walk')"


def test_entry_points_are_imported_for_ids_that_name_them(run_forked, announced):
    see = announced(good=REGISTERS, other="raise RuntimeError('not wanted')")
    done = run_forked(see + "print(cypool.make('good/Walk-v0').reset()[0].shape, 'other' in sys.modules)")
    assert done.stdout == "(1, 1) False\n" and done.stderr == ""


@pytest.mark.parametrize("code", ["raise RuntimeError('broken')", "import no_such_module", "1 +"])
def test_an_entry_point_that_fails_costs_its_own_envs_only(run_forked, announced, code):
    see = announced(good=REGISTERS, bad=code)
    done = run_forked(see + """if True:
        import warnings
        for id in ("bad/Walk-v0", "good/Walk-v0"):
            try:
                print(cypool.make(id).reset()[0].shape)
            except ImportError as error:
                print("ImportError:", str(error).splitlines()[0], "<-", type(error.__cause__).__name__)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ids = cypool.list_all_envs()
        print("good/Walk-v0" in ids, "CartPole-v1" in ids, len(caught), caught[0].category.__name__, caught[0].message)
        """)
    refused, shape, listed = done.stdout.splitlines()[:3]
    assert refused.startswith("ImportError: plug-in 'bad' from the package 'bad' cannot be imported: ")
    assert "<- " in refused and shape == "(1, 1)"
    assert listed.startswith("True True 1 RuntimeWarning plug-in 'bad'")


def test_an_entry_point_that_registers_nothing(run_forked, announced):
    done = run_forked(announced(idle="") + "cypool.make('idle/Nothing-v0')")
    assert "ValueError: id: no environment 'idle/Nothing-v0'" in done.stderr
    assert "the plug-in 'idle' was imported, but did not register it" in done.stderr


@pytest.mark.parametrize(("entry_point", "message"), [
    ("walker.walk:Run", "walker.walk:Run, registered as x/Y-v0: walker.walk has no Run"),
    ("walker.nowhere:Walk", "No module named 'walker.nowhere'"),
])
def test_classes_that_are_not_there(run_forked, entry_point, message):
    done = run_forked(f"import cypool; cypool.register('x/Y-v0', {entry_point!r}); cypool.make('x/Y-v0')")
    assert done.returncode == 1 and message in done.stderr


def test_gymnasium_imports_no_plugin(run_python, announced):
    see = announced(good=REGISTERS, bad="raise RuntimeError('broken')")
    done = run_python(see + "import gymnasium; print('good' in sys.modules, 'bad' in sys.modules)")
    assert done.stdout == "False False\n" and done.stderr == ""
