"""The chat pane: messages, tool chips, what is being said just now, and the composer."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import Failure, Moment, Status
from devui.web.panels.chat.attachments import MESSAGE_LIMIT
from devui.web.panels.chat.content_parts import (
    AroundPart,
    CodePart,
    FilePart,
    OutputPart,
    SpokenPart,
    TextPart,
    ThoughtPart,
)
from devui.web.panels.inspector.mark_parts import RewindMark
from devui.web.panels.questions.parts import Ask
from devui.web.panels.queue.parts import QueuePanel
from devui.web.panels.recovery.parts import Resume, SayAgain
from devui.web.panels.settings.parts import RunSettingsForm
from devui.web.panels.timeline.gaps import Gap

Outcome = Literal["running", "waiting", "done", "failed", "lost"]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What an agent had streamed of an answer that the end of the run cut off."""

    template: ClassVar[str] = "chat/unfinished.html"
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class RunNote:
    """The same as a `RunEnd` of the timeline, as a message of the chat."""

    template: ClassVar[str] = "chat/run_note.html"
    run: str
    status: Status
    text: str
    failure: Failure | None = None
    user_parts: tuple[SpokenPart, ...] = ()
    """The user's message, if the run ended before it became an event."""
    answer_lost: bool = False
    """It ended before an answer to an agent became one."""
    again: str = ""
    """Its text, for sending it once more; "" when it cannot be sent from the page."""
    action: str = ""
    """Where it is posted."""
    unfinished: tuple[Unfinished, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What became of a call. Goes into the element `slot`."""

    template: ClassVar[str] = "chat/tool_outcome.html"
    slot: str
    """DOM id, the same for a call and its response."""
    status: Outcome
    text: str
    href: str | None = None
    """The event that brought the outcome."""
    edit_hint: str = ""
    """What people did to it while the run was held; "" if nothing."""
    ran: str = ""
    """The arguments that a person put in the place of the call's own; "" if nobody did."""
    number: int | None = None
    """Of the event that brought the outcome."""
    attempt: int = 0
    """2 and up: which try of the call brought it."""


@dataclass(frozen=True, slots=True)
class ToolChip:
    template: ClassVar[str] = "chat/tool_chip.html"
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
    template: ClassVar[str] = "chat/artifact_chip.html"
    name: str
    version: int
    href: str
    picture_href: str = ""
    """Where a click on its thumbnail leads; "" for what isn't shown as a picture."""


ChatPart: TypeAlias = (
    TextPart | ThoughtPart | ToolChip | CodePart | OutputPart | FilePart | ArtifactChip | AroundPart
)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """An event as chat shows it. `signal` is a line between messages, such as a transfer."""

    template: ClassVar[str] = "chat/message.html"
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
    rewind: RewindMark | None = None
    edit_hint: str = ""
    """What people did to it while the run was held; "" if nothing."""
    text_href: str = ""
    """Where its text is, to be copied as Markdown; "" where it has none."""
    attempt: int = 0
    """2 and up: which try of a call ended in the error."""


@dataclass(frozen=True, slots=True)
class LiveMessage:
    """What an agent has said so far of an answer that is still arriving."""

    template: ClassVar[str] = "chat/live_message.html"
    author: str
    text: str
    thought: str = ""
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class LiveChat:
    """Everything in flight. Goes into `#live-chat`."""

    template: ClassVar[str] = "chat/live_chat.html"
    user_parts: tuple[SpokenPart, ...] = ()
    """What the user has just said, until it is an event of the session."""
    messages: tuple[LiveMessage, ...] = ()
    waiting: str = ""
    """What the run is doing while no words arrive, such as the tools at work; "" when idle."""
    since: Moment | None = None
    """When the first of these tools began."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """An example message; a click sends it."""

    text: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """What an empty chat says. Its element is `#welcome`."""

    template: ClassVar[str] = "chat/welcome.html"
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

    template: ClassVar[str] = "composer/state.html"
    reason: str = ""
    """Why no message can be sent now; "" when one can."""
    queues: bool = False
    """A run is in progress, so a message is queued."""


@dataclass(frozen=True, slots=True)
class ComposerField:
    """The field that a message is typed into. Its element is `#composer-text`."""

    template: ClassVar[str] = "composer/field.html"
    placeholder: str
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Composer:
    template: ClassVar[str] = "composer/composer.html"
    action: str
    field: ComposerField
    state: ComposerState
    settings: RunSettingsForm
    streaming: bool = True
    error: str = ""
    """Why the posted message was not taken."""
    largest: int = MESSAGE_LIMIT
    """Bytes of all files of a message."""


@dataclass(frozen=True, slots=True)
class Chat:
    template: ClassVar[str] = "chat/chat.html"
    welcome: Welcome
    messages: tuple[ChatMessage | RunNote, ...]
    live: LiveChat
    resume: Resume
    composer: Composer
    queue: QueuePanel
    gaps_href: str
    """Where the messages of gaps come from."""
    above: Gap | None = None
    below: Gap | None = None
