"""The inspector: what its current tab shows of the selected event, or of the session as it is
now."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from devui.debugger.history.rewinds import effective_rewinds
from devui.debugger.secrets.fragments import clean_fragments
from devui.store.rows import EditRow, EventRow, SessionRow
from devui.store.runs.calls import results
from devui.web.basic_parts import Failure
from devui.web.links import edit_state_url, log_tab_url, log_url, session_url, whole_event_url
from devui.web.page_query import EVERYTHING, PageQuery
from devui.web.panels.artifacts.panel import artifacts_panel
from devui.web.panels.artifacts.saved import saved_files
from devui.web.panels.breakpoints.panel import breakpoints_panel, enabled_count
from devui.web.panels.chat.content_parts import ContentPart, TextPart
from devui.web.panels.graph.panel import graph_panel
from devui.web.panels.hold.panel import pending
from devui.web.panels.inspector.detail import edit_url, event_detail
from devui.web.panels.inspector.edits import event_edits, mark_numbers, with_args_run
from devui.web.panels.inspector.log import log_line
from devui.web.panels.inspector.parts import (
    EventDetail,
    Hint,
    Inspector,
    LogPanel,
    Panel,
    RawPanel,
    StatePanel,
    StateTab,
    Tab,
    TabKey,
)
from devui.web.panels.recovery.actions import is_resumable, opening_message
from devui.web.panels.recovery.parts import ForkForm
from devui.web.panels.request.answer import differs_from_answer
from devui.web.panels.request.panel import request_panel
from devui.web.panels.runs.failure import event_failure
from devui.web.panels.runs.output import NumberedLine, last_output
from devui.web.panels.runs.panel import run_panel
from devui.web.panels.state.diff import state_diff, state_with
from devui.web.panels.state.editing import state_form
from devui.web.panels.state.key_history import key_history, pin_bar
from devui.web.panels.state.keys import further_changes, some_changes, some_state
from devui.web.panels.state.panel import state_panel
from devui.web.panels.state.uncommitted import event_notes, groups, of_run
from devui.web.panels.timeline.rewind_marks import rewind_mark
from devui.web.services import Services
from devui.web.text.formats import plural
from devui.web.text.jsontree import json_text
from devui.web.text.markdown import prepare
from devui.wire.events import Event
from devui.wire.gates import EDITED

TABS: Final[tuple[tuple[TabKey, str], ...]] = (
    ("event", "Event"),
    ("state", "State"),
    ("raw", "Raw"),
    ("log", "Log"),
    ("breaks", "Breaks"),
    ("run", "Run"),
    ("request", "Request"),
    ("graph", "Graph"),
    ("artifacts", "Files"),
)

LOG_LINES: Final = 1000
"""How many of the last lines of a run's output are shown; the log's own URL has all of them."""
_HEAVY: Final = 32 * 1024
"""The size of an event in bytes, or of a state in characters, above which panels are built on
another thread."""

T = TypeVar("T")


def tab_of(name: str | None, *, has_selection: bool) -> TabKey:
    """Return the requested tab; by default, Event for a selected event and State for the
    present."""
    for key, _ in TABS:
        if key == name:
            return key
    return "event" if has_selection else "state"


async def inspector(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    tab: TabKey,
    *,
    query: PageQuery = EVERYTHING,
) -> Inspector:
    """Return the tabs and the panel of the current one; `query` says what it shows."""
    number, at = row.number if row else None, query.at.number if query.at else None
    since = query.since.number if query.since else None
    tabs = tuple(
        Tab(
            key,
            label,
            session_url(
                session.key,
                event=number,
                tab=key,
                at=at,
                pin=query.pin,
                since=since,
                view=query.view,
            ),
            key == tab,
            str(i),
            count=enabled_count(services, session) if key == "breaks" else "",
        )
        for i, (key, label) in enumerate(TABS, 1)
    )
    if tab == "breaks":
        panel: Panel = await breakpoints_panel(services, session, row, query)
    elif tab == "request":
        panel = await request_panel(services, session, row or query.at, query.against)
    elif tab == "artifacts":
        panel = await artifacts_panel(services, session, row, query)
    else:
        panel = await _panel(services, session, row, tab, query=query)
    hits, pin = query.past if tab == "breaks" else None, query.pin
    return Inspector(
        tab=tab,
        tabs=tabs,
        panel=panel,
        sticky=row is not None,
        hits=hits,
        at=at,
        pin=await pin_bar(services, session, row, pin, tab=tab, query=query) if pin else None,
        since=since,
    )


async def _panel(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    tab: TabKey,
    *,
    query: PageQuery,
) -> Panel:
    if tab == "graph":
        return await graph_panel(services, session, row or query.at)
    if tab == "run":
        return await run_panel(services, session, query.activity)
    if tab == "state":
        return await _state_tab(services, session, row, query)
    if tab == "log":
        return await log(services, session, row)
    if row is None:
        title = "No event is selected"
        return Hint(title, "Select an event in the timeline, or step through events with j and k.")
    if tab == "raw":
        return await raw(services, session, row)
    until = query.at.number if query.at else None
    return await detail(services, session, row, fork=query.fork, until=until)


async def _state_tab(
    services: Services, session: SessionRow, row: EventRow | None, query: PageQuery
) -> StateTab:
    pin, since = query.pin, query.since
    return StateTab(
        await state(services, session, row, at=query.at)
        if since is None
        else await state_diff(services, session, row, since),
        state_with(session, row, query),
        await state_form(services, session, query.edit) if query.edit is not None else None,
        edit_state_url(session.key, "") if row is None and since is None else "",
        await key_history(services, session, row, pin, query=query) if pin else None,
    )


async def raw(services: Services, session: SessionRow, row: EventRow) -> RawPanel:
    """Return one event as JSON."""
    body = await services.journal.events.body(session.key, row.number)
    event = body[1] if body else Event("{}")
    edits = event_edits(await _edits(services, row, event), row.summary)
    whole = whole_event_url(session.key, row.number)
    text = await _build(row, lambda: json_text(event.fields, whole))
    return RawPanel(row.number, text, edits)


async def _edits(services: Services, row: EventRow, event: Event) -> list[EditRow]:
    """Return the edits that people made before an event was committed."""
    if not row.summary.edited:
        return []
    numbers = mark_numbers(event.metadata[EDITED])
    return [edit for edit in await services.journal.edits.list(row.session) if edit.id in numbers]


async def detail(
    services: Services,
    session: SessionRow,
    row: EventRow,
    *,
    fork: str = "",
    until: int | None = None,
) -> EventDetail:
    """Return one event in full, as of event `until`; `fork` says how its fork form is open."""
    events = services.journal.events
    body = await events.body(session.key, row.number)
    changes = await some_changes(services.journal, session.key, row.number)
    texts = await events.chunks(session.key, row.id) if row.chunks else ()
    chunks = [json.loads(text) for text in texts]
    clean_fragments(chunks, services.view.redactor())
    event = body[1] if body else Event("{}")
    edits = await _edits(services, row, event)
    touches = await of_run(services, session.key, row.run)
    notes = event_notes(touches, row, row.summary)
    note = await services.journal.notes.get(session.key, row.number)
    files = await saved_files(services.journal, session.key, [event])
    more_changes = await further_changes(services.journal, session.key, row.number, len(changes))
    panel = await _build(
        row,
        lambda: event_detail(
            event,
            row,
            changes,
            summary=row.summary,
            prices=services.prices,
            chunks=[Event.of(chunk) for chunk in chunks],
            edits=edits,
            notes=notes,
            note=note,
            saved_files=files,
            fork=fork,
        ),
    )
    panel = with_args_run(panel, await results(services.journal, row))
    await prepare(_markdown(panel.parts))
    rewinds = await effective_rewinds(services.journal, session.key, until=until)
    changed = await differs_from_answer(services.journal, row, event)
    form = await _runnable(services, session, row, panel.fork)
    return replace(
        panel,
        fork=form,
        more_changes=more_changes,
        edit_href=edit_url(row, form),
        failure=await _failure(services, row, event),
        rewind=rewind_mark(rewinds, row.number, session.key, "detail"),
        answer_href=session_url(session.key, event=row.number, tab="request") if changed else "",
    )


async def _runnable(
    services: Services, session: SessionRow, row: EventRow, form: ForkForm | None
) -> ForkForm | None:
    """Return the fork form limited to what can run in the fork.

    If the app can't resume, a fork can only rerun the message that led to the event, without edits
    to a call.
    """
    if form is None or is_resumable(services, session.app):
        return form
    if await opening_message(services, session.key, row.invocation_id) in {0, row.number}:
        return form
    if row.summary.kind != "call":
        return replace(form, reruns=True)
    return replace(form, reruns=True, event="", sections=(), choice="same")


async def _failure(services: Services, row: EventRow, event: Event) -> Failure | None:
    """Return the exception that an error event reports, if it ended the run."""
    if row.summary.kind != "error" or not row.run:
        return None
    run = await services.journal.runs.get(row.run)
    if run is None or run.error is None:
        return None
    later = await services.journal.events.page(row.session, after=row.seq, before=run.seq, limit=50)
    if any(each.run == row.run and each.summary.kind == "error" for each in later):
        return None  # the later one ended the run; its message may be the same, its traceback isn't
    return event_failure(event, run.error)


async def _build(row: EventRow, build: Callable[[], T]) -> T:
    """Build a panel about an event."""
    return await _beside(build, heavy=row.size > _HEAVY or row.chunks > 0)


async def _beside(build: Callable[[], T], *, heavy: bool) -> T:
    """Build a panel, a large one on another thread so that it doesn't block the event loop."""
    return await asyncio.to_thread(build) if heavy else build()


