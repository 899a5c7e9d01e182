"""The project's own source, read once, for the tests of its structure."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method, and its location."""

    module: "Module"
    name: str
    """The qualified name within the module, as in `Journal.open`."""
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def key(self) -> str:
        """Its key in an allow list: `devui/store/journal.py:Journal.open`."""
        return f"{self.module.path}:{self.name}"

    @property
    def place(self) -> str:
        """Its first line, as editors and terminals link it: `devui/store/journal.py:12`."""
        return self.module.place(self.node)

    @property
    def lines(self) -> int:
        """The number of its lines, without docstring and decorators."""
        total = (self.node.end_lineno or 0) - self.node.lineno + 1
        first = self.node.body[0]
        if ast.get_docstring(self.node, clean=False) is not None:
            total -= (first.end_lineno or 0) - first.lineno + 1
        return total


@dataclass(frozen=True, slots=True)
class Module:
    """A Python file of the project."""

    path: str
    """Relative to the project's folder, with forward slashes."""
    name: str
    """Its name in import statements."""
    is_package: bool
    text: str
    tree: ast.Module

    def place(self, node: ast.AST) -> str:
        """Return the line of a node, as editors and terminals link it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[Function]:
        """Yield every function in the module, including methods and inner functions."""
        yield from _functions(self, self.tree, "")

    def enclosing(self, node: ast.AST) -> str:
        """Return the allow-list key of the innermost function around a node, or of the module."""
        line = getattr(node, "lineno", 1)
        around = [f for f in self.functions() if f.node.lineno <= line <= (f.node.end_lineno or 0)]
        return max(around, key=lambda f: f.node.lineno).key if around else self.path


def _functions(module: Module, node: ast.AST, prefix: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(module, prefix + child.name, child)
            yield from _functions(module, child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(module, child, f"{prefix}{child.name}.")
        else:
            yield from _functions(module, child, prefix)


@cache
def _module(path: Path) -> Module:
    relative = path.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")
    is_package = path.name == "__init__.py"
    parts = relative.parent.parts if is_package else relative.with_suffix("").parts
    tree = ast.parse(text, filename=str(relative))
    return Module(relative.as_posix(), ".".join(parts), is_package, text, tree)


def modules(*folders: str) -> tuple[Module, ...]:
    """Return every Python file below these folders of the project."""
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return tuple(map(_module, paths))


@cache
def texts(folder: str, suffix: str) -> tuple[tuple[str, str], ...]:
    """Return path and text of each file with this suffix below a folder, except vendored files."""
    paths = sorted((ROOT / folder).rglob(f"*{suffix}"))
    return tuple(
        (path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
        if "vendor" not in path.parts
    )


def line_of(text: str, offset: int) -> int:
    """Return the number of the line that contains an offset."""
    return text.count("\n", 0, offset) + 1
