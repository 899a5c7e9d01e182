"""Stored sessions and discovered apps, as lists and menus show them."""

from typing import Final

from devui.debugger.printed import Printed
from devui.debugger.workers import AppStatus
from devui.store.forkrows import ForkRow
from devui.store.rows import NoteRow, SessionRow
from devui.web.links import (
    app_url,
    create_session_url,
    delete_url,
    reload_url,
    rename_url,
    session_url,
)
from devui.web.parts.apps import AppCard, AppHead, SessionItem
from devui.web.parts.apps import AppStatus as CardStatus
from devui.web.parts.basics import Failure
from devui.web.parts.status import RunStatus
from devui.web.presenters.failures import agent_failure
from devui.web.text.figures import plural
from devui.web.text.formats import moment
from devui.web.text.visible import visible

_CARD: Final[dict[str, tuple[CardStatus, str]]] = {
    "ready": ("ready", "ready"),
    "loading": ("starting", "starting"),
    "broken": ("broken", "does not load"),
    "unused": ("idle", "not started"),
}


def app_card(app: AppStatus, about: str, sessions: int, used: float | None) -> AppCard:
    """An app with what is known of it; `about` is told until its agent has told its own."""
    status, word = _CARD[app.status]
    return AppCard(
        name=app.name,
        href=app_url(app.name),
        description=_description(app, about),
        status=status,
        word=word,
        failure=app_failure(app),
        reload_action=reload_url(app.name),
        create_action=create_session_url(app.name),
        sessions=sessions,
        used=moment(used) if used is not None else None,
    )


def app_head(app: AppStatus, about: str) -> AppHead:
    """The same app at the top of its own page."""
    status, word = _CARD[app.status]
    return AppHead(
        name=app.name,
        description=_description(app, about),
        status=status,
        word=word,
        failure=app_failure(app),
        reload_action=reload_url(app.name),
        printed=visible(printed_text(app.printed)),
    )


def printed_text(printed: Printed) -> str:
    """What an app said while it was imported, as a log: records with their level."""
    told = [
        line.text if line.stream in {"stdout", "stderr"} else f"{line.stream}: {line.text}"
        for line in printed.lines
    ]
    if printed.left_out:
        told.append(f"… {plural(printed.left_out, 'more line')} not kept")
    return "\n".join(told)


def _description(app: AppStatus, about: str) -> str:
    return visible((app.info.description if app.info else "") or about)


def app_failure(app: AppStatus) -> Failure | None:
    """Why the newest version of the app does not load."""
    return agent_failure(app.error) if app.error else None


def session_name(row: SessionRow) -> str:
    """The session's title, or what it is called without one."""
    return visible(row.title) if row.title else unnamed(row)


def session_item(
    row: SessionRow,
    run: RunStatus,
    *,
    fork: ForkRow | None = None,
    note: NoteRow | None = None,
    imported: bool = False,
    show_app: bool = False,
    pick: bool = False,
) -> SessionItem:
    """A session in a list, with the status that its own page has; `pick`: to be compared."""
    return SessionItem(
        key=row.key,
        href=session_url(row.key),
        app=row.app,
        title=session_name(row),
        id=visible(row.id),
        user=visible(row.user),
        events=row.events,
        updated=moment(row.updated),
        status=run.status,
        word=run.word,
        rename_action=rename_url(row.key),
        delete_action=delete_url(row.key),
        show_app=show_app,
        pick=pick,
        forked=_forked(fork) if fork else "",
        starred=bool(note and note.starred),
        note=visible(note.text) if note else "",
        imported=imported,
    )


def unnamed(row: SessionRow) -> str:
    """What a session is called without a title."""
    return f"session {visible(row.id[:8])}"


def _forked(fork: ForkRow) -> str:
    told = f"fork {forked_at(fork)}"
    return f"{told}: {visible(fork.note)}" if fork.note else told


def forked_at(fork: ForkRow) -> str:
    """Where a fork was made, in words."""
    edited = ", edited" if fork.reason == "event" else ""
    return f"at #{fork.at}{edited}" if fork.at else "at the start"
