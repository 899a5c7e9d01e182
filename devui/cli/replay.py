"""`devui replay`: executes recorded runs again, with the recorded answers of models and tools."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from devui.cli.client import Client
from devui.cli.failures import LEFT, Failed, Misused, NotThere
from devui.cli.finding import Reach, Terminal, reaching
from devui.cli.following import left, news_of, tell
from devui.cli.headless import agents_option, served
from devui.cli.naming import GOING, app_option, session_of
from devui.cli.replay_lines import verdict_lines

_DIVERGED: Final = 1
_EXAMPLES = """\b
Examples:
  devui replay                      the newest session's newest run
  devui replay 12 --check           every run of session 12, a line each
  devui replay 12 --run 4f1c…       one run
  devui replay 12 --live-tools      models as recorded, tools for real
  devui replay 12 --agents agents   also if no server runs

Ends with 0 when all is as recorded, 1 when something differs; for the others see
`devui dbg --help`.
"""


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to be executed again, and how."""

    session: int
    live_tools: bool
    check: bool


@click.command("replay", epilog=_EXAMPLES, short_help="Execute a recorded run again.")
@click.argument("session", required=False)
@click.option("--run", metavar="ID", help="Which run; the newest, or with --check all of them.")
@click.option("--check", is_flag=True, help="Say only what came of it; keep no identical replay.")
@click.option("--live-tools", is_flag=True, help="Call the tools for real.")
@app_option
@agents_option
@reaching
def command(
    reach: Reach,
    session: str | None,
    *,
    run: str | None,
    check: bool,
    live_tools: bool,
    app: str | None,
    agents: Path,
) -> None:
    """Execute a recorded run of SESSION again, in a fork: no model and no tool is called.

    The agents' code is executed as it is now. The first difference from what was recorded ends it
    and is explained.
    """
    try:
        with served(reach, agents) as terminal:
            key = session_of(terminal.client, session, app=app)["key"]
            wish = _Wish(key, live_tools, check)
            verdicts = [
                _replayed(terminal, wish, each) for each in _chosen(terminal.client, wish, run)
            ]
    except KeyboardInterrupt:
        left("left; the recorded session is as it was")
        sys.exit(LEFT)
    if not all(verdict["identical"] for verdict in verdicts):
        sys.exit(_DIVERGED)


def _chosen(client: Client, wish: _Wish, run: str | None) -> list[dict[str, Any]]:
    """The runs to execute again. Raises NotThere and Misused."""
    known = client.listed("api", "sessions", wish.session, "runs")
    if run is not None:
        known = [each for each in known if each["run"] == run]
        if not known:
            raise NotThere(f"session {wish.session} has no run {run!r}")
    runs = [each for each in known if each["first"] is not None and not each["rewind"]]
    if not runs:
        raise Misused(f"session {wish.session} has no run that could be executed again")
    if runs[-1]["status"] in GOING:
        raise Misused("the newest run goes on: wait for its end, or stop it")
    return runs if wish.check else runs[-1:]


def _replayed(terminal: Terminal, wish: _Wish, run: dict[str, Any]) -> dict[str, Any]:
    """Execute one run again, print what came of it, and return the verdict."""
    client = terminal.client
    begun = client.post(
        *("api", "sessions", wish.session, "replays"),
        run=run["run"],
        liveTools=wish.live_tools,
        actor=client.actor,
    )
    fork, again = begun["session"], begun["run"]
    for news in news_of(client, fork, run["first"] - 1, as_json=terminal.as_json):
        if not wish.check:
            tell(terminal, news)
        if news["type"] != "position" or news["run"] != again:
            continue
        if news["ended"] is not None:
            break
        if news["status"] == "held":
            said = f"held in session {fork}; `devui dbg continue --session {fork}` lets it go on"
            click.echo(said, err=True)
    told: dict[str, Any] = client.get("api", "runs", again, "replay")
    verdict: dict[str, Any] | None = told["verdict"]
    if verdict is None:
        end = client.get("api", "runs", again)
        raise Failed(f"the replay broke off: {(end.get('error') or {}).get('message', '')}")
    terminal.say(told, lambda _: verdict_lines(verdict, run["first"], run["last"]))
    if wish.check and verdict["identical"]:
        _forget(client, fork)
    return verdict


def _forget(client: Client, key: int) -> None:
    """Delete a replay that told nothing new."""
    found = next(each for each in client.listed("api", "sessions") if each["key"] == key)
    client.delete("apps", found["app"], "users", found["user"], "sessions", found["id"])
