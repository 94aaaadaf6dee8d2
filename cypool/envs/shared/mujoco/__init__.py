"""Code shared by the MuJoCo families, for whichever version of MuJoCo is installed.

The layout of the structs differs between versions. It is computed here, before any module that uses MuJoCo is imported.
"""
from cypool.envs.shared.mujoco import layout, library
from cypool.envs.shared.packages import mujoco_version
from cypool.envs.shared.pixels.opengl import import_without_opengl


def _set_up() -> None:
    folder, version = mujoco_version.find()
    try:
        found = layout.read(folder)
    except Exception as error:
        raise ImportError(f"MuJoCo environments: expected mujoco {version} to describe its structs as "
                          f"{mujoco_version.COMPARED[-1]} does, got {error!r} in {folder}", name="mujoco") from error
    try:
        imported = import_without_opengl("mujoco")
    except Exception as error:
        raise ImportError(f"MuJoCo environments: importing mujoco failed: {error!r}", name="mujoco") from error
    if imported.__version__ != version:
        raise ImportError(f"MuJoCo environments: expected mujoco {version} from {folder}, got {imported.__version__} "
                          f"from {imported.__file__}, which is already imported: a process can only use one version",
                          name="mujoco")
    try:
        library.set_up(found, bytes(folder / f"libmujoco.so.{version}"))
    except RuntimeError as error:
        raise ImportError(f"MuJoCo environments: this version of cypool cannot use mujoco {version}, which has "
                          f"{error}; cypool was made for {mujoco_version.COMPARED[0]} to {mujoco_version.COMPARED[-1]}",
                          name="mujoco") from error
    mujoco_version.warn_of(version)


_set_up()
