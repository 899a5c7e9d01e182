"""Checks which apps look loadable, and in which interpreter and engine they run."""

import ast
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from devui.cli.doctor.finding import Finding, fault, good, note
from devui.cli.doctor.imports import (
    ForeignImport,
    MissingImport,
    bound_names,
    foreign_imports,
    missing_imports,
)
from devui.debugger.apps.adk_files import unread_files, unread_services
from devui.debugger.apps.apps import AppFolder
from devui.interpreter import ADK, OLDEST_ADK, Interpreter, WrongPython, numbers
from devui.store.app_settings import ALL_ENGINES
from devui.store.sqlite.folder import DATABASE
from devui.store.sqlite.schema import read_only
from devui.wire.engines import EngineChoice
from devui.wire.packages import distribution, own_place

_ADVICE: Final = "or use a Python that has it with --python"


class EngineContext(NamedTuple):
    """What determines the engine of an app, apart from the app itself."""

    default: EngineChoice
    choices: Mapping[str, EngineChoice]
    """The engines chosen on the apps' pages, by app."""
    adk: str | None
    """The version of google-adk where agents run, if it is installed."""
    interpreter: Interpreter

    def engine(self, app: str, *, imports_adk: bool) -> Finding:
        """Report which engine the app would run on."""
        choice = self.choices.get(app, self.default)
        source = f" ({'chosen on its page' if app in self.choices else '--engine'}: {choice})"
        source = "" if choice == "auto" else source
        if choice == "google-adk" and self.adk is None:
            return fault(f"{app} cannot run: google-adk is not installed{source}", self._advice())
        if choice == "google-adk" and not imports_adk:
            return note(
                f"{app} may not run on google-adk{source}: it does not import it",
                "choose the engine auto or devui if it imports devui.runtime",
            )
        text = f"{app} looks loadable; engine"
        if imports_adk and choice != "devui" and self.adk is not None:
            return good(f"{text} google-adk {self.adk}{source}")
        why = ": its imports of google.adk resolve to devui.runtime" if imports_adk else ""
        return good(f"{text} devui{source}{why}")

    def _advice(self) -> str:
        return f"{self.interpreter.command_for(ADK)}, {_ADVICE}, or choose the engine devui"


def check_workers(interpreter: Interpreter) -> Iterator[Finding]:
    """Check the interpreter that agents run in."""
    try:
        has = interpreter.check()
    except WrongPython as problem:
        yield fault(str(problem), "then check again")
        return
    yield good(interpreter.summary(has))
    adk = has.packages.get(ADK)
    if adk is None:
        yield note(
            "google-adk is not installed there; apps that import it run on devui.runtime",
            f"{interpreter.command_for(ADK)}, {_ADVICE}, to run them on google-adk itself",
        )
    elif numbers(adk) < numbers(OLDEST_ADK):
        yield note(
            f"google-adk {adk} is older than {OLDEST_ADK}, the oldest that devui supports",
            f"{interpreter.command_for(f'{ADK}>={OLDEST_ADK}')}, or choose the engine devui",
        )


def engine_context(interpreter: Interpreter, default: EngineChoice, data: Path) -> EngineContext:
    """Collect what determines the engines; a Python that doesn't work counts as lacking ADK."""
    try:
        adk = interpreter.installed().packages.get(ADK)
    except WrongPython:
        adk = None
    return EngineContext(default, _choices(data), adk, interpreter)


def _choices(data: Path) -> Mapping[str, EngineChoice]:
    """Return the chosen engines from the journal; empty without a journal of this version."""
    path = data / DATABASE
    # SQLite deletes an empty file's log, which may be all that is left of a journal.
    if not path.is_file() or path.stat().st_size == 0:
        return {}
    try:
        with closing(read_only(path)) as connection:
            return {app: engine for app, engine, *_ in connection.execute(ALL_ENGINES)}
    except sqlite3.Error:
        return {}


