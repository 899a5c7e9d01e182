"""Decides which file changes make an app's code reload."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from watchfiles import Change, DefaultFilter

_MAX_ENTRIES: Final = 1_000
"""How many files and folders of an app are checked before a run; it takes a few milliseconds."""
_CODE: Final = (".py", ".yaml", ".yml", ".env")
"""Endings of the files that are checked before a run; an agent may write others in each run."""

Version = frozenset[tuple[str, int, int]]
"""The files of an app's code: path, modification time in ns, size in bytes."""


class AgentFiles(DefaultFilter):
    """A filter for files that agents may depend on; not data folders, caches or editors' files."""

    endings = (".py", ".yaml", ".yml", ".env", ".json", ".md", ".txt", ".toml")
    marks = ("agent.py", "__init__.py", "root_agent.yaml")

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self._ignored = {*self.ignore_dirs, ".devui"}

    def __call__(self, change: Change, path: str) -> bool:
        """Whether the change is relevant."""
        name = Path(path).name
        # If a folder is renamed, nothing but the change of the folder itself is reported.
        is_app = not name.startswith(".") and (
            Path(path).parent == self._root
            or (change is Change.deleted and not Path(path).suffix)
            or any((Path(path) / mark).is_file() for mark in self.marks)
        )
        counts = is_app or name.endswith(self.endings) or name == ".env"
        return counts and "/.devui/" not in path and super().__call__(change, path)

    def version(self, app: str) -> Version | None:
        """Return the version on disk of an app's code and of all that shares its topmost folder.

        None if there are too many files, for example a data set in the folder.
        """
        folders = [str(self._root / app.split(".", maxsplit=1)[0])]
        files: set[tuple[str, int, int]] = set()
        entries = 0
        while folders:
            with contextlib.suppress(OSError), os.scandir(folders.pop()) as here:
                for entry in here:
                    entries += 1
                    if entry.name.endswith(_CODE):
                        with contextlib.suppress(OSError):  # a dangling link, as editors make
                            status = entry.stat()
                            files.add((entry.path, status.st_mtime_ns, status.st_size))
                    elif entry.is_dir(follow_symlinks=False) and entry.name not in self._ignored:
                        folders.append(entry.path)
            if entries > _MAX_ENTRIES:
                return None
        return frozenset(files)


def touched_apps(batch: set[tuple[Change, str]], root: Path, names: Iterable[str]) -> set[str]:
    """Return the apps whose folder contains a change, or else all that share its topmost folder.

    `names` are the known apps. A change outside all apps is reported as its topmost folder.
    """
    apps = {name: tuple(name.split(".")) for name in names}
    changed: set[str] = set()
    for path in (Path(path) for _, path in batch if Path(path).is_relative_to(root)):
        parts = path.relative_to(root).parts
        owners = {name for name, own in apps.items() if own == parts[: len(own)]}
        beside = {name for name, own in apps.items() if own[:1] == parts[:1]}
        changed |= owners or beside or set(parts[:1])
    return changed
