"""The parts for breakpoints: the tab, the marks in the gutter, the sheet of a row."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Field


@dataclass(frozen=True, slots=True)
class WrongPlace:
    """The position of an error in a text."""

    template: ClassVar[str] = "breakpoints/wrong_place.html"
    before: str
    here: str
    """The wrong character; "" if something is missing at the end."""
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
    """The number of the edited breakpoint; None for a new one."""
    version: int | None = None
    wrong: WrongPlace | None = None
    """The position of the error in its field."""
    other_version: str = ""
    """The breakpoint as somebody else has changed it meanwhile; "" if nobody has."""

    @property
    def is_refused(self) -> bool:
        """Whether something has to be corrected."""
        fields = (self.name, self.agent, self.condition, self.hit, self.log)
        return bool(self.other_version) or any(field.error for field in fields)


@dataclass(frozen=True, slots=True)
class BreakpointItem:
    """One breakpoint of the app. Goes into `#{id}`."""

    template: ClassVar[str] = "breakpoints/item.html"
    id: str
    """`b-3` in the tab, `s-3` in the sheet of a row."""
    number: int
    version: int
    """Sent with each change, which is refused if the breakpoint has a newer version."""
    enabled: bool
    what: str
    """`tool find_airports of TravelAgent`."""
    condition: str
    hit: str
    log: str
    """The line that a logpoint writes; "" for a breakpoint that holds the run."""
    hits: str
    """`hit 3 times`; "" for never."""
    action: str
    """Where to POST to switch it on or off."""
    delete_action: str
    past_href: str
    """The page with its past hits in the session."""
    form: BreakpointForm
    by: str = ""
    """Who set it, `by mcp:claude`; empty if it was set on a page."""
    is_changed: bool = False
    """Whether it was just edited, and gets the focus."""


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
    """The past hits of a breakpoint in the session."""

    what: str
    hits: tuple[PastHit, ...]
    previous_href: str | None
    next_href: str | None
    note: str
    """The number of hits, and how far the session was scanned."""


@dataclass(frozen=True, slots=True)
class BreakpointsPanel:
    """The inspector's tab for breakpoints."""

    template: ClassVar[str] = "breakpoints/panel.html"
    app: str
    breakpoints: Breakpoints
    form: BreakpointForm
    past: PastHits | None
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """`tools` and `agents` are the app's, as suggestions for the form."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A breakpoint that one click adds."""

    label: str
    """`before get_weather`, `on any text from planner`."""
    value: str
    """The breakpoint as JSON, in the format of the endpoint."""


@dataclass(frozen=True, slots=True)
class SimilarEvents:
    """The offers of breakpoints on similar events, and of running to the next one."""

    template: ClassVar[str] = "breakpoints/like_this.html"
    action: str
    first: Offer
    """The offer on the event's rarest trait."""
    others: tuple[Offer, ...]
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
    """The link to the event's detail, which offers the same without JavaScript."""
    sheet: str
    """The URL of the sheet."""
    shape: MarkShape | Literal[""]
    """The shape of the mark; "" if there is no breakpoint."""
    is_on: bool
    label: str
    """`Breakpoint 3: call event of TravelAgent`, with a semicolon between several."""


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait of the event that similar events can be required to have."""

    value: str
    """The value that the form sends."""
    label: str
    """`author`, `tool`."""
    text: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class BreakpointsHere:
    """The existing breakpoints at an event. Goes into `#sheet-here`."""

    template: ClassVar[str] = "breakpoints/here.html"
    items: tuple[BreakpointItem, ...]


@dataclass(frozen=True, slots=True)
class RenewBreakpointsHere:
    """Makes an open sheet reload its `BreakpointsHere`. Its element is `#sheet-ask`."""

    template: ClassVar[str] = "breakpoints/renew_here.html"
    href: str


@dataclass(frozen=True, slots=True)
class BreakpointSheet:
    """The form for a breakpoint on events with the checked traits. Goes into `#sheet`."""

    template: ClassVar[str] = "breakpoints/sheet.html"
    action: str
    number: int
    here: BreakpointsHere
    traits: tuple[Trait, ...]
    tab_href: str
    """The tab with all breakpoints."""
