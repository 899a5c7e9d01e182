"""Sessions: histories of events with their state."""

from devui.runtime.sessions.base_session_service import BaseSessionService
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import State, StateSchemaError

__all__ = [
    "BaseSessionService",
    "InMemorySessionService",
    "Session",
    "State",
    "StateSchemaError",
]
