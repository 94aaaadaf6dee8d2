"""Imports run one way, from the top floor down: no circles, and no arrow upwards.

    python tests/build/test_imports.py

prints the floors and the arrows between their rooms.
"""
import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "cypool"

# from the bottom up; a room is a module or a package. It imports rooms of lower floors only, none of the same:
# so the engine names no family, families name neither the engine nor an API, and APIs name no adapter
FLOORS = [
    ["util", "errors", "random"],
    ["spec", "options", "state", "env"],
    ["env_methods", "hooks", "policies", "backend", "registration"],
    ["numba", "engine", "wrappers", "envs", "hosting"],
    ["arguments"],
    ["features"],
    ["api"],
    ["making", "mujoco", "replay", "search"],
    ["adapters", "checkpoint", "compat", "cluster"],
    ["testing"],
    ["tools"],
    ["__main__", ""],
]
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
# a package that users copy, not part of this one
COPIED = "template"


def read_modules(package):
    """Returns the files of each module, by its dotted name below the package; "" is the package itself."""
    modules = defaultdict(list)
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).with_suffix("").parts
        if path.suffix == ".pxi":
            # a part of the module that has its package's name
            parts = (*parts[:-1], path.parent.name)
        if path.suffix in (".py", ".pyx", ".pxd", ".pxi") and COPIED not in parts:
            modules[".".join(part for part in parts if part != "__init__")].append(path)
    return dict(modules)


