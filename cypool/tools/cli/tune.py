"""`cypool tune`: finds the fastest num_envs, batch_size and num_threads."""
from __future__ import annotations

from cypool.tools.cli.console import Parser, Refusal, number, options_of, print_json
from cypool.tools.terminal import Cell, Progress, print_table, print_text, styled

GOALS = ("sync", "async", "learner-ms")


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add_id()
    parser.add("milliseconds", nargs="?", type=float, metavar="MILLISECONDS",
               help="with --for learner-ms: the learner's time per batch")
    parser.add("--for", dest="purpose", default="sync", metavar="{sync,async,learner-ms}", words=lambda: GOALS,
               help="the steps to measure: synchronous, asynchronous, or whichever is faster with a learner "
                    "that takes MILLISECONDS per batch (default: %(default)s)")
    parser.add("--max-envs", type=number(int, 1, 65536), metavar="N", default=256,
               help="maximum number of environments (default: %(default)s)")
    parser.add_options()
    parser.add_json()


def run(id: str, milliseconds: float | None, purpose: str, max_envs: int, option: list[str], as_json: bool) -> None:
    """Measure which num_envs, batch_size and num_threads are fastest for an environment on this machine.

    Chooses the setting with the fewest environments among those within 5% of the fastest.
    """
    from cypool.util.arguments import check_choice

    goal = check_choice("--for", purpose, GOALS)
    if (milliseconds is not None) != (goal == GOALS[2]):
        raise Refusal("--for: expected a number after, and only after, learner-ms, such as --for learner-ms 5")
    if milliseconds is not None and not 0 < milliseconds <= 10_000:
        raise Refusal(f"--for: expected learner-ms in (0, 10000], got {milliseconds:g}")
    if goal == "async" and max_envs < 2:
        raise Refusal(f"--max-envs: expected at least 2 for asynchronous steps, got {max_envs}")
    from cypool.engine import cpus
    from cypool.registration.registry import make_spec
    from cypool.tools import tuning

    options = options_of(option)
    spec = make_spec(id, **options)
    count = spec.default_threads(cpus.available(), sync=goal == "sync")
    with Progress() as bar:
        measured = tuning.tune(id, "learner" if goal == GOALS[2] else goal, cpus=count, max_envs=max_envs,
                               learner_seconds=(milliseconds or 0) / 1000, options=options, progress=bar.show)
    best = measured[0].setting
    words = [f"num_envs={best.num_envs}", *([f"batch_size={best.batch_size}"] * (best.batch_size < best.num_envs)),
             f"num_threads={best.num_threads}", *(f"{name}={value!r}" for name, value in options.items())]
    line = f"env = cypool.make({id!r}, {', '.join(words)})".replace("'", '"')
    if best.batch_size < best.num_envs:
        rest = max(1, cpus.available() - best.num_threads)
        torch = f"environments run while the learner works: for a CPU learner, call torch.set_num_threads({rest})"
    else:
        torch = ("the environments and the learner take turns, so PyTorch can use all CPUs: "
                 f"torch.set_num_threads({cpus.available()}). For small networks, torch.set_num_threads(1) is fastest")
    if as_json:
        print_json({"id": id, "for": goal, "learner_ms": milliseconds, "best": best._asdict(), "line": line,
                    "torch": torch, "settings": [{**each.setting._asdict(), "steps_per_second": each.steps_per_second,
                                                  "samples": each.samples} for each in measured]})
        return
    rows: list[list[Cell]] = []
    for each in measured[:tuning.FINALISTS]:
        cells = [*map(str, each.setting), f"{each.steps_per_second:,.0f}",
                 f"{each.steps_per_second / measured[0].steps_per_second:.2f}"]
        rows.append([(cell, "bold" * (each is measured[0])) for cell in cells])
    print_table(rows, heading=("num_envs", "batch_size", "num_threads", "steps/s", "of the best"), right=range(5))
    print(styled(f"\nThese are among the fastest of the {len(measured)} settings measured. The first has the "
                 "fewest environments of those within 5% of the best.", "dim"))
    # plain text: to be copied
    print(f"\n    {line}\n")
    print_text(f"PyTorch: {torch}.")
