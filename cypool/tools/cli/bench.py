"""`cypool bench`: how many frames per second cypool and its peers deliver on this machine."""
from __future__ import annotations

import argparse

from cypool.tools.cli.console import Parser, Refusal, all_ids, options_of


def declare(parser: Parser) -> None:
    """Adds the arguments of the verb."""
    parser.add("id", nargs="?", metavar="ID", words=all_ids,
               help="an environment, or several separated by commas, each compared with its peers in their best modes; "
                    "'atari26': the 26 games of Atari 100k (default: Pong-v5)")
    parser.add("--env", metavar="ID", words=all_ids, help="another way to name the environment")
    parser.add("--num-envs", type=int, metavar="N", default=64, help="number of environments (default: %(default)s)")
    parser.add("--batch-size", type=int, metavar="N",
               help="size of asynchronous batches (default: half the environments)")
    parser.add("--threads", type=int, metavar="N", help="number of threads (default: the number of usable CPUs)")
    parser.add("--seconds", type=float, metavar="S", default=0.5, help="length of a sample in seconds (default: "
                                                                       "%(default)s)")
    parser.add("--rounds", type=int, metavar="N", default=9, help="samples per candidate (default: %(default)s)")
    parser.add("--peers", default="", help="'all', 'none', or some of loop, sync-vector, async-vector, numpy-vector, "
                                           "ale, rollout, batch, envpool, separated by commas")
    parser.add_options()
    parser.add("--json", metavar="FILE", help="write the result, including all samples")
    parser.add("--plot", metavar="FILE", help="plot the result: .png, .svg or .pdf")
    parser.add("--verbose", action="store_true", help="show the candidates' stderr")


def run(id: str | None, env: str | None, num_envs: int, batch_size: int | None, threads: int | None, seconds: float,
        rounds: int, peers: str, option: list[str], json: str | None, plot: str | None, verbose: bool) -> None:
    """Compare cypool and its peers in frames per second, in interleaved runs."""
    if id is not None and env is not None:
        raise Refusal(f"--env: expected either ID or --env, got {id!r} and {env!r}")
    env = id or env or "Pong-v5"
    try:
        from cypool.engine import cpus
        from cypool.envs import FAMILIES
        from cypool.tools import benchmark
    except ImportError as error:
        raise Refusal(f'{error}; to install everything `cypool bench` needs: pip install "cypool[bench]"') from error
    groups = {name: ids for family in FAMILIES for name, ids in family.groups.items()}
    envs = list(groups.get(env) or env.split(","))
    try:
        benchmark.main(argparse.Namespace(
            env=env, envs=envs, given=options_of(option), num_envs=num_envs, seconds=seconds, rounds=rounds,
            peers=peers, json=json, plot=plot, verbose=verbose,
            batch_size=max(1, num_envs // 2) if batch_size is None else batch_size,
            threads=cpus.available() if threads is None else threads))
    except benchmark.Failure as failure:
        raise Refusal(str(failure)) from failure
