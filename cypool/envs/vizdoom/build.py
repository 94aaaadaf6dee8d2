"""ViZDoom's library, which starts the engine and talks to it, compiled from the sdist without Boost.

The engine itself is a program: it comes with the installed wheel of the same version.
"""

from build_tools.library import SourceLibrary, Together
from build_tools.sdist import Sdist

VERSION = "1.3.2"

# the headers of Boost that the library includes; boost.h stands in for all of it
BOOST = (
    "algorithm/string", "algorithm/string/join", "algorithm/string/trim_all", "asio", "chrono", "filesystem",
    "interprocess/ipc/message_queue", "interprocess/mapped_region", "interprocess/shared_memory_object",
    "lexical_cast", "random", "thread", "tokenizer", "version",
)


def _headers(unpacked, folder):
    """Writes the version header, as the library's own build does, and headers that replace Boost."""
    number = VERSION.replace(".", "")
    (folder / "ViZDoomVersion.h").write_text(
        f'#define VIZDOOM_LIB_VERSION {number}\n#define VIZDOOM_LIB_VERSION_STR "{VERSION}"\n')
    for name in BOOST:
        path = folder / "boost" / f"{name}.hpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#include "boost.h"\n')


LIBRARY = SourceLibrary(
    family="vizdoom",
    licence="MIT",
    licence_file="src/lib/ViZDoomGame.cpp",
    sdist=Sdist(
        project="vizdoom",
        version=VERSION,
        sha256="10eef8c2a65111c774ed1311438d95949719d1ac41dc1f7010936dc544f70de2",
        variable="CYPOOL_VIZDOOM_SOURCE",
        version_file="PKG-INFO",
    ),
    root="src/lib",
    sources=("*.cpp",),
    together=(Together("*.cpp"),),
    include_dirs=("include", "src/lib"),
    own_include_dirs=("cypool/envs/vizdoom/cpp",),
    # a step spends its time in the engine
    flags=("-std=c++17", "-Og", "-g0", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-ffp-contract=off", "-w"),
    # a match reads and writes private members of its classes
    flags_for_users=("-fno-access-control",),
    generate=_headers,
    # the header of the engine that the library includes
    further_files=("src/vizdoom/src/viz_doom_classes.h",),
)
