"""The list of verbs and their help, and the function that runs a verb."""
from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from cypool.tools.cli.console import Parser, Refusal
from cypool.tools.terminal import print_table, styled

# the module that has a function of the verb's name, or `run`, and `declare`, which adds its arguments to a parser
VERBS = {
    "list": ("list_envs", ("cypool list", "cypool list pong", "cypool list 'ALE/*' --json")),
    "info": ("info", ("cypool info Pong-v5", "cypool info Pong-v5 -o preset=ale --json")),
    "check": ("check", ("cypool check CartPole-v1", "cypool check my_env/MyEnv-v0 --only contract")),
    "new": ("new", ("cypool new my_env", "cypool new my_env ~/projects/my_env")),
    "get": ("get", ("cypool get procgen",)),
    "doctor": ("doctor", ("cypool doctor", "cypool doctor --json")),
    "bench": ("bench", ("cypool bench CartPole-v1", "cypool bench Ant-v5 --peers loop,rollout --plot ant.png")),
    "tune": ("tune", ("cypool tune Pong-v5", "cypool tune Ant-v5 --for async",
                      "cypool tune Pong-v5 --for learner-ms 5")),
    "play": ("play", ("cypool play CartPole-v1", "cypool play Pong-v5 --record pong.mp4",
                      "cypool play Ant-v5 --policy my_module:act")),
}
_ABOUT = "Batches of reinforcement-learning environments: find, check, measure, tune and play them."
_FLAGS = {"-h, --help": "Print this help.", "--version": "Print the version.",
          "--completion": 'Print the Bash completion script. It also works in zsh after "autoload bashcompinit; '
                          'bashcompinit".'}
_COMPLETION = """_cypool() {
    mapfile -t COMPREPLY < <(_CYPOOL_COMPLETE=1 cypool "${COMP_WORDS[@]:1:COMP_CWORD}")
}
complete -o default -F _cypool cypool"""


def run(words: Sequence[str]) -> int:
    """Runs a command line and returns its exit status; raises a Refusal if the line is wrong."""
    if "_CYPOOL_COMPLETE" in os.environ:
        print(*completions(words), sep="\n")
        return 0
    if not words or words[0] in ("-h", "--help"):
        _print_help()
        return 0 if words else 2
    if words == ["--version"]:
        import cypool

        print(f"cypool {cypool.__version__}")
        return 0
    if words == ["--completion"]:
        print(_COMPLETION)
        return 0
    if words[0] not in VERBS:
        from cypool.util.arguments import suggestion

        raise Refusal(f"expected a command, got {words[0]!r}{suggestion(words[0], VERBS)}; see cypool --help")
    function, parser = of_verb(words[0])
    # options may stand between the others
    return int(function(**vars(parser.parse_intermixed_args(words[1:]))) or 0)


def of_verb(verb: str) -> tuple[Callable[..., Any], Parser]:
    """Returns a verb's function, and the parser of its arguments."""
    name, examples = VERBS[verb]
    module = import_module(f"{__package__}.{name}")
    parser = Parser(f"cypool {verb}", description=inspect.getdoc(module.run),
                    epilog="\n  ".join(("Examples:", *examples)))
    module.declare(parser)
    return module.run, parser


def _print_help() -> None:
    print(f"usage: cypool COMMAND ...\n\n{_ABOUT}\n")
    verbs = {verb: (inspect.getdoc(of_verb(verb)[0]) or "").partition("\n")[0] for verb in VERBS}
    for title, group in (("commands", verbs), ("options", _FLAGS)):
        print(styled(f"{title}:", "bold"))
        print_table([(f"  {name}", meaning) for name, meaning in group.items()], styles=("cyan",))
        print()
    print("Every command has its own --help, with examples.\n"
          "First steps: cypool list pong · cypool info Pong-v5 · cypool doctor")


def completions(words: Sequence[str]) -> list[str]:
    """Returns the completions of the last of the words after `cypool`."""
    *before, last = words or ("",)
    if not before:
        found: Any = [*VERBS, "--help", "--version", "--completion"]
    elif before[0] not in VERBS:
        found = []
    else:
        _, parser = of_verb(before[0])
        flags = {flag: action for action in parser._actions for flag in action.option_strings}
        if before[-1] in flags and flags[before[-1]].nargs != 0:
            words_of = parser.words.get(flags[before[-1]].dest)
            found = words_of() if words_of else []
        elif last.startswith("-"):
            found = flags
        else:
            found = [word for action in parser._actions if not action.option_strings
                     for word in parser.words.get(action.dest, list)()]
    return sorted(word for word in found if word.startswith(last))
