"""Advice about a failed import, as a sentence that follows Python's own message."""

import ast
import re
import shlex
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from devui.wire.packages import distribution, own_place, owner
from devui.worker.engines.choice import ALIAS, are_aliases_installed

_NAME: Final = re.compile(r"cannot import name '(\w+)' from '[\w.]+'")
_CIRCULAR: Final = "circular import"


def import_advice(error: BaseException, agents: Path, file: str | None, line: str) -> str:
    """Say what to install or change; "" if the error's own message is enough.

    Args:
        error: Any exception.
        agents: The folder of the apps.
        file: The file of the agents' code that contains the import, or led to it.
        line: The source of that line.
    """
    if not isinstance(error, ImportError) or not error.name:
        return ""
    text = str(error)
    if "pip install" in text or _CIRCULAR in text:
        return ""
    if f"{error.name}.".startswith(f"{ALIAS}."):
        return "" if are_aliases_installed() else _of_adk(error.name, _NAME.match(text))
    module = _whole_name(error.name, _NAME.match(text), line)
    spec = _spec(owner(module))
    if module.partition(".")[0] in sys.stdlib_module_names or (spec and spec.origin):
        return ""
    own = own_place(module, Path(file), agents) if file and _is_in(file, agents) else None
    if own is not None or spec:  # without an origin it is a namespace, which could be anyone's
        return own or ""
    package = distribution(module)
    return f"Install it where the agents run: {_command(package)}" if package else ""


def _of_adk(module: str, name: re.Match[str] | None) -> str:
    try:
        has = f"google-adk {version('google-adk')}"
    except PackageNotFoundError:
        return ""
    missing = f"`{name[1]}` in `{module}`" if name else f"module `{module}`"
    return f"{has} has no {missing}. The app may need another version of google-adk."


def _whole_name(module: str, name: re.Match[str] | None, line: str) -> str:
    """Return the full name that was imported; Python names only the outermost missing module."""
    if name is not None:
        return f"{module}.{name[1]}"
    whole = (each for each in _modules(line) if each.startswith(f"{module}."))
    return next(whole, module)


def _modules(line: str) -> Iterator[str]:
    """Yield the modules that one line imports, or may import."""
    try:
        [statement] = ast.parse(line.strip()).body
    except (SyntaxError, ValueError):  # such as an import over several lines
        return
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except (ImportError, ValueError):  # the parent is missing, or isn't a package
        return None


def _is_in(file: str, folder: Path) -> bool:
    return Path(file).is_relative_to(folder) and "/site-packages/" not in file


def _command(package: str) -> str:
    """Return the command that installs it here: environments made by uv have no pip."""
    python = shlex.quote(sys.executable)
    if _spec("pip"):
        return f"`{python} -m pip install {package}`"
    return f"`uv pip install --python {python} {package}`"
