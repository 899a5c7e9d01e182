"""Settings of an app (adk-runtime 3.1)."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from devui.runtime.apps.base_events_summarizer import BaseEventsSummarizer
from devui.runtime.ignored import Spelt


class ResumabilityConfig(Spelt):
    """Whether agents record checkpoints, so that a stopped run can go on (resume seed)."""

    is_resumable: bool = False
    """True records a checkpoint at each step, and the end of each agent."""


class EventsCompactionConfig(BaseModel):
    """When to summarise old events: after so many invocations, or beyond so many tokens."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    summarizer: BaseEventsSummarizer | None = None
    """Makes the summary; None takes the root agent's model."""
    compaction_interval: int | None = Field(default=None, gt=0)
    """New invocations after which a summary is made."""
    overlap_size: int | None = Field(default=None, ge=0)
    """Invocations of the last summary that the next one covers again."""
    token_threshold: int | None = Field(default=None, gt=0)
    """Size of a prompt, in tokens, from which on a summary is made."""
    event_retention_size: int | None = Field(default=None, ge=0)
    """Newest events that are never summarised."""

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        interval = (self.compaction_interval, self.overlap_size)
        tokens = (self.token_threshold, self.event_retention_size)
        for pair, names in (
            (interval, "compaction_interval and overlap_size"),
            (tokens, "token_threshold and event_retention_size"),
        ):
            if (pair[0] is None) != (pair[1] is None):
                raise ValueError(f"Give {names} together, or neither.")
        if interval[0] is None and tokens[0] is None:
            raise ValueError(
                "Give compaction_interval and overlap_size, "
                "or token_threshold and event_retention_size."
            )
        return self
