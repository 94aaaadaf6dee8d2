"""MuJoCo, as its wheel has it: C headers and a shared library, whose layout of structs changes with each version.

One build is for one of them. Older ones have no states that cypool could save, and 4.0 is another package.
"""

from .library import WheelLibrary

# release of mujoco -> that of dm_control which was made for it, or for the last one before it that there is
DM_CONTROL = {
    "3.3.0": "1.0.28", "3.3.1": "1.0.28", "3.3.2": "1.0.30", "3.3.3": "1.0.31", "3.3.4": "1.0.31", "3.3.5": "1.0.31",
    "3.3.6": "1.0.34", "3.3.7": "1.0.34", "3.4.0": "1.0.36", "3.5.0": "1.0.37", "3.6.0": "1.0.38", "3.7.0": "1.0.39",
    "3.8.0": "1.0.40", "3.8.1": "1.0.41", "3.9.0": "1.0.41", "3.10.0": "1.0.43", "3.11.0": "1.0.44",
    "3.12.0": "1.0.45", "3.13.0": "1.0.46", "3.14.0": "1.0.47", "3.15.0": "1.0.48", "3.16.0": "1.0.49",
    "3.17.0": "1.0.50",
}

MUJOCO = WheelLibrary(
    family="mujoco",
    project="mujoco",
    versions=tuple(DM_CONTROL),
    default="3.17.0",  # as in pyproject.toml
    variable="CYPOOL_MUJOCO",
    library="libmujoco.so.",
    include_dir="include",
)


def pinned(requirement):
    """A requirement of pyproject.toml, for the MuJoCo that the build is for."""
    version = MUJOCO.version()
    # an installed one may be unknown; the build then ends
    if version in DM_CONTROL:
        for project, versions in (("mujoco", {name: name for name in DM_CONTROL}), ("dm-control", DM_CONTROL)):
            before = f"{project}=={versions[MUJOCO.default]}"
            if requirement.startswith(before):
                return f"{project}=={versions[version]}{requirement.removeprefix(before)}"
    return requirement
