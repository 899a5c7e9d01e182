"""What the timeline and the chat of one reader's page grow by.

A page does not grow with a run that makes events without end: when more than a window comes at
once, or the page has become several windows long, it gets the newest one in place of what it shows.
Who reads elsewhere keeps what is there.
"""

from typing import Final

from markupsafe import Markup

from devui.debugger.askers import askers_in
from devui.debugger.feed import Batch
from devui.debugger.filters import Filter
from devui.debugger.news import EventCommitted
from devui.debugger.summary import Summary
from devui.store.rows import RunRow, SessionRow
from devui.web.links import session_url
from devui.web.parts.chat import ChatMessage, ToolChip
from devui.web.parts.timeline import Later
from devui.web.presenters.chat import (
    answers_in,
    ask_slot,
    conversation,
    lost_outcome,
    open_slots,
    spoken_by,
    tool_outcomes,
    written,
)
from devui.web.presenters.filtering import of_run_end
from devui.web.presenters.livetimeline import LiveTimeline
from devui.web.presenters.lostreads import Lost, marked
from devui.web.presenters.rewound import LiveRewinds, taken_marked
from devui.web.presenters.runs import run_end, run_note
from devui.web.presenters.segments import segments
from devui.web.presenters.window import SIZE, body, window_before
from devui.web.presenters.workbench import newest
from devui.web.push import append, fill, remove
from devui.web.services import Services
from devui.web.text.markdown import prepare

LONGEST: Final = 4 * SIZE
"""Events on a page, beside what its reader has fetched, until it shows the newest window again."""
_FEW: Final = 8
_FOLLOWS, _STAYS = "#main[data-follows]", "#main:not([data-follows])"
"""Whether the reader is at the newest event."""
_GROWS: Final = ":not(:has(#later > *))"
"""Nothing is missing between what the page ends with and what comes now."""


