"""Parts about interrupted invocations, forks and rewinds."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.panels.questions.parts import QuestionField


@dataclass(frozen=True, slots=True)
class UnknownCallForm:
    """A call that may have been made, and the choices for it."""

    id: str
    slot: str
    """The prefix of the ids of its fields."""
    tool: str
    args: str
    href: str
    """The event with the call."""
    edit_href: str
    """Where to edit its arguments, in a fork."""
    note: str
    """The reason for the default choice."""
    default: str
    """`run`, `fail`, `recorded` or `wait`."""
    recorded: str = ""
    """What it returned, as JSON; "" if unknown."""
    writes: str = ""
    """The state that using this result writes."""
    may_wait: bool = False
    """Whether someone may still answer it."""
    held_back: bool = False
    """Whether it was not made; it is then made now, unless another choice is taken."""
    verb: str = "was in progress"
    """What happened to it, after its name."""


@dataclass(frozen=True, slots=True)
class MissingKey:
    """A model's key that is missing or refused, and where to put one."""

    is_refused: bool
    """Whether there is a key that the service refuses."""
    variable: str
    """The environment variable: `GOOGLE_API_KEY`."""
    file: str
    """The app's `.env`, relative to the parent of the agents folder."""
    is_google: bool
    """Whether the variables of Vertex AI work as well."""
    is_hosted: bool
    """Whether the app runs in its author's own program, which reads no `.env`."""


@dataclass(frozen=True, slots=True)
class Resume:
    """How the newest invocation ended, and ways to continue. Goes into `#resume`."""

    template: ClassVar[str] = "recovery/resume.html"
    title: str = ""
    """The title; "" if there is nothing to show."""
    is_imported: bool = False
    """Whether the session is read-only, so that `fork_action` is the only way to continue."""
    text: str = ""
    href: str = ""
    """The event that the text is about."""
    label: str = ""
    """The text of that link."""
    action: str = ""
    """Where to post a resume; "" if nothing can be resumed."""
    invocation: str = ""
    fork_action: str = ""
    mark: str = "stop"
    """The icon for how it ended."""
    again: str = "Resume"
    """The button's text: a failure of the agent's own code is retried, anything else resumed."""
    number: int = 0
    """The last committed event of the invocation."""
    resend_action: str = ""
    """Where to send the invocation's message again; "" if it didn't begin with one."""
    message: int = 0
    """The number of that message."""
    new_keys: str = ""
    """State keys that are new since the message: a rewind sets them to None, a fork lacks them."""
    close_action: str = ""
    losses: tuple[tuple[str, str], ...] = ()
    """What was held and is lost, one line each."""
    streamed: tuple[str, ...] = ()
    """The texts of answers that never became events."""
    unknown: tuple[UnknownCallForm, ...] = ()
    key: MissingKey | None = None
    """Shown instead of `stays` if a missing or refused key made the run fail."""
    stays: str = ""
    """Why it can't be resumed; "" if it can."""


ForkChoice = Literal["same", "message", "fields", "event"]


@dataclass(frozen=True, slots=True)
class EventFields:
    """Fields for one piece of an event's content."""

    title: str
    """A title such as `Arguments of pay`; "" for a text."""
    fields: tuple[QuestionField, ...]


@dataclass(frozen=True, slots=True)
class ForkForm:
    """The form for a fork, in the detail of an event."""

    template: ClassVar[str] = "recovery/fork_form.html"
    action: str
    number: int
    is_message: bool
    event: str
    """The event as JSON, for editing; "" if it is too large for that."""
    sections: tuple[EventFields, ...] = ()
    """The parts of the event that fields can hold."""
    choice: ForkChoice = "same"
    """What the fork changes by default."""
    reruns: bool = False
    """Whether the app can't resume within an invocation, so that only its message can run again."""
    open: bool = False


@dataclass(frozen=True, slots=True)
class RerunButton:
    """The button for the menu of a user's message, which loads when it is first opened."""

    template: ClassVar[str] = "recovery/say_again.html"
    number: int
    href: str
    """Where to load the menu, which is also a page of its own."""


@dataclass(frozen=True, slots=True)
class RerunMenu:
    """The menu of a user's message: run it again, unchanged or edited, in a fork or here."""

    template: ClassVar[str] = "recovery/again_menu.html"
    number: int
    rewind_action: str
    """Where to post a rewind; "" for a read-only session."""
    fork_action: str
    replay_action: str
    text: str
    """The message's text; "" if it has files or is too long to edit in one field."""
    hides: str
    """`#1 to #25`: the events that a rewind to before the message hides from models."""
    new_keys: str = ""
    """State keys that a rewind sets to None; a fork doesn't have them."""
    forks_first: bool = True
    """Whether running it again here would hide more than its answer."""


@dataclass(frozen=True, slots=True)
class UndoRewind:
    """The button that undoes a rewind with another one to before it; in the rewind's message."""

    template: ClassVar[str] = "recovery/undo_rewind.html"
    number: int
    action: str
    hidden: str
    """`#1 to #25`: the events that the rewind hides."""


@dataclass(frozen=True, slots=True)
class ForkLink:
    href: str
    title: str
    at: str
    """`at #12`, `at #12 by mcp:claude`."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where the session was forked from and what was forked from it. Goes into `#lineage`."""

    template: ClassVar[str] = "recovery/lineage.html"
    parent: ForkLink | None = None
    """None if the session isn't a fork, or its parent is missing."""
    compare_href: str = ""
    """A comparison of the parent with the fork."""
    parent_note: str = ""
    """A note about a parent that was deleted, or not exported with the session."""
    siblings: tuple[ForkLink, ...] = ()
    forks: tuple[ForkLink, ...] = ()
