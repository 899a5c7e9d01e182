"""`devui make-test`: turns a session into a test file with recordings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from devui.cli.follow import as_job
from devui.cli.lookup import app_option, session_of
from devui.cli.output import plain, times
from devui.cli.server import ServerOptions, Terminal, agents_option, server_options, serving
from devui.cli.test import write_files
from devui.debugger.saved_tests.places import InvalidTestPath, test_name, way_to
from devui.failures import BadRequestError
from devui.web.text.formats import plural

_KINDS: Final = ("error", "agents", "tools", "text", "state", "recorded")

_EXAMPLES = """\b
Examples:
  devui make-test 12                         keep every run of session 12 in tests/
  devui make-test 12 -o tests/test_trip.py   choose the file
  devui make-test 12 --list                  list what can be checked; write nothing
  devui make-test 12 --check text --check state:city   check only this

Run it with `devui test`. For the exit status see `devui dbg --help`.
"""


@click.command("make-test", epilog=_EXAMPLES, short_help="Keep a session as a test.")
@click.argument("session", required=False)
@click.option("--run", metavar="ID", help="Keep only this run instead of all of the session.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Test file; by default tests/test_APP_SESSION.py.",
)
@click.option(
    "--check",
    "checks",
    metavar="CHECK",
    multiple=True,
    help=f"What to check: {', '.join(_KINDS)}, or state:KEY. Repeatable.",
)
@click.option("--list", "only_list", is_flag=True, help="List what can be checked.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option("--keep-secrets", is_flag=True, help="Leave secrets in the recordings.")
@app_option
@agents_option
@server_options
def command(
    server: ServerOptions,
    session: str | None,
    *,
    run: str | None,
    output: Path | None,
    checks: tuple[str, ...],
    only_list: bool,
    force: bool,
    keep_secrets: bool,
    app: str | None,
    agents: Path,
) -> None:
    """Turn SESSION (by default the last active) into a test, with a recording of each of its runs.

    The test checks how the runs ended, which agents spoke, tool calls with their arguments, the
    last text, the state, and that events match the recording.
    """
    with serving(server, agents) as terminal:
        key = session_of(terminal.client, session, app=app)["key"]
        offer = terminal.client.test_offer(key, run=run)
        if only_list:
            terminal.say(offer, _offer_lines)
            return
        _check_names(checks, offer)
        file = output or Path("tests") / f"{offer['name']}.py"
        with as_job(terminal.client, "making the test") as client:
            test = client.make_test(
                key,
                run=run,
                checks=list(checks) or None,
                name=_stem(file),
                agent=way_to(Path(offer["folder"]), file.parent, offer["app"]),
                keep_secrets=keep_secrets,
            )
            _write(terminal, file, test, force=force)


def _stem(file: Path) -> str:
    try:
        return test_name(file)
    except InvalidTestPath as error:
        raise BadRequestError(str(error)) from error


def _check_names(checks: tuple[str, ...], offer: Mapping[str, Any]) -> None:
    """Raise BadRequestError for a check that no run offers."""
    known_checks = {each["id"] for run in offer["runs"] for each in run["checks"]} | {*_KINDS}
    for check in checks:
        if check not in known_checks:
            raise BadRequestError(f"unknown check {check!r}; run with --list to see the checks")


def _write(terminal: Terminal, file: Path, test: Mapping[str, Any], *, force: bool) -> None:
    """Write the recordings, then the test."""
    files = {file.parent / each["path"]: each["text"] for each in test["recordings"]}
    files[file] = test["test"]["text"]
    write_files(files, force=force)
    answer = {"test": str(file), "recordings": [str(path) for path in files if path != file]}
    terminal.say({**answer, "redacted": test["redacted"]}, _written_lines)


def _offer_lines(offer: Mapping[str, Any]) -> list[str]:
    lines = []
    for run in offer["runs"]:
        lines.append(f"{run['test']}  (run {run['run']}, from #{run['first']})")
        for check in run["checks"]:
            mark = "x" if check["on"] else " "
            lines.append(f"  [{mark}] {plain(check['id']):<12} {plain(check['label'])}")
    return lines


def _written_lines(answer: dict[str, Any]) -> list[str]:
    count = plural(len(answer["recordings"]), "recording")
    lines = [f"wrote {answer['test']} and {count} beside it"]
    lines += [f"left out: {each['kind']}, {times(each['count'])}" for each in answer["redacted"]]
    return [*lines, f"run it with: devui test {answer['test']}"]
