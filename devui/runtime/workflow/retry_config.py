"""`RetryConfig`: when a failed node is retried, and after what delay (adk-runtime 12.5)."""

import random
from typing import Any

from pydantic import field_validator

from devui.runtime.mistakes import SpellCheckedModel
from devui.runtime.workflow.errors import WorkflowConfigurationError

_ATTEMPTS = 5
_FIRST_DELAY = 1.0
_LONGEST_DELAY = 60.0
_FACTOR = 2.0
_JITTER = 1.0


class RetryConfig(SpellCheckedModel):
    """How often to retry a node; a field that is None has its default value."""

    max_attempts: int | None = None
    """The number of attempts, including the first: 5 by default; 0 and 1 mean no retry."""
    initial_delay: float | None = None
    """The delay before the second attempt, in seconds; 1 by default."""
    max_delay: float | None = None
    """The longest delay, in seconds; 60 by default."""
    backoff_factor: float | None = None
    """The factor by which each delay is longer than the one before; 2 by default."""
    jitter: float | None = None
    """The random spread of a delay, as a share of its length; 1 by default, 0 for none."""
    exceptions: list[str | type[BaseException]] | None = None
    """The exception classes, or their names, to retry after, subclasses included; None for all."""

    @field_validator("exceptions", mode="before")
    @classmethod
    def _as_names(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return [_name(each) for each in value]

    def again(self, error: BaseException, attempt: int) -> bool:
        """Whether to retry after attempt number `attempt`, which failed with this error."""
        limit = _ATTEMPTS if self.max_attempts is None else self.max_attempts
        if attempt >= limit:
            return False
        if self.exceptions is None:
            return True
        return any(kind.__name__ in self.exceptions for kind in type(error).__mro__[:-1])

    def delay(self, attempt: int) -> float:
        """Return how long to wait after attempt number `attempt`, in seconds."""
        first = _FIRST_DELAY if self.initial_delay is None else self.initial_delay
        longest = _LONGEST_DELAY if self.max_delay is None else self.max_delay
        factor = _FACTOR if self.backoff_factor is None else self.backoff_factor
        jitter = _JITTER if self.jitter is None else self.jitter
        delay = first * factor ** (attempt - 1)
        if jitter > 0:
            # Shorten it first, so that the longest random delays don't all end at the maximum.
            delay = min(delay, longest / (1 + jitter))
            delay += random.uniform(-jitter * delay, jitter * delay)  # noqa: S311  not a secret
        return min(max(delay, 0.0), longest)


def _name(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, type) and issubclass(value, BaseException):
        return value.__name__
    raise WorkflowConfigurationError(
        f"RetryConfig.exceptions takes exceptions and their names; {value!r} is neither."
    )
