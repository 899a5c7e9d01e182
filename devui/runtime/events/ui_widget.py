"""`UiWidget`: something a tool asks the user interface to draw (adk-runtime 1.3)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class UiWidget(BaseModel):
    """What to draw, and who knows how to draw it."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    id: str
    """Unique within its event."""
    provider: str
    """Who renders it; `mcp` is the one known provider."""
    payload: dict[str, Any] = Field(default_factory=dict)
    """What the provider needs for rendering."""
