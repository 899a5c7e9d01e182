"""Breakpoints on the session page: the list, the form for a new one, those like an event."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.parts.apps import Field


@dataclass(frozen=True, slots=True)
class WrongPlace:
    """Where in a text a mistake is."""

    template: ClassVar[str] = "parts/wrong_place.html"
    before: str
    here: str
    """The character; "" when something is missing at the end."""
    after: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a select."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class BreakForm:
    """A breakpoint to be made or changed; what was refused keeps what was typed.

    Goes into `#{id}-form`.
    """

    template: ClassVar[str] = "parts/break_form.html"
    id: str
    """What the ids of its fields begin with."""
    action: str
    kinds: tuple[Choice, ...]
    after: bool
    name: Field
    agent: Field
    condition: Field
    hit: Field
    log: Field
    number: int | None = None
    """The breakpoint that is changed; None for one to be made."""
    version: int | None = None
    wrong: WrongPlace | None = None
    """The place of the one error, in the text of its field."""
    overtaken: str = ""
    """What it says since somebody else has changed it; "" if nobody has."""

    @property
    def is_refused(self) -> bool:
        """Whether the reader has to look at it once more."""
        fields = (self.name, self.agent, self.condition, self.hit, self.log)
        return bool(self.overtaken) or any(field.error for field in fields)


@dataclass(frozen=True, slots=True)
class BreakpointItem:
    """One breakpoint of the app. Goes into `#{id}`."""

    template: ClassVar[str] = "parts/breakpoint.html"
    id: str
    """`b-3` in the tab, `s-3` in the sheet that the gutter opens."""
    number: int
    version: int
    """A change says which version it was decided upon."""
    enabled: bool
    what: str
    """`tool find_airports of TravelAgent`."""
    condition: str
    hit: str
    log: str
    """What a logpoint says; "" when the breakpoint stops."""
    hits: str
    """`met 3 times`; "" when it never was."""
    action: str
    """Where it is switched."""
    delete_action: str
    past_href: str
    """The page with its hits over the session's past."""
    form: BreakForm
    """What of it can be changed."""
    is_changed: bool = False
    """The reader has just changed it, and goes on from here."""


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """The app's breakpoints. Goes into `#breakpoints`."""

    template: ClassVar[str] = "parts/breakpoints.html"
    items: tuple[BreakpointItem, ...]


@dataclass(frozen=True, slots=True)
class PastHit:
    """An event at which the breakpoint would have been met."""

    number: int
    text: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class PastHits:
    """Where in the session a breakpoint would have been met."""

    what: str
    hits: tuple[PastHit, ...]
    previous_href: str | None
    next_href: str | None
    note: str
    """How far was looked, and what is not shown."""


@dataclass(frozen=True, slots=True)
class BreaksPanel:
    """The inspector's tab for breakpoints."""

    template: ClassVar[str] = "parts/breaks_panel.html"
    app: str
    user: str
    """For whom they are switched here."""
    breakpoints: Breakpoints
    form: BreakForm
    past: PastHits | None


@dataclass(frozen=True, slots=True)
class Offer:
    """A breakpoint that one click makes."""

    label: str
    value: str
    """The breakpoint as JSON, as the endpoint takes it."""


@dataclass(frozen=True, slots=True)
class LikeThis:
    """Breakpoints like an event, and going on to the next like it."""

    template: ClassVar[str] = "parts/like_this.html"
    action: str
    offers: tuple[Offer, ...]
    run_to: str
    """What `run_to` runs to, as JSON."""
