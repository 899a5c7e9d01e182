"""Follows the imports of an app from file to file, without running anything."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from devui.wire.packages import owner

_ENDINGS: Final = (".py", ".so", ".pyd", ".pyc")
_CAUGHT: Final = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_LATER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_CONDITIONAL: Final = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.Match, ast.ExceptHandler)


class MissingImport(NamedTuple):
    """An import of a module that doesn't exist."""

    file: Path
    line: int
    statement: str
    module: Path
    """The path where it would be, without the suffix."""


class ForeignImport(NamedTuple):
    """An import of a module that isn't in the agents' folder."""

    file: Path
    line: int
    statement: str
    module: str
    """The part of the module's name that identifies the package it comes from."""


def missing_imports(files: list[Path], agents: Path) -> Iterator[MissingImport]:
    """Yield the relative imports that fail when these files are loaded.

    Only imports that run with the module count: not those in a function, under a condition such as
    `TYPE_CHECKING`, or where the ImportError is caught. Modules above the agents' folder are
    ignored.
    """
    for file in _reachable(files, agents):
        for node, module in _imports(file, agents):
            if _file_of(module) is None:
                yield MissingImport(file, node.lineno, ast.unparse(node), module)


def foreign_imports(files: list[Path], agents: Path) -> list[ForeignImport]:
    """Return the imports of other packages in these files and in the project's files they import.

    The same imports count as for `missing_imports`. An app that uses `sys.path` has none: what it
    can import isn't known without running it.
    """
    files = list(_reachable(files, agents))
    if any(map(_changes_path, files)):
        return []
    return [
        ForeignImport(file, node.lineno, ast.unparse(node), module)
        for file in files
        for node in _running_imports(_tree(file))
        for module in dict.fromkeys(map(owner, _absolute(node)))
        if _file_of(agents / module.partition(".")[0]) is None
    ]


def _reachable(files: list[Path], agents: Path) -> Iterator[Path]:
    """Yield the files, and the project's files that are loaded with them."""
    pending, visited = [*files], set(files)
    while pending:
        file = pending.pop(0)
        yield file
        own = [module for _, module in _imports(file, agents)]
        names = (name for node in _running_imports(_tree(file)) for name in _absolute(node))
        for module in [*own, *(agents.joinpath(*name.split(".")) for name in names)]:
            target = _file_of(module)
            if target is not None and target.suffix == ".py" and target not in visited:
                visited.add(target)
                pending.append(target)


def _absolute(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return what an absolute import loads; imported names may be modules, too."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names] if not node.level else []


def _changes_path(file: Path) -> bool:
    """Return whether a file mentions `sys.path`."""
    path = ast.dump(ast.parse("sys.path", mode="eval").body)
    attributes = (node for node in ast.walk(_tree(file)) if isinstance(node, ast.Attribute))
    return any(ast.dump(node) == path for node in attributes if node.attr == "path")


def _imports(file: Path, agents: Path) -> Iterator[tuple[ast.ImportFrom, Path]]:
    for node in _running_imports(_tree(file)):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = file.parents[min(node.level, len(file.parents)) - 1]
        if base.is_relative_to(agents):
            yield from ((node, module) for module in _modules(node, base))


def bound_names(tree: ast.AST) -> set[str]:
    """Return the names that a module binds outside functions and classes."""
    names: set[str] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        pending.extend(ast.iter_child_nodes(node))
    return names


def _tree(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError, OSError):
        return ast.Module([], [])


def _running_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run when the module is loaded, in order."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not (isinstance(child, _LATER) or _is_guarded(child)):
            yield from _running_imports(child)


def _is_guarded(node: ast.AST) -> bool:
    """Return whether a node's imports may be skipped or fail: conditions, caught ImportErrors."""
    if isinstance(node, ast.Try | ast.TryStar):
        caught = [each.type for each in node.handlers]
    elif isinstance(node, ast.With):
        caught = [each.context_expr for each in node.items]  # `suppress(ImportError)`
    else:
        return isinstance(node, _CONDITIONAL)
    parts = [part for each in caught if each for part in ast.walk(each)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return None in caught or bool(names & _CAUGHT)


def _modules(node: ast.ImportFrom, base: Path) -> Iterator[Path]:
    """Yield the modules that a relative import loads; not all names in `from . import x` are."""
    if node.module:
        yield base.joinpath(*node.module.split("."))
        return
    package = base / "__init__.py"
    names = _own_names(_tree(package)) if package.is_file() else set()
    for alias in node.names:
        if alias.name == "*":
            continue
        is_module = _file_of(base / alias.name) is not None
        if is_module or not {alias.name, "*", "__getattr__"} & names:
            yield base / alias.name


def _own_names(package: ast.Module) -> set[str]:
    """Return the names that a package binds to anything other than its modules."""
    body = [each for each in package.body if not _names_modules(each)]
    return bound_names(ast.Module(body, []))


def _names_modules(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.level == 1 and not node.module


def _file_of(module: Path) -> Path | None:
    """Return the file or folder that is loaded for a module; None if there is none."""
    package = module / "__init__.py"
    if package.is_file():
        return package
    matches = sorted(module.parent.glob(f"{module.name}.*")) if module.parent.is_dir() else []
    files = (each for ending in _ENDINGS for each in matches if each.suffix == ending)
    return next(files, module if module.is_dir() else None)
