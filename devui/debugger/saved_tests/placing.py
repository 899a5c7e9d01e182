"""Where a test lies in a project, and how it is written there."""

import os
from collections.abc import Mapping
from pathlib import Path


class Misplaced(ValueError):
    """What was named is no place for a test."""


class IsThere(Exception):
    """A file is there already, and nobody said that it is to be written over."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


def test_name(file: Path) -> str:
    """The name of a test file, without its ending. Raises Misplaced if pytest would not see it."""
    name = file.stem
    plain = name.isidentifier() and name.isascii()
    if file.suffix != ".py" or not plain or not name.startswith("test_"):
        raise Misplaced(f"name the test file like test_trip.py, not {file.name!r}")
    return name


def place_below(base: Path, file: str, *, agents: Path) -> Path:
    """The file of this name below a folder, wherever links lead, and not among the agents (R33).

    Raises Misplaced.
    """
    path = (base / file).resolve()
    test_name(path)
    if not path.is_relative_to(base.resolve()):
        raise Misplaced(f"{file!r} is outside {base}")
    if path.is_relative_to(agents.resolve()):
        reason = (
            "is in the agents folder, where the server doesn't write; use `devui make-test` instead"
        )
        raise Misplaced(f"{file!r} {reason}")
    return path


def way_to(app: Path, folder: Path, name: str) -> str:
    """From the test's folder to that of the app of this name; of an app elsewhere a likely one."""
    if not app.is_dir():
        return f"../{name}"
    try:
        return Path(os.path.relpath(app.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return app.as_posix()


def write_all(files: Mapping[Path, str], *, overwrite: bool) -> None:
    """Write these texts; make the folders.

    All are written beside their places first, so a full disk changes no file; then they replace
    what is there, one after another. Raises IsThere before anything is written, and OSError.
    """
    there = [path for path in files if path.exists()]
    if there and not overwrite:
        raise IsThere(there[-1])
    parts = {path: path.with_name(f"{path.name}.part") for path in files}
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            parts[path].write_text(text, encoding="utf-8")
        for path, part in parts.items():
            part.replace(path)
    finally:  # also after Ctrl-C
        for part in parts.values():
            part.unlink(missing_ok=True)