class LiveHistory:
    """The events that one page shows, as far as the next piece depends on them."""

    def __init__(
        self, found: Services, session: SessionRow, *, tail: bool, wanted: Filter | None
    ) -> None:
        self._found = found
        self._session, self._key = session, session.key
        self._tail = tail
        """Whether the page ends with the newest event, so that new rows follow on."""
        self._rows = LiveTimeline(found, session, wanted)
        self._rewinds = LiveRewinds(found, session.key)
        self._wanted = wanted
        self._length = 0
        """How many events the page shows at the least."""
        self._speaker: str | None = None
        self._open: set[str] = set()
        """The chips of calls that have no result yet."""

    async def begin(self, after: int) -> int:
        """Learn what the page shows up to the journal's `after`; the number of its last event."""
        number = await self._rows.begin(after)
        self._length = min(number, SIZE)
        await self._rewinds.begin(number)
        going = await self._going(after)
        for row, summary in self._rows.group:
            if row.run in going:
                self._wait_for(row.number, summary)
        self._speaker = await self._last_speaker(after)
        return number

    async def _going(self, after: int) -> set[str]:
        """The runs that were under way then; one may have ended since, with its server, say."""
        live = self._found.runs.live(self._key)
        ended = await self._found.journal.runs.since(self._key, after)
        return {run.id for run in ended} | ({live.row.id} if live is not None else set())

    async def _last_speaker(self, after: int) -> str | None:
        """Who spoke last on the page; most often that is among the last few events."""
        for size in (_FEW, SIZE):
            window = await window_before(self._found.journal, self._key, after + 1, size=size)
            if messages := window.messages():
                last = messages[-1]
                return spoken_by(last) if isinstance(last, ChatMessage) else None
        return None

    async def add(self, batch: Batch, lost: Lost) -> Markup:
        """What is added, with the marks of lost reads, and what of the page was taken back."""
        self._rows.lost = lost
        marks = await self._rewinds.hear(batch)
        self._rows.taken = self._rewinds.taken
        return await self._grown(batch) + marks

    async def _grown(self, batch: Batch) -> Markup:
        """What is added; the newest window, if that is more or the page has become too long."""
        count = sum(isinstance(news, EventCommitted) for news in batch.news)
        if self._tail and count > SIZE:
            later = Later(session_url(self._key, only=self._wanted.text if self._wanted else ""))
            missed = fill(f"{_STAYS}{_GROWS} #later", self._found.render.part(later))
            return await self._window(batch) + missed
        self._length += count
        if not self._tail or self._length <= LONGEST:
            return await self._added(batch, "#main")
        added = await self._added(batch, _STAYS)
        return added + await self._window(batch)

    async def _window(self, batch: Batch) -> Markup:
        """The newest events in place of what the page shows, for who follows them."""
        found, render = self._found, self._found.render
        self._open.clear()
        await self.begin(batch.seq)
        shown = await newest(found, self._session, batch.seq, self._wanted)
        await prepare(written(shown.messages))
        items = marked(shown.items, self._rows.lost)
        top = render.part(shown.earlier) if shown.earlier else Markup("")
        return (
            fill(f"{_FOLLOWS} #rows", top + render.parts(items))
            + fill(f"{_FOLLOWS} #messages", render.parts(shown.messages))
            + fill(f"{_FOLLOWS} #later", Markup(""))
            + self._rows.said()
        )

    async def _added(self, batch: Batch, page: str) -> Markup:
        rows, messages, changed = Markup(""), Markup(""), Markup("")
        for events, drops, run in segments(batch.news):
            added, header = await self._rows.add([(item.row, item.data) for item in events], drops)
            rows, changed = rows + added, changed + header
            if events:
                said, outcomes = await self._messages(events, over=run is not None)
                messages, changed = messages + said, changed + outcomes
            if run is not None:
                row, note, outcomes = self._end(run)
                rows, messages, changed = rows + row, messages + note, changed + outcomes
        told = self._rows.said()
        if not self._tail:
            return told
        changed += told
        grows = page + _GROWS
        changed += append(f"{grows} #rows", rows) if rows else ""
        return changed + (append(f"{grows} #messages", messages) if messages else "")

    def _end(self, run: RunRow) -> tuple[Markup, Markup, Markup]:
        """The row and the message that a run ends with, and what became of its open calls."""
        render = self._found.render
        lost = [lost_outcome(slot) for slot in sorted(self._open)]
        self._open.clear()
        outcomes = Markup("").join(fill(f"#{o.slot}", render.part(o)) for o in lost)
        told = self._rows.failed
        end, note = run_end(run), run_note(run, told=told)
        if end is None or note is None:
            return Markup(""), Markup(""), outcomes
        self._speaker = None
        shown = self._wanted is None or self._wanted.holds(of_run_end(end))
        return render.part(end) if shown else Markup(""), render.part(note), outcomes

    def _wait_for(self, number: int, summary: Summary) -> None:
        self._open |= set(open_slots(number, summary))
        self._open -= {o.slot for o in tool_outcomes(number, summary, session=self._key)}

    async def _messages(self, news: list[EventCommitted], *, over: bool) -> tuple[Markup, Markup]:
        """Messages to add, and the outcomes that go into chips on the page; `over`: the run is."""
        key, render = self._key, self._found.render
        read = [(item.row, Summary.from_json(item.row.summary), item.data) for item in news]
        told = [(row.number, body(row, summary, data), summary) for row, summary, data in read]
        for number, _, summary in told:
            self._wait_for(number, summary)
        messages = conversation(
            told,
            session=key,
            previous_author=self._speaker,
            going_on=None if over else 0,
            askers=await askers_in(self._found.journal, key, [event for _, event, _ in told]),
        )
        messages = taken_marked(messages, self._rewinds.taken, key)
        if messages:
            self._speaker = spoken_by(messages[-1])
        await prepare(written(messages))
        chips = (part for said in messages for part in said.parts if isinstance(part, ToolChip))
        here = {chip.outcome.slot for chip in chips}
        outcomes = Markup("").join(
            fill(f"#{outcome.slot}", render.part(outcome))
            for number, _, summary in told
            for outcome in tool_outcomes(number, summary, session=key)
            if outcome.slot not in here
        )
        asked = Markup("").join(
            remove(f"#{ask_slot(answer.id)}")
            for _, event, summary in told
            for answer in answers_in(event.get("author"), summary)
            if answer.id
        )
        return render.parts(messages), outcomes + asked
