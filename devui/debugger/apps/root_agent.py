"""What the source of an app says about its root agent, without importing it."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

_MODULES: Final = ("agent.py", "__init__.py", "agent/__init__.py")
"""The modules that may define the root agent, in the order in which they are imported."""
_YAML: Final = "root_agent.yaml"
_MAX_SOURCE: Final = 256_000
_MOST_STEPS: Final = 8
"""How many names and imports are followed to a definition."""
_REMEMBERED: Final = 2_000
_ALIASES: Final = {"Agent": "LlmAgent"}
_SCALAR: Final = re.compile(
    r"^(?P<key>\w+)[ \t]*:[ \t]*(?P<value>[^\s#|>&*!\[{].*?)[ \t]*$", re.MULTILINE
)
_LISTS: Final = re.compile(
    r"^(?P<key>tools|sub_agents)[ \t]*:[ \t]*\n(?P<items>(?:[ \t-].*\n?)*)", re.MULTILINE
)
_ITEM: Final = re.compile(r"^[ \t]*-[ \t]", re.MULTILINE)

_MAY_EXPORT: Final = re.compile(
    rb"\b(root_agent|app|__getattr__|__dict__|globals|locals|vars|setattr|exec|eval|modules"
    rb"|import_module|__import__)\b|\bimport\s*\(?\s*\*"
)
"""What a module contains that may bind `root_agent` or `app`, however it does so."""

Definitions = Mapping[str, ast.expr | ast.ImportFrom]
"""The names that a module binds at its top level, with the value or the import that binds them."""


@dataclass(frozen=True, slots=True)
class RootAgent:
    """A root agent, as far as its source tells; what only running it would tell is left out."""

    type: str
    """The class that it is an object of, such as `LlmAgent`."""
    description: str = ""
    model: str = ""
    tools: int = 0
    sub_agents: int = 0


def root_agent(folder: Path) -> RootAgent | None:
    """Return the root agent of the app in this folder; None if its source doesn't tell."""
    for name in _MODULES:
        if (definition := _definition(folder / name, "root_agent")) is not None:
            return definition
    for name in _MODULES:
        if (definition := _definition(folder / name, "app")) is not None:
            return definition
    return _from_yaml(_text(folder / _YAML))


def source_problem(folder: Path, *, has_same_python: bool) -> str:
    """Return why the app in this folder won't load, as a sentence; "" if only importing it would
    tell.

    What is a syntax error depends on the version of Python: those of another one aren't reported.
    """
    checks = {name: _check(folder / name) for name in _MODULES if (folder / name).is_file()}
    for name, check in checks.items():
        if check.error_line is not None:
            return f"Syntax error in {name}, line {check.error_line}." if has_same_python else ""
    is_described = (folder / _YAML).is_file()
    if not checks or is_described or any(check.may_export for check in checks.values()):
        return ""
    return f"{next(iter(checks))} has no root_agent."


class _Check(NamedTuple):
    """What is certain about a module."""

    error_line: int | None = None
    """The line of its syntax error; None without one."""
    may_export: bool = True
    """Whether it may bind `root_agent` or `app`."""


def _check(file: Path) -> _Check:
    try:
        status = file.stat()
        return _checked(file, status.st_mtime_ns, status.st_size)
    except OSError:
        return _Check()


@lru_cache(maxsize=_REMEMBERED)
def _checked(file: Path, changed: int, size: int) -> _Check:
    """Check the module of this modification time and size, which are cache keys."""
    if size > _MAX_SOURCE:
        return _Check()
    source = file.read_bytes()
    try:
        with warnings.catch_warnings(action="ignore"):  # the app's process prints them
            ast.parse(source)
    except SyntaxError as error:
        return _Check(error_line=error.lineno)
    except (ValueError, RecursionError, MemoryError):
        return _Check()
    return _Check(may_export=_MAY_EXPORT.search(source) is not None)


