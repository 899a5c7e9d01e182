"""Sessions: histories of events with their state."""

from devui.runtime.sessions.base_session_service import BaseSessionService
from devui.runtime.sessions.database_session_service import DatabaseSessionService
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.sqlite_session_service import SqliteSessionService
from devui.runtime.sessions.state import State, StateSchemaError

__all__ = [
    "BaseSessionService",
    "DatabaseSessionService",
    "InMemorySessionService",
    "Session",
    "SqliteSessionService",
    "State",
    "StateSchemaError",
]
