"""JavaScript modules as one file: a module behind everything that it imports.

A page would else fetch each module by itself, forty requests of half a kilobyte. Every module
becomes a function that is called once and returns what the module exports, so that names stay its
own; an import is a `const` of what was returned. What this leaves out of the language, cycles and
exported variables above all, is refused and not passed on to break in a browser.
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
    """A module uses what joining does not know."""


def is_module(text: str) -> bool:
    """Whether a script imports anything."""
    return _IMPORT.search(text) is not None


def join_modules(entry: str, files: Mapping[str, bytes]) -> str:
    """The module at the path `entry` as one module that imports nothing.

    Raises:
        KeyError: a module that is imported is none of the files; its path.
        CannotJoin: modules import each other, or use a form of import or export that is not known.
    """
    order: dict[str, str] = {}
    _visit(entry, files, order, ())
    return "\n".join(order.values())


def _visit(
    path: str, files: Mapping[str, bytes], order: dict[str, str], above: tuple[str, ...]
) -> None:
    """Put a module behind those that it imports; `above` are those on the way to it."""
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
    """A name that no module of ours uses itself."""
    return "$" + re.sub(r"\W", "_", path)
