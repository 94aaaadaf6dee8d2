"""`cypool check`: does an environment equal its reference, and keep the contract?"""
from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import Annotated, Any

import typer

from cypool.tools.cli.console import (
    Id,
    Json,
    Options,
    Refusal,
    choice_option,
    member_of,
    options_of,
    out,
    print_json,
    progress,
)

HELD = 7  # what `check_env` reports of an environment that can be saved and runs without the GIL


class Only(str, Enum):
    """Which of the two checks to run."""

    parity = "parity"
    contract = "contract"


def check(
        id: Id,
        one: Annotated[str | None, choice_option("--only", Only, "Run one of the two checks.")] = None,
        num_envs: Annotated[int, typer.Option(min=2, help="Environments in a batch.")] = 4,
        num_steps: Annotated[int, typer.Option(min=10, help="Steps of each run.")] = 300,
        seeds: Annotated[int, typer.Option(min=1, max=1000, help="Runs next to the reference, one per seed.")] = 3,
        option: Options = [],  # noqa: B006
        as_json: Json = False) -> None:
    """Check an environment: is it its reference bit for bit, and does it keep cypool's contract?

    Exit status 1 if not: the text says what differs, and where first.
    """
    from cypool.envs import family_of
    from cypool.errors import EnvError
    from cypool.making.registry import entry_of, make_spec
    from cypool.testing import ContractError, ParityError, check_env, check_parity

    only = None if one is None else member_of(Only, "--only", one)
    if only is None and entry_of(id).expand is not None:
        # each of several environments keeps the contract of its own id
        only = Only.parity
    options = options_of(option)
    known = make_spec(id, **options).options
    family = family_of(entry_of(id).entry_point)
    mode: Any = family.parity_mode if family else "NextStep"
    without_reference = "" if entry_of(id).reference else f"{id} is registered without a reference to compare it with"
    parity: dict[str, Any] | None = None
    contract: dict[str, Any] | None = None
    error = None
    if only is Only.parity and without_reference:
        raise Refusal(without_reference)
    try:
        with progress() as bar:
            if only is not Only.contract and not without_reference:
                task = bar.add_task("next to the reference", total=seeds)
                for seed in range(seeds):
                    try:
                        done = check_parity(id, num_envs=num_envs, num_steps=num_steps, seeds=(seed,),
                                            autoreset_mode=mode, **options)
                    except (ValueError, ImportError, NotImplementedError) as refused:
                        without_reference = str(refused)
                        if "preset" in known and "preset" not in options:
                            without_reference += f": cypool check {id} -o preset=ale"
                        # an Atari game without a preset, or a reference that is not installed: there is the contract
                        if only is Only.parity:
                            raise Refusal(without_reference) from refused
                        break
                    run = asdict(done)
                    if parity is not None:
                        for name in ("num_episodes", "num_terminated", "seeds"):
                            run[name] = parity[name] + run[name]
                    parity = run
                    bar.advance(task)
            if only is not Only.parity:
                task = bar.add_task("the contract", total=HELD)
                contract = asdict(check_env(id, num_envs=num_envs, num_steps=num_steps,
                                            report=lambda _: bar.advance(task), **options))
    except (ParityError, ContractError, EnvError) as failure:
        error = str(failure)
    if as_json:
        print_json({"id": id, "holds": error is None, "error": error, "parity": parity,
                    "without_reference": without_reference, "contract": contract})
    else:
        _show("" if only is Only.contract else without_reference, parity, contract, error)
    if error is not None:
        raise typer.Exit(1)


def _show(without_reference: str, parity: dict[str, Any] | None, contract: dict[str, Any] | None,
          error: str | None) -> None:
    from rich.markup import escape

    def line(mark: str, text: str) -> None:
        out.print(f"{mark} {escape(text)}", highlight=False)

    if parity is not None:
        line("[green]✓[/green]", f"equals {parity['reference']} byte for byte: {len(parity['seeds'])} seeds x "
             f"{parity['num_envs']} envs x {parity['num_steps']} steps, {parity['num_episodes']} episodes")
    if without_reference:
        line("[yellow]-[/yellow]", f"not compared with a reference: {without_reference}")
    if contract is not None:
        for each in contract["passed"]:
            line("[green]✓[/green]", each)
        for each in contract["skipped"]:
            line("[yellow]-[/yellow]", f"skipped: {each}")
    if error is not None:
        line("[red]✗[/red]", error)
