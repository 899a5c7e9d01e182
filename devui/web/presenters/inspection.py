"""The inspector: what its tab shows of the selected event, or of the session as it is now."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from devui.debugger.fragments import clean_fragments
from devui.debugger.rewinds import taken_back
from devui.debugger.summary import Summary
from devui.store.rows import EditRow, EventRow, OutputLine, SessionRow
from devui.web.links import log_tab_url, log_url, session_url, whole_event_url
from devui.web.parts import every as parts
from devui.web.presenters.breaking import NOTHING_ASKED, Asked, break_count, breaks_panel
from devui.web.presenters.debugging import pending
from devui.web.presenters.detail import event_detail
from devui.web.presenters.interventions import event_edits, mark_numbers
from devui.web.presenters.keyhistory import key_history, pin_bar
from devui.web.presenters.request import request_panel
from devui.web.presenters.rewound import taken_mark
from devui.web.presenters.runs import log_line
from devui.web.presenters.standing import run_panel
from devui.web.presenters.statediff import state_diff, state_with
from devui.web.presenters.statepanel import state_panel
from devui.web.presenters.trace import trace_panel
from devui.web.presenters.uncommitted import event_notes, groups, of_run
from devui.web.services import Services
from devui.web.text.figures import plural
from devui.web.text.jsontext import json_text
from devui.web.text.markdown import prepare
from devui.wire.gates import EDITED

TABS: Final[tuple[tuple[parts.TabKey, str], ...]] = (
    ("event", "Event"),
    ("state", "State"),
    ("raw", "Raw"),
    ("log", "Log"),
    ("breaks", "Breaks"),
    ("run", "Run"),
    ("request", "Request"),
    ("trace", "Trace"),
)
LOG_LINES: Final = 1000
"""The last lines of a run's output, which are shown; the log's own address has all of them."""
_HEAVY: Final = 32 * 1024
"""Bytes of an event, or characters of a state, from which on their panels are put together on
another thread."""

T = TypeVar("T")


def tab_of(name: str | None, *, selected: bool) -> parts.TabKey:
    """The tab that was asked for; without one, an event shows itself, and the present its state."""
    for key, _ in TABS:
        if key == name:
            return key
    return "event" if selected else "state"


async def inspector(
    found: Services,
    session: SessionRow,
    row: EventRow | None,
    tab: parts.TabKey,
    *,
    asked: Asked = NOTHING_ASKED,
) -> parts.Inspector:
    """The tabs and the panel of one; `asked` is what it shows of it."""
    number, at = row.number if row else None, asked.at.number if asked.at else None
    since = asked.since.number if asked.since else None
    tabs = tuple(
        parts.Tab(
            key,
            label,
            session_url(session.key, event=number, tab=key, at=at, pin=asked.pin, since=since),
            key == tab,
            str(i),
            count=break_count(found, session) if key == "breaks" else "",
        )
        for i, (key, label) in enumerate(TABS, 1)
    )
    if tab == "breaks":
        panel: parts.Panel = await breaks_panel(found, session, row, asked)
    elif tab == "request":
        panel = await request_panel(found, session, row, asked.against)
    else:
        panel = await _panel(found, session, row, tab, asked=asked)
    hits, pin = asked.past if tab == "breaks" else None, asked.pin
    return parts.Inspector(
        tab=tab,
        tabs=tabs,
        panel=panel,
        sticky=row is not None,
        hits=hits,
        at=at,
        pin=await pin_bar(found, session, row, pin, tab=tab, asked=asked) if pin else None,
        since=since,
    )


async def _panel(
    found: Services,
    session: SessionRow,
    row: EventRow | None,
    tab: parts.TabKey,
    *,
    asked: Asked,
) -> parts.Panel:
    if tab == "trace":
        return await trace_panel(found, session, row)
    if tab == "run":
        return await run_panel(found, session)
    if tab == "state":
        return await _state_tab(found, session, row, asked)
    if tab == "log":
        return await log(found, session, row)
    if row is None:
        title = "No event is selected"
        return parts.Hint(title, "Choose a row of the timeline, or step through them with j and k.")
    if tab == "raw":
        return await raw(found, session, row)
    until = asked.at.number if asked.at else None
    return await detail(found, session, row, fork=asked.fork, until=until)


async def _state_tab(
    found: Services, session: SessionRow, row: EventRow | None, asked: Asked
) -> parts.StateTab:
    pin, since = asked.pin, asked.since
    return parts.StateTab(
        await state(found, session, row, at=asked.at)
        if since is None
        else await state_diff(found, session, row, since),
        state_with(session, row, asked),
        await key_history(found, session, row, pin, asked=asked) if pin else None,
    )


async def raw(found: Services, session: SessionRow, row: EventRow) -> parts.RawPanel:
    """One event as its JSON."""
    body = await found.journal.events.body(session.key, row.number)
    data = body[1] if body else "{}"
    edits = event_edits(await _edits(found, row, data), Summary.from_json(row.summary))
    whole = whole_event_url(session.key, row.number)
    text = await _built(row, lambda: json_text(json.loads(data), whole))
    return parts.RawPanel(row.number, text, edits)


async def _edits(found: Services, row: EventRow, data: str) -> list[EditRow]:
    """What people did on the way to an event."""
    if not Summary.from_json(row.summary).edited:
        return []
    wanted = mark_numbers(json.loads(data)["customMetadata"][EDITED])
    return [edit for edit in await found.journal.edits.list(row.session) if edit.id in wanted]


async def detail(
    found: Services,
    session: SessionRow,
    row: EventRow,
    *,
    fork: bool = False,
    until: int | None = None,
) -> parts.EventDetail:
    """One event in full, as of the event `until`; `fork`: with the form for one open."""
    events = found.journal.events
    body = await events.body(session.key, row.number)
    changes = await found.journal.state.changes(session.key, row.number)
    texts = await events.chunks(session.key, row.id) if row.chunks else ()
    chunks = [json.loads(text) for text in texts]
    clean_fragments(chunks, found.veil.redactor())
    data = body[1] if body else "{}"
    edits = await _edits(found, row, data)
    touches = await of_run(found, session.key, row.run)
    notes = event_notes(touches, row, Summary.from_json(row.summary))
    note = await found.journal.notes.get(session.key, row.number)
    shown = await _built(
        row,
        lambda: event_detail(
            json.loads(data),
            row,
            changes,
            summary=Summary.from_json(row.summary),
            prices=found.prices,
            chunks=chunks,
            edits=edits,
            notes=notes,
            note=note,
            fork=fork,
        ),
    )
    await prepare(_written(shown.parts))
    taken = await taken_back(found.journal, session.key, until=until)
    return replace(shown, taken=taken_mark(taken, row.number, session.key, "detail"))


async def _built(row: EventRow, build: Callable[[], T]) -> T:
    """A panel about an event."""
    return await _beside(build, heavy=row.size > _HEAVY or row.chunks > 0)


async def _beside(build: Callable[[], T], *, heavy: bool) -> T:
    """A panel; a large one does not hold up everyone else meanwhile."""
    return await asyncio.to_thread(build) if heavy else build()


def _written(shown: Iterable[parts.ContentPart]) -> Iterator[str]:
    """The markdown of an event's parts."""
    for part in shown:
        if isinstance(part, parts.TextPart) and part.markdown:
            yield part.text


