"""`devui test`: runs tests that were made from sessions, without a server or network."""

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TextIO

import click

from devui.cli.follow import say_after_interrupt
from devui.cli.options import json_option, json_text, python_option
from devui.cli.output import plain, times
from devui.debugger.saved_tests.cleaning import cleaned, file_text
from devui.debugger.saved_tests.places import TestFileExists, write_all
from devui.debugger.secrets.redaction import NOTHING, Redactor
from devui.debugger.secrets.values import secrets_of
from devui.failures import LEFT, BadRequestError, DevuiError
from devui.interpreter import WORKER_PYTHON, Interpreter, WrongPython
from devui.wire.framing import codecs
from devui.wire.outcomes import agents_in_turn, final_state, last_text, tool_calls
from devui.wire.recordings import Recording


def write_files(files: Mapping[Path, str], *, force: bool) -> None:
    """Write the files. Without `force`, raise BadRequestError instead of overwriting any.

    Raises DevuiError if writing fails.
    """
    try:
        write_all(files, overwrite=force)
    except TestFileExists as there:
        raise BadRequestError(
            f"{str(there.path)!r} already exists; use --force to overwrite it"
        ) from there
    except OSError as error:
        raise DevuiError(f"cannot write the files: {error}") from error


_SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class ChangedRecording:
    """A recording that a run differed from."""

    file: Path
    lines: list[str]
    """What was done with it, in words."""
    is_made: bool
    """Whether it was recorded again; otherwise, its file is unchanged."""


def take(folder: Path, *, keep_secrets: bool) -> list[ChangedRecording]:
    """Replace the old recordings with the new ones in the folder, with secrets redacted.

    Raises DevuiError if a file can't be written.
    """
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*.json")]
    reports.sort(key=lambda each: str(each["recording"]))
    return [_save_recording(each, keep_secrets=keep_secrets) for each in reports]


def _save_recording(report: dict[str, Any], *, keep_secrets: bool) -> ChangedRecording:
    file = Path(report["recording"])
    because = f"  reason: {plain(report['because'])}"
    if report["problem"] is not None:
        lines = [f"{_short(file)}: not changed", because, f"  {plain(report['problem'])}"]
        return ChangedRecording(file, lines, is_made=False)
    app = Path(report["agent"]) if report["agent"] else file.parent
    redactor = NOTHING if keep_secrets else Redactor(secrets_of((app, *app.resolve().parents)))
    redacted: Counter[str] = Counter()

    def tally(kind: str, _: str) -> None:
        redacted[kind] += 1

    old = _recording(file.read_bytes())
    new = cleaned(_recording(report["made"].encode()), redactor, tally)
    write_files({file: file_text(new)}, force=True)
    lines = [
        f"{_short(file)}: recorded again",
        because,
        *_live(report["live"]),
        *_changes(old, new),
    ]
    lines += [f"  left out: {kind}, {times(count)}" for kind, count in sorted(redacted.items())]
    return ChangedRecording(file, lines, is_made=True)


def _recording(data: bytes) -> Recording:
    recording: Recording = codecs().RECORDING.load(data)
    return recording


def _short(file: Path) -> Path:
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file


def _live(calls: list[str]) -> Iterator[str]:
    texts = [plain(f"{c}, {times(n)}" if n > 1 else c) for c, n in Counter(calls).items()]
    yield f"  live calls: {'; '.join(texts) or 'none, all answers were recorded'}"


def _changes(old: Recording, new: Recording) -> Iterator[str]:
    before, after = _outcome(old), _outcome(new)
    changes = [
        f"  {plain(name)}: {_value(before.get(name))} → {_value(after.get(name))}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    yield from changes or ["  same outcome: agents, tools, text and state"]


def _outcome(recording: Recording) -> dict[str, Any]:
    events = recording.events
    tools = [
        f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in args.items())})"
        for name, args in tool_calls(events)
    ]
    return {
        "error": recording.error or "no error",
        "agents": agents_in_turn(events),
        "tools": tools,
        "last text": last_text(events),
        **{f"state {key}": value for key, value in final_state(events).items()},
    }


