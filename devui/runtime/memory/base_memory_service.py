"""`BaseMemoryService`: where memories are kept (adk-runtime 10.2)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from devui.runtime.events.event import Event
from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.sessions.session import Session


class SearchMemoryResponse(BaseModel):
    """What a search found, best first."""

    memories: list[MemoryEntry] = Field(default_factory=list)
    """The best ones first."""


class BaseMemoryService(ABC):
    """Stores memories by app and user. The Runner adds none by itself."""

    @abstractmethod
    async def add_session_to_memory(self, session: Session) -> None:
        """Remember a session; what was remembered of it before is replaced."""

    @abstractmethod
    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """What is remembered of the user about `query`."""

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember these events; NotImplementedError if the service cannot."""
        raise NotImplementedError(f"{type(self).__name__} cannot add single events.")

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember these entries; NotImplementedError if the service cannot."""
        raise NotImplementedError(f"{type(self).__name__} cannot add single memories.")

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget one entry; NotImplementedError if the service cannot."""
        raise NotImplementedError(f"{type(self).__name__} cannot delete memories.")