_EXPORTS: Final = frozenset({"root_agent", "app"})
_DESCRIPTION: Final = "root_agent.yaml"
_ADK: Final = "google.adk"
_OURS: Final = "devui"
_FOREIGN: Final = frozenset({"site-packages", "__pycache__", "node_modules"})
"""Folders whose files are not the app's own."""


def check_apps(agents: Path, context: EngineContext) -> Iterator[Finding]:
    """Check each app, and report folders that look like one but aren't listed."""
    apps = AppFolder.at(agents)
    names = apps.names()
    if not names:
        yield note(
            f"there is no app in {str(agents)!r}",
            "an app is a folder with an agent.py; give another folder with --agents",
        )
    foreign = {name: foreign_imports(_files(apps.require(name)), apps.path) for name in names}
    modules = {each.module for imports in foreign.values() for each in imports}
    missing = context.interpreter.missing(modules - {_ADK, _OURS})
    for name in names:
        folder = apps.require(name)
        absent = [each for each in foreign[name] if each.module in missing]
        yield from _app(name, folder, absent, context, apps.path)
        for each in unread_files(folder):
            yield note(f"{folder / each.path} is only partly supported", each.reason)
    for each in apps.left_out():
        yield note(f"{apps.path / each.path} looks like an agent but is not listed", each.reason)
    for each in unread_services(apps.path) if apps.only is None else ():
        yield note(f"{apps.path / each.path} is only partly supported", each.reason)


def _files(folder: Path) -> list[Path]:
    """Return the files of an app that are loaded first."""
    files = [folder / "__init__.py", folder / "agent.py", folder / "agent" / "__init__.py"]
    return [file for file in files if file.is_file()]


def _app(
    name: str, folder: Path, absent: list[ForeignImport], context: EngineContext, agents: Path
) -> Iterator[Finding]:
    files = _files(folder)
    try:
        names = {name for file in files for name in bound_names(_parsed(file))}
    except _Unreadable as error:
        yield fault(str(error), "fix it and check again")
        return
    faults = list(_missing(files, absent, context, agents))
    for what, advice in faults:
        yield fault(f"{name} cannot be loaded: {what}", advice)
    if faults:
        return
    if names & {*_EXPORTS, "*"}:
        yield context.engine(name, imports_adk=any(map(_imports_adk, _own_files(folder))))
    elif (folder / _DESCRIPTION).is_file():
        yield good(f"{name} is described in {_DESCRIPTION}")
    else:
        yield note(
            f"{name} has no `root_agent` or `app` that can be found without running it",
            f"define `root_agent = LlmAgent(...)` in {folder / 'agent.py'}",
        )


def _missing(
    files: list[Path], absent: list[ForeignImport], context: EngineContext, agents: Path
) -> Iterator[tuple[str, str]]:
    """Yield what can't be imported, and what to do about it."""
    for each in missing_imports(files, agents):
        module = each.module.relative_to(agents)
        what = f"{_place(each, agents)}: there is no module {module}"
        yield what, f"create {module}.py, or correct the import"
    for one in absent:
        what = f"{_place(one, agents)}: there is no module {one.module} where agents run"
        own = own_place(one.module, one.file, agents)
        package = distribution(one.module)
        install = f"install it with {context.interpreter.command_for(package)}" if package else ""
        yield what, own or install or "install the package that provides it, or correct the import"


def _place(each: MissingImport | ForeignImport, agents: Path) -> str:
    return f"{each.file.relative_to(agents)}:{each.line}: {each.statement}"


class _Unreadable(ValueError):
    """A file of an app that Python can't parse; the message names it."""


def _parsed(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError, OSError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise _Unreadable(f"cannot read {file}{line}: {error}") from error


def _own_files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*.py"):
        inside = file.relative_to(folder).parts
        if not any(part in _FOREIGN or part.startswith(".") for part in inside):
            yield file


def _imports_adk(file: Path) -> bool:
    """Return whether a file imports google-adk; False if it can't be read."""
    try:
        tree = _parsed(file)
    except _Unreadable:
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        if any(name == _ADK or name.startswith(f"{_ADK}.") for name in modules):
            return True
    return False
