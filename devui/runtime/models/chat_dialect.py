"""How services with chat completions differ in what they accept (adk-runtime 9.4)."""

from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a service accepts beyond, or instead of, the common format."""

    thoughts: Literal["blocks", "texts"] | None = None
    """How thoughts are sent back: as Claude's signed blocks, as texts in `reasoning_content`, or
    not at all (None)."""
    litellms: bool = False
    """Whether the request goes through litellm, which has fields and tools of its own."""
    geminis: bool = False
    """Whether litellm calls the service with Gemini's native protocol."""
    files: bool = False
    """Whether files may be sent as URIs."""
    joins_texts: bool = False
    """Whether several texts must be joined into one."""
    tool_role: str = "tool"
    """The role of messages with tool results."""


OPENAI = Dialect()
"""The dialect of OpenAI and compatible services."""
