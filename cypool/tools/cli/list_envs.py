"""`cypool list`: which environments there are."""
from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Annotated

import typer

from cypool.tools.cli.console import Json, Refusal, out, print_json

if TYPE_CHECKING:
    from cypool.making.registry import Entry


def list_envs(
        pattern: Annotated[str, typer.Argument(help="A part of the id, or a pattern with * and ?; case does not "
                                               "matter.", show_default=False)] = "",
        as_json: Json = False) -> None:
    """List the environments, those of installed plug-ins included.

    A terminal shows a table. A pipe gets one id a line.
    """
    from cypool.making.registry import known_entries, list_all_envs, suggest_id

    ids = set(list_all_envs())
    wanted = pattern.lower() if any(c in pattern for c in "*?[") else f"*{pattern.lower()}*"
    entries = [entry for entry in known_entries() if entry.id in ids and fnmatch.fnmatchcase(entry.id.lower(), wanted)]
    if not entries:
        raise Refusal(f"no environment matches {pattern!r}{suggest_id(pattern, ids)}; `cypool list` shows all")
    if as_json:
        print_json([{"id": entry.id, "entry_point": entry.entry_point, "max_episode_steps": entry.max_episode_steps,
                     "reference": entry.reference, "options": entry.options} for entry in entries])
    elif not out.is_terminal:
        print(*(entry.id for entry in entries), sep="\n")
    else:
        from rich.table import Table

        table = Table("id", "reference", box=None, pad_edge=False, header_style="italic")
        table.add_column("step limit", justify="right")
        for entry in entries:
            table.add_row(entry.id, reference_name(entry), str(entry.max_episode_steps or ""))
        out.print(table)
        out.print(f"\n{len(entries)} environments; `cypool info ID` shows more about one", style="dim")


def reference_name(entry: Entry) -> str:
    """Returns in words what an environment equals."""
    from cypool.envs import family_of

    if entry.reference is None:
        return ""
    kind, _, id = entry.reference.partition(":")
    if kind == "gymnasium":
        return f"Gymnasium's {id}"
    family = family_of(entry.entry_point)
    return kind if family is None else family.reference
