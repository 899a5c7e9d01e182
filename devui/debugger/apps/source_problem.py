"""What is certainly wrong with the source of an app, without importing it."""

import ast
import re
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

_MODULES: Final = ("__init__.py", "agent.py", "agent/__init__.py")
"""The modules that may export an agent, in the order in which they are imported."""
_MAX_SOURCE: Final = 256_000
_REMEMBERED: Final = 2_000
_MAY_EXPORT: Final = re.compile(
    rb"\b(root_agent|app|__getattr__|__dict__|globals|locals|vars|setattr|exec|eval|modules"
    rb"|import_module|__import__)\b|\bimport\s*\(?\s*\*"
)
"""What a module contains that may bind `root_agent` or `app`, however it does so."""


class _Module(NamedTuple):
    error_line: int | None
    """The line of its syntax error; None without one."""
    may_export: bool


_UNKNOWN: Final = _Module(None, may_export=True)


def source_problem(folder: Path, *, has_same_python: bool) -> str:
    """Return why the app in this folder won't load, as a sentence; "" if only importing it would
    tell.

    What is a syntax error depends on the version of Python: those of another one aren't reported.
    """
    modules = {name: _module(folder / name) for name in _MODULES if (folder / name).is_file()}
    for name, module in modules.items():
        if module.error_line is not None:
            return f"Syntax error in {name}, line {module.error_line}." if has_same_python else ""
    is_described = (folder / "root_agent.yaml").is_file()
    if not modules or is_described or any(each.may_export for each in modules.values()):
        return ""
    *_, last = modules
    return f"{last} has no root_agent."


def _module(file: Path) -> _Module:
    try:
        status = file.stat()
        return _parsed(file, status.st_mtime_ns, status.st_size)
    except OSError:
        return _UNKNOWN


@lru_cache(maxsize=_REMEMBERED)
def _parsed(file: Path, changed: int, size: int) -> _Module:
    """Examine the module of this modification time and size, which are cache keys."""
    if size > _MAX_SOURCE:
        return _UNKNOWN
    source = file.read_bytes()
    try:
        with warnings.catch_warnings(action="ignore"):  # the app's process prints them
            ast.parse(source)
    except SyntaxError as error:
        return _Module(error.lineno, may_export=True)
    except (ValueError, RecursionError, MemoryError):
        return _UNKNOWN
    return _Module(None, may_export=_MAY_EXPORT.search(source) is not None)
