"""Every address of the pages, by name."""

from urllib.parse import quote, urlencode

from devui.web.cursor import Cursor


def apps_url() -> str:
    return "/"


def app_url(app: str) -> str:
    return f"/apps/{_segment(app)}"


def create_session_url(app: str) -> str:
    return f"{app_url(app)}/sessions"


def reload_url(app: str) -> str:
    return f"{app_url(app)}/reload"


def session_url(
    key: int, *, event: int | None = None, tab: str | None = None, hits: int | None = None
) -> str:
    """The session page: the number of the event to show, the inspector's tab, and the breakpoint
    whose hits over the past are shown there."""
    return _with(f"/sessions/{key}", event=event, tab=tab, hits=hits)


def stream_url(key: int, after: Cursor) -> str:
    """The page's stream of everything that follows a point of the journal."""
    return _with(f"/sessions/{key}/stream", after=str(after))


def older_url(key: int, before: int) -> str:
    """The window of events that ends before the journal's `before`."""
    return _with(f"/sessions/{key}/events", before=before)


def event_url(key: int, number: int) -> str:
    return f"/sessions/{key}/events/{number}"


def state_url(key: int, at: int | None = None) -> str:
    return _with(f"/sessions/{key}/state", at=at)


def runs_url(key: int) -> str:
    """Where a message is posted to start a run."""
    return f"/sessions/{key}/runs"


def answers_url(key: int) -> str:
    """Where the answer to an agent's question is posted."""
    return f"/sessions/{key}/answers"


def breakpoints_url(key: int) -> str:
    """Where a breakpoint for the session's app is made."""
    return f"/sessions/{key}/breakpoints"


def breakpoint_url(key: int, number: int) -> str:
    """Where one is switched on and off."""
    return f"{breakpoints_url(key)}/{number}"


def breakpoint_delete_url(key: int, number: int) -> str:
    return f"{breakpoint_url(key, number)}/delete"


def stop_url(run: str) -> str:
    return f"/runs/{_segment(run)}/stop"


def commands_url(run: str) -> str:
    """Where the debugger's commands for a run are posted."""
    return f"/runs/{_segment(run)}/commands"


def log_url(run: str) -> str:
    return f"/runs/{_segment(run)}/log"


def rename_url(key: int) -> str:
    return f"/sessions/{key}/title"


def delete_url(key: int) -> str:
    return f"/sessions/{key}/delete"


def artifact_url(key: int, name: str, version: int | None = None) -> str:
    return _with(f"/sessions/{key}/artifacts/{_segment(name)}", version=version)


def _segment(text: str) -> str:
    return quote(text, safe="")


def _with(path: str, **query: int | str | None) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
