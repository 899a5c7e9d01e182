"""Notices on top of pages: about the server and its journal, about an app, about a run."""

from collections.abc import Iterator, Sequence
from typing import Final

from devui.debugger.events.preview import one_line
from devui.debugger.runs.live import LiveRun
from devui.debugger.workers.workers import AppStatus
from devui.store.errors import (
    JournalBusy,
    JournalError,
    JournalFailed,
    JournalFull,
    JournalGone,
    JournalLogGone,
)
from devui.store.journal import Journal
from devui.store.rows import SessionRow
from devui.store.sqlite.folder import JournalRisk
from devui.web.basic_parts import Notice
from devui.web.links import app_url, session_url
from devui.web.panels.apps.lists import app_failure, printed_text
from devui.web.security.refusals import NOT_SIGNED_IN, OLD_LINK, Refusals, RefusedRequest
from devui.web.services import Services
from devui.web.text.debuggers import awaited_words, debugger_words
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clock, duration, plural
from devui.web.text.formats import size as size_text
from devui.wire.inspection import Place

_DAY: Final = 86_400.0
_NO_NEWS: Final = frozenset({NOT_SIGNED_IN, OLD_LINK})
_TROUBLES: dict[type[JournalError], tuple[str, str]] = {
    JournalFull: ("The disk is full.", "there is free space"),
    JournalFailed: ("Can't write to the journal.", "the disk and permissions allow it"),
    JournalGone: (
        "The journal was moved or deleted.",
        "you restore it (a restart creates a new one)",
    ),
    JournalLogGone: (
        "One of the journal's files was moved or deleted.",
        "you restart devui",
    ),
    JournalBusy: ("Another program has locked the journal.", "it releases the lock"),
}

_TRIED: Final = "devui retries every second; runs wait, then continue."


def server_notices(services: Services, *, on_session: bool = False) -> tuple[Notice, ...]:
    """Return the notices about the server, worst first; those about the past can be dismissed.

    A session's page leaves out requests without the token unless an app sent some: most often they
    come from the reader's own script and don't concern the session.
    """
    refusals = services.refusals
    is_for_all = bool(refusals.apps) or not on_session
    past = (
        *aside_notices(services.journal),
        *danger_notices(services.journal, services.dangers),
        *clock_notices(services.clock.moves),
        *(program_notices(refusals) if is_for_all else ()),
        *refusal_notices(refusals),
    )
    return (*trouble_notices(services.journal), *services.dismissed_notices.remaining(past))


def trouble_notices(journal: Journal) -> tuple[Notice, ...]:
    """Return the notice that the journal can't be written at the moment (R41, R42)."""
    if journal.trouble is None:
        return ()
    title, until = _TROUBLES[type(journal.trouble)]
    is_log_gone = isinstance(journal.trouble, JournalLogGone)
    then = "Runs wait; resume them afterwards." if is_log_gone else _TRIED
    text = (
        f"Nothing new is saved in {journal.path} until {until}. {then} "
        "Everything committed so far is intact and readable."
    )
    return (Notice("bad", title, visible(text)),)


def aside_notices(journal: Journal) -> tuple[Notice, ...]:
    """Return the notice that a damaged journal was set aside at startup (R43)."""
    path = journal.set_aside
    if path is None:
        return ()
    if journal.recovered:
        title = "The journal was recovered from its log."
        text = (
            "Its file was missing or empty, but the log still had everything. The log is kept "
            f"as {path}-wal. Delete it once you have checked your sessions."
        )
        return (Notice("warn", title, visible(text)),)
    text = (
        f"The damaged file is kept as {path}. To recover what is left in it, run: "
        f'sqlite3 "{path}" .recover'
    )
    return (Notice("warn", "The journal was damaged, so a new one was created.", visible(text)),)


def danger_notices(journal: Journal, dangers: Sequence[JournalRisk]) -> Iterator[Notice]:
    """Return notices that the journal is in a folder where it may be damaged (R46)."""
    for danger in dangers:
        text = f"{danger.why} It is {journal.path}; choose another folder with --data-dir."
        yield Notice("warn", f"The data folder {danger.what}.", visible(text))


def clock_notices(moves: Sequence[float]) -> tuple[Notice, ...]:
    """Return the notice that the wall clock was moved, by `moves` seconds each time (R47)."""
    if not moves:
        return ()
    times = "" if len(moves) == 1 else f", the latest of {len(moves):,} changes"
    way = "forward" if moves[-1] > 0 else "back"
    title = f"The clock was moved {way} by {_span(abs(moves[-1]))}{times}."
    text = (
        "Times before and after aren't comparable. The order of events, streams, limits, and "
        "sign-in aren't affected."
    )
    return (Notice("warn", title, text),)


def refusal_notices(refusals: Refusals) -> tuple[Notice, ...]:
    """Return the notice about refused requests (R09, R67).

    It leaves out browsers that aren't signed in and old links: see `sign_in_note`.
    """
    reasons = sorted(refusals.reasons.items())
    lines = [
        f"{_times(n)}: {reason}" + (f" ({words})" if words else "")
        for reason, n in reasons
        if reason not in _NO_NEWS
        for words in [_words(refusals.latest.get(reason))]
    ]
    if not lines:
        return ()
    lines[0] = lines[0][0].upper() + lines[0][1:]
    text = (
        f"{'; '.join(lines)}. None of these requests had an effect. They may come from an agent "
        "or its tools, another site, or your own script."
    )
    return (Notice("warn", "Requests have been refused since the server started.", text),)


