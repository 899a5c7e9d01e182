"""Memory: what agents remember of a user across sessions."""

from devui.runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.memory.sqlite_memory_service import SqliteMemoryService

__all__ = [
    "BaseMemoryService",
    "InMemoryMemoryService",
    "MemoryEntry",
    "SearchMemoryResponse",
    "SqliteMemoryService",
]
