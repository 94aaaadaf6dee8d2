"""Makes the pictures of the README: python docs_tools/make_pictures.py

`throughput-light.svg` and `throughput-dark.svg` draw Pong's row of docs_tools/measurements.json. `gallery.webp` is an
animated grid of environments that act at random. It needs the packages of ".[docs]", those of the families in it and
OpenGL (EGL). `info.svg` is a terminal with `cypool info`.
"""
from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
WIDTH, HEIGHT, GAP = 144, 108, 4  # of a cell, in pixels
FRAMES, SECONDS_PER_FRAME = 32, 0.1
TIMES = "\N{MULTIPLICATION SIGN}"
THEMES = {"light": {"text": "#1f2328", "faint": "#59636e", "bar": "#afb8c1", "ours": "#3f51b5"},
          "dark": {"text": "#f0f6fc", "faint": "#9198a1", "bar": "#4d5560", "ours": "#8c9eff"}}


def draw_throughput(report: dict[str, Any], theme: dict[str, str]) -> str:
    """Returns bars of frames per second as SVG, the slowest on top, each with how many times the Python loop it is."""
    settings = next(row for row in report["rows"]
                    if (row["env"], row["num_envs"], row["threads"]) == ("Pong-v5", 64, 2))
    rows = sorted(settings["results"], key=median_of)
    most, loop = median_of(rows[-1]), next(median_of(row) for row in rows if row["candidate"] == "Python for-loop")
    left, bar, step = 200, 390, 30
    height = 58 + step * len(rows) + 44
    parts = [f'<text x="0" y="20" class="title">Frames per second, {escape(settings["env"])}</text>',
             f'<text x="0" y="40" class="faint">{settings["num_envs"]} environments, {settings["threads"]} threads, '
             f'{escape(report["machine"]["cpu"].replace("(R)", ""))}, random actions; longer is better</text>']
    for k, row in enumerate(rows):
        y, name, frames = 58 + step * k, row["candidate"], median_of(row)
        kind = "ours" if name.startswith("cypool") else "bar"
        width = bar * frames / most
        parts += [f'<text x="{left - 10}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
                  f'<rect x="{left}" y="{y}" width="{width:.1f}" height="20" rx="3" class="{kind}"/>',
                  f'<text x="{left + width + 8:.1f}" y="{y + 15}" class="number">{frames:,.0f}'
                  f'<tspan class="faint"> · {frames / loop:.2f} {TIMES}</tspan></text>']
    versions = report["versions"]
    shown = ", ".join(f"{name} {versions[name]}" for name in ("envpool", "ale-py", "gymnasium") if name in versions)
    parts += [f'<text x="0" y="{height - 24}" class="faint">{TIMES}: times the Python loop. {escape(shown)}</text>',
              f'<text x="0" y="{height - 6}" class="faint">{escape(report.get("command", ""))}</text>']
    style = (f'text{{font:13px system-ui,sans-serif;fill:{theme["text"]}}}.title{{font-size:16px;font-weight:600}}'
             f'.faint{{fill:{theme["faint"]};font-size:12px}}.number{{font-variant-numeric:tabular-nums}}'
             f'.bar{{fill:{theme["bar"]}}}.ours{{fill:{theme["ours"]}}}')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" '
            f'role="img"><style>{style}</style>\n' + "\n".join(parts) + "\n</svg>\n")


def median_of(row: dict[str, Any]) -> float:
    """Returns the median of a candidate's frames per second: the middle of its quartiles."""
    figures = row["frames_per_second"]
    return float(figures[len(figures) // 2])


def film(id: str, seed: int) -> list[Any]:
    """Returns pictures of an environment that acts at random, each of the size of a cell."""
    from PIL import Image, ImageOps

    import cypool

    # a camera's picture has the shape of the cell
    known = cypool.make_spec(id).options
    camera = {name: 2 * pixels for name, pixels in (("width", WIDTH), ("height", HEIGHT)) if name in known}
    with cypool.make(id, num_envs=1, num_threads=0, seed=seed, render_mode="rgb_array", **camera) as env:
        env.action_space.seed(seed)
        env.reset()
        # about as fast as they are watched, whatever the frame rate
        skip = max(1, round(env.metadata["render_fps"] * SECONDS_PER_FRAME / 2))
        pictures = []
        for _ in range(FRAMES):
            for _ in range(skip):
                env.step(env.sample_legal())
            picture = Image.fromarray(env.render()[0])
            pictures.append(ImageOps.pad(picture, (WIDTH, HEIGHT), color=picture.getpixel((0, 0))))
    return pictures


def make_gallery(path: Path) -> None:
    """Writes the grid, a row for each family."""
    from PIL import Image

    sys.path.insert(0, str(ROOT / "tests"))
    from cases import CASES

    grid_of_ids = [cases.pictures for cases in CASES.values() if cases.pictures]
    size = (max(map(len, grid_of_ids)) * (WIDTH + GAP) - GAP, len(grid_of_ids) * (HEIGHT + GAP) - GAP)
    grids = [Image.new("RGB", size) for _ in range(FRAMES)]
    for row, ids in enumerate(grid_of_ids):
        for column, id in enumerate(ids):
            # one that is there before has another world
            pictures = film(id, 3 + ids[:column].count(id))
            for grid, picture in zip(grids, pictures, strict=True):
                grid.paste(picture, (column * (WIDTH + GAP), row * (HEIGHT + GAP)))
    grids[0].save(path, save_all=True, append_images=grids[1:], duration=round(SECONDS_PER_FRAME * 1000), loop=0,
                  quality=40, method=4)


def draw_terminal(*words: str) -> str:
    """Returns an SVG of a command's output in a terminal of 90 columns."""
    from rich.console import Console
    from rich.text import Text

    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=True, timeout=300,
                          env=dict(os.environ, FORCE_COLOR="1", COLUMNS="90", TERM="xterm-256color"))
    console = Console(record=True, width=90, file=io.StringIO())
    console.print(Text.from_ansi(done.stdout))
    # the reader's own font, as a picture makes no requests to other servers
    svg = console.export_svg(title=" ".join(words), unique_id="terminal")
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def main() -> None:
    """Makes the pictures that the arguments name."""
    parser = argparse.ArgumentParser(description="Makes the pictures of the README.")
    parser.add_argument("--only", choices=("throughput", "gallery", "terminal"))
    args = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    if args.only in (None, "throughput"):
        report = json.loads((ROOT / "docs_tools" / "measurements.json").read_text())
        for name, theme in THEMES.items():
            (FOLDER / f"throughput-{name}.svg").write_text(draw_throughput(report, theme))
    if args.only in (None, "gallery"):
        make_gallery(FOLDER / "gallery.webp")
    if args.only in (None, "terminal"):
        (FOLDER / "info.svg").write_text(draw_terminal("cypool", "info", "CartPole-v1"))


if __name__ == "__main__":
    main()
