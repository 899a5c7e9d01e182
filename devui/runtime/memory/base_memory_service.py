"""`BaseMemoryService`: where memories are stored (adk-runtime 10.2)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from devui.runtime.events.event import Event
from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.sessions.session import Session


class SearchMemoryResponse(BaseModel):
    """The results of a search."""

    memories: list[MemoryEntry] = Field(default_factory=list)
    """The memories, best matches first."""


class BaseMemoryService(ABC):
    """Stores memories by app and user. The Runner itself adds none."""

    @abstractmethod
    async def add_session_to_memory(self, session: Session) -> None:
        """Remember a session, and replace what was remembered of it before."""

    @abstractmethod
    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what is remembered of the user about `query`."""

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember these events; raises NotImplementedError if the service can't."""
        raise NotImplementedError(f"{type(self).__name__} cannot add single events.")

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember these entries; raises NotImplementedError if the service can't."""
        raise NotImplementedError(f"{type(self).__name__} cannot add single memories.")

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget one entry; raises NotImplementedError if the service can't."""
        raise NotImplementedError(f"{type(self).__name__} cannot delete memories.")
