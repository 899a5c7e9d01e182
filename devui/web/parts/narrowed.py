"""What another filter changes of the session page."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.parts.inspector import Inspector
from devui.web.parts.session import PageStream, Transport
from devui.web.parts.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The answer to a filter: the timeline, what leads to its rows, and the stream that goes on
    from there. The chat and what is being typed stay as they are."""

    template: ClassVar[str] = "parts/narrowed.html"
    timeline: Timeline
    inspector: Inspector
    transport: Transport
    stream: PageStream
