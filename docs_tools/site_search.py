"""Site search: words that lead to a page, in addition to those in titles and texts.

The site's search ranks words in titles first, then those in section names, then those in texts, in proportion to
length, so a method called `async_reset` comes before the page that explains asynchronous pools. As in the index of a
book, an entry has words as its title, and leads to the page that names them in a comment: `<!-- search: install, wheel
-->`. The game or robot that a family gives as its example leads to the family. `browse_site.py` searches for each entry
and for each of `QUERIES`.
"""
from __future__ import annotations

import json
import re
from pathlib import Path

import catalogue

ROOT = Path(__file__).resolve().parents[1]
COMMENT = re.compile(r"^<!-- search: (.*?) -->$", re.MULTILINE | re.DOTALL)

# what visitors type, and the page that has the answer
QUERIES = {
    "autoreset": "reference/semantics",
    "wheel": "how_to/installation",
    "replay": "how_to/replay",
    "AlphaZero": "how_to/tree_search",
    "install": "how_to/installation",
    "frame stack": "environments/atari",
    "own reward": "how_to/hooks",
    "humanoid": "environments/mujoco",
    "num_threads": "reference/make",
    "Ctrl-C": "reference/faults",
    "pip install": "how_to/installation",
    "stable baselines3": "how_to/training_libraries",
    "train an agent": "tutorials/train_an_agent",
    "first steps": "tutorials/first_steps",
    "notebook": "tutorials/notebook",
    "write my own environment": "tutorials/own_environment",
    "custom env": "tutorials/own_environment",
    "own robot": "tutorials/own_robot",
    "domain randomization": "environments/mujoco",
    "resume training": "how_to/checkpoints",
    "monte carlo tree search": "how_to/tree_search",
    "multi agent": "how_to/several_agents",
    "several machines": "how_to/cluster",
    "record a video": "how_to/videos",
    "tensorboard": "how_to/logging",
    "wandb": "how_to/logging",
    "hyperparameters": "how_to/settings",
    "evaluate": "how_to/evaluation",
    "normalize observations": "how_to/training_libraries",
    "learning curves": "explanation/learning_curves",
    "FAQ": "how_to/troubleshooting",
    "envpool migration": "how_to/envpool",
    "NetHack": "environments/nethack",
    "Doom": "environments/vizdoom",
    "control suite": "environments/dm_control",
    "chess": "environments/openspiel",
    "play over ssh": "how_to/command_line",
    "command line": "how_to/command_line",
    "save and load state": "reference/semantics",
    "bit for bit": "reference/fidelity",
    "benchmark": "project/benchmarks",
}


def entries(pages: dict[str, str]) -> dict[str, str]:
    """Returns the page that words lead to; `pages` maps Markdown files to their places in the site."""
    found = {catalogue.stem(family.smoke_ids[0]): f"environments/{family.name}"
             for family, _ in catalogue.families().values() if "/" not in family.smoke_ids[0]}
    for name, place in pages.items():
        for words in COMMENT.findall((ROOT / name).read_text()):
            found |= dict.fromkeys(" ".join(words.split()).split(", "), place.removesuffix(".md"))
    return found


def write(site: Path, pages: dict[str, str]) -> list[str]:
    """Adds the entries to the index of the built site; returns a fault for each that leads nowhere."""
    file = site / "search.json"
    index = json.loads(file.read_text())
    known = {item["location"]: item for item in index["items"] if item["level"] in ("1", 1)}
    added, faults = [], []
    for word, page in entries(pages).items():
        if target := known.get(f"{page}/"):
            added.append(target | {"title": word, "text": f"<p>{word}: {target['title']}</p>"})
        else:
            faults.append(f"search: {word!r} leads to {page}, which is not a page")
    # the first of equal ones comes first
    index["items"] = added + index["items"]
    file.write_text(json.dumps(index, separators=(",", ":")))
    return faults
