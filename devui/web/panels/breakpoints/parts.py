"""What the page shows of breakpoints: the tab, the marks in the gutter, the sheet of a row."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Field


@dataclass(frozen=True, slots=True)
class WrongPlace:
    """Where in a text an error is."""

    template: ClassVar[str] = "breakpoints/wrong_place.html"
    before: str
    here: str
    """The character; "" if something is missing at the end."""
    after: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a select."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class BreakpointForm:
    """The form of a new or edited breakpoint. Goes into `#{id}-form`."""

    template: ClassVar[str] = "breakpoints/form.html"
    id: str
    """The prefix of its fields' ids."""
    action: str
    kinds: tuple[Choice, ...]
    after: bool
    name: Field
    agent: Field
    condition: Field
    hit: Field
    log: Field
    number: int | None = None
    """The breakpoint that is edited; None for a new one."""
    version: int | None = None
    wrong: WrongPlace | None = None
    """The place of the error in the text of its field."""
    overtaken: str = ""
    """How somebody else has changed it meanwhile; "" if nobody has."""

    @property
    def is_refused(self) -> bool:
        """Whether something has to be corrected."""
        fields = (self.name, self.agent, self.condition, self.hit, self.log)
        return bool(self.overtaken) or any(field.error for field in fields)


@dataclass(frozen=True, slots=True)
class BreakpointItem:
    """One breakpoint of the app. Goes into `#{id}`."""

    template: ClassVar[str] = "breakpoints/item.html"
    id: str
    """`b-3` in the tab, `s-3` in the sheet of a row."""
    number: int
    version: int
    """Sent with each change, which is refused if the breakpoint has another version by then."""
    enabled: bool
    what: str
    """`tool find_airports of TravelAgent`."""
    condition: str
    hit: str
    log: str
    """The line of a logpoint; "" for a breakpoint that stops."""
    hits: str
    """`hit 3 times`; "" for never."""
    action: str
    """Switches it on or off."""
    delete_action: str
    past_href: str
    """The page with its hits in the session's past."""
    form: BreakpointForm
    by: str = ""
    """`by mcp:claude`: who set it, unless it was someone on a page."""
    is_changed: bool = False
    """It was just edited, and gets the focus."""


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """The app's breakpoints. Goes into `#breakpoints`."""

    template: ClassVar[str] = "breakpoints/list.html"
    items: tuple[BreakpointItem, ...]


@dataclass(frozen=True, slots=True)
class PastHit:
    """An event at which the breakpoint would have been hit."""

    number: int
    text: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class PastHits:
    """Where in the session a breakpoint would have been hit."""

    what: str
    hits: tuple[PastHit, ...]
    previous_href: str | None
    next_href: str | None
    note: str
    """How many there are, and how far the session was scanned."""


@dataclass(frozen=True, slots=True)
class BreakpointsPanel:
    """The inspector's tab for breakpoints."""

    template: ClassVar[str] = "breakpoints/panel.html"
    app: str
    user: str
    """Whose switches these are."""
    breakpoints: Breakpoints
    form: BreakpointForm
    past: PastHits | None
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """What the app has, as suggestions for the form."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A breakpoint that one click adds."""

    label: str
    value: str
    """The breakpoint as JSON, as the endpoint takes it."""


@dataclass(frozen=True, slots=True)
class LikeThis:
    """Breakpoints on events like one, and running to the next of them."""

    template: ClassVar[str] = "breakpoints/like_this.html"
    action: str
    offers: tuple[Offer, ...]
    run_to: str
    """The kind, agent and tool of the event to run to, as JSON."""


# --- the gutter: the left edge of the timeline's rows ----------------------------------------

MarkShape = Literal["break", "conditional", "log"]


@dataclass(frozen=True, slots=True)
class GutterMark:
    """The left edge of a row, which opens the sheet. Goes into `#g-{number}`."""

    template: ClassVar[str] = "breakpoints/gutter_mark.html"
    number: int
    href: str
    """The event's detail, which offers the same without JavaScript."""
    sheet: str
    """The address of the sheet."""
    shape: MarkShape | Literal[""]
    """"" for no breakpoint."""
    is_on: bool
    label: str
    """`Breakpoint 3: call event of TravelAgent`, with a semicolon between several."""


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait of the event that others can be required to have."""

    value: str
    """As the form sends it."""
    label: str
    """`author`, `tool`."""
    text: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class BreakpointsHere:
    """The breakpoints that an event has already. Goes into `#sheet-here`."""

    template: ClassVar[str] = "breakpoints/here.html"
    items: tuple[BreakpointItem, ...]


@dataclass(frozen=True, slots=True)
class RenewBreakpointsHere:
    """Makes an open sheet reload its `BreakpointsHere`. Its element is `#sheet-ask`."""

    template: ClassVar[str] = "breakpoints/renew_here.html"
    href: str


@dataclass(frozen=True, slots=True)
class BreakpointSheet:
    """Break on events like one, by the traits that are checked. Goes into `#sheet`."""

    template: ClassVar[str] = "breakpoints/sheet.html"
    action: str
    number: int
    here: BreakpointsHere
    traits: tuple[Trait, ...]
    tab_href: str
    """The tab with all breakpoints."""
