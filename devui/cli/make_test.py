"""`devui make-test`: a session as a test file with its recordings."""

from pathlib import Path
from typing import Any, Final

import click

from devui.cli.failures import Misused
from devui.cli.files import write_files
from devui.cli.finding import Reach, Terminal, reaching
from devui.cli.headless import agents_option, served
from devui.cli.lines import plain, times
from devui.cli.naming import app_option, session_of
from devui.debugger.keeping.placing import Misplaced, test_name, way_to

_KINDS: Final = ("error", "agents", "tools", "text", "state", "recorded")

_EXAMPLES = """\b
Examples:
  devui make-test 12                         every run of session 12, into tests/
  devui make-test 12 -o tests/test_trip.py   into this file
  devui make-test 12 --list                  what may be checked; nothing is written
  devui make-test 12 --check text --check state:city   only this

Run it with `devui test`. Ends as `devui dbg --help` tells.
"""


@click.command("make-test", epilog=_EXAMPLES, short_help="Keep a session as a test.")
@click.argument("session", required=False)
@click.option("--run", metavar="ID", help="One run alone, instead of all of the session.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The test file; tests/test_APP_SESSION.py if not given.",
)
@click.option(
    "--check",
    "checks",
    metavar="CHECK",
    multiple=True,
    help=f"What to check: {', '.join(_KINDS)}, or state:KEY; several times for several.",
)
@click.option("--list", "only_list", is_flag=True, help="Tell what may be checked.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option("--keep-secrets", is_flag=True, help="Leave secrets in the recordings.")
@app_option
@agents_option
@reaching
def command(
    reach: Reach,
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
    """Write a test of SESSION, the newest if not said, with a recording for each of its runs.

    It checks how the runs ended, which agents spoke, the calls of tools with their arguments, the
    last text, the state, and that all is as recorded.
    """
    with served(reach, agents) as terminal:
        path = ("api", "sessions", session_of(terminal.client, session, app=app)["key"], "test")
        offer: dict[str, Any] = terminal.client.get(*path, run=run)
        if only_list:
            terminal.say(offer, _offer_lines)
            return
        _known(checks, offer)
        file = output or Path("tests") / f"{offer['name']}.py"
        made: dict[str, Any] = terminal.client.post(
            *path,
            run=run,
            checks=list(checks) or None,
            name=_stem(file),
            agent=way_to(Path(offer["folder"]), file.parent, offer["app"]),
            keepSecrets=keep_secrets,
        )
        _write(terminal, file, made, force=force)


def _stem(file: Path) -> str:
    try:
        return test_name(file)
    except Misplaced as error:
        raise Misused(str(error)) from error


def _known(checks: tuple[str, ...], offer: dict[str, Any]) -> None:
    """Raise Misused for a check that no run has."""
    known = {each["id"] for run in offer["runs"] for each in run["checks"]} | {*_KINDS}
    for check in checks:
        if check not in known:
            raise Misused(f"there is nothing to check that is called {check!r}; see --list")


def _write(terminal: Terminal, file: Path, made: dict[str, Any], *, force: bool) -> None:
    """Write the recordings, then the test."""
    files = {file.parent / each["path"]: each["text"] for each in made["recordings"]}
    files[file] = made["test"]["text"]
    write_files(files, force=force)
    told = {"test": str(file), "recordings": [str(path) for path in files if path != file]}
    terminal.say({**told, "redacted": made["redacted"]}, _written_lines)


def _offer_lines(offer: dict[str, Any]) -> list[str]:
    lines = []
    for run in offer["runs"]:
        lines.append(f"{run['test']}  (run {run['run']}, from #{run['first']})")
        for check in run["checks"]:
            mark = "x" if check["on"] else " "
            lines.append(f"  [{mark}] {plain(check['id']):<12} {plain(check['label'])}")
    return lines


def _written_lines(told: dict[str, Any]) -> list[str]:
    count = len(told["recordings"])
    lines = [f"wrote {told['test']} and {count} recording{'s' if count > 1 else ''} beside it"]
    lines += [f"left out: {each['kind']}, {times(each['count'])}" for each in told["redacted"]]
    return [*lines, f"run it with: devui test {told['test']}"]
