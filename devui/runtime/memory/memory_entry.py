"""`MemoryEntry`: one thing remembered (adk-runtime 10.2)."""

from typing import Any

from google.genai import types
from pydantic import ConfigDict, Field

from devui.runtime.mistakes import SpellCheckedModel


class MemoryEntry(SpellCheckedModel):
    """A remembered content, with its origin."""

    model_config = ConfigDict(defer_build=True)

    content: types.Content
    """What was said."""
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    """Free-form labels; must be JSON-able."""
    id: str | None = None
    """The id by which it can be deleted; None if its service can't."""
    author: str | None = None
    """Who said it: `user`, or the name of an agent."""
    timestamp: str | None = None
    """When it was said, in ISO 8601."""
