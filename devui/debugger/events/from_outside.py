"""Events that come from outside: a runtime can read what they say (R27)."""

from devui.debugger.events.contents import Content
from devui.debugger.events.shape import EventShape


class FirstEvent(EventShape[Content]):
    """An event that a session is created with; id and time are kept if given."""
