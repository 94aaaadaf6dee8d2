"""`cypool bench`: how many frames per second cypool and its peers deliver on this machine."""
from __future__ import annotations

import argparse
from typing import Annotated

import typer

from cypool.tools.cli.console import Refusal, complete_id


def bench(
        id: Annotated[str | None, typer.Argument(metavar="[ID]", autocompletion=complete_id, show_default="Pong-v5",
                                                 help="An environment, or several separated by commas, each compared "
                                                      "with its peers in their best modes; 'atari26': the games of "
                                                      "Atari 100k.")] = None,
        env: Annotated[str | None, typer.Option(metavar="ID", autocompletion=complete_id, show_default=False,
                                                help="Another way to name the environment.")] = None,
        num_envs: Annotated[int, typer.Option(help="Environments.")] = 64,
        batch_size: Annotated[int | None, typer.Option(help="How many return at a time if asynchronous, by default "
                                                       "half of them.", show_default=False)] = None,
        threads: Annotated[int | None, typer.Option(help="By default as many as there are usable CPUs.",
                                                    show_default=False)] = None,
        seconds: Annotated[float, typer.Option(help="Length of a sample.")] = 0.5,
        rounds: Annotated[int, typer.Option(help="Samples of each candidate.")] = 9,
        peers: Annotated[str, typer.Option(help="'all', 'none', or some of loop, sync-vector, async-vector, "
                                           "numpy-vector, ale, rollout, envpool, separated by commas.",
                                           show_default=False)] = "",
        json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the result, with every sample.",
                                                 show_default=False)] = None,
        plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the result: .png, .svg or .pdf.",
                                                 show_default=False)] = None,
        verbose: Annotated[bool, typer.Option(help="Show what the candidates write to stderr.")] = False) -> None:
    """Compare the speed of cypool and its peers, interleaved, in frames per second."""
    if id is not None and env is not None:
        raise Refusal(f"--env: expected it without an ID, got {id!r} and --env {env!r}")
    env = id or env or "Pong-v5"
    try:
        from cypool.engine import cpus
        from cypool.envs import FAMILIES
        from cypool.tools import benchmark
    except ImportError as error:
        raise Refusal(f'{error}; for all it needs: pip install "cypool[bench]"') from error
    groups = {name: ids for family in FAMILIES for name, ids in family.groups.items()}
    envs = list(groups.get(env) or env.split(","))
    try:
        benchmark.main(argparse.Namespace(
            env=env, envs=envs, num_envs=num_envs, seconds=seconds, rounds=rounds, peers=peers, json=json, plot=plot,
            batch_size=max(1, num_envs // 2) if batch_size is None else batch_size, verbose=verbose,
            threads=cpus.available() if threads is None else threads))
    except benchmark.Failure as failure:
        raise Refusal(str(failure)) from failure
