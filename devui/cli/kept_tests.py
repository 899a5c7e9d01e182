"""`devui test`: plays tests that were made of sessions, without a server or a network."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from devui.cli.failures import LEFT, Misused

_PASSED: Final = 0
_FAILED: Final = 1
_NOT_RUN: Final = 2
_STATUS: Final = {0: _PASSED, 1: _FAILED}
"""By pytest's own; whatever else it says is that the tests could not be run."""
_MARK: Final = b"devui.testing"
_MOST: Final = 1_000_000

_EXAMPLES = """\b
Examples:
  devui test                      every test of devui below this folder
  devui test tests/test_trip.py   this one
  devui test --junit report.xml   with a report for CI
  devui test -- -x -k airports    what stands behind -- is for pytest

Ends with 0 when all tests passed, 1 when one failed, 2 when there was nothing to run or it could
not be run, 130 after Ctrl-C.
"""


@click.command("test", epilog=_EXAMPLES, short_help="Play the tests that were made of sessions.")
@click.argument("arguments", metavar="[PATH]... [-- PYTEST_OPTIONS]", nargs=-1)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a report in JUnit's XML.",
)
@click.pass_context
def command(ctx: click.Context, arguments: tuple[str, ...], junit: Path | None) -> None:
    """Run the tests at PATH, or below this folder, with the recorded answers.

    Of folders those files are taken that use `devui.testing`. Connections are refused: no model and
    no tool is called, whatever a test does.
    """
    paths, options = _split(arguments)
    files = [file for path in paths or [Path()] for file in _tests(path)]
    if not files:
        where = ", ".join(map(str, paths)) or "this folder"
        raise Misused(
            f"there is no test that uses devui.testing in {where}; make one with"
            " `devui make-test SESSION`"
        )
    if find_spec("pytest") is None:
        raise Misused("pytest is not installed beside devui: `pip install pytest`")
    report = [] if junit is None else [f"--junit-xml={junit}"]
    ctx.exit(_run([*map(str, files), *report, *options]))


def _split(arguments: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Paths, then what begins with the first option of pytest."""
    place = next((n for n, each in enumerate(arguments) if each.startswith("-")), len(arguments))
    return [Path(each) for each in arguments[:place]], list(arguments[place:])


def _tests(path: Path) -> Iterator[Path]:
    """A file as it is; of a folder the test files that use us. Raises Misused."""
    if path.is_file():
        yield path
    elif not path.is_dir():
        raise Misused(f"there is no file or folder {str(path)!r}")
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if _is_searched(Path(folder, name)))
        for name in sorted(files):
            file = Path(folder, name)
            if name.startswith("test_") and name.endswith(".py") and _uses_us(file):
                yield file


def _is_searched(folder: Path) -> bool:
    hidden = folder.name.startswith((".", "__")) or folder.name == "node_modules"
    return not hidden and not (folder / "pyvenv.cfg").is_file()


def _uses_us(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return _MARK in opened.read(_MOST)
    except OSError:
        return False


def _run(arguments: list[str]) -> int:
    """Run pytest in a process of its own; the status that `devui test` ends with."""
    command = [sys.executable, "-m", "pytest", "-p", "devui.testing.plugin", *arguments]
    try:
        status = subprocess.run(command, check=False).returncode  # noqa: S603 - pytest, on files that were named
    except KeyboardInterrupt:
        return LEFT
    return _STATUS.get(status, _NOT_RUN)
