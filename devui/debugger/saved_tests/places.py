"""Chooses and checks the place of a test in a project, and writes its files."""

import os
from collections.abc import Mapping
from pathlib import Path


class InvalidTestPath(ValueError):
    """The given path isn't a place for a test."""


class TestFileExists(Exception):
    """A file already exists, and overwriting it wasn't requested."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


def test_name(file: Path) -> str:
    """Return the name of a test file without `.py`.

    Raises InvalidTestPath if pytest wouldn't find it.
    """
    name = file.stem
    plain = name.isidentifier() and name.isascii()
    if file.suffix != ".py" or not plain or not name.startswith("test_"):
        raise InvalidTestPath(f"name the test file like test_trip.py, not {file.name!r}")
    return name


def place_below(base: Path, file: str, *, agents: Path) -> Path:
    """Return the path of a file below a folder, with links resolved, outside the agents (R33).

    Raises InvalidTestPath.
    """
    path = (base / file).resolve()
    test_name(path)
    if not path.is_relative_to(base.resolve()):
        raise InvalidTestPath(f"{file!r} is outside {base}")
    if path.is_relative_to(agents.resolve()):
        reason = (
            "is in the agents folder, where the server doesn't write; use `devui make-test` instead"
        )
        raise InvalidTestPath(f"{file!r} {reason}")
    return path


def way_to(app: Path, folder: Path, name: str) -> str:
    """Return the path from the test's folder to the app's; a guess if the app's doesn't exist."""
    if not app.is_dir():
        return f"../{name}"
    try:
        return Path(os.path.relpath(app.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return app.as_posix()


def write_all(files: Mapping[Path, str], *, overwrite: bool) -> None:
    """Write these texts, and create their folders.

    All are first written to temporary files beside their targets, so that a full disk changes
    nothing. Then they replace the targets one by one. Raises TestFileExists before writing
    anything, and OSError.
    """
    there = [path for path in files if path.exists()]
    if there and not overwrite:
        raise TestFileExists(there[-1])
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
