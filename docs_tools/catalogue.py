"""The catalogue of environments, made from the registry: a page for each family, with pictures."""
from __future__ import annotations

import functools
import html
import importlib
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import cypool
from cypool.envs import FAMILIES, family_of
from cypool.envs.family import Family
from cypool.registration.registry import Entry, expand

WIDTH = 192  # pixels of a picture, twice the width on the page
FIDELITY = Path(__file__).parents[1] / "docs/reference/fidelity.md"
STEPS = 40  # random ones before a picture is taken


@functools.cache
def families() -> dict[str, tuple[Family, list[Entry]]]:
    """Returns the families that this build has, by name, and the entries of each."""
    return {family.name: (family, family.entries(("*",))) for family in FAMILIES if family.is_built}


def write(folder: Path, pictures: bool, partial: bool = False) -> None:
    """Writes the index and the families' pages, and the pictures if they are wanted and can be taken.

    Raises:
        ImportError: An environment needs a package that is not installed, and `partial` is False.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for family, entries in families().values():
        text = page(family, entries, folder / "pictures" if pictures else None, partial)
        (folder / f"{family.name}.md").write_text(text)
        picture = re.search(r"<img [^>]*>", text)
        rows.append(f"| {picture[0] if picture else ''} | [{family.title}]({family.name}.md) | {family.description} | "
                    f"{len(entries):,} | `{family.smoke_ids[0]}` |")
    total = sum(len(entries) for _, entries in families().values())
    (folder / "index.md").write_text(f"""# Catalogue

cypool {cypool.__version__} registers {total:,} ids. These pages are generated from the registry.

<div class="environments" markdown>

| | family | environments | ids | for example |
| --- | --- | --- | --: | --- |
{chr(10).join(rows)}

</div>

- [Environments and their options](../reference/environments.md) explains the families.
- [Fidelity](../reference/fidelity.md) says what each one equals, and which test shows it.
- `cypool.make_spec(id)` describes an environment in Python, `cypool.testing.check_parity(id)` compares it with its
  reference on your machine.
""")


def fidelity_page(family: Family) -> str:
    """Returns the page below docs/reference with the fidelity of a family: its own, if it is not in the common one."""
    return "fidelity.md" if f"\n## {family.title}" in FIDELITY.read_text() else f"{family.name}.md"


def page(family: Family, entries: list[Entry], pictures: Path | None, partial: bool) -> str:
    """Returns the page of a family: a section for each class, with its options and its ids."""
    classes: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        classes[entry.entry_point].append(entry)
    about = (f"{family.description[0].upper()}{family.description[1:]}: {len(entries):,} "
             f"{'id' if len(entries) == 1 else 'ids'}.")
    parts = [f"# {family.title}", f"{about} [What they equal](../reference/{fidelity_page(family)}).",
             *needs_of(family)]
    # a family's newest versions come first
    for entry_point, members in sorted(classes.items(), key=lambda item: -max(version(each.id) for each in item[1])):
        try:
            parts += section(entry_point, members, pictures)
        except ImportError as error:
            if not partial:
                raise
            print(f"catalogue: {entry_point} is left out: {error}", file=sys.stderr)
            parts += [f"## {entry_point.partition(':')[2]}", "`" + "`, `".join(each.id for each in members) + "`"]
    return "\n\n".join(parts) + "\n"


def needs_of(family: Family) -> list[str]:
    """Returns sentences about the packages to install, and about a family's own page."""
    said = []
    if family.install:
        what = "They need" if family.needs else "`render()` needs"
        said.append(f"{what} `{family.install}`.")
    said.append(f"[More about them](../reference/{family.name}.md).")
    return [" ".join(said)]


def section(entry_point: str, entries: list[Entry], pictures: Path | None) -> list[str]:
    """Returns the Markdown of a class: its docstring, its ids and its options."""
    module, name = entry_point.split(":")
    cls = getattr(importlib.import_module(module), name)
    summary, _, details = docstring(cls).partition("\n\n")
    parts = [f"## {name}", summary]
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[stem(entry.id)].append(entry)
    rows, options = [], {}
    for group in groups.values():
        # the newest of the shortest names stands for all
        shown = min(group, key=lambda entry: (len(entry.id), -version(entry.id)))
        try:
            spec = cypool.make_spec(shown.id)
        # an id whose files others have
        except ValueError as error:
            said = html.escape(str(error).split(" in /")[0])  # not the folders of this machine
            rows.append(f"<tr><td></td><td>{ids_of(shown, group)}</td><td colspan=4>{said}</td></tr>")
            continue
        expansion = expand(shown.id, None, 0, {})
        # those of a benchmark are not the defaults
        options = options or ({} if expansion else spec.options)
        picture = take_picture(shown.id, pictures) if pictures and spec.render_fps and expansion is None else None
        several = f"<br>{len(expansion.options)} environments or more" if expansion else ""
        if spec.agents:
            several += "<br>agents: " + ", ".join(f"{name} {group.count}" for name, group in spec.agents.items())
        cells = [f'<img src="pictures/{picture}" alt="{html.escape(shown.id)}" loading="lazy">' if picture else "",
                 ids_of(shown, group) + several, code(describe(spec.observation)), code(describe(spec.action)),
                 str(spec.max_episode_steps or ""), html.escape(reference_of(shown))]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    heads = ("", "ids", "observation", "action", "steps", "equals")
    parts.append('<div class="environments"><table>\n<thead><tr>' + "".join(f"<th>{head}</th>" for head in heads)
                 + "</tr></thead>\n<tbody>\n" + "\n".join(rows) + "\n</tbody></table></div>")
    return [*parts, details, options_of(cls, options)]


