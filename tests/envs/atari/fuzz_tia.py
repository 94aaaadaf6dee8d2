"""Random programs for the video chip, ALE's and ours: `python tests/envs/atari/fuzz_tia.py`.

    CYPOOL_CACHE=/some/folder python tests/envs/atari/fuzz_tia.py --games pong --last 4000

Builds fuzz_tia.cpp twice, with ALE as it is and with our parts, runs both and says which programs differ. Needs ale_py,
for its ROMs; compiling ALE takes minutes, unless the build's cache has it.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ale_py.roms

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from build_tools import toolchain  # noqa: E402
from build_tools.library import declared_in  # noqa: E402

ALE = declared_in(ROOT / "cypool/envs/atari")


def build(folder, reference):
    """Returns the program, linked with ALE as it is or with our parts."""
    os.environ[ALE.rewrite.variable] = "1" if reference else "0"
    ready = ALE.prepare(folder)
    if bool(ready.objects) == reference:
        raise SystemExit("our parts cannot be built here")
    source = toolchain.Unit(Path(__file__).with_suffix(".cpp"), ("-std=c++20", "-O2"), ready.include_dirs)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        compiled = list(pool.map(toolchain.compile_unit, (source, *ready.objects, *ready.units)))
    program = folder / ("theirs" if reference else "ours")
    toolchain.run([*toolchain.compiler(), "-pthread", *(path for path, _ in compiled), "-o", program])
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", nargs="+", default=["pong", "breakout"], help="of 2 kB")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=4000, help="programs for each game")
    arguments = parser.parse_args()
    # our files are named relative to there
    os.chdir(ROOT)
    different = []
    with tempfile.TemporaryDirectory() as folder:
        programs = [build(Path(folder), reference) for reference in (True, False)]
        for game in arguments.games:
            roms = Path(ale_py.roms.get_rom_path(game)).parent
            words = [roms, game, arguments.first, arguments.last]
            running = [subprocess.Popen([program, *map(str, words)], stdout=subprocess.PIPE, text=True)
                       for program in programs]
            theirs, ours = (process.communicate()[0].splitlines() for process in running)
            if [process.returncode for process in running] != [0, 0] or not theirs:
                raise SystemExit(f"{game}: ended with {[process.returncode for process in running]}")
            pairs = zip(theirs, ours, strict=True)
            different += [f"{game} {line.split()[0]}" for line, other in pairs if line != other]
            print(f"{game}: {len(theirs)} programs", flush=True)
    print("different:", ", ".join(different) or "none")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
