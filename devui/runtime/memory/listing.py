"""Lists a user's memories, newest first (devui's own), for people who inspect them.

With google-adk's API, a service can only be searched.
"""

from devui.runtime.memory.base_memory_service import BaseMemoryService
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService, entry_of
from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.memory.sqlite_memory_service import SqliteMemoryService, newest


async def memories(
    service: BaseMemoryService, app_name: str, user_id: str, limit: int
) -> list[MemoryEntry] | None:
    """Return the newest memories, at most `limit`; None for a service that can't be listed."""
    if isinstance(service, InMemoryMemoryService):
        events = service._events_by_user.get((app_name, user_id), {}).values()
        every = [event for each in events for event in each]
        every.sort(key=lambda event: event.timestamp, reverse=True)
        return [entry_of(event) for event in every[:limit]]
    if isinstance(service, SqliteMemoryService):
        return await newest(service, app_name, user_id, limit)
    return None
