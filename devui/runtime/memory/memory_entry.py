"""`MemoryEntry`: one thing remembered (adk-runtime 10.2)."""

from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field


class MemoryEntry(BaseModel):
    """A remembered content, with its origin."""

    model_config = ConfigDict(defer_build=True)

    content: types.Content
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None
    author: str | None = None
    timestamp: str | None = None
    """When it was said, in ISO 8601."""
