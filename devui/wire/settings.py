"""What the model calls of one run are to use in the place of the agents' own settings."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings for every model call of a run; None leaves the agent's own."""

    model: str | None = None
    """The name of a model, as an agent would give it."""
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    instruction: str | None = None
    """Added at the end of each system instruction."""

    def __bool__(self) -> bool:
        """Whether anything is set."""
        return any(getattr(self, each.name) is not None for each in fields(self))
