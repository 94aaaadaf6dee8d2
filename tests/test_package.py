"""The package as it is installed: light to import, complete for plug-ins."""
from pathlib import Path

import cypool


def test_import_is_quiet_and_loads_nothing_heavy(run_python):
    done = run_python("import cypool, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))")
    assert done.stderr == ""
    assert not {"numpy", "gymnasium", "ale_py", "cv2", "torch"} & set(done.stdout.split())


def test_listing_loads_no_family(run_python):
    done = run_python("import cypool, sys; cypool.list_all_envs(); print(*sys.modules)")
    heavy = {"numpy", "ale_py", "cypool.envs.atari.atari", "cypool.envs.classic_control.cartpole", "cypool.testing"}
    assert not heavy & set(done.stdout.split())


def test_atari_does_not_import_ale_py(run_python):
    done = run_python("import cypool, sys; cypool.make('Pong-v5').reset(); print(*sys.modules)")
    assert done.stderr == "" and "ale_py" not in done.stdout.split()


def test_headers_and_pxd_files_are_there():
    include = Path(cypool.get_include(), "cypool")
    assert (include / "slot.h").is_file() and (include / "rng.h").is_file()
    package = Path(cypool.__file__).parent
    for name in ("__init__.pxd", "env.pxd", "engine/__init__.pxd", "engine/crew.pxd", "envs/__init__.pxd"):
        assert (package / name).is_file()


def test_public_names_have_docstrings():
    for name in cypool.__all__:
        assert getattr(cypool, name).__doc__


def test_the_working_directory_stays_clean(run_python, tmp_path):
    done = run_python("import cypool; e = cypool.make('Breakout-v5', num_envs=2); e.reset(); e.step([0, 0])",
                      cwd=tmp_path)
    assert done.returncode == 0 and not list(tmp_path.iterdir())


def test_the_uncompiled_source_says_so(run_python, tmp_path):
    (tmp_path / "cypool").mkdir()
    source = Path(cypool.__file__).read_text()
    (tmp_path / "cypool" / "__init__.py").write_text(source)
    done = run_python("import cypool", cwd=tmp_path)
    assert "not compiled: leave this folder" in done.stderr