def program_notices(refusals: Refusals) -> tuple[Notice, ...]:
    """Return the notice about programs without the token: agents, or a script without it (R09)."""
    if not refusals.programs:
        return ()
    of = f" of {visible(', '.join(sorted(refusals.apps)))}" if refusals.apps else ""
    many = refusals.programs > 1
    requests = f"{refusals.programs:,} requests" if many else "a request"
    latest = f"{'Latest: ' if many else ''}{_words(refusals.latest_program)}"
    text = f"{latest}. If this was your script, send the bearer token."
    return (Notice("warn", f"Refused {requests} without the token from a program{of}.", text),)


def _words(request: RefusedRequest | None) -> str:
    """`GET /list-apps at 15:41:07`; "" if the guard has refused no request."""
    if request is None:
        return ""
    return f"{visible(request.method)} {visible(request.path)} at {clock(request.at)[:8]}"


def sign_in_note(refusals: Refusals) -> str:
    """Return a neutral line for the start page about clients that were asked to sign in (R67)."""
    lines = []
    if refusals.browsers:
        lines.append(
            f"{plural(refusals.browsers, 'request')} from browsers that weren't signed in (for "
            "example, a page opened before a restart)"
        )
    if links := refusals.reasons[OLD_LINK]:
        lines.append(f"{plural(links, 'request')} with {OLD_LINK}")
    return f"Refused since the server started: {'; '.join(lines)}." if lines else ""


def _span(seconds: float) -> str:
    days = round(seconds / _DAY)
    return f"{days:,} days" if days > 1 else duration(seconds)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


_LINE_LENGTH = 200
"""Maximum characters of a line of output in a notice."""
_LONG: Final = 100_000
"""The number of events at which a session gets a notice (R48)."""
_LARGE: Final = 1_000_000_000
"""The size of its events, in bytes, at which it does."""


def notices(
    session: SessionRow,
    size: int,
    app: AppStatus | None,
    live: LiveRun | None,
    *,
    are_objects: bool,
) -> tuple[Notice, ...]:
    """Return the notices about the session, its app and its run, worst first.

    `size` is the size of all its events in bytes; `are_objects` is whether the apps are objects of
    a script.
    """
    candidates = (
        _missing(session.app, app, are_objects=are_objects),
        _load_failure(app),
        _awaited(app),
        _stuck(live),
        _long(session, size),
    )
    return tuple(notice for notice in candidates if notice is not None)


def _missing(name: str, app: AppStatus | None, *, are_objects: bool) -> Notice | None:
    if app is not None:
        return None
    if are_objects:
        text = (
            "You can read its sessions. To continue them, pass the app to devui.serve, or restart"
            " devui --in-process."
        )
        return Notice("warn", f"This server doesn't serve the app {visible(name)}.", text)
    text = "You can read its sessions, but not continue them."
    return Notice("warn", f"The app {visible(name)} is no longer in the agents folder.", text)


def _load_failure(app: AppStatus | None) -> Notice | None:
    failure = app_failure(app) if app else None
    if app is None or failure is None:
        return None
    going_on = " The previous version stays in use." if app.status == "ready" else ""
    last = printed_text(app.import_output).strip().rpartition("\n")[2]
    last_output = f" Last output: {visible(one_line(last, _LINE_LENGTH))}" if last else ""
    return Notice(
        tone="bad",
        title=f"{app.name} failed to load.",
        text=f"{failure.message} {failure.place}{going_on}{last_output}".strip(),
        href=app_url(app.name),
        label="See the traceback",
    )


def _stuck(live: LiveRun | None) -> Notice | None:
    debugger = live.debugging.as_json() if live is not None else None
    if debugger is not None and debugger["status"] == "stopped":
        title, text = debugger_words(debugger)
        return Notice("warn", title, text)
    block = live.blocked if live else None
    if live is None or block is None:
        return None
    if block.run not in {None, live.row.id}:
        title = "Another run of this app is blocking its event loop, so this run is waiting."
    elif block.tool:
        title = f"The tool {visible(block.tool)} is blocking the event loop."
    else:
        title = "The agent's event loop is blocked."
    return Notice(
        tone="warn",
        title=title,
        text="Blocking code: "
        + visible(_line(block.place) if block.place else _innermost(block.stack)),
        href=session_url(live.session.key, tab="run"),
        label="Show details",
    )


def _awaited(app: AppStatus | None) -> Notice | None:
    """Return the notice that the app's import waits for an editor, with or without a run."""
    if app is None or app.editor_port is None:
        return None
    title, text = awaited_words(f"127.0.0.1:{app.editor_port}")
    return Notice("warn", title, text, app_url(app.name), "See how to attach")


def _long(session: SessionRow, size: int) -> Notice | None:
    if session.events < _LONG and size < _LARGE:
        return None
    return Notice(
        tone="warn",
        title=f"This session is very long: {session.events:,} events, {size_text(size)}.",
        text="Pages stay fast, but agents receive the whole history with each "
        "message. Start a new session, or fork from an earlier event.",
    )


def _line(place: Place) -> str:
    return f"{place.file}:{place.line} in {place.function}: {place.source}"


def _innermost(stack: str) -> str:
    """Return the innermost frame of a formatted stack, in one line."""
    lines = [line.strip() for line in stack.strip().splitlines()]
    places = [i for i, line in enumerate(lines) if line.startswith("File ")]
    return " ".join(lines[places[-1] :]) if places else stack.strip()[-200:]
