"""`cypool check`: does an environment match its reference, and follow the contract?"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cypool.tools.cli.console import Parser, Refusal, number, options_of, print_json
from cypool.tools.terminal import Progress, styled

HELD = 7  # checks that `check_env` reports for an environment that can be saved and runs without the GIL
CHECKS = ("parity", "contract")


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add_id()
    parser.add("--only", metavar="{parity,contract}", words=lambda: CHECKS, help="run only one of the two checks")
    parser.add("--num-envs", type=number(int, 2), metavar="N", default=4,
               help="number of environments (default: %(default)s)")
    parser.add("--num-steps", type=number(int, 10), metavar="N", default=300,
               help="steps per run (default: %(default)s)")
    parser.add("--seeds", type=number(int, 1, 1000), metavar="N", default=3,
               help="number of comparisons with the reference, one per seed (default: %(default)s)")
    parser.add_options()
    parser.add_json()


def run(id: str, only: str | None, num_envs: int, num_steps: int, seeds: int, option: list[str],
        as_json: bool) -> int:
    """Check whether an environment matches its reference bit for bit and follows cypool's contract.

    The exit status is 1 if it does not; the output then names the first difference. The exit status is 2 if only the
    contract was checked, because the reference is not installed or does not support these options.
    """
    from cypool.envs import family_of
    from cypool.errors import EnvError
    from cypool.registration.registry import entry_of, make_spec
    from cypool.testing import ContractError, ParityError, check_env, check_parity
    from cypool.util.arguments import check_choice

    if only is not None:
        check_choice("--only", only, CHECKS)
    if only is None and entry_of(id).expand is not None:
        # each of several environments keeps the contract of its own id
        only = "parity"
    options = options_of(option)
    known = make_spec(id, **options).options
    family = family_of(entry_of(id).entry_point)
    mode: Any = family.parity_mode if family else "NextStep"
    compared = family.compared(known) if family else {}
    without_reference = "" if entry_of(id).reference else f"{id} is registered without a reference to compare it with"
    parity: dict[str, Any] | None = None
    contract: dict[str, Any] | None = None
    error = None
    if only == "parity" and without_reference:
        raise Refusal(without_reference)
    try:
        with Progress() as bar:
            if only != "contract" and not without_reference:
                for seed in bar.over(range(seeds), "alongside the reference"):
                    try:
                        done = check_parity(id, num_envs=num_envs, num_steps=num_steps, seeds=(seed,),
                                            autoreset_mode=mode, **{**options, **compared})
                    except (ValueError, ImportError, NotImplementedError) as refused:
                        without_reference = str(refused)
                        # there is the contract
                        if only == "parity":
                            raise Refusal(without_reference) from refused
                        break
                    this = asdict(done)
                    if parity is not None:
                        for name in ("num_episodes", "num_terminated", "seeds"):
                            this[name] = parity[name] + this[name]
                    parity = this
            if only != "parity":
                held = iter(range(1, HELD + 1))
                bar.show("the contract", 0, HELD)
                contract = asdict(check_env(id, num_envs=num_envs, num_steps=num_steps,
                                            **options,
                                            report=lambda _: bar.show("the contract", next(held, HELD), HELD)))
    except (ParityError, ContractError, EnvError) as failure:
        error = str(failure)
    if as_json:
        print_json({"id": id, "holds": error is None, "error": error, "parity": parity,
                    "without_reference": without_reference, "contract": contract})
    else:
        _show("" if only == "contract" else without_reference, parity, contract, compared, error)
    if error is None and only is None and entry_of(id).reference and parity is None:
        raise Refusal(f"{id} was not compared with its reference: {without_reference}; --only contract needs no "
                      "reference")
    return int(error is not None)


def with_options(options: Mapping[str, Any]) -> str:
    """Describes the options of a comparison."""
    return f" with {', '.join(f'{name}={value!r}' for name, value in options.items())}" if options else ""


def _show(without_reference: str, parity: dict[str, Any] | None, contract: dict[str, Any] | None,
          compared: dict[str, Any], error: str | None) -> None:
    def line(mark: str, text: str, style: str) -> None:
        print(styled(mark, style), text)

    if parity is not None:
        line("✓", f"matches {parity['reference']} byte for byte{with_options(compared)}: {len(parity['seeds'])} seeds "
             f"x {parity['num_envs']} envs x {parity['num_steps']} steps, {parity['num_episodes']} episodes", "green")
    if without_reference:
        line("-", f"not compared with a reference: {without_reference}", "yellow")
    if contract is not None:
        for each in contract["passed"]:
            line("✓", each, "green")
        for each in contract["skipped"]:
            line("-", f"skipped: {each}", "yellow")
    if error is not None:
        line("✗", error, "red")
