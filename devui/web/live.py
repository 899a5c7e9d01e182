"""The session page's stream: what happens, as pieces of the page (Law 5).

One object per reader. It remembers what a row needs of the rows before it (the time, the
invocation, who spoke last) and renders each batch of news with the same parts as the page.
"""

import json

from markupsafe import Markup

from devui.debugger.feed import Batch
from devui.debugger.news import (
    AppChanged,
    EventCommitted,
    News,
    OutputArrived,
    PartialArrived,
    RunChanged,
    RunStuck,
    SessionChanged,
)
from devui.debugger.summary import Summary
from devui.store.rows import EventRow, SessionRow
from devui.web.chat import chat_message, spoken_by, tool_outcomes
from devui.web.inspection import log_line, state
from devui.web.kinds import kind_of
from devui.web.lists import session_title
from devui.web.notices import notices
from devui.web.parts import Notice
from devui.web.push import append, fill, replace
from devui.web.rows import event_row, group_id, invocation_header
from devui.web.runs import run_end, run_note, run_status
from devui.web.services import Services
from devui.web.ticks import ticks
from devui.web.workbench import app_status, composer_state, live_chat, live_rows, totals


class LivePage:
    """What one reader's page shows, as far as the next piece depends on it."""

    def __init__(self, found: Services, session: SessionRow, *, tail: bool) -> None:
        self._found = found
        self._session = session
        self._tail = tail
        self._group: list[tuple[EventRow, Summary]] = []
        self._speaker: str | None = None
        self._kinds: list[str] = []

    async def begin(self, after: int) -> None:
        """Learn what the page shows up to the journal's `after`."""
        events = self._found.journal.events
        before = await events.page(self._session.key, before=after + 1, limit=100)
        last = before[-1].invocation_id if before else None
        told = ((row, Summary.from_json(row.summary)) for row in before)
        self._group = [(row, summary) for row, summary in told if row.invocation_id == last]
        kinds = await events.kinds(self._session.key)
        self._kinds = kinds[: before[-1].number if before else 0]

    async def render(self, batch: Batch) -> Markup:
        """The pieces for a batch of news; an empty text when the page needs nothing."""
        pieces = [self._piece(news) for news in batch.news]
        kinds = {type(news) for news in batch.news}
        if EventCommitted in kinds:
            pieces += await self._after_events()
        if kinds & {EventCommitted, PartialArrived, RunChanged}:
            pieces.append(self._in_flight())
        if kinds & {RunChanged, AppChanged, RunStuck}:
            pieces.append(await self._status())
        return Markup("").join(pieces)

    def _piece(self, news: News) -> Markup:
        if isinstance(news, EventCommitted):
            return self._event(news)
        if isinstance(news, RunChanged):
            return self._run(news)
        if isinstance(news, OutputArrived):
            lines = [log_line(news.first + i, line) for i, line in enumerate(news.lines)]
            return append("#log-live", self._found.render.parts(lines))
        if isinstance(news, SessionChanged):
            return self._renamed(news.session)
        return Markup("")

    # --- events ----------------------------------------------------------------------------

    def _event(self, news: EventCommitted) -> Markup:
        row, summary = news.row, Summary.from_json(news.row.summary)
        self._kinds.append(row.kind)
        if not self._tail:
            return Markup("")
        render, previous = self._found.render, self._group[-1][0] if self._group else None
        same = previous is not None and previous.invocation_id == row.invocation_id
        self._group = [*(self._group if same else []), (row, summary)]
        header = render.part(invocation_header(self._group))
        line = render.part(event_row(row, summary, previous.timestamp if previous else None))
        if same:
            rows = replace(f"#{group_id(row.invocation_id)}", header) + append("#rows", line)
        else:
            rows = append("#rows", header + line)
        return rows + self._message(news, summary)

    def _message(self, news: EventCommitted, summary: Summary) -> Markup:
        number, key = news.row.number, self._session.key
        message = chat_message(
            number, json.loads(news.data), summary, session=key, previous_author=self._speaker
        )
        pieces = Markup("")
        if message is not None:
            self._speaker = spoken_by(message)
            pieces += append("#messages", self._found.render.part(message))
        for outcome in tool_outcomes(number, summary, session=key):
            pieces += fill(f"#{outcome.slot}", self._found.render.part(outcome))
        return pieces

    async def _after_events(self) -> list[Markup]:
        render, key = self._found.render, self._session.key
        self._session = await self._found.journal.sessions.get(key) or self._session
        marks = ticks([kind_of(kind) for kind in self._kinds])
        return [
            fill("#totals", render.part(await totals(self._found.journal, self._session))),
            fill("#ticks", render.part(marks)),
            replace("#state-live", render.part(await state(self._found, self._session, None))),
        ]

    # --- the run ---------------------------------------------------------------------------

    def _run(self, news: RunChanged) -> Markup:
        render = self._found.render
        pieces = fill("#run", render.part(run_status(news.run)))
        end, note = run_end(news.run), run_note(news.run)
        if self._tail and end is not None and note is not None:
            pieces += append("#rows", render.part(end)) + append("#messages", render.part(note))
            self._speaker = None
        return pieces

    def _in_flight(self) -> Markup:
        render, live = self._found.render, self._found.runs.live(self._session.key)
        rows = fill("#live-rows", render.part(live_rows(live)))
        return rows + fill("#live-chat", render.part(live_chat(live)))

    async def _status(self) -> Markup:
        found, session = self._found, self._session
        live, app = found.runs.live(session.key), app_status(found, session.app)
        told = found.render.parts(notices(session.app, app, live))
        composer = found.render.part(composer_state(live, app))
        figures = found.render.part(await totals(found.journal, session))
        return fill("#notice", told) + fill("#composer-state", composer) + fill("#totals", figures)

    def _renamed(self, session: SessionRow | None) -> Markup:
        render = self._found.render
        if session is None:
            gone = Notice("bad", "This session was deleted.", href="/", label="All apps")
            return fill("#notice", render.part(gone))
        self._session = session
        return fill("#title", render.part(session_title(session)))
