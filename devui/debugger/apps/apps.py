"""Discovers apps: folders, recognized by their files and never by importing them (R22)."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from devui.debugger.apps.root_agent import RootAgent, root_agent, source_problem

_LONGEST: Final = 64
"""The longest name of a folder, in characters."""
_DEPTH: Final = 5
"""How many folders deep an app may be below the agents folder, as in ADK."""
_CACHE: Final = "__pycache__"
_SKIPPED: Final = frozenset({_CACHE, "tmp", "node_modules", "site-packages"})
_MARKS: Final = ("agent.py", "root_agent.yaml")
_PACKAGES: Final = ("agent/__init__.py", "__init__.py")
_NAMES: Final = frozenset({*_MARKS, "__init__.py"})
_APP_NAMES: Final = frozenset({*_MARKS, *(name.partition("/")[0] for name in _PACKAGES)})
"""Of the files and folders in an app, at least one has one of these names."""
_EXPORT: Final = re.compile(rb"^root_agent\s*[:=]", re.MULTILINE)
_REEXPORT: Final = re.compile(rb"\broot_agent\b|^app\s*[:=]|\bimport\b.*\bapp\b", re.MULTILINE)
_MAX_SOURCE = 256_000
"""How many bytes of a module are searched for an agent."""
_MAX_MODULES = 32
"""How many modules of a folder are searched."""
_MAX_README = 64_000
_REMEMBERED = 128
_PLAIN = str.maketrans("", "", "`*")
"""Removes markdown's marks from a sentence."""


class UnknownApp(LookupError):
    """There is no app of this name."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that devui ignores, wholly or in part, with the reason."""

    path: str
    """Its path, relative to the folder that was searched."""
    reason: str
    """Why, and what to do, as one or more sentences."""


@dataclass(frozen=True, slots=True)
class AppSource:
    """What the files of an app say about it."""

    about: str = ""
    """What it does; "" if they don't say."""
    root_agent: RootAgent | None = None
    problem: str = ""
    """Why it won't load, as a sentence; "" if only loading it would tell."""


