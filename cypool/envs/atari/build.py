"""The Arcade Learning Environment, compiled from its sdist.

It is licensed under GPL-2, and so is any binary that contains it; none of its source is kept here.
"""

from build_tools.library import Replacement, Rewrite, SourceLibrary, Together
from build_tools.sdist import Sdist


def _version_header(unpacked, folder):
    """Fills in version.hpp.in, as ALE's own build does."""
    version = (unpacked / "version.txt").read_text().strip()
    major, minor, patch = version.split(".")
    text = (unpacked / "src/ale/version.hpp.in").read_text()
    values = {"": version, "_MAJOR": major, "_MINOR": minor, "_PATCH": patch, "_GIT_SHA": "unknown"}
    for part, value in values.items():
        text = text.replace(f"@ALE_VERSION{part}@", value)
    (folder / "version.hpp").write_text(text)


OUR_FLAGS = (
    "-std=c++20", "-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-Wall", "-Wextra",
    "-ffp-contract=off",  # the same bits on all machines
    "-falign-functions=64", "-falign-loops=32",  # as fast wherever the linker puts it
    "-fno-access-control",  # private members of ALE's classes are read and written
    "-fno-tree-vectorize", "-fno-tree-slp-vectorize",  # gcc packs flags into words, and pays at each use
)

LIBRARY = SourceLibrary(
    family="atari",
    licence="GPL-2.0-only",
    licence_file="LICENSE.md",
    distribution="cypool-atari",
    sdist=Sdist(
        project="ale-py",
        version="0.12.1",
        sha256="c503d574c5983e1063b451201ccb779d935919c0f6bf116fb0f4f8aa4c86d249",
        variable="CYPOOL_ALE_SOURCE",
        version_file="version.txt",
    ),
    root="src/ale",
    sources=(
        "ale_interface.cpp",
        "common/*.c*",
        "emucore/*.cxx",
        "environment/*.cpp",
        "games/*.cpp",
        "games/supported/*.cpp",
    ),
    # windows and sound cards
    exclude=("common/SDL2.cpp", "common/DynamicLoad.cpp", "common/ScreenSDL.cpp", "common/SoundSDL.cxx"),
    together=(
        # the rules of a hundred games with the functions that they call for each frame, and of the cartridges
        Together("games/supported/*.cpp", "games/Rom*.cpp", "ale_interface.cpp"),
        Together("emucore/Cart*.cxx"),
        # the small parts of the console
        Together("emucore/Control.cxx", "emucore/Device.cxx", "emucore/Event.cxx", "emucore/Joystick.cxx",
                 "emucore/M6502.cxx", "emucore/M6532.cxx", "emucore/MediaSrc.cxx",
                 "emucore/Paddles.cxx", "emucore/Random.cxx", "emucore/*erializer.cxx", "emucore/Switches.cxx",
                 "emucore/TIASnd.cxx", "environment/ale_state.cpp", "environment/stella_environment_wrapper.cpp"),
        # code that runs once for each environment; and a processor that is not used
        Together("common/*.c*", "emucore/Console.cxx", "emucore/MD5.cxx", "emucore/M6502Hi.cxx",
                 "emucore/OSystem.cxx", "emucore/Props*.cxx", "emucore/Settings.cxx", flags=("-O1",)),
    ),
    replace={"environment/phosphor_blend.cpp": "cypool/envs/atari/phosphor_blend.cpp"},
    include_dirs=("src",),
    own_include_dirs=("cypool/envs/atari/library",),
    # without NDEBUG the emulator checks asserts at every pixel; warnings are not ours to fix
    flags=("-std=c++17", "-O2", "-g0", "-fPIC", "-DNDEBUG", "-ffp-contract=off", "-w"),
    # states contain private members of ALE's classes
    flags_for_users=("-fno-access-control",),
    generate=_version_header,
    rewrite=Rewrite(
        replacements=(
            Replacement("cypool/envs/atari/emulator/m6502.cpp", "emucore/M6502Low.cxx", OUR_FLAGS),
            Replacement("cypool/envs/atari/emulator/system.cpp", "emucore/System.cxx", OUR_FLAGS,
                        ("_ZN3ale6stella6System13setPageAccessEtRKNS1_10PageAccessE",)),
            Replacement("cypool/envs/atari/emulator/system.cpp", "emucore/CartF6.cxx", OUR_FLAGS,
                        ("_ZN3ale6stella11CartridgeF64bankEt",)),
            Replacement("cypool/envs/atari/emulator/system.cpp", "emucore/CartF8.cxx", OUR_FLAGS,
                        ("_ZN3ale6stella11CartridgeF84bankEt",)),
            Replacement("cypool/envs/atari/emulator/screen.cpp", "environment/stella_environment.cpp", OUR_FLAGS,
                        ("_ZN3ale17StellaEnvironment13processScreenEv", "_ZN3ale17StellaEnvironment10processRAMEv")),
            Replacement("cypool/envs/atari/emulator/tia.cpp", "emucore/TIA.cxx", (*OUR_FLAGS, "-O3")),
        ),
        include_dirs=("cypool/envs/atari/emulator/include",),
        written_for="273bec7e5b5127365d26e8f6c30cd543b2265a23d67524c19ef1b441d51e5cde",
        folders=("emucore", "environment"),
        variable="CYPOOL_ALE_REFERENCE",
        flag="-DCYPOOL_FAST_EMULATOR",
    ),
)
