"""The apps of a folder: which look as if they would load, without running a line of them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from devui.cli.checks.findings import Finding, fault, good, note
from devui.debugger.apps import AppFolder

_EXPORTS: Final = frozenset({"root_agent", "app"})
_ADK: Final = "google.adk"


def look_at_apps(agents: Path) -> Iterator[Finding]:
    """What there is to say of each app, and of folders that are nearly one."""
    apps = AppFolder.at(agents)
    names = apps.names()
    if not names:
        yield note(
            f"there is no app in {str(agents)!r}",
            "an app is a folder with an agent.py; name another folder with --agents",
        )
    for name in names:
        yield _app(apps.path / name)
    if apps.only is None:
        for folder in sorted(apps.path.iterdir()):
            if folder.name not in names and (folder / "agent.py").is_file():
                yield note(
                    f"{folder} holds an agent.py and is no app",
                    "its name has to be that of a Python module, and no link may lead out",
                )


def _app(folder: Path) -> Finding:
    files = [folder / "__init__.py", folder / "agent.py", folder / "agent" / "__init__.py"]
    found: set[str] = set()
    foreign = ""
    for file in files:
        if not file.is_file():
            continue
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except (SyntaxError, ValueError, OSError) as error:
            line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            return fault(f"{file}{line} cannot be read: {error}", "mend it and look again")
        found |= _names(tree)
        foreign = foreign or _foreign(file, tree)
    if foreign:
        return fault(foreign, "import from devui.runtime instead of google.adk")
    if not found & _EXPORTS and "*" not in found:
        return note(
            f"{folder.name} defines neither `root_agent` nor `app` that can be seen without"
            " running it",
            f"define `root_agent = LlmAgent(...)` in {folder / 'agent.py'}",
        )
    return good(f"{folder.name} looks loadable")


def _names(tree: ast.Module) -> set[str]:
    """Names that the module binds anywhere outside of functions and classes."""
    names: set[str] = set()
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        left.extend(ast.iter_child_nodes(node))
    return names


def _foreign(file: Path, tree: ast.Module) -> str:
    """Where it imports google-adk itself; "" if nowhere."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        named = [alias.name for alias in node.names]
        modules = named if isinstance(node, ast.Import) else [node.module or ""]
        if any(name == _ADK or name.startswith(f"{_ADK}.") for name in modules):
            return f"{file}:{node.lineno} imports google.adk"
    return ""
