"""Selects what `pytest --fast` runs: the tests that the current changes may break.

A change is any difference from the commit where the branch left `main`, including files new to git.
Without git, everything counts as changed.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tests.source import ROOT

NEIGHBOURS = {
    "wire": ("wire", "worker"),
    "store": ("store", "debugger"),
    "debugger": ("debugger", "web"),
    "runtime": ("runtime", "worker"),
    "worker": ("worker", "wire"),
    "web": ("web",),
}
"""The folders whose quick tests cover a package of devui: its own, and those built on it."""

SMOKE = ("tests/api/test_run.py",)
"""A whole run through the real server, for any change in devui."""

PAGE_SMOKE = ("tests/browser/test_conversation.py",)
"""A conversation in a browser, for any change of templates or static files."""

LEFT_OUT = ("slow", "browser", "differential")
"""Marks of tests that run only if their file has changed or is named after what has changed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The test files that changed paths call for."""

    folders: frozenset[str]
    """The folders below tests/ whose quick tests run."""
    names: frozenset[str]
    """The stems, in the singular, of test files named after changed features and modules."""
    files: frozenset[str]
    """The paths of test files that run whatever their names."""

    def has_file(self, path: str) -> bool:
        """Return whether a test file runs, with or without its slow tests."""
        parts = PurePosixPath(path).parts
        return len(parts) == 2 or parts[1] in self.folders or self.wants_all_of(path)

    def wants_all_of(self, path: str) -> bool:
        """Return whether the slow tests of a file run, too."""
        return path in self.files or _singular(PurePosixPath(path).stem) in self.names


def selection(changed: list[str] | None) -> Selection:
    """Return the tests for paths relative to the project; None if the changes are unknown."""
    if changed is None:
        every = {name for names in NEIGHBOURS.values() for name in names}
        return Selection(frozenset(every), frozenset(), frozenset(SMOKE))
    folders, names, files = set[str](), set[str](), set[str]()
    for path in map(PurePosixPath, changed):
        match path.parts:
            case ("tests", *_):
                files.add(str(path))
            case ("devui", package, *_):
                files.update(SMOKE)
                folders.update(NEIGHBOURS.get(package, ()))
                names.update(_test_names(path))
            case ("templates" | "static", *_):
                files.update(PAGE_SMOKE)
                folders.add("web")
                names.update(_test_names(path))
    return Selection(frozenset(folders), frozenset(names), frozenset(files))


def _test_names(path: PurePosixPath) -> set[str]:
    """Return the stems of test files for a changed module and for the features of its folders."""
    return {f"test_{_singular(part)}" for part in (*path.parts[1:-1], path.stem)}


def _singular(name: str) -> str:
    return name.removesuffix("s")


def changed_paths(root: Path = ROOT) -> list[str] | None:
    """Return the changed paths according to git, relative to the project; None without git."""
    base = _git(root, "merge-base", "HEAD", "main") or ["HEAD"]
    changed = _git(root, "diff", "--name-only", base[0])
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return None if changed is None or new is None else changed + new


def _git(root: Path, *arguments: str) -> list[str] | None:
    """Return the lines of git's output; None without git, or if git fails."""
    try:
        done = subprocess.run(
            ["git", "-C", root, *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None
