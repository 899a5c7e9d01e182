"""Events from outside the server, with contents that a runtime can read (R27)."""

from devui.debugger.events.contents import Content
from devui.debugger.events.shape import EventShape


class FirstEvent(EventShape[Content]):
    """An event that a session is created with; a given id and time are kept."""
