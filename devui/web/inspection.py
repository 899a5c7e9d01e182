"""The inspector: what its tab shows of the selected event, or of the session as it is now."""

import json
from typing import Final

from devui.debugger.summary import Summary
from devui.store.rows import EventRow, SessionRow
from devui.web import parts
from devui.web.detail import event_detail
from devui.web.jsontext import json_text
from devui.web.kinds import WORDS, kind_of
from devui.web.links import session_url
from devui.web.runs import log_line
from devui.web.services import Services
from devui.web.statepanel import state_panel
from devui.web.ticks import ticks

TABS: Final[tuple[tuple[parts.TabKey, str], ...]] = (
    ("event", "Event"),
    ("state", "State"),
    ("raw", "Raw"),
    ("log", "Log"),
)
LOG_LINES: Final = 1000
"""Lines of a run's output that are shown; the log's own address has all of them."""


def tab_of(name: str | None, *, selected: bool) -> parts.TabKey:
    """The tab that was asked for; without one, an event shows itself, and the present its state."""
    for key, _ in TABS:
        if key == name:
            return key
    return "event" if selected else "state"


async def inspector(
    found: Services, session: SessionRow, row: EventRow | None, tab: parts.TabKey
) -> parts.Inspector:
    """The tabs and the panel of one."""
    number = row.number if row else None
    tabs = tuple(
        parts.Tab(key, label, session_url(session.key, event=number, tab=key), key == tab, str(i))
        for i, (key, label) in enumerate(TABS, 1)
    )
    panel = await _panel(found, session, row, tab)
    return parts.Inspector(tab=tab, tabs=tabs, panel=panel, sticky=row is not None)


async def _panel(
    found: Services, session: SessionRow, row: EventRow | None, tab: parts.TabKey
) -> parts.Panel:
    if tab == "state":
        return await state(found, session, row)
    if tab == "log":
        return await log(found, session, row)
    if row is None:
        title = "No event is selected"
        return parts.Hint(title, "Choose a row of the timeline, or step through them with j and k.")
    if tab == "raw":
        body = await found.journal.events.body(session.key, row.number)
        return parts.RawPanel(row.number, json_text(json.loads(body[1] if body else "{}")))
    return await detail(found, session, row)


async def detail(found: Services, session: SessionRow, row: EventRow) -> parts.EventDetail:
    """One event in full."""
    events = found.journal.events
    body = await events.body(session.key, row.number)
    changes = await found.journal.state.changes(session.key, row.number)
    chunks = await events.chunks(session.key, row.id) if row.chunks else []
    return event_detail(
        json.loads(body[1] if body else "{}"),
        row,
        changes,
        summary=Summary.from_json(row.summary),
        chunks=[json.loads(chunk) for chunk in chunks],
    )


async def state(found: Services, session: SessionRow, row: EventRow | None) -> parts.StatePanel:
    """The state as of an event, or now; `temp:` state is known while its run lives."""
    journal = found.journal
    live = found.runs.live(session.key)
    temp = live.temp if live and (row is None or row.run == live.row.id) else {}
    return state_panel(
        await journal.state.at(session.key, row.seq if row else None),
        await journal.state.changes(session.key, row.number) if row else (),
        temp,
        session=session.key,
        number=row.number if row else None,
    )


async def log(found: Services, session: SessionRow, row: EventRow | None) -> parts.LogPanel:
    """The output of the event's run, or of the newest."""
    last = await found.journal.runs.newest(session.key)
    newest = last.id if last else None
    run = row.run if row and row.run else newest
    lines = await found.journal.runs.output(run, limit=LOG_LINES) if run else []
    live = found.runs.live(session.key)
    waiting = live.output if live and live.row.id == run else []
    shown = [log_line(number, line) for number, line in lines]
    shown += [log_line(len(shown) + i, line) for i, line in enumerate(waiting, 1)]
    return parts.LogPanel(run=run, lines=tuple(shown), live=row is None or run == newest)


async def transport(
    found: Services, session: SessionRow, row: EventRow | None, tab: str | None
) -> parts.Transport:
    """The bar at the bottom: where in the session the page stands."""
    kinds = [kind_of(kind) for kind in await found.journal.events.kinds(session.key)]
    count = len(kinds)
    at = row.number if row else None
    before = (at - 1) if at else count
    spoken = f"event {at} of {count}, {WORDS[kinds[at - 1]]}" if at else f"live, {count} events"
    return parts.Transport(
        action=session_url(session.key),
        ticks=ticks(kinds),
        selected=at,
        spoken=spoken,
        previous_href=session_url(session.key, event=before, tab=tab) if before >= 1 else None,
        next_href=session_url(session.key, event=at + 1, tab=tab) if at and at < count else None,
        live_href=session_url(session.key),
    )
