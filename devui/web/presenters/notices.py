"""What the page of a session says about the app and the run, beyond their rows."""

from typing import Final

from devui.debugger.live import LiveRun
from devui.debugger.preview import one_line
from devui.debugger.workers import AppStatus
from devui.store.rows import SessionRow
from devui.web.links import app_url, session_url
from devui.web.parts.basics import Notice
from devui.web.presenters.lists import app_failure, printed_text
from devui.web.text.formats import size as told_size
from devui.web.text.visible import visible
from devui.wire.standing import Place

_SAID = 200
"""Characters of a line that was printed."""
_LONG: Final = 100_000
"""Events of one session from which on that is told (R48)."""
_LARGE: Final = 1_000_000_000
"""Bytes of its events, the same."""


def notices(
    session: SessionRow, size: int, app: AppStatus | None, live: LiveRun | None
) -> tuple[Notice, ...]:
    """Everything that is worth a sentence now, the worst first; `size` is of all its events."""
    told = (_missing(session.app, app), _broken(app), _stuck(live), _long(session, size))
    return tuple(notice for notice in told if notice is not None)


def _missing(name: str, app: AppStatus | None) -> Notice | None:
    if app is not None:
        return None
    text = "Its sessions can be read, not continued."
    return Notice("warn", f"There is no app {visible(name)} in the folder now.", text)


def _broken(app: AppStatus | None) -> Notice | None:
    failure = app_failure(app) if app else None
    if app is None or failure is None:
        return None
    going_on = " The version before goes on being used." if app.status == "ready" else ""
    last = printed_text(app.printed).strip().rpartition("\n")[2]
    said = f" The last it printed: {visible(one_line(last, _SAID))}" if last else ""
    return Notice(
        tone="bad",
        title=f"{app.name} does not load.",
        text=f"{failure.message} {failure.place}{going_on}{said}".strip(),
        href=app_url(app.name),
        label="See the traceback",
    )


def _stuck(live: LiveRun | None) -> Notice | None:
    blocked = live.blocked if live else None
    if live is None or blocked is None:
        return None
    if blocked.run not in {None, live.row.id}:
        title = "Another run of this app holds its event loop, so this one waits."
    elif blocked.tool:
        title = f"The tool {visible(blocked.tool)} blocks the event loop."
    else:
        title = "The agent's event loop does not turn."
    return Notice(
        tone="warn",
        title=title,
        text="Something in its async code blocks: "
        + visible(_line(blocked.place) if blocked.place else _innermost(blocked.stack)),
        href=session_url(live.session.key, tab="run"),
        label="What holds it up",
    )


def _long(session: SessionRow, size: int) -> Notice | None:
    if session.events < _LONG and size < _LARGE:
        return None
    return Notice(
        tone="warn",
        title=f"This session is very long: {session.events:,} events, {told_size(size)}.",
        text="Pages of it are as fast as before, but its agents are given all of it with each "
        "message. Go on in a new session, or in a fork from an earlier event.",
    )


def _line(place: Place) -> str:
    return f"{place.file}:{place.line} in {place.function}: {place.source}"


def _innermost(stack: str) -> str:
    """The last place of a formatted stack, in one line."""
    lines = [line.strip() for line in stack.strip().splitlines()]
    places = [i for i, line in enumerate(lines) if line.startswith("File ")]
    return " ".join(lines[places[-1] :]) if places else stack.strip()[-200:]
