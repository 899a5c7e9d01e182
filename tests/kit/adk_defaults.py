"""The parameters of google-adk's public classes and functions: their positions and defaults.

DEVUI_ADK_PYTHON=... python -m tests.kit.adk_defaults > tests/runtime/data/adk_defaults.txt

A line has a name as in tests.kit.adk_members, its position among the parameters that may be passed
without a keyword or `*`, and its default: JSON for a constant, `...` for anything else, and `-` for
none. The position of a field is `*`.
"""

import ast
import json
import sys
from collections.abc import Iterable, Iterator

from tests.kit.adk_members import Function, definitions, is_told

NONE = "-"
OTHER = "..."


def public_defaults() -> list[str]:
    """Return all lines, sorted."""
    return sorted({line for owner, node in definitions() for line in _of(owner, node)})


def _of(owner: str, node: ast.stmt) -> Iterator[str]:
    if isinstance(node, Function):
        yield from _parameters(owner, node, ())
    elif isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from _of_class(owner, inner, is_model=_is_model(node))


def _is_model(node: ast.ClassDef) -> bool:
    """Return whether the annotations in its body are the fields that it is created with."""
    return not any(isinstance(each, Function) and each.name == "__init__" for each in node.body)


def _of_class(owner: str, node: ast.stmt, *, is_model: bool) -> Iterator[str]:
    if isinstance(node, Function) and (node.name == "__init__" or is_told(node.name)):
        decorators = " ".join(ast.unparse(each) for each in node.decorator_list)
        if not any(word in decorators for word in ("valid", "serial", "property", "setter")):
            name = owner if node.name == "__init__" else f"{owner}.{node.name}"
            yield from _parameters(name, node, () if "staticmethod" in decorators else ("self",))
    elif is_model and isinstance(node, ast.AnnAssign):
        name = ast.unparse(node.target)
        if is_told(name) and "ClassVar" not in ast.unparse(node.annotation):
            yield f"{owner}.{name} * {_default(node.value)}"


def _parameters(owner: str, node: Function, bound: Iterable[str]) -> Iterator[str]:
    positional = [*node.args.posonlyargs, *node.args.args]
    defaults = [None] * (len(positional) - len(node.args.defaults)) + node.args.defaults
    pairs = list(zip(positional, defaults, strict=True))[len([*bound]) :]
    for place, (argument, default) in enumerate(pairs):
        yield from _line(owner, argument, str(place), default)
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        yield from _line(owner, argument, "*", default)


def _line(owner: str, argument: ast.arg, place: str, default: ast.expr | None) -> Iterator[str]:
    if not argument.arg.startswith("_"):
        yield f"{owner}({argument.arg}) {place} {_default(default)}"


def _default(node: ast.expr | None) -> str:
    if node is None:
        return NONE
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Field"):  # pydantic's
        return _of_field(node)
    try:
        return json.dumps(ast.literal_eval(node))
    except (TypeError, ValueError):
        return OTHER


def _of_field(node: ast.Call) -> str:
    for keyword in node.keywords:
        if keyword.arg in {"default", "default_factory"}:
            return _default(keyword.value)
    is_needed = not node.args or ast.unparse(node.args[0]) == "..."
    return NONE if is_needed else _default(node.args[0])


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in public_defaults())
