"""All verbs as one Typer application."""
from __future__ import annotations

from typing import Annotated

import typer

from cypool.tools.cli import bench, check, doctor, get, info, list_envs, new, play, tune
from cypool.tools.cli.console import guarded, out

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich",
                  context_settings={"help_option_names": ["-h", "--help"]},
                  epilog="[bold]First steps:[/bold] cypool list pong · cypool info Pong-v5 · cypool doctor")


def _version(wanted: bool) -> None:
    if wanted:
        import cypool

        out.print(f"cypool {cypool.__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def cypool_command(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                         help="Print the version.")] = False) -> None:
    """Batches of reinforcement-learning environments: find, check, measure, tune and play them.

    Every verb has its own --help, with examples.
    """


for _name, _function, _examples in (
        ("list", list_envs.list_envs, ("cypool list", "cypool list pong", "cypool list 'ALE/*' --json")),
        ("info", info.info, ("cypool info Pong-v5", "cypool info Pong-v5 -o preset=ale --json")),
        ("check", check.check, ("cypool check CartPole-v1", "cypool check my_env/MyEnv-v0 --only contract")),
        ("new", new.new_command, ("cypool new my_env", "cypool new my_env ~/projects/my_env")),
        ("get", get.get, ("cypool get procgen",)),
        ("doctor", doctor.doctor, ("cypool doctor", "cypool doctor --json")),
        ("bench", bench.bench, ("cypool bench CartPole-v1", "cypool bench Ant-v5 --peers loop,rollout --plot ant.png")),
        ("tune", tune.tune, ("cypool tune Pong-v5", "cypool tune Ant-v5 --for async",
                             "cypool tune Pong-v5 --for learner-ms 5")),
        ("play", play.play, ("cypool play CartPole-v1", "cypool play Pong-v5 --record pong.mp4",
                             "cypool play Ant-v5 --policy my_module:act"))):
    app.command(_name, epilog="[bold]Examples:[/bold] " + " · ".join(_examples))(guarded(_name, _function))
