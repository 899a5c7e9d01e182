"""Events: what happened, and what it changes."""

from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.events.request_input import RequestInput

__all__ = ["Event", "EventActions", "RequestInput"]
