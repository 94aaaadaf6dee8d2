"""`cypool info`: everything known about an environment."""
from __future__ import annotations

import argparse
import inspect
import itertools
import os
import re
import sys
from contextlib import nullcontext, suppress
from pkgutil import resolve_name
from typing import Any

from cypool.tools.cli.check import with_options
from cypool.tools.cli.console import Parser, options_of, print_json
from cypool.tools.cli.list_envs import reference_name
from cypool.tools.terminal import has_colours, in_half_blocks, print_table, print_text, styled, width
from cypool.util.arguments import shown


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add_id()
    parser.add_options()
    parser.add("--picture", action=argparse.BooleanOptionalAction,
               help="draw the environment in colored blocks (default: only in terminals with 24-bit color)")
    parser.add_json()


def run(id: str, option: list[str], picture: bool | None, as_json: bool) -> None:
    """Show an environment: spaces, reward, options with their defaults, and its reference."""
    from cypool.envs import family_of
    from cypool.registration.registry import entry_of, expand, make_spec, options_of_class

    given, entry = options_of(option), entry_of(id)
    family = family_of(entry.entry_point)
    spec = expansion = None
    needs = ""
    try:
        spec = make_spec(id, **given)
        expansion = expand(id, None, 0, given)
    except (ImportError, ValueError) as error:
        # the package of a family is missing, or another version
        if family is None or (isinstance(error, ValueError) and family.is_installed):
            raise
        needs = str(error)
    # the class that describes, which may have another one made
    cls: Any = None
    # without MuJoCo, the modules of its robots cannot be imported
    with suppress(ImportError) if needs else nullcontext():
        cls = resolve_name(entry.entry_point)
    about = unwrapped(inspect.cleandoc(without_signature(cls.__doc__ or ""))) if cls else ""
    # of a class that has no text, or cannot be imported, its family's
    if not about and family is not None:
        about = f"{family.title}: {family.description}."
    meanings = options_with_meanings(cls) if cls else {}
    options = spec.options if spec else {**(options_of_class(cls)[0] if cls else {}), **entry.options, **given}
    facts: dict[str, Any] = {"id": id, "about": about, "needs": needs}
    if spec:
        facts |= {
            "observation": {_name(name): str(part) for name, part in spec.observations},
            "action": ({_name(name): str(part) for name, part in spec.actions} if isinstance(spec.action, dict)
                       else str(spec.action)),
            "agents": {name: group.count for name, group in spec.agents.items()},
            "info": {name: str(part) for name, part in spec.info.items()},
            "num_players": spec.num_players, "render_fps": spec.render_fps,
        }
        made_by = spec.implementation or cls
        if hasattr(made_by, "stepped_by"):
            facts["stepped_by"] = made_by(spec, 0).stepped_by
    facts |= {
        "max_episode_steps": spec.max_episode_steps if spec else entry.max_episode_steps,
        "reference": entry.reference, "entry_point": entry.entry_point,
        "environments": [] if expansion is None else named(expansion.options),
        "options": {name: {"value": value, "meaning": meanings.get(name, "")} for name, value in options.items()},
    }
    if as_json:
        print_json(facts)
        return
    _show(facts, reference_name(entry), with_options(family.compared(options)) if family else "")
    is_truecolor = has_colours() and os.environ.get("COLORTERM") in ("truecolor", "24bit")
    if picture or (picture is None and sys.stdout.isatty() and is_truecolor and spec and spec.render_fps):
        _draw(id, given, is_asked_for=bool(picture))


def _name(name: Any) -> str:
    """Returns the name of a part as text: two names for a part of a group, a number for a part of a tuple."""
    if name is None:
        return "observation"
    return " ".join(name) if isinstance(name, tuple) else str(name)


def named(each: list[dict[str, Any]]) -> list[str]:
    """Returns the names of a benchmark's environments: the strings among the options in which they differ."""
    differing = [name for name in each[0] if any(one[name] != each[0][name] for one in each)]
    return [", ".join(one[name] for name in differing if isinstance(one[name], str)) for one in each]


def without_signature(text: str) -> str:
    """Returns a docstring without the signature line that Cython adds."""
    first, _, rest = text.partition("\n")
    return rest.lstrip("\n") if re.fullmatch(r"[\w.]+\(.*\)", first) else text


