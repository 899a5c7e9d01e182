"""`devui resume`: resumes an invocation that was stopped, interrupted or killed."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from devui.cli.follow import newest_number, news_of, say_after_interrupt, tell
from devui.cli.lookup import GOING, app_option, session_of
from devui.cli.server import ServerOptions, Terminal, agents_option, server_options, serving
from devui.cli.unknown_calls import DECISIONS, choices
from devui.client import Client
from devui.failures import LEFT, BadRequestError, ConflictError, DevuiError

_EXAMPLES = """\b
Examples:
  devui resume                      resume the last active session's last invocation
  devui resume 12                   resume that of session 12
  devui resume s_abc --app travel   name the session by its id
  devui resume 12 --agents agents   start a server for it if none is running
  devui resume 12 --call adk-1=run  repeat a call whose outcome is unknown

Exit status: 0 when the run is done, 1 when it failed or was interrupted again; for the others see
`devui dbg --help`.
"""


@click.command("resume", epilog=_EXAMPLES, short_help="Resume an interrupted invocation.")
@click.argument("session", required=False)
@click.option("--invocation", metavar="ID", help="Invocation to resume; by default the last one.")
@app_option
@agents_option
@click.option(
    "--call",
    "calls",
    metavar="ID=WHAT",
    multiple=True,
    help="What to do with a call of unknown outcome: run, fail, recorded, wait, or its result as "
    "JSON. Repeatable.",
)
@server_options
def command(
    server: ServerOptions,
    session: str | None,
    *,
    invocation: str | None,
    app: str | None,
    agents: Path,
    calls: tuple[str, ...],
) -> None:
    """Resume an invocation of SESSION that was stopped, interrupted or killed.

    The server of the data folder runs it. If none is running, one is started until the invocation
    ends. Events are printed as they are committed.
    """
    try:
        with serving(server, agents) as terminal:
            key = session_of(terminal.client, session, app=app)["key"]
            end = _resume(terminal, key, invocation, dict(map(_decision, calls)))
    except KeyboardInterrupt:
        say_after_interrupt("detached; `devui resume` continues from the last committed event")
        sys.exit(LEFT)
    if end["status"] != "done":
        raise DevuiError(f"the run ended: {_why(end)}")


def _resume(
    terminal: Terminal, session: int, invocation: str | None, unknown: dict[str, Any]
) -> Mapping[str, Any]:
    """Start the run and print what it does; return its last position."""
    client = terminal.client
    invocation_id = invocation or _cut_off(client, session)
    after = newest_number(client, session)
    try:
        run = client.start_run(session, invocation_id=invocation_id, unknown=unknown)
    except ConflictError as conflict:
        if not conflict.unknown:
            raise
        raise ConflictError("\n".join(choices(conflict.unknown))) from conflict
    for news in news_of(client, session, after, run=run["run"], as_json=terminal.as_json):
        if news["type"] == "position" and news["run"] != run["run"]:
            continue
        tell(terminal, news)
        if news["type"] == "position" and news["ended"] is not None:
            return news
    return run


def _decision(text: str) -> tuple[str, dict[str, Any]]:
    """Parse `ID=WHAT`, the decision about a call. Raises BadRequestError."""
    call, _, what = text.partition("=")
    if what in DECISIONS:
        return call, {"do": what}
    try:
        return call, {"do": "result", "result": json.loads(what)}
    except ValueError as error:
        choices = ", ".join(DECISIONS)
        raise BadRequestError(f"--call {text}: give ID={choices} or the result as JSON") from error


def _cut_off(client: Client, session: int) -> str:
    """Return the invocation of the session's last run.

    Raises ConflictError if the run is active, BadRequestError if there is nothing to resume.
    """
    last = client.newest_run(session)
    if last["status"] in GOING:
        raise ConflictError(
            f"session {session} has an active run; follow it with `devui dbg attach {session}`"
        )
    if last["status"] == "done":
        raise BadRequestError(
            f"the last run of session {session} is done; to resume another invocation, use"
            " --invocation"
        )
    if last["invocationId"] is None:
        raise BadRequestError(
            f"the last run of session {session} ended before its message was committed; send it"
            " again"
        )
    return str(last["invocationId"])


def _why(end: Mapping[str, Any]) -> str:
    error = end.get("error")
    return f"{error['type']}: {error['message']}" if error else str(end["status"])
