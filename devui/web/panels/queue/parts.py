"""The queue at the end of the chat."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.panels.chat.content_parts import SpokenPart


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """One queued message, with its actions."""

    template: ClassVar[str] = "queue/queued_message.html"
    number: int
    pieces: tuple[SpokenPart, ...]
    text: str
    """The text in the field for editing it."""
    action: str
    can_send: bool
    """Whether no run prevents it from being sent."""


@dataclass(frozen=True, slots=True)
class QueuePanel:
    """The queued messages. Goes into `#queue`."""

    template: ClassVar[str] = "queue/queue_panel.html"
    messages: tuple[QueuedMessage, ...] = ()
    why: str = ""
    """Why they wait, and for what."""
