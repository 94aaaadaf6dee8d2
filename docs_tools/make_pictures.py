"""Makes the pictures for the README: python docs_tools/make_pictures.py

`throughput-ID-THEME.svg` plots a row of docs_tools/measurements.json. `showcase.webp` shows six environments with
random actions, as `cypool.record` films them; it needs the packages in ".[docs]", those of the environments, and OpenGL
(EGL). `info.svg` is a terminal with `cypool info`.
"""
from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
GAP, SECONDS_PER_FRAME = 4, 0.1
CELL, FRAMES = (240, 180), 60
SHOWN = (("Pong-v5", "Ant-v5", "MiniGrid-DoorKey-8x8-v0"),
         ("VizdoomDefendCenter-v1", "board/go-v0", "Overcooked-cramped_room-v0"))
TIMES = "\N{MULTIPLICATION SIGN}"
MEASURED = ("Pong-v5", "Ant-v5")
# candidates of a measurement, and their names in the picture; the others do something else
CANDIDATES = {"cypool sync": "cypool", "ALE AtariVectorEnv sync": "ALE", "EnvPool sync": "EnvPool",
              "Gymnasium AsyncVectorEnv": "AsyncVectorEnv", "mujoco.rollout": "mujoco.rollout",
              "Python for-loop": "Python loop"}
THEMES = {"light": {"text": "#1f2328", "faint": "#59636e", "bar": "#afb8c1", "ours": "#3f51b5"},
          "dark": {"text": "#f0f6fc", "faint": "#9198a1", "bar": "#4d5560", "ours": "#8c9eff"}}


def draw_throughput(report: dict[str, Any], id: str, theme: dict[str, str]) -> str:
    """Returns an SVG bar chart of frames per second, cypool on top, with ratios to cypool for the others."""
    settings = next(row for row in report["rows"] if (row["env"], row["num_envs"], row["threads"]) == (id, 64, 2))
    speeds = {CANDIDATES[row["candidate"]]: median_of(row) for row in settings["results"]
              if row["candidate"] in CANDIDATES}
    rows = sorted(speeds.items(), key=lambda row: -row[1])
    left, bar, step, most = 116, 150, 27, rows[0][1]
    height = 54 + step * len(rows)
    parts = [f'<text y="16" class="title">{escape(id)}: frames per second</text>',
             f'<text y="36" class="faint">{settings["num_envs"]} environments, {settings["threads"]} threads, '
             f'{escape(report["machine"]["cpu"].replace("(R)", ""))}</text>']
    for k, (name, frames) in enumerate(rows):
        y, width, kind = 52 + step * k, bar * frames / most, "bar" if k else "ours"
        ratio = f'<tspan class="faint"> · {most / frames:.1f} {TIMES} slower</tspan>' if k else ""
        parts += [f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
                  f'<rect x="{left}" y="{y}" width="{width:.1f}" height="19" rx="3" class="{kind}"/>',
                  f'<text x="{left + width + 7:.1f}" y="{y + 14}" class="number{"" if k else " title"}">'
                  f'{frames:,.0f}{ratio}</text>']
    style = (f'text{{font:13px system-ui,sans-serif;fill:{theme["text"]}}}text.title{{font-size:15px;font-weight:600}}'
             f'.faint{{fill:{theme["faint"]};font-size:12px}}.number{{font-variant-numeric:tabular-nums}}'
             f'.bar{{fill:{theme["bar"]}}}.ours{{fill:{theme["ours"]}}}')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 340 {height}" width="340" height="{height}" '
            f'role="img"><style>{style}</style>\n' + "\n".join(parts) + "\n</svg>\n")


def median_of(row: dict[str, Any]) -> float:
    """Returns the median of a candidate's frames per second: the middle of its quartiles."""
    figures = row["frames_per_second"]
    return float(figures[len(figures) // 2])


def film(id: str) -> list[Any]:
    """Returns pictures of an environment with random actions, each the size of a cell."""
    from PIL import Image, ImageOps

    import cypool

    # a camera's picture has the shape of the cell
    known = cypool.make_spec(id).options
    camera = {name: 2 * pixels for name, pixels in zip(("width", "height"), CELL, strict=True) if name in known}
    with cypool.make(id, num_envs=1, num_threads=0, seed=3, render_mode="rgb_array", **camera) as env, \
            tempfile.TemporaryDirectory() as folder:
        env.action_space.seed(3)
        # about as fast as they are watched, whatever the frame rate
        skip = max(1, round(env.metadata["render_fps"] * SECONDS_PER_FRAME / 2))
        cypool.record(env, f"{folder}/film.png", num_steps=skip * FRAMES, fps=10)
        pictures: list[Any] = []
        with Image.open(f"{folder}/film.png") as recorded:
            for k in range(recorded.n_frames):
                recorded.seek(k)
                picture = recorded.convert("RGB")
                picture = ImageOps.pad(picture, CELL, color=picture.getpixel((0, 0)))
                # equal pictures are one, which is shown for longer
                pictures += [picture] * round(recorded.info["duration"] / 100)
    return pictures[skip::skip]


def make_showcase(path: Path) -> None:
    """Writes an animated grid of environments."""
    from PIL import Image

    width, height = CELL[0] + GAP, CELL[1] + GAP
    grids = [Image.new("RGBA", (len(SHOWN[0]) * width - GAP, len(SHOWN) * height - GAP)) for _ in range(FRAMES)]
    for row, ids in enumerate(SHOWN):
        for column, id in enumerate(ids):
            for picture, grid in zip(film(id), grids, strict=True):
                grid.paste(picture, (column * width, row * height))
    grids[0].save(path, save_all=True, append_images=grids[1:], duration=round(SECONDS_PER_FRAME * 1000), loop=0,
                  quality=60, method=4)


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
    parser = argparse.ArgumentParser(description="Makes the pictures for the README.")
    parser.add_argument("--only", choices=("throughput", "showcase", "terminal"))
    args = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    if args.only in (None, "throughput"):
        report = json.loads((ROOT / "docs_tools" / "measurements.json").read_text())
        for id in MEASURED:
            for name, theme in THEMES.items():
                (FOLDER / f"throughput-{id}-{name}.svg").write_text(draw_throughput(report, id, theme))
    if args.only in (None, "showcase"):
        make_showcase(FOLDER / "showcase.webp")
    if args.only in (None, "terminal"):
        (FOLDER / "info.svg").write_text(draw_terminal("cypool", "info", "CartPole-v1"))


if __name__ == "__main__":
    main()
