"""Which apps there are: folders, found by looking and never by importing (R22)."""

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_SKIPPED = {"__pycache__", "tmp"}
_MAX_README = 64_000
_REMEMBERED = 128
_PLAIN = str.maketrans("", "", "`*")
"""Takes markdown's marks out of a sentence."""


class UnknownApp(LookupError):
    """No folder of this name holds an agent."""


@dataclass(frozen=True, slots=True)
class AppFolder:
    """The folder of the apps, by ADK's rules (adk-web 2.2).

    A sub-folder counts when it holds `agent.py`, `agent/__init__.py`, or an `__init__.py` that may
    export an agent itself. A folder that is itself an app stands for just that app.
    """

    path: Path
    """The folder the apps lie in."""
    only: str | None = None
    """The one app to show, when the user pointed at an app instead of a folder of apps."""

    @classmethod
    def at(cls, path: Path) -> "AppFolder":
        """Look at what the user pointed at; the folder has to exist.

        A folder of apps may be a package itself: where folders in it hold an `agent.py`, those are
        the apps, unless it has an `agent.py` of its own.
        """
        path = path.resolve()
        if _NAME.fullmatch(path.name) and _is_one_app(path):
            return cls(path.parent, only=path.name)
        return cls(path)

    def names(self) -> list[str]:
        """The apps, sorted by name, as the disk is now."""
        if self.only is not None:
            return [self.only] if _is_app(self.path / self.only) else []
        if not self.path.is_dir():
            return []
        return sorted(entry.name for entry in self.path.iterdir() if self._counts(entry))

    def require(self, name: str) -> Path:
        """The folder of an app by name; raises UnknownApp for any name that was not discovered."""
        known = self.only in {None, name} and _NAME.fullmatch(name) is not None
        if not known or not self._counts(self.path / name):
            raise UnknownApp(f"there is no app {name!r} in the agents folder")
        return self.path / name

    def readme(self, name: str) -> str:
        """The app's README, or an empty text; read anew when the file has changed."""
        file = self.require(name) / "README.md"
        try:
            known = file.stat()
            return _readme(file, known.st_mtime_ns, known.st_size)
        except OSError:  # there is none, or it is not ours to read: a page can do without
            return ""

    def about(self, name: str) -> str:
        """The first paragraph of the app's README, in one line; empty without one."""
        return _first_paragraph(self.readme(name))

    def _counts(self, entry: Path) -> bool:
        if not _NAME.fullmatch(entry.name) or entry.name in _SKIPPED:
            return False
        # A link out of the folder leads to code the user did not point at; it is not followed.
        where = Path(os.path.realpath(entry))
        return where.parent == self.path and where.is_dir() and _is_app(where)


@lru_cache(maxsize=_REMEMBERED)
def _readme(file: Path, changed: int, size: int) -> str:
    """The text of the file as it was when it had this time and size."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(_MAX_README)


@lru_cache(maxsize=_REMEMBERED)
def _first_paragraph(text: str) -> str:
    paragraphs = re.split(r"\n\s*\n", text)
    told = [p for p in paragraphs if p.strip() and not p.lstrip().startswith(("#", "```", "!"))]
    return " ".join(told[0].translate(_PLAIN).split()) if told else ""


def _is_one_app(folder: Path) -> bool:
    if (folder / "agent.py").is_file():
        return True
    holds_apps = any((entry / "agent.py").is_file() for entry in folder.iterdir())
    return _is_app(folder) and not holds_apps


def _is_app(folder: Path) -> bool:
    marks = ("agent.py", "agent/__init__.py", "__init__.py")
    return any((folder / mark).is_file() for mark in marks)
