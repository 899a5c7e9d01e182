"""Which changes on the disk make an app's code be read anew."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from watchfiles import Change, DefaultFilter

_MAX_ENTRIES: Final = 2_000
"""Files and folders of an app that are looked at before a run; that takes about 10 ms."""

Version = frozenset[tuple[str, int, int]]
"""The files that an app's behaviour may depend on: path, time of change in ns, size in bytes."""


class AgentFiles(DefaultFilter):
    """What an agent's behaviour may depend on; not data folders, caches or editors' files."""

    endings = (".py", ".yaml", ".yml", ".env", ".json", ".md", ".txt", ".toml")
    marks = ("agent.py", "__init__.py", "root_agent.yaml")

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def __call__(self, change: Change, path: str) -> bool:
        """Whether the change counts."""
        name = Path(path).name
        # Of a folder that gets another name nothing else is told.
        is_app = not name.startswith(".") and (
            Path(path).parent == self._root
            or (change is Change.deleted and not Path(path).suffix)
            or any((Path(path) / mark).is_file() for mark in self.marks)
        )
        counts = is_app or name.endswith(self.endings) or name == ".env"
        return counts and "/.devui/" not in path and super().__call__(change, path)

    def version(self, app: str) -> Version | None:
        """What is on the disk of an app and of what shares its topmost folder.

        None if that is too much to look at, as with a data set in the folder.
        """
        top = self._root / app.split(".", maxsplit=1)[0]
        files: set[tuple[str, int, int]] = set()
        entries = 0
        skipped = {*self._ignore_dirs, ".devui"}
        for folder, subfolders, names in os.walk(top):
            subfolders[:] = [each for each in subfolders if each not in skipped]
            entries += len(subfolders) + len(names)
            if entries > _MAX_ENTRIES:
                return None
            for path in (Path(folder, name) for name in names):
                if self(Change.modified, str(path)):
                    with contextlib.suppress(OSError):  # deleted meanwhile
                        status = path.stat()
                        files.add((str(path), status.st_mtime_ns, status.st_size))
        return frozenset(files)


def touched(batch: set[tuple[Change, str]], root: Path, names: Iterable[str]) -> set[str]:
    """The apps whose folder a change is in, or else all that share its topmost folder.

    `names` are the apps that are known. A change of no app is told of by its topmost folder.
    """
    apps = {name: tuple(name.split(".")) for name in names}
    changed: set[str] = set()
    for path in (Path(path) for _, path in batch if Path(path).is_relative_to(root)):
        parts = path.relative_to(root).parts
        owners = {name for name, own in apps.items() if own == parts[: len(own)]}
        beside = {name for name, own in apps.items() if own[:1] == parts[:1]}
        changed |= owners or beside or set(parts[:1])
    return changed
