"""The queue at the end of the chat."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.panels.chat.content_parts import SpokenPart


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """One message that waits, and what can be done about it."""

    template: ClassVar[str] = "queue/queued_message.html"
    number: int
    pieces: tuple[SpokenPart, ...]
    text: str
    """What is in the field to edit it."""
    action: str
    can_send: bool
    """No run is in the way."""


@dataclass(frozen=True, slots=True)
class QueuePanel:
    """Goes into `#queue`."""

    template: ClassVar[str] = "queue/queue_panel.html"
    messages: tuple[QueuedMessage, ...] = ()
    why: str = ""
    """Why they wait, and for what."""
