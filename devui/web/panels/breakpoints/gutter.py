"""The gutter of the timeline: the breakpoints at each event, and the cost of its model call."""

from dataclasses import dataclass
from typing import Final, Self

from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.breakpoints.breakpoint import Draft, marks
from devui.debugger.events.prices import Prices
from devui.debugger.predicates.facts import Facts
from devui.store.rows import EventRow, SessionRow
from devui.store.summaries import Summary
from devui.web.links import break_sheet_url, session_url
from devui.web.panels.breakpoints.descriptions import description, mark_shape
from devui.web.panels.breakpoints.parts import GutterMark, MarkShape


@dataclass(frozen=True, slots=True)
class Marker:
    """A breakpoint of the app, as one user has switched it."""

    number: int
    draft: Draft
    is_on: bool

    @property
    def shape(self) -> MarkShape:
        """The shape of its mark."""
        return mark_shape(self.draft)

    def __str__(self) -> str:
        noun = "Logpoint" if self.draft.log else "Breakpoint"
        condition = f", if {self.draft.condition}" if self.draft.condition else ""
        off = "" if self.is_on else ", off"
        return f"{noun} {self.number}: {description(self.draft)}{condition}{off}"


_SHAPES: Final = ("break", "conditional", "log")


@dataclass(frozen=True, slots=True)
class Gutter:
    """The breakpoints of a session's app, as its user has switched them."""

    prices: Prices
    markers: tuple[Marker, ...] = ()

    @classmethod
    def of(cls, book: BreakpointBook, prices: Prices, session: SessionRow) -> Self:
        """Return the breakpoints as they are now."""
        return cls(
            prices,
            tuple(
                Marker(each.row.id, each.breakpoint.draft, book.is_on(each, session.user))
                for each in book.of(session.app)
            ),
        )

    def cost(self, summary: Summary) -> float | None:
        """Return the cost of the model's response in dollars; None if it is unknown or there is
        none."""
        return None if summary.usage is None else self.prices.cost(summary.usage)

    def here(self, row: EventRow, summary: Summary) -> list[Marker]:
        """Return the breakpoints at an event: enabled ones first, then those that hold the run."""
        facts = Facts.of(row, summary)
        here = [marker for marker in self.markers if marks(marker.draft, facts)]
        return sorted(here, key=lambda marker: (not marker.is_on, _SHAPES.index(marker.shape)))

    def mark(self, row: EventRow, summary: Summary) -> GutterMark:
        """Return the mark at the left edge of a row, which shows the first breakpoint at the
        event."""
        here = self.here(row, summary)
        return GutterMark(
            number=row.number,
            href=session_url(row.session, event=row.number, tab="event"),
            sheet=break_sheet_url(row.session, row.number),
            shape=here[0].shape if here else "",
            is_on=bool(here) and here[0].is_on,
            label="; ".join(map(str, here)),
        )
