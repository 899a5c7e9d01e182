"""The members and parameter names of google-adk's public classes and functions.

DEVUI_ADK_PYTHON=... python -m tests.kit.adk_members > tests/runtime/data/adk_members.txt

A line is `module.Class.member`, `module.Class(parameter)`, `module.Class.method(parameter)` or
`module.function(parameter)`. Names that are left out have no lines. Inherited members are listed
only with the class that defines them.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeGuard

from devui.runtime.left_out import TABLE
from tests.kit.adk_names import public_names
from tests.kit.oracle import run_adk

Function = ast.FunctionDef | ast.AsyncFunctionDef

_OF_PYDANTIC = ("validator", "serializer", "setter", "overload")
"""Decorators of functions that nobody calls by name."""
_NOBODYS = {"model_config", "model_post_init", "model_validate", "config_type"}
"""Members that exist for pydantic or for agents in YAML."""


def public_members() -> list[str]:
    """Return all lines, sorted."""
    return sorted({line for owner, node in definitions() for line in _of(node, owner)})


def definitions() -> Iterator[tuple[str, ast.stmt]]:
    """Yield the definitions of the public classes and functions, each after its name."""
    names = {name for name in public_names() if not _is_left_out(name)}
    where = run_adk("import importlib.util as i; print(i.find_spec('google.adk').origin)")
    base = Path(where.strip()).parent
    for path in base.rglob("*.py"):
        inside = path.relative_to(base).with_suffix("").parts
        module = ".".join(part for part in inside if part != "__init__")
        if _is_left_out(module):
            continue
        for node in _statements(ast.parse(path.read_text(encoding="utf-8")).body):
            if owner := _public_place(module, getattr(node, "name", None), names):
                yield owner, node


def _is_left_out(name: str) -> bool:
    return any(left_out.covers(name) for left_out in TABLE)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _statements([*node.body, *node.orelse])
        else:
            yield node


def _public_place(module: str, name: str | None, names: set[str]) -> str | None:
    """Return the public name of a definition; for a private module, the one in its package."""
    for where in (module, module.rpartition(".")[0]):
        if name and f"{where}.{name}" in names:
            return f"{where}.{name}"
    return None


def _of(node: ast.stmt, owner: str) -> Iterator[str]:
    if isinstance(node, Function):
        yield from _parameters(node, owner)
    elif isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from _of_class(inner, owner)
        for target in ast.walk(node):
            if _is_set_on_self(target) and is_told(target.attr):
                yield f"{owner}.{target.attr}"


def _is_set_on_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
        return False
    return getattr(node.value, "id", "") == "self"


def _of_class(node: ast.stmt, owner: str) -> Iterator[str]:
    if isinstance(node, Function):
        decorators = " ".join(ast.unparse(each) for each in node.decorator_list)
        if node.name == "__init__":
            yield from _parameters(node, owner)
        elif is_told(node.name) and not any(word in decorators for word in _OF_PYDANTIC):
            yield f"{owner}.{node.name}"
            yield from _parameters(node, f"{owner}.{node.name}")
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    for name in (getattr(target, "id", "_") for target in targets):
        if is_told(name):
            yield f"{owner}.{name}"


def is_told(name: str) -> bool:
    """Return whether people use a member by this name."""
    return not name.startswith("_") and name not in _NOBODYS


def _parameters(node: Function, owner: str) -> Iterator[str]:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    for argument in arguments:
        if argument.arg not in {"self", "cls"} and not argument.arg.startswith("_"):
            yield f"{owner}({argument.arg})"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in public_members())
