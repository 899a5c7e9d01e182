"""The apps: which look as if they would load, and in which interpreter and engine they run."""

import ast
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from devui.cli.doctor.finding import Finding, fault, good, note
from devui.cli.doctor.imports import bound_names, missing_imports
from devui.debugger.apps.adk_files import unread_files, unread_services
from devui.debugger.apps.apps import AppFolder
from devui.debugger.workers.interpreter import ADK, OLDEST_ADK, Interpreter, WrongPython, numbers
from devui.store.app_settings import ALL_ENGINES
from devui.store.sqlite.folder import DATABASE
from devui.store.sqlite.schema import read_only
from devui.wire.engines import EngineChoice

_ADVICE: Final = "or use a Python that has it with --python"


class Ground(NamedTuple):
    """What decides which engine an app gets, beside the app itself."""

    default: EngineChoice
    choices: Mapping[str, EngineChoice]
    """By app: what was chosen on its page."""
    adk: str | None
    """The version of google-adk where agents run; None without."""
    install_adk: str

    def engine(self, app: str, *, imports_adk: bool) -> Finding:
        """Which engine the app would run on."""
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
        return f"{self.install_adk}, {_ADVICE}, or choose the engine devui"


def look_at_workers(interpreter: Interpreter) -> Iterator[Finding]:
    """What there is to say of the interpreter that agents run in."""
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


def ground(interpreter: Interpreter, default: EngineChoice, data: Path) -> Ground:
    """What decides about engines; nothing is known of a Python that does not answer."""
    try:
        adk = interpreter.installed().packages.get(ADK)
    except WrongPython:
        adk = None
    return Ground(default, _choices(data), adk, interpreter.command_for(ADK))


def _choices(data: Path) -> Mapping[str, EngineChoice]:
    """What the journal keeps; empty where there is none, or none of this version."""
    path = data / DATABASE
    # SQLite deletes the log of an empty file, which may be all that is left of a journal.
    if not path.is_file() or path.stat().st_size == 0:
        return {}
    try:
        with closing(read_only(path)) as connection:
            return {app: engine for app, engine, *_ in connection.execute(ALL_ENGINES)}
    except sqlite3.Error:
        return {}


_EXPORTS: Final = frozenset({"root_agent", "app"})
_ADK: Final = "google.adk"
_FOREIGN: Final = frozenset({"site-packages", "__pycache__", "node_modules"})
"""Folders whose files are not the app's own."""


def look_at_apps(agents: Path, ground: Ground) -> Iterator[Finding]:
    """What there is to say of each app, and of folders that are nearly one."""
    apps = AppFolder.at(agents)
    names = apps.names()
    if not names:
        yield note(
            f"there is no app in {str(agents)!r}",
            "an app is a folder with an agent.py; give another folder with --agents",
        )
    for name in names:
        folder = apps.require(name)
        yield from _app(name, folder, ground, apps.path)
        for each in unread_files(folder):
            yield note(f"{folder / each.path} is only partly supported", each.reason)
    for each in apps.left_out():
        yield note(f"{apps.path / each.path} looks like an agent but is not listed", each.reason)
    for each in unread_services(apps.path) if apps.only is None else ():
        yield note(f"{apps.path / each.path} is only partly supported", each.reason)


def _app(name: str, folder: Path, ground: Ground, agents: Path) -> Iterator[Finding]:
    finding, files = _read(name, folder)
    missing = list(missing_imports(files, agents)) if finding is None else []
    for each in missing:
        place = f"{each.file.relative_to(agents)}:{each.line}"
        module = each.module.relative_to(agents)
        yield fault(
            f"{name} cannot be loaded: {place}: {each.statement}: there is no module {module}",
            f"create {module}.py, or correct the import",
        )
    if finding is not None:
        yield finding
    elif not missing:
        yield ground.engine(name, imports_adk=any(map(_imports_adk, _own_files(folder))))


def _read(name: str, folder: Path) -> tuple[Finding | None, list[Path]]:
    """What its first files say against it, and those files that there are."""
    files = [folder / "__init__.py", folder / "agent.py", folder / "agent" / "__init__.py"]
    files = [file for file in files if file.is_file()]
    if not files:
        return good(f"{name} is described in root_agent.yaml"), files
    names: set[str] = set()
    for file in files:
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except (SyntaxError, ValueError, OSError) as error:
            line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            return fault(f"cannot read {file}{line}: {error}", "fix it and check again"), []
        names |= bound_names(tree)
    if not names & _EXPORTS and "*" not in names:
        unnamed = note(
            f"{name} has no `root_agent` or `app` that can be found without running it",
            f"define `root_agent = LlmAgent(...)` in {folder / 'agent.py'}",
        )
        return unnamed, files
    return None, files


def _own_files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*.py"):
        inside = file.relative_to(folder).parts
        if not any(part in _FOREIGN or part.startswith(".") for part in inside):
            yield file


def _imports_adk(file: Path) -> bool:
    """Whether it imports google-adk; False for a file that cannot be read."""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError, OSError):
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