@dataclass(frozen=True, slots=True)
class AppFolder:
    """The agents folder, by ADK's rules (adk-web 2.2).

    A folder on any of the first levels is an app if it contains `agent.py`, `root_agent.yaml`,
    `agent/__init__.py`, or an `__init__.py` that may export an agent itself. The app in
    `team/alpha` is called `team.alpha`. Everything below an app is its own code. A folder that is
    itself an app stands for that app alone.
    """

    path: Path
    """The folder that contains the apps."""
    only: str | None = None
    """The only app to show, if the user named an app instead of a folder of apps."""
    objects: tuple[str, ...] = ()
    """The apps, if they are objects of a running process instead of folders."""
    has_same_python: bool = True
    """Whether the apps run on the server's own Python."""

    @classmethod
    def at(cls, path: Path) -> "AppFolder":
        """Return the agents folder, or the app, that the user named; it must exist.

        An agents folder may be a package itself: if folders in it contain an `agent.py`, those are
        the apps, unless it has an `agent.py` of its own.
        """
        path = path.resolve()
        if not _name_problem(path.name) and _is_one_app(path):
            return cls(path.parent, only=path.name)
        return cls(path)

    @staticmethod
    def folder_of(path: Path) -> Path:
        """Return the folder of an app, given its `agent.py`, `__init__.py` or `root_agent.yaml`;
        return any other path unchanged."""
        if path.name not in _NAMES or not path.is_file():
            return path
        folder = path.resolve().parent
        is_module = folder.name == "agent" and not any(_is_file(folder / mark) for mark in _MARKS)
        return folder.parent if is_module else folder

    def names(self) -> list[str]:
        """Return the names of the apps that exist now, sorted."""
        if self.objects:
            return sorted(self.objects)
        if self.only is not None:
            return [self.only] if _is_app(self.path / self.only) else []
        return sorted(".".join(parts) for parts in _apps_below(self.path, ()))

    def require(self, name: str) -> Path:
        """Return the folder of an app; raises UnknownApp if there is no such app."""
        if name in self.objects:
            return self.place(name)
        parts = name.split(".")
        is_allowed = not self.objects and self.only in {None, name} and len(parts) <= _DEPTH
        if not is_allowed or any(map(_name_problem, parts)) or not self._reaches(parts):
            where = "this server" if self.objects else "the agents folder"
            raise UnknownApp(f"there is no app {name!r} in {where}")
        return self.place(name)

    def has(self, name: str) -> bool:
        try:
            self.require(name)
        except UnknownApp:
            return False
        return True

    def place(self, name: str) -> Path:
        """Return the folder of an app of this name, whether it exists or not."""
        return self.path.joinpath(*name.split("."))

    def places(self, app: str | None = None) -> list[Path]:
        """Return the folders whose `.env` files an app may load, nearest first; None for all apps.

        These are the app's folder and all above it. The app need not exist.
        """
        if app is not None:
            place = self.place(app)
            return [place, *place.parents]
        beside = (file.parent for file in sorted(self.path.glob("*/.env")))
        every = [*beside, *map(self.place, self.names()), self.path]
        return list(dict.fromkeys(folder for place in every for folder in (place, *place.parents)))

    def _reaches(self, parts: list[str]) -> bool:
        folder = self.path
        for part in parts[:-1]:
            folder = folder / part
            if _skip_reason(folder) or _is_app(folder):
                return False
        return not _skip_reason(folder / parts[-1]) and _is_app(folder / parts[-1])

    def left_out(self) -> list[LeftOut]:
        """Return what looks like an agent but isn't an app, sorted by path."""
        if self.only is not None or self.objects:
            return []
        if any(_is_file(self.path / mark) for mark in _MARKS):
            return [LeftOut(self.path.name, _name_problem(self.path.name))]
        odd = (LeftOut(str(path.relative_to(self.path)), why) for path, why in _odd(self.path))
        return sorted(odd, key=lambda each: each.path)

    def others(self, names: Iterable[str], left_out: Iterable[LeftOut]) -> list[Path]:
        """Return the folders that have nothing to do with agents, sorted.

        These are the ones in the agents folder without the apps `names` and the near misses
        `left_out`. Hidden folders and caches aren't worth a word.
        """
        if self.only is not None or self.objects:
            return []
        used = {name.partition(".")[0] for name in names}
        used.update(Path(each.path).parts[0] for each in left_out)
        return [
            entry
            for entry in _entries(self.path)
            if entry.name not in used
            and entry.name != _CACHE
            and not entry.name.startswith(".")
            and _is_dir(entry)
        ]

    def readme(self, name: str) -> str:
        """Return the app's README, "" without one; the file is reread when it changes."""
        file = self.require(name) / "README.md"
        try:
            stat = file.stat()
            return _readme(file, stat.st_mtime_ns, stat.st_size)
        except OSError:  # missing or unreadable: the page can do without
            return ""

    def source(self, name: str) -> AppSource:
        """Return what the app's files say about it; nothing if it was removed meanwhile.

        `about` is the first paragraph of its README on one line, or else the description of its
        root agent.
        """
        try:
            readme, folder = self.readme(name), self.require(name)
        except UnknownApp:
            return AppSource()
        agent = root_agent(folder)
        about = _first_paragraph(readme) or (agent.description if agent else "")
        return AppSource(about, agent, self._problem(folder))

    def _problem(self, folder: Path) -> str:
        if self.objects:
            return ""
        return source_problem(folder, has_same_python=self.has_same_python)

    def about(self, name: str) -> str:
        """Return what the app does, as in `AppSource`."""
        return _first_paragraph(self.readme(name)) or self.source(name).about


def contents(folder: Path) -> str:
    """Return what a folder without an agent contains, in a few words."""
    entries = _entries(folder)
    if _is_file(folder / "pyvenv.cfg"):
        return "virtual environment"
    if _is_link(folder):
        return "link to another folder"
    if not entries:
        return "empty"
    if any(each.suffix == ".py" for each in entries):
        return "Python files without root_agent"
    return "no agent in its folders" if any(map(_is_dir, entries)) else "no Python files"