def unwrapped(text: str) -> str:
    """Returns a docstring with each paragraph and each "Name: ..." item on one line, for the terminal to wrap."""
    return re.sub(r"(?<=\S) *\n(?!\n|[A-Z]\w*: |[-*] ) *(?=\S)", " ", text)


def options_with_meanings(cls: Any) -> dict[str, str]:
    """Returns the meaning of each option from the docstrings of `describe`, a class's own and those of its bases."""
    meanings: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        if "describe" in vars(each):
            meanings.update(arguments_of(without_signature(inspect.cleandoc(each.describe.__doc__ or ""))))
    return meanings


def arguments_of(docstring: str) -> dict[str, str]:
    """Returns {name: text} of the Args section of a docstring in Google's style."""
    found: dict[str, str] = {}
    _, _, text = docstring.partition("Args:\n")
    section = re.split(r"\n(?=\S)", text)[0]
    # an item begins at the first level of indentation
    for item in re.split(r"\n(?=    \S)", "\n" + section):
        names, colon, meaning = item.strip().partition(": ")
        if colon:
            found.update(dict.fromkeys(re.split(r",\s*", names), " ".join(meaning.split())))
    return found


def _show(facts: dict[str, Any], reference: str, compared: str) -> None:
    summary, _, details = facts["about"].partition("\n")
    print(styled(facts["id"], "bold"))
    if summary:
        print_text(summary)
    rows = []
    if facts["needs"]:
        rows.append(("spaces", f"unknown: {facts['needs']}"))
    else:
        rows += [("observation" if name == "observation" else f"observation {name}", part)
                 for name, part in facts["observation"].items()]
        actions = facts["action"] if isinstance(facts["action"], dict) else {"": facts["action"]}
        rows += [(f"action {name}".strip(), part) for name, part in actions.items()]
        rows += [(f"info {name}", part) for name, part in facts["info"].items()]
        rows += [(f"agents {name}", str(count)) for name, count in facts["agents"].items()]
    if facts["environments"]:
        names = ", ".join(filter(None, facts["environments"]))
        rows.append(("stands for", f"{len(facts['environments'])} environments, or a multiple of that"
                     + (f": {names}" if names else "")))
    rows.append(("step limit", str(facts["max_episode_steps"] or "set by the environment, if any")))
    if facts.get("num_players", 1) > 1:
        rows.append(("players", str(facts["num_players"])))
    # games with turns have a reference as the player who moves sees them
    if reference and facts["options"].get("view", {}).get("value") in ("players", "single"):
        rows.append(("reference", f"{reference}, except for this view, which `cypool check` cannot compare"))
    else:
        rows.append(("reference", f"{reference}; `cypool check {facts['id']}` compares cypool with it byte for byte"
                     f"{compared}" if reference else "none for `cypool check`"))
    rows.append(("class", facts["entry_point"]))
    if "stepped_by" in facts:
        rows.append(("stepped by", facts["stepped_by"]))
    print()
    print_table(rows, styles=("cyan",))
    if facts["options"]:
        print("\noptions")
        # those that one text describes stand together
        for meaning, alike in itertools.groupby(facts["options"], lambda name: facts["options"][name]["meaning"]):
            for name in alike:
                print(styled(name, "cyan"), "=", shown(facts["options"][name]["value"]))
            # texts below each other, not in columns: there may be 80 characters in all
            if meaning:
                print_text(meaning, indent=4)
    if details.strip():
        print()
        print_text(details.strip())


def _draw(id: str, options: dict[str, Any], is_asked_for: bool) -> None:
    """Prints a picture of the environment after a few steps, with two pixels per character."""
    import numpy as np

    import cypool

    try:
        with cypool.make(id, seed=0, num_threads=0, **options) as env:
            env.reset()
            env.action_space.seed(0)
            for _ in range(20):
                env.step(env.sample_legal())
            image = np.asarray(env.render()[0])
    except Exception as error:
        # optional unless asked for: a machine may have no OpenGL
        if is_asked_for:
            raise
        print(styled(f"\nno picture: {error}", "dim"))
        return
    print()
    print(in_half_blocks(image, min(width(), 72)))