def _markdown(parts: Iterable[ContentPart]) -> Iterator[str]:
    """Yield the Markdown texts in an event's parts."""
    for part in parts:
        if isinstance(part, TextPart) and part.markdown:
            yield part.text


async def state(
    services: Services, session: SessionRow, row: EventRow | None, *, at: EventRow | None = None
) -> StatePanel:
    """Return the state as of an event, or now, on a page that is shown as of `at`.

    `temp:` state is known only while its run is in progress.
    """
    journal = services.journal
    live = services.runs.live(session.key)
    pending_groups = await groups(services, session, row, () if row else pending(live))
    temp = live.temp if live and (row is None or row.run == live.row.id) else {}
    number = row.number if row else None
    values, more = await some_state(journal, session.key, row.seq if row else None, number)
    changes = await some_changes(journal, session.key, row.number) if row else ()
    build = partial(
        state_panel,
        values,
        changes,
        dict(temp),
        session=session.key,
        number=number,
        at=at.number if at else None,
        pending=pending_groups,
        more=more,
        watched_keys=await journal.watched_keys.of(session.app),
    )
    return await _beside(build, heavy=sum(len(value.value) for value in values) > _HEAVY)


async def log(services: Services, session: SessionRow, row: EventRow | None) -> LogPanel:
    """Return the output of the event's run, or of the newest run."""
    newest = await services.journal.runs.newest(session.key)
    of_event = await services.journal.runs.get(row.run) if row and row.run else None
    run = of_event or newest
    lines = await last_output(services, run, LOG_LINES) if run else []
    return LogPanel(
        run=run.id if run else None,
        lines=tuple(log_line(number, line) for number, line in lines),
        live=row is None or of_event is None or of_event.id == (newest and newest.id),
        ask_href=log_tab_url(session.key, row.number if row else None),
        left_out=_left_out(lines),
        href=log_url(run.id) if run and lines else None,
    )


def _left_out(lines: Sequence[NumberedLine]) -> str:
    count = lines[0][0] - 1 if lines else 0
    return f"{plural(count, 'earlier line')} not shown" if count else ""
