"""Finds google-adk's databases and artifact folders at a path."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devui.debugger.adk_imports.artifacts import ArtifactFolder
from devui.debugger.adk_imports.database import Database
from devui.debugger.adk_imports.sources import SessionSource, Unreadable
from devui.debugger.adk_imports.sqlite import SqliteTables, is_sqlite

ADK_FOLDER: Final = ".adk"
"""The folder inside each agent's folder where `adk web` stores sessions and artifacts."""
_FILES: Final = "artifacts"
_ENDINGS: Final = frozenset({".db", ".sqlite", ".sqlite3"})
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})


@dataclass(frozen=True, slots=True)
class Store:
    """Sessions stored in one place, with their artifacts."""

    source: SessionSource
    files: ArtifactFolder | None = None


def stores_at(path: Path, stack: ExitStack, skipped: list[str]) -> list[Store]:
    """Find the stores at a path: a SQLite file, an artifact folder, or a folder that has any.

    What is opened is closed with the stack; skipped files are added to `skipped`, with reasons.
    Raises Unreadable.
    """
    if path.is_file():
        return [_database(path, stack)]
    if _holds_files(path):
        return [_files(path)]
    stores = list(_below(path, stack, skipped))
    if not stores:
        raise Unreadable(
            f"{path}: no google-adk sessions here. `adk web` keeps them in"
            f" AGENT/{ADK_FOLDER}/session.db: name that file, an agent's folder, or the folder of"
            " the agents"
        )
    return stores


def _below(path: Path, stack: ExitStack, skipped: list[str]) -> Iterator[Store]:
    for name, folders, files in os.walk(path):
        folder = Path(name)
        folders[:] = sorted(each for each in folders if _is_looked_into(folder / each))
        databases = sorted(each for each in files if Path(each).suffix in _ENDINGS)
        before = len(skipped)
        stores = [
            store for each in databases if (store := _database_in(folder / each, stack, skipped))
        ]
        yield from stores
        if _FILES in folders and _holds_files(folder / _FILES):
            folders.remove(_FILES)
            if not stores and len(skipped) == before:
                yield _files(folder / _FILES)


def _database_in(file: Path, stack: ExitStack, skipped: list[str]) -> Store | None:
    """Open a file that may be google-adk's database; return None if it isn't."""
    try:
        return _database(file, stack) if is_sqlite(file) else None
    except (OSError, Unreadable) as error:
        skipped.append(str(error))
        return None


def _database(file: Path, stack: ExitStack) -> Store:
    tables = SqliteTables(file)
    stack.callback(tables.close)
    beside = file.parent / _FILES
    return Store(Database(tables), ArtifactFolder(beside) if _holds_files(beside) else None)


def _files(folder: Path) -> Store:
    in_agent = folder.parent.name == ADK_FOLDER
    files = ArtifactFolder(folder, folder.resolve().parent.parent.name if in_agent else None)
    return Store(files, files)


def _holds_files(folder: Path) -> bool:
    """Whether the folder has the layout of a FileArtifactService."""
    users = folder / "users"
    if users.is_dir() and any((each / "sessions").is_dir() for each in users.iterdir()):
        return True
    return any((folder / "apps").glob("**/users")) if (folder / "apps").is_dir() else False


def _is_looked_into(folder: Path) -> bool:
    is_hidden = folder.name.startswith(".") and folder.name != ADK_FOLDER
    if is_hidden or folder.name in _SKIPPED or folder.is_symlink():
        return False
    return not (folder / "pyvenv.cfg").is_file()