def _value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        text = ", ".join(value) or "none"
    else:
        text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return plain(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")


_PASSED: Final = 0
_FAILED: Final = 1
_NOT_RUN: Final = 2
_STATUS: Final = {0: _PASSED, 1: _FAILED}
"""Our exit status by pytest's. Any other status means that the tests couldn't be run."""
_REFRESH: Final = "DEVUI_REFRESH"
"""The variable that tells `devui.testing` where to put new recordings."""
_REPORT: Final = "DEVUI_TEST_REPORT"
"""The variable that names the file where `devui.testing.plugin` writes a line for each test."""
_MARK: Final = "devui.testing"
_MOST: Final = 1_000_000

_EXAMPLES = """\b
Examples:
  devui test                      run all tests made from sessions below this folder
  devui test tests/test_trip.py   run one file
  devui test --junit report.xml   write a report for CI
  devui test --refresh            update the recordings of changed runs
  devui test --python .venv       run the agents in their own environment
  devui test -- -x -k airports    pass options to pytest

Exit status: 0 if all tests passed, 1 if one failed or could not be recorded again, 2 if there was
nothing to run or the tests could not be run, 130 after Ctrl-C.
"""


@click.command("test", epilog=_EXAMPLES, short_help="Run the tests made from sessions.")
@click.argument("arguments", metavar="[PATH]... [-- PYTEST_OPTIONS]", nargs=-1)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a report in JUnit XML.",
)
@click.option("--refresh", is_flag=True, help="Update the recordings of runs that changed.")
@click.option("--keep-secrets", is_flag=True, help="Leave secrets in new recordings.")
@python_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    arguments: tuple[str, ...],
    *,
    junit: Path | None,
    refresh: bool,
    keep_secrets: bool,
    python: Path | None,
    as_json: bool,
) -> None:
    """Run the tests at PATH, or below this folder, with the recorded answers.

    In folders, every file that imports `devui.testing` is run. Network connections are refused, so
    no model or tool is ever called.

    With --refresh, a run that differs from its recording is executed again: calls that have no
    recorded answer are made for real. The tests then run on the new recordings.
    """
    paths, options = _split(arguments)
    files = [file for path in paths or [Path()] for file in _tests(path)]
    if not files:
        where = ", ".join(map(str, paths)) or "this folder"
        raise BadRequestError(
            f"no test in {where} imports devui.testing. Make one from a session with"
            " `devui make-test SESSION` or *Make test…* on its page, or name the folder that has"
            " some"
        )
    if find_spec("pytest") is None:
        raise BadRequestError(
            f"pytest, which runs the {len(files)} test files here, is not installed with devui."
            f" Install it with `{sys.executable} -m pip install pytest`"
        )
    report = [] if junit is None else [f"--junit-xml={junit}"]
    command = [*map(str, files), *report, *options]
    run = Pytest(arguments=command, variables=_variables(python), as_json=as_json)
    ctx.exit(_refresh(run, keep_secrets=keep_secrets) if refresh else run())


def _variables(python: Path | None) -> dict[str, str]:
    """Return the environment of the tests, with the agents' Python. Raises BadRequestError."""
    if python is None:
        return dict(os.environ)
    try:
        interpreter = Interpreter.at(python)
        if not interpreter.own:
            interpreter.check()
    except WrongPython as error:
        raise BadRequestError(str(error)) from error
    return {**os.environ, WORKER_PYTHON: str(interpreter.path)}


def _split(arguments: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Split the arguments into paths and pytest's options, which start at the first dash."""
    place = next((n for n, each in enumerate(arguments) if each.startswith("-")), len(arguments))
    return [Path(each) for each in arguments[:place]], list(arguments[place:])


def _tests(path: Path) -> Iterator[Path]:
    """Yield the path if it's a file, or else the tests below it that import `devui.testing`.

    Raises BadRequestError if there is no such file or folder.
    """
    if path.is_file():
        yield path
    elif not path.is_dir():
        raise BadRequestError(f"there is no file or folder {str(path)!r}")
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if _is_searched(Path(folder, name)))
        for name in sorted(files):
            file = Path(folder, name)
            if name.startswith("test_") and name.endswith(".py") and _uses_us(file):
                yield file


def _is_searched(folder: Path) -> bool:
    is_hidden = folder.name.startswith((".", "__")) or folder.name == "node_modules"
    return not is_hidden and not (folder / "pyvenv.cfg").is_file()


def _uses_us(file: Path) -> bool:
    """Return whether a file imports us, or, if it can't be parsed, mentions us."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            text = stream.read(_MOST)
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


def _refresh(run: "Pytest", *, keep_secrets: bool) -> int:
    """Run pytest, then save and report the new recordings."""
    with TemporaryDirectory(prefix="devui-refresh-") as folder:
        status = run(**{_REFRESH: folder})
        if status == LEFT:
            say_after_interrupt("nothing was recorded again")
            return status
        results = take(Path(folder), keep_secrets=keep_secrets)
    if run.as_json:
        for each in results:
            click.echo(json_text({"recording": str(each.file), "refreshed": each.is_made}))
        return _after(status, results)
    for each in results:
        click.echo("\n".join(each.lines))
    if not results:
        click.echo("all runs match their recordings; nothing was recorded again")
    elif status == _FAILED and any(each.is_made for each in results):
        click.echo("if a check fails on a new recording, edit it in the test")
    return _after(status, results)


def _after(status: int, results: list[ChangedRecording]) -> int:
    """Return the exit status, from that of the tests and the results of recording again."""
    return status or (_PASSED if all(each.is_made for each in results) else _FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pytest:
    """Runs pytest in a separate process."""

    arguments: list[str]
    variables: Mapping[str, str]
    as_json: bool
    """Whether to print a line of JSON per test, and pytest's output to standard error."""

    def __call__(self, **environment: str) -> int:
        """Run pytest with more environment variables; return the exit status of `devui test`."""
        if not self.as_json:
            return self._status(environment, None)
        with TemporaryDirectory(prefix="devui-test-") as folder:
            report = Path(folder, "report")
            status = self._status({**environment, _REPORT: str(report)}, sys.stderr)
            if report.exists():
                click.echo(report.read_text(encoding="utf-8"), nl=False)
            return status

    def _status(self, environment: Mapping[str, str], output: TextIO | None) -> int:
        command = [sys.executable, "-m", "pytest", "-p", "devui.testing.plugin", *self.arguments]
        env = {**self.variables, **environment}
        try:
            status = subprocess.run(command, check=False, env=env, stdout=output).returncode  # noqa: S603 - pytest, on files that were named
        except KeyboardInterrupt:
            return LEFT
        return _STATUS.get(status, _NOT_RUN)
