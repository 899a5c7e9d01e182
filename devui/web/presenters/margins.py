"""What stands beside the events in the timeline: marks of breakpoints, and what answers cost."""

from dataclasses import dataclass
from typing import Final, Self

from markupsafe import Markup

from devui.debugger.breakpoints.breakpoints import Draft, is_about
from devui.debugger.prices import Prices
from devui.debugger.summary import Summary
from devui.store.rows import EventRow, SessionRow
from devui.web.links import break_sheet_url, session_url
from devui.web.parts import every as parts
from devui.web.presenters.breaking import described, stop_shape
from devui.web.push import fill
from devui.web.services import Services

_FOLLOWED: Final = 1000
"""The newest events whose marks follow a change of breakpoints at once."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A breakpoint of the app, as one user has it."""

    number: int
    draft: Draft
    is_on: bool

    @property
    def shape(self) -> parts.GutterShape:
        """How its mark is drawn."""
        return stop_shape(self.draft)

    def __str__(self) -> str:
        noun = "Logpoint" if self.draft.log else "Breakpoint"
        when = f", if {self.draft.condition}" if self.draft.condition else ""
        return f"{noun} {self.number}: {described(self.draft)}{when}{'' if self.is_on else ', off'}"


_LOUDNESS: Final = ("break", "conditional", "log")


@dataclass(frozen=True, slots=True)
class Margins:
    """For the rows of one session, as its user has the breakpoints."""

    prices: Prices
    stops: tuple[Stop, ...] = ()

    @classmethod
    def of(cls, found: Services, session: SessionRow) -> Self:
        """As things are now."""
        book = found.book
        return cls(
            found.prices,
            tuple(
                Stop(each.row.id, each.breakpoint.draft, book.is_on(each, session.user))
                for each in book.of(session.app)
            ),
        )

    def cost(self, summary: Summary) -> float | None:
        """What the event's answer cost; None for unknown, and for no answer."""
        return None if summary.usage is None else self.prices.cost(summary.usage)

    def here(self, row: EventRow, summary: Summary) -> list[Stop]:
        """The breakpoints that sit at the event, the loudest first."""
        here = [stop for stop in self.stops if is_about(stop.draft, row.author, summary)]
        return sorted(here, key=lambda stop: (not stop.is_on, _LOUDNESS.index(stop.shape)))

    def mark(self, row: EventRow, summary: Summary) -> parts.GutterMark:
        """The mark at the event's left edge: the loudest of the breakpoints that sit there."""
        here = self.here(row, summary)
        return parts.GutterMark(
            number=row.number,
            href=session_url(row.session, event=row.number, tab="event"),
            sheet=break_sheet_url(row.session, row.number),
            shape=here[0].shape if here else "",
            is_on=bool(here) and here[0].is_on,
            label="; ".join(map(str, here)),
        )


class LiveMarks:
    """The marks of one reader's page, which change when breakpoints do."""

    def __init__(self, found: Services) -> None:
        self._found = found
        self._shown: Margins | None = None

    async def changes(self, session: SessionRow) -> Markup:
        """The pieces for marks that are other than before; at first, for all that there are."""
        before = self._shown or Margins(self._found.prices)
        now = self._shown = Margins.of(self._found, session)
        pieces = Markup("")
        if before == now:
            return pieces
        for row in await self._found.journal.events.page(session.key, limit=_FOLLOWED):
            summary = Summary.from_json(row.summary)
            mark = now.mark(row, summary)
            if mark != before.mark(row, summary):
                pieces += fill(f"#g-{row.number}", self._found.render.part(mark))
        return pieces
