"""Every public name of the runtime documents its meaning and where its behavior comes from."""

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
"""Seeds, specifications, standards and requirements; `devui's own` for what none of them covers."""

MODULES = sorted((ROOT / "devui" / "runtime").rglob("*.py"))

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _public(tree: ast.Module) -> Iterator[tuple[str, Documented, list[ast.AST]]]:
    """Yield public classes, functions and methods with the nodes around them, outermost first."""
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
    """Whether the docstring is on another definition, as for overloads and property setters."""
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
def test_every_public_name_documents_where_its_behavior_comes_from(path):
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


def _public_names() -> set[str]:
    """Return the names of the classes that packages export."""
    listings = [path for path in MODULES if path.name == "__init__.py"]
    return {name for path in listings for name in re.findall(r'"([A-Z]\w*)"', path.read_text())}


def _silent_fields(owner: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Yield public fields without a docstring below them; class variables are internal."""
    for node, following in zip(owner.body, [*owner.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or "ClassVar" in ast.unparse(node.annotation):
            continue
        has_docs = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if not ast.unparse(node.target).startswith("_") and not has_docs:
            yield node


@pytest.mark.parametrize("path", MODULES, ids=_place)
def test_every_field_of_an_exported_class_has_a_docstring(path):
    public_names = _public_names()
    silent = [
        f"{_place(path)}:{field.lineno} {owner.name}.{ast.unparse(field.target)}"
        for owner in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(owner, ast.ClassDef) and owner.name in public_names
        for field in _silent_fields(owner)
    ]
    assert not silent, "\n".join(silent)


UNTOLD = {"NotImplementedError", "AttributeError", "KeyError", "IndexError", "StopIteration"}
"""Errors that need no documentation: something is missing, or Python's protocols use them."""


def _names(node: ast.AST | None) -> set[str]:
    """Return the class names in an expression: `NotFoundError` for `errors.NotFoundError(...)`."""
    callee = node.func if isinstance(node, ast.Call) else node
    return (
        {part for part in ast.unparse(callee).split(".") if part[:1].isupper()} if callee else set()
    )


def _errors(node: ast.AST, helpers: dict[str, ast.AST], seen: frozenset[str]) -> set[str]:
    """Return the errors that a function or its private helpers raise and don't catch."""
    errors, handled_errors = set(), set()
    for each in ast.walk(node):
        if isinstance(each, ast.Raise):
            errors |= _names(each.exc)
        elif isinstance(each, ast.ExceptHandler):
            handled_errors |= _names(each.type)
        elif isinstance(each, ast.Call):
            name = ast.unparse(each.func).removeprefix("self.").removeprefix("cls.")
            if name in helpers and name not in seen:
                errors |= _errors(helpers[name], helpers, seen | {name})
    return errors - handled_errors - UNTOLD


def _helpers(tree: ast.Module) -> dict[str, ast.AST]:
    return {
        each.name: each
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("_")
    }


@pytest.mark.parametrize("path", MODULES, ids=_place)
def test_methods_of_exported_classes_document_their_errors(path):
    tree, public_names, silent = ast.parse(path.read_text(encoding="utf-8")), _public_names(), []
    helpers = _helpers(tree)
    for name, node, around in _public(tree):
        owner = around[-1]
        if not isinstance(owner, ast.ClassDef) or owner.name not in public_names:
            continue
        text = " ".join(ast.get_docstring(each) or "" for each in (node, owner))
        undocumented = {error for error in _errors(node, helpers, frozenset()) if error not in text}
        if undocumented and not _is_told_elsewhere(node):
            silent.append(f"{_place(path)}:{node.lineno} {name}: {', '.join(sorted(undocumented))}")
    assert not silent, "\n".join(silent)
