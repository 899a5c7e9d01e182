"""The debugger on the session page: its buttons, and what is held."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Beside, JsonText, Moment
from devui.web.panels.breakpoints.parts import MarkShape
from devui.web.panels.questions.parts import AskField
from devui.web.panels.state.parts import StateValue

Stage = Literal["produced", "committing", "committed", "working"]
"""Where on the rail a hold is: before the commit of an event, let go into it, after it, or at
none of these."""


@dataclass(frozen=True, slots=True)
class CommandButton:
    """One order that can be given now."""

    name: str
    """As the endpoint takes it."""
    label: str
    key: str
    """The key that presses it; "" if it has none."""
    title: str
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Debugger:
    """The buttons for the run that is under way. Goes into `#debugger`."""

    template: ClassVar[str] = "hold/debugger.html"
    action: str = ""
    """Where a command is posted; "" when no run is under way."""
    key: str = ""
    """Makes a double click harmless: the same key is carried out once."""
    position: int = 0
    """What the commands are decided upon; a run that has moved on refuses them."""
    buttons: tuple[CommandButton, ...] = ()
    plan: str = ""
    """`running through the next commit`: how far the run continues before it stops."""
    last: str = ""
    """`Step`: the last command."""
    actor: str = ""
    """Who gave it."""


@dataclass(frozen=True, slots=True)
class HeldFields:
    """What is held as fields to fill in. Goes into `#edit-{hold}`."""

    template: ClassVar[str] = "hold/held_fields.html"
    action: str
    key: str
    position: int
    hold: int
    slot: str
    """What the ids of its fields begin with."""
    title: str
    fields: tuple[AskField, ...]


@dataclass(frozen=True, slots=True)
class HeldMock:
    """A form for what a held call is to return without being made."""

    what: Literal["result", "response"]
    slot: str
    """What the id of its field begins with."""
    field: AskField


@dataclass(frozen=True, slots=True)
class HeldEdit:
    """A form that changes what is held, before it goes on."""

    action: str
    key: str
    position: int
    slot: str
    """What the id of its field begins with."""
    field: AskField
    """All of what is held as JSON."""
    mock: "HeldMock | None" = None
    """What can answer in place of a call; None of what is no call."""
    refusals: tuple[CommandButton, ...] = ()
    """What takes nothing but, perhaps, a reason: it is skipped, rejected, dropped."""
    undo: CommandButton | None = None
    """Takes back what is to be done; None when nothing is."""
    note: str = ""
    """What will be done to it, or why it could not be."""
    reason: str = ""
    """Why it will be rejected."""
    fields: HeldFields | None = None
    """The same as a form; None where it has no fields."""
    diff: tuple[str, ...] = ()
    """The lines that differ, each with `+` or `-` before it."""
    change: Literal["", "edit", "mock", "refusal"] = ""
    """What is to be done to it, or could not be: that form is open."""
    is_refused: bool = False
    """The JSON field begins with the edit that could not be made, and says why."""


@dataclass(frozen=True, slots=True)
class GuardNote:
    """A tool is about to run that has run before."""

    text: str
    """What it does and what will become of the call."""
    result: str
    """What it returned then; "" if that is not known."""
    label: str
    """`#12`, `#12 in the parent session`."""
    href: str
    command: str
    """`undo`, if the recorded result is about to be taken; `mock`, if it can be; "" if not."""
    value: str = ""
    """Of `mock`: the recorded result as JSON."""


@dataclass(frozen=True, slots=True)
class HeldItem:
    """One thing that waits at a gate."""

    id: int
    kind: str
    shape: str
    word: str
    author: str
    text: str
    sentence: str
    """`Paused before the commit`."""
    stage: Stage
    since: Moment
    branch: str
    changes: tuple[StateValue, ...]
    """What the commit will do to the state."""
    value: JsonText
    holding: str
    """What `value` is: `event`, `request`, `arguments`."""
    edit: HeldEdit | None = None
    """None where nothing can be changed."""
    instead: str = ""
    """The text as a person has edited it; "" if nobody has."""
    breakpoint: str = ""
    """The breakpoint that holds it, in words; "" when another reason does."""
    breakpoint_shape: MarkShape = "break"
    breakpoint_href: str = ""
    guard: GuardNote | None = None
    orders: "Debugger | None" = None
    """How to go on from here."""
    is_one_of_several: bool = False
    """More is held: the orders are for this one alone."""


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Everything that is held; rows after the last event. Goes into `#held`."""

    template: ClassVar[str] = "hold/held.html"
    items: tuple[HeldItem, ...] = ()
    beside: tuple[Beside, ...] = ()
    """What goes on meanwhile, since a hold freezes one branch and not the others."""