def imports_of_python(text, module, is_package):
    """Returns pairs (imported module, name or None), imports in functions and those for type checkers included."""
    found, tree, attributes = [], ast.parse(text), set()

    def visit(node):
        if isinstance(node, ast.Import):
            found.extend((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = ["cypool", *module.split(".")]
                parents = here[:len(here) - node.level + is_package]
                base = ".".join([*parents, *([base] if base else [])])
            found.extend((base, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            for each in ast.walk(node.args[0]):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    found.append((each.value.rstrip("."), None))
                    break
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cypool":
            attributes.add(node.attr)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    if ("cypool", None) in found:
        found.extend(("cypool", name) for name in attributes)
    return found


def imports_of_cython(text):
    """Returns pairs as `imports_of_python`."""
    text = re.sub(r'(?s)""".*?"""', "", text)
    text = re.sub(r"#.*", "", text)
    found = [(name, None) for name in re.findall(r"(?m)^\s*c?import\s+([\w.]+)", text)]
    for base, names in re.findall(r"(?m)^\s*from\s+([\w.]+)\s+c?import\s+(\([^)]*\)|[^\n]*)", text):
        found.extend((base, re.split(r"\s+as\s+", name.strip())[0]) for name in names.strip("()").split(",")
                     if name.strip())
    found.extend((name, None) for name in re.findall(r'(?:import_module|__import__)\(f?"(cypool[\w.]*)', text))
    return found


def graph_of(package):
    """Returns which modules each module imports. A name of the package itself counts as the module that defines it."""
    modules = read_modules(package)
    raw = {}
    for module, paths in modules.items():
        raw[module] = []
        for path in paths:
            text = path.read_text(encoding="utf-8")
            is_package = path.stem == "__init__"
            raw[module] += imports_of_python(text, module, is_package) if path.suffix == ".py" else imports_of_cython(
                text)
    # names that `cypool` has from others: also those imported for type checkers, as they are imported at first use
    public = {}
    for node in ast.walk(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cypool."):
            public.update((alias.asname or alias.name, node.module.removeprefix("cypool.")) for alias in node.names)
    public.update((name, base.removeprefix("cypool.")) for base, name in raw.get("", ())
                  if name and base.startswith("cypool."))
    graph = {module: set() for module in modules}
    for module, imports in raw.items():
        for base, name in imports:
            base, _, below = base.partition(".")
            if base != "cypool":
                continue
            target = f"{below}.{name}".strip(".") if name else below
            if target not in modules:
                target = below if below else public.get(name, "")
            # a generated or compiled module may have no source: its package stands for it
            while target not in modules:
                target = target.rpartition(".")[0]
            if target not in ("", module):
                graph[module].add(target)
    return graph


def room_of(module):
    """Returns the room that a module is in, the smallest one."""
    parts = module.split(".")
    return next((room for n in range(len(parts), 0, -1) if (room := ".".join(parts[:n])) in LEVEL), None)


def find_circles(graph):
    """Returns groups of modules that import each other."""
    order, low, stack, circles = {}, {}, [], []

    def visit(module):
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            circle = stack[stack.index(module):]
            del stack[stack.index(module):]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return circles


def complaints(graph):
    """Returns a sentence for each circle, and for each arrow that does not lead down."""
    said = [f"{', '.join(f'cypool.{name}' for name in circle)} import each other: expected no circle"
            for circle in find_circles(graph)]
    for module, others in sorted(graph.items()):
        room = room_of(module)
        if room is None and not others and any(known.startswith(f"{module}.") for known in LEVEL):
            continue  # a package whose own file imports nothing
        if room is None:
            said.append(f"cypool.{module}: expected a room of FLOORS, in {__file__}")
            continue
        for other in sorted(others):
            target = room_of(other)
            if target is not None and target != room and LEVEL[target] >= LEVEL[room]:
                said.append(f"cypool.{module} imports cypool.{other}: expected imports of lower floors, but "
                            f"{room or 'cypool'} is on floor {LEVEL[room]} and {target or 'cypool'} on floor "
                            f"{LEVEL[target]}")
    return said


def floors(graph):
    """Returns the floors as text, from the top down, with the rooms that each room imports."""
    arrows = defaultdict(set)
    for module, others in graph.items():
        arrows[room_of(module)] |= {room_of(other) for other in others}
    lines = []
    for level in range(len(FLOORS) - 1, -1, -1):
        for room in FLOORS[level]:
            if room in arrows:
                below = sorted(other for other in arrows[room] - {room} if other is not None)
                lines.append(f"{level:2}  {room or 'cypool':14} -> {', '.join(below) or '-'}")
    return "\n".join(lines)


def test_imports_lead_down():
    graph = graph_of(PACKAGE)
    print(floors(graph))
    assert complaints(graph) == []


@pytest.mark.parametrize("files, complaint", [
    ({"errors.py": "def f():\n    from cypool.spec import x", "spec.py": ""}, "cypool.errors imports cypool.spec"),
    ({"engine/a.pyx": "from cypool.envs.b cimport c", "envs/b.pxd": ""}, "cypool.engine.a imports cypool.envs.b"),
    ({"api/a.py": "import_module('cypool.adapters.b')", "adapters/b.py": ""}, "cypool.api.a imports"),
    ({"envs/a.py": "from . import b", "envs/b.py": "import cypool.envs.a"}, "cypool.envs.a, cypool.envs.b import each"),
    ({"engine/a.py": "import cypool\ncypool.make", "making/factory.py": "make = 1",
      "__init__.py": "from cypool.making.factory import make"}, "cypool.engine.a imports cypool.making.factory"),
    ({"spec.py": "if TYPE_CHECKING:\n    from cypool.api import a", "api/a.py": ""},
     "cypool.spec imports cypool.api.a"),
    ({"spec.py": "from cypool.errors import a", "errors.py": ""}, None),
    ({"attic.py": ""}, "cypool.attic: expected a room"),
])
def test_what_is_found(tmp_path, files, complaint):
    for name, text in {"__init__.py": "", **files}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    said = complaints(graph_of(tmp_path))
    assert [each[:len(complaint)] for each in said] == [complaint] if complaint else said == []


if __name__ == "__main__":
    GRAPH = graph_of(PACKAGE)
    print(floors(GRAPH), *complaints(GRAPH), sep="\n")
    sys.exit(bool(complaints(GRAPH)))
