"""Settings of an app (adk-runtime 3.1)."""

from abc import ABC, abstractmethod
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from devui.runtime.events.event import Event
from devui.runtime.mistakes import SpellCheckedModel

# `BaseEventsSummarizer`: condenses a stretch of history (adk-runtime 3.8).


class BaseEventsSummarizer(ABC):
    """Makes summaries that replace old events in requests."""

    @abstractmethod
    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """Return an event whose `actions.compaction` sums up these events, or None to leave them.

        The first of them may be an earlier summary. An exception is logged, and the history stays
        as it is.
        """


class ResumabilityConfig(SpellCheckedModel):
    """Whether agents record checkpoints, so that a stopped run can be resumed (resume seed)."""

    is_resumable: bool = False
    """Whether to record a checkpoint at each step, and the end of each agent."""


class EventsCompactionConfig(BaseModel):
    """When to summarize old events: after a number of invocations, or above a number of tokens."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    summarizer: BaseEventsSummarizer | None = None
    """Makes the summary; None uses the root agent's model."""
    compaction_interval: int | None = Field(default=None, gt=0)
    """A summary is made after this many new invocations."""
    overlap_size: int | None = Field(default=None, ge=0)
    """How many invocations of the last summary the next one covers again."""
    token_threshold: int | None = Field(default=None, gt=0)
    """The size of a prompt, in tokens, from which a summary is made."""
    event_retention_size: int | None = Field(default=None, ge=0)
    """How many of the newest events are never summarized."""

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        interval = (self.compaction_interval, self.overlap_size)
        tokens = (self.token_threshold, self.event_retention_size)
        for pair, names in (
            (interval, "compaction_interval and overlap_size"),
            (tokens, "token_threshold and event_retention_size"),
        ):
            if (pair[0] is None) != (pair[1] is None):
                raise ValueError(f"Set both {names}, or neither.")
        if interval[0] is None and tokens[0] is None:
            raise ValueError(
                "Set compaction_interval and overlap_size, "
                "or token_threshold and event_retention_size."
            )
        return self