def stem(id: str) -> str:
    """Returns the common part of the ids of a game or robot."""
    name = re.sub(r"^.*/|NoFrameskip|Deterministic|-ram|-v\d+$|-MultiBinary", "", id)
    return re.sub(r"(E\dM\d|MAP\d\d)(-S\d)?$", "", name)


def version(id: str) -> int:
    """Returns the number at the end of an id, 0 for a benchmark without one."""
    found = re.search(r"-v(\d+)$", id)
    return int(found[1]) if found else 0


def ids_of(shown: Entry, group: list[Entry]) -> str:
    """Returns the ids of a group, folded up if there are many."""
    others = [f"<code>{html.escape(entry.id)}</code>" for entry in group if entry is not shown]
    text = f"<code>{html.escape(shown.id)}</code>"
    if len(others) > 6:
        return f'{text}<details class="ids"><summary>{len(others)} more</summary>{"<br>".join(others)}</details>'
    return "<br>".join([text, *others])


def reference_of(entry: Entry) -> str:
    """Returns the name of the reference of `check_parity` for an id."""
    if entry.reference is None:
        return ""
    package, _, name = entry.reference.partition(":")
    if package == "gymnasium":
        return f"Gymnasium {name}"
    family = family_of(entry.entry_point)
    return package if family is None else family.reference


def describe(space: Any) -> str:
    """Returns a space in short: dtype and shape of an array."""
    if isinstance(space, dict):
        return ", ".join(f"{key}: {describe(each)}" for key, each in space.items())
    if isinstance(space, tuple):
        return ", ".join(map(describe, space))
    if hasattr(space, "n"):
        return f"Discrete({space.n})"
    bounds = f" in [{space.low.min():g}, {space.high.max():g}]" if space.dtype.kind == "f" else ""
    return f"{space.dtype} {space.shape}" + ("" if "inf" in bounds else bounds)


def code(text: str) -> str:
    """Returns the text as code, with a line for each part of a space that has names."""
    text = html.escape(text)
    if len(text) > 60:
        text = re.sub(r", (?=\w+: )", ",<br>", text)
    return f"<code>{text}</code>"


def docstring(cls: Any) -> str:
    """Returns a class's docstring in Markdown: each "Name: text" a paragraph."""
    text = re.sub(r"\A\w+\(.*\)\n+", "", inspect.getdoc(cls) or "")
    return re.sub(r"^([A-Z]\w+): ", r"\n**\1**: ", re.sub(r"^ +(?!\*)", "", text, flags=re.MULTILINE),
                  flags=re.MULTILINE)


def options_of(cls: Any, values: dict[str, Any]) -> str:
    """Returns the table of a class's options: name, value by default, and the line of `describe`'s docstring."""
    lines: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        if "describe" in vars(each):
            text = inspect.getdoc(each.describe) or ""
            args = re.search(r"^Args:\n(.*?)(?=^\w|\Z)", text, re.DOTALL | re.MULTILINE)
            for names, line in re.findall(r"^    ([\w, ]+): (.*(?:\n {8}.*)*)", args[1] if args else "", re.MULTILINE):
                lines |= dict.fromkeys(names.split(", "), " ".join(line.split()))
    rows = [f"| `{name}` | `{shorten(value)}` | {lines.get(name, '').replace('|', '&#124;')} |"
            for name, value in values.items()]
    return "\n".join(["| option | default | meaning |", "| --- | --- | --- |", *rows]) if rows else "No options."


def shorten(value: Any) -> str:
    """Returns a default as Python writes it; of a path, the file's name."""
    if isinstance(value, str) and value.startswith("/"):
        value = Path(value).name
    text = repr(value).replace("|", "&#124;")
    return text if len(text) <= 60 else text[:57] + "..."


def take_picture(id: str, folder: Path) -> str | None:
    """Writes a picture of an environment after some random steps; returns its name, or None if there is no way."""
    from PIL import Image

    try:
        with cypool.make(id, num_envs=1, num_threads=0, seed=1, render_mode="rgb_array") as env:
            env.action_space.seed(1)
            env.reset()
            for _ in range(STEPS):
                env.step(env.action_space.sample())
            frame = env.render()[0]
    # no display, no drawing package, no game data: the catalogue is complete without
    except Exception as error:
        print(f"catalogue: no picture of {id}: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    folder.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(frame)
    image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    name = re.sub(r"[^\w-]", "_", id) + ".webp"
    image.save(folder / name, quality=80)
    return name