def _definition(file: Path, name: str) -> RootAgent | None:
    """Return the agent that a module binds to a name, following the app's own imports."""
    for _ in range(_MOST_STEPS):
        names = _names(file)
        match names.get(name):
            case ast.Name(id=name):
                pass
            case ast.Call() as call:
                match _argument(call, "root_agent"):
                    case None:
                        return _agent(call, names)
                    case ast.Call() as inner:
                        return _agent(inner, names)
                    case ast.Name(id=name):
                        pass
                    case _:
                        return None
            case ast.ImportFrom() as node if (module := _module(file, node)) is not None:
                file = module
                name = next(each.name for each in node.names if name == (each.asname or each.name))
            case _:
                return None
    return None


def _module(file: Path, node: ast.ImportFrom) -> Path | None:
    """Return the file of a relative import; None if it isn't one, or there is no such file."""
    if not node.level or not node.module or node.level > len(file.parents):
        return None
    place = file.parents[node.level - 1].joinpath(*node.module.split("."))
    candidates = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return next((each for each in candidates if each.is_file()), None)


def _agent(call: ast.Call, names: Definitions) -> RootAgent | None:
    match call.func:
        case ast.Name(id=type_) | ast.Attribute(attr=type_):
            pass
        case _:
            return None
    if not type_[:1].isupper():  # a function, which may return anything
        return None
    return RootAgent(
        type=_ALIASES.get(type_, type_),
        description=" ".join(_string(call, "description", names).split()),
        model=_model(call, names),
        tools=_count(call, "tools", names),
        sub_agents=_count(call, "sub_agents", names),
    )


def _model(call: ast.Call, names: Definitions) -> str:
    """Return the model's name, also that of a model object such as `LiteLlm(model="…")`."""
    value = _resolved(names, _argument(call, "model"))
    return _string(value if isinstance(value, ast.Call) else call, "model", names)


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _string(call: ast.Call, argument: str, names: Definitions) -> str:
    match _resolved(names, _argument(call, argument)):
        case ast.Constant(value=str(text)):
            return text
    return ""


def _count(call: ast.Call, argument: str, names: Definitions) -> int:
    match _resolved(names, _argument(call, argument)):
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return 0 if any(isinstance(each, ast.Starred) for each in items) else len(items)
    return 0


def _resolved(names: Definitions, value: ast.expr | None) -> ast.expr | ast.ImportFrom | None:
    """Return the value that a name stands for in its module."""
    resolved: ast.expr | ast.ImportFrom | None = value
    for _ in range(_MOST_STEPS):
        if not isinstance(resolved, ast.Name):
            return resolved
        resolved = names.get(resolved.id)
    return None


def _names(file: Path) -> Definitions:
    try:
        status = file.stat()
        return _parsed(file, status.st_mtime_ns, status.st_size)
    except OSError:
        return {}


@lru_cache(maxsize=_REMEMBERED)
def _parsed(file: Path, changed: int, size: int) -> Definitions:
    """Return what the module of this modification time and size binds; the times are cache keys."""
    try:
        with warnings.catch_warnings(action="ignore"):  # the app's process prints them
            tree = ast.parse(_text(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return dict(_bindings(tree.body))


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr | ast.ImportFrom]]:
    for node in body:
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((each.id, value) for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.ImportFrom():
                yield from ((each.asname or each.name, node) for each in node.names)


def _from_yaml(text: str) -> RootAgent | None:
    """Return the agent that a `root_agent.yaml` describes; reads only what stands on one line."""
    scalars = {each["key"]: each["value"].strip("\"'") for each in _SCALAR.finditer(text)}
    counts = {each["key"]: _items(each["items"]) for each in _LISTS.finditer(text)}
    if "name" not in scalars:
        return None
    return RootAgent(
        type=scalars.get("agent_class", "LlmAgent").rpartition(".")[2],
        description=scalars.get("description", ""),
        model=scalars.get("model", ""),
        tools=counts.get("tools", 0),
        sub_agents=counts.get("sub_agents", 0),
    )


def _items(text: str) -> int:
    """Count the items of a list, but not those of lists in them."""
    dashes = _ITEM.findall(text)
    return sum(len(each) == len(min(dashes, key=len)) for each in dashes)


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_MAX_SOURCE)
    except OSError:
        return ""
