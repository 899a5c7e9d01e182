"""Every public name of the runtime says what it means, and where that comes from."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source import ROOT

SOURCE = re.compile(
    r"adk-(runtime|web) \d|\b(runtime|events|resume|LlmAgent) seed|\bR\d+\b|\bRFC \d+"
    r"|agentskills\.io|devui's own"
)
"""Seeds, specifications, public standards, requirements; `devui's own` is what none of them has."""

MODULES = sorted((ROOT / "devui" / "runtime").rglob("*.py"))

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _public(tree: ast.Module) -> Iterator[tuple[str, Documented, list[ast.AST]]]:
    """Public classes, functions and methods, with what they stand in, from the outside inwards."""
    for node in tree.body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            yield node.name, node, [tree]
            if isinstance(node, ast.ClassDef):
                yield from _methods(node, tree)


def _methods(
    owner: ast.ClassDef, tree: ast.Module
) -> Iterator[tuple[str, Documented, list[ast.AST]]]:
    for node in owner.body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            yield f"{owner.name}.{node.name}", node, [tree, owner]


def _is_told_elsewhere(node: Documented) -> bool:
    """Whether it is one of several forms of a name: overloads, and setters of a property."""
    decorators = [ast.unparse(each) for each in node.decorator_list]
    return any(each == "overload" or each.endswith(".setter") for each in decorators)


def _place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=_place)
def test_every_public_name_has_a_docstring(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [
        f"{_place(path)}:{node.lineno} {name}"
        for name, node, _ in _public(tree)
        if not ast.get_docstring(node) and not _is_told_elsewhere(node)
    ]
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("path", MODULES, ids=_place)
def test_every_public_name_tells_where_its_behaviour_comes_from(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unfounded = [
        f"{_place(path)}:{node.lineno} {name}"
        for name, node, around in _public(tree)
        if not any(SOURCE.search(ast.get_docstring(each) or "") for each in (node, *around))
    ]
    assert not unfounded, (
        "name the seed or the section in the docstring of the module, the class or the function:\n"
        + "\n".join(unfounded)
    )


def _offered() -> set[str]:
    """The names of the classes that packages list."""
    listings = [path for path in MODULES if path.name == "__init__.py"]
    return {name for path in listings for name in re.findall(r'"([A-Z]\w*)"', path.read_text())}


def _silent_fields(owner: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Public fields without a docstring below; class variables are the runtime's own affair."""
    for node, following in zip(owner.body, [*owner.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or "ClassVar" in ast.unparse(node.annotation):
            continue
        told = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if not ast.unparse(node.target).startswith("_") and not told:
            yield node


@pytest.mark.parametrize("path", MODULES, ids=_place)
def test_every_field_of_a_class_that_packages_offer_has_a_docstring(path):
    offered = _offered()
    silent = [
        f"{_place(path)}:{field.lineno} {owner.name}.{ast.unparse(field.target)}"
        for owner in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(owner, ast.ClassDef) and owner.name in offered
        for field in _silent_fields(owner)
    ]
    assert not silent, "\n".join(silent)
