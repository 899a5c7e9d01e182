"""Joins a JavaScript module and everything it imports into one file.

Without this, a page would fetch each module separately: forty requests of half a kilobyte. Every
module becomes a function that is called once and returns the module's exports, so its names stay
private; an import becomes a `const` with what was returned. Language features that this doesn't
cover, above all cycles and exported variables, raise an error here instead of breaking in a
browser.
"""

import posixpath
import re
from collections.abc import Mapping
from typing import Final

_IMPORT: Final = re.compile(
    r"^import (?:(?:\* as (?P<whole>\w+)|(?P<names>\{[\w ,]+\})) from )?"
    r'"(?P<path>\.{1,2}/[\w/.-]+)";$',
    re.MULTILINE,
)
_EXPORT: Final = re.compile(
    r"^export (?P<kind>(?:async )?function|const|class) (?P<name>\w+|\{[\w ,]+\})", re.MULTILINE
)
_LEFT: Final = re.compile(r"^\s*(?:import|export)\b(?!\.).*|\bimport\(.*", re.MULTILINE)


class CannotJoin(ValueError):
    """A module uses a feature that joining doesn't support."""


def is_module(text: str) -> bool:
    """Return whether a script imports anything."""
    return _IMPORT.search(text) is not None


def join_modules(entry: str, files: Mapping[str, bytes]) -> str:
    """Return the module at the path `entry` and all its imports as one module without imports.

    Raises:
        KeyError: An imported module isn't in `files`; the key is its path.
        CannotJoin: Modules import each other, or use an unsupported import or export.
    """
    order: dict[str, str] = {}
    _visit(entry, files, order, ())
    return "\n".join(order.values())


def _visit(
    path: str, files: Mapping[str, bytes], order: dict[str, str], above: tuple[str, ...]
) -> None:
    """Add a module to `order` after its imports; `above` is the chain of importing modules."""
    if path in above:
        raise CannotJoin(f"modules import each other: {' → '.join((*above, path))}")
    if path in order:
        return
    text = files[path].decode()
    for match in _IMPORT.finditer(text):
        _visit(_beside(path, match["path"]), files, order, (*above, path))
    order[path] = _as_function(path, text)


def _as_function(path: str, text: str) -> str:
    def constants(match: re.Match[str]) -> str:
        names = match["whole"] or (match["names"] or "").replace(" as ", ": ")
        return f"const {names} = {_name(_beside(path, match['path']))};" if names else ""

    exports = ", ".join(match["name"].strip("{} ") for match in _EXPORT.finditer(text))
    body = _EXPORT.sub(r"\g<kind> \g<name>", _IMPORT.sub(constants, text))
    if leftover := _LEFT.search(body):
        raise CannotJoin(f"{path}: {leftover[0].strip()}")
    return f"const {_name(path)} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"


def _beside(path: str, other: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def _name(path: str) -> str:
    """Return a variable name for the module that none of our modules uses."""
    return "$" + re.sub(r"\W", "_", path)
