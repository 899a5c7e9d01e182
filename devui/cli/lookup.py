"""Finds the session, run or app that a command is about: the one given, or the active one."""

from typing import TYPE_CHECKING

import click

from devui.cli.output import plain
from devui.client import USER, Client
from devui.failures import BadRequestError, ConflictError, NotFoundError

if TYPE_CHECKING:
    from devui.web.panels.runs.schemas import PositionJson, SessionJson

GOING = frozenset({"running", "held", "stopping"})

app_option = click.option(
    "--app", metavar="NAME", help="App of the session, if its id is ambiguous."
)


def session_of(client: Client, name: str | None, *, app: str | None = None) -> "SessionJson":
    """Return the session with this number or id, or else the running or last active one.

    Raises NotFoundError if there is none, BadRequestError if it is ambiguous.
    """
    if name is None:
        return _evident(client.sessions(app=app)["sessions"])
    matches = [each for each in _with_number(client, name) if app in {None, each["app"]}]
    matches = matches or client.sessions(app=app, id=name)["sessions"]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise NotFoundError(
            f"there is no session with number or id {name!r}; the number is beside the"
            " title of its page"
        )
    keys = ", ".join(f"{each['key']} ({plain(each['app'])})" for each in matches)
    raise BadRequestError(f"several sessions have the id {name!r}; give the number of one: {keys}")


def session_with_id(client: Client, app: str, name: str) -> "SessionJson | None":
    """Return the session with this id of the page's user in the app, if it exists."""
    return next(iter(client.sessions(app=app, user=USER, id=name)["sessions"]), None)


def _with_number(client: Client, name: str) -> "list[SessionJson]":
    """Return the session with this number, as a list of at most one."""
    if not (name.isascii() and name.isdigit()):
        return []
    matches = client.sessions(key=int(name))["sessions"]
    return [each for each in matches if each["key"] == int(name)]


def active_run(client: Client, name: str | None, *, or_over: bool = False) -> "PositionJson":
    """Return the position of the active run of this session, or of the only session with one.

    Raises ConflictError if the run is over, NotFoundError if no run is active. With `or_over`, it
    returns the newest run's position instead: a command that was executed before the run ended may
    be repeated.
    """
    session = session_of(client, name)
    if name is None and session["run"] is None and not or_over:
        raise NotFoundError("no run is active; start one on the page, or with `devui dbg start`")
    position = client.newest_run(session["key"])
    if position["status"] not in GOING and not or_over:
        raise ConflictError(f"the run is already {position['status']}", position)
    return position


def app_of(client: Client, name: str | None, session: str | None) -> str:
    """Return the named app, the session's app, the only app, or the only one with an active run.

    Raises BadRequestError if it is ambiguous.
    """
    if name is not None:
        return name
    if session is not None:
        return str(session_of(client, session)["app"])
    apps = apps_of(client)
    if len(apps) == 1:
        return apps[0]
    going = {each["app"] for each in client.sessions()["sessions"] if each["run"]}
    if len(going) == 1:
        return str(going.pop())
    raise BadRequestError(f"give the app with --app, one of {', '.join(map(plain, apps))}")


def apps_of(client: Client) -> list[str]:
    """Return the names of the server's apps."""
    return client.adk.list_apps()


def _evident(candidates: "list[SessionJson]") -> "SessionJson":
    going = [each for each in candidates if each["run"]]
    if len(going) > 1:
        keys = ", ".join(f"{each['key']} ({plain(each['app'])})" for each in going)
        raise BadRequestError(f"several sessions have an active run; name one of {keys}")
    if not candidates:
        raise NotFoundError(
            "there are no sessions yet; start one on the page, or with `devui run APP`"
        )
    return (going or candidates)[0]
