"""The catalogue of environments, made from the registry: videos, ids and options on family pages, and an index."""
from __future__ import annotations

import functools
import html
import inspect
import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import observations

import cypool
from cypool.envs import FAMILIES, family_of
from cypool.envs.family import Family
from cypool.registration.registry import Entry, expand
from cypool.tools.cli.info import options_with_meanings, without_signature

WIDTH = 192  # pixels of a picture, twice the width on the page
FILM, FRAMES, SECONDS_PER_FRAME = 288, 30, 0.1  # pixels and length of one that moves
CONTRAST = 16  # of a line of a picture: with less in all lines it shows nothing
STEPS = 40  # random ones before a picture is taken
PICTURES = Path(__file__).parents[1] / "build" / "pictures"  # those of earlier builds, used again
COLUMNS = ("", "ids", "observation", "action", "steps", "equals")


@functools.cache
def families() -> dict[str, tuple[Family, list[Entry]]]:
    """Returns the families that this build has, by name, and the entries of each."""
    return {family.name: (family, family.entries(("*",))) for family in FAMILIES if family.is_built}


def write(folder: Path, pictures: bool, partial: bool = False) -> None:
    """Writes the index, adds to the families' pages, and writes pictures if they are wanted and possible.

    Raises:
        ImportError: An environment needs a package that is not installed, and `partial` is False.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tiles = []
    for family, entries in families().values():
        file = folder / f"{family.name}.md"
        films = films_of(family, folder / "pictures") if pictures else {}
        # above the table of observation, action, reward and end
        text = re.sub(r"\n(?=\| \| \|\n)", lambda _, films=films: shown(films) + "\n", file.read_text(), count=1)
        file.write_text(text + page(family, entries, folder / "pictures" if pictures else None, partial))
        picture = "".join(f"[![]({film})]({file.name}) " for film in list(films.values())[:1])
        number = f"{len(entries):,} {'ids' if len(entries) > 1 else 'id'}"
        tiles.append(f"- {picture}**[{family.title}]({file.name})** {family.description[0].upper()}"
                     f"{family.description[1:]}. {number}, such as `{family.smoke_ids[0]}`")
    total = sum(len(entries) for _, entries in families().values())
    (folder / "index.md").write_text(f"""# Catalogue

cypool {cypool.__version__} has {total:,} ids in {len(tiles)} families. A page lists all ids and options of its family.

<div class="tiles" markdown>

{chr(10).join(tiles)}

</div>

- [Environments and their options](../reference/environments.md) explains what the families have in common.
- [Fidelity](../reference/fidelity.md) says what is equal to each reference, and which test shows it.
- `cypool.make_spec(id)` describes an environment in Python, and `cypool.testing.check_parity(id)` compares it with its
  reference on your machine.
