"""The left edge of the timeline's rows: marks of breakpoints, and the form for new ones."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.parts.breakpoints import BreakpointItem

GutterShape = Literal["break", "conditional", "log"]


@dataclass(frozen=True, slots=True)
class GutterMark:
    """What is at the left edge of a row, and opens the form. Goes into `#g-{number}`."""

    template: ClassVar[str] = "parts/gutter_mark.html"
    number: int
    href: str
    """The event's detail, which offers the same without a script."""
    sheet: str
    """The form."""
    shape: GutterShape | Literal[""]
    """"" where no breakpoint sits."""
    is_on: bool
    label: str
    """`Breakpoint 3: call event of TravelAgent`, with a semicolon between several."""


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that the event has, which the next one must have, too."""

    value: str
    """As the form sends it."""
    label: str
    """`author`, `tool`."""
    text: str
    taken: bool


@dataclass(frozen=True, slots=True)
class BreaksHere:
    """The breakpoints that sit on an event already. Goes into `#sheet-here`."""

    template: ClassVar[str] = "parts/breaks_here.html"
    items: tuple[BreakpointItem, ...]


@dataclass(frozen=True, slots=True)
class BreaksAsk:
    """Makes a sheet that is open ask for these anew. Its element is `#sheet-ask`."""

    template: ClassVar[str] = "parts/breaks_ask.html"
    href: str


@dataclass(frozen=True, slots=True)
class BreakSheet:
    """Break on events like one: what of it matters can be taken or left. Goes into `#sheet`."""

    template: ClassVar[str] = "parts/break_sheet.html"
    action: str
    number: int
    here: BreaksHere
    traits: tuple[Trait, ...]
    tab_href: str
    """The tab with all breakpoints."""
