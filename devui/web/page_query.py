"""What the address of a session page asks for."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from devui.debugger.breakpoints.past import Past
from devui.debugger.events.matches import Matches
from devui.debugger.history.paths import Pin
from devui.debugger.history.state_diff import Moment
from devui.debugger.predicates.filters import NOTHING_TYPED, Typed
from devui.debugger.runs.standing import Standing
from devui.store.rows import EventRow
from devui.web.panels.breakpoints.parts import BreakpointForm

View: TypeAlias = Literal["trace"]
"""What the middle pane shows in the place of the events."""
TRACE: Final[View] = "trace"


def view_of(name: str | None) -> View | None:
    """The requested view; None for the events."""
    return TRACE if name == TRACE else None


@dataclass(frozen=True, slots=True)
class PageQuery:
    """A page, its tabs and its timeline are made for one of these."""

    past: int | None = None
    """The breakpoint whose hits over the past are shown."""
    hits: Past | None = None
    """These hits, if they were looked for already."""
    form: BreakpointForm | None = None
    """A form that was refused."""
    fork: str = ""
    """How the form for a fork is to be open: `edit` to change the event; "" for folded up."""
    against: int | None = None
    """The model call that a request is compared with, 0 for the one before; or the version that an
    artifact is."""
    at: EventRow | None = None
    """The event that the whole page is as of."""
    pin: Pin | None = None
    """The state key whose history is shown."""
    since: Moment | None = None
    """The moment whose state is compared with that of what is selected."""
    filter_field: Typed = NOTHING_TYPED
    """What the timeline is to be narrowed to."""
    matches: Matches | None = None
    """The events that it is narrowed to."""
    edit: str | None = None
    """The state key whose form is shown; "" for a new one."""
    file: str | None = None
    """The name of the artifact that is shown; `against` is the version it is compared with."""
    version: int | None = None
    """Its version; None for the newest."""
    view: View | None = None
    """What is shown in the place of the timeline; None for the timeline itself."""
    standing: Standing | None = None
    """What the newest run waits for, if its tab is shown and its worker was asked already."""

    @property
    def filter(self) -> str:
        """The filter in force, for addresses; an empty text for none."""
        return self.filter_field.filter.text if self.filter_field.filter else ""


EVERYTHING: Final = PageQuery()