""")


def cases_of(family: Family) -> Any:
    """Returns what tests and pages need to know about a family."""
    tests = str(Path(__file__).parents[1] / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    from cases import CASES

    return CASES[family.name]


def films_of(family: Family, folder: Path) -> dict[str, str]:
    """Returns ids that represent a family well, and their videos."""
    ids = list(dict.fromkeys(cases_of(family).pictures or family.smoke_ids))[:3]
    films = {id: take_picture(id, folder, FRAMES) for id in ids if cypool.make_spec(id).render_fps}
    return {id: f"pictures/{film}" for id, film in films.items() if film}


def shown(films: dict[str, str]) -> str:
    """Returns a row of videos with their ids."""
    figures = "".join(f'<figure><img src="{film}" alt="{id}"><figcaption><code>{id}</code></figcaption></figure>'
                      for id, film in films.items())
    return f'\n<div class="films">{figures}</div>\n' if films else ""


def page(family: Family, entries: list[Entry], pictures: Path | None, partial: bool) -> str:
    """Returns the registry's part of a family's page: ids, a section for each docstring, and options."""
    classes: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        classes[entry.entry_point].append(entry)
    parts = [f"\n## All {len(entries):,} ids" if len(entries) > 1 else "\n## The id"]
    options: dict[str, dict[str, tuple[str, str]]] = {}
    sections: dict[str, list[str]] = defaultdict(list)
    described = cases_of(family).observations
    # a family's newest versions come first
    for entry_point, members in sorted(classes.items(), key=lambda item: -max(version(each.id) for each in item[1])):
        try:
            cls = resolve_name(entry_point)
            sections[docstring(cls)].append(entry_point)
            options[entry_point] = options_of(cls, members)
        except ImportError as error:
            if not partial:
                raise
            print(f"catalogue: {entry_point} is left out: {error}", file=sys.stderr)
            parts.append("`" + "`, `".join(each.id for each in members) + "`")
    for text, entry_points in sections.items():
        names = [each.partition(":")[2] for each in entry_points]
        summary, _, details = text.partition("\n\n")
        known = [each for each in entry_points if each in options]
        if known:
            members = [member for each in known for member in classes[each]]
            parts += [f"### {listed(names)}", summary, table_of(members, pictures), details]
            parts += [observations.text(max(classes[each], key=lambda entry: version(entry.id)).id, described[name])
                      for each, name in zip(entry_points, names, strict=True) if each in known and name in described]
    return "\n\n".join([*filter(None, parts), table_of_options(options)]) + "\n"


def listed(names: list[str]) -> str:
    """Returns all names, or the first ones and the number of the others."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def table_of(entries: list[Entry], pictures: Path | None) -> str:
    """Returns the table of ids of some classes; values that all share are given once, above the table."""
    groups: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        # a row has one step limit, and a reference or none
        groups[entry.entry_point, stem(entry.id), entry.max_episode_steps, entry.reference is None].append(entry)
    rows, without_files = [], []
    for group in groups.values():
        shown = representative(group)
        try:
            spec = cypool.make_spec(shown.id)
        # an id whose files others have
        except ValueError:
            without_files += [entry.id for entry in group]
            continue
        expansion = expand(shown.id, None, 0, {})
        picture = take_picture(shown.id, pictures) if pictures and spec.render_fps and expansion is None else None
        several = f"<br>{len(expansion.options)} environments or more" if expansion else ""
        if spec.agents:
            several += "<br>agents: " + ", ".join(f"{name} {group.count}" for name, group in spec.agents.items())
        rows.append([f'<img src="pictures/{picture}" alt="{html.escape(shown.id)}" loading="lazy">' if picture else "",
                     ids_of(shown, group) + several, code(describe(spec.observation)), code(describe(spec.action)),
                     str(spec.max_episode_steps or ""), html.escape(reference_of(shown))])
    same = [k for k in range(len(COLUMNS)) if k != 1 and len({row[k] for row in rows}) == 1]
    said = [f"{COLUMNS[k]} {rows[0][k]}" for k in same if COLUMNS[k] and rows[0][k]] if len(rows) > 1 else []
    kept = [k for k in range(len(COLUMNS)) if k not in same or (rows[0][k] and len(rows) == 1)]
    text = f"All: {'; '.join(said)}.\n\n" if said else ""
    if rows:
        text += ('<div class="environments"><table>\n<thead><tr>' + "".join(f"<th>{COLUMNS[k]}</th>" for k in kept)
                 + "</tr></thead>\n<tbody>\n" + "\n".join(
                     "<tr>" + "".join(f"<td>{row[k]}</td>" for k in kept) + "</tr>" for row in rows)
                 + "</tbody></table></div>")
    if without_files:
        text += f"\n\nThese need files of your own: `{'`, `'.join(without_files)}`."
    return text


def representative(group: list[Entry]) -> Entry:
    """Returns the newest of the shortest ids, which represents them all."""
    return min(group, key=lambda entry: (len(entry.id), -version(entry.id)))


def stem(id: str) -> str:
    """Returns the part that the ids of a game or robot have in common."""
    name = re.sub(r"^.*/|NoFrameskip|Deterministic|-ram|-v\d+$|-MultiBinary", "", id)
    return re.sub(r"(E\dM\d|MAP\d\d)(-S\d)?$", "", name)


def version(id: str) -> int:
    """Returns the number at the end of an id; 0 for a benchmark without one."""
    found = re.search(r"-v(\d+)$", id)
    return int(found[1]) if found else 0


def ids_of(shown: Entry, group: list[Entry]) -> str:
    """Returns the ids of a group, collapsed if there are many."""
    others = [code(entry.id) for entry in group if entry is not shown]
    text = code(shown.id)
    if len(others) > 6:
        return f'{text}<details class="ids"><summary>{len(others)} more</summary>{"<br>".join(others)}</details>'
    return "<br>".join([text, *others])


def reference_of(entry: Entry) -> str:
    """Returns the name of the reference that `check_parity` uses for an id."""
    if entry.reference is None:
        return ""
    package, _, name = entry.reference.partition(":")
    if package == "gymnasium":
        return f"Gymnasium {name}"
    family = family_of(entry.entry_point)
    return package if family is None else family.reference


def describe(space: Any) -> str:
    """Describes a space briefly: dtype and shape of an array."""
    if isinstance(space, dict):
        return ", ".join(f"{key}: {describe(each)}" for key, each in space.items())
    if isinstance(space, tuple):
        return ", ".join(map(describe, space))
    if hasattr(space, "n"):
        return f"Discrete({space.n})"
    bounds = f" in [{space.low.min():g}, {space.high.max():g}]" if space.dtype.kind == "f" else ""
    return f"{space.dtype} {space.shape}" + ("" if "inf" in bounds else bounds)


