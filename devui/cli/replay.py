"""`devui replay`: replays recorded runs, with the recorded answers of models and tools."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from devui.cli.follow import as_job, news_of, say_after_interrupt, tell
from devui.cli.lookup import GOING, app_option, session_of
from devui.cli.output import plain
from devui.cli.server import ServerOptions, Terminal, agents_option, server_options, serving
from devui.client import Client
from devui.failures import LEFT, BadRequestError, DevuiError, NotFoundError
from devui.web.text.formats import plural
from devui.wire.excerpts import around_difference

_LONG = 200


def verdict_lines(verdict: Mapping[str, Any], first: int, last: int) -> list[str]:
    """Format the verdict on the run of these events, and explain the first difference."""
    begin, *more = _lines(verdict)
    return [f"#{first} to #{last} {begin}", *more]


def _lines(verdict: Mapping[str, Any]) -> list[str]:
    divergence = verdict["divergence"]
    notes = [f"  note: {plain(note)}" for note in verdict["notes"]]
    if divergence is None:
        aside = " except for tool results" if verdict["resultsDiffer"] else ""
        live = f", {verdict['live']} live tools" if verdict["live"] else ""
        answers = plural(verdict["calls"], "recorded answer")
        counts = f"{_count(verdict)}{aside}, {answers}{live}"
        return [f"{_word(verdict)}: {counts}", *notes]
    message, *fields = divergence_lines(divergence)
    return [f"diverged: {message}", f"  {_count(verdict)} before that", *fields, *notes]


def divergence_lines(divergence: Mapping[str, Any]) -> list[str]:
    """Format the first difference: what happened, then the fields, as recorded and as replayed."""
    lines = [plain(divergence["message"])]
    for each in divergence["differences"]:
        lines.append(f"  {plain(each['field'] or 'value')}")
        before, now = each["expected"], each["actual"]
        lines += [f"    - {_value(before, now)}", f"    + {_value(now, before)}"]
    if not divergence["differences"] and divergence["expected"] is not None:
        lines.append(f"  expected: {_value(divergence['expected'])}")
    if not divergence["differences"] and divergence["actual"] is not None:
        lines.append(f"  actual:   {_value(divergence['actual'])}")
    if divergence["nearest"] is not None:
        lines.append(f"  recorded next: {_value(divergence['nearest'])}")
    return lines


def _word(verdict: Mapping[str, Any]) -> str:
    if verdict["identical"]:
        return "identical"
    return "different results" if verdict["resultsDiffer"] else "not finished"


def _count(verdict: Mapping[str, Any]) -> str:
    return f"{verdict['events']} of {verdict['recorded']} events as recorded"


def _value(value: Any, other: Any = None) -> str:
    """Return the value as JSON; if it is long, start shortly before it differs from the other."""
    text, beside = (plain(json.dumps(each, ensure_ascii=False)) for each in (value, other))
    return around_difference(text, beside, _LONG)


_DIVERGED: Final = 1
_EXAMPLES = """\b
Examples:
  devui replay                      replay the newest run of the last active session
  devui replay 12 --check           replay every run of session 12, one line each
  devui replay 12 --run 4f1c…       replay one run
  devui replay 12 --live-tools      replay the models, but call the tools
  devui replay 12 --agents agents   start a server for it if none is running

Exit status: 0 if the runs match their recordings, 1 if not; for the others see `devui dbg --help`.
"""


@dataclass(frozen=True, slots=True)
class _ReplayOptions:
    """What to replay, and how."""

    session: int
    live_tools: bool
    check: bool


@click.command(
    "replay",
    epilog=_EXAMPLES,
    short_help="Run a recorded run again, without calling models or tools.",
)
@click.argument("session", required=False)
@click.option(
    "--run", metavar="ID", help="Run to replay; by default the newest, or with --check all."
)
@click.option(
    "--check",
    is_flag=True,
    help="Print one line per run; ignore breakpoints; delete identical replays.",
)
@click.option("--live-tools", is_flag=True, help="Call the tools for real.")
@app_option
@agents_option
@server_options
def command(
    server: ServerOptions,
    session: str | None,
    *,
    run: str | None,
    check: bool,
    live_tools: bool,
    app: str | None,
    agents: Path,
) -> None:
    """Execute a recorded run of SESSION again in a fork, with its recorded answers.

    The agents' current code is executed; no model or tool is called. The replay stops at the first
    difference from the recording and explains it.
    """
    try:
        with serving(server, agents) as terminal:
            key = session_of(terminal.client, session, app=app)["key"]
            options = _ReplayOptions(key, live_tools, check)
            verdicts = [
                _replay(terminal, options, each)
                for each in _select_runs(terminal.client, options, run)
            ]
    except KeyboardInterrupt:
        say_after_interrupt("detached; the recorded session is unchanged")
        sys.exit(LEFT)
    if not all(verdict["identical"] for verdict in verdicts):
        sys.exit(_DIVERGED)


def _select_runs(
    client: Client, options: _ReplayOptions, run: str | None
) -> Sequence[Mapping[str, Any]]:
    """Return the runs to replay. Raises NotFoundError, BadRequestError."""
    all_runs: Sequence[Mapping[str, Any]] = client.runs(options.session)
    if run is not None:
        all_runs = [each for each in all_runs if each["run"] == run]
        if not all_runs:
            raise NotFoundError(f"session {options.session} has no run {run!r}")
    runs = [each for each in all_runs if each["first"] is not None and not each["rewind"]]
    if not runs:
        raise BadRequestError(f"session {options.session} has no run to replay")
    if runs[-1]["status"] in GOING:
        raise BadRequestError("the newest run is still active: wait for it to end, or stop it")
    return runs if options.check else runs[-1:]


def _replay(
    terminal: Terminal, options: _ReplayOptions, run: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Replay a run, print what happens, and return the verdict."""
    client = terminal.client
    with as_job(client, "preparing the replay") as preparing:
        replay: Mapping[str, Any] = preparing.start_replay(
            options.session,
            run=run["run"],
            live_tools=options.live_tools,
            breakpoints=not options.check,
        )
    fork, again = replay["session"], replay["run"]
    for news in news_of(client, fork, run["first"] - 1, run=again, as_json=terminal.as_json):
        if not options.check:
            tell(terminal, news)
        if news["type"] != "position" or news["run"] != again:
            continue
        if news["ended"] is not None:
            break
        if news["status"] == "held":
            hint = f"held in session {fork}; continue with `devui dbg continue --session {fork}`"
            click.echo(hint, err=True)
    answer = client.replay(again)
    verdict = answer["verdict"]
    if verdict is None:
        error = client.run(again)["error"]
        raise DevuiError(f"the replay failed: {error['message'] if error else ''}")
    lines = verdict_lines(verdict, run["first"], run["last"])
    is_deleted = options.check and verdict["identical"]
    if options.check and not is_deleted:
        lines.append(f"  replayed in session {fork}")
    terminal.say(answer, lambda _: lines)
    if is_deleted:
        _forget(client, fork)
    return verdict


def _forget(client: Client, key: int) -> None:
    """Delete a replay that was identical to its recording."""
    session = client.session(key)
    client.adk.delete_session(session["app"], session["user"], session["id"])
