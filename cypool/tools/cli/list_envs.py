"""`cypool list`: the available environments."""
from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from cypool.tools.cli.console import Parser, Refusal, print_json
from cypool.tools.terminal import is_terminal, print_table, styled

if TYPE_CHECKING:
    from cypool.registration.registry import Entry


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add("pattern", nargs="?", default="", metavar="PATTERN", words=_families,
               help="a family, part of an id, or a pattern with * and ?; case is ignored")
    parser.add_json()


def run(pattern: str, as_json: bool) -> None:
    """List the environments, including those of installed plug-ins.

    In a terminal, prints the families or, with a pattern, the matching ids by family; in a pipe, one id per line.
    """
    from cypool.envs import FAMILIES
    from cypool.registration.registry import known_entries, list_all_envs, suggest_id

    ids = set(list_all_envs())
    wanted = pattern.lower() if any(c in pattern for c in "*?[") else f"*{pattern.lower()}*"
    family = next((family for family in FAMILIES if family.name == pattern.lower()), None)
    entries = [entry for entry in known_entries() if entry.id in ids
               and (family.has(entry.entry_point) if family else fnmatch.fnmatchcase(entry.id.lower(), wanted))]
    if not entries:
        raise Refusal(f"no environment matches {pattern!r}{suggest_id(pattern, ids)}; `cypool list` shows all "
                      f"ids; families: {', '.join(family.name for family in FAMILIES)}")
    if as_json:
        print_json([{"id": entry.id, "entry_point": entry.entry_point, "max_episode_steps": entry.max_episode_steps,
                     "reference": entry.reference, "options": entry.options} for entry in entries])
    elif not is_terminal():
        print(*(entry.id for entry in entries), sep="\n")
    elif not pattern:
        print_table([(name, str(len(members)), (title, "bold"), described) for name, title, described, members
                     in by_family(entries)], heading=("family", "ids", "", ""), right=(1,), styles=("cyan",))
        print(styled(f"\n{len(entries)} environments; `cypool list FAMILY` lists one family, and "
                     "`cypool list '*'` lists them all", "dim"))
    else:
        for _, title, _, members in by_family(entries):
            print(styled(f"{title} ({len(members)})", "bold"))
            print_table([(f"  {entry.id}", reference_name(entry), str(entry.max_episode_steps or ""))
                         for entry in members], heading=("  id", "reference", "step limit"), right=(2,))
            print()
        print(styled(f"{len(entries)} environments; for details: `cypool info ID`", "dim"))


def _families() -> list[str]:
    from cypool.envs import FAMILIES

    return [family.name for family in FAMILIES]


def by_family(entries: list[Entry]) -> list[tuple[str, str, str, list[Entry]]]:
    """Returns the name, title, description and entries of each family.

    The entries of a plug-in belong to its package.
    """
    from cypool.envs import family_of

    groups: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        family = family_of(entry.entry_point)
        package = entry.entry_point.partition(":")[0].partition(".")[0]
        about = (family.name, family.title, family.description) if family else ("", package, "an installed package")
        groups.setdefault(about, []).append(entry)
    return [(*about, members) for about, members in sorted(groups.items(), key=lambda group: group[0][1].lower())]


def reference_name(entry: Entry) -> str:
    """Returns the name of an environment's reference for display."""
    from cypool.envs import family_of

    if entry.reference is None:
        return ""
    kind, _, id = entry.reference.partition(":")
    if kind == "gymnasium":
        return f"Gymnasium's {id}"
    family = family_of(entry.entry_point)
    return kind if family is None else family.reference
