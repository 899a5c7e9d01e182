"""What `pytest --fast` runs: the tests that what is changed here can have broken, without the rest.

Changed is what differs from the commit where the branch left `main`, files new to git included.
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
"""The folders of quick tests that a package of devui concerns: its own, and who stands on it."""

SMOKE = ("tests/api/test_run.py",)
"""A whole run through the real server, for any change of devui."""

PAGE_SMOKE = ("tests/browser/test_conversation.py",)
"""A conversation in a browser, for any change of what pages are made of."""

LEFT_OUT = ("slow", "browser", "differential")
"""Marks of tests that run only if their file is changed or named for what is."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The files of tests that changed paths call for."""

    folders: frozenset[str]
    """Names of folders below tests/ whose quick tests run."""
    names: frozenset[str]
    """Names of features and modules: the test files called so run."""
    files: frozenset[str]
    """Paths of test files that run whatever their name is."""

    def has_file(self, path: str) -> bool:
        """Whether a test file runs, whole or but for its slow tests."""
        parts = PurePosixPath(path).parts
        return len(parts) == 2 or parts[1] in self.folders or self.wants_all_of(path)

    def wants_all_of(self, path: str) -> bool:
        """Whether the slow tests of a file run, too."""
        return path in self.files or _singular(PurePosixPath(path).stem) in self.names


def selection(changed: list[str] | None) -> Selection:
    """What paths relative to the project call for; None where nobody can tell what is changed."""
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
    """What test files of a changed module, or of the feature whose folder it is in, are called."""
    return {f"test_{_singular(part)}" for part in (*path.parts[1:-1], path.stem)}


def _singular(name: str) -> str:
    return name.removesuffix("s")


def changed_paths(root: Path = ROOT) -> list[str] | None:
    """What git says is changed, relative to the project; None without git."""
    base = _git(root, "merge-base", "HEAD", "main") or ["HEAD"]
    changed = _git(root, "diff", "--name-only", base[0])
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return None if changed is None or new is None else changed + new


def _git(root: Path, *arguments: str) -> list[str] | None:
    """The lines of an answer; None if there is no git, or it has none."""
    try:
        done = subprocess.run(
            ["git", "-C", root, *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None
