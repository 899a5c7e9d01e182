"""Marks for dirty reads whose write was lost, on the rows of the events that they led to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from markupsafe import Markup

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import EventCommitted
from devui.debugger.runs.uncommitted import TouchOutcome, touch_outcomes, who
from devui.store.journal import Journal
from devui.store.rows import EventRow as StoredEvent
from devui.store.rows import SessionRow
from devui.web.htmx import replace as put
from devui.web.panels.state.uncommitted import of_run
from devui.web.panels.timeline.parts import EventRow, Flag, TimelineItem
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible

Lost: TypeAlias = Mapping[int, Flag]
_DIRTY: Final = '"dirty"'
"""Text in the summary of every event with such a note, and in hardly any other."""


async def lost_reads(
    journal: Journal, session: int, rows: Iterable[StoredEvent]
) -> dict[int, Flag]:
    """Return the marks of the session's events that need one, by event number."""
    runs = {row.run for row in rows if row.run and _DIRTY in row.summary_json}
    active = await journal.runs.active(session) if runs else None
    marks: dict[int, Flag] = {}
    for run in runs:
        over = active is None or active.id != run
        marks |= _marks(touch_outcomes(await journal.uncommitted.of_run(run), over=over))
    return marks


def with_lost_marks(items: Iterable[TimelineItem], marks: Lost) -> list[TimelineItem]:
    """Return the rows with these marks in place of those that only report the early read."""
    return [
        replace(item, flags=tuple(_instead(flag, marks[item.number]) for flag in item.flags))
        if isinstance(item, EventRow) and item.number in marks
        else item
        for item in items
    ]


def _instead(flag: Flag, mark: Flag) -> Flag:
    return mark if flag.kind == mark.kind else flag


def _marks(touches: Sequence[TouchOutcome]) -> dict[int, Flag]:
    writes = {item.touch.number: item for item in touches if item.touch.reads is None}
    by_event: dict[int, list[str]] = {}
    for item in touches:
        write = writes.get(item.touch.reads or 0)
        if item.event is not None and item.outcome == "lost" and write is not None:
            text = f"{write.touch.key}, written by {who(write.touch)}"
            by_event.setdefault(item.event, []).append(text)
    return {number: _mark("; ".join(dict.fromkeys(texts))) for number, texts in by_event.items()}


def _mark(detail: str) -> Flag:
    hint = visible(f"read, and never committed: {detail}")
    return Flag("dirty", "dirty read, lost", hint, "warning")


class LostReadUpdates:
    """The marks that one reader's page gets when a write turns out to be lost.

    They are looked up once per batch, and the rows that the batch adds are rendered with them:
    an update in the same message wouldn't find those rows on the page.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._page_marks: dict[int, Flag] = {}
        self.marks: Lost = {}
        """The marks of the newest run, as of the last batch."""

    async def changes(self, session: SessionRow, batch: Batch) -> Markup:
        """Return updates for the rows on the page whose mark is new."""
        live = self._services.runs.live(session.key)
        if live is not None and not live.touches.read:
            self.marks = {}
            return Markup("")
        newest = await self._services.journal.runs.newest(session.key)
        self.marks = _marks(
            await of_run(self._services, session.key, newest.id if newest else None)
        )
        added = {news.row.number for news in batch.news if isinstance(news, EventCommitted)}
        new = {
            n: mark
            for n, mark in self.marks.items()
            if n not in self._page_marks and n not in added
        }
        self._page_marks |= self.marks
        part = self._services.render.part
        pieces = (put(f"#e-{number} .flag.dirty", part(mark)) for number, mark in new.items())
        return Markup("").join(pieces)