def _apps_below(folder: Path, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for entry in _entries(folder):
        if _name_problem(entry.name) or _skip_reason(entry):
            continue
        here = (*parts, entry.name)
        if _is_app(entry):
            yield here
        elif len(here) < _DEPTH:
            yield from _apps_below(entry, here)


def _odd(folder: Path, depth: int = 1) -> Iterator[tuple[Path, str]]:
    """Yield what looks like an agent below the folder but isn't an app, with the reason."""
    for entry in _entries(folder):
        if entry.suffix == ".py" and _is_file(entry):
            if entry.name != "agent.py" and entry.name != "__init__.py" and _defines_agent(entry):
                yield entry, f"Apps are folders. Move this file to {entry.stem}/agent.py."
        elif _is_dir(entry) and (reason := _skip_reason(entry) or _name_problem(entry.name)):
            if any(_is_file(entry / mark) for mark in (*_MARKS, "agent/__init__.py")):
                yield entry, reason
        elif _is_dir(entry) and not _is_app(entry):
            yield from _nearly(entry, depth)


def _nearly(folder: Path, depth: int) -> Iterator[tuple[Path, str]]:
    """Yield what keeps a folder, or something in it, from being an app."""
    if not os.access(folder, os.R_OK | os.X_OK):
        yield folder, "devui can't read this folder. Change its permissions."
    elif _is_file(folder / "root_agent.yml"):
        yield folder, "Rename root_agent.yml to root_agent.yaml."
    elif module := _module_with_agent(folder):
        reason = f"It has no agent.py, but {module.name} defines `root_agent`. Rename {module.name}"
        yield folder, f"{reason} to agent.py, or import `root_agent` in an __init__.py."
    elif depth < _DEPTH:
        yield from _odd(folder, depth + 1)
    elif any(_is_file(entry / "agent.py") for entry in _entries(folder)):
        yield (
            folder,
            f"Apps can be up to {_DEPTH} folders deep. Start devui in this folder instead.",
        )


def _entries(folder: Path) -> list[Path]:
    """Return the entries of a folder, sorted; none if it can't be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _names_in(folder: Path) -> list[str]:
    """Return the names in a folder; none if it can't be read."""
    try:
        return os.listdir(folder)  # noqa: PTH208  a Path for each would take most of the time
    except OSError:
        return []


def _is_file(path: Path) -> bool:
    """Whether it is a file; false if the folder can't be searched, where `Path.is_file` raises."""
    try:
        return path.is_file()
    except OSError:
        return False


def _is_link(path: Path) -> bool:
    """Whether it is a symbolic link; false if the folder can't be searched."""
    try:
        return path.is_symlink()
    except OSError:
        return False


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _name_problem(name: str) -> str:
    """Return why a folder of this name can't be an app; "" if it can."""
    if name in _SKIPPED:
        return f"Folders named {name} are skipped. Give it another name."
    if name.startswith("."):
        return "Hidden folders are skipped. Give it a name without a dot."
    if len(name) > _LONGEST:
        return f"Its name has more than {_LONGEST} characters. Give it a shorter one."
    if name.startswith("-") or not name.replace("-", "_").isidentifier():
        return (
            f"Python can't import a folder with this name. Rename it, for example to {_fit(name)}."
        )
    return ""


def _fit(name: str) -> str:
    """Return a similar name that can be imported."""
    fit = re.sub(r"\W+", "_", name).strip("_") or "agent"
    return fit if fit.isidentifier() else f"agent_{fit}"


def _skip_reason(folder: Path) -> str:
    """Return why this folder is skipped, regardless of its name; "" if it isn't."""
    # Links out of the folder lead to code that the user didn't name, so they aren't followed.
    if _is_link(folder) and Path(os.path.realpath(folder)).parent != folder.parent:
        return "It is a link to another folder. Move the app here, or start devui in that folder."
    if _is_file(folder / "pyvenv.cfg"):
        return "It is a virtual environment."
    return ""


def _module_with_agent(folder: Path) -> Path | None:
    modules = [entry for entry in _entries(folder) if entry.suffix == ".py"]
    return next((each for each in modules[:_MAX_MODULES] if _defines_agent(each)), None)


def _defines_agent(module: Path) -> bool:
    return _EXPORT.search(_source(module)) is not None


def _source(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_SOURCE)
    except OSError:
        return b""


@lru_cache(maxsize=_REMEMBERED)
def _readme(file: Path, changed: int, size: int) -> str:
    """Return the text of the file with this modification time and size, which are cache keys."""
    with file.open(encoding="utf-8", errors="replace") as stream:
        return stream.read(_MAX_README)


@lru_cache(maxsize=_REMEMBERED)
def _first_paragraph(text: str) -> str:
    paragraphs = re.split(r"\n\s*\n", text)
    prose = [p for p in paragraphs if p.strip() and not p.lstrip().startswith(("#", "```", "!"))]
    return " ".join(prose[0].translate(_PLAIN).split()) if prose else ""


def _is_one_app(folder: Path) -> bool:
    if any(_is_file(folder / mark) for mark in _MARKS):
        return True
    return _is_package(folder) and not _holds_apps(folder)


def _is_app(folder: Path) -> bool:
    # Most folders in a large agents folder are none, which one look at their names tells.
    if _APP_NAMES.isdisjoint(_names_in(folder)):
        return False
    if _is_one_app(folder):
        return True
    sources = (_source(folder / mark) for mark in _PACKAGES)
    return _is_dir(folder) and any(_REEXPORT.search(source) for source in sources)


def _is_package(folder: Path) -> bool:
    return any(_is_file(folder / mark) for mark in _PACKAGES)


def _holds_apps(folder: Path) -> bool:
    return any(_is_file(entry / mark) for entry in _entries(folder) for mark in _MARKS)
