"""`devui resume`: goes on with an invocation that was stopped, interrupted or killed."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from devui.cli.client import Client
from devui.cli.failures import LEFT, Failed, Misused, MovedOn
from devui.cli.finding import Reach, Terminal, reaching
from devui.cli.following import left, newest_number, news_of, tell
from devui.cli.headless import agents_option, served
from devui.cli.lines import plain
from devui.cli.naming import GOING, app_option, session_of

_DECISIONS = ("run", "fail", "recorded", "wait")
_SHOWN = 60
"""Characters of a value."""
_EXAMPLES = """\b
Examples:
  devui resume                      the newest session's last invocation
  devui resume 12                   that of session 12
  devui resume s_abc --app travel   a session by its id
  devui resume 12 --agents agents   also if no server runs
  devui resume 12 --call adk-1=run  make a call again whose outcome is unknown

Ends with 0 when the run is done, 1 when it failed or was cut off again; for the others see
`devui dbg --help`.
"""


@click.command("resume", epilog=_EXAMPLES, short_help="Go on with what was cut off.")
@click.argument("session", required=False)
@click.option("--invocation", metavar="ID", help="Which one; the last that was cut off.")
@app_option
@agents_option
@click.option(
    "--call",
    "calls",
    metavar="ID=WHAT",
    multiple=True,
    help="A call of unknown outcome: run it again, fail, recorded, wait for its answer, or its "
    "result as JSON.",
)
@reaching
def command(
    reach: Reach,
    session: str | None,
    *,
    invocation: str | None,
    app: str | None,
    agents: Path,
    calls: tuple[str, ...],
) -> None:
    """Go on with an invocation of SESSION that was stopped, interrupted or killed.

    It is done by the server that holds the data folder. If none runs, one is started until the
    invocation has ended. Events are printed as they are committed.
    """
    try:
        with served(reach, agents) as terminal:
            found = session_of(terminal.client, session, app=app)["key"]
            end = _resumed(terminal, found, invocation, dict(map(_decision, calls)))
    except KeyboardInterrupt:
        left("left; what was committed stays, and `devui resume` goes on from there")
        sys.exit(LEFT)
    if end["status"] != "done":
        raise Failed(f"the run ended: {_why(end)}")


def _resumed(
    terminal: Terminal, session: int, invocation: str | None, unknown: dict[str, Any]
) -> dict[str, Any]:
    """Start the run and print what comes of it; where it stands in the end."""
    client = terminal.client
    chosen = invocation or _cut_off(client, session)
    after = newest_number(client, session)
    path, given = ("api", "sessions", session, "runs"), {"unknown": unknown} if unknown else {}
    try:
        begun: dict[str, Any] = client.post(*path, invocationId=chosen, actor=client.actor, **given)
    except MovedOn as refused:
        if not refused.unknown:
            raise
        raise MovedOn("\n".join(_asked(refused.unknown))) from refused
    for news in news_of(client, session, after, as_json=terminal.as_json):
        if news["type"] == "position" and news["run"] != begun["run"]:
            continue
        tell(terminal, news)
        if news["type"] == "position" and news["ended"] is not None:
            return news
    return begun


def _asked(unknown: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a person is to decide, as options to be given."""
    yield "say what becomes of each of these calls, of which no result is committed:"
    for call in unknown:
        args = ", ".join(f"{name}={_short(value)}" for name, value in call["args"].items())
        result = call["recorded"]
        about = "nobody knows whether it was carried out"
        about = about if result is None else f"it had returned {_short(result)}"
        about = about if call["made"] else "it was held back and not made"
        yield plain(f"  --call {call['id']}=WHAT  {call['tool']}({args}), {about}")
        words = [each for each in _DECISIONS if each not in _left_out(call)]
        yield f"    WHAT is {', '.join(words)}, or its result as JSON"


def _left_out(call: Mapping[str, Any]) -> set[str]:
    """Decisions that this call does not allow."""
    no_record = {"recorded"} if call["recorded"] is None else set()
    return no_record | (set() if call["later"] and call["made"] else {"wait"})


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _decision(text: str) -> tuple[str, dict[str, Any]]:
    """What `ID=WHAT` says is to become of a call; raises Misused."""
    call, _, what = text.partition("=")
    if what in _DECISIONS:
        return call, {"do": what}
    try:
        return call, {"do": "result", "result": json.loads(what)}
    except ValueError as error:
        choices = ", ".join(_DECISIONS)
        raise Misused(f"--call {text}: give ID={choices} or the result as JSON") from error


def _cut_off(client: Client, session: int) -> str:
    """The invocation of the session's last run; raises MovedOn and Misused if it cannot be one."""
    last = client.get("api", "sessions", session, "run")
    if last["status"] in GOING:
        raise MovedOn(f"a run goes on in session {session}: `devui dbg attach {session}` shows it")
    if last["status"] == "done":
        raise Misused(
            f"the last run of session {session} is done: say with --invocation which one is to"
            " go on"
        )
    if last["invocationId"] is None:
        raise Misused(
            f"the last run of session {session} ended before its message became an event: send it"
            " again"
        )
    return str(last["invocationId"])


def _why(end: dict[str, Any]) -> str:
    error = end.get("error")
    return f"{error['type']}: {error['message']}" if error else str(end["status"])
