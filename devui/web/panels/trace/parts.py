"""The models of the trace: the switch that leads to it, and the waterfall of a run's spans."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Moment

SpanType = Literal["agent", "model", "tool"]


@dataclass(frozen=True, slots=True)
class ViewLink:
    """Leads to one of the views."""

    key: Literal["events", "trace"]
    label: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class ViewSwitch:
    """Chooses between the events and the trace. Goes into `#views`."""

    template: ClassVar[str] = "trace/view_switch.html"
    links: tuple[ViewLink, ...]
    view: str | None
    """What is shown in the place of the events, for forms that lead to another page."""


@dataclass(frozen=True, slots=True)
class SpanBar:
    """One line of the waterfall; places are in thousandths of its width."""

    dom_id: str
    type: SpanType
    icon: str
    name: str
    aside: str
    """The agent, where the line isn't below that agent's own; of an agent that ran several times,
    `2 of 5`."""
    level: int
    """How deep it lies, from 1."""
    href: str
    """Its event; "" while it has none."""
    x: float
    width: float
    first: float | None
    """Where the first piece of an answer came."""
    took: str
    """In words, with what else is to say of the time."""
    title: str
    error: str
    going: bool
    is_selected: bool
    """The selected event came of it."""


@dataclass(frozen=True, slots=True)
class TimeTick:
    """A moment on the time axis, from the beginning of the run on."""

    x: float
    """Its place in hundredths of the width."""
    text: str


@dataclass(frozen=True, slots=True)
class RunHeading:
    """Which run is shown, and the way to those beside it."""

    title: str
    """What the user said."""
    began: Moment | None = None
    place: str = ""
    """`2 of 5`; "" for the only run of a session."""
    previous_href: str = ""
    next_href: str = ""


@dataclass(frozen=True, slots=True)
class TracePanel:
    """The spans of one run. Its element is `#trace`, in `#trace-view`."""

    template: ClassVar[str] = "trace/trace_panel.html"
    href: str
    event: int | None
    """The selected one, whose run it is; None to follow the newest run."""
    heading: RunHeading
    took: str
    """How long it was at work; "" if unknown."""
    held_note: str
    """For how long the debugger held it, in words; "" if it never did."""
    going: bool
    bars: tuple[SpanBar, ...]
    ticks: tuple[TimeTick, ...]
    lines: str
    """The ticks as an SVG path through a line of the waterfall, 10 high."""
    holds: str
    """When the debugger held the run, as an SVG path of the same height; "" if it never did."""
    more: str
    export_href: str
