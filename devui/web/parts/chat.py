"""The chat pane: messages, tool chips, what is being said just now, and the composer."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.parts.asking import Ask
from devui.web.parts.content import (
    CodePart,
    FilePart,
    OutputPart,
    SpokenPart,
    TextPart,
    ThoughtPart,
)
from devui.web.parts.marks import TakenBackMark
from devui.web.parts.recovery import Resume, SayAgain
from devui.web.parts.session import RunNote

Outcome = Literal["running", "waiting", "done", "failed"]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What became of a call. Goes into the element `slot`."""

    template: ClassVar[str] = "parts/tool_outcome.html"
    slot: str
    """DOM id, the same for a call and its response."""
    status: Outcome
    text: str
    href: str | None = None
    """The event that brought the outcome."""
    edited: str = ""
    """What people did to it while the run was held; "" if nothing."""


@dataclass(frozen=True, slots=True)
class ToolChip:
    template: ClassVar[str] = "parts/tool_chip.html"
    name: str
    args: str
    href: str
    outcome: ToolOutcome
    asks: bool = False
    """The call asks a person for something."""
    ask: Ask | None = None
    """The form for the answer, while there is none."""


@dataclass(frozen=True, slots=True)
class ArtifactChip:
    template: ClassVar[str] = "parts/artifact_chip.html"
    name: str
    version: int
    href: str


ChatPart: TypeAlias = (
    TextPart | ThoughtPart | ToolChip | CodePart | OutputPart | FilePart | ArtifactChip
)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """An event as chat shows it. `signal` is a line between messages, such as a transfer."""

    template: ClassVar[str] = "parts/message.html"
    number: int
    role: Literal["user", "agent", "error", "signal"]
    author: str
    parts: tuple[ChatPart, ...]
    href: str
    text: str = ""
    """The sentence of an error or a signal."""
    code: str = ""
    """The code of an error."""
    again: SayAgain | None = None
    """What can be done about a message of the user."""
    continued: bool = False
    """The same author spoke just before, so the name is not repeated."""
    taken: TakenBackMark | None = None
    edited: str = ""
    """What people did to it while the run was held; "" if nothing."""


@dataclass(frozen=True, slots=True)
class LiveMessage:
    """What an agent has said so far of an answer that is still arriving."""

    template: ClassVar[str] = "parts/live_message.html"
    author: str
    text: str
    thought: str = ""
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class LiveChat:
    """Everything in flight. Goes into `#live-chat`."""

    template: ClassVar[str] = "parts/live_chat.html"
    sent: tuple[SpokenPart, ...] = ()
    """What the user has just said, until it is an event of the session."""
    messages: tuple[LiveMessage, ...] = ()
    waiting: str = ""
    """What the run is doing while no words arrive: `TravelAgent is working`; "" when idle."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """An example message; a click sends it."""

    text: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """What an empty chat says. Its element is `#welcome`."""

    template: ClassVar[str] = "parts/welcome.html"
    app: str
    description: str
    prompts: tuple[Prompt, ...]
    action: str
    """Where a prompt is posted."""
    initial_state: str = ""
    """`3 state keys set at the start`, if there are any."""


@dataclass(frozen=True, slots=True)
class ComposerState:
    """The send button and why it cannot be pressed. Goes into `#composer-state`."""

    template: ClassVar[str] = "parts/composer_state.html"
    reason: str = ""
    """Why no message can be sent now; "" when one can."""
    stop_href: str | None = None
    """Where the run that is in the way is stopped."""


@dataclass(frozen=True, slots=True)
class ComposerField:
    """The field that a message is typed into. Its element is `#composer-text`."""

    template: ClassVar[str] = "parts/composer_field.html"
    placeholder: str
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Composer:
    template: ClassVar[str] = "parts/composer.html"
    action: str
    field: ComposerField
    state: ComposerState
    streaming: bool = True
    error: str = ""
    """Why the posted message was not taken."""


@dataclass(frozen=True, slots=True)
class Chat:
    template: ClassVar[str] = "parts/chat.html"
    welcome: Welcome
    messages: tuple[ChatMessage | RunNote, ...]
    live: LiveChat
    resume: Resume
    composer: Composer
