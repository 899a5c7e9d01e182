"""`BaseEventsSummarizer`: puts a stretch of history into few words (adk-runtime 3.8)."""

from abc import ABC, abstractmethod

from devui.runtime.events.event import Event


class BaseEventsSummarizer(ABC):
    """Makes the summaries that stand for old events in requests."""

    @abstractmethod
    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """An event whose `actions.compaction` sums up these events; None to leave them.

        An earlier summary may be the first of them. What it raises is logged, and the history
        stays as it is.
        """
