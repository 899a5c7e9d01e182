"""The models of the trace: the switch that leads to it, and the waterfall of a run's spans."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Moment

SpanType = Literal["agent", "model", "tool"]


@dataclass(frozen=True, slots=True)
class ViewLink:
    """A link to one of the views."""

    key: Literal["events", "trace"]
    label: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class ViewSwitch:
    """The switch between the events and the trace. Goes into `#views`."""

    template: ClassVar[str] = "trace/view_switch.html"
    links: tuple[ViewLink, ...]
    view: str | None
    """The current view, for forms that lead to another page; None for the events."""


@dataclass(frozen=True, slots=True)
class SpanBar:
    """One line of the waterfall; places are in thousandths of its width."""

    dom_id: str
    type: SpanType
    icon: str
    name: str
    aside: str
    """The agent, if the line isn't below that agent's own; for an agent that ran several times,
    `2 of 5`."""
    level: int
    """Its depth, from 1."""
    href: str
    """Its event; "" if it has none so far."""
    x: float
    width: float
    first: float | None
    """Where the first chunk of an answer arrived."""
    duration: str
    """The duration, in words."""
    title: str
    error: str
    going: bool
    is_selected: bool
    """Whether the selected event came from it."""


@dataclass(frozen=True, slots=True)
class TimeTick:
    """A moment on the time axis, counted from the start of the run."""

    x: float
    """Its place, in percent of the width."""
    text: str


@dataclass(frozen=True, slots=True)
class RunHeading:
    """The displayed run, with links to the previous and the next one."""

    title: str
    """The user's message."""
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
    """The selected event, whose run is shown; None to follow the newest run."""
    heading: RunHeading
    duration: str
    """The run's working time; "" if unknown."""
    held_note: str
    """How long the debugger held it, in words; "" if it never did."""
    going: bool
    bars: tuple[SpanBar, ...]
    ticks: tuple[TimeTick, ...]
    lines: str
    """The ticks as an SVG path through a line of the waterfall, 10 high."""
    holds: str
    """When the debugger held the run, as an SVG path of the same height; "" if it never did."""
    more: str
    export_href: str
