"""`devui test`: plays tests that were made of sessions, without a server or a network."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from devui.cli.failures import LEFT, Misused
from devui.cli.following import left
from devui.cli.refreshed import take

_PASSED: Final = 0
_FAILED: Final = 1
_NOT_RUN: Final = 2
_STATUS: Final = {0: _PASSED, 1: _FAILED}
"""By pytest's own; whatever else it says is that the tests could not be run."""
_REFRESH: Final = "DEVUI_REFRESH"
"""The variable that tells `devui.testing` where to put what it records anew."""
_MARK: Final = "devui.testing"
_MOST: Final = 1_000_000

_EXAMPLES = """\b
Examples:
  devui test                      every test of devui below this folder
  devui test tests/test_trip.py   this one
  devui test --junit report.xml   with a report for CI
  devui test --refresh            record anew what is not as recorded any more
  devui test -- -x -k airports    what stands behind -- is for pytest

Ends with 0 when all tests passed, 1 when one failed or could not be recorded anew, 2 when there was
nothing to run or it could not be run, 130 after Ctrl-C.
"""


@click.command("test", epilog=_EXAMPLES, short_help="Play the tests that were made of sessions.")
@click.argument("arguments", metavar="[PATH]... [-- PYTEST_OPTIONS]", nargs=-1)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a report in JUnit's XML.",
)
@click.option("--refresh", is_flag=True, help="Record anew what is not as recorded any more.")
@click.option("--keep-secrets", is_flag=True, help="With --refresh: leave secrets in recordings.")
@click.pass_context
def command(
    ctx: click.Context,
    arguments: tuple[str, ...],
    *,
    junit: Path | None,
    refresh: bool,
    keep_secrets: bool,
) -> None:
    """Run the tests at PATH, or below this folder, with the recorded answers.

    Of folders those files are taken that use `devui.testing`. Connections are refused: no model and
    no tool is called, whatever a test does.

    With --refresh a run that is not as recorded is executed once more, and what it asks that was
    not asked so before is asked for real; then the tests are played on the new recordings.
    """
    paths, options = _split(arguments)
    files = [file for path in paths or [Path()] for file in _tests(path)]
    if not files:
        where = ", ".join(map(str, paths)) or "this folder"
        raise Misused(
            f"there is no test that imports devui.testing in {where}: make one of a session with"
            " `devui make-test SESSION` or *Make test…* on its page, or name the folder that has"
            " some"
        )
    if find_spec("pytest") is None:
        raise Misused(
            f"pytest, which plays the {len(files)} test files here, is not installed beside devui:"
            f" {sys.executable} -m pip install pytest"
        )
    report = [] if junit is None else [f"--junit-xml={junit}"]
    command = [*map(str, files), *report, *options]
    ctx.exit(_refresh(command, keep_secrets=keep_secrets) if refresh else _run(command))


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
    """Whether it imports us; of a file that cannot be parsed, whether it speaks of us."""
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST)
    except OSError:
        return False
    if _MARK not in text:
        return False
    try:
        return any(map(_imports_us, ast.walk(ast.parse(text))))
    except (SyntaxError, ValueError):
        return True


def _imports_us(node: ast.AST) -> bool:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return False
    names = [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{name}" for name in names]
    return any(f"{name}.".startswith(f"{_MARK}.") for name in names)


def _refresh(arguments: list[str], *, keep_secrets: bool) -> int:
    """Run pytest, then write what it has recorded anew and tell about it."""
    with TemporaryDirectory(prefix="devui-refresh-") as folder:
        status = _run(arguments, **{_REFRESH: folder})
        if status == LEFT:
            left("nothing was recorded anew")
            return status
        taken = take(Path(folder), keep_secrets=keep_secrets)
    for each in taken:
        click.echo("\n".join(each.lines))
    if not taken:
        click.echo("all is as recorded: nothing was recorded anew")
    elif status == _FAILED and any(each.is_made for each in taken):
        click.echo("a check that fails on a new recording is yours to edit, in the test")
    return status or (_PASSED if all(each.is_made for each in taken) else _FAILED)


def _run(arguments: list[str], **environment: str) -> int:
    """Run pytest in a process of its own; the status that `devui test` ends with."""
    command = [sys.executable, "-m", "pytest", "-p", "devui.testing.plugin", *arguments]
    env = {**os.environ, **environment}
    try:
        status = subprocess.run(command, check=False, env=env).returncode  # noqa: S603 - pytest, on files that were named
    except KeyboardInterrupt:
        return LEFT
    return _STATUS.get(status, _NOT_RUN)
