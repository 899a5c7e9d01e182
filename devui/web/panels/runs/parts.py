"""What holds a run up, as a tab of the inspector."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Beside, Moment, Tone
from devui.web.panels.questions.parts import AskField
from devui.web.panels.replays.parts import ReplayForm


@dataclass(frozen=True, slots=True)
class Why:
    """One reason, the worst first."""

    tone: Tone
    text: str
    place: str = ""
    """`agent.py:25 in crunch`."""
    source: str = ""
    href: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class CallEnding:
    """Ends a call, or answers in its place. Goes into `#ending-{call}`."""

    template: ClassVar[str] = "runs/call_ending.html"
    action: str
    key: str
    call: int
    name: str
    slot: str
    """What the ids of these fields begin with."""
    fields: tuple[AskField, ...]
    """What a tool declares to return; empty if it declares nothing that has fields."""
    typed_slot: str
    typed_field: AskField
    """Takes any answer."""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that has not returned."""

    id: int
    kind: Literal["thought", "call"]
    name: str
    about: str
    who: str
    since: Moment
    place: str
    source: str
    draft: str = ""
    """The breakpoint before such a call, as JSON; "" where none can be made."""
    ending: CallEnding | None = None
    """None where the call cannot be ended by itself."""
    note: str = ""
    """What has to be known about ending it."""


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames that follow each other and are all of the app, or all not."""

    own: bool
    places: tuple[tuple[str, str, str], ...]
    """`file:line`, the function and the source line; the innermost first."""


@dataclass(frozen=True, slots=True)
class TaskShown:
    """An asyncio task of the run."""

    id: int
    who: str
    waits: str
    """`waits for a lock that task 3 has`."""
    stack: tuple[Frames, ...]
    circle: bool
    """It is part of a deadlock."""


@dataclass(frozen=True, slots=True)
class RunPanel:
    """The tab. Its element is `#standing`; it asks for itself anew while the run goes on."""

    template: ClassVar[str] = "runs/run_panel.html"
    href: str
    """Where it is asked for."""
    title: str
    going: bool
    by: str = ""
    """`started by mcp:claude, stopped by terminal (ada)`; "" for what people did on pages."""
    silent: Moment | None = None
    """Since when nothing has come of it."""
    whys: tuple[Why, ...] = ()
    action: str = ""
    """Where the pause is posted; "" when the run cannot be paused."""
    key: str = ""
    stop_href: str = ""
    break_action: str = ""
    calls: tuple[PendingCall, ...] = ()
    beside: tuple[Beside, ...] = ()
    """What goes on at the same time, if that is more than one thing."""
    tasks: tuple[TaskShown, ...] = ()
    compare_href: str = ""
    """This run beside the one before; "" for the first one."""
    settings: str = ""
    """`temperature 0.2`, for a run that had other settings than its agents."""
    replay: ReplayForm | None = None
    """Executes a run again; None while one is under way."""
