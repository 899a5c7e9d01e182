"""The debugger on the session page: its buttons, and what is held."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import BranchItem, JsonText, Moment
from devui.web.panels.breakpoints.parts import MarkShape
from devui.web.panels.questions.parts import QuestionField
from devui.web.panels.state.parts import StateValue

Stage = Literal["produced", "committing", "committed", "working"]
"""Where a hold is on the rail: before the commit of an event, released into it, after it, or at
another gate."""


@dataclass(frozen=True, slots=True)
class CommandButton:
    """The button for one command that the run accepts now."""

    name: str
    """The command's name in requests."""
    label: str
    key: str
    """The keyboard shortcut; "" if there is none."""
    title: str
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Debugger:
    """The buttons for the run in progress. Goes into `#debugger`."""

    template: ClassVar[str] = "hold/debugger.html"
    action: str = ""
    """Where to POST a command; "" if no run is in progress."""
    key: str = ""
    """Makes a double click harmless: requests with the same key are executed once."""
    position: int = 0
    """The position that the commands are based on; a run that has moved on refuses them."""
    buttons: tuple[CommandButton, ...] = ()
    plan: str = ""
    """`running through the next commit`: how far the run continues before it stops."""
    deed: str = ""
    """What the last command did, such as `Paused`."""
    actor: str = ""
    """Who gave the last command."""


@dataclass(frozen=True, slots=True)
class HeldFields:
    """A form with fields for what is held. Goes into `#edit-{hold}`."""

    template: ClassVar[str] = "hold/held_fields.html"
    action: str
    key: str
    position: int
    hold: int
    slot: str
    """The prefix of its fields' ids."""
    title: str
    fields: tuple[QuestionField, ...]


@dataclass(frozen=True, slots=True)
class HeldMock:
    """The form for the mock that a held call returns instead of being made."""

    what: Literal["result", "response"]
    slot: str
    """The prefix of its field's id."""
    field: QuestionField


@dataclass(frozen=True, slots=True)
class HeldEdit:
    """The forms that change what is held before the run continues."""

    action: str
    key: str
    position: int
    slot: str
    """The prefix of its field's id."""
    field: QuestionField
    """The field with all of what is held, as JSON."""
    mock: "HeldMock | None" = None
    """The form that mocks a call; None if it isn't a call."""
    refusals: tuple[CommandButton, ...] = ()
    """The actions that need no value but perhaps a reason: skip, reject, drop."""
    undo: CommandButton | None = None
    """Reverts the pending edit; None if there is none."""
    note: str = ""
    """The pending edit in words, or why the last edit failed."""
    reason: str = ""
    """The reason given for rejecting the call."""
    fields: HeldFields | None = None
    """The form with fields; None if there are none."""
    diff: tuple[str, ...] = ()
    """The changed lines, each prefixed with `+` or `-`."""
    is_in_sentence: bool = False
    """Whether the card already shows everything that is in the diff."""
    change: Literal["", "edit", "mock", "refusal"] = ""
    """The kind of edit that failed; its form is open."""
    is_refused: bool = False
    """Whether the JSON field shows the edit that failed and its error."""


@dataclass(frozen=True, slots=True)
class GuardNote:
    """The guard's note on a tool call that may run a second time."""

    text: str
    """The tool's effects, and how it ran before."""
    result: str = ""
    """What the tool returned then."""
    label: str = ""
    """`#12`, `#12 in the parent session`."""
    href: str = ""
    """The link to that result; "" if there is none."""
    value: str = ""
    """The recorded result as JSON."""
    choice: Literal["recorded", "run", ""] = ""
    """How the call will get its result; "" if there is no recorded one, or a person has edited the
    call."""
    outcome: str = ""
    """The choice as a sentence."""


@dataclass(frozen=True, slots=True)
class HeldItem:
    """One item held at a gate."""

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
    """The state changes that the commit will make."""
    value: JsonText
    holding: str
    """The kind of `value`: `event`, `request`, `arguments`."""
    edit: HeldEdit | None = None
    """The forms that edit the item; None if it can't be edited."""
    instead: str = ""
    """The text as edited by a person; "" if nobody did."""
    is_withheld: bool = False
    """Whether a person dropped the event, or skipped or rejected the call."""
    breakpoint: str = ""
    """The breakpoint that holds it, in words; "" if it is held for another reason."""
    breakpoint_shape: MarkShape = "break"
    breakpoint_href: str = ""
    guard: GuardNote | None = None
    orders: "Debugger | None" = None
    """The commands for this hold."""
    is_one_of_several: bool = False
    """Whether other items are held, too; the commands then apply only to this one."""


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Everything that is held, as rows after the last event. Goes into `#held`."""

    template: ClassVar[str] = "hold/held.html"
    items: tuple[HeldItem, ...] = ()
    beside: tuple[BranchItem, ...] = ()
    """What runs meanwhile, since a hold stops one branch and not the others."""
