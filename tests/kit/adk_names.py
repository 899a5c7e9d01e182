"""The public names of google-adk: its modules, their definitions, and the exports of packages.

DEVUI_ADK_PYTHON=... python -m tests.kit.adk_names > tests/runtime/data/adk_names.txt
"""

import json
import sys
from functools import cache

from tests.kit.oracle import run_adk

_FIND = """
import ast, json, os
import google.adk
base = os.path.dirname(google.adk.__file__)
found = []

def defined(body):
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield from [one.name for one in node.names if one.name == one.asname]
        elif isinstance(node, ast.Assign):
            yield from [one.id for one in ast.walk(ast.Tuple(node.targets)) if hasattr(one, "id")]
        elif isinstance(node, ast.AnnAssign):
            yield getattr(node.target, "id", "_")
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, (ast.If, ast.Try)):
            yield from defined([*node.body, *node.orelse])

for folder, folders, files in os.walk(base):
    folders[:] = [one for one in folders if not one.startswith("_")]
    package = os.path.relpath(folder, base).replace(os.sep, ".").strip(".")
    if "__init__.py" not in files:
        continue
    at = package + "." if package else ""
    for name in [one[:-3] for one in files if one.endswith(".py") and one[0] != "_"]:
        with open(os.path.join(folder, name + ".py")) as file:
            inside = defined(ast.parse(file.read()).body)
        found += [at + name] + [f"{at}{name}.{one}" for one in inside if one != "logger"]
    with open(os.path.join(folder, "__init__.py")) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        named = [getattr(one, "id", None) or "" for one in targets]
        value = getattr(node, "value", None)
        if "__all__" in named:
            found += [at + one.value for one in getattr(value, "elts", []) if hasattr(one, "value")]
        elif "LAZY" in named[0]:
            found += [at + one.value for one in getattr(value, "keys", []) if hasattr(one, "value")]
print(json.dumps(sorted({one for one in found if not one.rpartition(".")[2].startswith("_")})))
"""


@cache
def public_names() -> list[str]:
    """Return all names, sorted, relative to `google.adk`."""
    names: list[str] = json.loads(run_adk(_FIND))
    return names


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}\n" for name in public_names())