def code(text: str) -> str:
    """Returns the text as code, with a line for each named part of a space, and with possible line breaks."""
    text = html.escape(text)
    if len(text) > 60:
        text = re.sub(r", (?=\w+: )", ",<br>", text)
    text = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[_/])", "<wbr>", text)
    return f"<code>{text}</code>"


def docstring(cls: Any) -> str:
    """Returns a class's docstring in Markdown, with each "Name: text" as a paragraph."""
    text = without_signature(inspect.getdoc(cls) or "")
    return re.sub(r"^([A-Z]\w+): ", r"\n**\1**: ", re.sub(r"^ +(?!\*)", "", text, flags=re.MULTILINE),
                  flags=re.MULTILINE)


def options_of(cls: Any, entries: list[Entry]) -> dict[str, tuple[str, str]]:
    """Returns a class's options: the default, and the line in `describe`'s docstring."""
    lines = options_with_meanings(cls)
    # the options of a benchmark are not the defaults
    shown = representative([entry for entry in entries if expand(entry.id, None, 0, {}) is None] or entries)
    try:
        values = cypool.make_spec(shown.id).options
    # an id whose files others have
    except ValueError:
        return {}
    return {name: (shorten(value), lines.get(name, "").replace("|", "&#124;")) for name, value in values.items()}


def table_of_options(options: dict[str, dict[str, tuple[str, str]]]) -> str:
    """Returns one table of the options of all classes: name, default, meaning, and the classes with the option."""
    names = {name for each in options.values() for name in each}
    if not names:
        return "There are no options."
    rows = []
    for name in dict.fromkeys(name for each in options.values() for name in each):
        having = {entry_point: each[name] for entry_point, each in options.items() if name in each}
        defaults = {default for default, _ in having.values()}
        default = f"`{defaults.pop()}`" if len(defaults) == 1 else "depends on the id"
        meaning = next((meaning for _, meaning in having.values() if meaning), "")
        if len(having) < len(options):
            meaning += f" ({listed([each.partition(':')[2] for each in having])})"
        rows.append(f"| `{name}` | {default} | {meaning.strip()} |")
    return "\n".join(["### All options", "", "| option | default | meaning |", "| --- | --- | --- |", *rows])


def shorten(value: Any) -> str:
    """Returns a default in Python syntax; for a path, the file name."""
    if isinstance(value, str) and value.startswith("/"):
        value = Path(value).name
    text = repr(value).replace("|", "&#124;")
    return text if len(text) <= 60 else text[:57] + "..."


def take_picture(id: str, folder: Path, frames: int = 1) -> str | None:
    """Writes a picture of an environment after some random steps; returns its name, or None if that is impossible.

    A picture from an earlier build of the same version is reused.
    """
    name = re.sub(r"[^\w-]", "_", id) + ("_film" if frames > 1 else "") + ".webp"
    kept = PICTURES / cypool.__version__ / name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        draw(id, kept, frames)
    if not kept.exists() or not kept.stat().st_size:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(kept, folder / name)
    return name


def draw(id: str, file: Path, frames: int = 1) -> None:
    """Writes a picture of an environment: an empty file if it shows nothing, no file if it cannot be drawn now.

    With several frames, the picture is animated at about viewing speed.
    """
    import numpy as np
    from PIL import Image

    try:
        with cypool.make(id, num_envs=1, num_threads=0, seed=1, render_mode="rgb_array") as env:
            env.action_space.seed(1)
            env.reset()
            steps = STEPS if frames == 1 else max(1, round(env.metadata["render_fps"] * SECONDS_PER_FRAME / 2))
            images = []
            for _ in range(frames):
                for _ in range(steps):
                    env.step(env.sample_legal())
                images.append(Image.fromarray(env.render()[0]))
    # no display, no drawing package, no game data: the catalogue is complete without
    except Exception as error:
        print(f"catalogue: no picture of {id}: {type(error).__name__}: {error}", file=sys.stderr)
        return
    width = WIDTH if frames == 1 else FILM
    images = [image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
              for image in images]
    # the same in each column: a camera in front of a wall, or a dark screen
    if np.ptp(np.asarray(images[-1]).astype(int), axis=1).max() < CONTRAST:
        file.touch()
    else:
        images[0].save(file, quality=80 if frames == 1 else 60, save_all=frames > 1, append_images=images[1:],
                       duration=round(SECONDS_PER_FRAME * 1000), loop=0)
