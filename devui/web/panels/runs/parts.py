"""The inspector's Run tab: what a run is waiting for."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import BranchItem, Moment, Tone
from devui.web.panels.questions.parts import QuestionField
from devui.web.panels.replays.parts import ReplayForm


@dataclass(frozen=True, slots=True)
class WaitReason:
    """One reason that a run is waiting."""

    tone: Tone
    text: str
    place: str = ""
    """`agent.py:25 in crunch`."""
    source: str = ""
    href: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class CallEnding:
    """The form that ends a call or answers in its place. Goes into `#ending-{call}`."""

    template: ClassVar[str] = "runs/call_ending.html"
    action: str
    key: str
    call: int
    name: str
    slot: str
    """The prefix of the ids of these fields."""
    fields: tuple[QuestionField, ...]
    """Fields for the tool's declared result; empty if it declares none that fields can hold."""
    typed_slot: str
    typed_field: QuestionField
    """A field for any answer."""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that hasn't returned."""

    id: int
    kind: Literal["thought", "call"]
    name: str
    about: str
    who: str
    since: Moment
    place: str
    source: str
    draft: str = ""
    """The breakpoint before such a call, as JSON; "" if none can be created."""
    ending: CallEnding | None = None
    """None if the call can't be ended on its own."""
    note: str = ""
    """What to know before ending it."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Consecutive frames that are all of the app, or all of other code."""

    own: bool
    places: tuple[tuple[str, str, str], ...]
    """`file:line`, the function and the source line; innermost first."""


@dataclass(frozen=True, slots=True)
class TaskItem:
    """An asyncio task of the run."""

    id: int
    who: str
    waits: str
    """`waiting for a lock held by task 3`."""
    stack: tuple[Frames, ...]
    circle: bool
    """Whether it is part of a deadlock."""


@dataclass(frozen=True, slots=True)
class RunPanel:
    """The tab. Its element is `#activity`, which reloads while the run is in progress."""

    template: ClassVar[str] = "runs/run_panel.html"
    href: str
    """Where to request it."""
    title: str
    going: bool
    event: int | None = None
    """The event whose run this is; None for the newest run."""
    live_href: str = ""
    """The run in progress; "" if it is this one, or there is none."""
    by: str = ""
    """`started by mcp:claude, stopped by terminal (ada)`; "" for actions on pages."""
    silent: Moment | None = None
    """When the run last made progress."""
    whys: tuple[WaitReason, ...] = ()
    action: str = ""
    """Where to post a pause; "" if the run can't be paused."""
    key: str = ""
    break_action: str = ""
    calls: tuple[PendingCall, ...] = ()
    beside: tuple[BranchItem, ...] = ()
    """The branches that run at the same time, if there are several."""
    tasks: tuple[TaskItem, ...] = ()
    compare_href: str = ""
    """A comparison with the previous run; "" for the first one."""
    settings: str = ""
    """`temperature 0.2`, if the run's settings differed from those of its agents."""
    replay: ReplayForm | None = None
    """The form that executes the run again; None while a run is in progress."""
