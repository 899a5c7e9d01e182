"""The chat pane: messages, tool chips, answers being streamed, and the composer."""

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
from devui.web.panels.recovery.parts import RerunButton, Resume, UndoRewind
from devui.web.panels.settings.parts import RunSettingsForm
from devui.web.panels.timeline.gaps import Gap

Outcome = Literal["running", "waiting", "done", "failed", "lost"]


@dataclass(frozen=True, slots=True)
class StreamedText:
    """The part of an answer that an agent had streamed when its run ended."""

    template: ClassVar[str] = "chat/unfinished.html"
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class RunNote:
    """The end of a run as a message of the chat, like `RunEnd` in the timeline."""

    template: ClassVar[str] = "chat/run_note.html"
    run: str
    status: Status
    text: str
    failure: Failure | None = None
    user_parts: tuple[SpokenPart, ...] = ()
    """The user's message, if the run ended before it became an event."""
    answer_lost: bool = False
    """Whether the run ended before a person's answer became an event."""
    again: str = ""
    """The message's text, to send it again; "" if it isn't only text."""
    action: str = ""
    """Where to POST that message."""
    unfinished: tuple[StreamedText, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call. Goes into the element `slot`."""

    template: ClassVar[str] = "chat/tool_outcome.html"
    slot: str
    """The DOM id, the same for a call and its response."""
    status: Outcome
    text: str
    href: str | None = None
    """The link to the event with the outcome."""
    edit_hint: str = ""
    """What people changed while the run was held; "" if nothing."""
    ran: str = ""
    """The arguments with which a person replaced the call's own; "" if nobody did."""
    number: int | None = None
    """The number of the event with the outcome."""
    attempt: int = 0
    """Which attempt of the call this is, from 2 on; 0 for the first."""


@dataclass(frozen=True, slots=True)
class ToolChip:
    template: ClassVar[str] = "chat/tool_chip.html"
    name: str
    args: str
    href: str
    outcome: ToolOutcome
    asks: bool = False
    """Whether the call asks a person for something."""
    ask: Ask | None = None
    """The form for the answer; None if none is needed, or once it is answered."""


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A person's answer to a call that asked for it, or that is long-running."""

    template: ClassVar[str] = "chat/answer_line.html"
    verb: str
    call: str
    """The tool it is about; "" if the call is the framework's own."""
    value: str


@dataclass(frozen=True, slots=True)
class ArtifactChip:
    template: ClassVar[str] = "chat/artifact_chip.html"
    name: str
    version: int
    href: str
    mime: str = ""
    """"" if the version has been deleted."""
    size: str = ""
    tab_href: str = ""
    """Its address in Files."""
    is_picture: bool = False
    opens: bool = True
    """Whether a browser opens it, and doesn't only download it."""


ChatPart: TypeAlias = (
    TextPart
    | ThoughtPart
    | ToolChip
    | CodePart
    | OutputPart
    | FilePart
    | ArtifactChip
    | AnswerLine
    | AroundPart
)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """An event as the chat shows it. `signal` is a line between messages, such as a transfer."""

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
    again: RerunButton | UndoRewind | None = None
    """The menu of a user's message, or the button that undoes a rewind."""
    continued: bool = False
    """Whether the previous message has the same author, so the name isn't repeated."""
    rewind: RewindMark | None = None
    edit_hint: str = ""
    """What people changed while the run was held; "" if nothing."""
    text_href: str = ""
    """The URL of its text as Markdown, to be copied; "" if it has none."""
    attempt: int = 0
    """Which attempt of a call failed, from 2 on; 0 for the first."""


@dataclass(frozen=True, slots=True)
class LiveMessage:
    """The part of an agent's answer that has arrived so far."""

    template: ClassVar[str] = "chat/live_message.html"
    author: str
    text: str
    thought: str = ""
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class LiveChat:
    """Everything in progress. Goes into `#live-chat`."""

    template: ClassVar[str] = "chat/live_chat.html"
    user_parts: tuple[SpokenPart, ...] = ()
    """The user's latest message, until it is an event of the session."""
    messages: tuple[LiveMessage, ...] = ()
    waiting: str = ""
    """What the run is doing while no text arrives, such as the running tools; "" when idle."""
    since: Moment | None = None
    """When the first of these tools started."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """An example message; a click sends it."""

    text: str


@dataclass(frozen=True, slots=True)
class Welcome:
    """The content of an empty chat. Its element is `#welcome`."""

    template: ClassVar[str] = "chat/welcome.html"
    app: str
    description: str
    prompts: tuple[Prompt, ...]
    action: str
    """Where to POST a prompt."""
    initial_state: str = ""
    """`3 state keys set at the start`; "" if there are none."""


@dataclass(frozen=True, slots=True)
class ComposerState:
    """The send button, and why it is disabled. Goes into `#composer-state`."""

    template: ClassVar[str] = "composer/state.html"
    reason: str = ""
    """Why no message can be sent now; "" if one can."""
    queues: bool = False
    """Whether a run is in progress, so that messages are queued."""


@dataclass(frozen=True, slots=True)
class ComposerField:
    """The field for the message. Its element is `#composer-text`."""

    template: ClassVar[str] = "composer/field.html"
    to: str
    """The agent that will get the message."""
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Recipient:
    """Which agent takes the next message. Goes into `#composer-to`."""

    template: ClassVar[str] = "composer/recipient.html"
    name: str
    before: str = ""
    """The agent that transferred to it; "" if it is the root."""
    root: str = ""


@dataclass(frozen=True, slots=True)
class Composer:
    template: ClassVar[str] = "composer/composer.html"
    action: str
    field: ComposerField
    recipient: Recipient
    state: ComposerState
    settings: RunSettingsForm
    streaming: bool = True
    error: str = ""
    """Why the posted message was rejected."""
    largest: int = MESSAGE_LIMIT
    """The maximum total size of a message's files, in bytes."""


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
    """The URL of the messages in gaps."""
    above: Gap | None = None
    below: Gap | None = None