async def state(
    found: Services, session: SessionRow, row: EventRow | None, *, at: EventRow | None = None
) -> parts.StatePanel:
    """The state as of an event, or now, on a page that is as of `at`.

    `temp:` state is known while its run lives.
    """
    journal = found.journal
    live = found.runs.live(session.key)
    uncommitted = await groups(found, session, row, () if row else pending(live))
    temp = live.temp if live and (row is None or row.run == live.row.id) else {}
    values = await journal.state.at(session.key, row.seq if row else None)
    changes = await journal.state.changes(session.key, row.number) if row else ()
    build = partial(
        state_panel,
        values,
        changes,
        dict(temp),
        session=session.key,
        number=row.number if row else None,
        at=at.number if at else None,
        pending=uncommitted,
    )
    return await _beside(build, heavy=sum(len(value.value) for value in values) > _HEAVY)


async def log(found: Services, session: SessionRow, row: EventRow | None) -> parts.LogPanel:
    """The output of the event's run, or of the newest."""
    last = await found.journal.runs.newest(session.key)
    newest = last.id if last else None
    run = row.run if row and row.run else newest
    waiting = _waiting(found, session, run)  # first: what is written meanwhile is in both
    stored = await found.journal.runs.last_output(run, LOG_LINES) if run else []
    last_stored = stored[-1][0] if stored else 0
    lines = [*stored, *((number, line) for number, line in waiting if number > last_stored)]
    shown = lines[-LOG_LINES:]
    return parts.LogPanel(
        run=run,
        lines=tuple(log_line(number, line) for number, line in shown),
        live=row is None or run == newest,
        ask_href=log_tab_url(session.key, row.number if row else None),
        left_out=_left_out(shown),
        href=log_url(run) if run and shown else None,
    )


def _left_out(shown: list[tuple[int, OutputLine]]) -> str:
    count = shown[0][0] - 1 if shown else 0
    return f"{plural(count, 'earlier line')} not shown" if count else ""


def _waiting(found: Services, session: SessionRow, run: str | None) -> list[tuple[int, OutputLine]]:
    """The lines of a run that are not in the journal yet, with their numbers."""
    live = found.runs.live(session.key)
    if live is None or live.row.id != run:
        return []
    return list(enumerate(live.output, live.lines - len(live.output) + 1))
