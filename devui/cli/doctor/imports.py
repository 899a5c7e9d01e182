"""The relative imports of an app, followed from file to file without running anything."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_ENDINGS: Final = (".py", ".so", ".pyd", ".pyc")
_CAUGHT: Final = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_LATER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_CONDITIONAL: Final = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.Match, ast.ExceptHandler)


class MissingImport(NamedTuple):
    """An import that names a module which is not there."""

    file: Path
    line: int
    statement: str
    module: Path
    """Where it would be, without its ending."""


def missing_imports(files: list[Path], agents: Path) -> Iterator[MissingImport]:
    """The first imports that fail when these files are loaded, and what they import.

    Only those count that run with the module: none in a function, under a condition such as
    `TYPE_CHECKING`, or where the ImportError is caught. What is above the folder of the agents is
    left alone.
    """
    pending, visited = [*files], set(files)
    while pending:
        file = pending.pop(0)
        for node, module in _imports(file, agents):
            target = _file_of(module)
            if target is None:
                yield MissingImport(file, node.lineno, ast.unparse(node), module)
            elif target.suffix == ".py" and target not in visited:
                visited.add(target)
                pending.append(target)


def _imports(file: Path, agents: Path) -> Iterator[tuple[ast.ImportFrom, Path]]:
    for node in _relative_imports(_tree(file)):
        base = file.parents[min(node.level, len(file.parents)) - 1]
        if base.is_relative_to(agents):
            yield from ((node, module) for module in _modules(node, base))


def bound_names(tree: ast.AST) -> set[str]:
    """Names that the module binds anywhere outside of functions and classes."""
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


def _relative_imports(node: ast.AST) -> Iterator[ast.ImportFrom]:
    """Those that run when the module is loaded, in their order."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.level:
            yield child
        elif not (isinstance(child, _LATER) or _is_guarded(child)):
            yield from _relative_imports(child)


def _is_guarded(node: ast.AST) -> bool:
    """Whether it need not run, or may fail: a condition, and what catches an ImportError."""
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
    """The modules that an import loads; a name of `from . import x` may be none."""
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
    """Names that a package binds to something else than its modules."""
    body = [each for each in package.body if not _names_modules(each)]
    return bound_names(ast.Module(body, []))


def _names_modules(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.level == 1 and not node.module


def _file_of(module: Path) -> Path | None:
    """What is loaded for it; None if nothing is there."""
    package = module / "__init__.py"
    if package.is_file():
        return package
    matches = sorted(module.parent.glob(f"{module.name}.*")) if module.parent.is_dir() else []
    files = (each for ending in _ENDINGS for each in matches if each.suffix == ending)
    return next(files, module if module.is_dir() else None)
