"""What the URL of a session page requests."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from devui.debugger.breakpoints.hits import Past
from devui.debugger.events.matches import Matches
from devui.debugger.history.paths import Pin
from devui.debugger.history.state_diff import Moment
from devui.debugger.predicates.filters import NO_FILTER, FilterInput
from devui.debugger.runs.activity import RunActivity
from devui.store.rows import EventRow
from devui.web.panels.breakpoints.parts import BreakpointForm

View: TypeAlias = Literal["trace"]
"""What the middle pane shows instead of the events."""
TRACE: Final[View] = "trace"


def view_of(name: str | None) -> View | None:
    """Return the requested view; None for the events."""
    return TRACE if name == TRACE else None


@dataclass(frozen=True, slots=True)
class PageQuery:
    """The query of a session page; its tabs and its timeline are built for it."""

    past: int | None = None
    """The number of the breakpoint whose past hits are shown."""
    hits: Past | None = None
    """Its past hits, if already searched for."""
    form: BreakpointForm | None = None
    """The breakpoint form to show again with its errors, if it was refused."""
    fork: str = ""
    """How the fork form is open: `edit` to change the event; "" if it is closed."""
    against: int | None = None
    """The model call that a request is compared with, 0 for the previous one; or the version that
    an artifact is compared with."""
    at: EventRow | None = None
    """The event that the whole page is shown as of."""
    pin: Pin | None = None
    """The state key whose history is shown."""
    since: Moment | None = None
    """The moment whose state is compared with the state at the selection."""
    filter_field: FilterInput = NO_FILTER
    """The filter of the timeline, as typed."""
    matches: Matches | None = None
    """The events that match the filter."""
    edit: str | None = None
    """The state key whose edit form is shown; "" for a new key."""
    file: str | None = None
    """The name of the artifact shown; `against` is the version it is compared with."""
    version: int | None = None
    """The version of the artifact; None for the newest."""
    view: View | None = None
    """What is shown instead of the timeline; None for the timeline itself."""
    activity: RunActivity | None = None
    """What the newest run is waiting for, if its tab is shown and its worker has already been
    asked."""

    @property
    def filter(self) -> str:
        """The active filter, for URLs; empty if there is none."""
        return self.filter_field.filter.text if self.filter_field.filter else ""


EVERYTHING: Final = PageQuery()
