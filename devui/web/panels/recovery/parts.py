"""Going on after an end that came too early, going back, and going another way."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.panels.questions.parts import AskField


@dataclass(frozen=True, slots=True)
class UnknownAsk:
    """A call that has perhaps been made, and what may become of it."""

    id: str
    slot: str
    """Begins the ids of its fields."""
    tool: str
    args: str
    href: str
    """The event with the call."""
    edit_href: str
    """Where its arguments are edited, in a fork."""
    note: str
    """Why the first choice is what it is."""
    default: str
    """`run`, `fail`, `recorded` or `wait`."""
    recorded: str = ""
    """What it returned, as JSON; "" when that is not known."""
    writes: str = ""
    """What comes into the state with that."""
    may_wait: bool = False
    """Somebody may still answer it."""
    held_back: bool = False
    """It was not made, and is just made now unless somebody wants something else."""
    verb: str = "was in progress"
    """What became of it, after its name."""


@dataclass(frozen=True, slots=True)
class MissingKey:
    """A model's key that is missing or refused, and where to put one."""

    is_refused: bool
    """There is one, and the service doesn't take it."""
    variable: str
    """The environment variable: `GOOGLE_API_KEY`."""
    file: str
    """The app's `.env`, from the folder that the agents folder is in."""
    is_google: bool
    """The variables of Vertex AI do as well."""
    is_hosted: bool
    """The app runs in a program of its author, which reads no `.env`."""


@dataclass(frozen=True, slots=True)
class Resume:
    """What became of the newest invocation, and ways to go on. Goes into `#resume`."""

    template: ClassVar[str] = "recovery/resume.html"
    title: str = ""
    """"" when there is nothing to say."""
    is_imported: bool = False
    """The session is read only, and `fork_action` is the only way on."""
    text: str = ""
    href: str = ""
    """The event that is spoken of."""
    label: str = ""
    """The words of that link."""
    action: str = ""
    """Where a resume is posted; "" when nothing can go on."""
    invocation: str = ""
    fork_action: str = ""
    mark: str = "stop"
    """The icon of what became of it."""
    again: str = "Resume"
    """The button: a failure of the agent's own code is retried, anything else is resumed."""
    number: int = 0
    """The last committed event of the invocation."""
    resend_action: str = ""
    """Where the message of the invocation is sent once more; "" if it began with none."""
    message: int = 0
    """The number of that message."""
    new_keys: str = ""
    """State keys that were new in the invocation: a rewind sets them to None, a fork has none."""
    close_action: str = ""
    losses: tuple[tuple[str, str], ...] = ()
    """What was held and is gone, a line each."""
    streamed: tuple[str, ...] = ()
    """The words of answers that are no events, a text each."""
    unknown: tuple[UnknownAsk, ...] = ()
    key: MissingKey | None = None
    """What is said in the place of `stays` if the run failed for that."""
    stays: str = ""
    """Why there is no way to resume it; "" if there is one."""


ForkChoice = Literal["same", "message", "fields", "event"]


@dataclass(frozen=True, slots=True)
class EventFields:
    """Fields for one thing that an event says."""

    title: str
    """What it is: `Arguments of pay`; "" of a text."""
    fields: tuple[AskField, ...]


@dataclass(frozen=True, slots=True)
class ForkForm:
    """A fork at an event; in its detail."""

    template: ClassVar[str] = "recovery/fork_form.html"
    action: str
    number: int
    is_message: bool
    event: str
    """The event as JSON, to be changed; "" when it is too large for that."""
    sections: tuple[EventFields, ...] = ()
    """The same as fields, as far as there are any for it."""
    choice: ForkChoice = "same"
    """What is to change, unless somebody chooses another."""
    reruns: bool = False
    """Its app can't resume in the middle of an invocation, so what can run is its message."""
    open: bool = False


@dataclass(frozen=True, slots=True)
class SayAgain:
    """What opens the menu of a user's message; its inside is fetched with the first opening."""

    template: ClassVar[str] = "recovery/say_again.html"
    number: int
    href: str
    """The inside, which is a page of its own, too."""


@dataclass(frozen=True, slots=True)
class AgainMenu:
    """The menu's inside: back to before a user's message, and saying it in another way."""

    template: ClassVar[str] = "recovery/again_menu.html"
    number: int
    rewind_action: str
    fork_action: str
    replay_action: str
    text: str
    """What was said, if it is nothing but text; "" when it cannot be said again from here."""


@dataclass(frozen=True, slots=True)
class ForkLink:
    href: str
    title: str
    at: str
    """`at #12`, `at #12 by mcp:claude`."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where the session comes from and what was forked from it. Goes into `#lineage`."""

    template: ClassVar[str] = "recovery/lineage.html"
    parent: ForkLink | None = None
    """None for a session that is no fork."""
    compare_href: str = ""
    """The parent beside the fork."""
    parent_note: str = ""
    """What is said of a parent that was deleted, or that stayed where the session was exported."""
    siblings: tuple[ForkLink, ...] = ()
    forks: tuple[ForkLink, ...] = ()
