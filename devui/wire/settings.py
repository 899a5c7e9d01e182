"""The settings that replace the agents' own in the model calls of one run."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings for all model calls of a run; None keeps the agent's own."""

    model: str | None = None
    """The name of a model, as an agent would specify it."""
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    instruction: str | None = None
    """Text appended to each system instruction."""

    def __bool__(self) -> bool:
        """Return whether anything is set."""
        return any(getattr(self, each.name) is not None for each in fields(self))
