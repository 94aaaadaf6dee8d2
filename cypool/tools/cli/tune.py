"""`cypool tune`: which num_envs, batch_size and num_threads are the fastest here."""
from __future__ import annotations

from enum import Enum
from typing import Annotated

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


class Goal(str, Enum):
    """The purpose of the pool."""

    sync = "sync"
    asynchronous = "async"
    learner = "learner-ms"


def tune(
        id: Id,
        milliseconds: Annotated[float | None, typer.Argument(
            show_default=False, help="With --for learner-ms: how long the learner takes for a batch.")] = None,
        purpose: Annotated[str, choice_option("--for", Goal, "Synchronous steps, asynchronous ones, or whichever is "
                                              "faster next to a learner that takes some milliseconds for a batch.")
                           ] = Goal.sync.value,
        max_envs: Annotated[int, typer.Option(min=1, max=65536, help="Environments at most.")] = 256,
        option: Options = [],  # noqa: B006
        as_json: Json = False) -> None:
    """Find the fastest num_envs, batch_size and num_threads for an environment on this machine, by measuring.

    Of those that are within 5 % of the fastest, the one with the fewest environments is chosen.
    """
    goal = member_of(Goal, "--for", purpose)
    if (milliseconds is not None) != (goal is Goal.learner):
        raise Refusal("--for: expected a number behind learner-ms, and only there, such as --for learner-ms 5")
    if milliseconds is not None and not 0 < milliseconds <= 10_000:
        raise Refusal(f"--for: expected learner-ms 0 to 10000, got {milliseconds:g}")
    if goal is Goal.asynchronous and max_envs < 2:
        raise Refusal(f"--max-envs: expected at least 2 for asynchronous steps, got {max_envs}")
    from cypool.engine import cpus
    from cypool.making.registry import make_spec
    from cypool.tools import tuning

    options = options_of(option)
    spec = make_spec(id, **options)
    count = spec.default_threads(cpus.available(), sync=goal is Goal.sync)
    with progress() as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        measured = tuning.tune(id, "learner" if goal is Goal.learner else goal.value, cpus=count, max_envs=max_envs,
                               learner_seconds=(milliseconds or 0) / 1000, options=options, progress=show)
    best = measured[0].setting
    words = [f"num_envs={best.num_envs}", *([f"batch_size={best.batch_size}"] * (best.batch_size < best.num_envs)),
             f"num_threads={best.num_threads}", *(f"{name}={value!r}" for name, value in options.items())]
    line = f"env = cypool.make({id!r}, {', '.join(words)})".replace("'", '"')
    if best.batch_size < best.num_envs:
        rest = max(1, cpus.available() - best.num_threads)
        torch = f"environments are stepped while the learner works: torch.set_num_threads({rest}) on a CPU"
    else:
        torch = (f"environments and learner take turns: torch.set_num_threads({cpus.available()}), all usable CPUs, "
                 "takes nothing from them. With small networks torch.set_num_threads(1) is the fastest")
    if as_json:
        print_json({"id": id, "for": goal.value, "learner_ms": milliseconds, "best": best._asdict(), "line": line,
                    "torch": torch, "settings": [{**each.setting._asdict(), "steps_per_second": each.steps_per_second,
                                                  "samples": each.samples} for each in measured]})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="italic")
    for heading in ("num_envs", "batch_size", "num_threads", "steps/s", "of the best"):
        table.add_column(heading, justify="right")
    for each in measured[:tuning.FINALISTS]:
        table.add_row(*map(str, each.setting), f"{each.steps_per_second:,.0f}",
                      f"{each.steps_per_second / measured[0].steps_per_second:.2f}",
                      style="bold" * (each is measured[0]))
    out.print(table)
    out.print(f"\nThe fastest of {len(measured)} settings; the first is the smallest within 5 % of the best.",
              style="dim")
    # plain text: to be copied
    print(f"\n    {line}\n")
    out.print(f"PyTorch: {torch}.", highlight=False)
